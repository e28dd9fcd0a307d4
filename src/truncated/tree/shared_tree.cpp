#include "truncated/tree/shared_tree.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gsc {
namespace {

constexpr double kSmallestPivot = 1e-15;

int triangle(int row, int col) { return row * (row + 1) / 2 + col; }

/// The system of the candidates below j once j has joined; J' may be J.
void reduce(int j, double inverse_pivot, const double* J, double* J_reduced) {
  const double* row = J + triangle(j, 0);
  for (int k = 0; k < j; ++k) {
    const double u = row[k] * inverse_pivot;
    for (int l = 0; l <= k; ++l) J_reduced[triangle(k, l)] = J[triangle(k, l)] - u * row[l];
  }
}

}  // namespace

/// Appends a node's numbers; returns 1 / pivot.
template <class T>
double SharedTree<T>::add_node(std::vector<T>& stream, double pivot, double offset) {
  if (!(pivot >= kSmallestPivot)) {
    pivot = kSmallestPivot;
    clamped_ = true;
  }
  const double r2 = 1 / pivot, r = std::sqrt(r2);
  for (const double number : {r / std::numbers::sqrt2, r2, offset + std::log(r)})
    stream.push_back(static_cast<T>(number));
  return r2;
}

template <class T>
void SharedTree<T>::add_children(int remaining, int depth, const double* J, double* scratch) {
  for (int j = 0; j < remaining; ++j) {
    const double inverse = add_node(stream_, J[triangle(j, j)], offsets_[static_cast<std::size_t>(j)]);
    if (depth == 1 || j == 0) continue;
    for (int k = 0; k < j; ++k) stream_.push_back(static_cast<T>(J[triangle(j, k)] * inverse));
    reduce(j, inverse, J, scratch);
    add_children(j, depth - 1, scratch, scratch + triangle(j, 0));
  }
}

template <class T>
void SharedTree<T>::build(const PreparedModel& model, const std::uint16_t* latents) {
  const int size = model.candidates;
  stream_.clear();
  chain_.clear();
  offsets_.clear();
  clamped_ = false;
  std::vector<double> J;
  for (int p = 0; p < size; ++p) {
    for (int q = 0; q <= p; ++q) J.push_back(model.J(latents[p], latents[q]));
    offsets_.push_back(model.a[latents[p]]);
  }
  scratch_.resize(static_cast<std::size_t>(size * triangle(size, 0)));
  add_children(size, model.max_active, J.data(), scratch_.data());
  for (int j = size - 1; j >= size - model.max_active; --j) {
    const double inverse =
        add_node(chain_, J[static_cast<std::size_t>(triangle(j, j))], offsets_[static_cast<std::size_t>(j)]);
    for (int k = 0; k < j; ++k) chain_.push_back(static_cast<T>(J[static_cast<std::size_t>(triangle(j, k))] * inverse));
    reduce(j, inverse, J.data(), J.data());
  }
}

template class SharedTree<float>;
template class SharedTree<double>;

}  // namespace gsc
