#include "truncated/cpu_engine.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include "data/row_list.h"
#include "inference/checks.h"
#include "math/numeric_scope.h"
#include "truncated/missing_sums.h"
#include "truncated/most_probable_states.h"

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
  statistics.clamped_pivots = thread.clamped_pivots;
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

const PreparedModel& CpuEngine::prepared(const Model& model) {
  return prepared_.of(model, [&] { return PreparedModel(model, options_); });
}

void CpuEngine::reserve(int threads) {
  if (buffers_.size() < static_cast<std::size_t>(threads)) buffers_.resize(static_cast<std::size_t>(threads));
  if (sums_.size() < static_cast<std::size_t>(threads)) sums_.resize(static_cast<std::size_t>(threads));
}

BlockInference& CpuEngine::buffers(const PreparedModel& prepared, int thread, Index block_rows) {
  auto& mine = buffers_[static_cast<std::size_t>(thread)];
  if (!mine || !mine->fits(prepared, block_rows)) mine = std::make_unique<BlockInference>(prepared, block_rows);
  return *mine;
}

ThreadSums& CpuEngine::cleared_sums(const Model& model, const PreparedModel& prepared, int thread) {
  auto& mine = sums_[static_cast<std::size_t>(thread)];
  if (mine && mine->fits(model, prepared))
    mine->clear();
  else
    mine = std::make_unique<ThreadSums>(model, prepared, options_.mean_products);
  return *mine;
}

void CpuEngine::forget_sums() {
  constexpr std::size_t kMost = std::size_t{1} << 25U;  // numbers: 256 MB
  std::size_t all = 0;
  for (const auto& thread : sums_)
    if (thread)
      for (const std::span<double> part : thread->numbers()) all += part.size();
  // One thread by itself gets the same memory again, and the M-step may have it in between.
  if (all > kMost || sums_.size() == 1) sums_.clear();
}

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
    mine->clamped_pivots += block.run(prepared, data, first, rows, &mine->sums, {});
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
  std::atomic<std::int64_t> clamped = 0;
  parallel_blocks(plan, stop, [&](int thread, Index row, Index rows) {
    BlockInference& block = buffers(prepared, thread, plan.block_rows);
    const Index out = row - first;
    BlockPosterior fields;
    fields.probability = result.probability.row(out).data();
    if (request.variance) fields.second_moment = result.variance.row(out).data();
    if (result.candidates.size() > 0) fields.candidates = result.candidates.row(out).data();
    clamped += block.run(prepared, data_, row, rows, nullptr, fields);
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
  result.clamped_pivots = clamped;
  return result;
}

}  // namespace gsc
