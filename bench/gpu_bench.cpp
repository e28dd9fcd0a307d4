// What an EM iteration takes on a GPU: each kernel, whole iterations, how they grow, and how near they come to what the
// chip can do. Medians of repeated runs. `gsc_bench_gpu [quick] [points=N] [only] [picture=FILE.pgm [seed=S]]`: up to N
// points, or only N, or none if that is 0; with a picture (8 bits, raw), also learning from its patches on both
// devices, noise drawn from the seed (1).

#include <fmt/format.h>
#include <gsc/backend/resident_em.h>
#include <gsc/cuda.h>
#include <gsc/fit.h>

#include <cmath>
#include <cstring>
#include <map>
#include <string>

#include "cuda/device_engine.h"
#include "cuda/kernels/tree_kernel.h"
#include "patch_like_model.h"
#include "pgm.h"
#include "timing.h"

namespace gsc {
namespace {

using cuda::DeviceEngine;

/// Points of a model like those of patches, made when they are read, so that ten million take no memory of the host:
/// `distinct` of them, again and again with other signs and sizes.
class PatchLikeData final : public Data {
 public:
  PatchLikeData(const Model& model, Index rows) : rows_(rows) {
    Random random(7);
    values_ = sample(model, std::min<Index>(rows, 62001), random).data;
  }
  Index rows() const override { return rows_; }
  Index cols() const override { return values_.cols(); }
  void read(Index first, Eigen::Ref<Matrix> block) const override {
    for (Index i = 0; i < block.rows(); ++i) {
      const Index n = first + i, turn = n / values_.rows();
      block.row(i) = (1 + 0.01 * static_cast<double>(turn % 37)) * values_.row(n % values_.rows());
    }
  }

