#include "tasks/reconstruct.h"

#include <gsc/engine.h>

#include <algorithm>

#include "distributed/together.h"
#include "math/numeric_scope.h"
#include "tasks/patches.h"

namespace gsc {
namespace {

/// The weight of a patch: one over its expected squared error, as the model sees it.
Vector patch_weights(const Matrix& variances, double floor, PatchWeights kind) {
  if (kind == PatchWeights::equal) return Vector::Ones(variances.rows());
  return (variances.rowwise().mean().array() + floor).inverse();
}

}  // namespace

Reconstruction reconstruct(const Picture& noisy, const Model& model, const ModelPlan& plan,
                           const std::function<bool(double)>& go_on) {
  const NumericScope scope;
  constexpr Index kBlock = 8192;
  const PatchData data(noisy, grid_positions(noisy.height(), noisy.width(), plan.patch, plan.stride),
                       plan.remove_mean());
  PatchAverager averager(data.positions(), data.channels(), true);
  const Matrix W_transposed = model.W.transpose(), W_squared = W_transposed.cwiseAbs2();
  // What is left of the noise in a patch's mean.
  const double pixels = static_cast<double>(plan.patch * plan.patch);
  const double noise = model.noise.mean_variance(), mean_variance = plan.remove_mean() ? noise / pixels : 0;
  const std::unique_ptr<Engine> engine = make_engine(data, plan.fit.inference);
  Matrix block, means;
  const auto add_block = [&](Index first) {
    const Index count = std::min(kBlock, data.rows() - first);
    const Posterior posterior =
        engine->infer(model, {.variance = true, .states = 0, .candidates = false}, first, count, {});
    if (plan.remove_mean()) {
      block.resize(count, data.cols());
      data.read(first, block, means);
    }
    Matrix patches = posterior.mean * W_transposed;
    if (model.intercept.size() > 0) patches.rowwise() += model.intercept.transpose();
    if (plan.remove_mean()) add_means(patches, means);
    // Var(y_d) = sum_h W_dh^2 Var(s_h z_h): the covariances between latents are left out.
    Matrix variances = ((posterior.variance * W_squared).array() + mean_variance).matrix();
    if (model.W_variance.size() > 0)
      variances += (posterior.variance + posterior.mean.cwiseAbs2()) * model.W_variance.transpose();
    averager.add_block(first, patches, patch_weights(variances, plan.weight_floor * noise / pixels, plan.weights),
                       variances);
  };
  Team& team = *plan.fit.sharing.team;
  const Index blocks = (data.rows() + kBlock - 1) / kBlock;
  const Index begin = blocks * team.rank() / team.size(), end = blocks * (team.rank() + 1) / team.size();
  together(team, [&] {
    for (Index b = begin; b < end; ++b) {
      add_block(b * kBlock);
      if (go_on && !go_on(static_cast<double>(b + 1 - begin) / static_cast<double>(end - begin)))
        throw Interrupted("interrupted while denoising");
    }
  });
  averager.add_up(team);
  return {averager.result(noisy.depth), averager.std_result()};
}

}  // namespace gsc
