#pragma once
// W, intercept and noise where values are missing. Row d of W is learned from the data points that have entry d. With
//
//   ZZ_d = ZZ - missing_ZZ_d      m_d = m - missing_m_d      N_d = N - missing_d
//
// the rows of [W b] are the least squares on these:  [W_d, step_d] [ZZ_d m_d; m_d' N_d] = [YZ_d, y_d].  Where only
// missing_WZ_d = ZZ-missing_d w_d is known, the missing values are latent too (EM), and expected to be w_d <s.z>:
//
//   YZ_d + missing_WZ_d,   y_d + w_d missing_m_d   with   ZZ, m, N of all data points
//
// whose steps get short where much is missing, so they are made longer by up to N/N_d; fit() takes that back where the
// free energy falls. Noise is what is left of observed entries. A dimension that nobody observed keeps what it has.

#include <gsc/fit.h>

#include <functional>
#include <vector>

namespace gsc {

/// Whether there are any missing values in what was summed.
bool has_gaps(const Statistics& statistics);

/// The number of data points that have each entry.
Vector observed_counts(const Statistics& statistics);

/// Below this part of all data points an entry was not observed.
inline constexpr double kObserved = 1e-9;

/// One row of W and b: the sums of the data points that have the entry.
struct RowSums {
  Matrix ZZ;  ///< H x H
  Vector m;   ///< H
  double N;
};
/// Calls row(d, its sums) for every dimension, from missing_ZZ, on several threads.
void for_each_row(const Statistics& statistics, int threads, const std::function<void(Index, const RowSums&)>& row);

/// Noise of the old one's type from the residuals of each dimension and how often it was observed, above a floor.
Noise noise_with_gaps(const Noise& old, const Vector& residuals, const Vector& counts, const Statistics& statistics,
                      Rescues& rescues);

/// W, intercept and noise of `next`, from what they were in `model`.
void update_with_gaps(const Model& model, const Statistics& statistics, const std::vector<Index>& used,
                      const MStepOptions& options, Model& next, Rescues& rescues);

}  // namespace gsc
