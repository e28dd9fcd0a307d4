#include "truncated/most_probable_states.h"

#include <algorithm>
#include <cmath>

#include "truncated/tree/gap_model.h"

namespace gsc {

// Every state's log weight is  sum offsets - 1/2 log|det M_SS| - 1/2 v_S' M_SS^-1 v_S  with
//   diagonal slab   M = -J^, v = eta^, offset a             one row per candidate
//   full slab       M = [Psi^ -I; -I -G^], v = (mu^, b^), offset logit pi      two rows per candidate, adjacent here
// and quasi-definite M, so eliminating rows one by one (in any order) has no zero pivot.

void MostProbableStates::offer(double log_weight) {
  if (log_weight <= largest_) {
    sum_ += std::exp(log_weight - largest_);
  } else {
    sum_ = sum_ * std::exp(largest_ - log_weight) + 1;
    largest_ = log_weight;
  }
  const auto heavier = [](const State& a, const State& b) { return a.log_weight > b.log_weight; };
  if (heap_.size() == wanted_) {
    if (log_weight <= heap_.front().log_weight) return;
    std::pop_heap(heap_.begin(), heap_.end(), heavier);
    heap_.pop_back();
  }
  heap_.push_back({log_weight, active_});
  std::push_heap(heap_.begin(), heap_.end(), heavier);
}

void MostProbableStates::grow(Index position, const Matrix& M, const Vector& v, double log_weight) {
  const Index rows = model_.full_slab ? 2 : 1;
  for (Index j = 0; j * rows < v.size(); ++j) {
    Matrix sub_M = M.bottomRightCorner(M.rows() - j * rows, M.cols() - j * rows);
    Vector sub_v = v.tail(v.size() - j * rows);
    const std::int32_t latent = candidates_[position + j];
    double x = log_weight + (model_.full_slab ? model_.logit_pi[latent] : model_.a[latent]);
    for (Index i = 0; i < rows; ++i) {
      const double pivot = sub_M(0, 0), e = sub_v(0);
      x -= 0.5 * (std::log(std::abs(pivot)) + e * e / pivot);
      const Index rest = sub_v.size() - 1;
      const Vector column = sub_M.col(0).tail(rest);
      sub_v = (sub_v.tail(rest) - column * (e / pivot)).eval();
      sub_M = (sub_M.bottomRightCorner(rest, rest) - column * (column.transpose() / pivot)).eval();
    }
    active_.push_back(latent);
    offer(x);
    if (static_cast<int>(active_.size()) < model_.max_active) grow(position + j + 1, sub_M, sub_v, x);
    active_.pop_back();
  }
}

double MostProbableStates::own_system(Index i, Index j, const double* observed) const {
  if (observed == nullptr) return model_.full_slab ? model_.gram(i, j) : model_.J(i, j);
  const Matrix& basis = model_.gaps->basis;
  double sum = i == j && !model_.full_slab ? model_.gaps->slab_precision[i] : 0;
  for (Index d = 0; d < basis.cols(); ++d) sum += observed[d] * basis(i, d) * basis(j, d);
  return sum;
}

void MostProbableStates::find(const Vector& eta, const std::int32_t* candidates, std::int32_t* states, double* weights,
                              const double* observed) {
  const Index count = model_.candidates, rows = model_.full_slab ? 2 : 1;
  candidates_ = candidates;
  heap_.clear();
  largest_ = sum_ = 0;
  Matrix M(count * rows, count * rows);
  Vector v(count * rows);
  for (Index p = 0; p < count; ++p) {
    const Index i = candidates[p];
    for (Index q = 0; q < count; ++q) {
      const Index j = candidates[q];
      if (model_.full_slab)
        M.block<2, 2>(2 * p, 2 * q) << model_.slab(i, j), p == q ? -1 : 0, p == q ? -1 : 0, -own_system(i, j, observed);
      else
        M(p, q) = -own_system(i, j, observed);
    }
    if (model_.full_slab)
      v.segment<2>(2 * p) << model_.slab_mean[i], eta[i] - model_.eta_offset[i];
    else
      v[p] = eta[i];
  }
  offer(0);
  grow(0, M, v, 0);
  for (Index h = 0; h < model_.latents; ++h) {
    if (std::binary_search(candidates, candidates + count, static_cast<std::int32_t>(h))) continue;
    active_ = {static_cast<std::int32_t>(h)};
    double pivot = 1;
    if (observed != nullptr) {
      pivot = model_.gaps->slab_precision[h];
      for (Index d = 0; d < model_.dimensions; ++d) pivot += observed[d] * model_.gaps->squares(d, h);
    }
    offer(model_.a[h] - 0.5 * std::log(pivot) + 0.5 * eta[h] * eta[h] / pivot);
    active_.clear();
  }
  std::sort(heap_.begin(), heap_.end(), [](const State& a, const State& b) { return a.log_weight > b.log_weight; });
  for (std::size_t k = 0; k < heap_.size(); ++k) {
    std::copy(heap_[k].latents.begin(), heap_[k].latents.end(),
              states + k * static_cast<std::size_t>(model_.max_active));
    weights[k] = std::exp(heap_[k].log_weight - largest_) / sum_;
  }
}

}  // namespace gsc
