// The block kernel against itself: every SIMD target, the shared against the per-lane tree, single against double.

#include <gsc/generate.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <bit>
#include <iostream>

#include "random_model.h"
#include "truncated/block_inference.h"
#include "truncated/tree/clusters.h"

namespace gsc::test {
namespace {

struct Outcome {
  Matrix means;
  Vector log_sums;
  BlockSums sums;
};

Outcome run_kernel(const PreparedModel& prepared, const Matrix& data) {
  BlockInference block(prepared, data.rows());
  BlockSums sums(prepared);
  block.run(prepared, MatrixData(data), 0, data.rows(), &sums, {});
  return {block.rows.leftCols(prepared.latents), block.log_sums, sums};
}

void expect_near(const Matrix& expected, const Matrix& got, double tolerance, const char* what) {
  ASSERT_EQ(expected.size(), got.size());
  if (expected.size() == 0) return;
  const double scale = expected.cwiseAbs().maxCoeff() + 1e-300;
  EXPECT_LT((expected - got).cwiseAbs().maxCoeff() / scale, tolerance) << what;
}

void expect_same(const Outcome& expected, const Outcome& got, double tolerance) {
  expect_near(expected.means, got.means, tolerance, "means");
  expect_near(expected.log_sums, got.log_sums, tolerance, "log sums");
  expect_near(expected.sums.s, got.sums.s, tolerance, "s");
  expect_near(expected.sums.m, got.sums.m, tolerance, "m");
  expect_near(expected.sums.ZZ, got.sums.ZZ, tolerance, "ZZ");
  expect_near(expected.sums.single_ZZ, got.sums.single_ZZ, tolerance, "ZZ of singletons");
  expect_near(expected.sums.lambda, got.sums.lambda, tolerance, "lambda");
  expect_near(expected.sums.T, got.sums.T, tolerance, "T");
  expect_near(expected.sums.SS, got.sums.SS, tolerance, "SS");
}

struct TreeShape {
  Index latents, candidates, max_active;
};

InferenceOptions inference_options(const TreeShape& shape, Precision precision) {
  InferenceOptions options;
  options.candidates = shape.candidates;
  options.max_active = shape.max_active;
  options.precision = precision;
  return options;
}

/// Undoes the restriction to one target when the test ends.
class TargetGuard {
 public:
  explicit TargetGuard(std::int64_t target) { set(target); }
  ~TargetGuard() { set(0); }
  TargetGuard(const TargetGuard&) = delete;
  TargetGuard& operator=(const TargetGuard&) = delete;

 private:
  static void set(std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

TEST(Kernel, EveryTargetAgrees) {
  std::int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
  int tried = 0;
  for (const ModelKnobs& type : every_type(6, 12)) {
    const Model model = random_model(type, 5);
    const Matrix data = random_data(model, 301, 6);
    for (const TreeShape& shape : {TreeShape{12, 5, 3}, TreeShape{12, 8, 8}, TreeShape{12, 12, 2}}) {
      for (const Precision precision : {Precision::double_precision, Precision::single_precision}) {
        const PreparedModel prepared(model, inference_options(shape, precision));
        const Outcome best = run_kernel(prepared, data);
        for (std::int64_t rest = targets; rest != 0; rest &= rest - 1) {
          const std::int64_t target = rest & -rest;
          SCOPED_TRACE(::testing::Message() << hwy::TargetName(target) << ", " << type << ", H'=" << shape.candidates);
          const TargetGuard guard(target);
          // Near ties in the selection may fall either way; they are too rare to matter for these seeds.
          expect_same(best, run_kernel(prepared, data), precision == Precision::double_precision ? 1e-11 : 2e-4);
          ++tried;
        }
      }
    }
  }
  std::cout << "targets:";
  for (std::int64_t rest = targets; rest != 0; rest &= rest - 1) std::cout << ' ' << hwy::TargetName(rest & -rest);
  std::cout << '\n';
  EXPECT_GE(tried, 36);
}

TEST(Kernel, SharedTreeEqualsLanes) {
  ModelKnobs knobs;
  knobs.dimensions = 6;
  for (const TreeShape& shape : {TreeShape{1, 1, 1}, TreeShape{3, 3, 3}, TreeShape{5, 5, 2}, TreeShape{7, 7, 1},
                                 TreeShape{8, 8, 8}, TreeShape{11, 11, 4}, TreeShape{10, 4, 4}, TreeShape{6, 5, 3}}) {
    knobs.latents = shape.latents;
    const Model model = random_model(knobs, 7);
    // Many noisy copies of few points, so that clusters form where candidates < latents.
    const Matrix few = random_data(model, 4, 8);
    Random random(9);
    const Matrix data = few.replicate(200, 1) + 1e-3 * normal_matrix(800, 6, random);
    for (const Precision precision : {Precision::double_precision, Precision::single_precision}) {
      SCOPED_TRACE(::testing::Message() << "H=" << shape.latents << " H'=" << shape.candidates
                                        << " gamma=" << shape.max_active);
      PreparedModel prepared(model, inference_options(shape, precision));
      ASSERT_TRUE(prepared.share_clusters);
      const Outcome shared = run_kernel(prepared, data);
      prepared.share_clusters = false;
      expect_same(run_kernel(prepared, data), shared, precision == Precision::double_precision ? 1e-12 : 2e-5);
    }
  }
}

TEST(Kernel, ClustersAreFound) {
  ModelKnobs knobs;
  knobs.dimensions = 6;
  knobs.latents = 10;
  const Model model = random_model(knobs, 7);
  InferenceOptions options;
  options.candidates = 4;
  options.max_active = 2;
  const PreparedModel prepared(model, options);
  Workspace workspace(prepared, 6);
  workspace.candidates = {1, 2, 3, 4, 5, 6, 7, 8, 4, 3, 2, 1, 1, 2, 3, 5, 8, 7, 6, 5, 2, 1, 4, 3};
  for (std::uint32_t n = 0; n < 6; ++n) workspace.order[n] = {0, n};
  sort_by_candidates(prepared, 6, workspace);
  std::vector<std::vector<std::uint32_t>> clusters;
  for (std::size_t i = 0; i < 6; ++i) {
    if (i == 0 || workspace.order[i].key != workspace.order[i - 1].key) clusters.emplace_back();
    clusters.back().push_back(workspace.order[i].point);
  }
  std::sort(clusters.begin(), clusters.end());
  EXPECT_EQ(clusters, (std::vector<std::vector<std::uint32_t>>{{0, 2, 5}, {1, 4}, {3}}));
  // Equal keys alone are not trusted.
  workspace.order = {{7, 0}, {7, 2}, {7, 3}};
  EXPECT_TRUE(same_candidates(prepared, workspace, 0, 2));
  EXPECT_FALSE(same_candidates(prepared, workspace, 0, 3));
}

}  // namespace
}  // namespace gsc::test
