#pragma once
// What Statistics have beyond the sums of every model, and when: products of means, and sums over the data points that
// miss an entry (truncated/missing_sums.h has their formulas).

#include <gsc/inference.h>

namespace gsc {

/// What missing_ZZ takes, with the copies that learning makes.
Index row_products_megabytes(Index dimensions, Index latents, Method method);

/// Whether missing_ZZ fits into options.gap_memory.
bool has_row_products(Index dimensions, Index latents, const InferenceOptions& options);

/// Gives `statistics` zeros in the shapes that the options ask for beyond those of the model, but for the products,
/// which are large: statistics of data points that lack nothing have none.
void add_optional_shapes(Statistics& statistics, const Model& model, const InferenceOptions& options);

/// missing_ZZ; missing_WZ.
enum class MissingProducts { by_rows, with_basis };

/// Zeros for the products, unless they are there; the second as the options say.
void add_missing_products(Statistics& statistics, MissingProducts kind);
void add_missing_products(Statistics& statistics, const InferenceOptions& options);

/// Where the pair i <= j of latents stands in Statistics::missing_ZZ.
inline Index pair_row(Index i, Index j, Index latents) { return i * latents - i * (i - 1) / 2 + j - i; }

/// Whether there are any missing values in what was summed.
bool has_gaps(const Statistics& statistics);

/// The number of data points that have each entry.
Vector observed_counts(const Statistics& statistics);

/// Below this part of all data points an entry was not observed.
inline constexpr double kObserved = 1e-9;

}  // namespace gsc
