// Compiled by nvcc for the GPU, and by the C++ compiler on the emulation for the tests.
// What an E-step has on the device: work space, the model as its kernels read it, data on its way.

#include <algorithm>

#include "cuda/expectation.h"
#include "cuda/kernels/model_kernels.h"
#include "cuda/kernels/own_prior_kernel.h"
#include "cuda/kernels/sum_kernels.h"

namespace gsc::cuda {

long most_latents(std::size_t block_bytes, bool own_priors) {
  const std::size_t product = ProductKernel<double>::kWarps * ProductKernel<double>::scratch_bytes(1);
  const std::size_t own = OwnPriorKernel<double>::kWarps * OwnPriorKernel<double>::scratch_bytes(1);
  return static_cast<long>(block_bytes / (own_priors ? own : product)) / kLanes * kLanes;
}

template <class Real>
Expectation<Real>::Expectation(Queue& queue, int dimensions, long resident, long most_rows)
    : queue_(queue), dimensions_(dimensions), resident_(resident), most_rows_(most_rows) {
  if (resident > 0) Y_ = Array<Real>(queue, static_cast<std::size_t>(resident * dimensions));
}

template <class Real>
Expectation<Real>::~Expectation() {
  queue_.settle();
  for (Real* pinned : pinned_)
    if (pinned != nullptr) queue_.release_pinned(pinned);
}

template <class Real>
long Expectation<Real>::block_rows(int latents) const {
  if (most_rows_ > 0) return most_rows_;
  // As much as an H200's cache. Half of it was measured: selection gains a tenth, but twice as many kernels are
  // started.
  constexpr long kCache = 64L << 20;
  const long fits = kCache / (rounded_up(latents, kLanes) * static_cast<long>(sizeof(Real)));
  return std::clamp<long>(fits / kProductTile * kProductTile, 8192, 65536);
}

template <class Real>
std::size_t Expectation<Real>::bytes(int latents, int candidates) const {
  const long rows = block_rows(latents), stride = rounded_up(latents, kLanes);
  const long numbers = rows * (stride + moment_count(candidates) + 4 * dimensions_) + (std::int64_t{32} << 20) / 4;
  const long doubles = (pieces(rows, kProductTile) + 8) * latents * stride + dimensions_ * (8 * stride + dimensions_);
  return static_cast<std::size_t>(numbers) * sizeof(Real) + static_cast<std::size_t>(doubles) * sizeof(double);
}

/// Room for a model of this shape.
template <class Real>
void Expectation<Real>::work_space(int latents, const Truncation& truncation) {
  latents_ = latents;
  candidates_ = truncation.candidates;
  max_active_ = truncation.max_active;
  conditional_ = truncation.conditional;
  stride_ = static_cast<int>(rounded_up(latents_, kLanes));
  rows_ = block_rows(latents_);
  const long most = resident_ > 0 ? std::min(rows_, rounded_up(resident_, kLanes)) : rows_;
  rows_ = most;
  const auto rows = static_cast<std::size_t>(rows_), stride = static_cast<std::size_t>(stride_);
  eta_.reserve(queue_, rows * stride);
  best_.reserve(queue_, rows);
  outside_.reserve(queue_, rows);
  moments_.reserve(queue_, rows * static_cast<std::size_t>(moment_count(candidates_)));
  clamped_.reserve(queue_, rows);
  chosen_.reserve(queue_, rows * static_cast<std::size_t>(candidates_));
  members_.reserve(queue_, static_cast<std::size_t>(pieces(rows_, kLanes)) * stride);
  const auto tiles = static_cast<std::size_t>(pieces(rows_, kProductTile));
  products_.reserve(queue_, tiles * static_cast<std::size_t>(latents_) * stride);
  partial_.reserve(queue_, static_cast<std::size_t>(pieces(rows_, kSingletonTile)) * 3 * stride);
}

template <class Real>
void Expectation<Real>::set_model(const DeviceModel& model, const Truncation& truncation) {
  model_ = &model;
  work_space(model.latents(), truncation);
  const auto H = static_cast<std::size_t>(latents_), stride = static_cast<std::size_t>(stride_);
  projection_.reserve(queue_, static_cast<std::size_t>(dimensions_) * stride);
  J_.reserve(queue_, H * stride);
  J_single_.reserve(queue_, H * stride);
  for (Array<Real>* of_latents : {&eta_offset_, &a_}) of_latents->reserve(queue_, stride);
  score_offset_.reserve(queue_, stride);
  queue_.launch(
      "preparation", piece_count(dimensions_ + latents_ + 1, stride_), 0,
      ModelRowsKernel<Real>{dimensions_, latents_, stride_, model.PW(), model.G(), model.vectors(), projection_.data(),
                            J_.data(), eta_offset_.data(), a_.data(), J_single_.data(), score_offset_.data()});
}

template <class Real>
Real* Expectation<Real>::staging() {
  const auto needed = static_cast<std::size_t>((rows_ > 0 ? rows_ : block_rows(1)) * dimensions_);
  if (needed > pinned_size_) {
    queue_.wait();
    pinned_size_ = 0;
    for (Real*& pinned : pinned_) {
      if (pinned != nullptr) queue_.release_pinned(pinned);
      pinned = nullptr;
      pinned = static_cast<Real*>(queue_.allocate_pinned(needed * sizeof(Real)));
    }
    pinned_size_ = needed;
  }
  slot_ = 1 - slot_;
  queue_.reuse(slot_);
  return pinned_[slot_];
}

template <class Real>
void Expectation<Real>::bring(long first, long count) {
  Real* to = nullptr;
  if (resident_ > 0) {
    to = Y_.data() + first * dimensions_;
  } else {
    staged_[slot_].reserve(queue_, pinned_size_);
    to = staged_[slot_].data();
  }
  queue_.upload_beside(slot_, to, pinned_[slot_], static_cast<std::size_t>(count * dimensions_) * sizeof(Real));
  queue_.used(slot_);
}

template <class Real>
Real* Expectation<Real>::place(long first) {
  if (resident_ > 0) return Y_.data() + first * dimensions_;
  staged_[slot_].reserve(queue_, static_cast<std::size_t>(rows_ * dimensions_));
  return staged_[slot_].data();
}

template class Expectation<float>;
template class Expectation<double>;

}  // namespace gsc::cuda
