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
//
// missing_WZ belongs to the W that it was gathered under, so running sums of several batches must not hold it: their W
// are different ones. What they hold are the sums of the completed table instead, as stepwise EM is made for:
//
//   G_d  = YZ_d - ZZ_d w_d           g_d = y_d - w_d m_d           f_d = sum over the observed of E[(y - w_d s.z)^2]
//   YZ_d = ZZ w_d + a_d G_d          y_d = w_d m + a_d g_d         a_d = min(N/N_d, longest)
//   YY_d = w_d ZZ w_d + 2 a_d w_d G_d + a_d f_d + (N - a_d N_d) sigma_d^2
//
// With a_d = 1 these are the expected sums, given what was observed. In the running sums a batch B is some part of
// every direction of ZZ, at most lambda: its step there is that part of the way to the row of W that B alone would
// have, times a_d. It shrinks what is left of the way as long as a_d lambda < 2, whatever is missing, since ZZ_d <= ZZ.

#include <gsc/fit.h>

#include <functional>
#include <vector>

#include "inference/statistics_shapes.h"

namespace gsc {

/// One row of W and b: the sums of the data points that have the entry.
struct RowSums {
  Matrix ZZ;  ///< H x H
  Vector m;   ///< H
  double N;
};
/// Calls row(d, its sums) for every dimension, from missing_ZZ, on several threads.
void for_each_row(const Statistics& statistics, int threads, const std::function<void(Index, const RowSums&)>& row);

/// Noise of the old one's type from the residuals of each dimension and how often it was observed, above a floor. A row
/// of W and b is `fitted` numbers: a dimension that was observed no more often fits them to its noise, of which next to
/// nothing is left, so its variance is the mean of the others, or that of all residuals where there are no others.
Noise noise_with_gaps(const Noise& old, const Vector& residuals, const Vector& counts, Index fitted,
                      const Statistics& statistics, Rescues& rescues);

/// The longest steps that a batch may make: about 1/lambda, from its share in ZZ of the running sums and these.
double longest_step(const Matrix& share, const Matrix& running);

/// The sums of the completed table, from sums with missing_WZ that were gathered under `model`. Nothing is missing of
/// it.
Statistics completed(const Model& model, const Statistics& statistics, double longest);

/// W, intercept and noise of `next`, from what they were in `model`.
void update_with_gaps(const Model& model, const Statistics& statistics, const std::vector<Index>& used,
                      const MStepOptions& options, Model& next, Rescues& rescues);

}  // namespace gsc
