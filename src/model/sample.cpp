#include <gsc/model.h>

#include "model/random_draws.h"

namespace gsc {

Sample sample(const Model& model, Index count, Random& random) {
  model.validate();
  const Index H = model.latents(), D = model.dimensions();
  Sample result;
  result.spikes.resize(count, H);
  for (Index n = 0; n < count; ++n)
    result.spikes.row(n) = (uniform(H, 0, 1, random).array() < model.pi.array()).cast<double>().matrix().transpose();
  result.slabs = model.slab.color(standard_normal(count, H, random).transpose()).transpose();
  result.slabs.rowwise() += model.mu.transpose();
  result.data = result.spikes.cwiseProduct(result.slabs) * model.W.transpose();
  result.data += model.noise.color(standard_normal(count, D, random).transpose()).transpose();
  if (model.intercept.size() > 0) result.data.rowwise() += model.intercept.transpose();
  return result;
}

}  // namespace gsc
