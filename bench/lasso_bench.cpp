// What a lasso code costs: LARS against feature-sign search, from nothing and from a code nearby, on random data points
// of unit norm and random atoms. bench/online_peer.py prints the same of SPAMS.

#include <fmt/format.h>

#include "dictionary/feature_sign.h"
#include "dictionary/lars.h"
#include "math/numeric_scope.h"
#include "model/random_draws.h"
#include "timing.h"

namespace {

using namespace gsc;

struct Problem {
  Matrix gram, correlations;
};

Problem problem(Index dimensions, Index latents, Index points) {
  Random random(1);
  Matrix atoms = standard_normal(latents, dimensions, random), data = standard_normal(points, dimensions, random);
  atoms.rowwise().normalize();
  data.rowwise().normalize();
  return {atoms * atoms.transpose(), data * atoms.transpose()};
}

}  // namespace

int main() {
  const NumericScope scope;
  const Index D = 64, H = 256, N = 1000;
  const Problem all = problem(D, H, N);
  const WholeGram gram(all.gram);
  fmt::print("microseconds a data point, D = {}, H = {}, one thread\n", D, H);
  fmt::print("{:>6} {:>7} {:>8} {:>13} {:>18}\n", "lambda", "atoms", "LARS", "feature-sign", "from 1.1 lambda");
  for (const double lambda : {0.15, 0.2, 0.3}) {
    Lars lars(H);
    FeatureSign search(H);
    double atoms = 0;
    const auto row = [&](Index n) { return all.correlations.row(n).data(); };
    const double by_lars = bench::median_seconds(5, [&] {
      atoms = 0;
      for (Index n = 0; n < N; ++n) {
        lars.solve(gram, row(n), 1, {.lambda = lambda});
        atoms += static_cast<double>(lars.size());
      }
    });
    const double by_signs = bench::median_seconds(5, [&] {
      for (Index n = 0; n < N; ++n) search.solve(gram, row(n), lambda);
    });
    std::vector<std::vector<Index>> start_atoms(static_cast<std::size_t>(N));
    std::vector<std::vector<double>> start_values(start_atoms.size());
    for (Index n = 0; n < N; ++n) {
      search.solve(gram, row(n), 1.1 * lambda);
      for (Index i = 0; i < search.size(); ++i) {
        start_atoms[static_cast<std::size_t>(n)].push_back(search.atom(i));
        start_values[static_cast<std::size_t>(n)].push_back(search.value(i));
      }
    }
    const double warm = bench::median_seconds(5, [&] {
      for (Index n = 0; n < N; ++n) {
        const auto at = static_cast<std::size_t>(n);
        search.start(start_atoms[at].data(), start_values[at].data(), static_cast<Index>(start_atoms[at].size()));
        search.solve(gram, row(n), lambda);
      }
    });
    fmt::print("{:6} {:7.1f} {:8.1f} {:13.1f} {:18.1f}\n", lambda, atoms / N, 1e6 * by_lars / N, 1e6 * by_signs / N,
               1e6 * warm / N);
  }
}
