// With g_h = sum_n <(s_h z_h)^2> and P the inverse noise,
//
//   V_h = (K^-1 + g_h P)^-1        m_h = V_h P (YZ_h - sum_{h' != h} m_h' ZZ_h'h)
//
// P^1/2 K P^1/2 = U L U' turns all of this diagonal at once: in the coordinates m~ = U' P^1/2 m
//
//   V~_h = L/(1 + g_h L)           m~_h = V~_h U' P^1/2 (YZ_h - ...)
//   2 KL_h = sum_d ( 1/(1 + g_h L_d) + m~_hd^2/L_d - 1 + log(1 + g_h L_d) )

#include "factored/basis_prior.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "inference/statistics_shapes.h"
#include "math/blas.h"
#include "math/eigen_pairs.h"
#include "math/failure.h"
#include "math/numeric_scope.h"
#include "truncated/gap_m_step.h"

namespace gsc {
namespace {

/// Of the identity in a gp prior: what a smooth basis function may have beside its smooth part, and what keeps K
/// regular.
constexpr double kNugget = 1e-3;
constexpr double kStartVariance = 0.01;
constexpr double kStartLength = 2;

/// The coordinates in which the posterior is diagonal.
struct Coordinates {
  Matrix forward;   ///< U' P^1/2
  Matrix backward;  ///< P^-1/2 U
  Vector L;
};

Coordinates coordinates(BasisPrior prior, const Noise& noise, const FactoredState& state) {
  const Index D = noise.dimensions();
  const Vector root = noise.type() == NoiseType::scalar
                          ? Vector::Constant(D, 1 / std::sqrt(noise.values()(0, 0))).eval()
                          : noise.values().col(0).cwiseSqrt().cwiseInverse().eval();
  if (prior == BasisPrior::identity)
    return {root.asDiagonal().toDenseMatrix(), root.cwiseInverse().asDiagonal().toDenseMatrix(), root.cwiseAbs2()};
  const Matrix K = root.asDiagonal() * basis_covariance(prior, state.shape, D, state.length_scale) * root.asDiagonal();
  const auto [values, U] = eigen_pairs(K);
  // The nugget bounds the eigenvalues from below; rounding must not undo that.
  const double floor = kNugget * root.cwiseAbs2().minCoeff();
  return {U.transpose() * root.asDiagonal(), root.cwiseInverse().asDiagonal() * U, values.cwiseMax(floor)};
}

/// Solves the equations of all m~_h (rows of M) by going round.
void go_round(const Matrix& ZZ, const Matrix& targets, const Matrix& variances, Matrix& M) {
  constexpr int kRounds = 20;
  constexpr double kStill = 1e-7;
  Vector residual(M.cols());
  for (int round = 0; round < kRounds; ++round) {
    double moved = 0;
    for (Index h = 0; h < M.rows(); ++h) {
      residual = targets.row(h).transpose() + ZZ(h, h) * M.row(h).transpose();
      residual.noalias() -= M.transpose() * ZZ.row(h).transpose();
      const Vector next = variances.row(h).transpose().cwiseProduct(residual);
      moved = std::max(moved, (next - M.row(h).transpose()).cwiseAbs().maxCoeff());
      M.row(h) = next.transpose();
    }
    if (moved < kStill * M.cwiseAbs().maxCoeff()) break;
  }
}

/// sum_h KL(N(m_h, V_h) || N(0, K)) from S = sum_h (V_h + m_h m_h') and the sum of log|V_h|.
double divergence(const Matrix& K, const Matrix& S, double log_volumes, Index latents) {
  const Eigen::LLT<Matrix> factor(K);
  const double log_determinant = 2 * factor.matrixLLT().diagonal().array().log().sum();
  const double H = static_cast<double>(latents), D = static_cast<double>(K.rows());
  return 0.5 * (H * (log_determinant - D) - log_volumes + factor.solve(S).trace());
}

/// Tries length scales around the current one.
void learn_length_scale(const FactoredOptions& options, const Matrix& S, double log_volumes, Index latents,
                        FactoredState& state) {
  const double start = state.length_scale;
  constexpr double kSmallest = 0.1, kLargest = 1e3;
  for (const double factor : {0.8, 0.95, 1.05, 1.25}) {
    const double length = std::clamp(factor * start, kSmallest, kLargest);
    const double value =
        divergence(basis_covariance(options.basis_prior, state.shape, S.rows(), length), S, log_volumes, latents);
    if (value < state.basis_divergence) {
      state.basis_divergence = value;
      state.length_scale = length;
    }
  }
}

}  // namespace

Shape resolved_shape(const Shape& shape, Index dimensions) {
  Shape result = shape;
  if (result.channels < 1 || dimensions % result.channels != 0)
    throw UsageError("shape has " + std::to_string(result.channels) + " channels, which do not divide the " +
                     std::to_string(dimensions) + " dimensions");
  const Index positions = dimensions / result.channels;
  if (result.rows == 0) {
    const auto side = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(positions))));
    const bool square = side * side == positions && side > 1;
    result.rows = square ? side : 1;
    result.cols = square ? side : positions;
  }
  if (result.rows < 1 || result.cols < 1 || result.rows * result.cols != positions)
    throw UsageError("shape is " + std::to_string(shape.rows) + " x " + std::to_string(shape.cols) + " x " +
                     std::to_string(shape.channels) + ", but there are " + std::to_string(dimensions) +
                     " dimensions; their product must be that");
  return result;
}

