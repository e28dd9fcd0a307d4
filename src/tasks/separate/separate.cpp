// Blind source separation: learn x = W (s.z) + noise from the mixture, then take the posterior means of s.z.

#include <gsc/restarts.h>
#include <gsc/separate.h>
#include <gsc/words.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "learning/fit_option_list.h"
#include "math/number_text.h"
#include "math/numeric_scope.h"
#include "tasks/separate/fastica_separation.h"
#include "tasks/separate/prepared_channels.h"
#include "tasks/separate/separate_internal.h"

namespace gsc {
namespace {

/// Up to here all 2^H states are cheap (4096 for 12).
constexpr Index kExactLatents = 12;
constexpr Index kTruncation = 10;  ///< H' and gamma beyond (paper, section 5.4)

void choose_method(FitOptions& options) {
  options.inference.method = options.latents <= kExactLatents ? Method::exact : Method::truncated;
  options.inference.candidates = options.inference.max_active = std::min(kTruncation, options.latents);
}

}  // namespace

void check_mixture(const Matrix& mixture, const std::string& name, Index first, Whiten whitened) {
  const Index channels = mixture.rows(), samples = mixture.cols();
  if (channels < 2)
    throw Error(name + " has " + counted(channels, "channel") +
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
  if (whitened == Whiten::on) {
    Matrix copy = mixture;
    whiten(copy, name, channels, Dependent::refused);
  }
}

namespace {

/// What is taken where nothing is chosen.
FitOptions preset_of(const SeparateOptions& options, Index channels) {
  const LearningChoices& chosen = options.learning;
  FitOptions preset;
  preset.latents = chosen.latents.value_or(channels);
  preset.init = Init::random;
  preset.iterations = 350;
  preset.sharing.team = options.team;
  InferenceOptions& inference = preset.inference;
  if (!chosen.inference.method && !chosen.inference.candidates && !chosen.inference.max_active) {
    choose_method(preset);
  } else {
    inference.method = chosen.method();
    inference.candidates = chosen.inference.candidates.value_or(0);
    inference.max_active = inference.resolved(preset.latents).candidates;
  }
  return preset;
}

/// FastICA's own options, on top of which is chosen what learning a model has, too.
FitOptions of_fastica(const SeparateOptions& options, Index channels) {
  LearningChoices others = options.learning;
  others.latents.reset();
  others.iterations.reset();
  others.tolerance.reset();
  others.seed.reset();
  others.inference.threads.reset();
  for_each_option(others, [](const OptionInfo& option, const auto& choice) {
    if (choice)
      throw UsageError(std::string(option.name) +
                       " is for learning a model, but method is fastica; leave one of them out");
  });
  FitOptions preset;
  preset.latents = channels;
  preset.iterations = options.fastica.iterations;
  preset.tolerance = options.fastica.tolerance;
  const FitOptions chosen = apply(options.learning, preset);
  FasticaOptions own = options.fastica;
  own.iterations = chosen.iterations;
  own.tolerance = chosen.tolerance;
  own.validate();
  return chosen;
}

}  // namespace

FitOptions SeparateOptions::resolved(Index channels) const {
  if (method == SeparateMethod::fastica) return of_fastica(*this, channels);
  if (!spike_and_slab(learning.method()))
    throw UsageError("method is " + std::string(to_string(learning.method())) +
                     ", which learns a dictionary and no sources; separate by the truncated, exact or factored method");
  if (restarts < 1) throw UsageError("restarts is " + std::to_string(restarts) + "; it must be at least 1");
  FitOptions single = apply(learning, preset_of(*this, channels));
  single.validate();
  single.inference = single.inference.resolved(single.latents);
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

namespace {

/// More noise than this part of the variance is too much for whitening: bench/whiten_table.sh.
constexpr double kWeakNoise = 0.5;
/// Starts whose log-likelihood per sample is this close to the best have found the same.
constexpr double kNear = 0.01;
/// Sources more correlated than this are nearly the same.
constexpr double kDuplicate = 0.9;

/// The variance of the noise as the best of the random starts has it, or the only start there is: FastICA takes noise
/// for sources, and a start from it stays there.
double noise_of(const Restarts& starts, bool first_is_random) {
  double best = -std::numeric_limits<double>::infinity(), noise = starts.best.model().noise.mean_variance();
  for (std::size_t i = first_is_random ? 0 : 1; i < starts.free_energies.size(); ++i)
    if (starts.free_energies[i] > best) {
      best = starts.free_energies[i];
      noise = starts.noise_stds[i] * starts.noise_stds[i];
    }
  return noise;
}

void take(Restarts starts, Separation& separation) {
  separation.fit = std::move(starts.best);
  separation.winner = starts.winner;
  separation.free_energies = std::move(starts.free_energies);
}

std::string percent(double part) { return number_text(std::round(100 * part)) + " %"; }

}  // namespace

std::vector<std::string> note_of_starts(const std::vector<double>& free_energies, double samples) {
  const double best = *std::max_element(free_energies.begin(), free_energies.end());
  const auto near = std::count_if(free_energies.begin(), free_energies.end(),
                                  [&](double value) { return best - value < kNear * samples; });
  if (3 * near >= static_cast<std::ptrdiff_t>(free_energies.size())) return {};
  return {"only " + std::to_string(near) + " of " + std::to_string(free_energies.size()) +
          " starts came near the best; there may be better ones, try more restarts"};
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

namespace {

/// The model is in the units of the mixture, and has variances.
void check_squares(const Matrix& mixture) {
  constexpr double kSmallest = 1e-140, kLargest = 1e140;
  const double largest = mixture.cwiseAbs().maxCoeff();
  if (largest < kSmallest || largest > kLargest)
    throw Error("the mixture has values up to " + number_text(largest) +
                ", whose squares leave the range of the arithmetic; give it in another unit");
}

}  // namespace

Separation separate(const Matrix& mixture, const SeparateOptions& options, Watcher* watcher) {
  if (options.method == SeparateMethod::fastica) return separate_by_fastica(mixture, options, watcher);
  const NumericScope scope;
  check_mixture(mixture, "the mixture");
  check_squares(mixture);
  const FitOptions single = options.resolved(mixture.rows());
  const auto samples = static_cast<double>(mixture.cols());
  Separation separation;
  double noise = 0;  // as noise_of()
  const auto learn = [&](const Prepared& from, bool start_from_fastica) {
    std::optional<Model> first;
    if (start_from_fastica) first = fastica_start(from.channels, single, options.fastica, watcher, separation.fastica);
    Restarts starts =
        fit_restarts(MatrixData(from.channels.transpose(), "the mixture"), single, options.restarts, watcher, first);
    noise = noise_of(starts, !first);
    take(std::move(starts), separation);
    return separation.fit.reason != StopReason::interrupted;
  };
  Prepared prepared;
  if (options.whiten != Whiten::off) {
    prepared = whitened_channels(mixture, single.latents,
                                 options.whiten == Whiten::automatic ? Dependent::dropped : Dependent::refused);
    separation.notes = prepared.notes;
    separation.whitened = true;
    if (!learn(prepared, options.start_from_fastica)) return separation;
    if (options.whiten == Whiten::automatic && noise > kWeakNoise) {
      separation = Separation();
      separation.noise_share = noise;
      separation.notes = {"whitened channels are " + percent(noise) +
                          " noise, so the sources are sought in the channels as they are"};
      if (watcher != nullptr) watcher->on_note(separation.notes.back());
    } else {
      separation.noise_share = separation.fit.model().noise.mean_variance();
      separation.notes.push_back("channels are whitened first; " + percent(*separation.noise_share) +
                                 " of what that leaves is noise");
    }
  }
  if (!separation.whitened) {
    prepared = scaled_channels(mixture);
    // Where most is noise, that is what FastICA finds.
    if (!learn(prepared, options.start_from_fastica && !separation.noise_share)) return separation;
  }
  // One pass after hundreds: on one thread, so that the bits do not depend on how many there are.
  InferenceOptions inference = single.inference;
  inference.threads = 1;
  const MatrixData data(prepared.channels.transpose(), "the mixture");
  separation.sources = infer(separation.fit.model(), data, inference).mean.transpose();
  for (const auto& notes : {note_of_starts(separation.free_energies, samples), duplicates_of(separation.sources)})
    separation.notes.insert(separation.notes.end(), notes.begin(), notes.end());
  bring_back(prepared, separation);
  separation.mixing = separation.fit.model().W;
  separation.options = options_of_model(single, separation);
  return separation;
}

FitOptions options_of_model(const FitOptions& single, const Separation& separation) {
  FitOptions options = single;
  options.seed += static_cast<std::uint64_t>(separation.winner);
  if (!separation.whitened) return options;
  options.noise = NoiseType::full;
  if (options.intercept == Intercept::none) options.intercept = Intercept::mean;  // whitening took it out
  if (options.inference.method == Method::factored) choose_method(options);       // which has no full noise
  return options;
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
