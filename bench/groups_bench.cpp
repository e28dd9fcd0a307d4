// Patches of a picture on a GPU: what a round of groups and the search for neighbours take there and on the processor,
// and all of denoise() with each quality.
//
//   gsc_bench_groups picture=house.pgm [sigma=25] [kernels] [denoise=fast,standard,best] [only=cuda]
//   gsc_bench_groups drawn=6000x4000 denoise=fast only=cuda
//
// `drawn`: a colour picture of stripes and skies. `kernels`: alone. `only`: on that device alone.

#include <fmt/format.h>
#include <gsc/cuda.h>
#include <gsc/denoise.h>
#include <gsc/metrics.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "cuda/device_patches.h"
#include "pgm.h"
#include "tasks/denoise/plan.h"
#include "tasks/groups/patch_neighbours.h"
#include "tasks/picture/smoothing.h"
#include "timing.h"

namespace gsc {
namespace {

Picture drawn(Index height, Index width) {
  Picture picture;
  for (int c = 0; c < 3; ++c)
    picture.channels.push_back(Matrix::NullaryExpr(height, width, [&](Index y, Index x) {
      const double u = static_cast<double>(x), v = static_cast<double>(y);
      if ((x / 500 + y / 700) % 3 == 0) return 100 + 30 * std::sin(u / 900 + c) + 20 * std::cos(v / 700);
      return 120 + 60 * std::tanh(2 * std::sin((u + 9 * std::sin(v / 30)) / 5 + c)) + 20 * std::sin(v / 40);
    }));
  return picture;
}

double largest_difference(const Picture& a, const Picture& b) {
  double largest = 0;
  for (std::size_t c = 0; c < a.channels.size(); ++c)
    largest = std::max(largest, (a.channels[c] - b.channels[c]).cwiseAbs().maxCoeff());
  return largest;
}

/// Multiply-adds, or subtractions and multiply-adds, that the formulas have; what is padded is not counted, and members
/// are taken to be as few as they can be.
struct Work {
  double matching, groups;
};
Work work_of(const Picture& picture, const GroupSize& size, const GroupOptions& options) {
  const double planes = static_cast<double>(picture.channels.size());
  const double D = static_cast<double>(size.patch * size.patch), K = static_cast<double>(size.members);
  const double side = static_cast<double>(2 * options.reach + 1), step = static_cast<double>(options.step);
  const double references = static_cast<double>(picture.height() * picture.width()) / (step * step);
  const bool few = cuda::few_members(static_cast<int>(size.patch * size.patch), static_cast<int>(size.members));
  const double group = few ? 3 * K * K * D + 2 * K * K * K : 2 * D * D * K + D * D * D;
  return {references * side * side * D * planes * 3, references * planes * 2 * group};
}

void kernels(const Picture& noisy, double sigma, cuda::DevicePatches& device) {
  DenoiseOptions fast;
  fast.quality = Quality::fast;
  fast.learning.inference.device = "cuda";
  fast.learning.sigma = sigma;
  const Picture pilot = denoise(noisy, fast).picture;
  DenoiseOptions standard;
  standard.learning.sigma = sigma;
  const DenoisePlan plan = plan_denoising(noisy, standard, noise_level(noisy, standard));
  fmt::print(
      "\nA round of groups as standard has it, pilot: what fast makes of it. Milliseconds on the GPU (wall clock\n"
      "with copies; then kernels) and on the CPU; TFLOP/s by the formulas; largest difference of a pixel.\n\n");
  fmt::print("  {:<14}{:>9}{:>10}{:>9}{:>9}{:>10}{:>9}{:>9}{:>11}\n", "patch, members", "GPU", "matching", "groups",
             "average", "CPU", "match TF", "group TF", "difference");
  const auto on = [&](const GroupOptions& options, PatchDevice* there) {
    GroupOptions all = options;
    all.device = there;
    return filter_groups(noisy, pilot, plan.group_noise, all);
  };
  const auto line = [&](const std::string& name, const GroupOptions& options, Work work) {
    const double gpu = bench::median_seconds(5, [&] { on(options, &device); });
    device.queue().measure(true);
    const Picture got = on(options, &device);
    const std::vector<cuda::KernelTime> times = device.queue().times();
    device.queue().measure(false);
    const auto milliseconds = [&](const char* kernel) {
      for (const cuda::KernelTime& time : times)
        if (time.name == kernel) return time.milliseconds;
      return 0.0;
    };
    Picture expected;
    const double cpu = bench::least_seconds(1, [&] { expected = on(options, nullptr); });
    const double matching = milliseconds("block matching"), groups = milliseconds("groups");
    fmt::print("  {:<14}{:>9.2f}{:>10.3f}{:>9.3f}{:>9.3f}{:>10.1f}{:>9.2f}{:>9.2f}{:>11.2g}{}\n", name, 1e3 * gpu,
               matching, groups, milliseconds("average"), 1e3 * cpu, work.matching / matching / 1e9,
               work.groups / groups / 1e9, largest_difference(got, expected),
               largest_difference(got, on(options, &device)) == 0 ? "" : "  DIFFERENT BITS");
    std::fflush(stdout);
  };
  Work all{0, 0};
  for (const GroupSize& size : plan.groups.sizes) {
    GroupOptions options = plan.groups;
    options.sizes = {size};
    const Work work = work_of(noisy, size, options);
    line(fmt::format("{}, {}-{}", size.patch, size.members, size.largest()), options, work);
    all.matching += work.matching;
    all.groups += work.groups;
  }
  line("all", plan.groups, all);

  constexpr Index kPatch = 8, kReach = 12, kCount = 30;
  const PatchNeighbours there(pilot, kPatch, kReach, kCount, &device), here(pilot, kPatch, kReach, kCount);
  const Index positions = (noisy.height() - kPatch + 1) * (noisy.width() - kPatch + 1);
  std::vector<std::uint32_t> found(static_cast<std::size_t>(positions * kCount)), expected = found;
  std::vector<std::int32_t> counts(static_cast<std::size_t>(positions));
  const double gpu = bench::median_seconds(5, [&] { there.of_rows(0, positions, found.data(), counts.data()); });
  const double cpu = bench::least_seconds(1, [&] {
#pragma omp parallel for schedule(dynamic, 256)
    for (Index n = 0; n < positions; ++n) here.of(n, expected.data() + n * kCount);
  });
  Index different = 0;
  for (std::size_t i = 0; i < found.size(); ++i) different += found[i] != expected[i] ? 1 : 0;
  fmt::print("\n30 neighbours of {} patches of 8 x 8, reach 12: GPU {:.2f} ms, CPU {:.1f} ms; {} of {} differ\n",
             positions, 1e3 * gpu, 1e3 * cpu, different, found.size());
}

void whole(const Picture& clean, const Picture& noisy, double sigma, const std::string& qualities,
           const std::string& only) {
  fmt::print("\nAll of denoise(), seconds (in brackets: of them inferring, and groups) and PSNR\n");
  for (const Quality quality : {Quality::fast, Quality::standard, Quality::best}) {
    if (qualities.find(to_string(quality)) == std::string::npos) continue;
    for (const std::string device : {"cuda", "cpu"}) {
      if (!only.empty() && device != only) continue;
      DenoiseOptions options;
      options.quality = quality;
      options.learning.inference.device = device;
      options.learning.sigma = sigma;
      Denoised result;
      const double seconds = bench::least_seconds(1, [&] { result = denoise(noisy, options); });
      double inferring = 0;
      for (const Denoised::Learned& learned : result.learned) inferring += learned.seconds_inferring;
      fmt::print("  {:<9} {:<5} {:>7.2f} ({:.2f}, {:.2f})   {:.2f} dB\n", to_string(quality), device, seconds,
                 inferring, result.seconds_grouping, psnr(clean, result.picture, clean.peak()));
      std::fflush(stdout);
    }
  }
}

}  // namespace
}  // namespace gsc

