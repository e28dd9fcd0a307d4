// What a prior of its own for every data point costs: a round of infer_nonlocal against infer_sparse under the model's
// prior, both in single precision, and against infer, whose states have the singletons in addition. Neighbours that
// have the same causes touch few latents; any rows as neighbours are the worst case. `gsc_bench_nonlocal quick` uses
// less data.

#include <fmt/format.h>
#include <gsc/nonlocal.h>

#include <algorithm>
#include <cstring>

#include "model/random_draws.h"
#include "patch_like_model.h"
#include "timing.h"

namespace gsc {
namespace {

constexpr Index kNeighbours = 30;

/// Groups of kNeighbours rows that have the same latents active, with amplitudes of their own.
Matrix grouped_data(const Model& model, Index groups, Random& random) {
  const Index rows = groups * kNeighbours;
  const Sample drawn = sample(model, rows, random);
  Matrix codes = drawn.slabs;
  for (Index n = 0; n < rows; ++n)
    codes.row(n) = codes.row(n).cwiseProduct(drawn.spikes.row(n / kNeighbours * kNeighbours));
  return codes * model.W.transpose() + model.noise.color(standard_normal(model.dimensions(), rows, random)).transpose();
}

class TableOfRows final : public Neighbours {
 public:
  explicit TableOfRows(Table<std::uint32_t> rows) : rows_(std::move(rows)) {}
  Index most() const override { return rows_.cols(); }
  Index of(Index n, std::uint32_t* rows) const override {
    std::copy_n(rows_.row(n).data(), rows_.cols(), rows);
    return rows_.cols();
  }

 private:
  Table<std::uint32_t> rows_;
};

void run(bool quick) {
  const Index groups = quick ? 200 : 2000, rows = groups * kNeighbours, D = 64, H = 512;
  Random random(1);
  const Model model = bench::patch_like_model(D, H, random);
  const MatrixData data(grouped_data(model, groups, random));
  Table<std::uint32_t> like(rows, kNeighbours), any(rows, kNeighbours);
  for (Index n = 0; n < rows; ++n)
    for (Index i = 0; i < kNeighbours; ++i) {
      like(n, i) = static_cast<std::uint32_t>(n / kNeighbours * kNeighbours + i);
      any(n, i) = static_cast<std::uint32_t>(random() % static_cast<std::uint64_t>(rows));
    }
  const TableOfRows similar(like), anyone(any);

  fmt::print(
      "{} data points, D = {}, H = {}, H' = 10, gamma = 5, {} neighbours: microseconds a point on one thread\n\n", rows,
      D, H, kNeighbours);
  fmt::print("{:>12} {:>8} {:>8} {:>10} {:>10} {:>8} {:>8}\n", "selection", "infer", "sparse", "non-local", "any rows",
             "ratio", "any rows");
  for (const Selection selection : {Selection::singleton, Selection::conditional}) {
    InferenceOptions options;
    options.candidates = 10;
    options.max_active = 5;
    options.threads = 1;
    options.precision = Precision::single_precision;
    options.selection = selection;
    SparsePosterior first = infer_sparse(model, data, options);
    const auto round = [&](const Neighbours& neighbours) {
      bench::keep(infer_nonlocal(model, data, options, first, neighbours).log_likelihood[0]);
    };
    // In turns, so that other work on the machine troubles all of them alike.
    const Index some = std::min<Index>(rows, 6000);
    double dense = 1e300, shared = dense, own = dense, worst = dense;
    for (int repeat = 0; repeat < 5; ++repeat) {
      const auto least = [](double& seconds, const auto& work) {
        seconds = std::min(seconds, bench::least_seconds(1, work));
      };
      least(dense, [&] { bench::keep(infer(model, data, options, {}, 0, some).mean(0, 0)); });
      least(shared, [&] { first = infer_sparse(model, data, options); });
      least(own, [&] { round(similar); });
      least(worst, [&] { round(anyone); });
    }
    const double micro = 1e6 / static_cast<double>(rows);
    fmt::print("{:>12} {:>8.2f} {:>8.2f} {:>10.2f} {:>10.2f} {:>8.2f} {:>8.2f}\n", to_string(selection),
               dense * 1e6 / static_cast<double>(some), shared * micro, own * micro, worst * micro, own / shared,
               worst / shared);
  }
}

}  // namespace
}  // namespace gsc

int main(int argc, char** argv) { gsc::run(argc > 1 && std::strcmp(argv[1], "quick") == 0); }
