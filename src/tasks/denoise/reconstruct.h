#pragma once
// From a model to a picture: every patch becomes its posterior mean, overlapping ones are averaged; then again, as
// often as the plan says, with a prior of its own for every patch, from the patches that look like it in the picture so
// far.

#include <functional>

#include "tasks/denoise/plan.h"

namespace gsc {

struct Reconstruction {
  Picture picture;
  Picture std;  ///< posterior standard deviation of each pixel; no channels where patches have codes alone
  std::int64_t clamped_pivots =
      0;  ///< patches of any round with a numerically singular state, where those were looked at
};

/// Asks stop_at(share done) now and then; throws Interrupted if that returns true.
Reconstruction reconstruct(const Picture& noisy, const Model& model, const ModelPlan& plan,
                           const std::function<bool(double)>& stop_at = {});

/// Bytes that posteriors of patches may take at a time; beyond, a picture is done in bands of rows that overlap.
inline constexpr double kMostPosteriorBytes = 6e8;
/// The same with another limit, for tests: where bands begin and end changes no bit.
Reconstruction reconstruct_in_bands(const Picture& noisy, const Model& model, const ModelPlan& plan,
                                    const std::function<bool(double)>& stop_at, double most_bytes);

}  // namespace gsc
