#pragma once
// What the threads of an E-step gather, each for itself, and their sum.

#include <cstdint>
#include <span>
#include <vector>

#include "truncated/tree/tree_kernel.h"

namespace gsc {

/// What one thread gathers, in the scaled units of PreparedModel.
struct ThreadSums {
  ThreadSums(const Model& model, const PreparedModel& prepared, bool mean_products);
  /// Whether it has the shapes for this model.
  bool fits(const Model& model, const PreparedModel& prepared) const;
  void clear();
  /// All numbers that are sums, those of one kind after another.
  std::vector<std::span<double>> numbers();

  BlockSums sums;
  Matrix YZ, YY;
  Vector y;
  Matrix MM;
  double log_sum = 0;
  std::int64_t clamped_pivots = 0;  ///< data points that met one
  Index empty = 0;                  ///< data points without any observed entry
};

/// Adds the others to the first, one after the other; several threads share the numbers, which changes none of them.
void add_up(const std::vector<ThreadSums*>& sums, int threads);

}  // namespace gsc
