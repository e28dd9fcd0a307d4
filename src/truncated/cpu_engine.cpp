#include "truncated/cpu_engine.h"

namespace gsc {

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

}  // namespace gsc
