#include "factored/learner.h"

#include <gsc/team.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "factored/basis_prior.h"
#include "factored/m_step.h"
#include "math/number_text.h"

namespace gsc {
namespace {

std::vector<Index> sweep_order(const FitOptions& options, int row) {
  std::vector<Index> order(static_cast<std::size_t>(options.latents));
  std::iota(order.begin(), order.end(), Index{0});
  if (options.factored.order == SweepOrder::random) {
    std::seed_seq seed{options.seed & 0xffffffffU, options.seed >> 32U, static_cast<std::uint64_t>(row)};
    std::shuffle(order.begin(), order.end(), Random(seed));
  }
  return order;
}

}  // namespace

void FactoredLearner::check(const FitOptions& options) {
  if (options.noise == NoiseType::full)
    throw UsageError("noise is full, but the factored method is for scalar or diagonal noise");
  if (options.slab == SlabType::full) throw UsageError("slab is full, but the factored method is for a diagonal slab");
  if (options.noise_update == Update::paper)
    throw UsageError(
        "noise_update is paper, which is for the truncated and exact methods; the factored one has its own");
  if (options.sigma > 0)
    throw UsageError("sigma is " + number_text(options.sigma) +
                     ", but the factored method learns the noise; leave it out");
  if (options.batch > 0)
    throw UsageError("batch is " + std::to_string(options.batch) +
                     ", but the factored method learns from all data points at a time; leave it out");
  if (options.inference.device != "cpu" && options.inference.device != "auto")  // auto: there is no other
    throw UsageError("device is '" + options.inference.device + "', but the factored method computes on the cpu");
}

FactoredLearner::FactoredLearner(Share& share, const FitOptions& options, Beginning beginning, StopRequest stop)
    : share_(share),
      options_(options),
      model_(std::move(beginning.model)),
      stop_(std::move(stop)),
      engine_(share.rows(), options.inference) {
  state_.shape = options.shape;
  if (beginning.saved) {
    state_.codes = share_.own_columns(beginning.saved->column("codes"));
    state_.basis_divergence = beginning.saved->number("basis_divergence", 0);
    state_.length_scale = beginning.saved->number("length_scale", 0);
  } else {
    start(beginning.data_variance);
  }
}

/// A random start knows nothing of the scale of the data. EM finds it through W; where W has a prior, the amplitudes
/// must bring it.
void FactoredLearner::start(std::optional<double> data_variance) {
  if (data_variance) {
    model_.slab = Slab::diagonal(*data_variance * model_.slab.variances());
    model_.mu *= std::sqrt(*data_variance);
  }
  if (options_.factored.basis_prior == BasisPrior::gp) resolved_shape(options_.shape, model_.dimensions());
  start_factored(options_.factored, model_, state_);
}

Evaluation FactoredLearner::begin(int row) { return sweep(row, {}); }

/// The sweep that judges row `row`. It is not interrupted half-way, as the codes it starts from belong to the row
/// before.
Evaluation FactoredLearner::sweep(int row, const Rescues& rescues) {
  const std::vector<Index> order = sweep_order(options_, row);
  statistics_ = share_.total([&] { return engine_.sweep(model_, order, state_.codes, codes_); });
  Evaluation judged = evaluation(statistics_, rescues);
  judged.free_energy -= state_.basis_divergence;
  return judged;
}

Evaluation FactoredLearner::iterate(int row) {
  all_or_none(share_.team(), [&] {
    if (stop_ && stop_()) throw Interrupted("interrupted");
  });
  Rescues rescues;
  model_ = factored_m_step(model_, statistics_, options_.factored, state_, rescues,
                           options_.intercept == Intercept::learned, thread_count(options_.inference.threads));
  std::swap(state_.codes, codes_);
  return sweep(row, rescues);
}

void FactoredLearner::save(MethodState& state) const {
  state.numbers["basis_divergence"] = state_.basis_divergence;
  state.numbers["length_scale"] = state_.length_scale;
  state.columns["codes"] = share_.all_columns(state_.codes);
}

}  // namespace gsc
