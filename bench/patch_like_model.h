#pragma once

#include <gsc/model.h>

#include <algorithm>

#include "model/random_draws.h"

namespace gsc::bench {

/// A model like those of picture patches: sparse, overcomplete, noise as strong as a component.
inline Model patch_like_model(Index dimensions, Index latents, Random& random) {
  Model model;
  model.W = standard_normal(dimensions, latents, random);
  model.pi = Vector::Constant(latents, std::min(0.2, 4.0 / static_cast<double>(latents)));
  model.mu = Vector::Zero(latents);
  model.slab = Slab::diagonal(Vector::Ones(latents));
  model.noise = Noise::scalar(0.5, dimensions);
  return model;
}

}  // namespace gsc::bench
