#pragma once
// Data drawn from a sparse model, for experiments about time.

#include <gsc/model.h>

namespace gsc::experiments {

struct SparseModel {
  Index dimensions, latents;
  double active;          ///< latents of a data point, on average
  double noise_variance;  ///< a latent's own is 1 in every dimension
};

Matrix sparse_data(const SparseModel& of, Index count, Random& random);

}  // namespace gsc::experiments
