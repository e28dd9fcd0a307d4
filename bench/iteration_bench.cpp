// Whole EM iterations: what the tree and the two matrix products cost, what the rest adds, threads, memory, how time
// grows with H, and what batches lose to having many threads. `gsc_bench_iteration quick` uses smaller data.

#include <fmt/format.h>
#include <gsc/backend/engine.h>
#include <gsc/fit.h>
#include <gsc/generate.h>
#include <malloc.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "math/numeric_scope.h"
#include "model/random_draws.h"
#include "patch_like_model.h"
#include "timing.h"
#include "truncated/block_inference.h"

namespace gsc {
namespace {

using bench::patch_like_model;

/// VmHWM or VmRSS of this process.
double status_megabytes(const char* field) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == std::string(field) + ":") {
      double kilobytes = 0;
      status >> kilobytes;
      return kilobytes / 1024;
    }
  return 0;
}

/// Peak memory of `work` above what is in use before it.
template <class Work>
double peak_megabytes(Work&& work) {
  malloc_trim(0);                               // what earlier work has freed
  std::ofstream("/proc/self/clear_refs") << 5;  // resets the peak
  const double before = status_megabytes("VmRSS");
  work();
  return status_megabytes("VmHWM") - before;
}

double iteration_seconds(const Model& model, const Data& data, const InferenceOptions& options, int repeats) {
  return bench::median_seconds(repeats, [&] {
    Rescues rescues;
    bench::keep(m_step(model, e_step(model, data, options), {}, rescues).pi[0]);
  });
}

InferenceOptions truncation(Index candidates, Index max_active, int threads) {
  InferenceOptions options;
  options.candidates = candidates;
  options.max_active = max_active;
  options.threads = threads;
  return options;
}

/// One thread's time in the two matrix products of an E-step, in the blocks in which it does them.
double product_seconds(const PreparedModel& prepared, const Data& data, Index block_rows) {
  const OneBlasThread scope;
  Matrix Y(block_rows, data.cols()), rows(block_rows, prepared.padded), YZ = Matrix::Zero(data.cols(), prepared.padded);
  data.read(0, Y);
  return bench::median_seconds(5, [&] {
    for (Index first = 0; first + block_rows <= data.rows(); first += block_rows) {
      product(block_rows, Y, prepared.projection, rows);
      add_product_transposed(block_rows, Y, rows, YZ);
    }
  });
}

/// The tree alone: candidates = latents = H', so that nothing is selected and nothing lies outside.
double tree_nanoseconds(Index candidates, Index max_active) {
  Random random(3);
  const Model model = patch_like_model(32, candidates, random);
  PreparedModel prepared(model, truncation(candidates, max_active, 1));
  prepared.share_clusters = false;
  const Index rows = 512;
  const Matrix start = 2 * standard_normal(rows, prepared.padded, random);
  Matrix eta = start;
  Vector log_sums(rows);
  Workspace workspace(prepared, rows);
  const double seconds = bench::least_seconds(20, [&] {
    eta = start;
    process_block(prepared, {rows, eta.data(), log_sums.data(), nullptr, {}}, workspace);
  });
  return seconds * 1e9 / (static_cast<double>(rows) * (state_count(candidates, max_active) - 1));
}

void whole_iteration(Index N) {
  const Index D = 64, H = 256, candidates = 10, max_active = 8;
  Random random(1);
  const Model model = patch_like_model(D, H, random);
  const MatrixData data(sample(model, N, random).data);
  const double states = state_count(candidates, max_active), points = static_cast<double>(N);

  fmt::print("A whole EM iteration, N = {}, D = {}, H = {}, H' = {}, gamma = {}\n\n", N, D, H, candidates, max_active);
  const double conditional1 = iteration_seconds(model, data, truncation(candidates, max_active, 1), 5);
  const double conditional2 = iteration_seconds(model, data, truncation(candidates, max_active, 2), 5);
  const double memory =
      peak_megabytes([&] { iteration_seconds(model, data, truncation(candidates, max_active, 2), 1); });
  InferenceOptions singleton = truncation(candidates, max_active, 1);
  singleton.selection = Selection::singleton;
  const double singleton1 = iteration_seconds(model, data, singleton, 5);
  singleton.threads = 2;
  const double singleton2 = iteration_seconds(model, data, singleton, 5);
  InferenceOptions single = truncation(candidates, max_active, 2);
  single.precision = Precision::single_precision;
  const double float2 = iteration_seconds(model, data, single, 5);
  const double tree = tree_nanoseconds(candidates, max_active) * 1e-9 * (states - 1) * points;
  const PreparedModel prepared(model, truncation(candidates, max_active, 1));
  const double products = product_seconds(prepared, data, plan_blocks(prepared, 0, N, 1).block_rows);

  fmt::print("  tree alone, 1 thread                {:7.3f} s   {:.2f} ns per (state x point)\n", tree,
             tree / points / (states - 1) * 1e9);
  fmt::print("  the two matrix products, 1 thread   {:7.3f} s\n", products);
  fmt::print("  iteration, singleton,   1 thread    {:7.3f} s   {:.2f} x (tree + products)\n", singleton1,
             singleton1 / (tree + products));
  fmt::print("  iteration, conditional, 1 thread    {:7.3f} s   {:.2f} x (tree + products), {:.2f} x singleton\n",
             conditional1, conditional1 / (tree + products), conditional1 / singleton1);
  fmt::print("  iteration, singleton,   2 threads   {:7.3f} s   {:.2f} x faster than 1 thread\n", singleton2,
             singleton1 / singleton2);
  fmt::print("  iteration, conditional, 2 threads   {:7.3f} s   {:.2f} x faster than 1 thread\n", conditional2,
             conditional1 / conditional2);
  fmt::print("  iteration, conditional, 2 threads, single precision {:7.3f} s\n", float2);
  fmt::print("  peak memory above the data          {:7.1f} MB\n\n", memory);
}

