// Compiled by nvcc for the GPU, and by the C++ compiler on the emulation for the tests.
// What a pass gives point by point.

#include <algorithm>

#include "cuda/expectation.h"
#include "cuda/kernels/own_prior_kernel.h"
#include "cuda/kernels/sum_kernels.h"

namespace gsc::cuda {
namespace {

template <class To>
std::vector<To> converted(const std::vector<double>& values) {
  std::vector<To> result(values.size());
  std::transform(values.begin(), values.end(), result.begin(), [](double value) { return static_cast<To>(value); });
  return result;
}

}  // namespace

template <class Real>
void Expectation<Real>::set_weights(const std::vector<double>& root, const std::vector<double>& offset,
                                    const std::vector<double>& weight) {
  has_root_ = !root.empty();
  if (has_root_) {
    root_.reserve(queue_, root.size());
    root_.upload(converted<Real>(root));
  }
  square_offset_.reserve(queue_, offset.size());
  square_offset_.upload(converted<Real>(offset));
  square_weight_.reserve(queue_, weight.size());
  square_weight_.upload(converted<Real>(weight));
}

template <class Real>
std::vector<long> Expectation<Real>::undone() {
  std::vector<Real> log_sums(static_cast<std::size_t>(points_));
  queue_.download(log_sums.data(), log_sums_.data(), log_sums.size() * sizeof(Real));
  std::vector<long> rows;
  for (std::size_t n = 0; n < log_sums.size(); ++n)
    if (log_sums[n] == Range<Real>::kUndone) rows.push_back(static_cast<long>(n));
  return rows;
}

/// To the host, and into a mosaic. `done_` data points have been given before.
template <class Real>
void Expectation<Real>::give(const Real* Y, long count, const BlockOutput& output) {
  const auto table = [&](const Real* from, long wide, long columns, double* to) {
    if (to == nullptr) return;
    std::vector<Real> values(static_cast<std::size_t>(count * wide));
    queue_.download(values.data(), from, values.size() * sizeof(Real));
    const auto convert_row = [&](long n) {
      for (long h = 0; h < columns; ++h)
        to[(done_ + n) * columns + h] = static_cast<double>(values[static_cast<std::size_t>(n * wide + h)]);
    };
    if (columns > 1 && output.each_row)
      output.each_row(count, convert_row);
    else
      for (long n = 0; n < count; ++n) convert_row(n);
  };
  table(eta_.data(), stride_, latents_, output.mean);
  table(probability_.data(), stride_, latents_, output.probability);
  table(second_moment_.data(), stride_, latents_, output.second_moment);
  if (output.sparse != nullptr || output.mosaic != nullptr) keep_candidates(count);
  if (output.sparse != nullptr) give_sparse(count, *output.sparse);
  if (output.mosaic != nullptr)
    output.mosaic->add(output.first + done_, count,
                       {candidates_, kept_.data(), kept_moments_[1].data(), kept_moments_[2].data()},
                       sizeof(Real) == sizeof(double) ? nullptr : log_sums_.data() + done_);
  table(log_sums_.data() + done_, 1, 1, output.log_sums);
  if (output.clamped != nullptr) {  // those left undone are counted when they are done
    std::vector<std::uint32_t> clamped(static_cast<std::size_t>(count));
    std::vector<Real> log_sums(clamped.size());
    queue_.download(clamped.data(), clamped_.data(), clamped.size() * sizeof(std::uint32_t));
    queue_.download(log_sums.data(), log_sums_.data() + done_, log_sums.size() * sizeof(Real));
    for (std::size_t n = 0; n < clamped.size(); ++n)
      if (log_sums[n] != Range<Real>::kUndone) *output.clamped += clamped[n];
  }
  if (output.candidates != nullptr)
    queue_.download(output.candidates + done_ * candidates_, chosen_.data(),
                    static_cast<std::size_t>(count * candidates_) * sizeof(std::uint16_t));
  if (output.squares == nullptr) return;
  const Real* X = Y;
  if (has_root_) {
    gathered_.reserve(queue_, static_cast<std::size_t>(rows_ * dimensions_));
    queue_.multiply({false, count, dimensions_, dimensions_, Y, dimensions_, root_.data(), dimensions_,
                     gathered_.data(), dimensions_});
    X = gathered_.data();
  }
  squares_.reserve(queue_, static_cast<std::size_t>(rows_));
  queue_.launch("squares", count, 0,
                RowSquaresKernel<Real>{dimensions_, X, square_offset_.data(), square_weight_.data(), squares_.data()});
  queue_.download(output.squares + done_, squares_.data(), static_cast<std::size_t>(count) * sizeof(double));
}

template <class Real>
void Expectation<Real>::keep_candidates(long count) {
  const auto all = static_cast<std::size_t>(rows_ * candidates_);
  kept_.reserve(queue_, all);
  for (Array<float>& table : kept_moments_) table.reserve(queue_, all);
  queue_.launch(
      "kept", count, 0,
      KeptKernel<Real>{candidates_, moment_count(candidates_), chosen_.data(), moments_.data(), model_->scale(),
                       kept_.data(), kept_moments_[0].data(), kept_moments_[1].data(), kept_moments_[2].data()});
}

template <class Real>
void Expectation<Real>::give_sparse(long count, const SparseOutput& output) {
  const auto here = static_cast<std::size_t>(count * candidates_);
  const long at = done_ * candidates_;
  queue_.download(output.candidates + at, kept_.data(), here * sizeof(std::uint16_t));
  float* tables[3] = {output.probability, output.mean, output.second_moment};
  for (int i = 0; i < 3; ++i) queue_.download(tables[i] + at, kept_moments_[i].data(), here * sizeof(float));
}

template class Expectation<float>;
template class Expectation<double>;

}  // namespace gsc::cuda
