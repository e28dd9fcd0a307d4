// States that are singular to rounding are repaired, and every way to a posterior says of how many data points.

#include <gsc/missing.h>
#include <gsc/nonlocal.h>
#include <gtest/gtest.h>

#include <limits>

#include "inference_check.h"
#include "random_model.h"

namespace gsc::test {
namespace {

constexpr Index kRows = 70;

/// Two latents with the same column, which only the slab tells apart; it is broader than rounding can see.
Model twins(SlabType slab = SlabType::diagonal) {
  ModelKnobs knobs;
  knobs.dimensions = 6;
  knobs.latents = 5;
  knobs.slab = slab;
  knobs.noise_std = 1e-3;
  knobs.slab_variance = 1e12;
  Model model = random_model(knobs, 4);
  model.W.col(1) = model.W.col(0);
  return model;
}

Matrix with_gaps(Matrix data) {
  for (Index n = 0; n < data.rows(); n += 2) data(n, n % data.cols()) = std::numeric_limits<double>::quiet_NaN();
  return data;
}

/// All rows are like the first.
class First final : public Neighbours {
 public:
  Index most() const override { return 1; }
  Index of(Index, std::uint32_t* rows) const override {
    rows[0] = 0;
    return 1;
  }
};

InferenceOptions options_for(Index candidates, Precision precision, bool gaps) {
  InferenceOptions options = truncated(candidates, 3);
  options.precision = precision;
  options.missing = gaps ? Missing::nan : Missing::error;
  return options;
}

TEST(ClampedPivots, AreCountedByPosteriorsAsByTheEStep) {
  for (const SlabType slab : {SlabType::diagonal, SlabType::full})
    for (const bool gaps : {false, true}) {
      const Model model = twins(slab);
      const Matrix values = random_data(model, kRows, 5);
      const MatrixData data(gaps ? with_gaps(values) : values);
      for (const Index candidates : {3, 5})
        for (const Precision precision : {Precision::double_precision, Precision::single_precision}) {
          SCOPED_TRACE(::testing::Message() << (slab == SlabType::full ? "full slab, " : "") << candidates
                                            << " candidates" << (gaps ? ", gaps" : ""));
          const InferenceOptions options = options_for(candidates, precision, gaps);
          const std::int64_t expected = e_step(model, data, options).clamped_pivots;
          EXPECT_EQ(infer(model, data, options).clamped_pivots, expected);
          Watcher nobody;
          EXPECT_EQ(infer(model, data, options, {}, nobody).clamped_pivots, expected);
          if (gaps) {
            EXPECT_EQ(impute(model, data, options, {.calibrate = false}).clamped_pivots, expected);
          }
          if (slab == SlabType::diagonal && candidates == 5) {
            EXPECT_EQ(expected, kRows);  // both twins are candidates of all
          }
        }
    }
}

TEST(ClampedPivots, AreCountedOnTheCandidatesAlone) {
  const Model model = twins();
  const Matrix values = random_data(model, kRows, 5);
  for (const bool gaps : {false, true})
    for (const Precision precision : {Precision::double_precision, Precision::single_precision}) {
      SCOPED_TRACE(::testing::Message() << (gaps ? "gaps" : "no gaps"));
      const MatrixData data(gaps ? with_gaps(values) : values);
      InferenceOptions options = options_for(5, precision, gaps);
      const SparsePosterior all = infer_sparse(model, data, options);
      EXPECT_EQ(all.clamped_pivots, kRows);
      EXPECT_EQ(infer_sparse(model, data, options, 10, 20).clamped_pivots, 20);
      EXPECT_EQ(infer_nonlocal(model, data, options, all, First()).clamped_pivots, kRows);
    }
}

TEST(ClampedPivots, AreNoneWhereStatesAreRegular) {
  const Model model = random_model({.dimensions = 6, .latents = 5}, 4);
  const Matrix values = random_data(model, kRows, 5);
  const MatrixData data(with_gaps(values));
  const InferenceOptions options = options_for(5, Precision::double_precision, true);
  EXPECT_EQ(infer(model, data, options).clamped_pivots, 0);
  const SparsePosterior all = infer_sparse(model, data, options);
  EXPECT_EQ(all.clamped_pivots, 0);
  EXPECT_EQ(infer_nonlocal(model, data, options, all, First()).clamped_pivots, 0);
  EXPECT_EQ(impute(model, data, options).clamped_pivots, 0);
}

}  // namespace
}  // namespace gsc::test
