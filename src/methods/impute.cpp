// Missing values filled in, by the row of the method, and how much too small the deviations are, by observed values that
// are taken for missing.
//
// These must be as hard to predict as what is missing. So a row that has more values than another one, drawn at random,
// loses as many, those first that the other has not; a row with fewer loses one. And each value that was set aside
// weighs as much as there are missing values in rows of which so much is observed.

#include <gsc/missing.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "data/row_list.h"
#include "inference/checks.h"
#include "inference/limits.h"
#include "math/numeric_scope.h"
#include "methods/methods.h"

namespace gsc {
namespace {

constexpr Index kMostRows = 1500;
constexpr double kWithin = 0.95;
constexpr std::size_t kFewest = 200;  // the quantile of fewer is not worth having
constexpr std::size_t kClasses = 9;   // of rows, by how much of them is observed

Index observed_in(const Matrix& table, Index row) { return (!table.row(row).array().isNaN()).count(); }

std::size_t class_of(Index observed, Index dimensions) {
  return static_cast<std::size_t>((static_cast<Index>(kClasses) - 1) * observed / dimensions);
}

/// Takes so many of the values of a row, those first that the other row has not.
void set_aside(Matrix& table, Index row, const Matrix& all, Index other, Index count, Random& random) {
  std::vector<Index> present;
  for (Index d = 0; d < table.cols(); ++d)
    if (!std::isnan(table(row, d))) present.push_back(d);
  std::shuffle(present.begin(), present.end(), random);
  std::stable_partition(present.begin(), present.end(), [&](Index d) { return std::isnan(all(other, d)); });
  for (Index k = 0; k < count; ++k)
    table(row, present[static_cast<std::size_t>(k)]) = std::numeric_limits<double>::quiet_NaN();
}

Matrix some_rows(const Data& data) {
  std::vector<Index> chosen(static_cast<std::size_t>(std::min(kMostRows, data.rows())));
  for (std::size_t i = 0; i < chosen.size(); ++i)
    chosen[i] = static_cast<Index>((static_cast<double>(i) + 0.5) * static_cast<double>(data.rows()) /
                                   static_cast<double>(chosen.size()));
  Matrix rows(static_cast<Index>(chosen.size()), data.cols());
  RowList(data, chosen).read(0, rows);
  return rows;
}

struct HeldOutError {
  double in_deviations;
  std::size_t of_class;
};

struct HeldOutScale {
  double scale = 1;  ///< at least 1: with it two deviations hold 95 % of the values
  Index values = 0;  ///< how many were set aside; 0: there are too few to tell
};

/// From up to 1500 rows, spread over the data, which `impute` fills. The same for the same data.
HeldOutScale held_out_scale(const Data& data, const std::function<Imputed(const Data&)>& impute) {
  const Matrix all = some_rows(data);
  const Index N = all.rows(), D = all.cols();
  Matrix fewer = all;
  Random random(1);
  std::array<double, kClasses> missing{}, held_out{};
  for (Index n = 0; n < N; ++n) {
    const Index present = observed_in(all, n), other = std::uniform_int_distribution<Index>(0, N - 1)(random);
    missing[class_of(present, D)] += static_cast<double>(D - present);
    if (present > 0) set_aside(fewer, n, all, other, std::max<Index>(1, present - observed_in(all, other)), random);
  }

  const Imputed filled = impute(MatrixData(fewer));
  std::vector<HeldOutError> errors;
  for (Index n = 0; n < N; ++n) {
    const std::size_t of_class = class_of(observed_in(fewer, n), D);
    for (Index d = 0; d < D; ++d) {
      if (!std::isnan(fewer(n, d)) || std::isnan(all(n, d))) continue;
      errors.push_back({std::abs(filled.mean(n, d) - all(n, d)) / filled.std(n, d), of_class});
      held_out[of_class] += 1;
    }
  }
  if (errors.size() < kFewest) return {};
  const bool complete = std::all_of(missing.begin(), missing.end(), [](double count) { return count == 0; });
  const auto weight = [&](const HeldOutError& error) {
    return complete ? 1.0 : missing[error.of_class] / held_out[error.of_class];
  };
  std::sort(errors.begin(), errors.end(),
            [](const HeldOutError& a, const HeldOutError& b) { return a.in_deviations < b.in_deviations; });
  double total = 0, below = 0;
  for (const HeldOutError& error : errors) total += weight(error);
  if (total == 0) return {};
  const auto at = std::find_if(errors.begin(), errors.end() - 1,
                               [&](const HeldOutError& error) { return (below += weight(error)) >= kWithin * total; });
  return {std::max(1.0, at->in_deviations / 2), static_cast<Index>(errors.size())};
}

}  // namespace

Imputed impute(const Model& model, const Data& data, const InferenceOptions& options, const ImputeOptions& what,
               Index first, Index count, const StopRequest& stop) {
  const NumericScope scope;
  InferenceOptions with_gaps = options;
  with_gaps.missing = Missing::nan;
  require_fit(model, data, with_gaps);
  require_rows(data);
  const auto impute_rows = [&, &row = row_of(options.method)](const Data& from, const ImputeOptions& wanted,
                                                              Index begin, Index rows) {
    return row.impute(model, from, with_gaps, wanted, begin, rows, stop);
  };
  Imputed result = impute_rows(data, what, first, rows_asked_for(data, first, count));
  if (!what.calibrate || result.std.size() == 0 || over_all_states(with_gaps, model.latents())) return result;
  const HeldOutScale found =
      held_out_scale(data, [&](const Data& fewer) { return impute_rows(fewer, {}, 0, fewer.rows()); });
  result.scale = found.scale;
  result.held_out = found.values;
  if (found.scale != 1) result.std *= found.scale;
  return result;
}

}  // namespace gsc
