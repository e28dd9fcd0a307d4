#include "truncated/host_learning.h"

#include <utility>

#include "inference/statistics_fields.h"
#include "inference/statistics_shapes.h"
#include "learning/m_step_parts.h"
#include "truncated/candidate_keys.h"
#include "truncated/gap_m_step.h"

namespace gsc {
namespace {

MStepOptions m_step_of(const FitOptions& options) {
  return {.noise_update = options.noise_update,
          .slab_update = options.slab_update,
          .learn_intercept = options.intercept == Intercept::learned,
          .threads = thread_count(options.inference.threads)};
}

}  // namespace

HostLearning::HostLearning(Share& share, Engine& engine, const FitOptions& options)
    : share_(share), engine_(engine), options_(options), step_(m_step_of(options)) {}

void HostLearning::start(const Model& model) {
  model_ = before_ = model;
  rescues_ = {};
}

ResidentRow HostLearning::e_step(const Pass& pass) {
  if (pass.rows) {
    sums_ = sums_of(pass);
  } else {
    Statistics sums = sums_of_all(pass.stop);
    judged_ = std::exchange(sums_, std::move(sums));
  }
  ResidentRow row;
  row.count = sums_.count;
  row.free_energy = sums_.free_energy;
  row.noise_variance = model_.noise.mean_variance();
  row.s = sums_.s;
  row.long_steps = sums_.missing_WZ.size() > 0 && has_gaps(sums_);
  row.rescues = rescues();
  row.rescues.clamped_pivots = sums_.clamped_pivots;
  return row;
}

Statistics HostLearning::sums_of_all(const StopRequest& stop) {
  if (grouped_by_)
    share_.regroup([&] { return candidate_keys(*grouped_by_, share_.rows(), options_.inference, stop); });
  Statistics sums = share_.total([&] {
    if (share_.rows().rows() == 0 && stop && stop()) throw Interrupted("interrupted");
    return engine_.e_step(model_, {.stop = stop});
  });
  if (options_.sharing.partition != Partition::uniform) grouped_by_ = model_;
  return sums;
}

Statistics HostLearning::sums_of(const Pass& batch) {
  return share_.total([&] {
    if (batch.stop && batch.stop()) throw Interrupted("interrupted");
    Statistics sums = engine_.e_step(model_, batch);
    add_missing_products(sums, options_.inference);  // those of another batch are added to them
    return sums;
  });
}

void HostLearning::m_step(const ResidentStep& step) {
  judged_.reset();
  step_.slab_acceleration = step.slab_acceleration;
  step_.gap_acceleration = step.gap_acceleration;
  Model next = gsc::m_step(model_, step.of_running ? running_ : sums_, step_, rescues_);
  if (step.known_variance > 0) next.noise = Noise::scalar(step.known_variance, next.dimensions());
  if (step.of_running && next.intercept.size() > 0) move_intercept(running_, next.intercept - model_.intercept);
  before_ = std::exchange(model_, std::move(next));
}

void HostLearning::take_back() {
  model_ = before_;
  if (judged_) sums_ = std::move(*judged_);
  judged_.reset();
  rescues_ = {};
}

Rescues HostLearning::rescues() { return std::exchange(rescues_, Rescues{}); }

Statistics HostLearning::running() {
  Statistics running = running_;
  mirror(running);  // files hold the upper triangles
  return running;
}

/// Running sums hold the sums of the completed table in place of what is missing (gap_m_step.h).
void HostLearning::complete_sums(double keep, double weight) {
  const Matrix share = weight * sums_.ZZ;
  const Matrix ZZ = running_.count > 0 ? Matrix(keep * running_.ZZ + share) : share;
  sums_ = completed(model_, sums_, longest_step(share, ZZ));
}

void HostLearning::blend(double keep, double weight) {
  if (sums_.missing_WZ.size() > 0) complete_sums(keep, weight);
  if (running_.count == 0) running_ = sums_;
  gsc::blend(running_, keep, sums_, weight);
}

std::unique_ptr<ResidentEm> learning_of(Share& share, Engine& engine, const Model& model, const FitOptions& options) {
  std::unique_ptr<ResidentEm> there;
  if (share.team().alone() && options.sharing.partition == Partition::uniform)
    there = engine.resident(model, {.noise_update = options.noise_update,
                                    .slab_update = options.slab_update,
                                    .learn_intercept = options.intercept == Intercept::learned});
  if (!there) there = std::make_unique<HostLearning>(share, engine, options);
  there->start(model);
  return there;
}

}  // namespace gsc
