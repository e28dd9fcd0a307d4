#pragma once
// How strong the noise of a picture with gaps is. measure_noise() needs whole neighbourhoods; here a quadratic surface
// is fitted to what is observed of a window,
//
//   r^2 = RSS / (n - 6)        of n values,
//
// which in the smooth windows of a picture is the noise's variance times chi^2 / (n - 6), and more elsewhere. A low
// quantile of all windows is put right by that of chi^2. Texture all over counts as noise.

#include <gsc/noise.h>

namespace gsc {

/// `damaged` has NaN where values are missing. Too few windows: 0, and uncertain.
NoiseLevel measure_observed_noise(const Picture& damaged);

}  // namespace gsc