void growth_with_latents(Index N) {
  fmt::print("Time per iteration against H; N = {}, D = 64, H' = 8, gamma = 5, 2 threads\n\n", N);
  fmt::print("{:>6} {:>10} {:>16}\n", "H", "seconds", "us per (point x H)");
  for (const Index H : {16, 32, 64, 128, 256, 512, 1024}) {
    Random random(2);
    const Model model = patch_like_model(64, H, random);
    const MatrixData data(sample(model, N, random).data);
    const double seconds = iteration_seconds(model, data, truncation(8, 5, 2), 3);
    fmt::print("{:>6} {:>10.4f} {:>16.4f}\n", H, seconds, seconds * 1e6 / static_cast<double>(N * H));
  }
  fmt::print("\n");
}

void exact_shared(Index N) {
  const Index H = 10;
  Random random(4);
  const Model model = patch_like_model(H, H, random);
  const Matrix Y = sample(model, N, random).data;
  InferenceOptions options;
  options.method = Method::exact;
  PreparedModel prepared(model, options);
  const Index rows = 4096;
  Matrix eta(rows, prepared.padded);
  Vector log_sums(rows);
  BlockSums sums(prepared);
  Workspace workspace(prepared, rows);
  double seconds[2];
  for (const bool share : {false, true}) {
    prepared.share_clusters = share;
    seconds[share] = bench::median_seconds(3, [&] {
      for (Index first = 0; first + rows <= N; first += rows) {
        const Matrix block = Y.middleRows(first, rows);
        product(rows, block, prepared.projection, eta);
        process_block(prepared, {rows, eta.data(), log_sums.data(), &sums, {}}, workspace);
      }
    });
    seconds[share] /= static_cast<double>(N / rows * rows) * 1024 * 1e-9;
  }
  fmt::print("Exact, H = {}, N = {}, 1 thread, E-step: ns per (state x point)\n\n", H, N);
  fmt::print("  own tree per lane {:.2f}   shared tree {:.2f}   ratio {:.2f}\n\n", seconds[0], seconds[1],
             seconds[1] / seconds[0]);
}

/// More threads than there are cores show what threads cost beside their share of the work.
void batches(Index N, int repeats) {
  Random random(3);
  const Model model = patch_like_model(64, 512, random);
  const MatrixData data(sample(model, N, random).data);
  std::vector<Index> batch(static_cast<std::size_t>(std::min<Index>(N, 4096)));
  std::iota(batch.begin(), batch.end(), Index{0});
  fmt::print(
      "\nAn E-step of one engine, D = 64, H = 512, H' = 10, gamma = 5: milliseconds, times that of one thread\n\n");
  fmt::print("  {:<10}{:>16}{:>16}\n", "threads", fmt::format("{} points", N), fmt::format("{} points", batch.size()));
  double all_by_one = 0, batch_by_one = 0;
  for (const int threads : {1, 2, 4, 8, 16}) {
    const std::unique_ptr<Engine> engine = make_engine(data, truncation(10, 5, threads));
    const double all = bench::median_seconds(repeats, [&] { bench::keep(engine->e_step(model, {}).free_energy); });
    const double some =
        bench::median_seconds(4 * repeats, [&] { bench::keep(engine->e_step(model, {.rows = batch}).free_energy); });
    if (threads == 1) {
      all_by_one = all;
      batch_by_one = some;
    }
    fmt::print("  {:<10}{:>9.1f} {:>5.2f}x{:>9.1f} {:>5.2f}x\n", threads, 1e3 * all, all / all_by_one, 1e3 * some,
               some / batch_by_one);
  }
}

}  // namespace
}  // namespace gsc

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "quick") == 0;
  gsc::whole_iteration(quick ? 8000 : 62001);
  gsc::growth_with_latents(quick ? 2000 : 62001);
  gsc::exact_shared(quick ? 40000 : 512000);
  gsc::batches(quick ? 8000 : 62001, quick ? 3 : 9);
}
