#include "cuda/device_learning.h"

#include <algorithm>
#include <cmath>

#include "cuda/host_model.h"
#include "learning/positive_definite.h"
#include "math/numeric_scope.h"

namespace gsc::cuda {
namespace {

Rescues rescues_of(double unused, double pi, double slab, double noise) {
  Rescues rescues;
  rescues.unused_latents = std::llround(unused);
  rescues.floored_pi = std::llround(pi);
  rescues.floored_slab = std::llround(slab);
  rescues.floored_noise = std::llround(noise);
  return rescues;
}

}  // namespace

DeviceLearning::DeviceLearning(Queue& queue, DevicePass& pass, const MStepOptions& options)
    : queue_(queue),
      pass_(pass),
      options_(options),
      models_{DeviceModel(queue), DeviceModel(queue)},
      sums_(queue),
      running_(queue),
      maximisation_(queue) {}

void DeviceLearning::start(const Model& model) {
  current().set(to_host_model(model));
  maximisation_.forget_rescues();
  raised_ = {};
}

Model DeviceLearning::model() { return from_host_model(current().get()); }

ResidentRow DeviceLearning::e_step(const Pass& pass) {
  const NumericScope scope;
  current().prepare(pass_.origin());
  const RowNumbers numbers = pass_.sum(current(), pass, maximisation_.rescues(), sums_);
  ResidentRow row;
  row.count = sums_.count();
  row.free_energy = free_energy_ = numbers.free_energy;
  row.noise_variance = numbers.noise_variance;
  row.s = Eigen::Map<const Vector>(numbers.s.data(), static_cast<Index>(numbers.s.size()));
  row.rescues = rescues_of(numbers.unused_latents, numbers.floored_pi, numbers.floored_slab, numbers.floored_noise);
  row.rescues += raised_;
  row.rescues.clamped_pivots = std::llround(numbers.clamped);
  maximisation_.forget_rescues();
  raised_ = {};
  return row;
}

void DeviceLearning::m_step(const ResidentStep& step) {
  const NumericScope scope;
  const DeviceSums& sums = step.of_running ? running_ : sums_;
  const Index D = current().dimensions();
  const auto full_noise = [&](const std::vector<double>& products, double power) {
    const Matrix covariance = Eigen::Map<const Matrix>(products.data(), D, D) / sums.count();
    const double floor = std::max(1e-12 * power / (sums.count() * static_cast<double>(D)), 1e-300);
    return to_full_noise(Noise::full(hold_above(covariance, floor, raised_.floored_noise)));
  };
  DeviceModel& next = models_[1 - current_];
  maximisation_.run(sums, current(), next, {options_.learn_intercept, step.known_variance}, full_noise);
  if (step.of_running && next.intercept() != nullptr) running_.move_intercept(current(), next);
  current_ = 1 - current_;
}

void DeviceLearning::take_back() {
  current_ = 1 - current_;
  maximisation_.forget_rescues();
  raised_ = {};
}

Rescues DeviceLearning::rescues() {
  const std::vector<double> counts = maximisation_.rescues_on_host();
  Rescues rescues = rescues_of(counts[0], counts[1], counts[2], counts[3]);
  rescues += raised_;
  maximisation_.forget_rescues();
  raised_ = {};
  return rescues;
}

void DeviceLearning::blend(double keep, double weight) {
  if (running_.count() == 0) {
    running_ = sums_;
    running_free_energy_ = free_energy_;
  }
  running_.blend(keep, sums_, weight);
  running_free_energy_ = keep * running_free_energy_ + weight * free_energy_;
}

Statistics DeviceLearning::running() {
  Statistics statistics = to_statistics(running_, model(), false);
  statistics.count = running_.count();
  statistics.free_energy = running_free_energy_;
  return statistics;
}

void DeviceLearning::set_running(const Statistics& running) {
  running_.set_count(running.count);
  running_free_energy_ = running.free_energy;
  if (running.count > 0) running_.set(current(), false, from_statistics(running));
}

}  // namespace gsc::cuda
