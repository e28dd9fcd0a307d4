// Missing values from the posterior of what was observed. With m = <s.z> and E = <(s.z)(s.z)'>
//
//   mean_d = b_d + w_d' m        variance_d = w_d' E w_d - (w_d' m)^2 + sigma_d^2        the last where d is missing
//
// Latents outside the candidates (C) are off in nearly all of the states that were summed, although little observed
// leaves many of them as likely as the prior has them. So the candidates' posterior, given that no other is on, is
// joined by an independent one of each other latent (outside_posterior.h):
//
//   q(s, z) = q(s_C, z_C) prod_{h not in C} q(s_h, z_h)

#include <gsc/missing.h>

#include <atomic>
#include <cmath>

#include "math/blas.h"
#include "truncated/block_inference.h"
#include "truncated/cpu_engine.h"
#include "truncated/gaps/outside_posterior.h"
#include "truncated/tree/gap_model.h"

namespace gsc {
namespace {

class Imputer {
 public:
  Imputer(const Model& model, const PreparedModel& prepared, bool denoise)
      : model_(model),
        prepared_(prepared),
        denoise_(denoise),
        intercept_(Vector::Zero(model.dimensions())),
        outside_(model, prepared) {
    if (model.intercept.size() > 0) intercept_ = model.intercept;
    W_ = Matrix::Zero(prepared.padded, model.dimensions());
    W_.topRows(prepared.latents) = prepared.scale.asDiagonal() * model.W.transpose();
    W_squared_ = W_.cwiseAbs2();
    noise_ = (2 * prepared.gaps->log_noise.array()).exp() / (2 * M_PI);
    const Vector mean = model.pi.cwiseProduct(model.mu);
    const Matrix covariance = prior_products(model) - mean * mean.transpose();
    prior_variance_ = (model.W * covariance).cwiseProduct(model.W).rowwise().sum();
  }

  /// The rows with gaps of a block that has been run, into those of the tables that begin with the block's first.
  /// probability: P(s = 1) of the block's rows, sorted as they are.
  void fill(const BlockInference& block, const Matrix& probability, MatrixBlock mean, MatrixBlock std) const {
    const GapRows& gaps = block.gaps;
    if (!gaps.any()) return;
    const Index count = gaps.count(), complete = gaps.complete(), D = prepared_.dimensions;
    const int size = prepared_.candidates;
    Matrix inside = Matrix::Zero(count, prepared_.padded), outside = inside, variances = inside;
    inside.bottomRows(gaps.empty()) = block.rows.middleRows(complete + gaps.partial(), gaps.empty());
    const Matrix diagonals = product(gaps.observed().topRows(count), prepared_.gaps->squares);
    std::vector<double> share(static_cast<std::size_t>(count), 1.0);  // of the states without others than candidates
    for (Index i = 0; i < gaps.partial(); ++i) {
      std::vector<bool> candidate(static_cast<std::size_t>(prepared_.latents));
      for (int p = 0; p < size; ++p) candidate[block.product_latents(i, p)] = true;
      for (Index h = 0; h < prepared_.latents; ++h)
        if (!candidate[static_cast<std::size_t>(h)]) share[static_cast<std::size_t>(i)] -= probability(complete + i, h);
      share[static_cast<std::size_t>(i)] = std::max(share[static_cast<std::size_t>(i)], 1e-9);
      for (int p = 0; p < size; ++p) {
        const Index h = block.product_latents(i, p);
        inside(i, h) = block.rows(complete + i, h) / share[static_cast<std::size_t>(i)];
      }
      outside_.infer(candidate, block.Y.row(complete + i), gaps.observed().row(i), diagonals.row(i), inside.row(i),
                     outside.row(i), variances.row(i));
    }
    const Matrix of_candidates = product(inside, W_), of_others = product(outside, W_);
    Matrix variance = product(variances, W_squared_);
    Matrix basis(size, D), products(size, size);
    for (Index i = 0; i < count; ++i) {
      if (i < gaps.partial()) {
        const double* packed = block.products.row(i).data();
        for (int p = 0; p < size; ++p) {
          basis.row(p) = W_.row(block.product_latents(i, p));
          for (int q = 0; q <= p; ++q) products(p, q) = products(q, p) = *packed++ / share[static_cast<std::size_t>(i)];
        }
        variance.row(i) += (products * basis).cwiseProduct(basis).colwise().sum() - of_candidates.row(i).cwiseAbs2();
      } else {
        variance.row(i) = prior_variance_.transpose();
      }
      const Index row = gaps.origin(complete + i);
      for (Index d = 0; d < D; ++d) {
        const bool missing = gaps.observed()(i, d) == 0;
        if (!missing && !denoise_) continue;
        mean(row, d) = intercept_[d] + of_candidates(i, d) + of_others(i, d);
        std(row, d) = std::sqrt(std::max(variance(i, d), 0.0) + (missing ? noise_[d] : 0));
      }
    }
  }

 private:
  const Model& model_;
  const PreparedModel& prepared_;
  const bool denoise_;
  Vector intercept_, noise_, prior_variance_;
  Matrix W_, W_squared_;  // padded x D, of scaled latents
  const OutsidePosterior outside_;
};

}  // namespace

Imputed impute_on_candidates(const Model& model, const Data& data, const InferenceOptions& options,
                             const ImputeOptions& what, Index first, Index count, const StopRequest& stop) {
  const PreparedModel prepared(model, options);
  const Imputer imputer(model, prepared, what.denoise_observed);
  const BlockPlan plan = plan_blocks(prepared, first, count, options.threads);
  std::vector<std::unique_ptr<BlockInference>> blocks(static_cast<std::size_t>(plan.threads));
  Imputed result{Matrix(count, data.cols()), Matrix::Zero(count, data.cols())};
  std::atomic<std::int64_t> clamped = 0;
  parallel_blocks(plan, stop, [&](int thread, Index row, Index rows) {
    auto& mine = blocks[static_cast<std::size_t>(thread)];
    if (!mine) {
      mine = std::make_unique<BlockInference>(prepared, plan.block_rows);
      mine->keep_products(what.denoise_observed);
    }
    auto mean = result.mean.middleRows(row - first, rows);
    data.read(row, mean);  // what is observed stays to the bit
    Matrix probability(rows, prepared.latents);
    BlockPosterior posterior;
    posterior.probability = probability.data();
    clamped += mine->run(prepared, data, row, rows, nullptr, posterior);
    imputer.fill(*mine, probability, mean, result.std.middleRows(row - first, rows));
  });
  result.clamped_pivots = clamped;
  return result;
}

}  // namespace gsc
