// Patches cut out of a picture on a device, and put back there, held against what the processor does.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cuda_support.h"
#include "expect_error.h"
#include "tasks/denoise/reconstruct.h"
#include "tasks/picture/patches.h"

namespace gsc::test {
namespace {

class MosaicOnADevice : public OnADevice {};

/// Bent stripes, channels that differ, and something random; `offset` and `contrast` as one likes.
Picture bent(Index height, Index width, int channels, double contrast = 2, double offset = 1) {
  Picture picture;
  Random random(5);
  for (int c = 0; c < channels; ++c)
    picture.channels.push_back(Matrix::NullaryExpr(height, width, [&](Index y, Index x) {
      const double bend = 3 * std::sin(static_cast<double>(y) / 5);
      const double noise = std::normal_distribution<double>(0, 0.2)(random);
      return offset + contrast * (std::sin((static_cast<double>(x) + bend) / 2 + c) + noise);
    }));
  return picture;
}

struct Shape {
  Index height, width, patch, stride;
  int channels;
  bool remove_mean, intercept, equal;
};
std::ostream& operator<<(std::ostream& out, const Shape& s) {
  return out << s.height << " x " << s.width << ", " << s.channels << " channels, patch " << s.patch << ", stride "
             << s.stride << (s.remove_mean ? ", mean removed" : "") << (s.intercept ? ", intercept" : "")
             << (s.equal ? ", equal weights" : "");
}
// Strides that leave a rest and such that do not, pictures of hardly more than a patch, rows of more than 32 pixels.
const Shape kShapes[] = {{12, 40, 3, 1, 1, true, false, false}, {13, 11, 4, 3, 1, true, false, true},
                         {9, 12, 2, 2, 3, true, true, false},   {10, 70, 4, 4, 2, false, true, false},
                         {5, 6, 5, 1, 1, false, false, false},  {14, 9, 3, 2, 4, true, false, false}};

Model model_of(const Shape& shape) {
  return random_model(
      {.dimensions = shape.patch * shape.patch * shape.channels, .latents = 14, .intercept = shape.intercept}, 3);
}

ModelPlan plan_of(const Shape& shape, const InferenceOptions& inference) {
  ModelPlan plan;
  plan.patch = shape.patch;
  plan.stride = shape.stride;
  plan.patch_mean = shape.remove_mean ? PatchMean::remove : PatchMean::keep;
  plan.weights = shape.equal ? PatchWeights::equal : PatchWeights::certainty;
  plan.fit.inference = inference;
  plan.fit.inference.threads = 1;
  return plan;
}

double farthest(const Reconstruction& a, const Reconstruction& b) {
  return std::max(largest_difference(a.picture, b.picture), largest_difference(a.std, b.std));
}

TEST_F(MosaicOnADevice, RowsAreThoseThatTheCpuCutsOut) {
  for (const Shape& shape : kShapes)
    for (const bool listed : {false, true}) {
      SCOPED_TRACE(::testing::Message() << shape << (listed ? ", listed" : ""));
      const Picture picture = bent(shape.height, shape.width, shape.channels);
      Random random(7);
      const PatchData data(picture,
                           listed ? random_positions(shape.height, shape.width, shape.patch, 1000, random)
                                  : grid_positions(shape.height, shape.width, shape.patch, shape.stride),
                           shape.remove_mean);
      const Model model = model_of(shape);
      const InferenceOptions options = truncated(5, 3);
      const Statistics expected = e_step(model, data, options);
      for (const std::size_t resident : {0, 1}) {  // all of it, or in blocks
        limits_of_tests = {.resident_bytes = resident, .block_rows = 32};
        EXPECT_LT(relative_difference(e_step(model, data, on_device(options)), expected), 1e-11);
        EXPECT_LT(relative_difference(e_step(model, data, on_device(in_single(options))), expected), 1e-4);
      }
    }
}

TEST_F(MosaicOnADevice, PicturesAreThoseThatTheCpuPutsTogether) {
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(::testing::Message() << shape);
    const Picture noisy = bent(shape.height, shape.width, shape.channels);
    const Model model = model_of(shape);
    const Reconstruction expected = reconstruct(noisy, model, plan_of(shape, truncated(5, 3)));
    for (const bool single : {false, true})
      for (const std::size_t resident : {0, 1}) {
        limits_of_tests = {.resident_bytes = resident, .block_rows = 32};
        const InferenceOptions there = on_device(single ? in_single(truncated(5, 3)) : truncated(5, 3));
        const ModelPlan plan = plan_of(shape, there);
        const Reconstruction got = reconstruct(noisy, model, plan);
        EXPECT_LT(farthest(got, expected), single ? 1e-3 : 1e-5);  // estimates are floats
        EXPECT_EQ(farthest(got, reconstruct(noisy, model, plan)), 0) << "a second run has the same bits";
        // cuBLAS may round products of fewer rows otherwise.
        EXPECT_LT(farthest(got, reconstruct_in_bands(noisy, model, plan, {}, 1)), 1e-5);
      }
  }
}

/// Nor does it change a bit how many patches are put back at a time, within a row of them or over several.
TEST_F(MosaicOnADevice, InPiecesOfAnySize) {
  const Shape shape{12, 40, 3, 1, 1, true, false, false};
  const Picture noisy = bent(shape.height, shape.width, shape.channels);
  const ModelPlan plan = plan_of(shape, on_device(truncated(5, 3)));
  const Reconstruction expected = reconstruct(noisy, model_of(shape), plan);
  for (const long patches : {7, 38, 100}) {
    limits_of_tests.patches = patches;
    EXPECT_EQ(farthest(reconstruct(noisy, model_of(shape), plan), expected), 0) << patches;
  }
}

/// Where rows are all of a picture's patches, in order, and it has room for them.
TEST_F(MosaicOnADevice, IsThereWhereItCanBe) {
  const Shape shape{12, 40, 3, 1, 1, true, false, false};
  Picture picture = bent(shape.height, shape.width, shape.channels);
  const Model model = model_of(shape);
  const auto has = [&](PatchPositions positions, const InferenceOptions& options) {
    const PatchData data(picture, std::move(positions), true);
    const std::unique_ptr<Engine> engine = make_engine(data, on_device(options));
    return engine->mosaic(model, {}) != nullptr;
  };
  const PatchPositions grid = grid_positions(12, 40, 3, 1);
  EXPECT_TRUE(has(grid, truncated(5, 3)));
  EXPECT_TRUE(has(grid, in_single(truncated(5, 3))));
  Random random(7);
  EXPECT_FALSE(has(random_positions(12, 40, 3, 1000, random), truncated(5, 3)));
  InferenceOptions all;
  all.method = Method::exact;
  EXPECT_FALSE(has(grid, all));
  limits_of_tests = {.block_rows = 32, .free_bytes = 20000};
  EXPECT_FALSE(has(grid, truncated(5, 3)));
  // Room for the picture beside the work space, and then for the sums.
  cuda::Queue queue(0);
  const PatchData data(picture, grid, true);
  const cuda::DevicePicture there(queue, data.layout());
  const std::size_t work = cuda::Expectation<double>(queue, 9, 0, 32).bytes(14, 5);
  const auto leaving = [&](std::size_t bytes) { return (work + bytes) / 9 * 10 + 100; };
  limits_of_tests.free_bytes = leaving(12 * 40 * sizeof(double));
  EXPECT_NE(cuda::DevicePass(queue, data, truncated(5, 3), limits_of_tests).picture(14), nullptr);
  EXPECT_FALSE(has(grid, truncated(5, 3)));
  limits_of_tests.free_bytes = leaving(cuda::Mosaic::bytes(there, data.rows()));
  EXPECT_TRUE(has(grid, truncated(5, 3)));
  limits_of_tests = {};
  picture.channels[0](4, 5) = std::numeric_limits<double>::infinity();
  EXPECT_THROW(has(grid, truncated(5, 3)), Error) << "rows that are not finite are named as they are read";
}

/// Without room for it, or for the picture, patches come from the host and are put back there.
TEST_F(MosaicOnADevice, OrElseTheHostDoesIt) {
  const Shape shape{12, 40, 3, 1, 1, true, false, false};
  const Picture noisy = bent(shape.height, shape.width, shape.channels);
  const Reconstruction expected = reconstruct(noisy, model_of(shape), plan_of(shape, truncated(5, 3)));
  limits_of_tests = {.block_rows = 32, .free_bytes = 20000};
  const Reconstruction got = reconstruct(noisy, model_of(shape), plan_of(shape, on_device(truncated(5, 3))));
  EXPECT_LT(farthest(got, expected), 1e-5);
}

TEST_F(MosaicOnADevice, AlsoUnderPriorsOfTheirOwn) {
  const Shape shape{14, 20, 3, 1, 1, true, false, false};
  const Picture noisy = bent(shape.height, shape.width, shape.channels);
  const Model model = model_of(shape);
  ModelPlan plan = plan_of(shape, truncated(6, 3));
  plan.nonlocal_rounds = 2;
  plan.reach = 4;
  plan.neighbours = 6;
  const Reconstruction expected = reconstruct(noisy, model, plan);
  plan.fit.inference = on_device(plan.fit.inference);
  const Reconstruction got = reconstruct(noisy, model, plan);
  // Near ties of candidates may go the other way.
  EXPECT_LT(farthest(got, expected), 0.02);
  EXPECT_LT(farthest(got, reconstruct_in_bands(noisy, model, plan, {}, 1)), 0.02);
}

/// An offset a million times the noise costs no digits.
TEST_F(MosaicOnADevice, FarFromZero) {
  const Shape shape{12, 15, 3, 1, 1, true, false, false};
  const Model model = model_of(shape);
  const Picture near = bent(12, 15, 1), far = bent(12, 15, 1, 2, 1 + 1048576.0);
  const ModelPlan plan = plan_of(shape, on_device(in_single(truncated(5, 3))));
  const Reconstruction expected = reconstruct(near, model, plan);
  Reconstruction got = reconstruct(far, model, plan);
  got.picture.channels[0].array() -= 1048576.0;
  EXPECT_LT(farthest(got, expected), 1e-5);
}

/// Patches whose log weights are beyond float are inferred once more, and put back once.
TEST_F(MosaicOnADevice, WhatSingleLeavesUndoneIsPutBackOnce) {
  const Shape shape{12, 40, 3, 1, 1, true, false, false};
  Picture noisy = bent(shape.height, shape.width, shape.channels);
  noisy.channels[0].block(3, 20, 4, 5) *= 3000;
  const Model model = model_of(shape);
  // Not what the CPU says: where values are that large it ranks candidates that are nearly equal otherwise.
  const Reconstruction expected = reconstruct(noisy, model, plan_of(shape, on_device(truncated(5, 3))));
  limits_of_tests.block_rows = 32;
  const Reconstruction got = reconstruct(noisy, model, plan_of(shape, on_device(in_single(truncated(5, 3)))));
  const Matrix error = (got.picture.channels[0] - expected.picture.channels[0]).cwiseAbs();
  EXPECT_LT(error.leftCols(16).maxCoeff(), 1e-3);
  EXPECT_LT(error.maxCoeff(), 1e-4 * 3000);
  EXPECT_LT(largest_difference(got.std, expected.std), 1e-3);
}

TEST_F(MosaicOnADevice, WhatIsNoNumberIsNamed) {
  Picture picture = bent(8, 8, 1);
  picture.channels[0](4, 5) = std::numeric_limits<double>::quiet_NaN();
  const PatchData data(picture, grid_positions(8, 8, 3, 1), false);
  const Model model = random_model({.dimensions = 9, .latents = 12}, 3);
  // The first patch with that pixel is in row 2 and column 3 of the grid, which is six wide.
  expect_error<Error>([&] { e_step(model, data, on_device(truncated(5, 3))); }, {"row 15", "column 8"});
}

TEST_F(MosaicOnADevice, StopsWhenAsked) {
  const Shape shape{12, 40, 3, 1, 1, true, false, false};
  const Picture noisy = bent(shape.height, shape.width, shape.channels);
  const ModelPlan plan = plan_of(shape, on_device(truncated(5, 3)));
  int asked = 0;
  const auto stop_at = [&](double) { return ++asked == 3; };
  EXPECT_THROW(reconstruct(noisy, model_of(shape), plan, stop_at), Interrupted);
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace gsc::test
