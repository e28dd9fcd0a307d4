#include <gsc/generate.h>

#include <Eigen/QR>
#include <cmath>

#include "model/random_draws.h"

namespace gsc {

Model bars_model(Index latents, Random& random) {
  if (latents < 2 || latents % 2 != 0)
    throw UsageError("bars: latents is " + std::to_string(latents) +
                     "; half are horizontal and half vertical, so it must be even");
  const Index side = latents / 2;
  std::bernoulli_distribution coin;
  Model model;
  model.W = Matrix::Zero(side * side, latents);
  for (Index h = 0; h < latents; ++h) {
    const double value = coin(random) ? 10 : -10;
    for (Index i = 0; i < side; ++i) model.W(h < side ? h * side + i : i * side + (h - side), h) = value;
  }
  model.pi = Vector::Constant(latents, std::min(0.5, 2.0 / static_cast<double>(latents)));
  model.mu = std::sqrt(5.0) * standard_normal(latents, 1, random);
  model.slab = Slab::diagonal(Vector::Ones(latents));
  model.noise = Noise::scalar(2.0, side * side);
  return model;
}

Matrix mixing_matrix(Index size, double perturbation, Random& random) {
  const Eigen::MatrixXd gaussian = standard_normal(size, size, random);
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(gaussian);
  Matrix Q = qr.householderQ();
  // Signs of R's diagonal make Q uniform over the orthogonal matrices.
  for (Index h = 0; h < size; ++h)
    if (qr.matrixQR()(h, h) < 0) Q.col(h) *= -1;
  return Q + perturbation * standard_normal(size, size, random);
}

Matrix superposition(const Matrix& W, Coefficients coefficients, double noise_std, Index count, Random& random) {
  Matrix X(count, W.cols());
  if (coefficients == Coefficients::laplace) {
    std::exponential_distribution<double> magnitude;
    std::bernoulli_distribution coin;
    for (double& x : X.reshaped()) x = magnitude(random) * (coin(random) ? 1 : -1);
  } else {
    std::cauchy_distribution<double> cauchy;
    for (double& x : X.reshaped()) x = cauchy(random);
  }
  return X * W.transpose() + noise_std * standard_normal(count, W.rows(), random);
}

std::string_view to_string(Coefficients coefficients) {
  return coefficients == Coefficients::laplace ? "laplace" : "cauchy";
}

}  // namespace gsc
