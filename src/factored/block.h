#pragma once
// A block of data points on its way through factored sweeps: the buffers of one thread.

#include <gsc/inference.h>

#include <optional>
#include <vector>

#include "factored/gaps.h"
#include "factored/kernel.h"
#include "inference/latent_rows.h"

namespace gsc {

/// Data points in the middle of sweeps.
struct FactoredPoints {
  /// `posterior`: with room for gamma, the second moments and changes.
  FactoredPoints(Index latents, Index most_points, bool posterior);
  /// Becomes the chosen points of `from`.
  void gather(FactoredPoints& from, const std::vector<Index>& which);
  /// Writes all points to their places in `to`.
  void scatter(FactoredPoints& to, const std::vector<Index>& which);

  Index points = 0;
  LatentRows a, x, gamma, second;  ///< a = W'P y
  LatentRows local, change;        ///< one row
};

class FactoredBlock {
 public:
  /// `posterior`: to converge(), and for gamma, second and bounds; else to sweep() and for the sums.
  FactoredBlock(const FactoredModel& model, Index block_rows, bool posterior);

  /// Reads data points. Their codes start as zero, or as these columns of `codes` (latents, in the order of
  /// the model, x all data points). Where values may be missing, complete points come first.
  void load(const Data& data, Index first, Index count, const Matrix& codes);
  /// Updates every latent of every point once, given the others; without `posterior` only once after load().
  void sweep();
  /// Sweeps until nothing moves. Points that are still are left alone when the others have become few.
  void converge();

  /// The points with gaps, or null if this block has none. What follows is of the complete ones.
  FactoredGaps* gaps() { return sorted_.any() ? &*gaps_ : nullptr; }
  auto gap_Y() const { return Y_.middleRows(all_.points, sorted_.count()); }  ///< zero where missing
  /// The place among the points of the block of the n-th one, complete ones first.
  Index origin(Index n) const { return sorted_.origin(n); }

  /// Writes x(), gamma() or second(), and the same of the points with gaps, into a table that has a row for each point.
  void place(LatentRows::Map complete, LatentRows::Map (FactoredGaps::*of_gaps)(), MatrixBlock table);

  Index complete() const { return all_.points; }
  auto Y() const { return Y_.topRows(all_.points); }
  LatentRows::Map x() { return all_.x.block(all_.points); }
  LatentRows::Map gamma() { return all_.gamma.block(all_.points); }
  LatentRows::Map second() { return all_.second.block(all_.points); }
  /// The bound of each point, without -1/2 y'Py and the model's constant.
  Vector bounds();

  // Sums over the points.
  Vector sum_gamma() { return posterior_ ? Vector(gamma().rowwise().sum()) : sum_gamma_; }
  Vector sum_second() { return posterior_ ? Vector(second().rowwise().sum()) : sum_second_; }
  double sum_local() { return all_.local.block(all_.points).sum(); }

 private:
  void sweep(FactoredPoints& points);
  void converge_complete();

  const FactoredModel& model_;
  bool posterior_;
  Matrix Y_;
  FactoredPoints all_, moving_;
  LatentRows eta_;
  Vector sum_gamma_, sum_second_;
  GapRows sorted_;
  std::optional<FactoredGaps> gaps_;
};

}  // namespace gsc
