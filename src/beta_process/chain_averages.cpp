#include "beta_process/chain_averages.h"

#include <algorithm>
#include <cmath>

#include "learning/m_step_parts.h"

namespace gsc {
namespace {

constexpr std::size_t kScalars = 4;

std::array<RunningMean ChainAverages::*, kScalars> scalars() {
  return {&ChainAverages::log_joint, &ChainAverages::noise_std, &ChainAverages::noise_variance,
          &ChainAverages::slab_variance};
}

}  // namespace

void ChainAverages::add(const BetaProcessParameters& theta, double joint) {
  log_joint.add(joint);
  noise_std.add(1 / std::sqrt(theta.noise_precision));
  noise_variance.add(1 / theta.noise_precision);
  slab_variance.add(1 / theta.slab_precision);
  const Vector now = (1 / (1 + (-theta.logit_pi.array()).exp())).matrix();
  if (log_joint.count == 1) {
    W = theta.W;
    W_squares = Matrix::Zero(W.rows(), W.cols());
    pi = now;
    intercept = theta.intercept;
    return;
  }
  const Matrix before = theta.W - W;
  W += before / log_joint.count;
  W_squares += before.cwiseProduct(theta.W - W);
  pi += (now - pi) / log_joint.count;
  intercept += (theta.intercept - intercept) / log_joint.count;
}

Model ChainAverages::model() const {
  BetaProcessParameters theta;
  theta.W = W;
  theta.intercept = intercept;
  theta.logit_pi = Vector::Zero(pi.size());
  theta.slab_precision = 1 / slab_variance.mean;
  theta.noise_precision = 1 / noise_variance.mean;
  Model model = as_model(theta);
  model.pi = pi.cwiseMax(kSmallestPi).cwiseMin(1 - kSmallestPi);
  if (log_joint.count > 1) model.W_variance = W_squares / (log_joint.count - 1);
  return model;
}

void ChainAverages::save(const std::string& suffix, MethodState& state) const {
  if (empty()) return;
  Matrix numbers(static_cast<Index>(kScalars), 3);
  Index row = 0;
  for (const auto member : scalars()) {
    const RunningMean& value = this->*member;
    numbers.row(row++) << value.count, value.mean, value.squares;
  }
  state.arrays["averages" + suffix] = numbers;
  state.arrays["average_W" + suffix] = W;
  state.arrays["squares_W" + suffix] = W_squares;
  state.arrays["average_pi" + suffix] = pi;
  if (intercept.size() > 0) state.arrays["average_intercept" + suffix] = intercept;
}

ChainAverages ChainAverages::saved(const std::string& suffix, const MethodState& state) {
  ChainAverages result;
  const Matrix numbers = state.array("averages" + suffix);
  if (numbers.rows() != static_cast<Index>(kScalars) || numbers.cols() != 3) return result;
  Index row = 0;
  for (const auto member : scalars()) {
    result.*member = {numbers(row, 0), numbers(row, 1), numbers(row, 2)};
    ++row;
  }
  result.W = state.array("average_W" + suffix);
  result.W_squares = state.array("squares_W" + suffix);
  result.pi = state.array("average_pi" + suffix).reshaped();
  result.intercept = state.array("average_intercept" + suffix).reshaped();
  return result;
}

double r_hat(const std::vector<RunningMean>& chains) {
  RunningMean between;
  double within = 0, draws = 0;
  for (const RunningMean& chain : chains) {
    between.add(chain.mean);
    within += chain.variance() / static_cast<double>(chains.size());
    draws = chain.count;
  }
  if (chains.size() < 2 || draws < 2 || !(within > 0)) return 0;
  return std::sqrt((draws - 1) / draws + between.variance() / within);
}

}  // namespace gsc
