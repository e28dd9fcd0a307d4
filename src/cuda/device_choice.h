#pragma once
// Which GPU a name means, among those that there are. Asks no GPU anything, so that it is tested where there is none.

#include <gsc/cuda.h>
#include <gsc/inference.h>

#include <optional>
#include <vector>

namespace gsc::cuda {

inline constexpr int kOldestMajor = 8;  // what the kernels are compiled for: reductions over a warp in one instruction

/// The index of the GPU that cuda or cuda:K means for process `rank` of this machine (`cuda`: each takes
/// another that can be used). Throws if it is not there or too old.
int chosen_gpu(const std::vector<CudaDevice>& devices, const Device& wanted, int rank);

/// The one that `auto` means, if one can be used.
std::optional<int> any_gpu(const std::vector<CudaDevice>& devices, int rank);

}  // namespace gsc::cuda
