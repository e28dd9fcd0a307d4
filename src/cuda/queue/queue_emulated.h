#pragma once
// For tests: the emulated GPU fails, as one does whose memory others take, or which an error has ended.

namespace gsc::cuda {

struct EmulatedFailure {
  long kernels = -1;      ///< that still run before it fails; -1: it does not
  bool for_good = false;  ///< from then on nothing works, copies included
  long downloads = -1;    ///< that still work before one fails; -1: none does
};

inline EmulatedFailure emulated_failure;

}  // namespace gsc::cuda
