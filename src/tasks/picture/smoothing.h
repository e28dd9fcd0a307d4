#pragma once
// Gaussian smoothing of pictures.

#include <gsc/picture.h>

namespace gsc {

/// Every channel, mirrored at the edges.
/// The result does not depend on threads.
Picture smoothed(const Picture& picture, double pixels, int threads = 1);

}  // namespace gsc
