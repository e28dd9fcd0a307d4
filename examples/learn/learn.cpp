// Learns the causes of artificial data and prints how well each was found.

#include <gsc/gsc.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

/// The largest |cosine| between a generating column and any learned one.
static double best_match(const Eigen::VectorXd& column, const gsc::Matrix& W) {
  double best = 0;
  for (gsc::Index h = 0; h < W.cols(); ++h)
    best = std::max(best, std::abs(column.dot(W.col(h))) / (column.norm() * W.col(h).norm()));
  return best;
}

int main() {
  try {
    gsc::Random random(1);
    const gsc::Model truth = gsc::bars_model(10, random);
    const gsc::MatrixData data(gsc::sample(truth, 1000, random).data);

    gsc::FitOptions options;
    options.latents = 10;
    options.inference.candidates = 5;
    options.inference.max_active = 3;
    options.iterations = 60;
    std::optional<gsc::FitResult> best;  // EM finds local optima: keep the best free energy of a few starts
    for (options.seed = 1; options.seed <= 5; ++options.seed) {
      gsc::FitResult result = gsc::fit(data, options);
      std::printf("start %d: free energy %.0f\n", static_cast<int>(options.seed), result.last().free_energy);
      if (!best || result.last().free_energy > best->last().free_energy) best = std::move(result);
    }

    int found = 0;
    for (gsc::Index h = 0; h < truth.latents(); ++h) {
      const double match = best_match(truth.W.col(h), best->model().W);
      found += match > 0.95;
      std::printf("bar %2d: match %.3f\n", static_cast<int>(h), match);
    }
    const gsc::Posterior posterior = gsc::infer(best->model(), data, options.inference, {.variance = true});
    std::printf("%d of 10 bars found; the first data point has %.1f active causes\n", found,
                posterior.probability.row(0).sum());
    return found == 10 ? 0 : 1;
  } catch (const gsc::Error& error) {
    std::fprintf(stderr, "learn: %s\n", error.what());
    return 1;
  }
}
