#pragma once
// Means and spreads of trials.

#include <optional>
#include <vector>

#include "experiment.h"

namespace gsc::experiments {

/// Which end of it is the good one depends on what was measured: small Amari indices, large PSNRs.
struct Spread {
  double mean = 0, error = 0;  ///< standard error of the mean
  double median = 0, smallest = 0, largest = 0;
  int count = 0;
};

Spread spread_of(std::vector<double> values);
Json json_of(const Spread& spread);

/// Whether the settings have all the values of `where`.
bool fits(const Finished& trial, const Json& where);

/// None if the trial has no such number.
std::optional<double> result_of(const Finished& trial, const std::string& field);

/// Results `field` of the trials that fit.
std::vector<double> collect(const std::vector<Finished>& trials, const Json& where, const std::string& field);
Spread spread_of(const std::vector<Finished>& trials, const Json& where, const std::string& field);

/// The differences of `field` between the trials that fit `a` and those that fit `b`, by seed: equal seeds have the
/// same data. Where one of the two has no such result there is no difference.
std::vector<double> paired_differences(const std::vector<Finished>& trials, const Json& a, const Json& b,
                                       const std::string& field);

void add_point(Chart::Series& series, double x, const Spread& y);

}  // namespace gsc::experiments
