#pragma once
// A prior of its own for each data point, from the posteriors of its neighbours: the formulas of own_prior() in
// gsc/nonlocal.h, in the scaled units of truncated/tree/prepared_model.h. Under it J's diagonal is
// J^_hh = G^_hh + 1/psi^_n, so each data point gets units of its own once more, z^ = tau z', in which that is 1 again:
//
//   tau = 1/sqrt(J^_hh)   eta' = tau (t W'Py + mu^_n/psi^_n)   a' = logit pi_n - 1/2 log(psi^_n J^_hh) - mu^_n^2/(2
//   psi^_n)
//
// and the other kernels need only multiply entries of J by two of these.

#include "cuda/kernels/model_kernels.h"

namespace gsc::cuda {

/// The posteriors on their candidates of the data points that are neighbours: rows x candidates.
struct BeforeView {
  int candidates;
  const std::uint16_t* chosen;
  const float *probability, *mean, *second_moment;
};

/// One warp a data point. Its scratch holds three doubles a latent: sums of <s>, <s.z>, <(s.z)^2>.
template <class Real>
struct OwnPriorKernel {
  static constexpr int kWarps = 1, kBlocks = 4;
  int latents, stride;
  BeforeView before;
  int most;                         ///< neighbours that a data point has at most
  const std::uint32_t* neighbours;  ///< count x most: rows of `before`
  const std::int32_t* counts;       ///< count
  double pseudo_counts;
  const double *pi, *mu, *psi;  ///< the model's
  const double* vectors;        ///< as LatentKernel writes them
  Real* rows;                   ///< count x stride: Y projection in, eta' out
  Real *a, *tau;                ///< count x stride
  float* score;                 ///< count x stride; a' - logit pi
  double* log_off;              ///< count; sum_h log(1 - pi_n)

  static std::size_t scratch_bytes(int stride) { return 3 * sizeof(double) * static_cast<std::size_t>(stride); }

  /// Adds up the neighbours, each of which has a latent at most once.
  GSC_KERNEL void gather(long n, double* sums) const {
    const Lanes<int> lane = lane_index();
    for (int h = 0; h < 3 * stride; h += kLanes) store<double>(sums, lane + h, Lanes<double>(0.0));
    sync();
    const int K = before.candidates;
    for (int i = 0; i < counts[n]; ++i) {
      const long row = static_cast<long>(neighbours[n * most + i]) * K;
      for (int first = 0; first < K; first += kLanes) {
        const Lanes<int> at = lane + first;
        const Lanes<bool> wanted = at < K;
        const Lanes<int> h = convert<int>(load<std::uint16_t>(before.chosen + row, at, wanted, std::uint16_t{0}));
        const auto add = [&](const float* table, double* to) {
          const Lanes<double> value = convert<double>(load<float>(table + row, at, wanted, 0.0F));
          store<double>(to, h, load<double>(to, h, wanted, 0.0) + value, wanted);
        };
        add(before.probability, sums);
        add(before.mean, sums + stride);
        add(before.second_moment, sums + 2 * stride);
      }
      sync();
    }
  }

