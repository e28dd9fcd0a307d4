// Options left out and options refused; data whose numbers are too large or too small; numbers in messages.

#include <gsc/fit.h>
#include <gsc/generate.h>
#include <gtest/gtest.h>

#include <functional>

#include "expect_error.h"
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

MatrixData bars(Index latents, Index count = 300) {
  Random random(2);
  const Model model = bars_model(latents, random);
  return MatrixData(sample(model, count, random).data);
}

FitOptions few_iterations(Index latents) {
  FitOptions options;
  options.latents = latents;
  options.iterations = 5;
  return options;
}

TEST(NumberText, IsShortAndReadsBack) {
  EXPECT_EQ(number_text(1e-9), "1e-09");
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(25), "25");
  EXPECT_EQ(number_text(-1e200), "-1e+200");
  EXPECT_EQ(std::stod(number_text(1.0 / 3)), 1.0 / 3);
  EXPECT_EQ(number_text(2e200 / 3, 3), "6.67e+199");
}

TEST(NumberText, SmallNumbersInMessages) {
  FitOptions options;
  options.tolerance = -1e-9;
  expect_says(message_of([&] { options.validate(); }), "tolerance is -1e-09;");
  options.tolerance = 0;
  options.sharing.alpha = -1e-9;
  expect_says(message_of([&] { options.validate(); }), "alpha is -1e-09;");
  options.sharing.alpha = 0;
  options.inference.method = Method::factored;
  options.factored.length_scale = -1e-9;
  expect_says(message_of([&] { options.validate(); }), "length_scale is -1e-09;");
  expect_says(message_of([] { Noise::scalar(-1e-9, 3); }), "is -1e-09;");
  Matrix lopsided = 1e-9 * Matrix::Identity(2, 2);
  lopsided(0, 1) = 1e-9;
  expect_says(message_of([&] { Noise::full(lopsided); }), "by up to 1e-09");
  Random random(1);
  Model model = bars_model(4, random);
  model.pi[2] = -1e-9;
  expect_says(message_of([&] { model.validate(); }), "pi of latent 2 is -1e-09;");
}

TEST(LeftOut, FewLatentsLimitCandidatesAndMaxActive) {
  for (const Index latents : {2, 4, 8, 12}) {
    const MatrixData data = bars(latents);
    const FitOptions left_out = few_iterations(latents);
    FitOptions given = left_out;
    given.inference.candidates = std::min<Index>(10, latents);
    given.inference.max_active = std::min<Index>(5, latents);
    const FitResult result = fit(data, left_out);
    EXPECT_EQ(result.model().W, fit(data, given).model().W);
    const PosteriorRequest request{.variance = false, .states = 2, .candidates = true};
    const Posterior posterior = infer(result.model(), data, left_out.inference, request);
    EXPECT_EQ(posterior.candidates.cols(), given.inference.candidates);
    EXPECT_EQ(posterior.max_active, given.inference.max_active);
  }
  FitOptions options = few_iterations(12);
  options.inference.candidates = 3;
  const Posterior posterior = infer(fit(bars(12), options).model(), bars(12), options.inference, {.states = 1});
  EXPECT_EQ(posterior.max_active, 3) << "no more than the candidates that were given";
}

TEST(LeftOut, WhatIsGivenAndMakesNoSenseIsRefused) {
  const MatrixData data = bars(4);
  const auto message = [&](Index candidates, Index max_active) {
    FitOptions options = few_iterations(4);
    options.inference.candidates = candidates;
    options.inference.max_active = max_active;
    return message_of([&] { fit(data, options); });
  };
  expect_says(message(10, 0), "candidates is 10; it must lie between 1 and latents (4)");
  expect_says(message(-1, 0), "candidates is -1; it must lie between 1 and latents (4)");
  expect_says(message(0, 5), "max_active is 5; it must lie between 1 and candidates (4)");
  expect_says(message(3, 4), "max_active is 4; it must lie between 1 and candidates (3)");
  expect_says(message(3, -2), "max_active is -2; it must lie between 1 and candidates (3)");
}

TEST(Range, NumbersTooLargeOrTooSmallAreNamed) {
  const Matrix values = bars(6).values();
  for (const NoiseType noise : {NoiseType::scalar, NoiseType::full}) {
    FitOptions options = few_iterations(6);
    options.noise = noise;
    const auto message = [&](double factor) {
      return message_of([&] { fit(MatrixData(factor * values, "table.npy"), options); });
    };
    const std::string large = message(1e200), small = message(1e-200), at_the_end = message(1e306);
    for (const char* part : {"table.npy: the values differ from row to row by ", "by 8.74e+200 on average",
                             "large numbers", "Divide all values by 1e200 first"})
      expect_says(large, part);
    for (const char* part : {"table.npy: the values differ from row to row by ", "by 8.74e-200 on average",
                             "small numbers", "Multiply all values by 1e200 first"})
      expect_says(small, part);
    expect_says(at_the_end, "Divide all values by 1e30");
  }
  expect_says(message_of([&] { fit(MatrixData(Matrix::Constant(5, 3, 1e200)), few_iterations(3)); }),
              "all rows are equal");
  Matrix opposite = Matrix::Constant(6, 2, 1.5e308);
  opposite.topRows(3) *= -1;
  expect_says(message_of([&] { summarize(MatrixData(opposite)); }), "Divide all values by 1e308 first");
}

/// What is not refused must work.
TEST(Range, NumbersJustWithinAreLearnedFrom) {
  const Matrix values = bars(6).values();
  const double typical = (values.rowwise() - values.row(0)).cwiseAbs().mean();
  for (const Method method : {Method::truncated, Method::exact, Method::factored})
    for (const NoiseType noise : {NoiseType::scalar, NoiseType::diagonal, NoiseType::full})
      for (const SlabType slab : {SlabType::diagonal, SlabType::full}) {
        FitOptions options = few_iterations(6);
        options.inference.method = method;
        options.noise = noise;
        options.slab = slab;
        if (method == Method::factored && (noise == NoiseType::full || slab == SlabType::full)) continue;
        if (method == Method::factored) options.factored.basis_prior = BasisPrior::none;
        const FitResult usual = fit(MatrixData(values), options);
        for (const double factor : {0.99e100 / typical, 1.01e-100 / typical}) {
          SCOPED_TRACE(std::string(to_string(method)) + ", " + std::string(to_string(noise)) + " noise, " +
                       std::string(to_string(slab)) + " slab, values times " + number_text(factor));
          const FitResult result = fit(MatrixData(factor * values), options);
          // In other units the density is another by a constant factor, and nothing else.
          const double shift = static_cast<double>(values.size()) * std::log(factor);
          EXPECT_NEAR(result.last().free_energy + shift, usual.last().free_energy,
                      1e-6 * std::abs(usual.last().free_energy));
          EXPECT_LT((result.model().W / factor - usual.model().W).cwiseAbs().maxCoeff(), 1e-3);
        }
      }
}

}  // namespace
}  // namespace gsc::test
