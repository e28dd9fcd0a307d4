// Posteriors of the truncated and exact methods: a pass over the data that keeps every data point's.

#include "inference/checks.h"
#include "math/numeric_scope.h"
#include "truncated/cpu_engine.h"
#include "truncated/most_probable_states.h"

namespace gsc {

Posterior CpuEngine::infer(const Model& model, const PosteriorRequest& request, Index first, Index count,
                           const StopRequest& stop) {
  const NumericScope scope;
  require_fit(model, data_, options_);
  const PreparedModel& prepared = this->prepared(model);
  const BlockPlan plan = plan_blocks(prepared, first, count, options_.threads);
  reserve(plan.threads);
  const Index H = prepared.latents;

  Posterior result;
  result.max_active = prepared.max_active;
  result.mean.resize(count, H);
  result.probability.resize(count, H);
  result.log_likelihood.resize(count);
  if (request.variance) result.variance.resize(count, H);
  if (request.candidates || request.states > 0) result.candidates.resize(count, prepared.candidates);
  if (request.states > 0) {
    result.states.setConstant(count, request.states * result.max_active, -1);
    result.state_weights.setZero(count, request.states);
  }

  const Vector variance_scale = prepared.scale.cwiseAbs2();
  parallel_blocks(plan, stop, [&](int thread, Index row, Index rows) {
    BlockInference& block = buffers(prepared, thread, plan.block_rows);
    const Index out = row - first;
    BlockPosterior fields;
    fields.probability = result.probability.row(out).data();
    if (request.variance) fields.second_moment = result.variance.row(out).data();
    if (result.candidates.size() > 0) fields.candidates = result.candidates.row(out).data();
    block.run(prepared, data_, row, rows, nullptr, fields);
    block.restore_order(prepared, fields);

    const auto Y = block.Y.topRows(rows);
    const Matrix PY = model.noise.solve(Y.transpose());
    result.log_likelihood.segment(out, rows) =
        block.log_sums.head(rows).array() + prepared.constant -
        0.5 * (Y.transpose().cwiseProduct(PY)).colwise().sum().transpose().array();
    result.mean.middleRows(out, rows) = block.rows.topLeftCorner(rows, H) * prepared.scale.asDiagonal();
    if (request.variance) {
      auto variance = result.variance.middleRows(out, rows);
      variance = (variance * variance_scale.asDiagonal() - result.mean.middleRows(out, rows).cwiseAbs2()).cwiseMax(0.0);
    }
    if (request.states > 0) {
      product(rows, block.Y, prepared.projection, block.rows);  // eta again: the kernel has turned it into means
      MostProbableStates most_probable(prepared, request.states);
      for (Index i = 0; i < rows; ++i) {
        const Index n = block.gaps.origin(i), gap = block.gaps.any() ? i - block.gaps.complete() : -1;
        most_probable.find(block.rows.row(n).transpose() + prepared.eta_offset, result.candidates.row(out + n).data(),
                           result.states.row(out + n).data(), result.state_weights.row(out + n).data(),
                           gap >= 0 ? block.gaps.observed().row(gap).data() : nullptr);
        // With nothing observed the posterior is the prior, on all states.
        if (gap >= 0 && gap >= block.gaps.partial())
          result.state_weights.row(out + n) *= std::exp(most_probable.log_sum() + (-model.pi.array()).log1p().sum());
      }
    }
  });
  if (!request.candidates) result.candidates.resize(0, 0);
  return result;
}

}  // namespace gsc
