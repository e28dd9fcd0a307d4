#include "truncated/gaps/held_out_scale.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "data/row_list.h"

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

}  // namespace

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

}  // namespace gsc
