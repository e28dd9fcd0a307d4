#pragma once
// The sums of an E-step on the device as gsc::Statistics has them, in the user's units and about the intercept:
//
//   sum y z' = sum Y z' + delta m'      sum y y' = sum Y Y' + delta Y' + Y delta' + N delta delta'
//
// with y = Y + delta, Y being the data less an origin. All matrices row-major; symmetric ones exactly so.

#include <vector>

#include "cuda/device_model.h"
#include "cuda/kernels/totals.h"

namespace gsc::cuda {

/// What comes to the host after each E-step; the sums themselves stay.
struct RowNumbers {
  double undone = 0, clamped = 0, free_energy = 0;
  double noise_variance = 0;                                                       ///< mean over the dimensions
  double unused_latents = 0, floored_pi = 0, floored_slab = 0, floored_noise = 0;  ///< of the M-steps before
  std::vector<double> s;
};
class DeviceSums {
 public:
  explicit DeviceSums(Queue& queue) : queue_(queue) {}

  /// From a pass under this model. `rescues`: kRescueCounts numbers on the device, which go along.
  void take(const Totals& totals, const DeviceModel& model, const double* origin, double count, const double* rescues);
  RowNumbers numbers() const;

  DeviceSums& operator=(const DeviceSums& other);
  DeviceSums(const DeviceSums&) = delete;
  ~DeviceSums() = default;
  /// this = keep this + weight other.
  void blend(double keep, const DeviceSums& other, double weight);
  /// What the sums are once the intercept has moved from one model's to another's.
  void move_intercept(const DeviceModel& from, const DeviceModel& to);

  /// All of them behind one another: s, m, y, YY, ZZ, YZ, MM; and back. y has D numbers with or without an intercept.
  std::vector<double> get() const;
  void set(const DeviceModel& shapes, bool mean_products, const std::vector<double>& values);

  double count() const { return count_; }
  void set_count(double count) { count_ = count; }
  const double* s() const { return at(0); }
  const double* m() const { return at(latents_); }
  const double* y() const { return at(2 * latents_); }
  const double* YY() const { return y() + dimensions_; }
  const double* ZZ() const { return YY() + squares_; }
  const double* YZ() const { return ZZ() + latents_ * latents_; }
  const double* MM() const { return YZ() + dimensions_ * latents_; }

 private:
  static constexpr int kNumbers = 8;
  void shape(const DeviceModel& model, bool mean_products);
  double* at(long offset) const { return values_.data() + kNumbers + offset; }
  long size() const;

  Queue& queue_;
  double count_ = 0;
  long dimensions_ = 0, latents_ = 0, squares_ = 0;  // the last: of YY
  bool mean_products_ = false;
  Array<double> values_;    // kNumbers, then the sums
  Array<double> weighted_;  // D: for the free energy
};

}  // namespace gsc::cuda
