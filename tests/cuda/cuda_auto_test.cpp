// Which GPU is chosen and when one is worth waking, without any; what `auto` does where the emulated one does not start,
// and what is said where one fails at work.

#include <gsc/denoise.h>
#include <gsc/fit.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cuda/auto_engine.h"
#include "cuda/device_choice.h"
#include "cuda/queue/device_error.h"
#include "cuda/queue/queue_emulated.h"
#include "cuda_support.h"
#include "expect_error.h"
#include "inference/patch_mosaic.h"
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
  for (const char* name : {"cuda:1", "cuda:9"})
    expect_error<UsageError>([&] { chosen_gpu(three_of_four(), name, 0); },
                             {std::string("device is '") + name + "'", "cuda:0 (Old), cuda:2 (New), cuda:3 (Newer)"});
  expect_error<Error>([] { chosen_gpu(three_of_four(), "cuda:0", 0); },
                      {"'cuda:0'", "Old", "capability 6.1", "8.0 is needed", "set device to cpu"});
}

TEST(DeviceChoice, ATextIsParsedOnce) {
  const auto is = [](const Device& device, Device::Kind kind, int index) {
    return device.kind == kind && device.index == index;
  };
  EXPECT_TRUE(is({}, Device::Kind::cpu, -1));
  EXPECT_TRUE(is("cpu", Device::Kind::cpu, -1));
  EXPECT_TRUE(is("auto", Device::Kind::automatic, -1));
  EXPECT_TRUE(is("cuda", Device::Kind::cuda, -1));
  EXPECT_TRUE(is("cuda:0", Device::Kind::cuda, 0));
  EXPECT_TRUE(is("cuda:12", Device::Kind::cuda, 12));
  const MatrixData data(Matrix::Ones(2, 3));
  const Model model = random_model({.dimensions = 3, .latents = 4}, 1);
  for (const char* name :
       {"cuda:-1", "cuda:", "cuda:2x", "cuda: 2", "cuda:99999999999999999999", "cudas", "abacus", ""}) {
    EXPECT_TRUE(is(name, Device::Kind::added, -1)) << name;
    EXPECT_EQ(std::string(Device(name)), name);
    InferenceOptions options = truncated(2, 2);
    options.device = name;
    expect_error<UsageError>([&] { e_step(model, data, options); },
                             {"device is '" + std::string(name) + "'; here are: auto, cpu"});
  }
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
  /// What failed, and how to go on; nothing is done twice, and nothing said beside.
  template <class Run>
  static void expect_failure(const Run& run) {
    expect_error<cuda::DeviceError>(run,
                                    {"the GPU failed to ", "set device to cpu", "resume from the last checkpoint"});
    emulated_failure = {};
    EXPECT_TRUE(said().empty());
  }
  /// How many kernels run while it is done.
  template <class Run>
  static long kernels_of(const Run& run) {
    emulated_failure.kernels = std::numeric_limits<long>::max();
    run();
    return std::numeric_limits<long>::max() - std::exchange(emulated_failure, {}).kernels;
  }
};

TEST_F(AutoOnADevice, AGpuThatDoesNotStartIsSaidOnce) {
  const Model model = random_model({.dimensions = 6, .latents = 12}, 3);
  const MatrixData data(random_data(model, 200, 4));
  const Statistics expected = e_step(model, data, truncated(5, 3));
  const std::unique_ptr<Engine> engine = make_engine(data, there(truncated(5, 3)));
  emulated_failure = {0, true};
  EXPECT_TRUE(same_bits(engine->e_step(model, {}), expected));
  emulated_failure = {};
  EXPECT_TRUE(same_bits(engine->e_step(model, {}), expected));
  EXPECT_FALSE(engine->on_device());
  EXPECT_EQ(engine->patches(), nullptr);
  EXPECT_EQ(said(), std::vector<std::string>{
                        "the GPU failed to compute: gone; device is 'auto there', so the processor goes on"});
}

