// A program with vector flags of its own: its matrix products must work, and matrices go into the library and come out
// of it by copy and by move, allocated on one side and freed on the other.

#include <gsc/gsc.h>
#include <gsc/version.h>

#include <Eigen/Dense>
#include <cmath>
#include <cstdio>
#include <utility>

static bool own_product_is_right() {
  const Eigen::MatrixXd A = Eigen::MatrixXd::Random(700, 501), B = Eigen::MatrixXd::Random(501, 333);
  const Eigen::MatrixXd C = A * B;
  for (Eigen::Index i = 0; i < C.rows(); i += 77)
    for (Eigen::Index j = 0; j < C.cols(); j += 37) {
      double sum = 0;
      for (Eigen::Index k = 0; k < A.cols(); ++k) sum += A(i, k) * B(k, j);
      if (std::abs(C(i, j) - sum) > 1e-9) return false;
    }
  const gsc::Matrix of_library_type = A.leftCols(100).transpose() * A.leftCols(100);
  const Eigen::LLT<gsc::Matrix> factor(of_library_type);
  return factor.info() == Eigen::Success;
}

static bool matrices_cross_both_ways() {
  gsc::Random random(3);
  gsc::Model truth = gsc::bars_model(10, random);
  truth.W = gsc::Matrix(truth.W * 1.5);  // allocated here, in place of one of theirs
  gsc::Sample drawn = gsc::sample(truth, 501, random);
  const gsc::MatrixData data(std::move(drawn.data));

  gsc::FitOptions options;
  options.latents = 10;
  options.iterations = 10;
  gsc::FitResult result = gsc::fit(data, options, nullptr, truth);
  gsc::Model learned = std::move(result.state.model);
  learned.pi = Eigen::VectorXd::Constant(10, 0.2);
  learned.mu.conservativeResize(10);
  gsc::Posterior posterior = gsc::infer(learned, data, options.inference, {.variance = true, .states = 2});
  const gsc::Matrix mean = std::move(posterior.mean);
  const Eigen::MatrixXd reconstruction = mean * learned.W.transpose();
  posterior.states.resize(3, 3);
  try {
    options.latents = -1;
    gsc::fit(data, options);
    return false;
  } catch (const gsc::UsageError&) {  // an exception of the library's type is caught as such
  }
  return reconstruction.rows() == 501 && (reconstruction - data.values()).squaredNorm() < data.values().squaredNorm();
}

int main() {
  const bool product = own_product_is_right(), crossing = matrices_cross_both_ways();
  std::printf("gsc %d.%d: own product %s, matrices in and out %s\n", GSC_VERSION_MAJOR, GSC_VERSION_MINOR,
              product ? "right" : "WRONG", crossing ? "right" : "WRONG");
  return product && crossing ? 0 : 1;
}
