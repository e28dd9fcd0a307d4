#pragma once
// How a picture is denoised by K-SVD, online dictionary learning or feature-sign search: as published (Elad and Aharon
// 2006, which the others take over), where the options leave it open.

#include "tasks/denoise/plan.h"

namespace gsc {

inline constexpr Index kDictionaryPatch = 8;

/// The rest of a plan whose patches are chosen; learning will see `available` of them. `range`: DenoisePlan::range.
/// Throws UsageError for options that dictionaries do not have.
void plan_dictionary(const Picture& noisy, const DenoiseOptions& options, const NoiseLevel& noise, double range,
                     Index available, ModelPlan& plan);

/// An overcomplete dictionary of cosines for patches, where K-SVD starts: with K >= patch frequencies
///
///   v_k(i) = cos(i k pi / K), less its mean where k > 0, of unit norm        i = 0 .. patch-1, k = 0 .. K-1
///
/// an atom is v_k(row) v_l(col).
///
/// patch^2 x count: the `count` atoms of the lowest frequencies k + l, of the fewest K that have so many. Without
/// `constant` they begin after k = l = 0.
Matrix cosine_atoms(Index patch, Index count, bool constant = true);

}  // namespace gsc
