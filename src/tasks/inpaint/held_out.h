#pragma once
// Observed values that are set aside, so that what is predicted for them tells how good the filling is without the
// truth.
//
// What is set aside must be as hard to predict as what is missing. Where values are missing at random, any observed one
// is. Where there are holes in a picture that is whole otherwise, single values would be far too easy: then windows of
// the mask around missing pixels are laid over whole parts of the picture, and what lies below the holes is set aside.
// The deepest hole fits into a window, up to 65 x 65 pixels; between lines of text windows are small.
//
// Where there is both, deep holes and other gaps all over the picture, no part is whole. Then each kind is judged by
// its own: windows of the deep holes alone are laid over parts without any, and what else is missing is set aside
// beside them, in windows where there is room (text, scratches), or else as single values. With share f_k of the
// picture's values that are missing and of kind k, and mean square m_k of the errors of that kind,
//
//   rmse^2 = sum_k f_k m_k / sum_k f_k
//
// and the deviations of each kind have a factor of their own. A deep hole is what squares of 2 k + 1 pixels a side fit
// into, k at least 4 (scratches and letters are narrower), and so large that a picture of n pixels, of which a share q
// is missing at random, has hardly any by chance: n q^((2 k + 1)^2) < 0.01.

#include <gsc/inpaint.h>

namespace gsc {

struct HeldOutValue {
  std::uint32_t channel, row, col;
  double value;
  std::uint32_t part = 0;  ///< number of the window that was laid, or of the single value: parts err independently
};

/// What is missing in one way.
struct HeldOutKind {
  std::vector<HeldOutValue> values = {};
  bool shaped = false;  ///< set aside in the shape of holes
  double missing = 0;   ///< share of the picture's values that are missing so
  /// 1 for pixels below holes that were laid over the picture, or empty: also what was missing there anyway is filled
  /// as part of a hole.
  Table<std::uint8_t> below = {};
};

struct HeldOutSet {
  std::vector<HeldOutKind> kinds;  ///< none, one, or two: first what is not in deep holes
  Table<std::uint8_t> deep;        ///< 1 for pixels of deep holes, where these are a kind of their own; else empty

  std::size_t values() const;
};

/// Takes values out of `damaged` (they become NaN): a twentieth to a tenth of those observed, at most a few thousand.
/// None where there would be so few (below 40) that they tell nothing.
HeldOutSet hold_out(Picture& damaged, std::uint64_t seed);

/// What judge() has to know beside the values, in the units of the plan (pixel_units.h).
struct Judging {
  double noise = 0, noise_error = 0;  ///< standard deviation of the values' own noise, and its relative error
  bool kept = true;                   ///< what is observed has no error
  double peak = 255;
};

/// How well `picture` and its variances (of each value's error, unscaled) tell them.
HeldOut judge(const HeldOutSet& set, const Picture& picture, const Picture& variance, const Judging& by);

}  // namespace gsc
