#pragma once
// Learning on the device: data, parameters and sums lie there, and after each E-step the numbers of a row come back.

#include <gsc/backend/resident_em.h>

#include "cuda/device_pass.h"
#include "cuda/maximisation.h"

namespace gsc::cuda {

class DeviceLearning final : public ResidentEm {
 public:
  DeviceLearning(Queue& queue, DevicePass& pass, const MStepOptions& options);
  /// Whether it has M-steps of this kind, for diagonal slabs.
  static bool has(const MStepOptions& options) { return options.noise_update == Update::exact; }

  void start(const Model& model) override;
  Model model() override;
  ResidentRow e_step(const Pass& pass) override;
  void m_step(const ResidentStep& step) override;
  void take_back() override;
  Rescues rescues() override;
  void blend(double keep, double weight) override;
  Statistics running() override;
  void set_running(const Statistics& running) override;

 private:
  DeviceModel& current() { return models_[current_]; }

  Queue& queue_;
  DevicePass& pass_;
  const MStepOptions options_;
  DeviceModel models_[2];  // the parameters, and those before the last M-step
  int current_ = 0;
  DeviceSums sums_, running_;
  double running_free_energy_ = 0, free_energy_ = 0;
  Maximisation maximisation_;
  Rescues raised_;  // eigenvalues of full noise, which the host makes
};

}  // namespace gsc::cuda
