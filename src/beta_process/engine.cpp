#include "beta_process/engine.h"

#include <cmath>
#include <optional>

#include "data/finite.h"
#include "inference/checks.h"
#include "inference/parallel_blocks.h"
#include "math/blas.h"
#include "math/numeric_scope.h"

namespace gsc {
namespace {

CodeModel code_model(const Model& model) {
  if (model.noise.type() != NoiseType::scalar)
    throw UsageError("noise is " + std::string(to_string(model.noise.type())) +
                     ", but the beta-process method is for scalar noise");
  if (model.slab.type() != SlabType::diagonal || model.mu.cwiseAbs().maxCoeff() > 0)
    throw UsageError(
        "the model's amplitudes have means or covariances, but the beta-process method is for independent ones around "
        "zero; learn with it, or infer with the truncated method");
  return {model.W, (model.pi.array() / (1 - model.pi.array())).log().matrix(), model.slab.variances().cwiseInverse(),
          1 / model.noise.mean_variance()};
}

/// One thread's buffers, and what it does with a block of rows.
class DrawnBlock {
 public:
  DrawnBlock(const CodeModel& model, Index rows)
      : model_(model),
        sampler_(model),
        y_(rows, model.dimensions),
        observed_(rows, model.dimensions),
        correlations_(rows, model.latents),
        own_(rows, model.latents),
        code_(model.latents),
        left_(model.dimensions),
        square_(model.latents) {}

  void load(const Data& data, const Vector& intercept, bool missing, Index first, Index rows) {
    auto y = y_.topRows(rows);
    data.read(first, y);
    missing ? require_not_infinite(data, first, y) : require_finite(data, first, y);
    if (intercept.size() > 0) y.rowwise() -= intercept.transpose();
    gaps_ = missing && y.hasNaN();
    if (gaps_) {
      observed_.topRows(rows) = y.array().isNaN().select(0.0, Matrix::Ones(rows, y.cols()));
      y = y.array().isNaN().select(0.0, y).eval();
      product(rows, observed_, model_.squares, own_);
    }
    product(rows, y_, model_.W, correlations_);
  }

  /// Adds the posterior of row i of the block to rows of zeros.
  template <class Row>
  void infer(Index i, Index samples, CounterRandom random, Row mean, Row probability, double* variance) {
    const bool masked = gaps_ && observed_.row(i).minCoeff() == 0;
    code_.setZero();
    square_.setZero();
    sampler_.forget_moments();
    for (Index sweep = 0; sweep < 2 * samples; ++sweep) {
      if (masked) {
        left_ = y_.row(i).transpose();
        sampler_.sweep_masked(&observed_(i, 0), &own_(i, 0), left_.data(), code_.data(), random);
      } else {
        sampler_.sweep(&correlations_(i, 0), code_.data(), random);
      }
      if (sweep < samples) continue;
      const CodeSampler::Moments& now = sampler_.moments(&y_(i, 0), masked ? &observed_(i, 0) : nullptr);
      for (std::size_t k = 0; k < now.latents.size(); ++k) {
        const Index h = now.latents[k];
        const double m = now.mean[static_cast<Index>(k)];
        mean[h] += m;
        probability[h] += 1;
        square_[h] += m * m + now.variance[static_cast<Index>(k)];
      }
    }
    const auto S = static_cast<double>(samples);
    mean /= S;
    probability /= S;
    if (variance == nullptr) return;
    for (Index h = 0; h < model_.latents; ++h) variance[h] = std::max(0.0, square_[h] / S - mean[h] * mean[h]);
  }

 private:
  const CodeModel& model_;
  CodeSampler sampler_;
  Matrix y_, observed_, correlations_, own_;
  Vector code_, left_, square_;
  bool gaps_ = false;
};

}  // namespace

Statistics BetaProcessEngine::e_step(const Model&, const Pass&) {
  throw UsageError(
      "the beta-process method draws codes and has no E-step; choose truncated, exact or factored for free energies");
}

Posterior BetaProcessEngine::infer(const Model& model, const PosteriorRequest& request, Index first, Index count,
                                   const StopRequest& stop) {
  const NumericScope scope;
  require_fit(model, data_, options_);
  if (request.states > 0 || request.candidates)
    throw UsageError(std::string(request.states > 0 ? "states" : "candidates") +
                     " asked for, but the beta-process method has none; use the truncated method for them");
  const CodeModel& prepared = prepared_.of(model, [&] { return code_model(model); });
  const Index H = prepared.latents;
  Posterior result;
  result.mean = Matrix::Zero(count, H);
  result.probability = Matrix::Zero(count, H);
  if (request.variance) result.variance.resize(count, H);
  const double sweep = 3.0 * static_cast<double>(H);  // nanoseconds
  const BlockPlan plan(first, count, 2 * (H + prepared.dimensions), 2 * static_cast<double>(options_.draws) * sweep,
                       thread_count(options_.threads));
  std::vector<std::optional<DrawnBlock>> threads(static_cast<std::size_t>(plan.threads));
  parallel_blocks(plan, stop, [&](int thread, Index row, Index rows) {
    auto& block = threads[static_cast<std::size_t>(thread)];
    if (!block) block.emplace(prepared, plan.block_rows);
    block->load(data_, model.intercept, options_.missing == Missing::nan, row, rows);
    for (Index i = 0; i < rows; ++i) {
      const Index out = row - first + i;
      block->infer(i, options_.draws, CounterRandom{static_cast<std::uint64_t>(row + i)}, result.mean.row(out),
                   result.probability.row(out), request.variance ? &result.variance(out, 0) : nullptr);
    }
  });
  return result;
}

Imputed impute_by_draws(const Model& model, const Data& data, const InferenceOptions& options,
                        const ImputeOptions& what, Index first, Index count, const StopRequest& stop) {
  const Posterior posterior = BetaProcessEngine(data, options).infer(model, {.variance = true}, first, count, stop);
  Matrix modelled = posterior.mean * model.W.transpose();
  if (model.intercept.size() > 0) modelled.rowwise() += model.intercept.transpose();
  const Matrix variance = posterior.variance * model.W.transpose().cwiseAbs2();
  const double noise = model.noise.mean_variance();
  Imputed result{Matrix(count, data.cols()), Matrix::Zero(count, data.cols())};
  data.read(first, result.mean);
  for (Index i = 0; i < result.mean.size(); ++i) {
    const bool missing = std::isnan(result.mean.data()[i]);
    if (!missing && !what.denoise_observed) continue;
    result.mean.data()[i] = modelled.data()[i];
    result.std.data()[i] = std::sqrt(variance.data()[i] + (missing ? noise : 0));
  }
  return result;
}

}  // namespace gsc
