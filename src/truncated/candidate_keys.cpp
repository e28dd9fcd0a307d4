#include "truncated/candidate_keys.h"

#include "math/numeric_scope.h"
#include "truncated/block_inference.h"

namespace gsc {

std::vector<std::uint64_t> candidate_keys(const Model& model, const Data& data, const InferenceOptions& options,
                                          const StopRequest& stop) {
  const NumericScope scope;
  std::vector<std::uint64_t> keys(static_cast<std::size_t>(data.rows()));
  if (keys.empty()) return keys;
  const PreparedModel prepared(model, options);
  const BlockPlan plan = plan_blocks(prepared, 0, data.rows(), options.threads);
  std::vector<std::unique_ptr<BlockInference>> buffers(static_cast<std::size_t>(plan.threads));
  parallel_blocks(plan, stop, [&](int thread, Index first, Index rows) {
    auto& mine = buffers[static_cast<std::size_t>(thread)];
    if (!mine) mine = std::make_unique<BlockInference>(prepared, plan.block_rows);
    BlockPosterior posterior;
    posterior.keys = keys.data() + first;
    posterior.keys_alone = true;
    mine->run(prepared, data, first, rows, nullptr, posterior);
    mine->gaps.restore(posterior.keys, 1);
  });
  return keys;
}

}  // namespace gsc
