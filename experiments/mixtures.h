#pragma once
// One trial of source separation with known sources: mix them, learn from the mixture, compare the mixing matrices.

#include <gsc/fit.h>

#include "statistics.h"

namespace gsc::experiments {

/// The index, or null where there is none: latents have died, and the learned matrix has no inverse.
Json amari_of(const Matrix& learned, const Matrix& mixing);

/// A s: channels x samples.
Matrix mixture_of(const Matrix& mixing, const Matrix& sources);

/// Options as the settings have them: method, truncation (H' = gamma, at most H), iterations; the paper's selection,
/// random start and homoscedastic noise; one thread.
LearningChoices separation_options(const Json& settings, Index latents);

/// The method of settings that leaves all to gsc separate: starts and iterations alone are given.
inline constexpr const char* kUsualSeparation = "separate";

/// x = A s + N(0, noise^2) with A orthogonal plus N(0, mixing^2) in every entry, both drawn from `seed`; from it comes
/// also the seed of learning. Settings besides those of the options: benchmark, mixing, noise, seed, and samples:
/// "all", or so many from offset on; starts: the best of so many by free energy. The mixture is divided by one number
/// that makes its mean variance 1: the paper's random starts have amplitudes around 1, so that in other units they
/// start elsewhere and find other optima. The Amari index does not depend on it. separate() does the rest, for methods
/// of the model without whitening and intercept, as in the paper. Besides those methods there are fastica and
/// kUsualSeparation; methods that learn a dictionary are judged by its atoms.
Json run_separation(const Json& settings, const Request& request);

/// Of the Amari indices. A trial without one counts as 1, the worst there is, in `fair`, and not at all in `spread`.
struct AmariSpread {
  Spread spread, fair;
  int undefined = 0;
};
AmariSpread amari_spread(const std::vector<Finished>& trials, const Json& where);
Json json_of(const AmariSpread& amari);
/// Mean and standard deviation as in the paper's tables: "0.170 (0.030)"; then how many trials have no index.
std::string text_of(const AmariSpread& amari);

/// What the page says about the index, and about the data of the quick version.
void add_amari_note(const Request& request, Report& report);

}  // namespace gsc::experiments
