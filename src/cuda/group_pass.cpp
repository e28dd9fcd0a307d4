// Compiled by nvcc for the GPU, and by the C++ compiler on the emulation for the tests.

#include "cuda/group_pass.h"

#include <algorithm>
#include <cmath>

namespace gsc::cuda {
namespace {

/// So many rows of all planes, one plane behind another.
WindowView upload(Queue& queue, const HostPlanes& picture, long top, long rows, Array<float>& to) {
  const long plane = rows * picture.stride;
  to.reserve(queue, picture.planes.size() * static_cast<std::size_t>(plane));
  for (std::size_t p = 0; p < picture.planes.size(); ++p)
    queue.upload(to.data() + static_cast<long>(p) * plane, picture.planes[p] + top * picture.stride,
                 static_cast<std::size_t>(plane) * sizeof(float));
  return {to.data(),
          static_cast<int>(picture.planes.size()),
          plane,
          static_cast<int>(picture.stride),
          static_cast<int>(top),
          static_cast<int>(picture.height),
          static_cast<int>(picture.width)};
}

/// References along one side: 0, step, 2 step, ..., and the last one that fits.
long places_along(long last, long step) { return (last + step - 1) / step + 1; }

}  // namespace

bool has_matches(int patch, int most) { return patch <= MatchKernel::kMostPatch && most <= MatchKernel::kMost; }

bool GroupPass::has(const Queue& queue, const Shape& shape) {
  const int largest = std::max(shape.members, shape.most), values = shape.patch * shape.patch;
  const bool by_value = !few_members(values, largest);  // the largest groups, where any
  return has_matches(shape.patch, largest) && largest <= kMostInverted && (!by_value || values <= kMostInverted) &&
         GroupKernel::scratch_bytes(GroupLayout::of(values, largest)) <= queue.scratch_limit(1);
}

GroupPass::GroupPass(Queue& queue, long most_references) : queue_(queue), most_references_(most_references) {}

long GroupPass::row_bytes(long planes, long stride, long width) { return planes * (stride * 24 + width * 8); }

void GroupPass::begin(const HostPlanes& noisy, const HostPlanes& pilot, long top, long rows, float largest,
                      bool with_variance) {
  window_ = upload(queue_, pilot, top, rows, pilot_);
  upload(queue_, noisy, top, rows, noisy_);
  // A sum of 2^22 patches stays within 63 bits, where none is more than 8 times as large as the largest value.
  int exponent = 0;
  std::frexp(largest, &exponent);
  unit_ = std::ldexp(1.0F, std::clamp(37 - exponent, -60, 100));
  const std::size_t numbers = static_cast<std::size_t>(window_.plane_step) * static_cast<std::size_t>(window_.planes);
  for (Array<std::int64_t>* array : {&sums_, &weights_}) array->reserve(queue_, numbers);
  sizes_ = 0;
  with_variance_ = with_variance;
}

void GroupPass::match(const Shape& shape, long columns, long first, long count) {
  const int most = std::max(shape.members, shape.most);
  places_.reserve(queue_, static_cast<std::size_t>(count * most));
  counts_.reserve(queue_, static_cast<std::size_t>(count));
  queue_.launch("block matching", count, MatchKernel::scratch_bytes(window_.planes, shape.patch),
                MatchKernel{window_, shape.patch, shape.reach, most, first, columns, shape.step, shape.members,
                            shape.equal, window_.stride, window_.top, places_.data(), counts_.data()});
}

void GroupPass::filter(const Shape& shape, int from, int to, long count) {
  WindowView noisy = window_;
  noisy.values = noisy_.data();
  const int values = shape.patch * shape.patch;
  const GroupLayout layout = GroupLayout::of(values, to);
  queue_.launch("groups", count * window_.planes, GroupKernel::scratch_bytes(layout),
                GroupKernel{window_, noisy, shape.patch, values, std::max(shape.members, shape.most), from, to, layout,
                            shape.variance, unit_, places_.data(), counts_.data(), sums_.data(), weights_.data()});
}

void GroupPass::add(const Shape& shape, long first, long count, const std::function<void(double)>& done) {
  const long last_row = window_.height - shape.patch, columns = places_along(window_.width - shape.patch, shape.step);
  const long all_rows = places_along(last_row, shape.step);
  // References at rows above first - reach - patch, or from first + count + reach on, do not touch these rows.
  const long begin = std::clamp((first - shape.reach - shape.patch) / shape.step, 0L, all_rows - 1);
  const long end = std::min(all_rows, (first + count + shape.reach) / shape.step + 2);
  // Of those added for good measure, the members must lie in the window.
  const auto row_at = [&](long i) { return std::min(i * shape.step, last_row); };
  const auto within = [&](long i) {
    return std::max(0L, row_at(i) - shape.reach) >= window_.top &&
           std::min(last_row, row_at(i) + shape.reach) + shape.patch <=
               window_.top + window_.plane_step / window_.stride;
  };
  long from_row = begin, to_row = end;
  while (from_row < to_row && !within(from_row)) ++from_row;
  while (to_row > from_row && !within(to_row - 1)) --to_row;

  sums_.zero();
  weights_.zero();
  const long references = (to_row - from_row) * columns;
  const int most = std::max(shape.members, shape.most);
  for (long at = 0; at < references; at += most_references_) {
    const long here = std::min(most_references_, references - at);
    match(shape, columns, from_row * columns + at, here);
    // Large groups need more shared memory; where few are large, the others should not wait for that.
    filter(shape, 1, shape.members, here);
    if (most > shape.members) filter(shape, shape.members + 1, most, here);
    queue_.wait();
    done(static_cast<double>(at + here) / static_cast<double>(references));
  }
  rows_ = count;
  const long step = count * window_.width;
  const auto numbers = static_cast<std::size_t>(step * window_.planes);
  mean_.reserve(queue_, numbers);
  if (with_variance_) variance_.reserve(queue_, numbers);
  ++sizes_;
  const long across = (window_.width + kLanes - 1) / kLanes;
  const double share = static_cast<double>(kWeightUnit) / static_cast<double>(unit_);
  queue_.launch("average", count * across, 0,
                AverageKernel{window_, shape.patch, static_cast<int>(first), share, sums_.data(), weights_.data(),
                              sizes_, step, mean_.data(), with_variance_ ? variance_.data() : nullptr});
}

void GroupPass::end(float* mean, float* variance) {
  const std::size_t bytes = static_cast<std::size_t>(rows_ * window_.width * window_.planes) * sizeof(float);
  queue_.download(mean, mean_.data(), bytes);
  if (variance != nullptr) queue_.download(variance, variance_.data(), bytes);
}

MatchPass::MatchPass(Queue& queue, const HostPlanes& pilot, int patch, int reach, int most, long most_references)
    : queue_(queue), patch_(patch), reach_(reach), most_(most), most_references_(most_references) {
  window_ = upload(queue, pilot, 0, pilot.height, pilot_);
}

void MatchPass::find(long first, long count, std::int32_t* rows, std::int32_t* counts) {
  const long columns = window_.width - patch_ + 1, chunk = std::min(count, most_references_);
  places_.reserve(queue_, static_cast<std::size_t>(chunk * most_));
  counts_.reserve(queue_, static_cast<std::size_t>(chunk));
  for (long at = 0; at < count; at += chunk) {
    const long here = std::min(chunk, count - at);
    queue_.launch("block matching", here, MatchKernel::scratch_bytes(window_.planes, patch_),
                  MatchKernel{window_, patch_, reach_, most_, first + at, columns, 1, most_, 0.0F,
                              static_cast<int>(columns), 0, places_.data(), counts_.data()});
    queue_.download(rows + at * most_, places_.data(), static_cast<std::size_t>(here * most_) * sizeof(std::int32_t));
    queue_.download(counts + at, counts_.data(), static_cast<std::size_t>(here) * sizeof(std::int32_t));
  }
}

}  // namespace gsc::cuda
