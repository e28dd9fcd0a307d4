#pragma once
// What the prior of a data point is made of: the model's prior as pseudo counts, and the posteriors of its neighbours
// summed.

#include <gsc/backend/pass.h>

#include <cstdint>
#include <vector>

#include "truncated/tree/prepared_model.h"

namespace gsc {

/// Bounds of a prior of its own.
inline constexpr double kLeastPi = 1e-7, kMostPi = 0.999, kLeastVariance = 1e-3;  ///< the last: of the second moment

/// Throws UsageError unless these posteriors are of a model like this and whole.
void require_before(const Model& model, const SparsePosterior& before);
/// Where the data's row is in `before`; throws UsageError if it is not.
Index row_in(const SparsePosterior& before, std::uint32_t row);

/// The model's prior, times the pseudo counts, in the form that sums over neighbours are added to. In the scaled units
/// of PreparedModel, mu^ = mu/t and psi^ = psi/t^2, and padded; latents in the padding have a very negative offset.
struct SharedPrior {
  SharedPrior(const Model& model, const PreparedModel& prepared, double pseudo_counts);

  double pseudo_counts;   ///< k
  Vector pi, mu, second;  ///< k pi, k mu^, k (psi^ + mu^^2)
  Vector inverse_scale;   ///< 1/t
  Vector gram;            ///< G^_hh = t^2 G_hh
  double constant;        ///< PreparedModel::constant less sum_h log(1 - pi_h)
  struct {
    Eigen::VectorXf pi, mu, second, gram;
    Eigen::VectorXf score_rest;  ///< - logit pi
  } single;
};

/// The posteriors of a data point's neighbours, summed; one data point after the other. One per thread.
class NeighbourSums {
 public:
  NeighbourSums(const PreparedModel& prepared, const OwnPriors& own);

  /// Makes the members below those of row n. Throws UsageError for neighbours that are not in `before`.
  void gather(Index n);

  double count = 0;  ///< K
  Vector s, m, zz;   ///< padded; sum <s>, <s.z>, <(s.z)^2>, not scaled

 private:
  const OwnPriors& own_;
  std::vector<std::uint32_t> rows_;
};

}  // namespace gsc
