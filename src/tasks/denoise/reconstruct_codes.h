#pragma once
// From a dictionary to a picture. Every patch i of the noisy picture y becomes D z_i plus its mean, with its code z_i
// (of a dictionary that was learned online by orthogonal matching pursuit, whatever it was learned by);
// a pixel becomes, over the patches it is in,
//
//   (w y + sum_i x_i) / (w + count)        w = plan.noisy_weight

#include "tasks/denoise/reconstruct.h"

namespace gsc {

/// As reconstruct(), for methods that give codes alone.
Reconstruction reconstruct_from_codes(const Picture& noisy, const Model& model, const ModelPlan& plan,
                                      const std::function<bool(double)>& go_on);

}  // namespace gsc
