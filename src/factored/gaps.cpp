#include "factored/gaps.h"

#include <algorithm>

#include "factored/gap_kernel.h"
#include "factored/kernel.h"

namespace gsc {

FactoredGaps::FactoredGaps(const FactoredModel& model, Index most_points)
    : model_(model),
      x_(model.latents, most_points),
      own_(model.latents, most_points),
      tau2_(model.latents, most_points),
      logit_(model.latents, most_points),
      gamma_(model.latents, most_points),
      second_(model.latents, most_points),
      residual_(model.dimensions, most_points),
      observed_(model.dimensions, most_points),
      local_(1, most_points),
      change_(1, most_points) {}

void FactoredGaps::load(const GapRows& rows, const ConstMatrixBlock& Y, Index first, const Matrix& codes) {
  points_ = rows.count();
  const FactoredGapModel& gaps = *model_.gaps;
  const auto observed = rows.observed().topRows(points_);
  observed_.block(points_) = observed.transpose();

  LatentRows::Map own = own_.block(points_), tau2 = tau2_.block(points_), logit = logit_.block(points_);
  product_with_transposed(gaps.squares, observed, own);
  Matrix A = Matrix::Zero(model_.latents, points_);
  if (gaps.spreads.size() > 0) product_with_transposed(gaps.spreads, observed, A);
  A += own;
  // tau^2 = psi/(1 + A psi)
  for (Index i = 0; i < model_.latents; ++i) {
    const Eigen::ArrayXd spread = 1 + gaps.psi[i] * A.row(i).transpose().array();
    tau2.row(i) = (gaps.psi[i] / spread).matrix().transpose();
    logit.row(i) = (gaps.prior_logit[i] - 0.5 * spread.log() -
                    0.5 * gaps.pull[i] * tau2.row(i).transpose().array() * A.row(i).transpose().array())
                       .matrix()
                       .transpose();
  }

  x().setZero();
  residual_.block(points_) = Y.transpose();
  if (codes.size() == 0) return;
  for (Index i = 0; i < model_.latents; ++i)
    for (Index n = 0; n < points_; ++n)
      x_.row(i)[n] = codes(model_.order[static_cast<std::size_t>(i)], first + rows.origin(rows.complete() + n));
  add_product(-1, gaps.W, x(), residual_.block(points_));
  residual_.block(points_).array() *= observed_.block(points_).array();
}

double FactoredGaps::sweep(Index chunk) {
  const Index n = chunk * kFactoredGapChunk;
  FactoredGapRun run{};
  run.points = std::min(kFactoredGapChunk, points_ - n);
  run.stride = x_.stride();
  run.x = x_.row(0) + n;
  run.own = own_.row(0) + n;
  run.tau2 = tau2_.row(0) + n;
  run.logit = logit_.row(0) + n;
  run.residual = residual_.row(0) + n;
  run.observed = observed_.row(0) + n;
  run.gamma = gamma_.row(0) + n;
  run.second = second_.row(0) + n;
  run.local = local_.row(0) + n;
  run.change = change_.row(0) + n;
  run_factored_gaps(model_, run);
  return *std::max_element(run.change, run.change + run.points);
}

void FactoredGaps::sweep() {
  for (Index chunk = 0; chunk * kFactoredGapChunk < points_; ++chunk) sweep(chunk);
}

void FactoredGaps::converge() {
  for (Index chunk = 0; chunk * kFactoredGapChunk < points_; ++chunk)
    for (int i = 0; i < kMostFactoredSweeps && sweep(chunk) > kFactoredStill; ++i) {
    }
}

Matrix FactoredGaps::missing() { return 1 - observed_.block(points_).transpose().array(); }

Vector FactoredGaps::bounds() {
  const FactoredGapModel& gaps = *model_.gaps;
  const auto squares = residual_.block(points_).cwiseAbs2();
  return local_.block(points_).transpose().array() + gaps.constant -
         (0.5 * (squares.transpose() * gaps.precision) + observed_.block(points_).transpose() * gaps.log_noise).array();
}

double FactoredGaps::surplus() {
  const FactoredGapModel& gaps = *model_.gaps;
  const Matrix absent = missing();
  Matrix signal = Matrix::Zero(model_.dimensions, points_);
  add_product(1, gaps.W, x(), signal);
  return (absent * gaps.log_noise).sum() +
         0.5 * gaps.precision.dot((signal.cwiseAbs2().array() * absent.transpose().array()).rowwise().sum().matrix());
}

}  // namespace gsc
