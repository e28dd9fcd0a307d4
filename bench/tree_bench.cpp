// The subset tree on one thread: nanoseconds per (state x data point), next to
//   (a) the straightforward way: one Cholesky factorisation per state and data point, with Eigen, same compiler flags;
//   (b) one vectorised exp per state (Highway's), which no method that weighs every state can avoid.

#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SSSE3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tree_bench.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/aligned_allocator.h>
#include <hwy/contrib/math/math-inl.h>

#include "timing.h"
#include "truncated/tree/lane_trees-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gsc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T, template <class> class Lanes>
double TreeSeconds(const PreparedModel& model, const Matrix& eta) {
  using D = hn::ScalableTag<T>;
  const D d;
  using V = hn::Vec<D>;
  const size_t lanes = hn::Lanes(d);
  const auto vectors = static_cast<size_t>(Lanes<D>::BufferVectors(model.candidates, model.max_active));
  const auto memory = hwy::AllocateAligned<T>(vectors * lanes);
  Lanes<D> tree(model, reinterpret_cast<V*>(memory.get()));
  std::uint16_t latents[kMaxCandidates];
  for (int p = 0; p < model.candidates; ++p) latents[p] = static_cast<std::uint16_t>(p);
  if constexpr (requires { tree.UseCandidates(latents); }) tree.UseCandidates(latents);
  for (size_t l = 0; l < lanes; ++l) tree.Gather(l, latents, eta.row(static_cast<Index>(l)).data());
  const int batches = std::max(
      20, static_cast<int>(5e5 / state_count(model.candidates, model.max_active) / static_cast<double>(lanes)));
  V sink = hn::Zero(d);
  const double seconds = bench::least_seconds(30, [&]() HWY_ATTR {
    for (int i = 0; i < batches; ++i) sink = hn::Add(sink, tree.Run(hn::Set(d, T{-20})));
  });
  bench::keep(static_cast<double>(hn::GetLane(sink)));
  return seconds / (static_cast<double>(batches) * static_cast<double>(lanes));
}

template <class T>
double ExpSeconds() {
  const hn::ScalableTag<T> d;
  std::vector<T> x(1024);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(-0.01) * static_cast<T>(i);
  constexpr int kRounds = 500;
  auto sink = hn::Zero(d);
  const double seconds = bench::least_seconds(30, [&]() HWY_ATTR {
    for (int r = 0; r < kRounds; ++r)
      for (size_t i = 0; i < x.size(); i += hn::Lanes(d)) sink = hn::Add(sink, hn::Exp(d, hn::LoadU(d, x.data() + i)));
  });
  bench::keep(static_cast<double>(hn::GetLane(sink)));
  return seconds / (kRounds * static_cast<double>(x.size()));
}

/// Seconds per data point of the tree with its own J per lane, with shared J, and per element of exp; returns the
/// target's name.
const char* Measure(const PreparedModel& model, const Matrix& eta, bool single, double* own, double* shared,
                    double* exp) {
  *own =
      single ? TreeSeconds<float, DiagonalSlabLanes>(model, eta) : TreeSeconds<double, DiagonalSlabLanes>(model, eta);
  *shared = single ? TreeSeconds<float, SharedSlabLanes>(model, eta) : TreeSeconds<double, SharedSlabLanes>(model, eta);
  *exp = single ? ExpSeconds<float>() : ExpSeconds<double>();
  return hwy::TargetName(HWY_TARGET);
}

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "model/random_draws.h"

