#pragma once
// What the prior of a data point is made of: the model's prior as pseudo counts, and the posteriors of its neighbours
// summed. Few latents are candidates of any neighbour; those are listed. All others have the same prior in every data
// point with as many neighbours, worked out once.

#include <gsc/nonlocal.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "inference/prepared_model.h"

namespace gsc {

/// Bounds of a prior of its own.
inline constexpr double kLeastPi = 1e-7, kMostPi = 0.999, kLeastVariance = 1e-3;  ///< the last: of the second moment

/// Throws UsageError unless these posteriors are of a model like this and whole.
void require_before(const Model& model, const SparsePosterior& before);
/// Where the data's row is in `before`; throws UsageError if it is not.
Index row_in(const SparsePosterior& before, std::uint32_t row);

/// The model's prior in the form that the sums are added to. Padded, zeros in the padding unless told.
struct SharedPrior {
  SharedPrior(const Model& model, const PreparedModel& prepared, double pseudo_counts);

  double pseudo_counts;        ///< k
  Vector pi, mu, second;       ///< k pi, k mu, k (psi + mu^2)
  Vector scale, square, gram;  ///< t, t^2, t^2 G_hh
  Vector a_rest;               ///< a - logit pi
  double constant;             ///< PreparedModel::constant less sum_h log(1 - pi_h)
};

/// A data point's latents that no neighbour has as a candidate: mu and psi are the model's, pi_n = k pi / (k + K).
struct UntouchedPrior {
  UntouchedPrior(const SharedPrior& shared, const PreparedModel& prepared, Index neighbours);

  Vector a;                      ///< padded; very negative in the padding
  Eigen::VectorXf score_offset;  ///< padded
  Vector log_off;                ///< padded; log(1 - pi_n)
  double sum_log_off;
};

/// The sums over the neighbours of one data point after the other. One per thread.
class NeighbourSums {
 public:
  NeighbourSums(const SharedPrior& shared, const PreparedModel& prepared, const OwnPriors& own);

  /// Makes the members below those of row n. Throws UsageError for neighbours that are not in `before`.
  void gather(Index n);

  const UntouchedPrior* untouched = nullptr;
  double neighbours = 0;              ///< K
  std::vector<std::int64_t> latents;  ///< touched, ascending; room for padded
  size_t touched = 0;                 ///< how many of them count
  Vector s, m, zz;                    ///< padded; sum <s>, <s.z>, <(s.z)^2>
  bool is_touched(Index h) const { return (bits_[static_cast<size_t>(h) / 64] >> (h % 64) & 1) != 0; }

 private:
  const SharedPrior& shared_;
  const PreparedModel& prepared_;
  const OwnPriors& own_;
  std::vector<std::uint32_t> rows_;
  std::vector<std::uint64_t> bits_;
  std::vector<std::unique_ptr<UntouchedPrior>> untouched_by_count_;
};

}  // namespace gsc
