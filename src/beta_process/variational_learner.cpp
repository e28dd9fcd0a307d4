#include "beta_process/variational_learner.h"

#include <algorithm>
#include <numeric>

#include "beta_process/learner.h"

namespace gsc {
namespace {

/// A new order for every row, the same whenever that row is judged.
std::vector<Index> sweep_order(std::uint64_t seed, Index latents, int row) {
  std::vector<Index> order(static_cast<std::size_t>(latents));
  std::iota(order.begin(), order.end(), Index{0});
  std::seed_seq words{seed & 0xffffffffU, seed >> 32U, static_cast<std::uint64_t>(row)};
  std::shuffle(order.begin(), order.end(), Random(words));
  return order;
}

}  // namespace

void BetaVariationalLearner::check(const FitOptions& options) { check_beta_process(options); }

BetaVariationalLearner::BetaVariationalLearner(Share& share, const FitOptions& options, Beginning beginning,
                                               StopRequest stop)
    : options_(options),
      model_(std::move(beginning.model)),
      stop_(std::move(stop)),
      priors_(beta_process_priors(options.beta_process.usage_prior, share, false, model_.latents())),
      engine_(share.rows(), options.inference) {
  check_enough_data(share.rows(), model_.latents());
  const auto points = static_cast<double>(share.rows().rows());
  q_ = factors_around(beta_process_start(model_, beginning.data_variance), points);
  if (beginning.saved) restore(*beginning.saved);
  model_ = as_model(q_);
}

Evaluation BetaVariationalLearner::begin(int row) { return sweep(row); }

Evaluation BetaVariationalLearner::sweep(int row) {
  statistics_ = engine_.sweep(model_, codes_model(q_, sweep_order(options_.seed, q_.M.cols(), row)), codes_, next_);
  Evaluation judged = evaluation(statistics_, {});
  judged.free_energy = bound(q_, priors_, statistics_, codes_entropy(q_, statistics_));
  return judged;
}

/// Not interrupted half-way, as the codes it starts from belong to the row before.
Evaluation BetaVariationalLearner::iterate(int row) {
  if (stop_ && stop_()) throw Interrupted("interrupted");
  update_basis(statistics_, q_);
  if (q_.intercept.size() > 0 && options_.intercept == Intercept::learned) update_intercept(statistics_, q_);
  update_pi(statistics_, priors_, q_);
  update_slab(statistics_, priors_, q_);
  update_noise(statistics_, priors_, q_);
  model_ = as_model(q_);
  std::swap(codes_, next_);
  return sweep(row);
}

void BetaVariationalLearner::save(MethodState& state) const {
  state.arrays["basis_covariance"] = q_.C;
  state.arrays["mean_W"] = q_.M;
  state.arrays["pi_on"] = q_.on;
  state.arrays["pi_off"] = q_.off;
  state.numbers["slab_shape"] = q_.slab.shape;
  state.numbers["slab_rate"] = q_.slab.rate;
  state.numbers["noise_shape"] = q_.noise.shape;
  state.numbers["noise_rate"] = q_.noise.rate;
  state.columns["codes"] = codes_;
}

void BetaVariationalLearner::restore(const MethodState& state) {
  const Matrix covariance = state.array("basis_covariance");
  if (covariance.rows() != q_.C.rows() || covariance.cols() != q_.C.cols()) return;  // learned by another method
  q_.C = covariance;
  q_.M = state.array("mean_W");
  q_.intercept = model_.intercept;
  q_.on = state.array("pi_on").reshaped();
  q_.off = state.array("pi_off").reshaped();
  q_.slab = {state.number("slab_shape", 1), state.number("slab_rate", 1)};
  q_.noise = {state.number("noise_shape", 1), state.number("noise_rate", 1)};
  codes_ = state.column("codes");
}

}  // namespace gsc
