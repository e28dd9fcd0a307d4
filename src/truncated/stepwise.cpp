#include "truncated/stepwise.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "inference/statistics_fields.h"
#include "inference/statistics_shapes.h"
#include "learning/known_noise.h"
#include "learning/m_step_parts.h"
#include "learning/row_order.h"
#include "truncated/gap_m_step.h"

namespace gsc {

double Decay::weight(double step) const { return std::max(floor, std::pow(step + 1, -exponent)); }

Stepwise::Stepwise(Share& share, Engine& engine, ResidentEm* resident, const FitOptions& options, Decay decay)
    : share_(share),
      engine_(engine),
      resident_(resident),
      options_(options),
      decay_(decay),
      total_(static_cast<double>(share.rows().rows())) {
  share_.team().sum(&total_, 1);
  batches_ = std::max<Index>(1, std::lround(total_ / static_cast<double>(options.batch)));
}

void Stepwise::shuffle(int row) {
  const auto rank = static_cast<std::uint64_t>(share_.team().rank());
  std::seed_seq seed{options_.seed & 0xffffffffU, options_.seed >> 32U, static_cast<std::uint64_t>(row), rank};
  Random random(seed);
  order_ = shuffled_rows(share_.rows(), options_.batch, random);
}

std::span<const Index> Stepwise::batch_rows(Index batch) const {
  const auto rows = static_cast<Index>(order_.size());
  const Index first = rows * batch / batches_, end = rows * (batch + 1) / batches_;
  return {order_.data() + first, static_cast<std::size_t>(end - first)};
}

Statistics Stepwise::batch_sums(const Model& model, Index batch, const StopRequest& stop) {
  return share_.total([&] {
    if (stop && stop()) throw Interrupted("interrupted");
    Statistics sums = engine_.e_step(model, {.rows = batch_rows(batch), .stop = stop});
    add_missing_products(sums, options_.inference);  // those of another batch are added to them
    return sums;
  });
}

/// The noise that is held after this batch of the pass, as held_variance().
double Stepwise::held_after(int row, Index batch) const {
  return held_variance(options_, row - 1 + static_cast<double>(batch + 1) / static_cast<double>(batches_));
}

Evaluation Stepwise::glance(const Model& model, const StopRequest& stop) {
  shuffle(0);
  const Statistics sums = batch_sums(model, 0, stop);
  Statistics all = sums;
  blend(all, 0, sums, total_ / sums.count);
  Rescues rescues;
  rescues.clamped_pivots = sums.clamped_pivots;
  Evaluation judged = evaluation(all, rescues);
  judged.estimated = true;
  return judged;
}

Evaluation Stepwise::pass(Model& model, int row, const StopRequest& stop) {
  shuffle(row);
  Evaluation judged = resident_ != nullptr ? pass_there(model, row, stop) : pass_here(model, row, stop);
  judged.estimated = true;
  return judged;
}

/// The same as pass_here(), where the data lies.
Evaluation Stepwise::pass_there(Model& model, int row, const StopRequest& stop) {
  resident_->start(model);
  resident_->set_running(running_);
  Statistics seen;
  seen.s = Vector::Zero(model.latents());
  double steps = steps_;
  Rescues rescues;
  for (Index batch = 0; batch < batches_; ++batch) {
    if (stop && stop()) throw Interrupted("interrupted");
    if (batch_rows(batch).empty()) continue;
    const ResidentRow sums = resident_->e_step({.rows = batch_rows(batch), .stop = stop});
    seen.count += sums.count;
    seen.free_energy += sums.free_energy;
    seen.s += sums.s;
    rescues += sums.rescues;
    const double weight = decay_.weight(steps);
    resident_->blend(1 - weight, weight * total_ / sums.count);
    resident_->m_step({.of_running = true, .known_variance = held_after(row, batch)});
    ++steps;
  }
  rescues += resident_->rescues();
  model = resident_->model();
  running_ = resident_->running();
  steps_ = steps;
  return evaluation(seen, rescues);
}

Evaluation Stepwise::pass_here(Model& model, int row, const StopRequest& stop) {
  // The fast step of a full slab is judged by the free energy, which a batch cannot do.
  const MStepOptions step{.noise_update = options_.noise_update,
                          .slab_update = options_.slab_update,
                          .learn_intercept = options_.intercept == Intercept::learned,
                          .slab_acceleration = 0,
                          .threads = thread_count(options_.inference.threads)};
  Model next = model;
  Statistics running = running_, seen(model);
  double steps = steps_;
  Rescues rescues;
  for (Index batch = 0; batch < batches_; ++batch) {
    Statistics sums = batch_sums(next, batch, stop);
    if (sums.count == 0) continue;
    seen.count += sums.count;
    seen.free_energy += sums.free_energy;
    seen.s += sums.s;
    rescues.clamped_pivots += sums.clamped_pivots;
    const double weight = decay_.weight(steps), scale = weight * total_ / sums.count;
    if (sums.missing_WZ.size() > 0) {
      const Matrix share = scale * sums.ZZ;
      const Matrix ZZ = running.count > 0 ? Matrix((1 - weight) * running.ZZ + share) : share;
      sums = completed(next, sums, longest_step(share, ZZ));
    }
    if (running.count == 0) running = sums;
    blend(running, 1 - weight, sums, scale);
    const Vector before = next.intercept;
    next = m_step(next, running, step, rescues);
    if (held_after(row, batch) > 0) next.noise = Noise::scalar(held_after(row, batch), model.dimensions());
    if (before.size() > 0) move_intercept(running, next.intercept - before);
    ++steps;
  }
  mirror(running);  // files hold the upper triangles
  model = std::move(next);
  running_ = std::move(running);
  steps_ = steps;
  return evaluation(seen, rescues);
}

void Stepwise::save(MethodState& state) const {
  if (running_.count == 0) return;
  state.numbers["batch_steps"] = steps_;
  Index count = 0, i = 0;
  for_each_number(running_, [&](const auto&) { ++count; });
  Matrix& numbers = state.arrays["running_sums"];
  numbers.resize(1, count);
  for_each_number(running_, [&](const auto& value) { numbers(0, i++) = static_cast<double>(value); });
}

void Stepwise::load(const MethodState& state, const Model& model) {
  const Matrix numbers = state.array("running_sums");
  if (numbers.size() == 0) return;
  Statistics running(model);
  InferenceOptions inference = options_.inference;
  inference.mean_products = options_.noise_update == Update::paper;
  if (!has_row_products(model.dimensions(), model.latents(), inference))
    inference.missing = Missing::error;  // the sums are those of the completed table
  add_optional_shapes(running, model, inference);
  add_missing_products(running, inference);
  Index count = 0;
  for_each_number(running, [&](auto&) { ++count; });
  if (count != numbers.size())
    throw Error("the checkpoint's running sums have " + std::to_string(numbers.size()) + " numbers, expected " +
                std::to_string(count) + "; it is damaged or of another model");
  Index i = 0;
  for_each_number(running, [&]<class Number>(Number& value) { value = static_cast<Number>(numbers(0, i++)); });
  mirror(running);
  running_ = std::move(running);
  steps_ = state.number("batch_steps", 0);
}

void Stepwise::rescale() {
  if (running_.count > 0) blend(running_, total_ / running_.count, running_, 0);
}

}  // namespace gsc
