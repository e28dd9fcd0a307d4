#pragma once
// Learning on a GPU as long as that works, then on the processor, from where it was: the model comes back from the GPU.
// One that no longer answers leaves what was last seen of it: that is at most a second old, and in a pass in batches
// its beginning.

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "cuda/host_learning.h"
#include "cuda/queue/device_error.h"

namespace gsc::cuda {

class AutoLearning final : public ResidentEm {
 public:
  /// `to_cpu` ends the GPU's engine, with `there`, and gives the one to go on with.
  using ToCpu = std::function<Engine&(const DeviceError& why)>;
  AutoLearning(ResidentEm& there, const MStepOptions& options, ToCpu to_cpu)
      : there_(&there), options_(options), to_cpu_(std::move(to_cpu)) {}

  void start(const Model& model) override;
  Model model() override;
  ResidentRow e_step(const Pass& pass) override;
  void m_step(const ResidentStep& step) override;
  void take_back() override;
  Rescues rescues() override;
  void blend(double keep, double weight) override;
  Statistics running() override;
  void set_running(const Statistics& running) override;

  /// The GPU has failed in another call.
  void go_on_here(const DeviceError& why);

 private:
  using Clock = std::chrono::steady_clock;
  struct Blend {
    double keep, weight;
  };

  template <class Call, class Repeat>
  auto with(const Call& call, const Repeat& repeat);
  void bring_back(const DeviceError& why);
  void keep(const Model& model);
  void repeat_e_step();
  void repeat_blend();

  ResidentEm* there_;
  const MStepOptions options_;
  ToCpu to_cpu_;
  std::optional<HostLearning> here_;

  Model kept_;  // as it was when it was last seen
  Clock::time_point kept_at_;
  Statistics kept_running_;
  bool stepped_ = false;      // since the last E-step
  bool has_running_ = false;  // there are running sums
  bool answered_ = false;
  std::optional<std::vector<Index>> rows_;  // of the last E-step
  StopRequest stop_;
  std::optional<Blend> blended_;  // since then
};

}  // namespace gsc::cuda
