#pragma once
// The fields of Statistics, listed once: += and the sums over processes both follow this list.

#include <gsc/inference.h>

#include <type_traits>

namespace gsc {

/// Whether a matrix is known from its upper triangle. `square`: if it has as many columns as rows (YY has one column
/// unless the noise is full).
enum class Symmetric { no, square };

/// Calls visit(pointer to the member, Symmetric) for each field.
template <class Visit>
constexpr void for_each_statistic(Visit visit) {
  using S = Statistics;
  visit(&S::count, Symmetric::no);
  visit(&S::free_energy, Symmetric::no);
  visit(&S::s, Symmetric::no);
  visit(&S::m, Symmetric::no);
  visit(&S::YZ, Symmetric::no);
  visit(&S::ZZ, Symmetric::square);
  visit(&S::YY, Symmetric::square);
  visit(&S::y, Symmetric::no);
  visit(&S::MM, Symmetric::square);
  visit(&S::lambda, Symmetric::no);
  visit(&S::T, Symmetric::square);
  visit(&S::SS, Symmetric::square);
  visit(&S::missing, Symmetric::no);
  visit(&S::missing_m, Symmetric::no);
  visit(&S::missing_ZZ, Symmetric::no);
  visit(&S::missing_WZ, Symmetric::no);
  visit(&S::clamped_pivots, Symmetric::no);
}

static_assert(
    [] {
      std::size_t bytes = 0;
      for_each_statistic([&]<class Field>(Field Statistics::*, Symmetric) { bytes += sizeof(Field); });
      return bytes;
    }() == sizeof(Statistics),
    "a field of Statistics is not in the list");

/// Calls visit(number) for each number of the statistics, of symmetric matrices only for the upper triangle.
template <class Sums, class Visit>
void for_each_number(Sums& statistics, const Visit& visit) {
  for_each_statistic([&]<class Field>(Field Statistics::*member, Symmetric symmetric) {
    auto& field = statistics.*member;
    if constexpr (std::is_arithmetic_v<Field>) {
      visit(field);
    } else {
      const bool upper = symmetric == Symmetric::square && field.rows() == field.cols();
      for (Index i = 0; i < field.rows(); ++i)
        for (Index j = upper ? i : 0; j < field.cols(); ++j) visit(field(i, j));
    }
  });
}

/// Copies the upper triangles of symmetric matrices to the lower.
void mirror(Statistics& statistics);

/// running = keep running + weight fresh. Rescued pivots are not part of it.
void blend(Statistics& running, double keep, const Statistics& fresh, double weight);

}  // namespace gsc
