#pragma once
// From a model to a picture: every patch becomes its posterior mean, overlapping ones are averaged.

#include <functional>

#include "tasks/denoise_plan.h"

namespace gsc {

struct Reconstruction {
  Picture picture, std;  ///< std: posterior standard deviation of each pixel
};

/// Calls go_on(share done) now and then; throws Interrupted if that returns false.
Reconstruction reconstruct(const Picture& noisy, const Model& model, const ModelPlan& plan,
                           const std::function<bool(double)>& go_on = {});

}  // namespace gsc
