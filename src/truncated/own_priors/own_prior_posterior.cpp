// Posteriors on the candidates alone: a pass over the data that keeps H' numbers of every data point.

#include <atomic>
#include <optional>

#include "data/finite.h"
#include "inference/checks.h"
#include "math/numeric_scope.h"
#include "truncated/cpu_engine.h"
#include "truncated/own_priors/own_prior_kernel.h"

namespace gsc {
namespace {

// Always so many rows go into one matrix product, so that a data point's numbers do not depend on the block it is in,
// nor on the number of threads.
constexpr Index kBlockRows = 64;

void require_truncated(const Model& model, const InferenceOptions& options) {
  if (!traits(options.method).has_candidates)
    throw UsageError("method is " + std::string(to_string(options.method)) +
                     ", but posteriors on the candidates alone, which priors of their own need, are of the truncated "
                     "method; set method to truncated");
  if (model.slab.type() == SlabType::full)
    throw UsageError(
        "slab is full, but posteriors on the candidates alone, which priors of their own need, are for diagonal slabs; "
        "learn a model with slab diagonal");
}

/// One thread's.
struct Buffers {
  Buffers(const PreparedModel& prepared, const OwnPriors* own)
      : Y(kBlockRows, prepared.dimensions), rows(kBlockRows, prepared.padded), workspace(prepared, kBlockRows) {
    if (own != nullptr) sums.emplace(prepared, *own);
  }
  Matrix Y, rows;
  GapRows gaps;
  Matrix observed, diagonals;  ///< of rows with gaps; always as many rows
  OwnPriorWorkspace workspace;
  std::optional<NeighbourSums> sums;
};

}  // namespace

SparsePosterior CpuEngine::infer_sparse(const Model& model, Index first, Index count, const OwnPriors* own,
                                        const StopRequest& stop) {
  const NumericScope scope;
  require_truncated(model, options_);
  require_fit(model, data_, options_);
  if (own != nullptr) {
    own->options.validate();
    require_before(model, own->before);
  }
  const PreparedModel& prepared = this->prepared(model);
  const SharedPrior shared(model, prepared, own == nullptr ? 1 : own->options.pseudo_counts);
  BlockPlan plan = plan_blocks(prepared, first, count, options_.threads);
  plan.block_rows = kBlockRows;

  SparsePosterior result;
  result.latents = prepared.latents;
  result.first = first;
  result.candidates.resize(count, prepared.candidates);
  for (Table<float>* table : {&result.probability, &result.mean, &result.second_moment})
    table->resize(count, prepared.candidates);
  result.log_likelihood.resize(count);

  std::vector<std::unique_ptr<Buffers>> threads(static_cast<std::size_t>(plan.threads));
  std::atomic<std::int64_t> clamped = 0;
  parallel_blocks(plan, stop, [&](int thread, Index row, Index rows) {
    auto& mine = threads[static_cast<std::size_t>(thread)];
    if (!mine) mine = std::make_unique<Buffers>(prepared, own);
    Matrix& Y = mine->Y;
    auto given = Y.topRows(rows);
    data_.read(row, given);
    if (prepared.gaps)
      mine->gaps.sort(data_, row, given, prepared.intercept);
    else
      require_finite(data_, row, given);
    if (prepared.intercept.size() > 0) given.rowwise() -= prepared.intercept.transpose();
    Y.bottomRows(kBlockRows - rows).setZero();
    product(kBlockRows, Y, prepared.projection, mine->rows);

    const Index out = row - first, at = out * prepared.candidates;
    auto log_likelihood = result.log_likelihood.segment(out, rows);
    GapRows* gaps = mine->gaps.any() ? &mine->gaps : nullptr;
    if (gaps != nullptr) {
      mine->observed.setZero(kBlockRows, prepared.dimensions);
      mine->observed.topRows(gaps->count()) = gaps->observed().topRows(gaps->count());
      mine->diagonals.resize(kBlockRows, prepared.padded);
      product(kBlockRows, mine->observed, prepared.gaps->squares, mine->diagonals);
    }
    clamped +=
        process_own_prior_block(prepared, shared, mine->sums ? &*mine->sums : nullptr,
                                {row, rows, mine->rows.data(), gaps, mine->diagonals.data(),
                                 result.candidates.data() + at, result.probability.data() + at, result.mean.data() + at,
                                 result.second_moment.data() + at, log_likelihood.data()},
                                mine->workspace);
    const Matrix PY = model.noise.solve(Y.transpose());
    log_likelihood -= 0.5 * Y.transpose().cwiseProduct(PY).colwise().sum().head(rows).transpose();
    if (gaps == nullptr) return;
    gaps->restore(result.candidates.data() + at, prepared.candidates);
    for (Table<float>* table : {&result.probability, &result.mean, &result.second_moment})
      gaps->restore(table->data() + at, prepared.candidates);
    gaps->restore(log_likelihood.data(), 1);
  });
  result.clamped_pivots = clamped;
  return result;
}

}  // namespace gsc