namespace {

int run(int count, char** words) {
  using namespace gsc;
  std::string picture, qualities = "fast,standard,best", only;
  double sigma = 25;
  Index width = 0, height = 0;
  bool with_kernels = true, with_whole = true;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto value = [&](const char* name) {
      return word.rfind(name, 0) == 0 ? word.c_str() + std::strlen(name) : nullptr;
    };
    if (const char* path = value("picture=")) picture = path;
    if (const char* number = value("sigma=")) sigma = std::atof(number);
    if (const char* list = value("denoise=")) {
      qualities = list;
      with_kernels = false;
    }
    if (const char* device = value("only=")) only = device;
    if (const char* size = value("drawn=")) std::sscanf(size, "%tdx%td", &width, &height);
    if (word == "kernels") with_whole = false;
  }
  if (picture.empty() && width == 0) {
    fmt::print(stderr, "gsc_bench_groups picture=FILE.pgm or drawn=WIDTHxHEIGHT\n");
    return 1;
  }
  Picture clean;
  if (picture.empty())
    clean = drawn(height, width);
  else
    clean.channels.push_back(bench::read_pgm(picture));
  const Picture noisy = add_noise(clean, sigma, false, 1);
  add_cuda_engines();
  const double waking = bench::least_seconds(1, [] { const cuda::Queue first(0); });
  fmt::print("{} x {}, noise {}; the first call, which wakes the GPU: {:.2f} s\n", clean.width(), clean.height(), sigma,
             waking);
  if (with_kernels) {
    cuda::DevicePatches device(0);
    kernels(noisy, sigma, device);
  }
  if (with_whole) whole(clean, noisy, sigma, qualities, only);
  return 0;
}

}  // namespace

int main(int count, char** words) try { return run(count, words); } catch (const gsc::Error& error) {
  fmt::print(stderr, "gsc_bench_groups: {}\n", error.what());
  return 1;
}
