// Compiled by nvcc for the GPU, and by the C++ compiler on the emulation for the tests.
// Priors of their own.

#include "cuda/expectation.h"
#include "cuda/kernels/own_prior_kernel.h"
#include "cuda/kernels/tree_kernel.h"

namespace gsc::cuda {

template <class Real>
void Expectation<Real>::set_before(long rows, int candidates, const std::uint16_t* chosen, const float* probability,
                                   const float* mean, const float* second_moment) {
  before_candidates_ = candidates;
  const auto size = static_cast<std::size_t>(rows * candidates);
  before_chosen_.reserve(queue_, size);
  before_chosen_.upload(chosen, size);
  const float* tables[3] = {probability, mean, second_moment};
  for (int i = 0; i < 3; ++i) {
    before_[i].reserve(queue_, size);
    before_[i].upload(tables[i], size);
  }
}

/// eta, a and the scores of the block's data points under priors of their own.
template <class Real>
void Expectation<Real>::own_priors(long count, const OwnLists& own) {
  const auto rows = static_cast<std::size_t>(rows_), stride = static_cast<std::size_t>(stride_);
  for (Array<Real>* table : {&own_a_, &own_tau_}) table->reserve(queue_, rows * stride);
  own_score_.reserve(queue_, rows * stride);
  own_off_.reserve(queue_, rows);
  no_offset_.reserve(queue_, stride);
  no_offset_.zero();
  const auto some = static_cast<std::size_t>(count), most = static_cast<std::size_t>(own.most);
  own_rows_.reserve(queue_, rows * most);
  own_counts_.reserve(queue_, rows);
  own_rows_.upload(own.rows.data() + done_ * own.most, some * most);
  own_counts_.upload(own.neighbours.data() + done_, some);
  const BeforeView before{before_candidates_, before_chosen_.data(), before_[0].data(), before_[1].data(),
                          before_[2].data()};
  queue_.launch("own priors", count, OwnPriorKernel<Real>::scratch_bytes(stride_),
                OwnPriorKernel<Real>{latents_, stride_, before, own.most, own_rows_.data(), own_counts_.data(),
                                     own.pseudo_counts, model_->pi(), model_->mu(), model_->psi(), model_->vectors(),
                                     eta_.data(), own_a_.data(), own_tau_.data(), own_score_.data(), own_off_.data()});
}

template <class Real>
void Expectation<Real>::own_units(long count, OwnLists& own, bool log_off) {
  queue_.launch("own priors", count, 0,
                OwnUnitsKernel<Real>{candidates_, stride_, moment_count(candidates_), chosen_.data(), own_tau_.data(),
                                     moments_.data()});
  if (log_off)
    queue_.download(own.log_off.data() + done_, own_off_.data(), static_cast<std::size_t>(count) * sizeof(double));
}

template class Expectation<float>;
template class Expectation<double>;

}  // namespace gsc::cuda
