#pragma once
// An overcomplete dictionary of cosines for patches, where K-SVD starts: with K >= patch frequencies
//
//   v_k(i) = cos(i k pi / K), less its mean where k > 0, of unit norm        i = 0 .. patch-1, k = 0 .. K-1
//
// an atom is v_k(row) v_l(col).

#include <gsc/types.h>

namespace gsc {

/// patch^2 x count: the `count` atoms of the lowest frequencies k + l, of the fewest K that have so many. Without
/// `constant` they begin after k = l = 0.
Matrix cosine_atoms(Index patch, Index count, bool constant = true);

}  // namespace gsc
