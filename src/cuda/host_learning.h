#pragma once
// What learning on a device is (gsc/backend/resident_em.h), by an engine that has no such thing: where a GPU fails, `auto` goes
// on with the processor.

#include <gsc/backend/resident_em.h>

namespace gsc::cuda {

class HostLearning final : public ResidentEm {
 public:
  HostLearning(Engine& engine, const MStepOptions& options) : engine_(engine), options_(options) {}

  /// Goes on after an M-step, which `before` was the model of and whose rescues nobody has counted yet.
  void go_on(Model before, Model model, Statistics running, const Rescues& rescues);

  void start(const Model& model) override;
  Model model() override { return model_; }
  ResidentRow e_step(const Pass& pass) override;
  void m_step(const ResidentStep& step) override;
  void take_back() override;
  Rescues rescues() override;
  void blend(double keep, double weight) override;
  Statistics running() override;
  void set_running(const Statistics& running) override { running_ = running; }

 private:
  Engine& engine_;
  const MStepOptions options_;
  Model model_, before_;
  Statistics sums_, running_;  // of count 0: none
  Rescues rescues_;
};

}  // namespace gsc::cuda
