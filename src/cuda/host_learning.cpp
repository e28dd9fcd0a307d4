#include "cuda/host_learning.h"

#include <utility>

#include "inference/statistics_fields.h"
#include "learning/m_step_parts.h"

namespace gsc::cuda {

void HostLearning::go_on(Model before, Model model, Statistics running, const Rescues& rescues) {
  before_ = std::move(before);
  model_ = std::move(model);
  running_ = std::move(running);
  rescues_ = rescues;
}

void HostLearning::start(const Model& model) {
  model_ = before_ = model;
  rescues_ = {};
}

ResidentRow HostLearning::e_step(const Pass& pass) {
  sums_ = engine_.e_step(model_, pass);
  ResidentRow row;
  row.count = sums_.count;
  row.free_energy = sums_.free_energy;
  row.noise_variance = model_.noise.mean_variance();
  row.s = sums_.s;
  row.rescues = rescues();
  row.rescues.clamped_pivots = sums_.clamped_pivots;
  return row;
}

void HostLearning::m_step(const ResidentStep& step) {
  before_ = model_;
  model_ = gsc::m_step(before_, step.of_running ? running_ : sums_, options_, rescues_);
  if (step.known_variance > 0) model_.noise = Noise::scalar(step.known_variance, model_.dimensions());
  if (step.of_running && model_.intercept.size() > 0) move_intercept(running_, model_.intercept - before_.intercept);
}

void HostLearning::take_back() {
  model_ = before_;
  rescues_ = {};
}

Rescues HostLearning::rescues() { return std::exchange(rescues_, Rescues{}); }

Statistics HostLearning::running() {
  Statistics running = running_;
  mirror(running);  // files hold the upper triangles
  return running;
}

void HostLearning::blend(double keep, double weight) {
  if (running_.count == 0) running_ = sums_;
  gsc::blend(running_, keep, sums_, weight);
}

}  // namespace gsc::cuda