namespace gsc {
HWY_EXPORT(Measure);

namespace {

/// The straightforward E-step of one data point: per state log|J_SS|, kappa = J_SS^-1 eta_S and Lambda = J_SS^-1 by a
/// Cholesky factorisation, weights, then weighted sums of kappa and Lambda + kappa kappa'.
double straightforward(const PreparedModel& model, const Vector& eta, const std::vector<std::vector<Index>>& states) {
  std::vector<double> log_weights;
  std::vector<Eigen::VectorXd> kappas;
  std::vector<Eigen::MatrixXd> lambdas;
  for (const auto& S : states) {
    const Eigen::LLT<Eigen::MatrixXd> llt(model.J(S, S));
    kappas.push_back(llt.solve(eta(S)));
    lambdas.push_back(llt.solve(Eigen::MatrixXd::Identity(static_cast<Index>(S.size()), static_cast<Index>(S.size()))));
    log_weights.push_back(model.a(S).sum() - llt.matrixLLT().diagonal().array().log().sum() +
                          0.5 * eta(S).dot(kappas.back()));
  }
  const double largest = *std::max_element(log_weights.begin(), log_weights.end());
  double Z = 0;
  for (double& w : log_weights) Z += w = std::exp(w - largest);
  Vector mean = Vector::Zero(model.candidates);
  Matrix second = Matrix::Zero(model.candidates, model.candidates);
  for (std::size_t i = 0; i < states.size(); ++i) {
    const double q = log_weights[i] / Z;
    mean(states[i]) += q * kappas[i];
    second(states[i], states[i]) += q * (lambdas[i] + kappas[i] * kappas[i].transpose());
  }
  return mean.sum() + second.sum();
}

std::vector<std::vector<Index>> all_states(int candidates, int max_active) {
  std::vector<std::vector<Index>> states = {{}};
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (static_cast<int>(states[i].size()) == max_active) continue;
    for (Index j = states[i].empty() ? 0 : states[i].back() + 1; j < candidates; ++j) {
      auto next = states[i];
      next.push_back(j);
      states.push_back(next);
    }
  }
  states.erase(states.begin());
  return states;
}

void run() {
  fmt::print("Subset tree, one thread: ns per (state x data point)\n\n");
  fmt::print("{:>9} {:>7} {:>6} {:>6} {:>8} {:>8} {:>9} {:>8} {:>10} {:>10} {:>13}\n", "(H',g)", "states", "target", "",
             "tree", "shared", "(a) Eigen", "(b) exp", "(a) / tree", "tree / (b)", "shared / tree");
  for (const auto& [candidates, max_active] : {std::pair{5, 3}, {8, 5}, {10, 8}, {10, 10}, {18, 3}}) {
    Random random(1);
    Model model;
    model.W = standard_normal(32, candidates, random);
    model.pi = Vector::Constant(candidates, 0.2);
    model.mu = Vector::Zero(candidates);
    model.slab = Slab::diagonal(Vector::Ones(candidates));
    model.noise = Noise::scalar(1, 32);
    InferenceOptions options;
    options.candidates = candidates;
    options.max_active = max_active;
    const PreparedModel prepared(model, options);
    const Matrix eta = 2 * standard_normal(16, prepared.padded, random);
    const auto states = all_states(candidates, max_active);
    const auto count = static_cast<double>(states.size());
    double sink = 0;
    const double plain =
        bench::least_seconds(10, [&] { sink += straightforward(prepared, eta.row(0).transpose(), states); }) / count;
    for (const bool single : {false, true}) {
      double own = 0, shared = 0, exp = 0;
      const char* target = HWY_DYNAMIC_DISPATCH(Measure)(prepared, eta, single, &own, &shared, &exp);
      own /= count;
      shared /= count;
      fmt::print("{:>9} {:>7} {:>6} {:>6} {:>8.2f} {:>8.2f} {:>9.0f} {:>8.2f} {:>10.0f} {:>10.2f} {:>13.2f}\n",
                 fmt::format("({},{})", candidates, max_active), states.size(), target, single ? "float" : "double",
                 own * 1e9, shared * 1e9, plain * 1e9, exp * 1e9, plain / own, own / exp, shared / own);
    }
    bench::keep(sink);
  }
}

}  // namespace
}  // namespace gsc

int main() { gsc::run(); }
#endif
