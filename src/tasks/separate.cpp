// Blind source separation: learn x = W (s.z) + noise from the mixture, then take the posterior means of s.z.

#include <gsc/restarts.h>
#include <gsc/separate.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "math/eigen_pairs.h"
#include "math/number_text.h"
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

Whitened whiten(Matrix& mixture, const std::string& name, Index directions, bool drop_dependent) {
  mixture.colwise() -= mixture.rowwise().mean().eval();
  const double size = mixture.cwiseAbs().maxCoeff();  // squares of large numbers overflow
  mixture /= size;
  const auto [variances, axes] = eigen_pairs(mixture * mixture.transpose() / static_cast<double>(mixture.cols()));
  const Index channels = mixture.rows();
  Whitened result;
  result.dropped = (variances.array() <= 1e-12 * variances[channels - 1]).count();
  if (result.dropped > 0 && !drop_dependent)
    throw Error(name + ": " + std::to_string(result.dropped) + " of " + std::to_string(channels) +
                " channels follow from the others, so they cannot be made uncorrelated; leave that many out, or do not "
                "whiten");
  const Index kept = std::min(directions, channels - result.dropped);
  const Vector deviations = variances.tail(kept).cwiseSqrt();
  const Matrix strongest = axes.rightCols(kept);
  // All of them: turned back, so that a channel is still mostly itself.
  const Matrix turn = kept == channels ? strongest : Matrix(Matrix::Identity(kept, kept));
  mixture = (turn * deviations.cwiseInverse().asDiagonal() * strongest.transpose() * mixture).eval();
  result.undo = size * strongest * deviations.asDiagonal() * turn.transpose();
  return result;
}

namespace {

/// More noise than this part of the variance is too much for whitening: bench/whiten_table.sh.
constexpr double kWeakNoise = 0.5;
/// Starts whose log-likelihood per sample is this close to the best have found the same.
constexpr double kNear = 0.01;
/// Sources more correlated than this are nearly the same.
constexpr double kDuplicate = 0.9;

void take(Restarts starts, Separation& separation) {
  separation.fit = std::move(starts.best);
  separation.winner = starts.winner;
  separation.free_energies = std::move(starts.free_energies);
}

/// The channels as learning sees them.
struct Prepared {
  Matrix channels;  ///< directions x samples
  Matrix undo;      ///< channels x directions; whitened only
  double unit = 1;  ///< of the channels; otherwise
};

Prepared whitened(const Matrix& mixture, Index latents, bool drop_dependent, std::vector<std::string>& notes) {
  Prepared prepared{mixture, {}, 1};
  const Whitened made = whiten(prepared.channels, "the mixture", latents, drop_dependent);
  if (made.dropped > 0)
    notes.push_back(std::to_string(made.dropped) + " of " + std::to_string(mixture.rows()) +
                    " channels follow from the others; those directions were left out");
  if (const Index left = mixture.rows() - made.dropped - made.undo.cols(); left > 0)
    notes.push_back("there are more channels than sources to find: the " + std::to_string(left) +
                    " weakest directions were left out");
  prepared.undo = made.undo;
  return prepared;
}

/// In a unit of their own, so that starts fit whatever unit they came in.
Prepared scaled(const Matrix& mixture) {
  Prepared prepared;
  const double largest = mixture.cwiseAbs().maxCoeff();  // squares of large numbers overflow
  prepared.channels = mixture / largest;
  const Matrix centred = prepared.channels.colwise() - prepared.channels.rowwise().mean();
  const double deviation = std::sqrt(centred.squaredNorm() / static_cast<double>(centred.size()));
  prepared.channels /= deviation;
  prepared.unit = largest * deviation;
  return prepared;
}

/// What was learned in a unit, for the channels as they came.
void bring_back(const Prepared& from, Separation& separation) {
  const double unit = from.unit;
  Model& model = separation.fit.state.model;
  model.W *= unit;
  model.W_variance *= unit * unit;
  model.intercept *= unit;
  model.noise = model.noise.scaled(unit * unit);
  // A density per unit becomes one per the other unit.
  const double change = -static_cast<double>(from.channels.size()) * std::log(unit);
  for (IterationReport& row : separation.fit.state.history) row.free_energy += change;
  for (double& free_energy : separation.free_energies) free_energy += change;
}

}  // namespace

