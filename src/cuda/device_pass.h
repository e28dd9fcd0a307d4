#pragma once
// The data on the device, and passes over it: it lies there, less an origin, from the first pass on, or is brought in
// blocks if it is larger than the device's memory. Where single precision cannot tell the states of a data point apart,
// that data point is done in double.

#include <gsc/backend/engine.h>

#include <optional>
#include <vector>

#include "cuda/expectation.h"
#include "inference/patch_mosaic.h"

namespace gsc::cuda {

/// For tests: to see data larger than the device, in blocks of a few rows, or a smaller device.
struct Limits {
  std::size_t resident_bytes = 0;  ///< most that the data may take; 0: what is free
  long block_rows = 0;             ///< 0: as many as fit the cache
  std::size_t block_bytes = 0;     ///< shared memory of a block; 0: what the GPU has
  std::size_t free_bytes = 0;      ///< memory that is free; 0: what is
  long patches = 0;                ///< put back at a time; 0: as many as fit the cache
};

class DevicePass {
 public:
  DevicePass(Queue& queue, const Data& data, const InferenceOptions& options, Limits limits);

  // Models are prepared, with origin().

  /// The sums over the rows of the pass, on the device. `rescues`: as DeviceSums::take().
  RowNumbers sum(const DeviceModel& model, const Pass& pass, const double* rescues, DeviceSums& sums);
  /// The posterior of each of the rows first .. first+count-1; `noise` is the model's. With output.own: each under its
  /// own prior, from `before`.
  void points(const DeviceModel& model, const Noise& noise, const Vector& intercept, Index first, Index count,
              BlockOutput& output, const StopRequest& stop, const SparsePosterior* before = nullptr);
  /// A pass over all data whose sums are left as they are.
  void run(const DeviceModel& model);

  /// The picture that the rows are patches of; null if they are of none, are less than all of it, or are not numbers,
  /// or if there is no room for it.
  DevicePicture* picture(Index latents);
  /// Whether so many bytes leave room for the work space that such a model needs.
  bool has_room(std::size_t bytes, Index latents);

  const double* origin() const { return origin_on_device_.data(); }
  Truncation truncation(Index latents) const;

 private:
  template <class Real>
  struct Part {
    std::optional<Expectation<Real>> expectation;
    bool resident = false, loaded = false;
    bool for_few = false;  // not resident, as few data points are wanted
    long version = 0;      // of the model it has
  };
  template <class Real>
  Part<Real>& part();
  std::size_t free_bytes() const;
  template <class Real>
  std::size_t work_bytes(Index latents);
  /// `points` of them are wanted.
  template <class Real>
  Expectation<Real>& ready(const DeviceModel& model, Index points, const StopRequest& stop);
  /// Rows of any data, less the origin, to the device. At most a block.
  template <class Real>
  void bring(Expectation<Real>& to, const Data& rows, Index first, Index count, Index at, const StopRequest& stop);
  template <class Real>
  Expectation<Real>& pass(const DeviceModel& model, const Pass& pass);
  /// Points begin .. end-1 of those that are asked for.
  struct Run {
    Index begin, end;
  };
  static std::vector<Run> undone_runs(const double* log_sums, Index count);
  template <class Real>
  void give(const DeviceModel& model, const Noise& noise, const Vector& intercept, Index first, Index count,
            const std::vector<Run>& runs, BlockOutput& output, const StopRequest& stop, const SparsePosterior* before);

  Queue& queue_;
  const Data& data_;
  const InferenceOptions& options_;
  const Limits limits_;
  Vector origin_;  // what is taken off the data, near its mean: float then has more digits for the rest
  Array<double> origin_on_device_;
  std::optional<DevicePicture> picture_;
  bool looked_for_picture_ = false;
  Part<float> single_;
  Part<double> double_;
};

}  // namespace gsc::cuda
