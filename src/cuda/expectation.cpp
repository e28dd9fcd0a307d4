// Compiled by nvcc for the GPU, and by the C++ compiler on the emulation for the tests.

#include "cuda/expectation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "cuda/kernels/device_sum_kernels.h"
#include "cuda/kernels/select_kernel.h"
#include "cuda/kernels/sum_kernels.h"
#include "cuda/kernels/tree_kernel.h"

namespace gsc::cuda {
namespace {

/// Calls run(TreeKernel<Real, K>) for K candidates.
template <class Real, int K = 1, class Run>
void with_tree(int candidates, const TreeArguments<Real>& arguments, const Run& run) {
  if constexpr (K <= kMaxCandidates) {
    if (candidates == K)
      run(TreeKernel<Real, K>{arguments});
    else
      with_tree<Real, K + 1>(candidates, arguments, run);
  }
}

}  // namespace

template <class Real>
void Expectation<Real>::begin(const Wanted& wanted, long points, bool all_resident) {
  wanted_ = wanted;
  points_ = points;
  done_ = 0;
  summing_ = true;
  const long stride = stride_, D = dimensions_;
  layout_.scalars = 0;
  layout_.singletons = 3;
  layout_.candidates = layout_.singletons + 3 * stride;
  layout_.columns = layout_.candidates + 2 * stride;
  layout_.ZZ = layout_.columns + 2 * D;
  layout_.YZ = layout_.ZZ + latents_ * stride;
  layout_.YY = layout_.YZ + D * stride;
  layout_.MM = layout_.YY + (wanted.full_squares ? D * D : 0);
  layout_.size = layout_.MM + (wanted.mean_products ? stride * stride : 0);
  totals_.reserve(queue_, static_cast<std::size_t>(layout_.size));
  totals_.zero();
  squares_known_ = all_resident && known_.size() > 0 && known_full_ == wanted.full_squares;
  keep_squares_ = all_resident && !squares_known_;
  log_sums_.reserve(queue_, static_cast<std::size_t>(std::max(points, rows_)));
}

template <class Real>
void Expectation<Real>::begin_points(long points) {
  points_ = points;
  done_ = 0;
  summing_ = false;
  log_sums_.reserve(queue_, static_cast<std::size_t>(std::max(points, rows_)));
}

template <class Real>
void Expectation<Real>::add_resident(long first, long count, const BlockOutput* output) {
  for (long done = 0; done < count; done += rows_)
    block(Y_.data() + (first + done) * dimensions_, std::min(rows_, count - done), output);
}

template <class Real>
void Expectation<Real>::add_listed(const std::int64_t* list, long count) {
  gathered_.reserve(queue_, static_cast<std::size_t>(rows_ * dimensions_));
  list_.reserve(queue_, static_cast<std::size_t>(count));
  list_.upload(list, static_cast<std::size_t>(count));
  for (long done = 0; done < count; done += rows_) {
    const long here = std::min(rows_, count - done);
    queue_.launch("rows", here, 0,
                  GatherRowsKernel<Real>{dimensions_, list_.data() + done, Y_.data(), gathered_.data()});
    block(gathered_.data(), here, nullptr);
  }
}

template <class Real>
void Expectation<Real>::add_brought(long count, const BlockOutput* output) {
  block(staged_[slot_].data(), count, output);
  queue_.used(slot_);
}

template <class Real>
void Expectation<Real>::block(const Real* Y, long count, const BlockOutput* output) {
  queue_.multiply(
      {false, count, stride_, dimensions_, Y, dimensions_, projection_.data(), stride_, eta_.data(), stride_});
  OwnLists* own = output != nullptr ? output->own : nullptr;
  if (own != nullptr) own_priors(count, *own);
  select(count, own != nullptr);
  tree(count, output);
  if (own != nullptr) own_units(count, *own, output->squares != nullptr);
  outside(count);
  if (output != nullptr) give(Y, count, *output);
  if (summing_) {
    products(count);
    const long tiles = pieces(count, kScalarTile);
    scalar_parts_.reserve(queue_,
                          static_cast<std::size_t>(std::max(tiles * 3, pieces(count, kRowTile) * 2 * dimensions_)));
    queue_.launch("sums", tiles, 0,
                  ScalarKernel<Real>{count, log_sums_.data() + done_, clamped_.data(), scalar_parts_.data()});
    reduce(scalar_parts_.data(), 3, 3, tiles, totals_.data() + layout_.scalars);
    if (!squares_known_) own_sums(Y, count);
    cross_products(Y, count, eta_.data(), stride_, stride_, totals_.data() + layout_.YZ);
    if (wanted_.mean_products) {
      // Means times means is Y times means with means in place of Y.
      std::swap(dimensions_, stride_);
      cross_products(eta_.data(), count, eta_.data(), dimensions_, dimensions_, totals_.data() + layout_.MM);
      std::swap(dimensions_, stride_);
    }
  }
  done_ += count;
}

/// Those of the data itself.
template <class Real>
void Expectation<Real>::own_sums(const Real* Y, long count) {
  const long tiles = pieces(count, kRowTile);
  queue_.launch("sums", tiles * pieces(dimensions_, kLanes), 0,
                ColumnKernel<Real>{count, dimensions_, Y, scalar_parts_.data()});
  reduce(scalar_parts_.data(), 2L * dimensions_, 2L * dimensions_, tiles, totals_.data() + layout_.columns);
  if (wanted_.full_squares) cross_products(Y, count, Y, dimensions_, dimensions_, totals_.data() + layout_.YY);
}

template <class Real>
void Expectation<Real>::select(long count, bool own) {
  queue_.zero(members_.data(), static_cast<std::size_t>(pieces(count, kLanes) * stride_) * sizeof(std::uint32_t));
  SelectArguments<Real> in{};
  in.latents = latents_;
  in.stride = stride_;
  in.candidates = candidates_;
  in.conditional = conditional_ && candidates_ < latents_;
  in.count = count;
  in.rows = eta_.data();
  in.eta_offset = eta_offset_.data();
  in.a = a_.data();
  in.score_offset = score_offset_.data();
  if (own) {
    in.eta_offset = no_offset_.data();
    in.a = own_a_.data();
    in.score_offset = own_score_.data();
    in.own_step = stride_;
    in.tau = own_tau_.data();
  }
  in.J = J_single_.data();
  in.chosen = chosen_.data();
  in.best = best_.data();
  in.outside = outside_.data();
  in.members = members_.data();
  const auto run = [&](auto kernel) {
    const std::size_t floats = kernel.memory_floats(stride_, candidates_, in.conditional);
    std::size_t bytes = floats * sizeof(float);
    long warps = count;
    if (bytes > queue_.scratch_limit(kernel.kWarps)) {
      warps = std::min<long>(count, 16L * queue_.multiprocessors());
      select_memory_.reserve(queue_, floats * static_cast<std::size_t>(warps));
      kernel.arguments.memory = select_memory_.data();
      bytes = 0;
    }
    queue_.launch("selection", warps, bytes, kernel);
  };
  if (stride_ <= 2 * kLanes)
    run(SelectKernel<Real, 2>{in});
  else if (stride_ <= 4 * kLanes)
    run(SelectKernel<Real, 4>{in});
  else if (stride_ <= 8 * kLanes)
    run(SelectKernel<Real, 8>{in});
  else if (stride_ <= 16 * kLanes)
    run(SelectKernel<Real, 16>{in});
  else
    run(SelectKernel<Real, 0>{in});
}

template <class Real>
void Expectation<Real>::tree(long count, const BlockOutput* output) {
  TreeArguments<Real> in{};
  in.stride = stride_;
  in.max_active = max_active_;
  in.candidates = chosen_.data();
  in.J = J_.data();
  in.a = a_.data();
  in.eta_offset = eta_offset_.data();
  if (output != nullptr && output->own != nullptr) {
    in.eta_offset = no_offset_.data();
    in.a = own_a_.data();
    in.own_step = stride_;
    in.tau = own_tau_.data();
  }
  in.best = best_.data();
  in.outside = outside_.data();
  in.rows = eta_.data();
  in.moments = moments_.data();
  in.log_sums = log_sums_.data() + done_;
  in.clamped = clamped_.data();
  if (output != nullptr && output->probability != nullptr) {
    probability_.reserve(queue_, eta_.size());
    in.probability = probability_.data();
  }
  if (output != nullptr && output->second_moment != nullptr) {
    second_moment_.reserve(queue_, eta_.size());
    in.second_moment = second_moment_.data();
  }
  const bool alone = output != nullptr && output->candidates_alone;
  if (alone) queue_.zero(outside_.data(), static_cast<std::size_t>(count) * sizeof(Real));
  with_tree<Real>(candidates_, in, [&](auto kernel) { queue_.launch("tree", count, kernel.scratch_bytes(), kernel); });
  if (alone) return;
  const long tiles = pieces(count, kSingletonTile);
  queue_.launch("singletons", tiles * (stride_ / kLanes), 0,
                SingletonKernel<Real>{stride_, count, eta_.data(), eta_offset_.data(), a_.data(), in.log_sums,
                                      members_.data(), partial_.data(), in.probability, in.second_moment});
}

template <class Real>
void Expectation<Real>::outside(long count) {
  if (!summing_) return;
  reduce(partial_.data(), 3L * stride_, 3L * stride_, pieces(count, kSingletonTile),
         totals_.data() + layout_.singletons);
}

template <class Real>
void Expectation<Real>::products(long count) {
  const long tiles = pieces(count, kProductTile);
  queue_.launch("products", tiles * latents_, ProductKernel<Real>::scratch_bytes(stride_),
                ProductKernel<Real>{latents_, stride_, candidates_, count, chosen_.data(), members_.data(),
                                    moments_.data(), products_.data(), partial_.data()});
  const long size = static_cast<long>(latents_) * stride_;
  reduce(products_.data(), size, size, tiles, totals_.data() + layout_.ZZ);
  reduce(partial_.data(), 2L * stride_, 2L * stride_, tiles, totals_.data() + layout_.candidates);
}

/// target += Y' other, in pieces of rows whose products are added up in order.
template <class Real>
void Expectation<Real>::cross_products(const Real* Y, long count, const Real* other, int other_stride, int columns,
                                       double* target) {
  const long size = static_cast<long>(dimensions_) * columns;
  constexpr long kMostNumbers = 8L << 20, kRows = 512;  // few, as cuBLAS adds them up in Real
  const long batch = std::max<long>(1, std::min(count / kRows, kMostNumbers / size));
  const long rows = count / batch, rest = count - batch * rows;
  cross_.reserve(queue_, static_cast<std::size_t>((batch + 1) * size));
  queue_.multiply({true, dimensions_, columns, rows, Y, dimensions_, other, other_stride, cross_.data(), columns, batch,
                   rows * dimensions_, rows * other_stride, size});
  if (rest > 0)
    queue_.multiply({true, dimensions_, columns, rest, Y + batch * rows * dimensions_, dimensions_,
                     other + batch * rows * other_stride, other_stride, cross_.data() + batch * size, columns});
  reduce(cross_.data(), size, size, batch + (rest > 0 ? 1 : 0), target);
}

template <class Real>
template <class From>
void Expectation<Real>::reduce(const From* parts, long count, long step, long part_count, double* target) {
  const long groups = pieces(count, kLanes);
  // Few entries with many parts: in two steps, so that there is something to do for many warps.
  constexpr long kSpan = 16;
  if (part_count > 4 * kSpan || (part_count > kSpan && groups < 512)) {
    const long spans = pieces(part_count, kSpan);
    spans_.reserve(queue_, static_cast<std::size_t>(spans * count));
    queue_.launch("sums", spans * groups, 0,
                  ReduceKernel<From>{parts, count, step, part_count, kSpan, spans_.data(), false});
    queue_.launch("sums", groups, 0, ReduceKernel<double>{spans_.data(), count, count, spans, spans, target, true});
  } else {
    queue_.launch("sums", groups, 0, ReduceKernel<From>{parts, count, step, part_count, part_count, target, true});
  }
}

template <class Real>
Totals Expectation<Real>::totals() {
  // The data's own sums are at hand from the first pass over all of it on.
  const std::size_t columns = 2 * static_cast<std::size_t>(dimensions_),
                    squares = wanted_.full_squares ? columns / 2 * columns / 2 : 0;
  double *own_columns = totals_.data() + layout_.columns, *own_squares = totals_.data() + layout_.YY;
  if (keep_squares_) {
    known_ = Array<double>(queue_, columns + squares);
    known_full_ = wanted_.full_squares;
    queue_.copy(known_.data(), own_columns, columns * sizeof(double));
    if (squares > 0) queue_.copy(known_.data() + columns, own_squares, squares * sizeof(double));
  } else if (squares_known_) {
    queue_.copy(own_columns, known_.data(), columns * sizeof(double));
    if (squares > 0) queue_.copy(own_squares, known_.data() + columns, squares * sizeof(double));
  }
  keep_squares_ = squares_known_ = summing_ = false;
  const auto at = [&](long offset) { return totals_.data() + offset; };
  return {stride_,
          at(layout_.scalars),
          at(layout_.singletons),
          at(layout_.candidates),
          at(layout_.columns),
          at(layout_.ZZ),
          at(layout_.YZ),
          wanted_.full_squares ? at(layout_.YY) : nullptr,
          wanted_.mean_products ? at(layout_.MM) : nullptr};
}

template <class Real>
void Expectation<Real>::add_posteriors(const Totals& other) {
  const auto add = [&](long first, long end, const double* from) {
    queue_.launch("sums", piece_count(1, end - first), 0, BlendKernel{end - first, 1, 1, totals_.data() + first, from});
  };
  add(layout_.scalars, layout_.columns, other.scalars);  // with singletons and candidates behind them
  add(layout_.ZZ, layout_.YY, other.ZZ);                 // with YZ
  if (wanted_.mean_products) add(layout_.MM, layout_.size, other.MM);
}

template class Expectation<float>;
template class Expectation<double>;

}  // namespace gsc::cuda
