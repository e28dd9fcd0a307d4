#include "tasks/picture/patches.h"

#include <algorithm>
#include <cassert>
#include <unordered_map>
#include <utility>

#include "math/numeric_scope.h"
#include "tasks/picture/parallel_rows.h"

namespace gsc {
namespace {

/// dense[0], dense[1], ... against sparse[0], sparse[step], ...: the two layouts of a picture row, of one channel and
/// of all channels together. Loops for one and three channels are compiled with the step known, which lets them
/// vectorise.
template <class Dense, class Sparse, class Operation>
void walk_row(Dense* dense, Sparse* sparse, Index count, Index step, const Operation& operation) {
  switch (step) {
    case 1:
      for (Index j = 0; j < count; ++j) operation(dense[j], sparse[j]);
      break;
    case 3:
      for (Index j = 0; j < count; ++j) operation(dense[j], sparse[3 * j]);
      break;
    default:
      for (Index j = 0; j < count; ++j) operation(dense[j], sparse[step * j]);
  }
}

/// Starts of patches along one side: 0, stride, 2 stride, ..., and the last one that fits.
Index grid_steps(Index last, Index stride) { return (last + stride - 1) / stride + 1; }

}  // namespace

PatchPositions grid_positions(Index height, Index width, Index patch, Index stride) {
  if (patch < 1) throw UsageError("patch: " + std::to_string(patch) + " pixels; at least 1 is needed");
  if (stride < 1 || stride > patch)
    throw UsageError("stride: " + std::to_string(stride) + " pixels; from 1 to the patch's " + std::to_string(patch) +
                     " leaves no pixel out");
  if (height < patch || width < patch)
    throw Error("the picture is too small: " + std::to_string(width) + " x " + std::to_string(height) +
                " pixels hold no patch of " + std::to_string(patch) + " x " + std::to_string(patch) +
                "; use smaller patches");
  PatchPositions positions;
  positions.patch_ = patch;
  positions.stride_ = stride;
  positions.last_row_ = height - patch;
  positions.last_col_ = width - patch;
  positions.grid_rows_ = grid_steps(positions.last_row_, stride);
  positions.grid_cols_ = grid_steps(positions.last_col_, stride);
  return positions;
}

// The first `count` steps of a Fisher-Yates shuffle of 0, 1, ..., all - 1, keeping only the entries that moved.
PatchPositions random_positions(Index height, Index width, Index patch, Index count, Random& random) {
  const PatchPositions grid = grid_positions(height, width, patch, 1);
  const Index all = grid.size();
  PatchPositions positions = grid;
  positions.random_ = true;
  positions.list_.resize(static_cast<std::size_t>(std::clamp<Index>(count, 0, all)));
  std::unordered_map<Index, Index> moved;
  const auto entry = [&](Index i) {
    const auto found = moved.find(i);
    return found == moved.end() ? i : found->second;
  };
  Index i = 0;
  for (auto& corner : positions.list_) {
    const Index j = std::uniform_int_distribution<Index>(i, all - 1)(random), drawn = entry(j);
    moved[j] = entry(i);
    moved.erase(i++);
    const PatchPositions::Corner place = grid[drawn];
    corner = {static_cast<std::uint32_t>(place.row), static_cast<std::uint32_t>(place.col)};
  }
  return positions;
}

PatchData::PatchData(const Picture& picture, PatchPositions positions, bool remove_mean, std::string name)
    : picture_(&picture), positions_(std::move(positions)), remove_mean_(remove_mean), name_(std::move(name)) {
  assert(positions_.height() == picture.height() && positions_.width() == picture.width());
}

std::vector<std::uint32_t> PatchPositions::corners() const {
  std::vector<std::uint32_t> corners;
  corners.reserve(2 * list_.size());
  for (const SmallCorner& corner : list_) {
    corners.push_back(corner.row);
    corners.push_back(corner.col);
  }
  return corners;
}

PatchLayout PatchData::layout() const {
  PatchLayout layout{.channels = {},
                     .height = picture_->height(),
                     .width = picture_->width(),
                     .patch = positions_.patch(),
                     .stride = positions_.stride(),
                     .columns = positions_.grid_cols(),
                     .corners = positions_.corners(),
                     .remove_mean = remove_mean_};
  for (const Matrix& channel : picture_->channels) layout.channels.push_back(channel.data());
  return layout;
}

void PatchData::read_patch(Index i, double* values, double* means) const {
  const auto [row, col] = positions_[i];
  const Index side = positions_.patch(), step = channels();
  for (Index k = 0; k < step; ++k) {
    const Matrix& channel = picture_->channels[static_cast<std::size_t>(k)];
    for (Index r = 0; r < side; ++r)
      walk_row(&channel(row + r, col), values + r * side * step + k, side, step,
               [](double from, double& to) { to = from; });
    double mean = 0;
    if (remove_mean_) {
      Eigen::Map<Eigen::ArrayXd, 0, Eigen::InnerStride<>> patch(values + k, side * side, Eigen::InnerStride<>(step));
      mean = patch.mean();
      patch -= mean;
    }
    if (means != nullptr) means[k] = mean;
  }
}

void PatchData::read(Index first, Eigen::Ref<Matrix> block) const {
  assert(block.cols() == cols() && first >= 0 && first + block.rows() <= rows());
  for (Index i = 0; i < block.rows(); ++i) read_patch(first + i, block.row(i).data(), nullptr);
}

void PatchData::read(Index first, Eigen::Ref<Matrix> block, Matrix& means) const {
  assert(block.cols() == cols() && first >= 0 && first + block.rows() <= rows());
  means.resize(block.rows(), channels());
  for (Index i = 0; i < block.rows(); ++i) read_patch(first + i, block.row(i).data(), means.row(i).data());
}

/// Of `count` neighbours along a row of the grid of stride 1, side by side.
void PatchData::means_along(const Matrix& channel, Index i, Index count, double* means) const {
  constexpr Index kMost = 64;  // whose sums stay in the nearest cache
  const Index side = positions_.patch(), step = channels();
  double sums[kMost];
  for (Index done = 0; done < count; done += kMost) {
    const Index here = std::min(kMost, count - done);
    const auto [row, col] = positions_[i + done];
    std::fill_n(sums, here, 0.0);
    for (Index r = 0; r < side; ++r) {
      const double* pixels = &channel(row + r, col);
      for (Index c = 0; c < side; ++c)
        for (Index n = 0; n < here; ++n) sums[n] += pixels[c + n];
    }
    for (Index n = 0; n < here; ++n) means[(done + n) * step] = sums[n] / static_cast<double>(side * side);
  }
}

void PatchData::read_means(Index first, Index count, double* means) const {
  assert(first >= 0 && first + count <= rows());
  const Index step = channels();
  if (!remove_mean_) {
    std::fill_n(means, count * step, 0.0);
  } else if (!positions_.is_grid() || positions_.stride() != 1) {
    std::vector<double> values(static_cast<std::size_t>(cols()));
    for (Index i = 0; i < count; ++i) read_patch(first + i, values.data(), means + i * step);
  } else {
    const Index columns = positions_.grid_cols();
    for (Index i = 0, here = 0; i < count; i += here) {
      here = std::min(count - i, columns - (first + i) % columns);
      for (Index k = 0; k < step; ++k)
        means_along(picture_->channels[static_cast<std::size_t>(k)], first + i, here, means + i * step + k);
    }
  }
}

void add_means(Eigen::Ref<Matrix> patches, const Matrix& means) {
  assert(patches.rows() == means.rows() && patches.cols() % means.cols() == 0);
  for (Index i = 0; i < patches.rows(); ++i)
    for (Index d = 0; d < patches.cols(); d += means.cols()) patches.row(i).segment(d, means.cols()) += means.row(i);
}

PatchAverager::PatchAverager(PatchPositions positions, Index channels, bool with_variances, int threads)
    : positions_(std::move(positions)), weights_(zeros(positions_.height(), positions_.width(), threads)) {
  for (auto* matrices : {&sums_, &variances_})
    for (Index c = 0; c < channels && (with_variances || matrices == &sums_); ++c)
      matrices->push_back(zeros(positions_.height(), positions_.width(), threads));
}

void PatchAverager::add(Index i, const double* values, double weight, const double* variances) {
  add_within(i, values, weight, variances, {0, positions_.width()});
}

void PatchAverager::add_within(Index i, const double* values, double weight, const double* variances, Strip strip) {
  const auto [row, col] = positions_[i];
  const Index side = positions_.patch(), step = static_cast<Index>(sums_.size());
  const Index begin = std::max<Index>(0, strip.left - col), end = std::min(side, strip.right - col);
  if (begin >= end) return;
  const Index count = end - begin, left = col + begin;
  weights_.block(row, left, side, count).array() += weight;
  const auto accumulate = [weight](double& sum, double value) { sum += weight * value; };
  for (Index k = 0; k < step; ++k)
    for (Index r = 0; r < side; ++r) {
      const Index at = (r * side + begin) * step + k;
      walk_row(&sums_[static_cast<std::size_t>(k)](row + r, left), values + at, count, step, accumulate);
      if (!variances_.empty())
        walk_row(&variances_[static_cast<std::size_t>(k)](row + r, left), variances + at, count, step, accumulate);
    }
}

void PatchAverager::add_block(Index first, const Eigen::Ref<const Matrix>& patches,
                              const Eigen::Ref<const Vector>& weights, const Eigen::Ref<const Matrix>& variances,
                              int threads) {
  assert(patches.rows() == weights.size() && first >= 0 && first + patches.rows() <= positions_.size());
  assert(variances_.empty() || (variances.rows() == patches.rows() && variances.cols() == patches.cols()));
  const Index width = positions_.width(), count = patches.rows();
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int part = 0; part < threads; ++part) {
    const FloatingPointScope floating_point;
    const Strip strip{width * part / threads, width * (part + 1) / threads};
    for (Index run = 0, end = 0; run < count; run = end) {
      const Index rest = positions_.is_grid() ? positions_.grid_cols() - (first + run) % positions_.grid_cols() : 1;
      end = std::min(count, run + rest);
      const auto [from, to] = reaching_into(first + run, first + end, strip);
      for (Index i = from - first; i < to - first; ++i)
        add_within(first + i, patches.row(i).data(), weights(i), variances_.empty() ? nullptr : variances.row(i).data(),
                   strip);
    }
  }
}

