// The rows of methods: what they say fits together, and each of them learns, infers and fills gaps.

#include <gsc/fit.h>
#include <gsc/generate.h>
#include <gsc/missing.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "inference/limits.h"

namespace gsc::test {
namespace {

class EveryMethod : public testing::TestWithParam<Method> {};

FitOptions two_iterations(Method method) {
  FitOptions options;
  options.latents = 6;
  options.iterations = 2;
  options.inference.method = method;
  options.inference.candidates = 4;
  options.inference.max_active = 2;
  if (!spike_and_slab(method)) options.inference.candidates = options.inference.max_active = 0;
  return options;
}

MatrixData data_of_bars() {
  Random random(1);
  return MatrixData(sample(bars_model(6, random), 80, random).data);
}

TEST_P(EveryMethod, TraitsFitTogether) {
  const MethodTraits& its = traits(GetParam());
  EXPECT_FALSE(its.word.empty());
  EXPECT_FALSE(its.objective.name.empty());
  EXPECT_FALSE(its.objective.text.empty());
  EXPECT_TRUE(its.has_states || !its.has_candidates);
  EXPECT_TRUE(its.spike_and_slab || !its.has_states);
  EXPECT_FALSE(its.spike_and_slab && its.point_estimate);
  EXPECT_TRUE(its.point_estimate || !its.coding);
  EXPECT_EQ(its.point_estimate, its.picture_patches > 0 && its.picture_iterations > 0);
  EXPECT_TRUE(its.infers_no_gaps.empty() || !its.learns_from_gaps);
}

TEST_P(EveryMethod, LearnsInfersAndHasATextForIt) {
  const FitOptions options = two_iterations(GetParam());
  const MatrixData data = data_of_bars();
  const FitResult result = fit(data, options);
  EXPECT_EQ(result.last().iteration, 2);
  if (traits(GetParam()).basis_variance) {
    EXPECT_EQ(result.model().W_variance.size() > 0, options.factored.basis_prior != BasisPrior::none);
  }
  const Posterior posterior = infer(result.model(), data, options.inference);
  EXPECT_EQ(posterior.mean.cols(), 6);
  EXPECT_EQ(posterior.probability.size() == 0, point_estimate(GetParam()));
  EXPECT_EQ(posterior.log_likelihood.size() == 0, point_estimate(GetParam()) || traits(GetParam()).draws);
  EXPECT_FALSE(posterior_text(options.inference).empty());
}

TEST_P(EveryMethod, TakesGapsOrSaysThatItDoesNot) {
  FitOptions options = two_iterations(GetParam());
  const FitResult whole = fit(data_of_bars(), options);
  options.inference.missing = Missing::nan;
  Matrix values = data_of_bars().values();
  values(3, 2) = values(7, 0) = std::numeric_limits<double>::quiet_NaN();
  const MatrixData data(values);
  const MethodTraits& its = traits(GetParam());
  if (its.learns_from_gaps)
    EXPECT_NO_THROW(fit(data, options));
  else
    EXPECT_THROW(fit(data, options), UsageError);
  if (!its.infers_no_gaps.empty()) {
    EXPECT_THROW(infer(whole.model(), data, options.inference), UsageError);
    return;
  }
  const Imputed imputed = impute(whole.model(), data, options.inference);
  EXPECT_TRUE(imputed.mean.allFinite());
  EXPECT_EQ(imputed.std.size() == 0, its.point_estimate);
}

std::string word_of(const testing::TestParamInfo<Method>& info) {
  std::string name(to_string(info.param));
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Methods, EveryMethod, testing::ValuesIn(all_methods().begin(), all_methods().end()), word_of);

TEST(Methods, WordsAreDifferent) {
  std::set<std::string_view> words;
  for (const Method method : all_methods()) words.insert(to_string(method));
  EXPECT_EQ(words.size(), all_methods().size());
}

TEST(Methods, StatesOfAllLatentsAreExact) {
  InferenceOptions options;
  EXPECT_EQ(state_space(options, 30).candidates, kUsualCandidates);
  EXPECT_EQ(state_space(options, 3).candidates, 3);
  EXPECT_FALSE(over_all_states(options, 30));
  options.max_active = 3;
  EXPECT_TRUE(over_all_states(options, 3));
  options.method = Method::exact;
  EXPECT_TRUE(over_all_states(options, 12));
  EXPECT_EQ(state_space(options, 12).states(), 4096);
  options.method = Method::factored;
  EXPECT_FALSE(over_all_states(options, 12));
}

}  // namespace
}  // namespace gsc::test
