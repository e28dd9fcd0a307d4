#include "tasks/separate/fastica_separation.h"

#include <gsc/words.h>

#include <cmath>
#include <numbers>
#include <string>

#include "math/number_text.h"
#include "math/numeric_scope.h"
#include "model/random_draws.h"
#include "tasks/separate/fastica.h"
#include "tasks/separate/prepared_channels.h"
#include "tasks/separate/separate_internal.h"

namespace gsc {
namespace {

/// The given mixing matrix as directions of the whitened channels, or random ones.
Matrix start_of(const Whitened& white, const FasticaOptions& options, std::uint64_t seed) {
  const Index sources = white.undo.cols();
  if (options.start.size() == 0) {
    Random random(seed);
    return standard_normal(sources, sources, random);
  }
  const Matrix directions = (white.redo * options.start).transpose();
  const Matrix unit = directions.rowwise().normalized();  // a zero row stays one
  try {
    return nearest_orthogonal(unit);
  } catch (const Error&) {
    throw Error(
        "init: in these channels the columns of the mixing matrix to start from follow from each other; give another "
        "one, or leave it out");
  }
}

FasticaDirections directions_of(const Matrix& channels, const Whitened& white, const FitOptions& single,
                                const FasticaOptions& options, Watcher* watcher) {
  return fastica(channels, start_of(white, options, single.seed), options, thread_count(single.inference.threads),
                 [&] { return watcher != nullptr && watcher->stop_requested(); });
}

void check_counts(const FasticaOptions& options, Index latents, Index channels) {
  if (latents > channels)
    throw UsageError("latents is " + std::to_string(latents) + ", but there are " + counted(channels, "channel") +
                     ", and fastica finds at most as many sources; ask for fewer, or choose another method");
  const Matrix& start = options.start;
  if (start.size() > 0 && (start.rows() != channels || start.cols() != latents))
    throw UsageError("init: the mixing matrix to start from is " + std::to_string(start.rows()) + " x " +
                     std::to_string(start.cols()) + "; expected channels x sources, " + std::to_string(channels) +
                     " x " + std::to_string(latents));
}

void note_constant(const Matrix& mixture, std::vector<std::string>& notes) {
  for (Index c = 0; c < mixture.rows(); ++c)
    if ((mixture.row(c).array() == mixture(c, 0)).all())
      notes.push_back("channel " + std::to_string(c + 1) + " is constant, so it tells nothing about the sources");
}

std::string degrees(double change) {
  return number_text(std::round(1800 / std::numbers::pi * std::acos(1 - change)) / 10);
}

/// With a tolerance of 0 all iterations are wanted.
void note_run(const FasticaRun& run, double tolerance, std::vector<std::string>& notes) {
  if (run.converged || tolerance == 0) return;
  notes.push_back("fastica has not converged in " + counted(run.iterations, "iteration") +
                  ": a direction still turns by " + degrees(run.change) +
                  " degrees in each; try more iterations, more samples, or another nonlinearity");
}

}  // namespace

Separation separate_by_fastica(const Matrix& mixture, const SeparateOptions& options, Watcher* watcher) {
  const NumericScope scope;
  check_mixture(mixture, "the mixture");
  const FitOptions single = options.resolved(mixture.rows());
  FasticaOptions own = options.fastica;
  own.iterations = single.iterations;
  own.tolerance = single.tolerance;
  const Index latents = single.latents;
  check_counts(own, latents, mixture.rows());
  Separation separation;
  note_constant(mixture, separation.notes);
  const Prepared prepared = whitened_channels(mixture, latents, Dependent::dropped);
  separation.notes.insert(separation.notes.end(), prepared.notes.begin(), prepared.notes.end());
  const Whitened& white = *prepared.white;
  const Index found = white.undo.cols();
  if (found < latents && (options.learning.latents || own.start.size() > 0))
    throw Error("latents is " + std::to_string(latents) + ", but only " + std::to_string(found) +
                " of the channels do not follow from others (a constant one does), and fastica finds at most as many "
                "sources; ask for fewer");
  separation.whitened = true;
  try {
    const FasticaDirections directions = directions_of(prepared.channels, white, single, own, watcher);
    separation.fastica = directions.run;
    separation.mixing = white.undo * directions.W.transpose();
    separation.sources = directions.W * prepared.channels;
  } catch (const Interrupted&) {
    separation.fit.reason = StopReason::interrupted;
    return separation;
  }
  note_run(*separation.fastica, own.tolerance, separation.notes);
  return separation;
}

Model model_of_sources(const Matrix& W, const Matrix& sources) {
  // Of a source with variance 1: pi psi + pi (1 - pi) mu^2 = 1.
  constexpr double kHeavyPi = 0.3, kLightPi = 0.5, kLightMean = 1.7;
  // Of the mean variance. A tenth of it ends nearer to FastICA's directions, also where these are noise.
  constexpr double kNoise = 0.5;
  Model model;
  const Index latents = sources.rows();
  model.W = W;
  model.pi.resize(latents);
  model.mu.resize(latents);
  Vector variances(latents);
  for (Index h = 0; h < latents; ++h) {
    const bool heavy = sources.row(h).array().square().square().mean() > 3;  // that of a Gaussian
    model.pi[h] = heavy ? kHeavyPi : kLightPi;
    model.mu[h] = heavy ? 0 : kLightMean;
    variances[h] = (1 - model.pi[h] * (1 - model.pi[h]) * model.mu[h] * model.mu[h]) / model.pi[h];
  }
  model.slab = Slab::diagonal(variances);
  model.noise = Noise::scalar(kNoise * W.squaredNorm() / static_cast<double>(W.rows()), W.rows());
  return model;
}

std::optional<Model> fastica_start(const Matrix& channels, const FitOptions& single, const FasticaOptions& options,
                                   Watcher* watcher, std::optional<FasticaRun>& run) {
  Matrix white = channels;
  const Whitened whitened = whiten(white, "the mixture", single.latents, Dependent::dropped);
  if (whitened.undo.cols() < single.latents) return {};
  const FasticaDirections found = directions_of(white, whitened, single, options, watcher);
  run = found.run;
  return model_of_sources(whitened.undo * found.W.transpose(), found.W * white);
}

void FasticaOptions::validate() const {
  if (iterations < 1) throw UsageError("iterations is " + std::to_string(iterations) + "; it must be at least 1");
  if (!(tolerance >= 0 && tolerance < 1))
    throw UsageError("tolerance is " + number_text(tolerance) + "; with fastica it must be from 0 to below 1");
}

std::string_view to_string(SeparateMethod method) { return method == SeparateMethod::model ? "model" : "fastica"; }

std::string_view to_string(Nonlinearity nonlinearity) {
  switch (nonlinearity) {
    case Nonlinearity::tanh:
      return "tanh";
    case Nonlinearity::cube:
      return "cube";
    case Nonlinearity::gauss:
      return "gauss";
  }
  return "";
}

std::string_view to_string(Decorrelation decorrelation) {
  return decorrelation == Decorrelation::symmetric ? "symmetric" : "deflation";
}

}  // namespace gsc
