// Which GPU is chosen and when one is worth waking, without any; and what `auto` does where the emulated one fails.

#include <gsc/denoise.h>
#include <gsc/fit.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cuda/auto_engine.h"
#include "cuda/auto_patches.h"
#include "cuda/device_choice.h"
#include "cuda/device_patches.h"
#include "cuda/queue/queue_emulated.h"
#include "cuda_support.h"
#include "expect_error.h"
#include "tasks/denoise/reconstruct.h"
#include "tasks/picture/patches.h"

namespace gsc::test {
namespace {

using cuda::any_gpu;
using cuda::chosen_gpu;
using cuda::emulated_failure;
using cuda::Work;

/// The first cannot be used, and the one between could not be read.
std::vector<CudaDevice> three_of_four() {
  return {{0, "Old", 6, 1, 1, false}, {2, "New", 9, 0, 1, true}, {3, "Newer", 9, 0, 1, true}};
}

TEST(DeviceChoice, ANumberIsThatOfTheDevice) {
  EXPECT_EQ(chosen_gpu(three_of_four(), "cuda:2", 0), 2);
  EXPECT_EQ(chosen_gpu(three_of_four(), "cuda:3", 5), 3);
  for (const char* name : {"cuda:1", "cuda:9", "cuda:-1", "cuda:", "cuda:2x", "cuda: 2", "cuda:99999999999999999999"})
    expect_error<UsageError>([&] { chosen_gpu(three_of_four(), name, 0); },
                             {std::string("device is '") + name + "'", "cuda:0 (Old), cuda:2 (New), cuda:3 (Newer)"});
  expect_error<Error>([] { chosen_gpu(three_of_four(), "cuda:0", 0); },
                      {"'cuda:0'", "Old", "capability 6.1", "8.0 is needed", "set device to cpu"});
}

TEST(DeviceChoice, EachProcessTakesAnotherThatCanBeUsed) {
  for (const int rank : {0, 1, 2, 3}) {
    EXPECT_EQ(chosen_gpu(three_of_four(), "cuda", rank), 2 + rank % 2);
    EXPECT_EQ(any_gpu(three_of_four(), rank), 2 + rank % 2);
  }
  const std::vector<CudaDevice> old = {{0, "Old", 6, 1, 1, false}};
  EXPECT_EQ(any_gpu(old, 0), std::nullopt);
  EXPECT_EQ(any_gpu({}, 0), std::nullopt);
  expect_error<Error>([&] { chosen_gpu(old, "cuda", 1); }, {"Old", "capability 6.1"});
  expect_error<Error>([] { chosen_gpu({}, "cuda", 0); }, {"no NVIDIA GPU", "set device to cpu"});
}

/// 62,001 patches of House and 256 latents (docs/gpu.md).
Work house(double passes, int threads) {
  return {.points = 62001,
          .dimensions = 64,
          .latents = 256,
          .states = 1013,
          .passes = passes,
          .threads = threads,
          .single = true,
          .conditional = false};
}

TEST(WorthWaking, CountsPassesThreadsAndSizes) {
  EXPECT_TRUE(worth_waking(house(61, 16)));
  EXPECT_FALSE(worth_waking(house(1, 16)));
  EXPECT_TRUE(worth_waking(house(3, 1)));
  EXPECT_FALSE(worth_waking(house(3, 16)));
  Work wide = house(3, 16);  // few states, many numbers
  wide.states = 16;
  EXPECT_FALSE(worth_waking(wide));
  wide.dimensions = wide.latents = 2048;
  EXPECT_TRUE(worth_waking(wide));
  Work tiny = house(1e6, 1);  // a pass is over before kernels are started
  tiny.points = 50;
  EXPECT_FALSE(worth_waking(tiny));
}

/// Near what was measured: milliseconds of a pass in docs/gpu.md, without waking and what an iteration has beside it.
TEST(WorthWaking, IsNearWhatWasMeasured) {
  const auto pass = [](Work work) {
    const double one = seconds_on_gpu(work);
    work.passes += 1;
    return 1e3 * (seconds_on_gpu(work) - one) - 0.3;
  };
  Work work = house(1, 16);
  EXPECT_NEAR(pass(work) / 0.737, 1, 0.3);
  work.conditional = true;
  EXPECT_NEAR(pass(work) / 1.111, 1, 0.3);
  work.latents = 4096;
  EXPECT_NEAR(pass(work) / 65.7, 1, 0.3);
  work = house(1, 16);
  work.single = false;
  EXPECT_NEAR(pass(work) / 1.489, 1, 0.3);
}

/// The device "auto there": `auto` where there is a GPU, the emulated one, that anything is worth waking.
class AutoOnADevice : public OnADevice {
 protected:
  static void SetUpTestSuite() {
    OnADevice::SetUpTestSuite();
    add_auto("auto there");
  }
  static void add_auto(const std::string& name) {
    add_engine(name, [](const Data& data, const InferenceOptions& options) {
      const auto make_gpu = [&data](const InferenceOptions& there) {
        return std::make_unique<cuda::DeviceEngine>(data, there, 0, limits_of_tests);
      };
      return std::make_unique<cuda::AutoEngine>(
          data, options, make_gpu, [](const std::string& text) { said().push_back(text); },
          [](const Work&) { return true; });
    });
  }
  void SetUp() override {
    OnADevice::SetUp();
    said().clear();
    emulated_failure = {};
  }
  void TearDown() override { emulated_failure = {}; }

