#include <gsc/inference.h>

#include <algorithm>

namespace gsc {
namespace {

/// Rows at a time: many enough for the threads, few enough that a chunk stays below some 50 MB.
Index chunk_rows(Index latents) { return std::clamp<Index>((Index{1} << 21) / latents, 1024, 65536); }

/// Copies the rows of a chunk to their place; the whole takes its width from the first chunk.
template <class Whole>
void place(Whole& whole, const Whole& chunk, Index first, Index rows) {
  if (chunk.size() == 0) return;
  if (whole.size() == 0) whole.resize(rows, chunk.cols());
  whole.middleRows(first, chunk.rows()) = chunk;
}

}  // namespace

Posterior infer(const Model& model, const Data& data, const InferenceOptions& options, const PosteriorRequest& request,
                Watcher& watcher) {
  const Index rows = data.rows(), step = chunk_rows(model.latents());
  const StopRequest stop = [&] { return watcher.stop_requested(); };
  Posterior all;
  for (Index first = 0; first < rows; first += step) {
    const Posterior chunk = infer(model, data, options, request, first, std::min(step, rows - first), stop);
    place(all.mean, chunk.mean, first, rows);
    place(all.probability, chunk.probability, first, rows);
    place(all.variance, chunk.variance, first, rows);
    place(all.states, chunk.states, first, rows);
    place(all.state_weights, chunk.state_weights, first, rows);
    place(all.candidates, chunk.candidates, first, rows);
    place(all.log_likelihood, chunk.log_likelihood, first, rows);
    all.max_active = chunk.max_active;
    all.clamped_pivots += chunk.clamped_pivots;
    watcher.on_progress({.fraction = static_cast<double>(std::min(rows, first + step)) / static_cast<double>(rows)});
  }
  return all;
}

}  // namespace gsc
