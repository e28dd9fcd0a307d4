#pragma once
// Experiments with known sources: they are mixed here, so that what separation finds can be held against them.

#include <gsc/types.h>

namespace gsc {

struct KnownMixture {
  Matrix sources;  ///< sources x samples
  Matrix mixing;   ///< channels x sources, square
  Matrix mixture;  ///< channels x samples: mixing sources + noise
};

/// `perturbation`: how far the mixing matrix is from orthogonal, as the standard deviation of what is added to every
/// entry.
KnownMixture mix(Matrix sources, double perturbation, double noise_std, std::uint64_t seed);

}  // namespace gsc
