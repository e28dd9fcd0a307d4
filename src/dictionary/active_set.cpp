#include "dictionary/active_set.h"

#include <cassert>
#include <cmath>

namespace gsc {
namespace {

/// What is left of an atom beside those taken, as a part of its squared norm, from which it is its own direction.
constexpr double kIndependent = 1e-11;
constexpr Index kFirstRoom = 16;

double dot(const double* a, const double* b, Index count) {
  double even = 0, odd = 0;
  Index i = 0;
  for (; i + 1 < count; i += 2) {
    even += a[i] * b[i];
    odd += a[i + 1] * b[i + 1];
  }
  return i < count ? even + odd + a[i] * b[i] : even + odd;
}

}  // namespace

ActiveSet::ActiveSet(Index atoms)
    : taken_(static_cast<std::size_t>(atoms), 0), rows_(kFirstRoom, atoms), factor_(kFirstRoom, kFirstRoom) {}

void ActiveSet::clear() {
  for (const Index atom : atoms_) taken_[static_cast<std::size_t>(atom)] = 0;
  atoms_.clear();
}

void ActiveSet::make_room() {
  if (size() < rows_.rows()) return;
  const Index room = 2 * rows_.rows();
  rows_.conservativeResize(room, Eigen::NoChange);
  factor_.conservativeResize(room, room);
}

bool ActiveSet::add(Index atom, const GramRows& gram) {
  assert(!contains(atom));
  make_room();
  const Index k = size();
  double* row = rows_.row(k).data();
  gram.copy(atom, row);
  double* w = factor(k);
  double pivot = row[atom];
  for (Index i = 0; i < k; ++i) {
    const double* l = factor(i);
    w[i] = (row[(*this)[i]] - dot(l, w, i)) / l[i];
    pivot -= w[i] * w[i];
  }
  if (!(pivot > kIndependent * row[atom])) return false;
  w[k] = std::sqrt(pivot);
  atoms_.push_back(atom);
  taken_[static_cast<std::size_t>(atom)] = 1;
  return true;
}

void ActiveSet::remove(Index position) {
  const Index k = size();
  taken_[static_cast<std::size_t>((*this)[position])] = 0;
  atoms_.erase(atoms_.begin() + position);
  for (Index i = position; i + 1 < k; ++i) {
    std::copy_n(rows_.row(i + 1).data(), rows_.cols(), rows_.row(i).data());
    std::copy_n(factor(i + 1), i + 2, factor(i));
  }
  // Row i now reaches to column i + 1; columns i and i + 1 are turned so that it ends at i.
  for (Index i = position; i + 1 < k; ++i) {
    const double a = factor(i)[i], b = factor(i)[i + 1], length = std::hypot(a, b);
    const double c = a / length, s = b / length;
    factor(i)[i] = length;
    for (Index below = i + 1; below + 1 < k; ++below) {
      double* l = factor(below);
      const double left = l[i], right = l[i + 1];
      l[i] = c * left + s * right;
      l[i + 1] = c * right - s * left;
    }
  }
}

void ActiveSet::solve(double* right) const {
  const Index k = size();
  for (Index i = 0; i < k; ++i) {
    const double* l = factor(i);
    right[i] = (right[i] - dot(l, right, i)) / l[i];
  }
  for (Index i = k - 1; i >= 0; --i) {
    const double* l = factor(i);
    right[i] /= l[i];
    for (Index j = 0; j < i; ++j) right[j] -= right[i] * l[j];
  }
}

void ActiveSet::correlate(const double* weights, double* out) const {
  if (empty())
    std::fill_n(out, rows_.cols(), 0.0);
  else
    weighted_rows(size(), rows_, weights, out);
}

std::vector<double> ActiveSet::combination() const {
  const Index k = size();
  std::vector<double> w(factor(k), factor(k) + k);
  for (Index i = k - 1; i >= 0; --i) {
    const double* l = factor(i);
    const auto at = static_cast<std::size_t>(i);
    w[at] /= l[i];
    for (Index j = 0; j < i; ++j) w[static_cast<std::size_t>(j)] -= w[at] * l[j];
  }
  return w;
}

}  // namespace gsc
