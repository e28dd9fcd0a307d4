#pragma once
// The truncated and the exact method on a device: the data lies there (or is brought in blocks, if it is larger than
// its memory), a model goes there, sums come back.
//
// Where single precision cannot tell the states of a data point apart, that data point is done in double, as on the
// CPU. What it does not have is refused by name; most probable states and priors of their own are computed by the
// CpuEngine that it holds.

#include <gsc/engine.h>

#include <optional>
#include <string>

#include "cuda/expectation.h"
#include "inference/cpu_engine.h"

namespace gsc::cuda {

/// For tests: to see data larger than the device, in blocks of a few rows.
struct Limits {
  std::size_t resident_bytes = 0;  ///< most that the data may take; 0: what is free
  long block_rows = 0;             ///< 0: as many as fit the cache
};

class DeviceEngine final : public Engine {
 public:
  DeviceEngine(const Data& data, const InferenceOptions& options, int device, Limits limits = {});

  /// Throws UsageError for options that it does not have.
  static void check_options(const InferenceOptions& options);
  /// Whether it has what this model and these options need.
  static bool has(const Model& model, const InferenceOptions& options);

  Statistics e_step(const Model& model, const Pass& pass) override;
  Posterior infer(const Model& model, const PosteriorRequest& request, Index first, Index count,
                  const StopRequest& stop) override;
  bool has_sparse() const override { return options_.method == Method::truncated; }
  SparsePosterior infer_sparse(const Model& model, Index first, Index count, const OwnPriors* own,
                               const StopRequest& stop) override;

  /// For benchmarks: the queue, and the seconds of one pass over all data whose sums stay on the device.
  Queue& queue() { return queue_; }
  double pass_seconds(const Model& model);

 private:
  template <class Real>
  struct Part {
    std::optional<Expectation<Real>> expectation;
    bool resident = false, loaded = false, has_model = false;
  };
  template <class Real>
  Part<Real>& part();
  template <class Real>
  Expectation<Real>& ready(const Model& model, Index latents);
  template <class Real>
  void bring(Expectation<Real>& to, const Data& rows, Index first, Index count, Index at, const StopRequest& stop);
  template <class Real>
  Expectation<Real>& pass(const Model& model, const Pass& pass);
  template <class Real>
  bool give(const Model& model, Index first, Index count, BlockOutput& output, const StopRequest& stop);
  void check(const Model& model) const;
  const PreparedModel& prepared(const Model& model);
  Vector delta(const Model& model) const;

  const Data& data_;
  const InferenceOptions options_;
  const Limits limits_;
  CpuEngine host_;
  Queue queue_;
  Vector origin_;  // what is taken off the data, near its mean: float then has more digits for the rest
  Kept<PreparedModel> prepared_;
  Part<float> single_;
  Part<double> double_;
};

}  // namespace gsc::cuda