 private:
  Index rows_;
  Matrix values_;
};

struct Case {
  Index points = 62001, dimensions = 64, latents = 256, candidates = 10, max_active = 8;
  Selection selection = Selection::singleton;
  Precision precision = Precision::single_precision;
};

InferenceOptions options_of(const Case& c) {
  InferenceOptions options;
  options.candidates = c.candidates;
  options.max_active = c.max_active;
  options.selection = c.selection;
  options.precision = c.precision;
  options.device = "cuda";
  return options;
}

/// Milliseconds of each kernel in one pass and of the pass as a whole; of the E-step with its model and sums on their
/// way; and of whole iterations on the device, with the sum of what they ask it for.
struct Times {
  std::map<std::string, double> kernels, around;
  double sum = 0, pass = 0, e_step = 0, iteration = 0, iteration_sum = 0;
};

Times measure(const Case& c, int repeats) {
  Random random(3);
  const Model model = bench::patch_like_model(c.dimensions, c.latents, random);
  const PatchLikeData data(model, c.points);
  DeviceEngine engine(data, options_of(c), 0);
  engine.e_step(model, {});
  Times times;
  times.e_step = 1e3 * bench::median_seconds(repeats, [&] { bench::keep(engine.e_step(model, {}).free_energy); });
  const std::unique_ptr<ResidentEm> resident = engine.resident(model, {});
  resident->start(model);
  resident->e_step({});
  const auto iteration = [&] {
    resident->m_step({});
    bench::keep(resident->e_step({}).free_energy);
  };
  times.iteration = 1e3 * bench::median_seconds(repeats, iteration);
  engine.e_step(model, {});
  times.pass = 1e3 * bench::median_seconds(repeats, [&] { engine.pass_seconds(model); });
  engine.queue().measure(true);
  for (int i = 0; i < repeats; ++i) engine.pass_seconds(model);
  for (const cuda::KernelTime& kernel : engine.queue().times()) {
    times.kernels[kernel.name] = kernel.milliseconds / repeats;
    times.sum += times.kernels[kernel.name];
  }
  for (int i = 0; i < repeats; ++i) iteration();
  for (const cuda::KernelTime& kernel : engine.queue().times()) {
    times.around[kernel.name] = kernel.milliseconds / repeats;
    times.iteration_sum += times.around[kernel.name];
  }
  return times;
}

void print_kernels(const char* title, const Times& times) {
  fmt::print("{:<34}", title);
  for (const char* name : {"product", "selection", "tree", "singletons", "products", "sums"})
    fmt::print(" {:>10.4f}", times.kernels.count(name) > 0 ? times.kernels.at(name) : 0.0);
  fmt::print(" {:>9.4f} {:>9.4f} {:>9.3f}", times.sum, times.pass, times.e_step);
  for (const char* name : {"Cholesky", "M-step", "preparation", "unscaling"})
    fmt::print(" {:>9.4f}", times.around.count(name) > 0 ? times.around.at(name) : 0.0);
  fmt::print(" {:>9.4f} {:>9.3f}\n", times.iteration_sum, times.iteration);
  std::fflush(stdout);
}

/// What the chip does at best: a copy, a product of large matrices in float; and a Cholesky factorisation in double,
/// which is what the M-step waits for.
void print_ceilings() {
  cuda::Queue queue(0);
  const std::size_t bytes = std::size_t{1} << 30U;
  cuda::Array<float> one(queue, bytes / 4), other(queue, bytes / 4);
  one.zero();
  const auto timed = [&](int repeats, auto&& work) {
    return bench::median_seconds(repeats, [&] {
      work();
      queue.wait();
    });
  };
  fmt::print("copy {:.2f} TB/s read and written",
             2e-12 * static_cast<double>(bytes) / timed(20, [&] { queue.copy(other.data(), one.data(), bytes); }));
  constexpr long kSize = 8192;
  std::vector<float> numbers(kSize * kSize);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>((i * 2654435761U >> 8U) & 1023U) - 511;
  one.upload(numbers);
  fmt::print(", product of {} x {} in float {:.1f} TFLOP/s\n", kSize, kSize,
             2e-12 * kSize * kSize * kSize / timed(10, [&] {
               queue.multiply({false, kSize, kSize, kSize, one.data(), kSize, one.data(), kSize, other.data(), kSize});
             }));
  fmt::print("Cholesky and 64 right-hand sides in double, cuSOLVER's and ours, ms:");
  cuda::Cholesky ours(queue);
  for (const long size : {64L, 256L, 512L, 1024L, 2048L, 4096L}) {
    std::vector<double> A(static_cast<std::size_t>(size * size), 0.5);
    for (long i = 0; i < size; ++i) A[static_cast<std::size_t>(i * size + i)] = 2;
    cuda::Array<double> given(queue, A.size()), work(queue, A.size()), B(queue, static_cast<std::size_t>(64 * size));
    given.upload(A);
    B.zero();
    cuda::Array<double> X(queue, B.size());
    const auto milliseconds = [&](auto&& solve) {
      return 1e3 * timed(10, [&] {
               queue.copy(work.data(), given.data(), A.size() * sizeof(double));
               solve();
             });
    };
    fmt::print("  {}: {:.3f} {:.3f}", size,
               milliseconds([&] { queue.solve_positive_definite(work.data(), size, B.data(), 64); }),
               milliseconds([&] { ours.solve(work.data(), size, B.data(), 64, X.data(), 64, size); }));
  }
  fmt::print("\n");
}

/// `only`: the line with the most data points alone.
void table(bool quick, Index many, bool only) {
  const int repeats = quick ? 5 : 30;
  fmt::print("\nmilliseconds of a pass over the data; D = 64 unless it says so\n{:<34}", "");
  for (const char* name : {"products", "selection", "tree", "single", "ZZ", "sums", "sum", "pass", "e_step()",
                           "Cholesky", "M-step", "prepare", "unscale", "sum", "iteration"})
    fmt::print(" {:>{}}", name, std::strlen(name) > 7 || name[0] == 't' || name[0] == 'Z' ? 10 : 9);
  fmt::print("\n");
  const auto line = [&](const std::string& title, const Case& c, int times) {
    print_kernels(title.c_str(), measure(c, times));
  };
  if (only) return line(fmt::format("{}, H 256, (10, 8) singleton", many), {.points = many}, 5);
  line("62001, H 256, (10, 8) singleton", {}, repeats);
  line("62001, H 256, (10, 8) singleton", {}, repeats);
  line("62001, H 256, (10, 8) conditional", {.selection = Selection::conditional}, repeats);
  line("62001, H 256, (10, 5) conditional", {.max_active = 5, .selection = Selection::conditional}, repeats);
  line("62001, H 256, (10, 8) double", {.precision = Precision::double_precision}, repeats);
  for (const Index candidates : {5, 8, 9, 11, 12})
    line(fmt::format("62001, H 256, ({}, {})", candidates, std::min<Index>(8, candidates)),
         {.candidates = candidates, .max_active = std::min<Index>(8, candidates)}, repeats);
  for (const Index latents : {64, 128, 512, 1024, 2048, 4096})
    for (const Selection selection : {Selection::singleton, Selection::conditional})
      line(fmt::format("62001, H {}, (10, 8) {}", latents, to_string(selection)),
           {.latents = latents, .selection = selection}, quick ? 2 : 5);
  line("62001, D 1024, H 1024, (10, 8)", {.dimensions = 1024, .latents = 1024}, 3);
  for (Index points = 100000; points <= many; points *= 10)
    line(fmt::format("{}, H 256, (10, 8) singleton", points), {.points = points}, 5);
}

/// All 8 x 8 patches of a picture, as a table.
Matrix all_patches(const Matrix& picture) {
  const Index rows = picture.rows() - 7, columns = picture.cols() - 7;
  Matrix patches(rows * columns, 64);
  for (Index y = 0; y < rows; ++y)
    for (Index x = 0; x < columns; ++x)
      for (Index i = 0; i < 64; ++i) patches(y * columns + x, i) = picture(y + i / 8, x + i % 8);
  return patches;
}

/// Keeps the model that the first row of the history describes.
class FirstModel final : public Watcher {
 public:
  void on_iteration(const FitState& state) override {
    if (model.latents() == 0) model = state.model;
  }
  Model model;
};

/// Data points that have other candidates there than on the CPU in double.
Index other_candidates(const Model& model, const Data& data, const InferenceOptions& there) {
  InferenceOptions here = there;
  here.device = "cpu";
  here.precision = Precision::double_precision;
  const PosteriorRequest request{.candidates = true};
  const Posterior one = infer(model, data, here, request), other = infer(model, data, there, request);
  Index count = 0;
  for (Index n = 0; n < data.rows(); ++n) count += one.candidates.row(n) != other.candidates.row(n) ? 1 : 0;
  return count;
}

void learn_picture(const std::string& path, unsigned seed) {
  Matrix picture = bench::read_pgm(path);
  Random random(seed);
  picture += 25 * standard_normal(picture.rows(), picture.cols(), random);
  const MatrixData data(all_patches(picture));
  fmt::print("\n{}, noise 25 added (seed {}): {} patches, H 256, (10, 8), 60 iterations\n", path, seed, data.rows());
  struct Way {
    const char* device;
    Precision precision;
    FitResult result = {};
  };
  constexpr Precision kDouble = Precision::double_precision, kSingle = Precision::single_precision;
  std::vector<Way> ways = {{"cpu", kDouble}, {"cpu", kSingle}, {"cuda", kDouble}, {"cuda", kSingle}, {"cuda", kSingle}};
  FirstModel first;
  for (Way& way : ways) {
    FitOptions options;
    options.latents = 256;
    options.inference = options_of({.precision = way.precision});
    options.inference.device = way.device;
    options.iterations = 60;
    options.tolerance = 0;
    if (&way == ways.data()) {
      FitOptions once = options;
      once.iterations = 1;
      fit(data, once, &first);
    }
    way.result = fit(data, options);
    double worst = 0;
    for (std::size_t t = 0; t < way.result.state.history.size(); ++t)
      worst = std::max(
          worst, std::abs(way.result.state.history[t].free_energy / ways[0].result.state.history[t].free_energy - 1));
    fmt::print(
        "  {:<4} {:<6} {:>7.3f} s, {:>7.3f} ms an iteration; free energy {:.9g}, of all rows at most {:.1g} from the "
        "first\n",
        way.device, to_string(way.precision), way.result.seconds, 1e3 * way.result.seconds / 61,
        way.result.last().free_energy, worst);
    if (&way != ways.data()) {
      fmt::print("    at iteration");
      for (const std::size_t t : {0, 1, 2, 5, 10, 20, 30, 40, 50, 60})
        fmt::print(" {}: {:.0e}", t,
                   std::abs(way.result.state.history[t].free_energy / ways[0].result.state.history[t].free_energy - 1));
      fmt::print("\n    data points with other candidates, first model and last: {}, {}\n",
                 other_candidates(first.model, data, options.inference),
                 other_candidates(ways[0].result.model(), data, options.inference));
    }
    std::fflush(stdout);
  }
  fmt::print("  the last two: {}\n",
             ways[3].result.model() == ways[4].result.model() ? "the same bits" : "DIFFERENT BITS");
}

}  // namespace
}  // namespace gsc

