// Words of enumerations: every one comes back, and an unknown one says which there are.

#include <gsc/words.h>
#include <gtest/gtest.h>

namespace gsc {
namespace {

template <class Enum>
class Words : public testing::Test {};
using Enumerations = testing::Types<Method, Selection, Precision, NoiseType, SlabType, Init, Coefficients, Update,
                                    BasisPrior, SweepOrder, AtomUpdate, Coding, Partition>;
TYPED_TEST_SUITE(Words, Enumerations);

TYPED_TEST(Words, EveryOneComesBack) {
  std::string words;
  for (const TypeParam value : kValues<TypeParam>) {
    EXPECT_EQ(parse<TypeParam>(to_string(value), "it"), value);
    if (!words.empty()) words += '|';
    words += to_string(value);
  }
  EXPECT_EQ(gsc::words<TypeParam>("|"), words);
}

TYPED_TEST(Words, AnUnknownOneIsAnError) {
  for (const std::string word : {"", "exakt", "Full", "random "}) {
    EXPECT_FALSE(find_word<TypeParam>(word)) << word;
    try {
      parse<TypeParam>(word, "the thing");
      FAIL() << "no exception for '" << word << "'";
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), "the thing is '" + word + "'; expected one of: " + gsc::words<TypeParam>());
    }
  }
}

TEST(WordsOf, Methods) { EXPECT_TRUE(gsc::words<Method>().starts_with("truncated, exact, factored")); }

}  // namespace
}  // namespace gsc
