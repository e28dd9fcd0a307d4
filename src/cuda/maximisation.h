#pragma once
// The M-step on the device, in double: the parameters of truncated/m_step.cpp, for diagonal slabs. Nothing comes to the
// host but whether the Cholesky factorisation was possible; of full noise also the D x D matrix from which the host
// makes the noise, as eigenvalues are seldom needed and small.

#include <functional>
#include <vector>

#include "cuda/cholesky.h"
#include "cuda/device_sums.h"

namespace gsc::cuda {

struct StepOptions {
  bool learn_intercept = false;
  double known_variance = 0;  ///< of scalar noise, in place of what is found; 0: none
};

/// Full noise, made on the host from N Sigma and N YY's trace: variance and precision as D x D, log|Sigma|.
struct FullNoise {
  std::vector<double> variance, precision;
  double log_determinant = 0;
};
using MakeFullNoise = std::function<FullNoise(const std::vector<double>& products, double power)>;

class Maximisation {
 public:
  explicit Maximisation(Queue& queue);

  /// The best parameters given the sums, which were gathered under `from`.
  void run(const DeviceSums& sums, const DeviceModel& from, DeviceModel& to, const StepOptions& options,
           const MakeFullNoise& make_full_noise);
  /// What it had to do since the last forget_rescues(), as RowNumbers has it.
  const double* rescues() const { return rescues_.data(); }
  std::vector<double> rescues_on_host() const { return rescues_.download(); }
  void forget_rescues() { rescues_.zero(); }

 private:
  Queue& queue_;
  Cholesky cholesky_;
  Array<double> rescues_, diagonal_, A_, B_, ZZ_, WZZ_, residual_;
};

}  // namespace gsc::cuda
