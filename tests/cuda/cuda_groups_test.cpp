// Groups of patches and block matching on a device, held against those of the processor.

#include <gsc/denoise.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "cuda/auto_patches.h"
#include "cuda/device_engine.h"
#include "cuda/device_patches.h"
#include "cuda_support.h"
#include "expect_error.h"
#include "tasks/groups/patch_groups.h"
#include "tasks/groups/patch_neighbours.h"
#include "tasks/picture/smoothing.h"

namespace gsc::test {
namespace {

/// Stripes that bend beside a flat part, so that some patches have others like them, and some are as good as equal.
Picture drawn(Index height, Index width, int channels) {
  Picture picture;
  for (int c = 0; c < channels; ++c)
    picture.channels.push_back(Matrix::NullaryExpr(height, width, [&](Index y, Index x) {
      if (x < width / 3) return 90.0 + 20 * c;
      const double bend = 6 * std::sin(static_cast<double>(y) / 20);
      return 120 + 80 * std::tanh(3 * std::sin((static_cast<double>(x) + bend) / 3 + c));
    }));
  return picture;
}

struct Case {
  Picture noisy, pilot;
  double noise = 20;
  GroupOptions options = {};
};

Case make_case(Index height, Index width, int channels, std::vector<GroupSize> sizes) {
  const Picture clean = drawn(height, width, channels);
  Case made{add_noise(clean, 20, false, 4), {}};
  made.pilot = smoothed(made.noisy, 0.8);
  // A flat part that is flat in the pilot, too.
  for (std::size_t c = 0; c < clean.channels.size(); ++c)
    made.pilot.channels[c].leftCols(width / 4) = clean.channels[c].leftCols(width / 4);
  made.options.sizes = std::move(sizes);
  made.options.reach = 10;
  made.options.threads = 1;
  return made;
}

/// What the device makes of it; all that the processor says must be near.
Picture expect_as_on_the_cpu(const Case& made, cuda::PatchLimits limits = {}) {
  cuda::DevicePatches device(0, limits);
  GroupOptions options = made.options;
  options.device = &device;
  Picture expected_variance, variance;
  const Picture expected = filter_groups(made.noisy, made.pilot, made.noise, made.options, {}, &expected_variance);
  const Picture got = filter_groups(made.noisy, made.pilot, made.noise, options, {}, &variance);
  EXPECT_TRUE(got.channels[0].allFinite());
  EXPECT_LT(largest_difference(got, expected), 0.01);
  double square = 0, error = 0;
  for (std::size_t c = 0; c < got.channels.size(); ++c) {
    square += expected_variance.channels[c].squaredNorm();
    error += (variance.channels[c] - expected_variance.channels[c]).squaredNorm();
  }
  EXPECT_LE(error, 1e-6 * square);
  EXPECT_EQ(largest_difference(got, filter_groups(made.noisy, made.pilot, made.noise, options)), 0)
      << "asking for the disagreement changes nothing, and a second run has the same bits";
  return got;
}

TEST(DeviceGroups, AreThoseOfTheCpuForPatchesOfAllSizes) {
  // Few values, few members, both; more members where they are equal; none of the sizes a multiple of four.
  const std::vector<GroupSize> all = {{2, 24}, {3, 24, 48}, {5, 24, 50}, {7, 24, 60}, {8, 33}, {11, 33, 66}};
  for (const GroupSize& size : all) {
    SCOPED_TRACE(::testing::Message() << size.patch << " pixels, " << size.members << " to " << size.most);
    Case made = make_case(34, 47, 1, {size});
    made.options.step = 2;
    expect_as_on_the_cpu(made);
  }
}

TEST(DeviceGroups, ColoursAndTheMeanOfSizes) { expect_as_on_the_cpu(make_case(30, 45, 3, {{3, 24, 30}, {6, 24}})); }

TEST(DeviceGroups, PlanesThatAreNotColours) { expect_as_on_the_cpu(make_case(24, 30, 2, {{4, 12}})); }

TEST(DeviceGroups, LargePatchesAndManyMembers) { expect_as_on_the_cpu(make_case(44, 40, 1, {{14, 42, 84}, {16, 96}})); }

TEST(DeviceGroups, AllStepsAndReaches) {
  for (const Index step : {1, 2, 5})
    for (const Index reach : {1, 7, 33}) {
      SCOPED_TRACE(::testing::Message() << "step " << step << ", reach " << reach);
      Case made = make_case(20, 27, 1, {{5, 16, 32}});
      made.options.step = step;
      made.options.reach = reach;
      expect_as_on_the_cpu(made);
    }
}

TEST(DeviceGroups, WindowsWiderThanTwoVectors) {
  Case made = make_case(12, 150, 1, {{4, 40}});
  made.options.reach = 60;
  made.options.step = 4;
  expect_as_on_the_cpu(made);
}

TEST(DeviceGroups, TinyPictures) {
  for (const Index size : {1, 2, 4, 5, 9}) {
    SCOPED_TRACE(size);
    expect_as_on_the_cpu(make_case(size, size + 3, 1, {{8, 24}}));
    expect_as_on_the_cpu(make_case(size + 2, size, 3, {{3, 16, 40}}));
  }
}

/// A group of one is its pilot.
TEST(DeviceGroups, OneMember) {
  Case made = make_case(16, 20, 1, {{4, 1}});
  EXPECT_LT(largest_difference(expect_as_on_the_cpu(made), made.pilot), 1e-4);
}

/// Pictures of any range, small and large.
TEST(DeviceGroups, AnyUnits) {
  const Case made = make_case(20, 24, 1, {{5, 24}});
  const Picture expected = expect_as_on_the_cpu(made);
  for (const double unit : {1e-6, 257.0, 1e9}) {
    cuda::DevicePatches device(0);
    Case scaled = made;
    scaled.noisy.channels[0] *= unit;
    scaled.pilot.channels[0] *= unit;
    scaled.noise *= unit;
    scaled.options.device = &device;
    const Picture got = filter_groups(scaled.noisy, scaled.pilot, scaled.noise, scaled.options);
    EXPECT_LT((got.channels[0] / unit - expected.channels[0]).cwiseAbs().maxCoeff(), 0.01) << unit;
  }
}

/// Where a picture is cut into strips, and references into chunks, changes no bit.
TEST(DeviceGroups, StripsAndChunksChangeNothing) {
  Case made = make_case(75, 30, 3, {{3, 24}, {5, 24, 30}});
  made.options.reach = 6;
  const Picture whole = expect_as_on_the_cpu(made);
  for (const cuda::PatchLimits limits : {cuda::PatchLimits{37, 0}, {1000, 16}, {50, 33}}) {
    cuda::DevicePatches device(0, limits);
    made.options.device = &device;
    EXPECT_EQ(largest_difference(filter_groups(made.noisy, made.pilot, made.noise, made.options), whole), 0);
  }
}

TEST(DeviceGroups, StopWhenAsked) {
  Case made = make_case(40, 40, 1, {{4, 16}, {6, 24}});
  cuda::DevicePatches device(0, {50, 0});
  made.options.device = &device;
  int calls = 0;
  expect_error<Interrupted>(
      [&] { filter_groups(made.noisy, made.pilot, 20, made.options, [&](double) { return ++calls == 3; }); },
      {"interrupted while denoising"});
  EXPECT_EQ(calls, 3);
}

/// An inverse is as wide as the members if these are few, else as the values, and 128 at most: the processor has the
/// rest.
TEST(DeviceGroups, NoWiderThanItsInverse) {
  const cuda::DevicePatches device(0);
  const auto has = [&](Index patch, Index members) {
    const GroupShape shape{.patch = patch, .members = members, .most = members};
    return device.has({&shape, 1});
  };
  EXPECT_TRUE(has(11, 128));  // 121 values
  EXPECT_TRUE(has(12, 106));  // 144, and few members
  EXPECT_FALSE(has(12, 108));
  EXPECT_TRUE(has(13, 125));
  EXPECT_FALSE(has(13, 127));
  EXPECT_FALSE(has(8, 129));
  expect_as_on_the_cpu(make_case(24, 26, 1, {{12, 120}}));
}

/// What there is no room for stays on the processor.
TEST(DeviceGroups, TooLargeForIt) {
  Case made = make_case(70, 70, 1, {{40, 8}});
  cuda::DevicePatches device(0);
  const Picture expected = filter_groups(made.noisy, made.pilot, 20, made.options);
  made.options.device = &device;
  EXPECT_EQ(largest_difference(filter_groups(made.noisy, made.pilot, 20, made.options), expected), 0);
  const Planes planes(made.pilot);
  EXPECT_EQ(device.search(planes.view(), 8, 10, 200), nullptr);
}

/// A device that does nothing but fail.
template <class Failure>
class BrokenDevice final : public PatchDevice {
 public:
  bool has(std::span<const GroupShape>) const override { return true; }
  bool filter_groups(const PlanesView&, const PlanesView&, float, std::span<const GroupShape>, float*, float*,
                     const std::function<bool(double)>&) override {
    throw Failure("no memory");
  }
  std::unique_ptr<PatchSearch> search(const PlanesView&, Index, Index, Index) override { throw Failure("no memory"); }
};

/// With `auto` the processor goes on, and that is said once; a GPU that was chosen fails with its message.
TEST(DeviceGroups, TheProcessorGoesOnWhereItMay) {
  Case made = make_case(20, 24, 1, {{5, 24}});
  const Picture expected = filter_groups(made.noisy, made.pilot, made.noise, made.options);
  const Planes planes(made.pilot);
  const auto filtered_by = [&](PatchDevice& device) {
    GroupOptions options = made.options;
    options.device = &device;
    return filter_groups(made.noisy, made.pilot, made.noise, options);
  };
  using Broken = BrokenDevice<cuda::DeviceError>;
  Broken broken;
  expect_error<cuda::DeviceError>([&] { filtered_by(broken); }, {"no memory"});

  const std::vector<std::string> once = {"no memory; device is 'auto', so the processor goes on"};
  for (const bool searched_first : {false, true}) {
    std::vector<std::string> said;
    const auto say = [&](const std::string& text) { said.push_back(text); };
    const auto device = cuda::AutoPatches::make([] { return std::make_unique<Broken>(); }, say);
    EXPECT_TRUE(said.empty());
    if (searched_first) {
      EXPECT_EQ(device->search(planes.view(), 5, 7, 30), nullptr);
      EXPECT_EQ(said, once);
    }
    EXPECT_EQ(largest_difference(filtered_by(*device), expected), 0);
    EXPECT_EQ(device->search(planes.view(), 5, 7, 30), nullptr);
    EXPECT_EQ(said, once);
  }
}

/// What is no failure of a GPU is not hidden, and a machine without one says nothing.
TEST(DeviceGroups, AutoHidesNoOtherError) {
  std::vector<std::string> said;
  const auto say = [&](const std::string& text) { said.push_back(text); };
  const Planes planes(make_case(20, 24, 1, {{5, 24}}).pilot);
  const auto device = cuda::AutoPatches::make([] { return std::make_unique<BrokenDevice<Error>>(); }, say);
  expect_error<Error>([&] { device->search(planes.view(), 5, 7, 30); }, {"no memory"});
  EXPECT_EQ(cuda::AutoPatches::make([] { return nullptr; }, say), nullptr);
  EXPECT_TRUE(said.empty());
  const auto does_not_start = []() -> std::unique_ptr<PatchDevice> { throw cuda::DeviceError("does not start"); };
  EXPECT_EQ(cuda::AutoPatches::make(does_not_start, say), nullptr);
  EXPECT_EQ(said, std::vector<std::string>{"does not start; device is 'auto', so the processor goes on"});
}

/// All of denoise() with an engine and patches on the device, priors of their own and groups included.
TEST(DeviceGroups, WholeDenoising) {
  int searches = 0, rounds = 0;
  class Counting final : public PatchDevice {
   public:
    Counting(int& searches, int& rounds) : searches_(searches), rounds_(rounds) {}
    bool has(std::span<const GroupShape> sizes) const override { return device_.has(sizes); }
    bool filter_groups(const PlanesView& noisy, const PlanesView& pilot, float largest,
                       std::span<const GroupShape> sizes, float* mean, float* variance,
                       const std::function<bool(double)>& stop_at) override {
      ++rounds_;
      return device_.filter_groups(noisy, pilot, largest, sizes, mean, variance, stop_at);
    }
    std::unique_ptr<PatchSearch> search(const PlanesView& pilot, Index patch, Index reach, Index most) override {
      ++searches_;
      return device_.search(pilot, patch, reach, most);
    }

   private:
    int &searches_, &rounds_;
    cuda::DevicePatches device_{0};
  };
  add_engine("cuda", [](const Data& data, const InferenceOptions& options) {
    return std::make_unique<cuda::DeviceEngine>(data, options, 0);
  });
  add_patch_device("cuda", [&](const std::string&) { return std::make_unique<Counting>(searches, rounds); });
  const Picture clean = drawn(32, 36, 1), noisy = add_noise(clean, 20, false, 5);
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
  const Denoised expected = denoise(noisy, options);
  options.learning.inference.device = "cuda";
  const Denoised got = denoise(noisy, options);
  EXPECT_EQ(searches, 1);
  EXPECT_EQ(rounds, 2);
  EXPECT_LT(largest_difference(got.picture, expected.picture), 0.05);
  EXPECT_LT(largest_difference(got.std, expected.std), 0.05);
  EXPECT_EQ(largest_difference(got.picture, denoise(noisy, options).picture), 0);
  add_patch_device("cuda", [](const std::string&) { return std::unique_ptr<PatchDevice>(); });
}

/// The same neighbours in the same order, equal ones included.
TEST(DeviceMatching, FindsTheNeighboursThatTheCpuFinds) {
  for (const int channels : {1, 3}) {
    const Picture pilot = make_case(26, 90, channels, {{4, 8}}).pilot;
    for (const auto& [patch, reach, most] : {std::array<Index, 3>{5, 7, 30}, {8, 12, 9}, {3, 40, 160}, {26, 3, 30}}) {
      SCOPED_TRACE(::testing::Message() << channels << " channels, " << patch << ' ' << reach << ' ' << most);
      const PatchNeighbours neighbours(pilot, patch, reach, most);
      cuda::DevicePatches device(0, {500, 0});
      const Planes planes(pilot);
      const std::unique_ptr<PatchSearch> search = device.search(planes.view(), patch, reach, most);
      const Index all = (26 - patch + 1) * (90 - patch + 1), first = std::min<Index>(30, all - 1), count = all - first;
      std::vector<std::uint32_t> rows(static_cast<std::size_t>(count * most)), expected(static_cast<std::size_t>(most));
      std::vector<std::int32_t> counts(static_cast<std::size_t>(count));
      search->find(first, count, rows.data(), counts.data());
      Index different = 0;
      for (Index n = 0; n < count; ++n) {
        const Index found = neighbours.of(first + n, expected.data());
        ASSERT_EQ(counts[static_cast<std::size_t>(n)], found);
        for (Index k = 0; k < found; ++k)
          if (rows[static_cast<std::size_t>(n * most + k)] != expected[static_cast<std::size_t>(k)]) ++different;
      }
      // Distances are rounded once a step, which this processor may do otherwise: near ones may change places.
      EXPECT_LE(static_cast<double>(different), 1e-3 * static_cast<double>(count * most));
    }
  }
}

}  // namespace
}  // namespace gsc::test
