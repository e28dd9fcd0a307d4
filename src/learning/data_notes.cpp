#include "learning/data_notes.h"

#include <algorithm>
#include <cmath>

#include "math/number_text.h"

namespace gsc {
namespace {

/// Whether a column that nobody observed has a distribution all the same.
bool has_basis_prior(const FitOptions& options) {
  return traits(options.inference.method).basis_variance && options.factored.basis_prior != BasisPrior::none;
}

/// A level that dwarfs the variation takes latents of its own where there is no intercept.
void note_level(const DataSummary& summary, const FitOptions& options, Watcher& watcher) {
  const double variance = summary.covariance.cols() > 1 ? summary.covariance.trace() : summary.covariance.sum();
  const double level = summary.mean.squaredNorm();
  constexpr double kDwarfed = 25;
  if (options.intercept != Intercept::none || level < kDwarfed * variance) return;
  watcher.on_note("the data lies " + number_text(std::round(std::sqrt(level / variance))) +
                  " standard deviations from zero, and without an intercept latents must explain that; consider "
                  "intercept learned or mean");
}

/// "columns 2, 5 (from 0) of the data have"
std::string columns_have(const std::vector<Index>& columns) {
  constexpr std::size_t kNamed = 10;
  std::string text = columns.size() == 1 ? "column " : "columns ";
  for (std::size_t i = 0; i < std::min(columns.size(), kNamed); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(columns[i]);
  return text + (columns.size() > kNamed ? ", ..." : "") + " (from 0) of the data " +
         (columns.size() == 1 ? "has" : "have");
}

/// Columns without any value: nothing is learned of them.
void note_unobserved(const DataSummary& summary, const FitOptions& options, Watcher& watcher) {
  std::vector<Index> columns;
  for (Index d = 0; d < summary.observed.size(); ++d)
    if (summary.observed[d] == 0) columns.push_back(d);
  if (columns.empty()) return;
  watcher.on_note(columns_have(columns) + " no value at all; what the model says of " +
                  (columns.size() == 1 ? "it" : "them") +
                  (has_basis_prior(options) ? " is its prior" : " stays as it was at the start"));
}

/// Columns from which as many numbers are learned as they have values, or more.
void note_hardly_observed(const DataSummary& summary, const FitOptions& options, Watcher& watcher) {
  if (!spike_and_slab(options.inference.method) || has_basis_prior(options)) return;
  const Index numbers = options.latents + (options.intercept == Intercept::learned ? 1 : 0);
  std::vector<Index> columns;
  for (Index d = 0; d < summary.observed.size(); ++d)
    if (summary.observed[d] > 0 && summary.observed[d] < summary.count &&
        summary.observed[d] <= static_cast<double>(numbers))
      columns.push_back(d);
  if (columns.empty()) return;
  const std::string them = columns.size() == 1 ? "it" : "them";
  watcher.on_note(
      columns_have(columns) + " no more values than the " + std::to_string(numbers) +
      " numbers that are learned of a column, so do not rely on what the model says of " + them +
      (options.noise == NoiseType::diagonal ? "; the noise of " + them + " is held at the mean of the others" : ""));
}

}  // namespace

void note_data(const DataSummary& summary, const FitOptions& options, Watcher& watcher) {
  note_level(summary, options, watcher);
  note_unobserved(summary, options, watcher);
  note_hardly_observed(summary, options, watcher);
}

}  // namespace gsc
