#include "inference/cpu_engine.h"

namespace gsc {

const PreparedModel& CpuEngine::prepared(const Model& model) {
  return prepared_.of(model, [&] { return PreparedModel(model, options_); });
}

void CpuEngine::reserve(int threads) {
  if (buffers_.size() < static_cast<std::size_t>(threads)) buffers_.resize(static_cast<std::size_t>(threads));
}

BlockInference& CpuEngine::buffers(const PreparedModel& prepared, int thread, Index block_rows) {
  auto& mine = buffers_[static_cast<std::size_t>(thread)];
  if (!mine || !mine->fits(prepared, block_rows)) mine = std::make_unique<BlockInference>(prepared, block_rows);
  return *mine;
}

}  // namespace gsc
