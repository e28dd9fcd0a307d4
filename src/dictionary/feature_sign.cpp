#include "dictionary/feature_sign.h"

#include <algorithm>
#include <cmath>

namespace gsc {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// Of lambda: by so much |g_j| must exceed it, or rounding may activate an atom that then stays at zero.
constexpr double kRounding = 1e-12;

}  // namespace

FeatureSign::FeatureSign(Index atoms) : active_(atoms), gradient_(at(atoms)) {}

void FeatureSign::start(const Index* atoms, const double* values, Index count) {
  start_.clear();
  for (Index i = 0; i < count; ++i)
    if (values[i] != 0) start_.emplace_back(atoms[i], values[i]);
}

void FeatureSign::solve(const GramRows& gram, const double* correlations, double lambda) {
  active_.clear();
  values_.clear();
  signs_.clear();
  steps_ = 0;
  for (const auto& [atom, value] : start_) take(atom, value, value > 0 ? 1 : -1, gram);
  start_.clear();
  const Index most_steps = 64 + 16 * static_cast<Index>(gradient_.size());
  while (steps_ < most_steps) {
    while (!active_.empty() && step(correlations, lambda) && steps_ < most_steps) {
    }
    const Index worst = most_violated(correlations, lambda);
    if (worst < 0) return;
    take(worst, 0, gradient_[at(worst)] > 0 ? -1 : 1, gram);
  }
}

/// One more atom, unless it is a combination D_A w of the others; then it comes in the place of one of them, or not at
/// all.
void FeatureSign::take(Index atom, double value, double sign, const GramRows& gram) {
  while (!active_.add(atom, gram)) {
    // Along z = (-w, 1) D a stays, and |a|_1 changes by t (sign - theta'w): forwards or backwards it falls, until the
    // first of the coefficients is zero.
    std::vector<double> z = active_.combination();
    double slope = sign;
    for (std::size_t i = 0; i < z.size(); ++i) slope -= signs_[i] * z[i];
    const double forwards = slope > 0 ? -1 : 1;
    for (double& w : z) w *= -forwards;
    double distance = -1;
    Index leaves = -1;  // the position of an atom in use, or active_.size() for the one that comes
    const auto consider = [&](double from, double speed, Index position) {
      if (from * speed >= 0) return;
      const double t = -from / speed;
      if (leaves < 0 || t < distance) distance = t, leaves = position;
    };
    for (std::size_t i = 0; i < z.size(); ++i) consider(values_[i], z[i], static_cast<Index>(i));
    consider(value, forwards, active_.size());
    if (leaves < 0) return;  // nothing of it but rounding: the atom brings nothing
    move(distance, z);
    value += distance * forwards;
    if (leaves == active_.size()) return;
    active_.remove(leaves);
    values_.erase(values_.begin() + leaves);
    signs_.erase(signs_.begin() + leaves);
  }
  values_.push_back(value);
  signs_.push_back(sign);
}

void FeatureSign::move(double share, const std::vector<double>& direction) {
  for (std::size_t i = 0; i < direction.size(); ++i) values_[i] += share * direction[i];
}

/// f(a + t p) - f(a) with slope = g'p without the penalty, curvature = p'G p.
double FeatureSign::change(double share, const std::vector<double>& direction, double slope, double curvature,
                           double lambda) const {
  double penalty = 0;
  for (std::size_t i = 0; i < direction.size(); ++i)
    penalty += std::abs(values_[i] + share * direction[i]) - std::abs(values_[i]);
  return share * slope + share * share / 2 * curvature + lambda * penalty;
}

/// Step 2; true if a sign changed, so that it has to be done again.
bool FeatureSign::step(const double* correlations, double lambda) {
  ++steps_;
  const std::size_t count = values_.size();
  target_.resize(count);
  for (std::size_t i = 0; i < count; ++i)
    target_[i] = correlations[active_[static_cast<Index>(i)]] - lambda * signs_[i];
  active_.solve(target_.data());
  const bool agrees = std::equal(target_.begin(), target_.end(), signs_.begin(),
                                 [](double value, double sign) { return value * sign > 0; });
  if (agrees) {
    values_ = target_;
    return false;
  }
  std::vector<double>& direction = target_;
  for (std::size_t i = 0; i < count; ++i) direction[i] -= values_[i];
  // p = G_AA^-1 (-g_A - lambda theta), so p'G p = -p'(g + lambda theta).
  double slope = 0, curvature = 0;
  for (std::size_t i = 0; i < count; ++i) {
    double product = 0, gradient = -correlations[active_[static_cast<Index>(i)]];
    for (std::size_t j = 0; j < count; ++j) {
      const double g = active_.gram(static_cast<Index>(i), static_cast<Index>(j));
      product += g * direction[j];
      gradient += g * values_[j];
    }
    slope += direction[i] * gradient;
    curvature += direction[i] * product;
  }
  double best = 1, least = change(1, direction, slope, curvature, lambda);
  for (std::size_t i = 0; i < count; ++i) {
    if (values_[i] * direction[i] >= 0) continue;
    const double share = -values_[i] / direction[i];
    if (share >= 1) continue;
    const double here = change(share, direction, slope, curvature, lambda);
    if (here < least) best = share, least = here;
  }
  std::vector<char> zero(count, 0);
  for (std::size_t i = 0; i < count; ++i)
    zero[i] = values_[i] * direction[i] < 0 && -values_[i] / direction[i] == best ? 1 : 0;
  move(best, direction);
  for (Index i = static_cast<Index>(count) - 1; i >= 0; --i) {
    if (zero[at(i)] == 0 && values_[at(i)] != 0) {
      signs_[at(i)] = values_[at(i)] > 0 ? 1 : -1;
      continue;
    }
    active_.remove(i);
    values_.erase(values_.begin() + i);
    signs_.erase(signs_.begin() + i);
  }
  return true;
}

/// Of the atoms not in use the one with the largest |g_j| > lambda; -1: none, and the code is the solution.
Index FeatureSign::most_violated(const double* correlations, double lambda) {
  active_.correlate(values_.data(), gradient_.data());
  Index worst = -1;
  double largest = lambda * (1 + kRounding);
  for (std::size_t j = 0; j < gradient_.size(); ++j) {
    gradient_[j] -= correlations[j];
    if (std::abs(gradient_[j]) <= largest || active_.contains(static_cast<Index>(j))) continue;
    largest = std::abs(gradient_[j]);
    worst = static_cast<Index>(j);
  }
  return worst;
}

}  // namespace gsc
