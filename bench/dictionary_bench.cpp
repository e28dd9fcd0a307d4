// Batch orthogonal matching pursuit against the plain one, which makes every residual and solves for all coefficients
// anew with each atom: on one thread, with the same BLAS. `gsc_bench_dictionary quick` uses fewer data points.

#include <fmt/format.h>
#include <gsc/inference.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <cstring>

#include "dictionary/coder.h"
#include "dictionary/matching_pursuit.h"
#include "math/blas.h"
#include "math/numeric_scope.h"
#include "model/random_draws.h"
#include "timing.h"

namespace gsc {
namespace {

/// The squared errors of all rows of X, added up.
double plain_omp(const Matrix& W, const Matrix& X, double bound, Index most) {
  const Matrix atoms = W.transpose();
  Vector scores(W.cols()), residual;
  double sum = 0;
  for (Index n = 0; n < X.rows(); ++n) {
    const Vector x = X.row(n).transpose();
    residual = x;
    std::vector<Index> chosen;
    while (residual.squaredNorm() > bound && static_cast<Index>(chosen.size()) < most) {
      scores.setZero();
      subtract_combination(W.rows(), W, residual.data(), scores.data());
      Index best = 0;
      scores.cwiseAbs().maxCoeff(&best);
      chosen.push_back(best);
      const Matrix A = atoms(chosen, Eigen::all);
      const Vector z = (A * A.transpose()).llt().solve(A * x);
      residual = x - A.transpose() * z;
    }
    sum += residual.squaredNorm();
  }
  return sum;
}

void run(Index points, Index D, Index H, int active) {
  Random random(1);
  constexpr double kNoise = 0.1;
  Matrix W = standard_normal(D, H, random);
  for (Index h = 0; h < H; ++h) W.col(h) /= W.col(h).norm();
  Matrix X = kNoise * standard_normal(points, D, random);
  std::uniform_int_distribution<Index> pick(0, H - 1);
  for (Index n = 0; n < points; ++n)
    for (int k = 0; k < active; ++k) X.row(n) += W.col(pick(random)).transpose();
  const Model model{W,
                    {},
                    {},
                    Vector::Constant(H, 0.1),
                    Vector::Zero(H),
                    Slab::diagonal(Vector::Ones(H)),
                    Noise::scalar(kNoise * kNoise, D)};
  InferenceOptions options;
  options.method = Method::ksvd;
  options.threads = 1;
  const MatrixData data(X);
  const OneBlasThread scope;
  Coded coded;
  const double batch = bench::least_thread_seconds(8, [&] {
    coded = code_rows(make_coder(model, options), centred_rows(data, model, Missing::error), 0, points, H, options, {});
  });
  const double gain = options.coding.error_gain * kNoise;
  double error = 0;
  const double plain = bench::least_seconds(
      2, [&] { error = plain_omp(W, X, static_cast<double>(D) * gain * gain, most_atoms(model, options)); });
  fmt::print(
      "N={:<6} D={:<4} H={:<4} {:5.2f} atoms each: batch {:8.1f} ms   plain {:8.1f} ms = {:.1f} x   squared "
      "errors {:.6g} and {:.6g}\n",
      points, D, H, static_cast<double>(coded.codes.nonZeros()) / static_cast<double>(points), 1e3 * batch, 1e3 * plain,
      plain / batch, coded.squared_error.sum(), error);
}

}  // namespace
}  // namespace gsc

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "quick") == 0;
  fmt::print("Orthogonal matching pursuit until the error is that of the noise: processor time of one thread.\n");
  const gsc::Index points = quick ? 1000 : 10000;
  for (const int active : {2, 5, 10}) gsc::run(points, 64, 256, active);
  gsc::run(points / 4, 192, 256, 10);
}
