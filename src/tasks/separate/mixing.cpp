#include "tasks/separate/mixing.h"

#include <gsc/generate.h>

#include "model/random_draws.h"

namespace gsc {

KnownMixture mix(Matrix sources, double perturbation, double noise_std, std::uint64_t seed) {
  Random random(seed);
  KnownMixture known;
  known.sources = std::move(sources);
  known.mixing = mixing_matrix(known.sources.rows(), perturbation, random);
  known.mixture = known.mixing * known.sources;
  if (noise_std > 0) known.mixture += noise_std * standard_normal(known.mixture.rows(), known.mixture.cols(), random);
  return known;
}

}  // namespace gsc
