#pragma once
// How a picture is denoised by the Beta process: as its authors do (Zhou et al. 2012), where the options leave it open.
// 8 x 8 patches at every pixel, 256 latents, 512 for pictures above 300 x 300 pixels, overlapping patches averaged with
// equal weights, nothing told. In place of their start, which lets patches join over 64 shifted grids, learning begins
// with patches of the smoothed picture; their patches keep the mean, here it is taken out (House, sigma 25: 32.1 dB
// kept, 32.2 taken out).

#include "tasks/denoise/plan.h"

namespace gsc {

inline bool by_beta_process(Method method) {
  return method == Method::beta_process || method == Method::beta_variational;
}

inline constexpr Index kBetaProcessPatch = 8;

/// The rest of a plan whose patches are chosen; learning will see `available` of them. Throws UsageError for options
/// that the method does not have.
void plan_beta_process(const Picture& noisy, const DenoiseOptions& options, Index available, ModelPlan& plan);

}  // namespace gsc
