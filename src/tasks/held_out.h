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
HeldOutSet hold_out(Picture& damaged, std::uint64_t seed);

/// How well `picture` and its variances (of each value's error, unscaled) tell them. `noise`: standard deviation of the
/// values' own noise; `missing`: share of the picture's values that are missing; `kept`: whether the others have no
/// error.
HeldOut judge(const HeldOutSet& set, const Picture& picture, const Picture& variance, double noise, double missing,
              bool kept, double peak);

}  // namespace gsc