std::vector<std::string> note_of_starts(const std::vector<double>& free_energies, double samples) {
  const double best = *std::max_element(free_energies.begin(), free_energies.end());
  const auto near = std::count_if(free_energies.begin(), free_energies.end(),
                                  [&](double value) { return best - value < kNear * samples; });
  if (3 * near >= static_cast<std::ptrdiff_t>(free_energies.size())) return {};
  return {"only " + std::to_string(near) + " of " + std::to_string(free_energies.size()) +
          " starts came near the best; there may be better ones, try more with --restarts"};
}

std::vector<std::string> duplicates_of(const Matrix& sources) {
  std::vector<std::string> notes;
  const Matrix centred = sources.colwise() - sources.rowwise().mean();
  for (Index i = 0; i < centred.rows(); ++i)
    for (Index j = 0; j < i; ++j) {
      const double size = centred.row(i).norm() * centred.row(j).norm();
      const double correlation = size > 0 ? centred.row(i).dot(centred.row(j)) / size : 0;
      if (std::abs(correlation) > kDuplicate)
        notes.push_back("sources " + std::to_string(j + 1) + " and " + std::to_string(i + 1) +
                        " are nearly the same (correlation " + number_text(std::round(100 * correlation) / 100) +
                        "); there may be fewer sources than were looked for");
    }
  return notes;
}

Separation separate(const Matrix& mixture, const SeparateOptions& options, Observer* observer) {
  const NumericScope scope;
  check_mixture(mixture, "the mixture");
  const FitOptions single = resolved(options, mixture.rows());
  const auto samples = static_cast<double>(mixture.cols());
  Separation separation;
  const auto learn = [&](const Prepared& from) {
    take(fit_restarts(MatrixData(from.channels.transpose(), "the mixture"), single, options.restarts, observer),
         separation);
    return separation.fit.reason != StopReason::interrupted;
  };
  Prepared prepared;
  if (options.whiten != Whiten::off) {
    prepared = whitened(mixture, single.latents, options.whiten == Whiten::automatic, separation.notes);
    separation.whitened = true;
    if (!learn(prepared)) return separation;
    const double noise = separation.fit.model().noise.mean_variance();
    if (options.whiten == Whiten::automatic && noise > kWeakNoise) {
      separation = {};
      separation.notes = {"whitened channels are " + number_text(std::round(100 * noise)) +
                          " % noise, so the sources are sought in the channels as they are"};
      if (observer != nullptr) observer->on_note(separation.notes.back());
    }
  }
  if (!separation.whitened) {
    prepared = scaled(mixture);
    if (!learn(prepared)) return separation;
  }
  // One pass after hundreds: on one thread, so that the bits do not depend on how many there are.
  InferenceOptions inference = single.inference;
  inference.threads = 1;
  const MatrixData data(prepared.channels.transpose(), "the mixture");
  separation.sources = infer(separation.fit.model(), data, inference).mean.transpose();
  for (const auto& notes : {note_of_starts(separation.free_energies, samples), duplicates_of(separation.sources)})
    separation.notes.insert(separation.notes.end(), notes.begin(), notes.end());
  if (!separation.whitened) bring_back(prepared, separation);
  const Matrix& W = separation.fit.model().W;
  separation.mixing = separation.whitened ? Matrix(prepared.undo * W) : W;
  return separation;
}

std::string_view to_string(Whiten whiten) {
  switch (whiten) {
    case Whiten::automatic:
      return "auto";
    case Whiten::on:
      return "on";
    case Whiten::off:
      return "off";
  }
  return "";
}

}  // namespace gsc
