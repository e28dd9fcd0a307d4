#include "beta_process/learner.h"

#include <algorithm>
#include <cmath>

#include "dictionary/packed_codes.h"
#include "math/failure.h"
#include "math/number_text.h"
#include "math/numeric_scope.h"
#include "model/random_draws.h"

namespace gsc {
namespace {

std::string suffix(std::size_t chain) { return chain == 0 ? "" : "_" + std::to_string(chain + 1); }

/// Of all iterations, where burn_in leaves none, half.
int usual_burn_in(const FitOptions& options) {
  const int asked = options.beta_process.burn_in;
  return asked < options.iterations ? asked : options.iterations / 2;
}

}  // namespace

void check_beta_process(const FitOptions& options) {
  const std::string method(to_string(options.inference.method));
  if (options.sigma > 0)
    throw UsageError("the noise is said to be known (sigma is " + number_text(options.sigma) + "), but the " + method +
                     " method learns it; leave it out");
  if (!options.sharing.team->alone())
    throw UsageError("method is " + method + ", which learns in one process, but there are " +
                     std::to_string(options.sharing.team->size()) + "; start it without mpirun, on several threads");
}

void check_enough_data(const Data& data, Index latents) {
  if (latents > data.rows())
    throw UsageError("latents is " + std::to_string(latents) + ", but " + data.name() + " has only " +
                     std::to_string(data.rows()) + " data points; ask for fewer latents");
}

BetaProcessParameters beta_process_start(const Model& model, std::optional<double> data_variance) {
  constexpr double kRarely = 0.01;
  BetaProcessParameters theta;
  theta.W = model.W;
  theta.intercept = model.intercept;
  theta.logit_pi = Vector::Constant(model.latents(), std::log(kRarely / (1 - kRarely)));
  const Vector squares = model.slab.variances() + model.mu.cwiseAbs2();
  Random random(1);
  double power = 0;
  for (Index h = 0; h < model.latents(); ++h) {
    const double length = model.W.col(h).norm();
    power += squares[h] * length * length / static_cast<double>(model.latents());
    if (!(length > 0)) theta.W.col(h) = standard_normal(model.dimensions(), 1, random);
    theta.W.col(h) /= theta.W.col(h).norm();
  }
  theta.slab_precision = 1 / (power * data_variance.value_or(1));
  theta.noise_precision = 1 / model.noise.mean_variance();
  return theta;
}

BetaProcessPriors beta_process_priors(UsagePrior kind, Share& share, bool missing, Index latents) {
  const auto N = static_cast<double>(share.rows().rows()), H = static_cast<double>(latents);
  BetaProcessPriors priors;
  const double variance = share.summarize(false, missing).covariance.mean();
  priors.slab_rate *= variance;
  priors.noise_rate *= variance;
  priors.alpha = kind == UsagePrior::paper ? 1 / H : 1;
  priors.beta = kind == UsagePrior::paper ? std::max(1.0, H - 1) / H : N / 8;
  return priors;
}

void BetaProcessLearner::check(const FitOptions& options) { check_beta_process(options); }

BetaProcessLearner::BetaProcessLearner(Share& share, const FitOptions& options, Beginning beginning, StopRequest stop)
    : options_(options), model_(std::move(beginning.model)), stop_(std::move(stop)), burn_in_(usual_burn_in(options)) {
  const Data& data = share.rows();
  check_enough_data(data, model_.latents());
  const BetaProcessParameters start = beta_process_start(model_, beginning.data_variance);
  const int chains = options.beta_process.chains, threads = thread_count(options.inference.threads);
  GibbsSettings settings;
  settings.missing = options.inference.missing == Missing::nan;
  settings.priors = beta_process_priors(options.beta_process.usage_prior, share, settings.missing, model_.latents());
  settings.learn_intercept = options.intercept == Intercept::learned && model_.intercept.size() > 0;
  settings.seed = options.seed;
  settings.threads = chains >= threads ? 1 : threads;
  for (int chain = 0; chain < chains; ++chain) {
    settings.chain = static_cast<std::uint64_t>(chain);
    chains_.emplace_back(data, settings, start);
  }
  averages_.resize(chains_.size());
  if (!beginning.saved) return;
  saved_ = restore(*beginning.saved, data);
  burn_in_ = static_cast<int>(beginning.saved->number("burn_in", burn_in_));
}

std::string BetaProcessLearner::note() const {
  const int asked = options_.beta_process.burn_in, usual = usual_burn_in(options_);
  if (saved_ == Saved::parameters)
    return "a model has no codes (a checkpoint has), so they are drawn anew, and the first " + std::to_string(asked) +
           " sweeps, at most half of those to come, are not averaged";
  if (usual == asked || options_.iterations == 0) return {};
  return "burn_in is " + std::to_string(asked) + ", but there are only " + std::to_string(options_.iterations) +
         " iterations; draws are averaged after the first " + std::to_string(usual);
}

int BetaProcessLearner::last_burn_in(int row) {
  const int usual = usual_burn_in(options_);
  if (saved_ == Saved::parameters) return row + std::min(usual, std::max(0, options_.iterations - row) / 2);
  if (row >= usual) return burn_in_;
  averages_.assign(averages_.size(), {});  // of a run that was to be shorter
  return usual;
}

Evaluation BetaProcessLearner::begin(int row) {
  burn_in_ = last_burn_in(row);
  if (saved_ == Saved::all) return {};
  for (GibbsChain& chain : chains_) chain.draw_codes(row);
  return saved_ == Saved::parameters ? Evaluation() : judge();
}

Evaluation BetaProcessLearner::iterate(int row) {
  if (stop_ && stop_()) throw Interrupted("interrupted");
  const auto sweep = [&](std::size_t c) {
    chains_[c].sweep(row);
    if (row > burn_in_) averages_[c].add(chains_[c].parameters(), chains_[c].log_joint());
  };
  // Each chain on a thread of its own where there are enough of them, else one after the other on all threads.
  const int threads = thread_count(options_.inference.threads);
  if (static_cast<int>(chains_.size()) < threads || chains_.size() == 1) {
    for (std::size_t c = 0; c < chains_.size(); ++c) sweep(c);
    return judge();
  }
  Failure failure;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (std::size_t c = 0; c < chains_.size(); ++c)
    failure.guard([&] {
      const FloatingPointScope scope;
      sweep(c);
    });
  failure.rethrow();
  return judge();
}

/// Numbers are means over the chains.
Evaluation BetaProcessLearner::judge() {
  Evaluation judged;
  const auto chains = static_cast<double>(chains_.size());
  std::size_t best = 0;
  const auto worth = [&](std::size_t c) {
    return averages_[c].empty() ? chains_[c].log_joint() : averages_[c].log_joint.mean;
  };
  for (std::size_t c = 0; c < chains_.size(); ++c) {
    const BetaProcessSums& sums = chains_[c].sums();
    judged.free_energy += chains_[c].log_joint() / chains;
    judged.mean_active += sums.active.sum() / sums.points / chains;
    if (worth(c) > worth(best)) best = c;
  }
  judged.latents_in_use = (chains_[best].sums().active.array() >= 1).count();
  judged.estimated = true;  // of a draw, which goes up and down
  model_ = averages_[best].empty() ? as_model(chains_[best].parameters()) : averages_[best].model();
  return judged;
}

void BetaProcessLearner::save(MethodState& state) const {
  state.numbers["burn_in"] = burn_in_;
  std::vector<RunningMean> noises, joints;
  for (std::size_t c = 0; c < chains_.size(); ++c) {
    const BetaProcessParameters& theta = chains_[c].parameters();
    const std::string of = suffix(c);
    state.arrays["draw_W" + of] = theta.W;
    state.arrays["draw_logit_pi" + of] = theta.logit_pi;
    if (theta.intercept.size() > 0) state.arrays["draw_intercept" + of] = theta.intercept;
    state.numbers["draw_slab_precision" + of] = theta.slab_precision;
    state.numbers["draw_noise_precision" + of] = theta.noise_precision;
    state.columns["codes" + of] = packed(chains_[c].codes().together());
    averages_[c].save(of, state);
    noises.push_back(averages_[c].noise_std);
    joints.push_back(averages_[c].log_joint);
  }
  if (averages_.front().empty()) return;
  state.numbers["mean_log_joint"] =
      std::max_element(joints.begin(), joints.end(), [](const auto& one, const auto& other) {
        return one.mean < other.mean;
      })->mean;
  double variance = 0;
  for (const RunningMean& chain : noises) variance += chain.variance() / static_cast<double>(noises.size());
  state.numbers["noise_std_deviation"] = std::sqrt(variance);
  if (chains_.size() < 2) return;
  state.numbers["r_hat_noise_std"] = r_hat(noises);
  state.numbers["r_hat_log_joint"] = r_hat(joints);
}

BetaProcessLearner::Saved BetaProcessLearner::restore(const MethodState& state, const Data& data) {
  const Index D = model_.dimensions(), H = model_.latents();
  Saved found = Saved::all;
  for (std::size_t c = 0; c < chains_.size(); ++c) {
    const std::string of = suffix(c);
    BetaProcessParameters theta;
    theta.W = state.array("draw_W" + of);
    if (theta.W.rows() != D || theta.W.cols() != H) {  // not learned by this method: its parameters, as they are
      for (GibbsChain& chain : chains_) chain.set(from_model(model_));
      return Saved::parameters;
    }
    theta.logit_pi = state.array("draw_logit_pi" + of).reshaped();
    theta.intercept = state.array("draw_intercept" + of).reshaped();
    theta.slab_precision = state.number("draw_slab_precision" + of, 1);
    theta.noise_precision = state.number("draw_noise_precision" + of, 1);
    const Matrix columns = state.column("codes" + of);
    averages_[c] = ChainAverages::saved(of, state);
    if (columns.size() == 0) {
      found = Saved::parameters;
      chains_[c].set(std::move(theta));
      continue;
    }
    if (theta.logit_pi.size() != H || columns.cols() != data.rows())
      throw UsageError("the checkpoint is of " + std::to_string(theta.logit_pi.size()) + " latents and " +
                       std::to_string(columns.cols()) + " data points, but there are " + std::to_string(H) + " and " +
                       std::to_string(data.rows()) + "; resume with the data it was learned from");
    chains_[c].set(std::move(theta));
    chains_[c].set(unpacked(columns, H));
  }
  return found;
}

}  // namespace gsc
