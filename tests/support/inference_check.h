#pragma once
// The engine's posterior and statistics against the oracle's, quantity by quantity.
//
// The tolerance. The engine may err by `relative` of a quantity's natural scale, and by what rounding must do to it:
//   log joint  delta = Oracle::rounding(): unit roundoff times the terms it is the difference of, times a condition
//              number
//   weight q   q (1 - q) (exp(2 delta) - 1), when every log joint may be off by delta
//   a moment   the sum over states of the weights' errors times that state's moment; plus unit roundoff times the
//              condition number, the error of kappa_S, of the moment itself
// With data of ordinary size delta is about 1e-13, so 1e-10 decides; it takes over where |y| is 1e6 times the noise.
// Measured: no error above 0.07 of what is allowed.

#include <gsc/inference.h>

#include "oracle.h"

namespace gsc::test {

struct Tolerance {
  double relative;
  double roundoff;         ///< unit roundoff of the arithmetic
  double smallest_weight;  ///< weights below this are not asked for their logarithm
};
inline constexpr Tolerance kDouble{1e-10, 1.2e-16, 1e-270};
inline constexpr Tolerance kSingle{1e-4, 6e-8, 1e-30};

/// Infers and gathers statistics with these options, and expects both to equal brute force over the same states K_n:
/// those of the candidates the engine reports.
void expect_brute_force(const Model& model, const oracle::Oracle& oracle, const Matrix& data,
                        const InferenceOptions& options, const Tolerance& tolerance = kDouble);

/// Whether the candidates of a data point are those of this rule: the H' with the best scores (singleton), or half of
/// them, rounded up, followed by the best given those picked so far (conditional). Near ties may go either way.
bool are_best_candidates(const oracle::Oracle& oracle, const oracle::Vector& y, const std::vector<Index>& candidates,
                         Selection selection);

std::vector<Index> candidates_of(const Posterior& posterior, Index n);
/// The states the engine sums over, from the candidates it reports.
oracle::StatesOfPoint states_from(const Posterior& posterior, Index latents, Index max_active);

InferenceOptions truncated(Index candidates, Index max_active, Selection selection = Selection::singleton,
                           int threads = 1);
InferenceOptions exact(int threads = 1);

/// Bit for bit the same numbers.
bool same_bits(const Statistics& a, const Statistics& b);
/// Largest difference of any entry, relative to the largest entry of its array.
double relative_difference(const Statistics& a, const Statistics& b);

}  // namespace gsc::test
