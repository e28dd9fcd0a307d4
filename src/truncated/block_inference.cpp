#include "truncated/block_inference.h"

#include <algorithm>

#include "data/finite.h"
#include "inference/cost_model.h"
#include "truncated/tree/clusters.h"

namespace gsc {

BlockPlan plan_blocks(const PreparedModel& prepared, Index first, Index count, int threads) {
  const double work = kCosts.state * state_count(prepared.candidates, prepared.max_active) +
                      2 * kCosts.product * static_cast<double>(prepared.dimensions * prepared.padded);
  return {first, count, prepared.padded, work, thread_count(threads)};
}

BlockInference::BlockInference(const PreparedModel& prepared, Index block_rows)
    : Y(block_rows, prepared.dimensions),
      rows(block_rows, prepared.padded),
      log_sums(block_rows),
      candidates_(prepared.candidates),
      max_active_(prepared.max_active),
      full_slab_(prepared.full_slab),
      workspace_(prepared, block_rows) {}

bool BlockInference::fits(const PreparedModel& prepared, Index block_rows) const {
  return Y.rows() >= block_rows && Y.cols() == prepared.dimensions && rows.cols() == prepared.padded &&
         candidates_ == prepared.candidates && max_active_ == prepared.max_active && full_slab_ == prepared.full_slab;
}

std::int64_t BlockInference::run(const PreparedModel& prepared, const Data& data, Index first, Index count,
                                 BlockSums* sums, const BlockPosterior& posterior) {
  auto block = Y.topRows(count);
  data.read(first, block);
  if (prepared.gaps)
    gaps.sort(data, first, block, prepared.intercept, all_rows_);
  else
    require_finite(data, first, block);
  if (prepared.intercept.size() > 0) block.rowwise() -= prepared.intercept.transpose();
  product(count, Y, prepared.projection, rows);
  const Index complete = gaps.any() ? gaps.complete() : count;
  std::int64_t clamped = 0;
  if (complete > 0)
    clamped = process_block(prepared, {complete, rows.data(), log_sums.data(), sums, posterior}, workspace_);
  if (gaps.any()) clamped += run_gaps(prepared, sums, posterior);
  return clamped;
}

std::int64_t BlockInference::run_gaps(const PreparedModel& prepared, BlockSums* sums, const BlockPosterior& posterior) {
  const Index count = gaps.count(), complete = gaps.complete(), partial = gaps.partial(), H = prepared.latents;
  const GapModel& model = *prepared.gaps;
  if (!gap_workspace_) gap_workspace_.emplace(prepared);
  if (second_moment.rows() < count) second_moment.resize(count, prepared.padded);
  product(count, gaps.observed(), model.squares, second_moment);
  if (keep_products_ && products.rows() < partial) {
    product_latents.resize(partial, prepared.candidates);
    products.resize(partial, prepared.candidates * (prepared.candidates + 1) / 2);
  }
  std::uint16_t* candidates = workspace_.candidates.data();
  const auto part = [&](Index first, Index end, BlockSums* its_sums, const SharedGram* shared) {
    if (first == end) return std::int64_t{0};
    const Index at = complete + first;
    const bool keep = keep_products_ && first < partial;
    const GapProducts kept{product_latents.data() + first * product_latents.cols(),
                           products.data() + first * products.cols()};
    return process_gap_block(
        prepared,
        {end - first, gaps.observed().row(first).data(), rows.row(at).data(), second_moment.row(first).data(),
         candidates + at * prepared.candidates, log_sums.data() + at, its_sums,
         posterior.probability == nullptr ? nullptr : posterior.probability + at * H, keep ? &kept : nullptr, shared},
        *gap_workspace_);
  };
  // A gram matrix takes as long as the columns and products of so many data points with gaps of their own.
  const Index worth = std::max<Index>(kGapRows, H / 8);
  std::int64_t clamped = 0;
  Index own = 0;  // from here to the next that share one, all have their own
  for (Index first = 0, end; first < partial; first = end) {
    end = first + gaps.alike(first);
    if (end - first < worth) continue;
    clamped += part(own, first, sums, nullptr);
    clamped += part(first, end, sums, &shared_gram(prepared, first));
    own = end;
  }
  clamped += part(own, partial, sums, nullptr);
  part(partial, count, nullptr, nullptr);  // nothing observed: for their candidates, as the rest is known

  log_sums.segment(complete, partial) += (1 - gaps.observed().topRows(partial).array()).matrix() * model.log_noise;
  for (Index n = partial; n < count; ++n) {
    const Index at = complete + n;
    rows.row(at).head(H) = model.mean.transpose();
    second_moment.row(n).head(H) = model.second.transpose();
    log_sums[at] = -prepared.constant;  // log 1
    if (posterior.probability != nullptr) std::copy_n(model.pi.data(), H, posterior.probability + at * H);
  }
  for (Index n = 0; n < count; ++n) {
    const Index at = complete + n;
    if (posterior.second_moment != nullptr)
      std::copy_n(second_moment.row(n).data(), H, posterior.second_moment + at * H);
    if (posterior.keys != nullptr)
      posterior.keys[at] = candidates_key(prepared, workspace_, static_cast<std::uint32_t>(at));
    if (posterior.candidates == nullptr) continue;
    std::int32_t* target = posterior.candidates + at * prepared.candidates;
    std::copy_n(candidates + at * prepared.candidates, prepared.candidates, target);
    std::sort(target, target + prepared.candidates);
  }
  return clamped;
}

const SharedGram& BlockInference::shared_gram(const PreparedModel& prepared, Index row) {
  const Vector observed = gaps.observed().row(row).transpose();
  if (shared_model_ == prepared.gaps && shared_observed_ == observed) return shared_;
  const Matrix masked = prepared.gaps->basis * observed.asDiagonal();
  shared_.gram.resize(prepared.latents, prepared.latents);
  product_with_transposed(masked, prepared.gaps->basis, shared_.gram);
  shared_.single = SingleMatrix::Zero(prepared.latents, prepared.padded);
  shared_.single.leftCols(prepared.latents) = shared_.gram.cast<float>();
  shared_observed_ = observed;
  shared_model_ = prepared.gaps;
  return shared_;
}

void BlockInference::restore_order(const PreparedModel& prepared, const BlockPosterior& posterior) {
  gaps.restore(Y.data(), Y.cols());
  gaps.restore(rows.data(), rows.cols());
  gaps.restore(log_sums.data(), 1);
  if (posterior.probability != nullptr) gaps.restore(posterior.probability, prepared.latents);
  if (posterior.second_moment != nullptr) gaps.restore(posterior.second_moment, prepared.latents);
  if (posterior.candidates != nullptr) gaps.restore(posterior.candidates, prepared.candidates);
  if (posterior.keys != nullptr) gaps.restore(posterior.keys, 1);
}

void BlockInference::keep_products(bool all) {
  keep_products_ = true;
  all_rows_ = all;
}

}  // namespace gsc
