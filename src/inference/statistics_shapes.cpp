#include "inference/statistics_shapes.h"

#include <cmath>

namespace gsc {

Index row_products_megabytes(Index dimensions, Index latents, Method method) {
  // Learning holds the sums of the last E-step and of this one, and a copy on their way to the other processes. In
  // batches, which methods that do not sum over states do not have, it holds the running sums before and after the pass, those of the
  // batch, of its data points as they are gathered, that copy, and for a checkpoint one more.
  const double copies = traits(method).has_states ? 6 : 3;
  const double bytes = 4 * static_cast<double>(dimensions) * static_cast<double>(latents * (latents + 1));
  return static_cast<Index>(std::ceil(copies * bytes / 1048576));
}

bool has_row_products(Index dimensions, Index latents, const InferenceOptions& options) {
  return row_products_megabytes(dimensions, latents, options.method) <= options.gap_memory;
}

void add_optional_shapes(Statistics& statistics, const Model& model, const InferenceOptions& options) {
  const Index D = model.dimensions(), H = model.latents();
  if (options.mean_products) statistics.MM = Matrix::Zero(H, H);
  if (options.missing != Missing::nan) return;
  statistics.missing = Vector::Zero(D);
  statistics.missing_m = Matrix::Zero(D, H);
}

void add_missing_products(Statistics& statistics, MissingProducts kind) {
  const Index D = statistics.missing_m.rows(), H = statistics.missing_m.cols();
  if (kind == MissingProducts::by_rows && statistics.missing_ZZ.size() == 0)
    statistics.missing_ZZ = Matrix::Zero(H * (H + 1) / 2, D);
  if (kind == MissingProducts::with_basis && statistics.missing_WZ.size() == 0)
    statistics.missing_WZ = Matrix::Zero(D, H);
}

void add_missing_products(Statistics& statistics, const InferenceOptions& options) {
  if (options.missing != Missing::nan) return;
  const bool by_rows = has_row_products(statistics.missing_m.rows(), statistics.missing_m.cols(), options);
  add_missing_products(statistics, by_rows ? MissingProducts::by_rows : MissingProducts::with_basis);
}

bool has_gaps(const Statistics& statistics) { return statistics.missing.size() > 0 && statistics.missing.sum() > 0; }

Vector observed_counts(const Statistics& statistics) {
  return (statistics.count - statistics.missing.array()).cwiseMax(0).matrix();
}

}  // namespace gsc
