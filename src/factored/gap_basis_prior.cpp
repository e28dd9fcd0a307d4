#include "factored/gap_basis_prior.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "factored/basis_prior.h"
#include "inference/statistics_shapes.h"
#include "math/blas.h"
#include "math/failure.h"
#include "math/numeric_scope.h"
#include "truncated/gap_m_step.h"

namespace gsc {
namespace {

Vector precisions(const Noise& noise) {
  return noise.type() == NoiseType::scalar ? Vector(Vector::Constant(noise.dimensions(), 1 / noise.values()(0)))
                                           : Vector(noise.values().col(0).cwiseInverse());
}

void update_rows(const Statistics& statistics, const Vector& P, int threads, Model& model) {
  const Index H = model.latents();
  for_each_row(statistics, threads, [&](Index d, const RowSums& sums) {
    if (sums.N <= kObserved * statistics.count) {  // of the differences only rounding is left
      model.W.row(d).setZero();
      model.W_variance.row(d).setOnes();
      return;
    }
    Matrix equations = P[d] * sums.ZZ;
    equations.diagonal().array() += 1;
    Matrix solution = P[d] * statistics.YZ.row(d);
    // Rounding in the differences of sums stays far below the prior's 1 unless the noise is at its floor.
    if (solve_positive_definite(equations, solution)) model.W.row(d) = solution.row(0);
    for (Index h = 0; h < H; ++h) model.W_variance(d, h) = 1 / (1 + P[d] * std::max(sums.ZZ(h, h), 0.0));
  });
}

/// V_h of every latent; W_variance gets their diagonals. Returns sum_h log|V_h|; adds V_h to S.
///
///   V = K - K R (I + R K R)^-1 R K        R = diag(P g)^1/2
double posterior_covariances(const Matrix& K, const Statistics& statistics, const Vector& P, int threads, Model& model,
                             std::vector<Matrix>& V) {
  const Index D = K.rows(), H = model.latents();
  const Eigen::LLT<Matrix> of_K(K);
  const double log_K = 2 * of_K.matrixLLT().diagonal().array().log().sum();
  V.resize(static_cast<std::size_t>(H));
  Vector log_volumes(H);
  const auto solve = [&](Index h) {
    const FloatingPointScope scope;
    const auto g = statistics.ZZ(h, h) - statistics.missing_ZZ.row(pair_row(h, h, H)).transpose().array();
    const Vector root = (P.array() * g.max(0.0)).sqrt();
    const Matrix RK = root.asDiagonal() * K;
    const Matrix B = Matrix::Identity(D, D) + RK * root.asDiagonal();
    const Eigen::LLT<Matrix> factor(B);
    const Matrix half = factor.matrixL().solve(RK);
    Matrix& own = V[static_cast<std::size_t>(h)];
    own = K - half.transpose() * half;
    model.W_variance.col(h) = own.diagonal();
    log_volumes[h] = log_K - 2 * factor.matrixLLT().diagonal().array().log().sum();
  };
  Failure failure;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (Index h = 0; h < H; ++h) failure.guard([&] { solve(h); });
  failure.rethrow();
  return log_volumes.sum();
}

/// m_h of every latent (rows of M), going round.
void go_round(const Statistics& statistics, const Vector& P, const std::vector<Matrix>& V, Matrix& M) {
  constexpr int kRounds = 20;
  constexpr double kStill = 1e-7;
  const Index H = M.rows();
  Vector residual(M.cols());
  for (int round = 0; round < kRounds; ++round) {
    double moved = 0;
    for (Index h = 0; h < H; ++h) {
      residual = statistics.YZ.col(h);
      for (Index other = 0; other < H; ++other) {
        if (other == h) continue;
        const auto missing = statistics.missing_ZZ.row(pair_row(std::min(h, other), std::max(h, other), H)).array();
        residual.array() -= (M.row(other).array() * (statistics.ZZ(h, other) - missing)).transpose();
      }
      const Vector next = V[static_cast<std::size_t>(h)] * P.cwiseProduct(residual);
      moved = std::max(moved, (next - M.row(h).transpose()).cwiseAbs().maxCoeff());
      M.row(h) = next.transpose();
    }
    if (moved < kStill * M.cwiseAbs().maxCoeff()) break;
  }
}

}  // namespace

Vector update_basis_posterior_with_gaps(const FactoredOptions& options, const Statistics& statistics, int threads,
                                        Model& model, FactoredState& state) {
  const Index D = model.dimensions(), H = model.latents();
  const Vector P = precisions(model.noise);
  if (options.basis_prior == BasisPrior::identity) {
    update_rows(statistics, P, threads, model);
    const auto V = model.W_variance.array();
    state.basis_divergence = 0.5 * (V + model.W.array().square() - 1 - V.log()).sum();
  } else {
    const Matrix K = basis_covariance(options, D, state.length_scale);
    std::vector<Matrix> V;
    const double log_volumes = posterior_covariances(K, statistics, P, threads, model, V);
    Matrix M = model.W.transpose();
    go_round(statistics, P, V, M);
    model.W = M.transpose();
    Matrix S = model.W * M;
    for (const Matrix& own : V) S += own;
    settle_basis_divergence(options, S, log_volumes, H, state);
  }
  Vector explained(D);
  for_each_row(statistics, threads, [&](Index d, const RowSums& sums) {
    const Vector w = model.W.row(d).transpose();
    explained[d] = w.dot(sums.ZZ * w) + model.W_variance.row(d).dot(sums.ZZ.diagonal());
  });
  return explained;
}

}  // namespace gsc
