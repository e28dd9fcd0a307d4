#pragma once
// By how much posterior deviations must be multiplied, by errors of values that have noise of their own. With variances
// v_i as the groups tell them, and noise n that is known but for a factor t,
//
//   Var(e_i) = s^2 v_i + t^2 n^2;     s, t: the most likely, with ln s ~ N(0, 0.3^2), ln t ~ N(0, told^2)
//
// Where noise is most of an error, errors cannot tell s, and it stays near 1. Where there is hardly any, s
// is such that two deviations hold 95 % of the errors, whatever their distribution; in between s^2 is the mean of both,
// weighted by the square of the share that s^2 v has of the variance.
//
// Errors that chose s cannot say how many of their kind two deviations hold: nearly 95 % of them, whatever they are.
// That is counted on one half with the s of the other, and the other way round.

#include <cstddef>
#include <vector>

namespace gsc {

struct DeviationScale {
  double scale = 1;  ///< s
  double noise = 0;  ///< t n
};

/// The squares of errors and the variances of what is predicted, one for each value, at least one; `told`: relative
/// standard error of the noise's variance^(1/2).
DeviationScale deviation_scale(const std::vector<double>& squares, const std::vector<double>& variances, double noise,
                               double told);

/// Share of the errors within two deviations, their own noise among these, that come from the other half: the first
/// `half` values (at least one, and not all), or the rest.
double coverage_across(const std::vector<double>& squares, const std::vector<double>& variances, std::size_t half,
                       double noise, double told);

}  // namespace gsc
