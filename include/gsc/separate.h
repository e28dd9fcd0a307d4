#pragma once
// Blind source separation: x = W (s.z) + noise, one column of W per source. Target gsc::tasks.

#include <gsc/export.h>
#include <gsc/learning_choices.h>
#include <gsc/words.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gsc {

/// automatic: on, unless more than half of what whitening leaves turns out to be noise.
enum class Whiten { automatic, on, off };

/// What finds the sources. model: EM learns the model of the mixture, noise included. fastica: directions in which the
/// whitened mixture is least Gaussian, at most as many as channels; no noise, no free energy, no posterior, no model.
enum class SeparateMethod { model, fastica };

/// What FastICA looks at. tanh suits nearly all; cube is the kurtosis, for light tails; gauss bears outliers best.
enum class Nonlinearity { tanh, cube, gauss };
/// How FastICA keeps directions apart: all of them alike, or each from those found before it.
enum class Decorrelation { symmetric, deflation };

/// FastICA (Hyvarinen 1999).
struct GSC_EXPORT FasticaOptions {
  Nonlinearity nonlinearity = Nonlinearity::tanh;
  Decorrelation decorrelation = Decorrelation::symmetric;
  int iterations = 1000;    ///< at most; with deflation of each direction
  double tolerance = 1e-8;  ///< until no direction turns by more in an iteration, as 1 - |cosine|; 0: never
  Matrix start;             ///< a mixing matrix, channels x sources, to start from; empty: random
  /// Throws UsageError naming the first field with an impossible value.
  void validate() const;
};

/// How the iterations of FastICA ended.
struct FasticaRun {
  int iterations = 0;      ///< with deflation of the direction that took most
  bool converged = false;  ///< all directions have
  double change = 1;       ///< how far a direction turned in its last iteration, 1 - |cosine|; the largest
};

struct GSC_EXPORT SeparateOptions {
  SeparateMethod method = SeparateMethod::model;
  /// Left out: as many latents as channels, 350 iterations, random starts but for the first; the exact method up to 12
  /// latents, then truncated with candidates = max_active = 10 (paper). Where one of these three is chosen, the method is
  /// truncated and max_active all candidates. fastica reads latents, iterations, tolerance, seed and threads alone.
  LearningChoices learning;
  Team* team = &solo();
  /// Starts, the best free energy wins; run in parallel, one thread each, on all ranks of a team.
  int restarts = 10;
  /// Take the channels' means out, make them uncorrelated with unit variance, and learn from that: the mixing that is
  /// left to find is nearly orthogonal. For mixtures with little noise. With fewer latents than channels only as many
  /// directions are kept, the strongest.
  Whiten whiten = Whiten::automatic;
  /// The first of the starts is from what FastICA finds instead of random numbers, unless there are more latents than
  /// channels, or mostly noise (then whiten automatic seeks a second time, from random starts alone).
  bool start_from_fastica = true;
  /// With method fastica, where `learning` goes before in what it has, too; and for start_from_fastica.
  FasticaOptions fastica;

  /// What is learned with from a mixture of so many channels: what was left out is chosen. Throws UsageError naming the
  /// first field with an impossible value.
  FitOptions resolved(Index channels) const;
};

struct Separation {
  /// Of the best start; empty with method fastica, as are free_energies, noise_share and options. Its model is about
  /// the mixture as it was given, also where that was whitened: the noise is then full, W has no uncertainty, and
  /// directions that were left out are noise with the variance they have.
  FitResult fit;
  Matrix mixing;                      ///< channels x latents, W of that model; of fastica x = mean + mixing sources
  Matrix sources;                     ///< latents x samples, posterior means of s.z; of fastica those of variance 1
  int winner = 0;                     ///< which start that is, from 0; its seed is fit.seed + winner
  std::vector<double> free_energies;  ///< of all starts
  bool whitened = false;
  std::optional<double> noise_share;  ///< of the variance of whitened channels, as learned; none: that was not tried
  std::vector<std::string> notes;     ///< what the user should know about the data and the result
  FitOptions options;                 ///< what the model was learned with, in the types that it has
  std::optional<FasticaRun> fastica;  ///< with method fastica, or where a start was made by it
};

/// Gives every row (channels, or known sources before they are mixed) zero mean and unit variance; returns the standard
/// deviations there were. What separate() then finds is about the normalised channels: row c of its mixing times
/// deviation c is for the channel as it came. Throws Error for a constant row, which it calls `row_name` and its
/// number.
GSC_EXPORT Vector normalise(Matrix& rows, const std::string& row_name = "channel");

/// Throws Error for a mixture (channels x samples) that cannot be separated, or whitened if it must be. `name` is what
/// the error calls it, `first` the number of its first sample. separate() looks, too, and calls it "the mixture".
GSC_EXPORT void check_mixture(const Matrix& mixture, const std::string& name, Index first = 0,
                              Whiten whiten = Whiten::automatic);

/// mixture: channels x samples.
GSC_EXPORT Separation separate(const Matrix& mixture, const SeparateOptions& options, Watcher* watcher = nullptr);

GSC_EXPORT std::string_view to_string(Whiten whiten);
GSC_EXPORT std::string_view to_string(SeparateMethod method);
GSC_EXPORT std::string_view to_string(Nonlinearity nonlinearity);
GSC_EXPORT std::string_view to_string(Decorrelation decorrelation);

template <>
inline constexpr std::array kValues<Whiten>{Whiten::automatic, Whiten::on, Whiten::off};
template <>
inline constexpr std::array kValues<SeparateMethod>{SeparateMethod::model, SeparateMethod::fastica};
template <>
inline constexpr std::array kValues<Nonlinearity>{Nonlinearity::tanh, Nonlinearity::cube, Nonlinearity::gauss};
template <>
inline constexpr std::array kValues<Decorrelation>{Decorrelation::symmetric, Decorrelation::deflation};

}  // namespace gsc
