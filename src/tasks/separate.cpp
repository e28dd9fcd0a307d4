// Blind source separation: learn x = W (s.z) + noise from the mixture, then take the posterior means of s.z.

#include <gsc/restarts.h>
#include <gsc/separate.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "math/eigen_pairs.h"
#include "math/numeric_scope.h"
#include "tasks/separate_internal.h"

namespace gsc {
namespace {

/// Up to here all 2^H states are cheap (4096 for 12).
constexpr Index kExactLatents = 12;
constexpr Index kTruncation = 10;  ///< H' and gamma beyond (paper, section 5.4)

}  // namespace

void check_mixture(const Matrix& mixture, const std::string& name, Index first) {
  const Index channels = mixture.rows(), samples = mixture.cols();
  if (channels < 2)
    throw Error(name + " has " + std::to_string(channels) + " channel" + (channels == 1 ? "" : "s") +
                "; separation needs at least two recordings of the same sources");
  if (samples < channels)
    throw Error(name + " has fewer samples (" + std::to_string(samples) + ") than channels (" +
                std::to_string(channels) + "); is it transposed, or too short?");
  for (Index c = 0; c < channels; ++c)
    for (Index n = 0; n < samples; ++n)
      if (!std::isfinite(mixture(c, n)))
        throw Error("channel " + std::to_string(c + 1) + " of " + name + " is " +
                    (std::isnan(mixture(c, n)) ? "NaN" : "infinite") + " at sample " + std::to_string(first + n) +
                    " (from 0); remove or replace such values first");
  if ((mixture.colwise() - mixture.col(0)).isZero(0))
    throw Error(name + " has nothing but constant channels, so there is nothing to separate; is it the right one?");
}

SeparateOptions::SeparateOptions() {
  fit.latents = 0;
  fit.init = Init::random;
  fit.iterations = 350;
}

FitOptions resolved(const SeparateOptions& options, Index channels) {
  FitOptions single = options.fit;
  if (single.latents == 0) single.latents = channels;
  if (options.choose_method) {
    single.inference.method = single.latents <= kExactLatents ? Method::exact : Method::truncated;
    single.inference.candidates = single.inference.max_active = std::min(kTruncation, single.latents);
  }
  single.validate();
  if (options.restarts < 1)
    throw UsageError("restarts is " + std::to_string(options.restarts) + "; it must be at least 1");
  return single;
}

Vector normalise(Matrix& rows, const std::string& row_name) {
  Vector deviations(rows.rows());
  for (Index i = 0; i < rows.rows(); ++i) {
    auto row = rows.row(i);
    // Squares of very large or small numbers leave the range of doubles; a power of two changes nothing else.
    const double largest = row.cwiseAbs().maxCoeff();
    const double size = largest > 0 ? std::ldexp(1.0, std::ilogb(largest)) : 1;
    row /= size;
    const double before = row.norm();
    row.array() -= row.mean();
    const double after = row.norm();
    // What rounding leaves of a constant row is no signal.
    if (!(after > 1e-12 * before))
      throw Error(row_name + " " + std::to_string(i + 1) +
                  " is constant, so its variance cannot be made 1; leave it out");
    const double deviation = after / std::sqrt(static_cast<double>(row.size()));
    row /= deviation;
    deviations[i] = size * deviation;
  }
  return deviations;
}

Matrix whiten(Matrix& mixture, const std::string& name) {
  mixture.colwise() -= mixture.rowwise().mean().eval();
  const double size = mixture.cwiseAbs().maxCoeff();  // squares of large numbers overflow
  mixture /= size;
  const auto [variances, directions] = eigen_pairs(mixture * mixture.transpose() / static_cast<double>(mixture.cols()));
  const Index dependent = (variances.array() <= 1e-12 * variances[variances.size() - 1]).count();
  if (dependent > 0)
    throw Error(name + ": " + std::to_string(dependent) + " of " + std::to_string(mixture.rows()) +
                " channels follow from the others, so they cannot be made uncorrelated; leave that many out, or do not "
                "whiten");
  const Vector deviations = variances.cwiseSqrt();
  mixture = (directions * deviations.cwiseInverse().asDiagonal() * directions.transpose() * mixture).eval();
  return size * directions * deviations.asDiagonal() * directions.transpose();
}

Separation separate(const Matrix& mixture, const SeparateOptions& options, Observer* observer) {
  const NumericScope scope;
  check_mixture(mixture, "the mixture");
  const FitOptions single = resolved(options, mixture.rows());
  Matrix channels = mixture;
  Matrix undo = Matrix::Identity(channels.rows(), channels.rows());
  if (options.whiten) undo *= whiten(channels, "the mixture");
  const MatrixData data(channels.transpose(), "the mixture");

  Separation separation;
  Restarts starts = fit_restarts(data, single, options.restarts, observer);
  separation.fit = std::move(starts.best);
  separation.winner = starts.winner;
  separation.free_energies = std::move(starts.free_energies);
  if (separation.fit.reason == StopReason::interrupted) return separation;
  separation.mixing = undo * separation.fit.model().W;
  // One pass after hundreds: on one thread, so that the bits do not depend on how many there are.
  InferenceOptions inference = single.inference;
  inference.threads = 1;
  separation.sources = infer(separation.fit.model(), data, inference).mean.transpose();
  return separation;
}

}  // namespace gsc
