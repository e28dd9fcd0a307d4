// The engine against itself: methods, threads, blocks, and sums against single points.

#include <gtest/gtest.h>

#include "expect_error.h"
#include "inference_check.h"
#include "oracle.h"
#include "random_model.h"

namespace gsc::test {
namespace {

using oracle::Oracle;

class EveryType : public ::testing::TestWithParam<ModelKnobs> {
 protected:
  void SetUp() override {
    model_ = random_model(GetParam(), 7);
    data_ = random_data(model_, 5000, 8);
  }
  Model model_;
  Matrix data_;
};

INSTANTIATE_TEST_SUITE_P(Types, EveryType, ::testing::ValuesIn(every_type(6, 12)),
                         [](const auto& test) { return type_name(test.param); });

TEST_P(EveryType, ExactIsTruncatedWithoutTruncation) {
  const MatrixData data(data_.topRows(203));
  const Statistics all = e_step(model_, data, exact());
  EXPECT_LT(relative_difference(all, e_step(model_, data, truncated(12, 12))), 1e-11);
  // Truncation only takes states away.
  EXPECT_LT(e_step(model_, data, truncated(6, 3)).free_energy, all.free_energy);
}

TEST_P(EveryType, StatisticsAreSumsOfPosteriors) {
  for (const InferenceOptions& options : {truncated(6, 4, Selection::conditional), truncated(12, 3)}) {
    const MatrixData data(data_);
    const Statistics sums = e_step(model_, data, options);
    const Posterior points = infer(model_, data, options, {.variance = true, .states = 0, .candidates = false});
    EXPECT_EQ(sums.count, 5000);
    EXPECT_NEAR(points.log_likelihood.sum() / sums.free_energy, 1, 1e-11);
    const auto near = [](const Matrix& a, const Matrix& b) {
      return (a - b).cwiseAbs().maxCoeff() / b.cwiseAbs().maxCoeff();
    };
    EXPECT_LT(near(sums.s, points.probability.colwise().sum().transpose()), 1e-11);
    EXPECT_LT(near(sums.m, points.mean.colwise().sum().transpose()), 1e-11);
    Matrix about_b = data_;
    if (model_.intercept.size() > 0) about_b.rowwise() -= model_.intercept.transpose();
    EXPECT_LT(near(sums.YZ, about_b.transpose() * points.mean), 1e-11);
    const Matrix second = (points.variance + points.mean.cwiseAbs2()).colwise().sum().transpose();
    EXPECT_LT(near(Matrix(sums.ZZ.diagonal()), second), 1e-11);
    EXPECT_LT(near(sums.ZZ, sums.ZZ.transpose()), 1e-14);
  }
}

TEST_P(EveryType, ThreadsAgree) {
  for (InferenceOptions options : {truncated(6, 4, Selection::conditional), truncated(12, 2)}) {
    const MatrixData data(data_);
    const Statistics one = e_step(model_, data, options);
    const Posterior points = infer(model_, data, options);
    EXPECT_TRUE(same_bits(one, e_step(model_, data, options))) << "one thread twice";
    for (int threads : {2, 4}) {
      SCOPED_TRACE(::testing::Message() << threads << " threads");
      options.threads = threads;
      const Statistics several = e_step(model_, data, options);
      EXPECT_LT(relative_difference(one, several), 1e-9);
      EXPECT_TRUE(same_bits(several, e_step(model_, data, options))) << "the same bits twice";
      const Posterior again = infer(model_, data, options);
      EXPECT_LT((points.mean - again.mean).cwiseAbs().maxCoeff(), 1e-9 * points.mean.cwiseAbs().maxCoeff());
      EXPECT_LT((points.log_likelihood - again.log_likelihood).cwiseAbs().maxCoeff(), 1e-9);
    }
  }
}

TEST_P(EveryType, AnyNumberOfPoints) {
  ModelKnobs knobs = GetParam();
  knobs.latents = 6;
  const Model model = random_model(knobs, 9);
  const Oracle oracle(model);
  const Matrix data = random_data(model, 5000, 10);
  for (Index count : {1, 2, 513, 5000}) {
    SCOPED_TRACE(::testing::Message() << count << " points");
    expect_brute_force(model, oracle, data.topRows(count), truncated(4, 2, Selection::conditional, 2));
    if (HasFailure()) return;
  }
}

TEST_P(EveryType, BlocksOfDataAdd) {
  const InferenceOptions options = truncated(6, 3, Selection::conditional);
  const Statistics whole = e_step(model_, MatrixData(data_), options);
  Statistics sum(model_);
  EXPECT_EQ(sum.count, 0);
  for (Index first = 0; first < 5000; first += 1250) {
    sum += e_step(model_, MatrixData(data_.middleRows(first, 1250)), options);
  }
  EXPECT_LT(relative_difference(whole, sum), 1e-11);
}

TEST_P(EveryType, RowsCanBeInferredAlone) {
  const MatrixData data(data_);
  const InferenceOptions options = truncated(6, 3, Selection::conditional);
  const PosteriorRequest request{.variance = true, .states = 4, .candidates = true};
  const Posterior all = infer(model_, data, options, request);
  const Posterior some = infer(model_, data, options, request, 4321, 7);
  const Posterior rest = infer(model_, data, options, request, 4990);
  ASSERT_EQ(some.mean.rows(), 7);
  ASSERT_EQ(rest.mean.rows(), 10);
  EXPECT_LT((some.mean - all.mean.middleRows(4321, 7)).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_LT((some.variance - all.variance.middleRows(4321, 7)).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_LT((rest.probability - all.probability.bottomRows(10)).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_EQ(some.candidates, all.candidates.middleRows(4321, 7));
  EXPECT_EQ(rest.states.leftCols(some.max_active), all.states.bottomRows(10).leftCols(some.max_active));
}

TEST_P(EveryType, SingleIsNearDouble) {
  InferenceOptions options = truncated(8, 4, Selection::singleton);
  const MatrixData data(data_.topRows(701));
  const Statistics reference = e_step(model_, data, options);
  options.precision = Precision::single_precision;
  const Statistics single = e_step(model_, data, options);
  EXPECT_LT(relative_difference(reference, single), 1e-4);
  EXPECT_FALSE(same_bits(reference, single)) << "single precision must be another computation";
}

TEST(Interruption, AbandonsThePass) {
  const Model model = random_model({}, 1);
  const MatrixData data(random_data(model, 5000, 2));
  const auto at_once = [] { return true; };
  expect_error<Interrupted>([&] { e_step(model, data, truncated(4, 2), at_once); }, {"interrupted"});
  expect_error<Interrupted>([&] { infer(model, data, truncated(4, 2), {}, 0, -1, at_once); }, {"interrupted"});
  EXPECT_NO_THROW(e_step(model, data, truncated(4, 2), [] { return false; }));
}

TEST(InferenceOptions, NameTheImpossibleField) {
  const auto refused = [](const InferenceOptions& options, Index latents, Parts parts) {
    expect_error<UsageError>([&] { options.validate(latents); }, parts);
  };
  EXPECT_NO_THROW(truncated(4, 2).validate(6));
  EXPECT_NO_THROW(truncated(6, 6).validate(6));
  EXPECT_NO_THROW(exact().validate(kMaxExactLatents));
  refused(truncated(7, 2), 6, {"candidates is 7", "between 1 and latents (6)"});
  refused(truncated(-1, 1), 6, {"candidates is -1", "between 1 and latents (6)"});
  refused(truncated(4, -1), 6, {"max_active is -1", "between 1 and candidates (4)"});
  refused(truncated(4, 5), 6, {"max_active is 5", "between 1 and candidates (4)"});
  refused(truncated(4, 2, Selection::singleton, -1), 6, {"threads is -1", "0 to let the program choose"});
  refused(exact(), kMaxExactLatents + 1,
          {"method is exact with " + std::to_string(kMaxExactLatents + 1) + " latents", "use the truncated method"});
  refused(truncated(4, 2), 0, {"latents is 0", "between 1 and"});
  refused(truncated(129, 2), 1000, {"candidates is 129", "more than 128 are not supported"});
  refused(truncated(128, 9), 1000, {"candidates 128 with max_active 9", "4 million states", "lower one of them"});
}

}  // namespace
}  // namespace gsc::test
