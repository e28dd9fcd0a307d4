// Compiled by nvcc for the GPU, and by the C++ compiler on the emulation for the tests.

#include "cuda/mosaic.h"

#include <algorithm>

namespace gsc::cuda {
namespace {

/// What is written is read again from the cache.
long patches_at_a_time(int dimensions) {
  constexpr long kCached = 4L << 20;  // numbers
  return std::max<long>(kCached / dimensions, 1024);
}

}  // namespace

std::size_t Mosaic::bytes(const DevicePicture& picture, long patches) {
  const int channels = picture.view().channels, D = picture.dimensions();
  const long of_patch = 2L * D * static_cast<long>(sizeof(float)) + (channels + 1) * static_cast<long>(sizeof(double));
  return static_cast<std::size_t>(picture.pixels() * (2 * channels + 1) * static_cast<long>(sizeof(double)) + patches +
                                  std::min(patches, patches_at_a_time(D)) * of_patch);
}

Mosaic::Mosaic(Queue& queue, const DevicePicture& picture, const PatchWeighting& weighting, const std::vector<float>& W,
               const std::vector<double>& intercept, long patches, long most)
    : queue_(queue),
      picture_(picture),
      weighting_(weighting),
      most_(most > 0 ? most : patches_at_a_time(picture.dimensions())),
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
  const long most = std::min(count, most_);
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
    const long last = from + here - 1;
    const int top = view.row(from), rows = view.row(last) + view.patch - top;
    const bool one_row = from / view.columns == last / view.columns;
    const int left = one_row ? view.column(from) : 0, right = one_row ? view.column(last) + view.patch : view.width;
    const int across = (right - left + kLanes - 1) / kLanes;
    queue_.launch("put back", static_cast<long>(rows) * across, 0,
                  PutBackKernel{view, from, here, top, left, across, weighting_.mean_variance, values_.data(),
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
