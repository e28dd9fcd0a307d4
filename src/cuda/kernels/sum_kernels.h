#pragma once
// From posteriors to sums over data points, in an order that does not depend on which warp comes first: no additions by
// atomics. Warps write partial sums of fixed groups of data points, and ReduceKernel adds those up in order, in double.

#include <limits>

#include "cuda/kernels/tree_kernel.h"

namespace gsc::cuda {

/// Data points whose singletons a warp adds up, and whose products another does. Multiples of 32.
inline constexpr int kSingletonTile = 128, kProductTile = 1024, kScalarTile = 1024, kRowTile = 256;

/// The latents outside the candidates, each active alone: turns eta of a data point's row into means (those of the
/// candidates are there already), and adds up. Warp = 32 latents, a lane each, of a tile of data points.
///   p = exp(a + eta^2/2 - log sum)   mean p eta   second moment p (eta^2 + 1)
template <class Real>
struct SingletonKernel {
  static constexpr int kWarps = 4, kBlocks = sizeof(Real) == 8 ? 4 : 8;
  static constexpr int kAhead = 8;
  int stride;
  long count;
  Real* rows;
  const Real *eta_offset, *a;
  const Real* log_sums;
  const std::uint32_t* members;
  double* partial;  ///< unless null, tiles x 3 x stride: p, mean, second moment
  Real *probability, *second_moment;

  GSC_KERNEL void operator()(const Warp& warp) const {
    const int groups = stride / kLanes;
    const long tile = warp.index / groups;
    const Lanes<int> h = lane_index() + static_cast<int>(warp.index % groups) * kLanes;
    const Lanes<Real> offset = load<Real>(eta_offset, h), prior = load<Real>(a, h);
    Lanes<double> sums[3] = {0.0, 0.0, 0.0};
    const long end = (tile + 1) * kSingletonTile < count ? (tile + 1) * kSingletonTile : count;
    for (long first = tile * kSingletonTile; first < end; first += kLanes) {
      const Lanes<std::uint32_t> bits = load<std::uint32_t>(members + first / kLanes * stride, h);
      const int here = static_cast<int>(end - first < kLanes ? end - first : kLanes);
      // Rows are asked for several at a time, before the first is written over: else each would wait for memory alone.
      for (int group = 0; group < here; group += kAhead) {
        Lanes<Real> before[kAhead], s = Real{0}, m = Real{0}, zz = Real{0};  // of the group; beyond it in double
        Real log_sum[kAhead];
        GSC_UNROLL
        for (int u = 0; u < kAhead; ++u) {
          const long n = group + u < here ? first + group + u : first;
          before[u] = load<Real>(rows + n * stride, h);
          log_sum[u] = log_sums[n];
        }
        GSC_UNROLL
        for (int u = 0; u < kAhead; ++u) {
          if (group + u >= here) continue;
          const long n = first + group + u;
          const Lanes<bool> candidate = (bits & bit(group + u)) != 0U;
          const Lanes<Real> eta = before[u] + offset;
          const Lanes<Real> log_weight = multiply_add<Real>(Real(0.5) * eta, eta, prior);
          // What this precision leaves undone has an infinite log sum, and no posterior.
          const bool undone = log_sum[u] == std::numeric_limits<Real>::infinity();
          const Lanes<Real> p = select<Real>(candidate || undone, Real{0}, exponential(log_weight - log_sum[u]));
          const Lanes<Real> mean = p * eta, second = multiply_add<Real>(mean, eta, p);
          store<Real>(rows + n * stride, h, select<Real>(candidate, before[u], mean));
          if (probability != nullptr) store<Real>(probability + n * stride, h, p, !candidate);
          if (second_moment != nullptr) store<Real>(second_moment + n * stride, h, second, !candidate);
          s = s + p;
          m = m + mean;
          zz = zz + second;
        }
        sums[0] = sums[0] + convert<double>(s);
        sums[1] = sums[1] + convert<double>(m);
        sums[2] = sums[2] + convert<double>(zz);
      }
    }
    if (partial == nullptr) return;
    double* mine = partial + tile * 3 * stride;
    GSC_UNROLL
    for (int i = 0; i < 3; ++i) store<double>(mine + static_cast<std::ptrdiff_t>(i) * stride, h, sums[i]);
  }
};

/// Products of candidates. A warp owns a latent and a tile of data points: it goes over those of the tile that have the
/// latent among their candidates, in order, and adds their row of second moments into shared memory, in double: means
/// are of either sign, and a thousand of them added up in float would lose more than each has lost.
template <class Real>
struct ProductKernel {
  static constexpr int kWarps = 2, kBlocks = 1;
  static constexpr int kAhead = 4;  // data points whose numbers are on their way at a time
  int latents, stride, candidates;
  long count;
  const std::uint16_t* chosen;
  const std::uint32_t* members;
  const Real* moments;
  double* products;  ///< tiles x latents x stride
  double* partial;   ///< tiles x 2 x stride: s, m

