#pragma once
// How strong the noise of a table is, for methods that must be told. Structure that is sparse leaves some directions of
// the data to the noise alone, or nearly so: the smallest eigenvalues of the covariance
//
//   C_ij = mean of (x_i - m_i)(x_j - m_j) over the data points that have both
//
// are the noise's variance. They scatter around it, so the mean of the lowest quarter is taken; where structure fills
// all directions it is too much.

#include <gsc/data.h>

namespace gsc {

/// As a standard deviation. Never zero: at least a thousandth of the data's own.
double noise_of_table(const Data& data, const DataSummary& summary);

}  // namespace gsc
