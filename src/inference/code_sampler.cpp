#include "inference/code_sampler.h"

#include <Eigen/Cholesky>
#include <cmath>

#include "inference/code_kernel.h"
#include "math/blas.h"

namespace gsc {
namespace {

std::size_t size(Index count) { return static_cast<std::size_t>(count); }

}  // namespace

CodeModel::CodeModel(const Matrix& basis, const Vector& logits, double slab, double noise)
    : dimensions(basis.rows()),
      latents(basis.cols()),
      slab_precision(slab),
      noise_precision(noise),
      W(basis),
      Wt(basis.transpose()),
      squares(basis.cwiseAbs2()),
      gram(product(Wt, basis)),
      logit_pi(logits),
      own(gram.diagonal()),
      precision((slab + noise * own.array()).matrix()),
      offset((logits.array() + 0.5 * (slab / precision.array()).log()).matrix()) {}

CodeSampler::CodeSampler(const CodeModel& model)
    : model_(model),
      uniforms_(size(model.latents)),
      thresholds_(size(model.latents)),
      precision_(size(model.latents)) {}

void CodeSampler::draw_uniforms(CounterRandom& random) {
  for (double& u : uniforms_) u = random.uniform();
}

void CodeSampler::sweep(double* correlations, double* code, CounterRandom& random) {
  const std::size_t H = size(model_.latents);
  for (std::size_t h = 0; h < H; ++h)
    if (code[h] != 0) subtract(H, code[h], &model_.gram(static_cast<Index>(h), 0), correlations);
  sweep_again(correlations, code, random);
}

void CodeSampler::sweep_again(double* correlations, double* code, CounterRandom& random) {
  const std::size_t H = size(model_.latents);
  const double *own = model_.own.data(), *v = model_.precision.data();
  draw_uniforms(random);
  code_thresholds(H, uniforms_.data(), model_.offset.data(), v, model_.noise_precision, thresholds_.data());
  for (std::size_t h = next_event(0, H, correlations, code, own, thresholds_.data()); h < H;
       h = next_event(h + 1, H, correlations, code, own, thresholds_.data())) {
    const double e = correlations[h] + code[h] * own[h];
    const double next =
        e * e > thresholds_[h] ? (model_.noise_precision * e + std::sqrt(v[h]) * random.normal()) / v[h] : 0;
    subtract(H, next - code[h], &model_.gram(static_cast<Index>(h), 0), correlations);
    code[h] = next;
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
  draw_uniforms(random);
  code_precisions(H, own, model_.logit_pi.data(), model_.slab_precision, model_.noise_precision, precision_.data(),
                  thresholds_.data());
  code_thresholds(H, uniforms_.data(), thresholds_.data(), precision_.data(), model_.noise_precision,
                  thresholds_.data());
  for (std::size_t h = 0; h < H; ++h) {
    const double e = dot(D, &model_.Wt(static_cast<Index>(h), 0), residual) + code[h] * own[h], v = precision_[h];
    const double next = e * e > thresholds_[h] ? (model_.noise_precision * e + std::sqrt(v) * random.normal()) / v : 0;
    if (next == code[h]) continue;
    move(h, next - code[h]);
    code[h] = next;
  }
}

const CodeSampler::Means& CodeSampler::means(const double* projection, const double* code) {
  means_.latents.clear();
  for (Index h = 0; h < model_.latents; ++h)
    if (code[h] != 0) means_.latents.push_back(h);
  // (g_s I + g_e G) a = g_e W'y on the latents that are on.
  const auto& on = means_.latents;
  Matrix J = model_.noise_precision * model_.gram(on, on);
  J.diagonal().array() += model_.slab_precision;
  means_.values.resize(static_cast<Index>(on.size()));
  for (std::size_t i = 0; i < on.size(); ++i)
    means_.values[static_cast<Index>(i)] = model_.noise_precision * projection[on[i]];
  if (!on.empty()) J.llt().solveInPlace(means_.values);
  return means_;
}

}  // namespace gsc
