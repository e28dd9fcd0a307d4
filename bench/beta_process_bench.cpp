// A Gibbs sweep of the Beta process against the matrix products it is made of, and against the number of data points.
// `gsc_bench_beta_process quick` uses smaller data.

#include <fmt/format.h>
#include <gsc/model.h>

#include <algorithm>
#include <cstring>
#include <ctime>

#include "beta_process/gibbs.h"
#include "beta_process/learner.h"
#include "distributed/share.h"
#include "math/blas.h"
#include "math/numeric_scope.h"
#include "patch_like_model.h"
#include "timing.h"

namespace gsc {
namespace {

struct Case {
  Index points, dimensions, latents;
};

/// The least time of the processor, which others on the machine do not change, that `work` takes.
template <class Work>
double least_processor_seconds(int repeats, Work&& work) {
  double least = 1e300;
  for (int i = 0; i < repeats; ++i) {
    const std::clock_t start = std::clock();
    work();
    least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return least;
}

/// One thread's time in Y W, in blocks of rows.
double product_seconds(const Case& size, const Matrix& Y, const Matrix& W) {
  constexpr Index kRows = 128;
  Matrix block(kRows, size.dimensions), rows(kRows, size.latents);
  return least_processor_seconds(12, [&] {
    for (Index first = 0; first + kRows <= size.points; first += kRows) {
      block = Y.middleRows(first, kRows);
      product(kRows, block, W, rows);
    }
    bench::keep(rows(0, 0));
  });
}

/// Seconds per data point of a sweep.
double run(const Case& size, double per_point_before) {
  const NumericScope scope;
  Random random(1);
  Model model = bench::patch_like_model(size.dimensions, size.latents, random);
  // As sparse as patches turn out to be.
  model.pi.setConstant(1.5 / static_cast<double>(size.latents));
  const MatrixData data(sample(model, size.points, random).data);
  GibbsSettings settings;
  Share share(data, {});
  settings.priors = beta_process_priors(UsagePrior::program, share, false, size.latents);
  GibbsChain chain(data, settings, beta_process_start(model, {}));
  int sweep = 0;
  while (sweep < 5) chain.sweep(++sweep);
  const double products = product_seconds(size, data.values(), model.W);
  const double seconds = least_processor_seconds(8, [&] { chain.sweep(++sweep); });
  const double per_point = seconds / static_cast<double>(size.points);
  fmt::print(
      "N={:<7} D={:<4} H={:<4} active {:4.2f}   W'y {:6.1f} ms   sweep {:6.1f} ms = {:.2f} x W'y   per data point "
      "{:.2f} us{}\n",
      size.points, size.dimensions, size.latents, chain.sums().active.sum() / chain.sums().points, 1e3 * products,
      1e3 * seconds, seconds / products, 1e6 * per_point,
      per_point_before > 0 ? fmt::format(" = {:.2f} x that of fewer", per_point / per_point_before) : "");
  return per_point;
}

}  // namespace
}  // namespace gsc

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "quick") == 0;
  fmt::print(
      "Gibbs sweeps of the Beta process. W'y: the matrix product of a sweep, of the same size. Both: processor time of "
      "one thread.\n");
  for (const gsc::Index latents : {256, 512}) {
    double per_point = 0;
    for (const gsc::Index points : {4000, 16000, 62001})
      if (!quick || points < 62001) per_point = gsc::run({points, 64, latents}, per_point);
  }
}
