#pragma once
// Blind source separation: x = W (s.z) + noise, one column of W per source. Target gsc::tasks.

#include <gsc/fit.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gsc {
#pragma GCC visibility push(default)  // this is what a shared library shows

/// automatic: on, unless more than half of what whitening leaves turns out to be noise.
enum class Whiten { automatic, on, off };

struct SeparateOptions {
  FitOptions fit;             ///< latents 0: as many as channels
  bool choose_method = true;  ///< exact up to 12 latents, then truncated with candidates = max_active = 10 (paper)
  /// Random starts, the best free energy wins; run in parallel, one thread each, on all ranks of a team.
  int restarts = 10;
  /// Take the channels' means out, make them uncorrelated with unit variance, and learn from that: the mixing that is
  /// left to find is nearly orthogonal. For mixtures with little noise. With fewer latents than channels only as many
  /// directions are kept, the strongest.
  Whiten whiten = Whiten::automatic;
  SeparateOptions();  ///< 350 iterations, random starts, scalar noise, diagonal slab
};

struct Separation {
  /// Of the best start. Its model is about the mixture as it was given, also where that was whitened: the noise is then
  /// full, W has no uncertainty, and directions that were left out are noise with the variance they have.
  FitResult fit;
  Matrix mixing;                      ///< channels x latents, W of that model
  Matrix sources;                     ///< latents x samples, posterior means of s.z
  int winner = 0;                     ///< which start that is, from 0; its seed is fit.seed + winner
  std::vector<double> free_energies;  ///< of all starts
  bool whitened = false;
  std::optional<double> noise_share;  ///< of the variance of whitened channels, as learned; none: that was not tried
  std::vector<std::string> notes;     ///< what the user should know about the data and the result
  FitOptions options;                 ///< what the model was learned with, in the types that it has
};

/// Gives every row (channels, or known sources before they are mixed) zero mean and unit variance; returns the standard
/// deviations there were. What separate() then finds is about the normalised channels: row c of its mixing times
/// deviation c is for the channel as it came. Throws Error for a constant row, which it calls `row_name` and its
/// number.
Vector normalise(Matrix& rows, const std::string& row_name = "channel");

/// mixture: channels x samples.
Separation separate(const Matrix& mixture, const SeparateOptions& options, Observer* observer = nullptr);

std::string_view to_string(Whiten whiten);

#pragma GCC visibility pop
}  // namespace gsc
