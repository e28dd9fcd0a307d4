#pragma once
// A model on the device, in double, and what follows from it for the E-step.

#include <vector>

#include "cuda/queue/queue.h"

namespace gsc::cuda {

/// Row-major. The noise as variances and precisions: D numbers each, or of full noise D x D.
struct HostModel {
  int dimensions = 0, latents = 0;
  bool full_noise = false, scalar_noise = false;
  std::vector<double> W, intercept, pi, mu, psi;  ///< the intercept empty if there is none
  std::vector<double> variance, precision;
  double log_determinant = 0;
};

/// Memory for a model's parameters. Whoever writes new ones into it says changed().
class DeviceModel {
 public:
  explicit DeviceModel(Queue& queue) : queue_(queue) {}

  void set(const HostModel& model);
  HostModel get() const;
  /// Room for parameters of the same shapes as another's.
  void shape_as(const DeviceModel& other);
  /// Only full noise is computed on the host.
  void set_full_noise(const std::vector<double>& variance, const std::vector<double>& precision,
                      double log_determinant);

  /// Derives what the E-step needs. `origin` (on the device): what was taken off the data.
  void prepare(const double* origin);
  /// Tells one state of the parameters, of this or another DeviceModel, from all others.
  long version() const { return version_; }
  void changed();

  int dimensions() const { return dimensions_; }
  int latents() const { return latents_; }
  bool full_noise() const { return full_noise_; }
  bool scalar_noise() const { return scalar_noise_; }
  double* W() const { return W_.data(); }
  double* intercept() const { return intercept_.data(); }  ///< null if there is none
  double* pi() const { return pi_.data(); }
  double* mu() const { return mu_.data(); }
  double* psi() const { return psi_.data(); }
  double* variance() const { return variance_.data(); }
  double* precision() const { return precision_.data(); }
  double* log_determinant() const { return log_determinant_.data(); }
  // After prepare():
  const double* PW() const { return PW_.data(); }
  const double* G() const { return G_.data(); }
  const double* scale() const { return vectors_.data(); }
  const double* vectors() const { return vectors_.data(); }  ///< as LatentKernel writes them
  const double* constant() const { return constant_.data(); }
  std::vector<double> scale_on_host() const;
  double constant_on_host() const { return constant_.download()[0]; }

 private:
  Queue& queue_;
  int dimensions_ = 0, latents_ = 0;
  bool full_noise_ = false, scalar_noise_ = false;
  long version_ = 0, prepared_ = 0;
  Array<double> W_, intercept_, pi_, mu_, psi_, variance_, precision_, log_determinant_;
  Array<double> PW_, G_, vectors_, constant_;
};

}  // namespace gsc::cuda
