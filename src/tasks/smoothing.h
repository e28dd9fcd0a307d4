#pragma once
// Gaussian smoothing of pictures.

#include <gsc/picture.h>

namespace gsc {

/// Every channel, mirrored at the edges.
Picture smoothed(const Picture& picture, double pixels);

}  // namespace gsc
