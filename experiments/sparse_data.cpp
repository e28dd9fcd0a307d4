#include "sparse_data.h"

#include "model/random_draws.h"

namespace gsc::experiments {

Matrix sparse_data(const SparseModel& of, Index count, Random& random) {
  Model model;
  model.W = standard_normal(of.dimensions, of.latents, random);
  model.pi = Vector::Constant(of.latents, of.active / static_cast<double>(of.latents));
  model.mu = Vector::Zero(of.latents);
  model.slab = Slab::diagonal(Vector::Ones(of.latents));
  model.noise = Noise::scalar(of.noise_variance, of.dimensions);
  return sample(model, count, random).data;
}

}  // namespace gsc::experiments
