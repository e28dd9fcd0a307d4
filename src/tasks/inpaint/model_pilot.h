#pragma once
// A first guess at the missing values of a picture by a model that was learned elsewhere: all patches, with their gaps,
// are inferred by it, and overlapping guesses x_i averaged by how certain they are,
//
//   x = sum_i x_i / v_i / sum_i 1 / v_i        v_i: posterior variance of the value in patch i
//
// A model may be of patches as they are or of patches without their mean (of each channel, here of the plain first
// guess). That under which the observed values are more likely is taken.

#include <gsc/inpaint.h>

#include <functional>

namespace gsc {

/// `guess`: first_guess() of the picture. Asks stop_at(share done) now and then; throws Interrupted if that returns
/// true.
Picture model_guess(const Picture& damaged, const PatchModel& of, const Picture& guess, int threads,
                    const std::function<bool(double)>& stop_at = {});

/// A guess at what that takes.
double model_guess_seconds(const Picture& damaged, const PatchModel& of, int threads);

}  // namespace gsc
