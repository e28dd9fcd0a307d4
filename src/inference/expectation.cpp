// e_step: a pass over the data that leaves Statistics.

#include "inference/expectation.h"

#include <optional>
#include <vector>

#include "inference/block_inference.h"
#include "inference/factored.h"
#include "math/numeric_scope.h"

namespace gsc {
namespace {

/// What one thread gathers, in the scaled units of PreparedModel.
struct ThreadSums {
  ThreadSums(const Model& model, const PreparedModel& prepared, Index block_rows, bool mean_products)
      : block(prepared, block_rows),
        sums(prepared),
        YZ(Matrix::Zero(prepared.dimensions, prepared.padded)),
        YY(Matrix::Zero(prepared.dimensions, model.noise.type() == NoiseType::full ? prepared.dimensions : 1)),
        MM(Matrix::Zero(mean_products ? prepared.padded : 0, mean_products ? prepared.padded : 0)) {}

  BlockInference block;
  BlockSums sums;
  Matrix YZ, YY, MM;
  double log_sum = 0;
};

/// Copies the upper triangle to the lower.
Matrix symmetric(const Matrix& upper) { return upper.selfadjointView<Eigen::Upper>(); }

Statistics unscaled(const Model& model, const PreparedModel& prepared, const ThreadSums& thread) {
  const Index H = prepared.latents;
  const auto t = prepared.scale.asDiagonal();
  const auto s1 = thread.sums.single_s.head(H), m1 = thread.sums.single_m.head(H), ZZ1 = thread.sums.single_ZZ.head(H);
  Statistics statistics(model);
  statistics.s = thread.sums.s + s1;
  statistics.m = t * (thread.sums.m + m1);
  statistics.YZ = thread.YZ.leftCols(H) * t;
  statistics.YY = thread.YY;
  Matrix ZZ = symmetric(thread.sums.ZZ);
  ZZ.diagonal() += ZZ1;
  statistics.ZZ = t * ZZ * t;
  if (thread.MM.size() > 0) statistics.MM = t * thread.MM.topLeftCorner(H, H) * t;
  statistics.clamped_pivots = thread.sums.clamped_pivots;
  if (prepared.full_slab) {
    // A singleton has lambda = (z - mu)/psi.
    const Vector psi = prepared.slab.diagonal(), mu = prepared.slab_mean;
    const auto t_inverse = prepared.scale.cwiseInverse().asDiagonal();
    statistics.lambda = t_inverse * (thread.sums.lambda + (m1 - s1.cwiseProduct(mu)).cwiseQuotient(psi));
    Matrix T = symmetric(thread.sums.T);
    T.diagonal().array() +=
        (ZZ1.array() - 2 * mu.array() * m1.array() + mu.array().square() * s1.array()) / psi.array().square() -
        s1.array() / psi.array();
    statistics.T = t_inverse * T * t_inverse;
    statistics.SS = symmetric(thread.sums.SS);
    statistics.SS.diagonal() = statistics.s;
  }
  return statistics;
}

/// sum_n y'Py = trace(P YY)
double weighted_square(const Noise& noise, const Matrix& YY) {
  if (noise.type() == NoiseType::full) return noise.solve(YY).trace();
  return noise.type() == NoiseType::scalar ? YY.sum() / noise.values()(0, 0) : YY.cwiseQuotient(noise.values()).sum();
}

}  // namespace

Statistics empty_statistics(const Model& model, const InferenceOptions& options) {
  Statistics statistics(model);
  if (options.mean_products) statistics.MM = Matrix::Zero(model.latents(), model.latents());
  return statistics;
}

Statistics e_step(const Model& model, const Data& data, const InferenceOptions& options, const StopRequest& stop) {
  const NumericScope scope;
  if (options.method != Method::factored) return gather_statistics(model, data, options, stop, nullptr);
  require_fit(model, data, options);
  return factored_expectation(model, data, options, stop);
}

Statistics gather_statistics(const Model& model, const Data& data, const InferenceOptions& options,
                             const StopRequest& stop, std::uint64_t* keys) {
  require_fit(model, data, options);
  const PreparedModel prepared(model, options);
  const BlockPlan plan = plan_blocks(prepared, 0, data.rows(), options.threads);
  std::vector<std::optional<ThreadSums>> threads(static_cast<std::size_t>(plan.threads));
  const bool full_noise = model.noise.type() == NoiseType::full;

  parallel_blocks(plan, stop, [&](int thread, Index first, Index rows) {
    auto& mine = threads[static_cast<std::size_t>(thread)];
    if (!mine) mine.emplace(model, prepared, plan.block_rows, options.mean_products);
    BlockPosterior posterior;
    if (keys != nullptr) posterior.keys = keys + first;
    mine->block.run(prepared, data, first, rows, &mine->sums, posterior);
    mine->log_sum += mine->block.log_sums.head(rows).sum();
    add_product_transposed(rows, mine->block.Y, mine->block.rows, mine->YZ);
    if (options.mean_products) add_product_transposed(rows, mine->block.rows, mine->block.rows, mine->MM);
    if (full_noise)
      add_product_transposed(rows, mine->block.Y, mine->block.Y, mine->YY);
    else
      mine->YY += mine->block.Y.topRows(rows).colwise().squaredNorm().transpose();
  });

  Statistics total = empty_statistics(model, options);
  for (const auto& thread : threads) {
    if (!thread) continue;
    total += unscaled(model, prepared, *thread);
    total.free_energy += thread->log_sum;
  }
  total.count = static_cast<double>(data.rows());
  total.free_energy += total.count * prepared.constant - 0.5 * weighted_square(model.noise, total.YY);
  return total;
}

}  // namespace gsc