  static std::vector<std::string>& said() {
    static std::vector<std::string> texts;
    return texts;
  }
  static InferenceOptions there(InferenceOptions options) {
    options.device = "auto there";
    return options;
  }
  /// How many kernels run while it is done.
  template <class Run>
  static long kernels_of(const Run& run) {
    emulated_failure.kernels = std::numeric_limits<long>::max();
    run();
    return std::numeric_limits<long>::max() - std::exchange(emulated_failure, {}).kernels;
  }
};

TEST_F(AutoOnADevice, CallsThatFailAreDoneByTheProcessor) {
  const Model model = random_model({.dimensions = 6, .latents = 12}, 3);
  const MatrixData data(random_data(model, 200, 4));
  const InferenceOptions options = truncated(5, 3);
  const Statistics sums = e_step(model, data, options);
  const Posterior points = infer(model, data, options, {.variance = true});
  const SparsePosterior sparse = infer_sparse(model, data, options);
  const auto run = [&](Engine& engine) {
    EXPECT_LT(relative_difference(engine.e_step(model, {}), sums), 1e-11);
    const Posterior got = engine.infer(model, {.variance = true}, 0, 200, {});
    EXPECT_LT((got.mean - points.mean).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_LT((got.log_likelihood - points.log_likelihood).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_LT((engine.infer_sparse(model, 0, 200, nullptr, {}).mean - sparse.mean).cwiseAbs().maxCoeff(), 1e-5);
  };
  const long all = kernels_of([&] { run(*make_engine(data, there(options))); });
  EXPECT_TRUE(said().empty());
  for (const bool for_good : {false, true})
    for (long kernels = 0; kernels < all; kernels += 3) {
      SCOPED_TRACE(::testing::Message() << kernels << " of " << all << (for_good ? ", for good" : ""));
      said().clear();
      const std::unique_ptr<Engine> engine = make_engine(data, there(options));
      emulated_failure = {kernels, for_good};
      run(*engine);
      EXPECT_FALSE(engine->on_device());
      ASSERT_EQ(said().size(), 1U);
      EXPECT_NE(said()[0].find("the GPU failed to "), std::string::npos) << said()[0];
      EXPECT_NE(said()[0].find("; device is 'auto there', so the processor goes on"), std::string::npos) << said()[0];
    }
}

/// All of denoise(), at whatever point the GPU fails: learning, patches that are alike, or groups of them. It is called
/// cuda here, as `auto` would leave a picture that small to the processor.
TEST_F(AutoOnADevice, DenoisingGoesOnWhereTheGpuFails) {
  add_auto("cuda");
  add_patch_device("cuda", [](const std::string&) {
    const auto make_gpu = [] { return std::make_unique<cuda::DevicePatches>(0, cuda::PatchLimits{}); };
    return cuda::AutoPatches::make(make_gpu, [](const std::string& text) { said().push_back(text); });
  });
  Picture clean;
  clean.channels.push_back(
      Matrix::NullaryExpr(20, 22, [](Index y, Index x) { return 120 + 80 * std::sin(double(x) / 2 + double(y) / 9); }));
  const Picture noisy = add_noise(clean, 20, false, 5);
  DenoiseOptions options;
  options.quality = Quality::fast;
  options.patch = 4;
  options.learning.latents = 16;
  options.learning.sigma = 20;
  options.nonlocal = 1;
  options.groups = 2;
  options.learning.iterations = 1;
  options.learning.inference.precision = Precision::double_precision;  // learning then takes the same way
  options.learning.inference.threads = 1;
  const Picture expected = denoise(noisy, options).picture;
  options.learning.inference.device = "cuda";
  const long all = kernels_of([&] { denoise(noisy, options); });
  EXPECT_TRUE(said().empty());
  for (const long kernels : {1L, all / 3, all - 10, all - 6, all - 3, all - 1}) {
    SCOPED_TRACE(::testing::Message() << kernels << " of " << all);
    said().clear();
    emulated_failure = {kernels, false};
    const Picture got = denoise(noisy, options).picture;
    EXPECT_LT((got.channels[0] - expected.channels[0]).cwiseAbs().maxCoeff(), 0.05);
    ASSERT_GE(said().size(), 1U);
    EXPECT_NE(said()[0].find("so the processor goes on"), std::string::npos) << said()[0];
  }
  add_patch_device("cuda", [](const std::string&) { return std::unique_ptr<PatchDevice>(); });
}

/// Wherever the GPU fails while patches are put back, in a kernel or when their sums come, none is there twice or not
/// at all. The picture has no two pixels with patches that are alike.
TEST_F(AutoOnADevice, PicturesArePutTogetherAnewWhereTheGpuFails) {
  Picture noisy;
  noisy.channels.push_back(
      Matrix::NullaryExpr(12, 14, [](Index y, Index x) { return 5 * std::sin(double(x * y) / 9) + double(x); }));
  const Model model = random_model({.dimensions = 9, .latents = 12}, 3);
  ModelPlan plan;
  plan.patch = 3;
  plan.nonlocal_rounds = 1;
  plan.reach = 4;
  plan.neighbours = 6;
  plan.fit.inference = truncated(5, 3);
  plan.fit.inference.threads = 1;
  const auto run = [&] { return reconstruct_in_bands(noisy, model, plan, {}, 1e4).picture.channels[0]; };
  const Matrix expected = run();
  plan.fit.inference = there(plan.fit.inference);
  const long kernels = kernels_of(run);
  emulated_failure.downloads = std::numeric_limits<long>::max();
  run();
  const long downloads = std::numeric_limits<long>::max() - std::exchange(emulated_failure, {}).downloads;
  EXPECT_TRUE(said().empty());
  const auto fails = [&](const cuda::EmulatedFailure& failure) {
    SCOPED_TRACE(::testing::Message() << failure.kernels << " of " << kernels << " kernels, " << failure.downloads
                                      << " of " << downloads << " downloads");
    said().clear();
    emulated_failure = failure;
    EXPECT_LT((run() - expected).cwiseAbs().maxCoeff(), 1e-3);
    EXPECT_EQ(said().size(), 1U);
    emulated_failure = {};
  };
  for (long i = 0; i < kernels; i += 3) fails({i, false});
  for (long i = 0; i < downloads; ++i) fails({.downloads = i});
}

/// What it has added up is given as it is, or not at all: weights say how often a patch is there.
TEST_F(AutoOnADevice, SumsThatWereLostAreNotGiven) {
  Picture noisy;
  noisy.channels.push_back(Matrix::NullaryExpr(8, 9, [](Index y, Index x) { return std::sin(double(x * y) / 9); }));
  const PatchData data(noisy, grid_positions(8, 9, 3, 1), true);
  const Model model = random_model({.dimensions = 9, .latents = 12}, 3);
  for (const bool lost : {false, true}) {
    const std::unique_ptr<Engine> engine = make_engine(data, there(truncated(5, 3)));
    auto* able = dynamic_cast<MosaicEngine*>(engine.get());
    ASSERT_NE(able, nullptr);
    PatchMosaic* mosaic = able->mosaic(model, {.equal = true});
    ASSERT_NE(mosaic, nullptr);
    ASSERT_TRUE(mosaic->add(0, 20, nullptr, nullptr, {}));
    ASSERT_TRUE(mosaic->add(20, data.rows() - 20, nullptr, nullptr, {}));
    PatchAverager averager(data.positions(), 1, true);
    emulated_failure.downloads = lost ? 2 : -1;  // values and variances come, weights do not
    EXPECT_EQ(mosaic->give(averager.sums()), !lost);
    emulated_failure = {};
    EXPECT_EQ(said().size(), lost ? 1U : 0U);
    EXPECT_EQ(engine->on_device(), !lost);
    if (lost) {
      EXPECT_FALSE(mosaic->add(0, 20, nullptr, nullptr, {})) << "there is none any more";
      continue;
    }
    for (Index y = 0; y < 8; ++y)
      for (Index x = 0; x < 9; ++x)
        EXPECT_EQ(averager.weights()(y, x), std::min({y + 1, 8 - y, Index{3}}) * std::min({x + 1, 9 - x, Index{3}}));
  }
}

/// What is wrong with the data is no failure of the GPU.
TEST_F(AutoOnADevice, ErrorsOfTheUserAreNotPutDownToTheGpu) {
  const Model model = random_model({.dimensions = 6, .latents = 12}, 3);
  Matrix values = random_data(model, 20, 4);
  values(11, 2) = std::numeric_limits<double>::quiet_NaN();
  expect_error<Error>([&] { e_step(model, MatrixData(values), there(truncated(5, 3))); }, {"row 11", "column 2"});
  EXPECT_TRUE(said().empty());
}

FitOptions learning(Index batch, Intercept intercept) {
  FitOptions options;
  options.latents = 8;
  options.iterations = 4;
  options.tolerance = 0;
  options.batch = batch;
  options.polish = batch > 0 ? 1 : 0;
  options.intercept = intercept;
  options.inference = truncated(4, 3);
  return options;
}

TEST_F(AutoOnADevice, LearningGoesOnWhereTheGpuFails) {
  const Model truth = random_model({.dimensions = 6, .latents = 8, .pi_high = 0.4}, 3);
  const MatrixData data(random_data(truth, 160, 4));
  for (const Index batch : {0, 40}) {
    FitOptions options = learning(batch, Intercept::learned);
    const FitResult expected = fit(data, options);
    options.inference = there(options.inference);
    const long all = kernels_of([&] { fit(data, options); });
    for (const bool for_good : {false, true})
      for (long kernels = 1; kernels < all; kernels += 7) {
        SCOPED_TRACE(::testing::Message()
                     << "batch " << batch << ", " << kernels << " of " << all << (for_good ? ", for good" : ""));
        said().clear();
        emulated_failure = {kernels, for_good};
        const FitResult got = fit(data, options);
        emulated_failure = {};
        ASSERT_EQ(said().size(), 1U);
        ASSERT_EQ(got.state.history.size(), expected.state.history.size());
        if (for_good) {  // from an older model on, at worst the first
          EXPECT_GE(got.state.history.back().free_energy, expected.state.history.front().free_energy - 1e-6);
          continue;
        }
        for (std::size_t t = 0; t < got.state.history.size(); ++t) {
          EXPECT_NEAR(got.state.history[t].free_energy / expected.state.history[t].free_energy, 1, 1e-10) << t;
          EXPECT_EQ(got.state.history[t].rescues, expected.state.history[t].rescues) << t;
        }
        EXPECT_LT((got.model().W - expected.model().W).cwiseAbs().maxCoeff(), 1e-7);
      }
  }
}

/// A stop in the pass in which the processor has taken over leaves the last complete row.
TEST_F(AutoOnADevice, AStopAfterAFailureLeavesTheLastCompleteRow) {
  const Model truth = random_model({.dimensions = 6, .latents = 8, .pi_high = 0.4}, 3);
  const MatrixData data(random_data(truth, 160, 4));
  const Model start = random_model({.dimensions = 6, .latents = 8}, 5);
  const std::unique_ptr<Engine> engine = make_engine(data, there(truncated(4, 3)));
  ResidentEm* resident = engine->resident(start, {});
  ASSERT_NE(resident, nullptr);
  resident->start(start);
  resident->e_step({});
  resident->m_step({});
  emulated_failure = {0, false};
  EXPECT_THROW(resident->e_step({.stop = [] { return !emulated_failure.for_good; }}), Interrupted);
  resident->take_back();
  EXPECT_LT((resident->model().W - start.W).cwiseAbs().maxCoeff(), 1e-12);
}

TEST_F(AutoOnADevice, MoreLatentsThanSharedMemoryHolds) {
  EXPECT_EQ(cuda::most_latents(98U << 10U, false), 6272);  // 99 KB a block less what the system takes
  EXPECT_EQ(cuda::most_latents(98U << 10U, true), 4160);
  const Model model = random_model({.dimensions = 4, .latents = 100}, 3);
  const MatrixData data(random_data(model, 20, 4));
  limits_of_tests.block_bytes = 1024;
  for (const auto& call : std::vector<std::function<void(const InferenceOptions&)>>{
           [&](const InferenceOptions& options) { e_step(model, data, options); },
           [&](const InferenceOptions& options) { infer(model, data, options); }}) {
    expect_error<cuda::DeviceError>(
        [&] { call(on_device(truncated(5, 3))); },
        {"device is 'device'", "100 latents", "1 KB a block", "room for 64", "set device to cpu"});
    said().clear();
    call(there(truncated(5, 3)));
    EXPECT_EQ(said().size(), 1U);
  }
}

}  // namespace
}  // namespace gsc::test
