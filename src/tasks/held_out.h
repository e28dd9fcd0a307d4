#pragma once
// Observed values that are set aside, so that what is predicted for them tells how good the filling is without the
// truth.
//
// What is set aside must be as hard to predict as what is missing. Where values are missing at random, any observed one
// is. Where there are holes in a picture that is whole otherwise, single values would be far too easy: then windows of
// the mask around missing pixels are laid over whole parts of the picture, and what lies below the holes is set aside.
// The deepest hole fits into a window, up to 65 x 65 pixels; between lines of text windows are small.

#include <gsc/inpaint.h>

namespace gsc {

struct HeldOutValue {
  std::uint32_t channel, row, col;
  double value;
};

struct HeldOutSet {
  std::vector<HeldOutValue> values;
  bool shaped = false;
};

/// Takes values out of `damaged` (they become NaN): a twentieth to a tenth of those observed, at most a few thousand.
/// None where there would be so few (below 40) that they tell nothing.
HeldOutSet hold_out(Picture& damaged, std::uint64_t seed);

/// What judge() has to know beside the values, in the units of the plan (pixel_units.h).
struct Judging {
  double noise = 0, noise_error = 0;  ///< standard deviation of the values' own noise, and its relative error
  double missing = 0;                 ///< share of the picture's values that are missing
  bool kept = true;                   ///< the others have no error
  double peak = 255;
};

/// How well `picture` and its variances (of each value's error, unscaled) tell them.
HeldOut judge(const HeldOutSet& set, const Picture& picture, const Picture& variance, const Judging& by);

}  // namespace gsc