  GSC_KERNEL void operator()(const Warp& warp) const {
    constexpr double kLeastPi = 1e-7, kMostPi = 0.999, kLeastVariance = 1e-3;
    const long n = warp.index, H = latents;
    double* sums = reinterpret_cast<double*>(warp.scratch);
    gather(n, sums);
    const Lanes<double> k = pseudo_counts, one = 1.0, half = 0.5, zero = 0.0;
    const Lanes<double> points = pseudo_counts + static_cast<double>(counts[n]);
    Lanes<double> off = 0.0;
    for (int first = 0; first < stride; first += kLanes) {
      const Lanes<int> h = lane_index() + first;
      const Lanes<bool> exists = h < latents;
      const Lanes<double> t = load<double>(vectors, h, exists, 1.0);
      const Lanes<double> p = load<double>(pi, h, exists, 0.5), mean = load<double>(mu, h, exists, 0.0);
      const Lanes<double> variance = load<double>(psi, h, exists, 1.0), s = load<double>(sums, h);
      const Lanes<double> own_pi = smaller<double>(larger<double>((k * p + s) / points, kLeastPi), kMostPi);
      const Lanes<double> own_mu = (k * mean + load<double>(sums + stride, h)) / (t * (k + s));
      const Lanes<double> second =
          (k * (variance + mean * mean) + load<double>(sums + 2 * stride, h)) / (t * t * (k + s));
      const Lanes<double> own_psi = larger<double>(second - own_mu * own_mu, Lanes<double>(kLeastVariance) * second);
      const Lanes<double> gram = larger<double>(one - t * t / variance, zero), J = gram + one / own_psi;
      const Lanes<double> root = inverse_root(J);
      // eta's offset has the model's mu/psi, in place of which the own one comes.
      const Lanes<double> moved = load<double>(vectors + H, h, exists, 0.0) - t * mean / variance;
      const Lanes<double> eta = convert<double>(load<Real>(rows + n * stride, h)) + moved + own_mu / own_psi;
      const Lanes<double> weight =
          logarithm(own_pi / (one - own_pi)) - half * logarithm(own_psi * J) - half * own_mu * own_mu / own_psi;
      store<Real>(rows + n * stride, h, convert<Real>(select<double>(exists, root * eta, zero)));
      store<Real>(a + n * stride, h, convert<Real>(select<double>(exists, weight, -1e30)));
      store<Real>(tau + n * stride, h, convert<Real>(root));
      const Lanes<double> rank = select<double>(exists, weight - logarithm(p / (one - p)), -1e30);
      store<float>(score + n * stride, h, convert<float>(rank));
      off = off + select<double>(exists, logarithm(one - own_pi), zero);
    }
    store<double>(log_off + n, lane_index(), Lanes<double>(warp_sum<double>(off)), lane_index() == 0);
  }
};

/// Means and second moments on the candidates back from a data point's own units to those of the model.
template <class Real>
struct OwnUnitsKernel {
  static constexpr int kWarps = 4, kBlocks = 8;
  int candidates, stride, moments_of_point;
  const std::uint16_t* chosen;
  const Real* tau;
  Real* moments;

  GSC_KERNEL void operator()(const Warp& warp) const {
    const long n = warp.index;
    const int packed = triangle(candidates, 0);
    const Lanes<int> i = lane_index();
    const Lanes<bool> wanted = i < candidates;
    const Lanes<int> h = convert<int>(load<std::uint16_t>(chosen + n * candidates, i, wanted, std::uint16_t{0}));
    const Lanes<Real> unit = load<Real>(tau + n * stride, h, wanted, Real{0});
    Real* of_point = moments + n * moments_of_point;
    const Lanes<int> square = i * (i + 1) / 2 + i, mean = i + packed;
    store<Real>(of_point, square, load<Real>(of_point, square, wanted, Real{0}) * (unit * unit), wanted);
    store<Real>(of_point, mean, load<Real>(of_point, mean, wanted, Real{0}) * unit, wanted);
  }
};

/// Moments on the candidates in the user's units, the most promising candidate first. One warp a data point.
template <class Real>
struct KeptKernel {
  static constexpr int kWarps = 4, kBlocks = 8;
  int candidates, moments_of_point;
  const std::uint16_t* chosen;
  const Real* moments;
  const double* scale;
  std::uint16_t* kept;
  float *probability, *mean, *second_moment;

  GSC_KERNEL void operator()(const Warp& warp) const {
    const long n = warp.index, to = n * candidates;
    const int packed = triangle(candidates, 0);
    const Lanes<int> i = lane_index(), position = Lanes<int>(candidates - 1) - i;
    const Lanes<bool> wanted = i < candidates;
    const Lanes<std::uint16_t> h = load<std::uint16_t>(chosen + to, position, wanted, std::uint16_t{0});
    const Lanes<double> t = load<double>(scale, convert<int>(h));
    const Real* of_point = moments + n * moments_of_point;
    const auto moment = [&](Lanes<int> at) { return convert<double>(load<Real>(of_point, at, wanted, Real{0})); };
    store<std::uint16_t>(kept + to, i, h, wanted);
    store<float>(probability + to, i, convert<float>(moment(position + packed + candidates)), wanted);
    store<float>(mean + to, i, convert<float>(t * moment(position + packed)), wanted);
    const Lanes<int> square = position * (position + 1) / 2 + position;
    store<float>(second_moment + to, i, convert<float>(t * t * moment(square)), wanted);
  }
};

}  // namespace gsc::cuda
