// Compiled as expectation.cpp is.

#include "cuda/mosaic.h"

#include <algorithm>

namespace gsc::cuda {

Mosaic::Mosaic(Queue& queue, const DevicePicture& picture, const PatchWeighting& weighting, const std::vector<float>& W,
               const std::vector<double>& intercept, long patches)
    : queue_(queue),
      picture_(picture),
      weighting_(weighting),
      W_(queue, W.size()),
      intercept_(queue, intercept.size()),
      put_(queue, static_cast<std::size_t>(patches)) {
  W_.upload(W);
  if (!intercept.empty()) intercept_.upload(intercept);
  const auto plane = static_cast<std::size_t>(picture.pixels());
  const auto planes = plane * static_cast<std::size_t>(picture.view().channels);
  sums_ = Array<double>(queue, planes);
  variance_sums_ = Array<double>(queue, planes);
  weight_sums_ = Array<double>(queue, plane);
  for (Array<double>* array : {&sums_, &variance_sums_, &weight_sums_}) array->zero();
  put_.zero();
}

template <class Real>
void Mosaic::add(long first, long count, const KeptMoments& kept, const Real* log_sums) {
  const PatchView view = picture_.view();
  const int D = picture_.dimensions();
  constexpr long kCached = 4L << 20;  // numbers: what is written is read again from the cache
  const long most = std::min(count, std::max<long>(kCached / D, 1024));
  const auto some = static_cast<std::size_t>(most), numbers = some * static_cast<std::size_t>(D);
  values_.reserve(queue_, numbers);
  variances_.reserve(queue_, numbers);
  means_.reserve(queue_, some * static_cast<std::size_t>(view.channels));
  weights_.reserve(queue_, some);
  for (long done = 0; done < count; done += most) {
    const long here = std::min(most, count - done), from = first + done, at = done * kept.candidates;
    queue_.launch(
        "estimates", here, 0,
        EstimateKernel<Real>{view, from, kept.candidates, D, kept.chosen + at, kept.mean + at, kept.second_moment + at,
                             log_sums != nullptr ? log_sums + done : nullptr, put_.data(), W_.data(), weighting_.equal,
                             weighting_.floor, weighting_.mean_variance, values_.data(), variances_.data(),
                             means_.data(), weights_.data()});
    const long last_row = view.height - view.patch;
    const long top = std::min(from / view.columns * view.stride, last_row);
    const long bottom = std::min((from + here - 1) / view.columns * view.stride, last_row) + view.patch;
    queue_.launch("put back", (bottom - top) * ((view.width + kLanes - 1) / kLanes), 0,
                  PutBackKernel{view, from, here, static_cast<int>(top), weighting_.mean_variance, values_.data(),
                                variances_.data(), means_.data(), weights_.data(), intercept_.data(), sums_.data(),
                                variance_sums_.data(), weight_sums_.data()});
  }
}

void Mosaic::give(const PatchSums& to) {
  const long plane = picture_.pixels();
  const auto bytes = static_cast<std::size_t>(plane) * sizeof(double);
  for (std::size_t k = 0; k < to.values.size(); ++k) {
    queue_.download(to.values[k], sums_.data() + static_cast<long>(k) * plane, bytes);
    queue_.download(to.variances[k], variance_sums_.data() + static_cast<long>(k) * plane, bytes);
  }
  queue_.download(to.weights, weight_sums_.data(), bytes);
}

template void Mosaic::add(long, long, const KeptMoments&, const float*);
template void Mosaic::add(long, long, const KeptMoments&, const double*);

}  // namespace gsc::cuda
