#include "dictionary/lars.h"

#include <algorithm>
#include <cmath>

namespace gsc {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

Lars::Lars(Index atoms) : active_(atoms), c_(at(atoms)), v_(at(atoms)), out_(at(atoms), 0) {}

void Lars::solve(const GramRows& gram, const double* correlations, double squared_norm, const LarsEnd& end) {
  const auto atoms = static_cast<Index>(c_.size());
  active_.clear();
  values_.clear();
  signs_.clear();
  combinations_.clear();
  std::fill(out_.begin(), out_.end(), char{0});
  std::copy_n(correlations, atoms, c_.begin());
  left_ = -1;
  squared_error_ = squared_norm;
  const auto strongest =
      std::max_element(c_.begin(), c_.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  lambda_ = std::abs(*strongest);
  if (lambda_ <= end.lambda || squared_error_ <= end.squared_error || end.atoms <= 0 || lambda_ == 0) return;
  join(strongest - c_.begin(), gram);
  follow(gram, end);
  settle(correlations);
}

void Lars::follow(const GramRows& gram, const LarsEnd& end) {
  const Index most_steps = 64 + 16 * static_cast<Index>(c_.size());
  for (Index steps = 0; steps < most_steps; ++steps) {
    direction_ = signs_;
    active_.solve(direction_.data());
    active_.correlate(direction_.data(), v_.data());
    gain_ = 0;
    for (std::size_t i = 0; i < signs_.size(); ++i) gain_ += signs_[i] * direction_[i];
    const Event event = next(end);
    advance(event.distance);
    if (event.kind == Event::end || (event.kind == Event::join && active_.size() >= end.atoms)) return;
    left_ = -1;
    if (event.kind == Event::join)
      join(event.which, gram);
    else
      leave(event.which);
  }
}

/// t at which lambda - t, or the error |r|^2 - (2 t lambda - t^2) s'u, is what was asked for.
double Lars::distance_to(const LarsEnd& end) const {
  double distance = lambda_ - end.lambda;
  if (end.squared_error > 0) {
    const double rest = lambda_ * lambda_ - (squared_error_ - end.squared_error) / gain_;
    if (rest >= 0) distance = std::min(distance, lambda_ - std::sqrt(rest));
  }
  return distance;
}

/// The smallest t of all events:
///   +side: lambda - t = c_j - t v_j     -side: lambda - t = -(c_j - t v_j)     leaves: a_i + t u_i = 0
/// Quotients are compared as products; a division is only made for what is the smallest so far.
Lars::Event Lars::next(const LarsEnd& end) const {
  Event event{std::max(0.0, distance_to(end)), Event::end, 0};
  for (std::size_t i = 0; i < values_.size(); ++i) {
    // An atom that has just joined is at zero, and where others joined with it may want to go the wrong way.
    const double speed = -signs_[i] * direction_[i], way = signs_[i] * values_[i];
    if (speed > 0 && way < event.distance * speed)
      event = {std::max(0.0, way / speed), Event::leave, static_cast<Index>(i)};
  }
  const double left_side = left_ < 0 ? 0 : std::copysign(1.0, c_[at(left_)]);
  const double *c = c_.data(), *v = v_.data();
  const char* out = out_.data();
  const auto atoms = static_cast<Index>(c_.size());
  for (Index j = 0; j < atoms; ++j) {
    const bool above = lambda_ - c[j] < event.distance * (1 - v[j]);
    const bool below = lambda_ + c[j] < event.distance * (1 + v[j]);
    if ((!above && !below) || out[j] != 0) continue;
    for (const double side : {1.0, -1.0}) {
      const double gap = lambda_ - side * c[j], speed = 1 - side * v[j];
      if (speed <= 0 || gap >= event.distance * speed || (j == left_ && side == left_side)) continue;
      event = {std::max(0.0, gap / speed), Event::join, j};
    }
  }
  return event;
}

void Lars::advance(double t) {
  for (std::size_t i = 0; i < values_.size(); ++i) values_[i] += t * direction_[i];
  for (std::size_t j = 0; j < c_.size(); ++j) c_[j] -= t * v_[j];
  squared_error_ -= (2 * lambda_ - t) * t * gain_;
  lambda_ -= t;
}

void Lars::join(Index atom, const GramRows& gram) {
  out_[at(atom)] = 1;
  if (!active_.add(atom, gram)) {
    combinations_.push_back(atom);
    return;
  }
  values_.push_back(0);
  signs_.push_back(c_[at(atom)] > 0 ? 1 : -1);
}

void Lars::leave(Index position) {
  left_ = active_[position];
  c_[at(left_)] = signs_[at(position)] * lambda_;
  out_[at(left_)] = 0;
  active_.remove(position);
  values_.erase(values_.begin() + position);
  signs_.erase(signs_.begin() + position);
  for (const Index atom : combinations_) out_[at(atom)] = 0;
  combinations_.clear();
}

/// The steps' rounding errors are taken out: a_A = G_AA^-1 (D'x_A - lambda s).
void Lars::settle(const double* correlations) {
  for (std::size_t i = 0; i < values_.size(); ++i)
    direction_[i] = correlations[active_[static_cast<Index>(i)]] - lambda_ * signs_[i];
  active_.solve(direction_.data());
  for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = signs_[i] * std::max(0.0, signs_[i] * direction_[i]);
}

}  // namespace gsc
