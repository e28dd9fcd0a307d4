#include "factored/block.h"

#include <algorithm>
#include <numeric>

#include "data/finite.h"
#include "math/aligned.h"
#include "math/blas.h"

namespace gsc {
namespace {

/// Latents whose influence on each other is followed one by one; between groups it goes through a matrix product.
constexpr Index kGroup = 16;

/// A multiple of the padding, but an odd one: rows a power of two apart would share few lines of the cache.
Index padded(Index points) { return ((points + kFactoredPadding - 1) / kFactoredPadding | 1) * kFactoredPadding; }

}  // namespace

LatentRows::LatentRows(Index rows, Index points)
    : rows_(rows),
      stride_(padded(points)),
      values_(aligned<double>(static_cast<std::size_t>(std::max<Index>(1, rows * stride_)))) {
  std::fill_n(values_.get(), rows * stride_, 0.0);
}

FactoredPoints::FactoredPoints(Index latents, Index most_points, bool posterior)
    : a(latents, most_points),
      x(latents, most_points),
      gamma(posterior ? latents : 0, most_points),
      second(posterior ? latents : 0, most_points),
      local(1, most_points),
      change(posterior ? 1 : 0, most_points) {}

void FactoredPoints::gather(FactoredPoints& from, const std::vector<Index>& which) {
  points = static_cast<Index>(which.size());
  a.block(points) = from.a.block(from.points)(Eigen::all, which);
  x.block(points) = from.x.block(from.points)(Eigen::all, which);
}

void FactoredPoints::scatter(FactoredPoints& to, const std::vector<Index>& which) {
  to.x.block(to.points)(Eigen::all, which) = x.block(points);
  to.gamma.block(to.points)(Eigen::all, which) = gamma.block(points);
  to.second.block(to.points)(Eigen::all, which) = second.block(points);
  to.local.block(to.points)(Eigen::all, which) = local.block(points);
}

FactoredBlock::FactoredBlock(const FactoredModel& model, Index block_rows, bool posterior)
    : model_(model),
      posterior_(posterior),
      Y_(block_rows, model.dimensions),
      all_(model.latents, block_rows, posterior),
      moving_(posterior ? model.latents : 0, block_rows, posterior),
      eta_(posterior ? kGroup : 0, block_rows),
      sum_gamma_(model.latents),
      sum_second_(model.latents) {}

void FactoredBlock::load(const Data& data, Index first, Index count, const Matrix& codes) {
  auto Y = Y_.topRows(count);
  data.read(first, Y);
  if (model_.gaps)
    sorted_.sort(data, first, Y, model_.intercept);
  else
    require_finite(data, first, Y);
  if (model_.intercept.size() > 0) Y.rowwise() -= model_.intercept.transpose();
  all_.points = count - sorted_.count();
  if (sorted_.any()) {
    if (!gaps_) gaps_.emplace(model_, Y_.rows());
    gaps_->load(sorted_, gap_Y(), first, codes);
  }
  product_with_transposed(model_.projection, Y.topRows(all_.points), all_.a.block(all_.points));
  if (codes.size() == 0) {
    x().setZero();
    return;
  }
  for (Index i = 0; i < model_.latents; ++i) {
    const double* own = &codes(model_.order[static_cast<std::size_t>(i)], first);
    if (!sorted_.any())
      std::copy_n(own, count, all_.x.row(i));
    else
      for (Index n = 0; n < all_.points; ++n) all_.x.row(i)[n] = own[sorted_.origin(n)];
  }
}

void FactoredBlock::sweep() {
  sweep(all_);
  if (FactoredGaps* with_gaps = gaps()) with_gaps->sweep();
}

void FactoredBlock::converge() {
  converge_complete();
  if (FactoredGaps* with_gaps = gaps()) with_gaps->converge();
}

void FactoredBlock::sweep(FactoredPoints& points) {
  sum_gamma_.setZero();
  sum_second_.setZero();
  const Index count = points.points;
  points.local.block(count).setZero();
  if (posterior_) points.change.block(count).setZero();
  for (Index first = 0; first < model_.latents; first += kGroup) {
    const Index latents = std::min(kGroup, model_.latents - first);
    // A single sweep needs its a no more.
    if (posterior_) eta_.block(0, latents, count) = points.a.block(first, latents, count);
    LatentRows::Map eta = posterior_ ? eta_.block(0, latents, count) : points.a.block(first, latents, count);
    add_product(-1, model_.gram.middleRows(first, latents), points.x.block(count), eta);
    FactoredRun run{};
    run.first = first;
    run.count = latents;
    run.points = count;
    run.stride = points.x.stride();
    run.x = points.x.row(first);
    run.eta = eta.data();
    run.local = points.local.row(0);
    if (posterior_) {
      run.gamma = points.gamma.row(first);
      run.second = points.second.row(first);
      run.change = points.change.row(0);
    }
    run.sum_gamma = sum_gamma_.data() + first;
    run.sum_second = sum_second_.data() + first;
    run_factored(model_, run);
  }
}

void FactoredBlock::converge_complete() {
  constexpr Index kFew = 2;  // so many times fewer points are worth copying
  std::vector<Index> where(static_cast<std::size_t>(all_.points));
  std::iota(where.begin(), where.end(), Index{0});
  FactoredPoints* active = &all_;
  for (int i = 0; i < kMostFactoredSweeps; ++i) {
    sweep(*active);
    const double* change = active->change.row(0);
    std::vector<Index> moving;
    for (Index n = 0; n < active->points; ++n)
      if (change[n] > kFactoredStill) moving.push_back(where[static_cast<std::size_t>(n)]);
    if (moving.empty()) break;
    if (static_cast<Index>(moving.size()) * kFew > active->points) continue;
    if (active == &moving_) moving_.scatter(all_, where);
    where = std::move(moving);
    moving_.gather(all_, where);
    active = &moving_;
  }
  if (active == &moving_) moving_.scatter(all_, where);
}

void FactoredBlock::place(LatentRows::Map complete, LatentRows::Map (FactoredGaps::*of_gaps)(), MatrixBlock table) {
  if (gaps() == nullptr) {
    table = complete.transpose();
    return;
  }
  const LatentRows::Map with_gaps = (*gaps_.*of_gaps)();
  for (Index n = 0; n < complete.cols(); ++n) table.row(origin(n)) = complete.col(n).transpose();
  for (Index n = 0; n < with_gaps.cols(); ++n) table.row(origin(complete.cols() + n)) = with_gaps.col(n).transpose();
}

Vector FactoredBlock::bounds() {
  // x'a - 1/2 x'Gx = 1/2 x'(a + (a - G x))
  Matrix sum = 2 * all_.a.block(all_.points);
  add_product(-1, model_.gram, x(), sum);
  return all_.local.block(all_.points).transpose() + 0.5 * sum.cwiseProduct(x()).colwise().sum().transpose();
}

}  // namespace gsc
