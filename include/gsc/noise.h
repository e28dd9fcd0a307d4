#pragma once
// The noise of pictures: how strong it is, and adding some. Target gsc::tasks.

#include <gsc/export.h>
#include <gsc/picture.h>

#include <string>

namespace gsc {

/// How strong the noise of a picture is, if it is white and Gaussian and alike everywhere.
struct NoiseLevel {
  double std = 0;    ///< in the units of the pixels; of all channels together
  double error = 0;  ///< its relative standard error: a guess, from the pixels measured and the texture among them
  bool uncertain = false;  ///< texture everywhere, too few pixels, or most of them clipped
  std::string why = {};    ///< is it uncertain
  bool told = false;       ///< by whoever denoises, not measured
};

/// Adds N(0, sigma^2); `clip` also rounds and clips to the range of the depth.
GSC_EXPORT Picture add_noise(const Picture& clean, double sigma, bool clip, std::uint64_t seed);

/// From the smooth parts of the picture and the spectra of all of it, no model needed; what grain the picture has of
/// its own counts as noise. The result does not depend on threads.
GSC_EXPORT NoiseLevel measure_noise(const Picture& picture, int threads = 0);
/// measure_noise().std
GSC_EXPORT double estimate_noise(const Picture& picture);

}  // namespace gsc