std::pair<Index, Index> PatchAverager::reaching_into(Index begin, Index end, Strip strip) const {
  const auto first_from = [&](Index column) {  // the first whose left pixel is in this column or beyond
    Index low = begin, high = end;
    while (low < high) {
      const Index middle = (low + high) / 2;
      if (positions_[middle].col < column)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  };
  return {first_from(strip.left - positions_.patch() + 1), first_from(strip.right)};
}

PatchSums PatchAverager::sums() {
  PatchSums sums;
  for (Matrix& sum : sums_) sums.values.push_back(sum.data());
  for (Matrix& variance : variances_) sums.variances.push_back(variance.data());
  sums.weights = weights_.data();
  return sums;
}

void PatchAverager::add_up(Team& team) {
  team.sum(weights_.data(), weights_.size());
  for (std::vector<Matrix>* matrices : {&sums_, &variances_})
    for (Matrix& matrix : *matrices) team.sum(matrix.data(), matrix.size());
}

Picture PatchAverager::result(PixelDepth depth, int threads) const {
  assert(weights_.minCoeff() > 0);
  Picture picture;
  picture.depth = depth;
  for (const Matrix& sum : sums_) {
    Matrix& channel = picture.channels.emplace_back(sum.rows(), sum.cols());
    parallel_rows(sum.rows(), sum.cols(), threads,
                  [&](Index y) { channel.row(y) = sum.row(y).cwiseQuotient(weights_.row(y)); });
  }
  return picture;
}

Picture PatchAverager::std_result(int threads) const {
  assert(!variances_.empty() && weights_.minCoeff() > 0);
  Picture picture;
  picture.depth = PixelDepth::real32;
  for (const Matrix& variance : variances_) {
    Matrix& channel = picture.channels.emplace_back(variance.rows(), variance.cols());
    parallel_rows(variance.rows(), variance.cols(), threads,
                  [&](Index y) { channel.row(y) = variance.row(y).cwiseQuotient(weights_.row(y)).cwiseSqrt(); });
  }
  return picture;
}

}  // namespace gsc