namespace {

void run(int count, char** words) {
  bool quick = false, only = false;
  gsc::Index many = 10000000;
  std::string picture;
  unsigned seed = 1;
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(words[i], "quick") == 0) quick = true;
    if (std::strcmp(words[i], "only") == 0) only = true;
    if (std::strncmp(words[i], "points=", 7) == 0) many = std::atol(words[i] + 7);
    if (std::strncmp(words[i], "picture=", 8) == 0) picture = words[i] + 8;
    if (std::strncmp(words[i], "seed=", 5) == 0) seed = static_cast<unsigned>(std::atol(words[i] + 5));
  }
  const double waking = gsc::bench::least_seconds(1, [] { const gsc::cuda::Queue first(0); });
  for (const gsc::CudaDevice& device : gsc::cuda_devices())
    fmt::print("cuda:{} {}, compute capability {}.{}, {:.1f} GB\n", device.index, device.name, device.major,
               device.minor, static_cast<double>(device.memory) / 1e9);
  fmt::print("the first call, which wakes it: {:.2f} s\n", waking);
  if (many > 0) {
    gsc::print_ceilings();
    gsc::table(quick, many, only);
  }
  gsc::add_cuda_engines();
  if (!picture.empty()) gsc::learn_picture(picture, seed);
}

}  // namespace

int main(int count, char** words) try { run(count, words); } catch (const gsc::Error& error) {
  fmt::print(stderr, "gsc_bench_gpu: {}\n", error.what());
  return 1;
}
