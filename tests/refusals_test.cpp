// What is refused, and the numbers in messages.

#include <gsc/fit.h>
#include <gsc/generate.h>
#include <gtest/gtest.h>

#include <functional>

#include "math/number_text.h"

namespace gsc::test {
namespace {

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no Error was thrown";
  return "";
}

#define EXPECT_SAYS(message, part) EXPECT_NE((message).find(part), std::string::npos) << "the message is: " << (message)

TEST(NumberText, IsShortAndReadsBack) {
  EXPECT_EQ(number_text(1e-9), "1e-09");
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(25), "25");
  EXPECT_EQ(number_text(-1e200), "-1e+200");
  EXPECT_EQ(std::stod(number_text(1.0 / 3)), 1.0 / 3);
  EXPECT_EQ(number_text(2e200 / 3, 3), "6.67e+200");
}

TEST(NumberText, SmallNumbersInMessages) {
  FitOptions options;
  options.tolerance = -1e-9;
  EXPECT_SAYS(message_of([&] { options.validate(); }), "tolerance is -1e-09;");
  options.tolerance = 0;
  options.sharing.alpha = -1e-9;
  EXPECT_SAYS(message_of([&] { options.validate(); }), "alpha is -1e-09;");
  options.sharing.alpha = 0;
  options.inference.method = Method::factored;
  options.factored.length_scale = -1e-9;
  EXPECT_SAYS(message_of([&] { options.validate(); }), "length_scale is -1e-09;");
  EXPECT_SAYS(message_of([] { Noise::scalar(-1e-9, 3); }), "is -1e-09;");
  Matrix lopsided = 1e-9 * Matrix::Identity(2, 2);
  lopsided(0, 1) = 1e-9;
  EXPECT_SAYS(message_of([&] { Noise::full(lopsided); }), "by up to 1e-09");
  Random random(1);
  Model model = bars_model(4, random);
  model.pi[2] = -1e-9;
  EXPECT_SAYS(message_of([&] { model.validate(); }), "pi of latent 2 is -1e-09;");
}

}  // namespace
}  // namespace gsc::test
