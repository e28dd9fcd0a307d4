#include "truncated/stepwise.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "inference/statistics_fields.h"
#include "inference/statistics_shapes.h"
#include "learning/known_noise.h"
#include "learning/row_order.h"

namespace gsc {

double Decay::weight(double step) const { return std::max(floor, std::pow(step + 1, -exponent)); }

Stepwise::Stepwise(Share& share, ResidentEm& em, const FitOptions& options, Decay decay)
    : share_(share), em_(em), options_(options), decay_(decay), total_(static_cast<double>(share.rows().rows())) {
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

/// The noise that is held after this batch of the pass, as held_variance().
double Stepwise::held_after(int row, Index batch) const {
  return held_variance(options_, row - 1 + static_cast<double>(batch + 1) / static_cast<double>(batches_));
}

Evaluation Stepwise::glance(const StopRequest& stop) {
  shuffle(0);
  ResidentRow row = em_.e_step({.rows = batch_rows(0), .stop = stop});
  const double scale = total_ / row.count;
  row.count *= scale;
  row.free_energy *= scale;
  row.s *= scale;
  Evaluation judged = evaluation(row);
  judged.estimated = true;
  return judged;
}

Evaluation Stepwise::pass(int row, const StopRequest& stop) {
  shuffle(row);
  const Model before = em_.model();
  em_.start(before);
  em_.set_running(running_);
  try {
    return pass_over(row, stop);
  } catch (const Interrupted&) {
    em_.start(before);
    throw;
  }
}

Evaluation Stepwise::pass_over(int row, const StopRequest& stop) {
  ResidentRow seen;
  double steps = steps_;
  for (Index batch = 0; batch < batches_; ++batch) {
    const ResidentRow sums = em_.e_step({.rows = batch_rows(batch), .stop = stop});
    if (sums.count == 0) continue;
    seen.rescues += sums.rescues;
    seen.count += sums.count;
    seen.free_energy += sums.free_energy;
    if (seen.s.size() == 0) seen.s = Vector::Zero(sums.s.size());
    seen.s += sums.s;
    const double weight = decay_.weight(steps);
    em_.blend(1 - weight, weight * total_ / sums.count);
    // The fast step of a full slab is judged by the free energy, which a batch cannot do.
    em_.m_step({.of_running = true, .known_variance = held_after(row, batch), .slab_acceleration = 0});
    ++steps;
  }
  seen.rescues += em_.rescues();
  running_ = em_.running();
  steps_ = steps;
  Evaluation judged = evaluation(seen);
  judged.estimated = true;
  judged.noise_variance.reset();  // that of the model is not known before the next E-step
  return judged;
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
