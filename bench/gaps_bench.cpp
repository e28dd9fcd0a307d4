// What missing values cost: E-steps with gaps against E-steps without, what the sums for learning W row by row add, and
// that data without gaps does not notice. `gsc_bench_gaps quick` uses less data.

#include <fmt/format.h>
#include <gsc/fit.h>

#include <cstring>
#include <limits>
#include <numeric>

#include "factored/engine.h"
#include "patch_like_model.h"
#include "timing.h"

namespace gsc {
namespace {

using bench::patch_like_model;

/// This part of the values, each data point its own.
Matrix without(Matrix data, double part, Random& random) {
  std::uniform_real_distribution<double> uniform;
  for (double& value : data.reshaped())
    if (uniform(random) < part) value = std::numeric_limits<double>::quiet_NaN();
  return data;
}

constexpr int kTurns = 9;

/// E-steps, or posteriors, of other data or with other options against the plain one, in turns.
struct Work {
  const Model& model;
  const Data& data;
  InferenceOptions options;
  bool posteriors = false;
  void operator()() const {
    bench::keep(posteriors ? infer(model, data, options).log_likelihood[0] : e_step(model, data, options).free_energy);
  }
};

void cost(Index N, Index max_active) {
  const Index D = 64, H = 256;
  Random random(1);
  const Model model = patch_like_model(D, H, random);
  const Matrix values = sample(model, N, random).data;
  InferenceOptions options;
  options.candidates = 10;
  options.max_active = max_active;
  options.threads = 1;
  fmt::print(
      "D = {}, H = {}, H' = 10, gamma = {}, N = {}, 1 thread; microseconds a data point, medians of {} turns\n\n", D, H,
      max_active, N, kTurns);
  for (const Selection selection : {Selection::conditional, Selection::singleton}) {
    options.selection = selection;
    options.missing = Missing::error;
    const MatrixData complete(values);
    const double micro = 1e6 / static_cast<double>(N);
    const Work plain{model, complete, options}, plain_posteriors{model, complete, options, true};
    options.missing = Missing::nan;
    const bench::Turns allowed = bench::in_turns(2 * kTurns + 1, plain, Work{model, complete, options});
    fmt::print("  {:11}  no gaps: E-step {:5.2f}; gaps allowed: {:5.2f}, {:.3f} x\n", to_string(selection),
               micro * allowed.first, micro * allowed.second, allowed.ratio);
    for (const double part : {0.05, 0.5, 0.8}) {
      const MatrixData gaps(without(values, part, random));
      InferenceOptions few = options;
      few.gap_memory = 0;
      const bench::Turns rows = bench::in_turns(kTurns, plain, Work{model, gaps, options});
      const bench::Turns latent = bench::in_turns(kTurns, plain, Work{model, gaps, few});
      const bench::Turns posterior = bench::in_turns(kTurns, plain_posteriors, Work{model, gaps, options, true});
      fmt::print(
          "  {:3.0f} % missing: E-step, row by row {:5.2f} ({:4.2f} x), D x H sums {:5.2f} ({:4.2f} x); posteriors "
          "{:5.2f} ({:4.2f} x)\n",
          100 * part, micro * rows.second, rows.ratio, micro * latent.second, latent.ratio, micro * posterior.second,
          posterior.ratio);
    }
  }
  fmt::print("\n");
}

/// A sweep of the factored method and the sums that go with it.
void factored_cost(Index N) {
  const Index D = 64, H = 256;
  Random random(3);
  const Model model = patch_like_model(D, H, random);
  const Matrix values = sample(model, N, random).data;
  std::vector<Index> order(static_cast<std::size_t>(H));
  std::iota(order.begin(), order.end(), Index{0});
  InferenceOptions options;
  options.method = Method::factored;
  options.threads = 1;
  const MatrixData complete(values);
  const auto sweep = [&](const Data& data, InferenceOptions with) {
    return [&, with] {
      Matrix next;
      bench::keep(factored_step(model, data, with, order, Matrix(), next).free_energy);
    };
  };
  InferenceOptions allowed = options;
  allowed.missing = Missing::nan;
  const bench::Turns none = bench::in_turns(2 * kTurns + 1, sweep(complete, options), sweep(complete, allowed));
  fmt::print("factored, D = {}, H = {}, N = {}, 1 thread; a sweep: {:.2f} microseconds; gaps allowed {:.3f} x\n", D, H,
             N, 1e6 * none.first / static_cast<double>(N), none.ratio);
  for (const double part : {0.05, 0.5, 0.8}) {
    const MatrixData gaps(without(values, part, random));
    fmt::print("  {:3.0f} % missing: {:.1f} x\n", 100 * part,
               bench::in_turns(3, sweep(complete, options), sweep(gaps, allowed)).ratio);
  }
  fmt::print("\n");
}

void m_step_cost(Index N) {
  fmt::print("M-step of W, 2 threads, half of the values missing; seconds\n\n");
  for (const auto& [D, H] : {std::pair<Index, Index>{64, 256}, {147, 512}}) {
    Random random(2);
    const Model model = patch_like_model(D, H, random);
    const MatrixData data(without(sample(model, N, random).data, 0.5, random));
    InferenceOptions options;
    options.missing = Missing::nan;
    options.threads = 2;
    const Statistics rows = e_step(model, data, options);
    options.gap_memory = 0;
    const Statistics latent = e_step(model, data, options);
    Rescues rescues;
    const MStepOptions step{.threads = 2};
    const auto seconds = [&](const Statistics& of) {
      return bench::least_seconds(2, [&] { bench::keep(m_step(model, of, step, rescues).W(0, 0)); });
    };
    fmt::print("  D = {}, H = {}: row by row {:.3f}, D x H sums {:.3f}\n", D, H, seconds(rows), seconds(latent));
  }
}

}  // namespace
}  // namespace gsc

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "quick") == 0;
  for (const gsc::Index max_active : {5, 8}) gsc::cost(quick ? 4000 : 16000, max_active);
  gsc::factored_cost(quick ? 1000 : 4000);
  gsc::m_step_cost(quick ? 2000 : 8000);
}