  static std::size_t scratch_bytes(int stride) { return sizeof(double) * static_cast<std::size_t>(stride); }

  GSC_KERNEL void operator()(const Warp& warp) const {
    const int K = candidates, packed = triangle(K, 0), moments_of_point = moment_count(K);
    const long tile = warp.index / latents, first = tile * kProductTile, words = (count + kLanes - 1) / kLanes;
    const int own = static_cast<int>(warp.index % latents);
    double* row = reinterpret_cast<double*>(warp.scratch);
    const Lanes<int> lane = lane_index();
    for (int j = 0; j < stride; j += kLanes) store<double>(row, lane + j, 0.0);
    sync();

    static_assert(kProductTile == kLanes * kLanes, "a word of members for each lane");
    const Lanes<long> word = convert<long>(lane) + first / kLanes;
    const Lanes<std::uint32_t> bits_of_lane =
        load<std::uint32_t>(members + own, word * static_cast<long>(stride), word < words, 0U);
    std::uint32_t waiting = ballot(bits_of_lane != 0U);  // words with any data point left
    std::uint32_t bits = 0;
    long base = 0;
    Lanes<double> sums = 0.0;  // lane 0 has s, lane 1 has m
    for (bool more = waiting != 0; more;) {
      long point[kAhead];
      GSC_UNROLL
      for (int u = 0; u < kAhead; ++u) {
        if (bits == 0 && waiting != 0) {
          const int from = lowest_bit(waiting);
          waiting &= waiting - 1;
          bits = broadcast<std::uint32_t>(bits_of_lane, from);
          base = first + static_cast<long>(from) * kLanes;
        }
        point[u] = bits == 0 ? -1 : base + lowest_bit(bits);
        bits &= bits - 1;  // zero stays zero
      }
      more = bits != 0 || waiting != 0;
      Lanes<int> latent[kAhead];
      Lanes<Real> value[kAhead], single[kAhead];
      GSC_UNROLL
      for (int u = 0; u < kAhead; ++u) {
        const Lanes<bool> wanted = lane < K && Lanes<bool>(point[u] >= 0);
        latent[u] = select<int>(
            wanted, convert<int>(load<std::uint16_t>(chosen + point[u] * K, lane, wanted, std::uint16_t{0})), -1);
      }
      GSC_UNROLL
      for (int u = 0; u < kAhead; ++u) {
        const std::uint32_t found = ballot(latent[u] == own);
        const int position = found == 0 ? 0 : lowest_bit(found);
        const Lanes<int> high = larger<int>(lane, position), low = smaller<int>(lane, position);
        const Real* of_point = moments + point[u] * moments_of_point;
        value[u] = load<Real>(of_point, high * (high + 1) / 2 + low, latent[u] >= 0, Real{0});
        const Lanes<int> at = select<int>(lane == 0, packed + K + position, packed + position);
        single[u] = load<Real>(of_point, at, lane < 2 && Lanes<bool>(point[u] >= 0), Real{0});
      }
      GSC_UNROLL
      for (int u = 0; u < kAhead; ++u) {
        const Lanes<bool> wanted = latent[u] >= 0;  // all different, so no two lanes meet
        const Lanes<double> sum = load<double>(row, latent[u], wanted, 0.0) + convert<double>(value[u]);
        store<double>(row, latent[u], sum, wanted);
        sums = sums + convert<double>(single[u]);
        sync();
      }
    }
    double* out = products + warp.index * stride;
    for (int j = 0; j < stride; j += kLanes) store<double>(out, lane + j, load<double>(row, lane + j));
    store<double>(partial + tile * 2 * stride, lane * stride + own, sums, lane < 2);
  }
};

/// target[e] (+)= sum over the parts of parts[p * step + e], in order. A warp has 32 entries of a span of parts;
/// several spans make parts again.
template <class From>
struct ReduceKernel {
  static constexpr int kWarps = 4, kBlocks = 8;
  const From* parts;
  long count, step;  ///< entries; numbers from part to part
  long part_count, span;
  double* target;  ///< spans x count
  bool add;        ///< to what is there

