#pragma once
// E- and M-steps whose sums come here: of any engine, added up over the processes of a team. Engines that learn where
// the data lies have their own (Engine::resident).

#include <gsc/backend/resident_em.h>

#include <optional>

#include "distributed/share.h"

namespace gsc {

class HostLearning final : public ResidentEm {
 public:
  /// Share, engine and options must outlive it.
  HostLearning(Share& share, Engine& engine, const FitOptions& options);

  void start(const Model& model) override;
  Model model() override { return model_; }
  ResidentRow e_step(const Pass& pass) override;
  void m_step(const ResidentStep& step) override;
  void take_back() override;
  Rescues rescues() override;
  void blend(double keep, double weight) override;
  Statistics running() override;
  void set_running(const Statistics& running) override { running_ = running; }
  bool on_host() const override { return true; }

 private:
  Statistics sums_of_all(const StopRequest& stop);
  Statistics sums_of(const Pass& batch);
  void complete_sums(double keep, double weight);

  Share& share_;
  Engine& engine_;
  const FitOptions& options_;
  MStepOptions step_;
  Model model_, before_;              // before_: the last M-step
  Statistics sums_, running_;         // of count 0: none
  std::optional<Statistics> judged_;  // the sums that the last M-step was from, once those under its model are there
  std::optional<Model> grouped_by_;   // with a partition: its candidates say which data points are alike
  Rescues rescues_;
};

/// Where models like this are learned: where the data lies, if the engine has that for these options and this process is
/// alone; else here.
std::unique_ptr<ResidentEm> learning_of(Share& share, Engine& engine, const Model& model, const FitOptions& options);

}  // namespace gsc
