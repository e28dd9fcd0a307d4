// Learns the causes of artificial data, starting five times, and says how many of them it found.

#include <gsc/gsc.h>

#include <cstdio>

int main() try {
  gsc::Random random(1);
  const gsc::Model truth = gsc::bars_model(10, random);  // ten bars on a grid of 5 x 5 pixels
  const gsc::MatrixData data(gsc::sample(truth, 1000, random).data);

  gsc::FitOptions options;
  options.latents = 10;
  options.inference.candidates = 5;
  options.inference.max_active = 3;
  options.iterations = 60;
  const gsc::Restarts starts = gsc::fit_restarts(data, options, 5);  // EM finds local optima: the best of five
  const gsc::Model& model = starts.best.model();
  for (const double free_energy : starts.free_energies) std::printf("free energy %.0f\n", free_energy);

  // |cosine| of every generating column with every learned one
  const gsc::Matrix match = (truth.W.colwise().normalized().transpose() * model.W.colwise().normalized()).cwiseAbs();
  const auto found = (match.rowwise().maxCoeff().array() > 0.95).count();
  const gsc::Posterior posterior = gsc::infer(model, data, options.inference, {.variance = true});
  std::printf("%d of 10 bars found; the first data point has %.1f active causes\n", static_cast<int>(found),
              posterior.probability.row(0).sum());
  return found == 10 ? 0 : 1;
} catch (const gsc::Error& error) {
  std::fprintf(stderr, "learn: %s\n", error.what());
  return 1;
}