  GSC_KERNEL void operator()(const Warp& warp) const {
    const long groups = (count + kLanes - 1) / kLanes, begin = warp.index / groups * span;
    const long end = begin + span < part_count ? begin + span : part_count;
    const Lanes<long> entry = convert<long>(lane_index()) + warp.index % groups * kLanes;
    const Lanes<bool> exists = entry < count;
    double* out = target + warp.index / groups * count;
    Lanes<double> sum = add ? load<double>(out, entry, exists, 0.0) : Lanes<double>(0.0);
    GSC_UNROLL8
    for (long p = begin; p < end; ++p)
      sum = sum + convert<double>(load<From>(parts + p * step, entry, exists, From{0}));
    store<double>(out, entry, sum, exists);
  }
};

/// Of a tile of data points: the sum of their log sums, how many are left undone, how many met a lost pivot.
template <class Real>
struct ScalarKernel {
  static constexpr int kWarps = 4, kBlocks = 8;
  long count;
  const Real* log_sums;
  const std::uint32_t* clamped;
  double* partial;  ///< tiles x 3

  GSC_KERNEL void operator()(const Warp& warp) const {
    Lanes<double> log_sum = 0.0, undone = 0.0, lost = 0.0;
    const long first = warp.index * kScalarTile;
    GSC_UNROLL8
    for (int i = 0; i < kScalarTile / kLanes; ++i) {
      const Lanes<long> n = convert<long>(lane_index()) + (first + static_cast<long>(i) * kLanes);
      const Lanes<Real> value = load<Real>(log_sums, n, n < count, Real{0});
      const Lanes<bool> is_undone = value == Range<Real>::kUndone;
      log_sum = log_sum + select<double>(is_undone, 0.0, convert<double>(value));
      undone = undone + select<double>(is_undone, 1.0, 0.0);
      lost = lost + convert<double>(load<std::uint32_t>(clamped, n, n < count, 0U));
    }
    const double sums[3] = {warp_sum<double>(log_sum), warp_sum<double>(undone), warp_sum<double>(lost)};
    const Lanes<int> lane = lane_index();
    const Lanes<double> mine = select<double>(lane == 0, sums[0], select<double>(lane == 1, sums[1], sums[2]));
    store<double>(partial + warp.index * 3, lane, mine, lane < 3);
  }
};

/// Sums over a tile of rows of each column and of its squares; a lane has a column.
template <class Real>
struct ColumnKernel {
  static constexpr int kWarps = 4, kBlocks = 8;
  long count;
  int columns;
  const Real* Y;    ///< count x columns
  double* partial;  ///< tiles x 2 x columns

  GSC_KERNEL void operator()(const Warp& warp) const {
    const int groups = (columns + kLanes - 1) / kLanes;
    const long tile = warp.index / groups, end = (tile + 1) * kRowTile < count ? (tile + 1) * kRowTile : count;
    const Lanes<int> d = lane_index() + static_cast<int>(warp.index % groups) * kLanes;
    const Lanes<bool> exists = d < columns;
    Lanes<double> sum = 0.0, squares = 0.0;
    GSC_UNROLL8
    for (long n = tile * kRowTile; n < end; ++n) {
      const Lanes<double> y = convert<double>(load<Real>(Y + n * columns, d, exists, Real{0}));
      sum = sum + y;
      squares = multiply_add<double>(y, y, squares);
    }
    store<double>(partial + tile * 2 * columns, d, sum, exists);
    store<double>(partial + (tile * 2 + 1) * columns, d, squares, exists);
  }
};

/// sum_d w_d (y_d + o_d)^2 of each row.
template <class Real>
struct RowSquaresKernel {
  static constexpr int kWarps = 4, kBlocks = 8;
  int columns;
  const Real* Y;
  const Real *offset, *weight;
  double* squares;

  GSC_KERNEL void operator()(const Warp& warp) const {
    Lanes<double> sum = 0.0;
    for (int first = 0; first < columns; first += kLanes) {
      const Lanes<int> d = lane_index() + first;
      const Lanes<bool> exists = d < columns;
      const Lanes<double> y = convert<double>(load<Real>(Y + warp.index * columns, d, exists, Real{0}) +
                                              load<Real>(offset, d, exists, Real{0}));
      sum = multiply_add<double>(y * y, convert<double>(load<Real>(weight, d, exists, Real{0})), sum);
    }
    store<double>(squares + warp.index, lane_index(), warp_sum<double>(sum), lane_index() == 0);
  }
};

/// Rows of Y, in the order of a list.
template <class Real>
struct GatherRowsKernel {
  static constexpr int kWarps = 4, kBlocks = 8;
  int columns;
  const std::int64_t* list;
  const Real* Y;
  Real* gathered;

  GSC_KERNEL void operator()(const Warp& warp) const {
    const long from = static_cast<long>(list[warp.index]);
    for (int first = 0; first < columns; first += kLanes) {
      const Lanes<int> d = lane_index() + first;
      const Lanes<bool> exists = d < columns;
      store<Real>(gathered + warp.index * columns, d, load<Real>(Y + from * columns, d, exists, Real{0}), exists);
    }
  }
};

}  // namespace gsc::cuda
