#include "beta_process/code_sampler.h"

#include <Eigen/Cholesky>
#include <cmath>

#include "beta_process/gibbs_code_kernel.h"
#include "math/blas.h"

namespace gsc {
namespace {

std::size_t size(Index count) { return static_cast<std::size_t>(count); }

}  // namespace

CodeModel::CodeModel(const Matrix& basis, const Vector& logits, const Vector& slab, double noise)
    : dimensions(basis.rows()),
      latents(basis.cols()),
      noise_precision(noise),
      slab_precision(slab),
      W(basis),
      Wt(basis.transpose()),
      squares(basis.cwiseAbs2()),
      gram(product(Wt, basis)),
      logit_pi(logits),
      own(gram.diagonal()),
      precision(slab + noise * own),
      offset((logits.array() + 0.5 * (slab.array() / precision.array()).log()).matrix()) {}

CodeSampler::CodeSampler(const CodeModel& model)
    : model_(model), thresholds_(size(model.latents)), precision_(size(model.latents)), offset_(size(model.latents)) {}

void CodeSampler::take_out(Index latent, double value, double* correlations) const {
  subtract(size(model_.latents), value, &model_.gram(latent, 0), correlations);
}

void CodeSampler::sweep(double* correlations, double* code, CounterRandom& random, bool last) {
  const std::size_t H = size(model_.latents);
  const double *own = model_.own.data(), *v = model_.precision.data(), *t = thresholds_.data();
  on_.clear();
  code_thresholds(H, random.leave_out(H), model_.offset.data(), v, model_.noise_precision, thresholds_.data());
  for (std::size_t h = next_event(0, H, correlations, code, own, t); h < H;
       h = next_event(h + 1, H, correlations, code, own, t)) {
    const double e = correlations[h] + code[h] * own[h];
    const double next = e * e > t[h] ? (model_.noise_precision * e + std::sqrt(v[h]) * random.normal()) / v[h] : 0;
    // Of the latents before this one only a further sweep would read.
    const std::size_t from = last ? h : 0;
    subtract(H - from, next - code[h], &model_.gram(static_cast<Index>(h), static_cast<Index>(from)),
             correlations + from);
    code[h] = next;
    if (next != 0) on_.push_back(static_cast<Index>(h));
  }
}

void CodeSampler::sweep_masked(const double* observed, const double* own, double* residual, double* code,
                               CounterRandom& random) {
  const std::size_t H = size(model_.latents), D = size(model_.dimensions);
  // a_h W_dh is taken from the observed entries only.
  const auto move = [&](std::size_t h, double change) {
    const double* w = &model_.Wt(static_cast<Index>(h), 0);
    for (std::size_t d = 0; d < D; ++d) residual[d] -= observed[d] * (change * w[d]);
  };
  for (std::size_t h = 0; h < H; ++h)
    if (code[h] != 0) move(h, code[h]);
  on_.clear();
  code_precisions(H, own, model_.logit_pi.data(), model_.slab_precision.data(), model_.noise_precision,
                  precision_.data(), offset_.data());
  code_thresholds(H, random.leave_out(H), offset_.data(), precision_.data(), model_.noise_precision,
                  thresholds_.data());
  for (std::size_t h = 0; h < H; ++h) {
    const double e = dot(D, &model_.Wt(static_cast<Index>(h), 0), residual) + code[h] * own[h], v = precision_[h];
    const double next = e * e > thresholds_[h] ? (model_.noise_precision * e + std::sqrt(v) * random.normal()) / v : 0;
    if (next != 0) on_.push_back(static_cast<Index>(h));
    if (next == code[h]) continue;
    move(h, next - code[h]);
    code[h] = next;
  }
}

/// On the latents that are on, <a> = J^-1 g_e W'y with J = diag(g) + g_e W'W, and the variances are the diagonal of
/// J^-1.
const CodeSampler::Moments& CodeSampler::moments(const double* y, const double* observed) {
  if (known_ && on_ == moments_.latents) return moments_;
  known_ = true;
  moments_.latents = on_;
  const auto K = static_cast<Index>(on_.size());
  const std::size_t D = size(model_.dimensions);
  moments_.mean.resize(K);
  moments_.variance.resize(K);
  if (K == 0) return moments_;
  Matrix J(K, K);
  for (Index i = 0; i < K; ++i) {
    const Index h = on_[size(i)];
    const double* w = &model_.Wt(h, 0);
    moments_.mean[i] = model_.noise_precision * dot(D, w, y);
    for (Index j = 0; j <= i; ++j) {
      const Index k = on_[size(j)];
      double product = model_.gram(h, k);
      if (observed != nullptr) {
        product = 0;
        for (Index d = 0; d < model_.dimensions; ++d) product += observed[d] * w[d] * model_.Wt(k, d);
      }
      J(i, j) = J(j, i) = model_.noise_precision * product;
    }
    J(i, i) += model_.slab_precision[h];
  }
  const Eigen::LLT<Matrix> factor(J);
  factor.solveInPlace(moments_.mean);
  moments_.variance = factor.solve(Matrix::Identity(K, K)).diagonal();
  return moments_;
}

}  // namespace gsc