Matrix basis_covariance(BasisPrior prior, const Shape& given, Index dimensions, double length_scale) {
  Matrix K = Matrix::Identity(dimensions, dimensions);
  if (prior != BasisPrior::gp) return K;
  const Shape shape = resolved_shape(given, dimensions);
  const Index channels = shape.channels;
  for (Index i = 0; i < dimensions; ++i)
    for (Index j = i; j < dimensions; j += channels) {
      const Index pixel = i / channels, other = j / channels;
      const auto rows = static_cast<double>(pixel / shape.cols - other / shape.cols);
      const auto cols = static_cast<double>(pixel % shape.cols - other % shape.cols);
      K(i, j) = K(j, i) = std::exp(-0.5 * (rows * rows + cols * cols) / (length_scale * length_scale));
    }
  K.diagonal().array() += kNugget;
  return K;
}

void start_basis_posterior(const FactoredOptions& options, Model& model, FactoredState& state) {
  const double scale = std::sqrt(model.W.cwiseAbs2().mean());
  if (scale > 0) {
    model.W /= scale;
    model.mu *= scale;
    model.slab = Slab::diagonal(model.slab.variances() * scale * scale);
  }
  const Index D = model.dimensions(), H = model.latents();
  state.length_scale = options.length_scale > 0 ? options.length_scale : kStartLength;
  const Matrix K = basis_covariance(options.basis_prior, state.shape, D, state.length_scale);
  model.W_variance = kStartVariance * K.diagonal().replicate(1, H);
  const Eigen::LLT<Matrix> factor(K);
  const auto count = static_cast<double>(D * H);
  const double norms = factor.matrixL().solve(model.W).squaredNorm();
  state.basis_divergence = 0.5 * (count * (kStartVariance - 1 - std::log(kStartVariance)) + norms);
}

void settle_basis_divergence(const FactoredOptions& options, const Matrix& S, double log_volumes, Index latents,
                             FactoredState& state) {
  state.basis_divergence = divergence(basis_covariance(options.basis_prior, state.shape, S.rows(), state.length_scale),
                                      S, log_volumes, latents);
  if (options.basis_prior == BasisPrior::gp && options.length_scale == 0)
    learn_length_scale(options, S, log_volumes, latents, state);
}

void update_basis_posterior(const FactoredOptions& options, const Statistics& statistics, Model& model,
                            FactoredState& state) {
  const Index D = model.dimensions(), H = model.latents();
  const Coordinates to = coordinates(options.basis_prior, model.noise, state);
  const Vector g = statistics.ZZ.diagonal();
  const Matrix weights = (g * to.L.transpose()).array() + 1;                         // 1 + g_h L_d
  const Matrix variances = to.L.transpose().replicate(H, 1).cwiseQuotient(weights);  // V~, one row a latent
  const Matrix targets = product(to.forward, statistics.YZ).transpose();
  Matrix M = product(to.forward, model.W).transpose();
  go_round(statistics.ZZ, targets, variances, M);

  model.W = product(to.backward, M.transpose());
  model.W_variance = product(to.backward.cwiseAbs2(), variances.transpose());
  const auto count = static_cast<double>(D * H);
  state.basis_divergence =
      0.5 * (weights.cwiseInverse().sum() + (M.cwiseAbs2() * to.L.cwiseInverse().asDiagonal()).sum() - count +
             weights.array().log().sum());
  if (options.basis_prior != BasisPrior::gp || options.length_scale > 0) return;
  const Matrix V = to.backward * variances.colwise().sum().transpose().asDiagonal() * to.backward.transpose();
  const double log_volumes = variances.array().log().sum() + static_cast<double>(H) * model.noise.log_determinant();
  learn_length_scale(options, V + model.W * model.W.transpose(), log_volumes, H, state);
}

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
    const Matrix K = basis_covariance(options.basis_prior, state.shape, D, state.length_scale);
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
