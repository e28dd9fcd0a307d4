#pragma once
// A picture of half the size. Its pixels are means of four, so it has half the noise, and a patch of it covers four
// times as much: where noise is strong, what varies slowly is known better from there.

#include <gsc/picture.h>

namespace gsc {

/// Means of 2 x 2 pixels; an odd last row or column counts twice. No alpha, no metadata.
Picture halved(const Picture& picture);

/// picture += share * enlarged(smoothed(coarse - halved(picture))), linear between the pixels: low frequencies move
/// towards those of `coarse`, a picture of half the size. What is not smooth over a few pixels stays.
void add_coarse(const Picture& coarse, double share, Picture& picture);

}  // namespace gsc
