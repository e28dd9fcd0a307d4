#include "truncated/tree/prepared_model.h"

#include <cmath>
#include <numbers>

#include "truncated/tree/gap_model.h"

namespace gsc {

PreparedModel::PreparedModel(const Model& model, const InferenceOptions& options)
    : dimensions(model.dimensions()),
      latents(model.latents()),
      padded((latents + kPadding - 1) / kPadding * kPadding),
      candidates(static_cast<int>(state_space(options, latents).candidates)),
      max_active(static_cast<int>(state_space(options, latents).max_active)),
      selection(options.selection),
      precision(options.precision),
      full_slab(model.slab.type() == SlabType::full),
      share_clusters(latents <= 64 && state_count(candidates, max_active) <= 1 << 17),
      intercept(model.intercept) {
  const Vector psi = model.slab.variances();
  const Matrix PW = model.noise.solve(model.W);
  Matrix G = Matrix::Zero(latents, latents);
  add_product_transposed(model.W, PW, G);
  const Vector J_diagonal = G.diagonal() + psi.cwiseInverse();
  scale = J_diagonal.cwiseSqrt().cwiseInverse();

  projection = Matrix::Zero(dimensions, padded);
  projection.leftCols(latents) = PW * scale.asDiagonal();
  const Vector mu_over_psi = model.mu.cwiseQuotient(psi);
  eta_offset = Vector::Zero(padded);
  eta_offset.head(latents) = mu_over_psi.cwiseProduct(scale);

  logit_pi = (model.pi.array() / (1 - model.pi.array())).log();
  constexpr double kInert = -1e30;
  a = Vector::Constant(padded, kInert);
  a.head(latents) =
      logit_pi.array() - 0.5 * (psi.array() * J_diagonal.array()).log() - 0.5 * model.mu.array() * mu_over_psi.array();
  score_offset = Eigen::VectorXf::Constant(padded, static_cast<float>(kInert));
  score_offset.head(latents) = (a.head(latents) - logit_pi).cast<float>();

  // Symmetric by construction, so that the order in which a state's latents are visited does not matter.
  G = 0.5 * (G + G.transpose()).eval();
  J = Matrix::Zero(latents, padded);
  J.leftCols(latents) = scale.asDiagonal() * G * scale.asDiagonal();
  if (full_slab) {
    gram = J.leftCols(latents);
    slab = scale.cwiseInverse().asDiagonal() * model.slab.covariance() * scale.cwiseInverse().asDiagonal();
    slab_mean = model.mu.cwiseQuotient(scale);
  }
  J.diagonal().setOnes();
  J_single = J.cast<float>();

  if (options.missing == Missing::nan) gaps = std::make_shared<const GapModel>(model, scale, padded);

  constant = (-model.pi.array()).log1p().sum() -
             0.5 * (static_cast<double>(dimensions) * std::log(2 * std::numbers::pi) + model.noise.log_determinant());
}

}  // namespace gsc
