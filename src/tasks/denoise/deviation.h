#pragma once
// How large the error of every pixel of a denoised picture is, without the truth.
//
// Two things know of it. The models have posterior variances; Stein's identity makes them as large, over the picture,
// as the errors of the models' own result. And where patches of different sizes come to different results, some of them
// are wrong: their variance over the sizes, smoothed. Both follow the errors from pixel to pixel, the second also from
// picture to picture, but neither in proportion: errors vary less than either. A pixel's variance is
//
//   v = c (sigma^2 v_models v_sizes)^(1/3)         sigma: the noise, as the groups take it
//
// The exponents and c were chosen on the development set so that 95 % of the errors are within two deviations;
// bench/deviation_fit.cpp prints them, and how that holds for pictures that were left out of the choice.

#include <gsc/denoise.h>

namespace gsc {

/// Scales posterior deviations up to the size of the errors, of which Stein's identity tells the mean square without
/// the truth: E|x - x^|^2 = E|y - x^|^2 - N v + 2 v div x^, and for a posterior mean v div x^ is the sum of the
/// posterior variances. Models that miss texture leave it in y - x^, where it counts. But v is known with an error
/// only, which is allowed for, and deviations are not scaled down, nor more than doubled.
void scale_to_residual(const Picture& noisy, const NoiseLevel& noise, const Picture& denoised, Picture& std,
                       int threads = 1);

inline constexpr double kDeviationScale = 4;  ///< c

/// The formula: std, of the models, becomes what it says. `noise` is sigma, `disagreement` as filter_groups() tells it;
/// smoothed, and at least a millionth of the noise's variance, it is v_sizes.
void combine_deviations(double noise, const Picture& disagreement, Picture& std, int threads = 1);

}  // namespace gsc
