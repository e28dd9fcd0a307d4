// A sweep of the factored method against the matrix products it is made of, and an iteration against one of the
// truncated method. `gsc_bench_factored quick` uses smaller data.

#include <fmt/format.h>
#include <gsc/fit.h>

#include <cstring>
#include <numeric>

#include "factored/engine.h"
#include "factored/m_step.h"
#include "math/blas.h"
#include "math/numeric_scope.h"
#include "patch_like_model.h"
#include "timing.h"

namespace gsc {
namespace {

struct Case {
  Index points, dimensions, latents;
};

/// One thread's time in Y W and in Y -= X W', in blocks of rows.
double product_seconds(const Case& size, const Matrix& Y, const Matrix& W) {
  const OneBlasThread scope;
  constexpr Index kRows = 512;
  const Matrix W_transposed = W.transpose();
  Matrix block = Y.topRows(kRows), rows(kRows, size.latents);
  return bench::least_seconds(12, [&] {
    for (Index first = 0; first < size.points; first += kRows) {
      product(kRows, block, W, rows);
      add_product(-1e-3, rows, W_transposed, block);
    }
  });
}

std::vector<Index> in_order(Index latents) {
  std::vector<Index> order(static_cast<std::size_t>(latents));
  std::iota(order.begin(), order.end(), Index{0});
  return order;
}

void run(const Case& size) {
  Random random(1);
  const Model model = bench::patch_like_model(size.dimensions, size.latents, random);
  const Matrix Y = sample(model, size.points, random).data;
  const MatrixData data(Y);
  const auto order = in_order(size.latents);
  const auto sweep = [&](int threads, Matrix& codes, Matrix& next) {
    InferenceOptions options;
    options.method = Method::factored;
    options.threads = threads;
    Statistics statistics = factored_step(model, data, options, order, codes, next);
    std::swap(codes, next);
    return statistics;
  };
  Matrix codes, next;
  const double products = product_seconds(size, Y, model.W);
  const double one = bench::least_seconds(12, [&] { bench::keep(sweep(1, codes, next).free_energy); });
  const double two = bench::least_seconds(12, [&] { bench::keep(sweep(2, codes, next).free_energy); });

  FactoredOptions prior;
  FactoredState state;
  Model start = model;
  start_factored(prior, start, state);
  const double factored = bench::least_seconds(12, [&] {
    Rescues rescues;
    bench::keep(factored_m_step(start, sweep(2, codes, next), prior, state, rescues).pi[0]);
  });
  InferenceOptions truncated;
  truncated.candidates = std::min<Index>(10, size.latents);
  truncated.max_active = 8;
  truncated.threads = 2;
  const double tree = bench::least_seconds(12, [&] {
    Rescues rescues;
    bench::keep(m_step(model, e_step(model, data, truncated), {}, rescues).pi[0]);
  });
  fmt::print(
      "N={:<7} D={:<4} H={:<4} products {:7.1f} ms   sweep {:7.1f} ms = {:.2f} x products   2 threads {:.2f} x   "
      "iteration, 2 threads: factored {:7.1f} ms, truncated (10, 8) {:7.1f} ms = {:.1f} x\n",
      size.points, size.dimensions, size.latents, 1e3 * products, 1e3 * one, one / products, one / two, 1e3 * factored,
      1e3 * tree, tree / factored);
}

}  // namespace
}  // namespace gsc

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "quick") == 0;
  fmt::print("Factored method. Products: Y W and Y -= X W' of the same size. A sweep also gathers the statistics.\n");
  for (const gsc::Index latents : {64, 256}) gsc::run({quick ? 8000 : 62001, 64, latents});
}