TEST_F(AutoOnADevice, AGpuThatFailsLaterIsAnError) {
  const Model model = random_model({.dimensions = 6, .latents = 12}, 3);
  const MatrixData data(random_data(model, 200, 4));
  const auto run = [&](Engine& engine) {
    engine.e_step(model, {});
    engine.infer(model, {.variance = true}, 0, 200, {});
    engine.infer_sparse(model, 0, 200, nullptr, {});
  };
  const auto woken = [&] {
    std::unique_ptr<Engine> engine = make_engine(data, there(truncated(5, 3)));
    engine->e_step(model, {});
    return engine;
  };
  const std::unique_ptr<Engine> working = woken();
  const long all = kernels_of([&] { run(*working); });
  for (const bool for_good : {false, true})
    for (long kernels = 0; kernels < all; kernels += 3) {
      SCOPED_TRACE(::testing::Message() << kernels << " of " << all << (for_good ? ", for good" : ""));
      const std::unique_ptr<Engine> engine = woken();
      emulated_failure = {kernels, for_good};
      expect_failure([&] { run(*engine); });
      EXPECT_TRUE(engine->on_device());
    }
}

/// All of denoise(), at whatever point the GPU fails: learning, patches that are alike, or groups of them. It is called
/// cuda here, as `auto` would leave a picture that small to the processor.
TEST_F(AutoOnADevice, DenoisingSaysWhereTheGpuFails) {
  add_auto("cuda");
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
  options.learning.inference.threads = 1;
  options.learning.inference.device = "cuda";
  const long all = kernels_of([&] { denoise(noisy, options); });
  for (const long kernels : {1L, all / 3, all - 10, all - 6, all - 3, all - 1}) {
    SCOPED_TRACE(::testing::Message() << kernels << " of " << all);
    emulated_failure = {kernels, false};
    expect_failure([&] { denoise(noisy, options); });
  }
}

/// A picture is given whole, or not at all: weights say how often a patch is there.
TEST_F(AutoOnADevice, SumsThatWereLostAreNotGiven) {
  Picture noisy;
  noisy.channels.push_back(Matrix::NullaryExpr(8, 9, [](Index y, Index x) { return std::sin(double(x * y) / 9); }));
  const PatchData data(noisy, grid_positions(8, 9, 3, 1), true);
  const Model model = random_model({.dimensions = 9, .latents = 12}, 3);
  for (const bool lost : {false, true}) {
    const std::unique_ptr<Engine> engine = make_engine(data, there(truncated(5, 3)));
    PatchMosaic* mosaic = engine->mosaic(model, {.equal = true});
    ASSERT_NE(mosaic, nullptr);
    mosaic->add(0, 20, nullptr, nullptr, {});
    mosaic->add(20, data.rows() - 20, nullptr, nullptr, {});
    PatchAverager averager(data.positions(), 1, true);
    if (lost) {
      emulated_failure.downloads = 2;  // values and variances come, weights do not
      expect_failure([&] { mosaic->give(averager.sums()); });
      continue;
    }
    mosaic->give(averager.sums());
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

/// What a user does then: the last checkpoint, on the processor.
TEST_F(AutoOnADevice, LearningIsResumedWhereTheGpuFailed) {
  struct Checkpoints final : Watcher {
    FitState last;
    bool needs_method_state(const FitState&) override { return true; }
    void on_iteration(const FitState& state) override { last = state; }
  };
  const Model truth = random_model({.dimensions = 6, .latents = 8, .pi_high = 0.4}, 3);
  const MatrixData data(random_data(truth, 160, 4));
  for (const Index batch : {0, 40}) {
    FitOptions options = learning(batch, Intercept::learned);
    const FitResult expected = fit(data, options);
    FitOptions on_gpu = options;
    on_gpu.inference = there(options.inference);
    const long all = kernels_of([&] { fit(data, on_gpu); });
    for (const bool for_good : {false, true})
      for (long kernels = 1; kernels < all; kernels += 7) {
        SCOPED_TRACE(::testing::Message()
                     << "batch " << batch << ", " << kernels << " of " << all << (for_good ? ", for good" : ""));
        Checkpoints checkpoints;
        emulated_failure = {kernels, for_good};
        expect_failure([&] { fit(data, on_gpu, &checkpoints); });
        if (checkpoints.last.history.empty()) continue;
        const FitResult got = resume(data, options, checkpoints.last);
        ASSERT_EQ(got.state.history.size(), expected.state.history.size());
        for (std::size_t t = 0; t < got.state.history.size(); ++t) {
          EXPECT_NEAR(got.state.history[t].free_energy / expected.state.history[t].free_energy, 1, 1e-10) << t;
          EXPECT_EQ(got.state.history[t].rescues, expected.state.history[t].rescues) << t;
        }
        EXPECT_LT((got.model().W - expected.model().W).cwiseAbs().maxCoeff(), 1e-7);
      }
  }
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
