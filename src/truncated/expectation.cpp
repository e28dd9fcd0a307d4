// The E-step of the truncated and exact methods: a pass over the data that leaves Statistics.

#include <algorithm>
#include <optional>
#include <vector>

#include "data/row_list.h"
#include "inference/checks.h"
#include "math/numeric_scope.h"
#include "truncated/cpu_engine.h"
#include "truncated/missing_sums.h"

namespace gsc {
namespace {

/// Into statistics that have their shapes, in the model's units. Matrices of latents x latents are large: there are
/// none but those that are filled.
void unscale(const PreparedModel& prepared, const ThreadSums& thread, Statistics& statistics) {
  const Index H = prepared.latents;
  const auto t = prepared.scale.asDiagonal();
  const auto s1 = thread.sums.single_s.head(H), m1 = thread.sums.single_m.head(H), ZZ1 = thread.sums.single_ZZ.head(H);
  const auto symmetric = [](const Matrix& upper) { return upper.selfadjointView<Eigen::Upper>(); };
  statistics.s = thread.sums.s + s1;
  statistics.m = t * (thread.sums.m + m1);
  statistics.YZ = thread.YZ.leftCols(H) * t;
  statistics.YY = thread.YY;
  statistics.y = thread.y;
  statistics.ZZ = symmetric(thread.sums.ZZ);
  statistics.ZZ.diagonal() += ZZ1;
  statistics.ZZ.noalias() = t * statistics.ZZ * t;  // entry by entry
  if (thread.MM.size() > 0) statistics.MM.noalias() = t * thread.MM.topLeftCorner(H, H) * t;
  statistics.clamped_pivots = thread.sums.clamped_pivots;
  if (prepared.full_slab) {
    // A singleton has lambda = (z - mu)/psi.
    const Vector psi = prepared.slab.diagonal(), mu = prepared.slab_mean;
    const auto t_inverse = prepared.scale.cwiseInverse().asDiagonal();
    statistics.lambda = t_inverse * (thread.sums.lambda + (m1 - s1.cwiseProduct(mu)).cwiseQuotient(psi));
    Matrix& T = statistics.T;
    T = symmetric(thread.sums.T);
    T.diagonal().array() +=
        (ZZ1.array() - 2 * mu.array() * m1.array() + mu.array().square() * s1.array()) / psi.array().square() -
        s1.array() / psi.array();
    T.noalias() = t_inverse * T * t_inverse;
    statistics.SS = symmetric(thread.sums.SS);
    statistics.SS.diagonal() = statistics.s;
  }
}

/// So many data points of which nothing was observed: they have the prior, under which E[lambda] and T vanish.
void add_prior(const Model& model, double count, Statistics& statistics) {
  statistics.s += count * model.pi;
  statistics.m += count * model.pi.cwiseProduct(model.mu);
  statistics.ZZ += count * prior_products(model);
  if (model.slab.type() == SlabType::diagonal) return;
  Matrix together = model.pi * model.pi.transpose();
  together.diagonal() = model.pi;
  statistics.SS += count * together;
}

/// sum_n y'Py = trace(P YY)
double weighted_square(const Noise& noise, const Matrix& YY) {
  if (noise.type() == NoiseType::full) return noise.solve(YY).trace();
  return noise.type() == NoiseType::scalar ? YY.sum() / noise.values()(0, 0) : YY.cwiseQuotient(noise.values()).sum();
}

}  // namespace

Statistics CpuEngine::e_step(const Model& model, const Pass& pass) {
  const NumericScope scope;
  require_fit(model, data_, options_);
  const RowList listed(data_, pass.rows.value_or(std::span<const Index>()));
  const Data& data = pass.rows ? static_cast<const Data&>(listed) : data_;
  Statistics total(model);
  add_optional_shapes(total, model, options_);
  if (data.rows() == 0) return total;

  const PreparedModel& prepared = this->prepared(model);
  const BlockPlan plan = plan_blocks(prepared, 0, data.rows(), options_.threads);
  reserve(plan.threads);
  std::vector<ThreadSums*> threads(static_cast<std::size_t>(plan.threads));  // those that have any
  const bool full_noise = model.noise.type() == NoiseType::full;
  std::optional<MissingSums> missing;
  if (prepared.gaps) missing.emplace(model, prepared, options_, plan.threads);
  const auto add_block = [&](int thread, Index first, Index rows) {
    BlockInference& block = buffers(prepared, thread, plan.block_rows);
    if (missing) block.keep_products(false);
    ThreadSums*& mine = threads[static_cast<std::size_t>(thread)];
    if (mine == nullptr) mine = &cleared_sums(model, prepared, thread);
    BlockPosterior posterior;
    if (pass.keys != nullptr) posterior.keys = pass.keys + first;
    block.run(prepared, data, first, rows, &mine->sums, posterior);
    if (posterior.keys != nullptr) block.gaps.restore(posterior.keys, 1);
    mine->empty += block.gaps.empty();
    mine->log_sum += block.log_sums.head(rows).sum();
    add_product_transposed(rows, block.Y, block.rows, mine->YZ);
    if (options_.mean_products) add_product_transposed(rows, block.rows, block.rows, mine->MM);
    if (full_noise)
      add_product_transposed(rows, block.Y, block.Y, mine->YY);
    else
      mine->YY += block.Y.topRows(rows).colwise().squaredNorm().transpose();
    if (mine->y.size() > 0) mine->y += block.Y.topRows(rows).colwise().sum().transpose();
    if (missing) missing->gather(thread, block);
  };
  if (missing) {
    for (Index first = 0; first < data.rows(); first += MissingSums::kGathered) {
      BlockPlan part = plan;
      part.first = first;
      part.count = std::min(MissingSums::kGathered, data.rows() - first);
      parallel_blocks(part, pass.stop, add_block);
      missing->add_up(plan.threads);
    }
  } else {
    parallel_blocks(plan, pass.stop, add_block);
  }

  std::erase(threads, nullptr);
  add_up(threads, plan.threads);
  const ThreadSums& sums = *threads.front();
  unscale(prepared, sums, total);
  total.free_energy = sums.log_sum;
  const auto empty = static_cast<double>(sums.empty);
  forget_sums();
  if (empty > 0) add_prior(model, empty, total);
  if (missing) missing->add_to(total, empty);
  total.count = static_cast<double>(data.rows());
  total.free_energy += total.count * prepared.constant - 0.5 * weighted_square(model.noise, total.YY);
  return total;
}

}  // namespace gsc
