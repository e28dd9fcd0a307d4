#include "inference_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

namespace gsc::test {
namespace {

using oracle::Moments;
using oracle::Oracle;
using oracle::Real;
using oracle::State;
using oracle::States;

/// Allowed absolute errors of one data point's quantities.
struct Slack {
  Real log_joint, weights;  // `weights`: of q per q (1 - q)
  Real s, m, zz, lambda, T;
};

Slack slack(const Oracle& oracle, const oracle::Vector& y, const States& states, const Moments& of,
            const Tolerance& tolerance) {
  const Real delta = oracle.rounding(y, states, tolerance.roundoff);
  const Real data_free = oracle.rounding(oracle::Vector::Zero(y.size()), states, tolerance.roundoff);
  const Real weights = std::expm1(2 * std::min<Real>(delta, 100));
  const auto allowed = [&](Real magnitude, Real sensitivity) {
    return (tolerance.relative + data_free) * magnitude + weights * sensitivity;
  };
  Slack out{};
  out.log_joint = delta;
  out.weights = weights;
  out.s = tolerance.relative + weights * of.sensitivity.s;
  out.m = allowed(of.magnitude.m, of.sensitivity.m);
  out.zz = allowed(of.magnitude.zz, of.sensitivity.zz);
  out.lambda = allowed(of.magnitude.lambda, of.sensitivity.lambda);
  out.T = allowed(of.magnitude.T, of.sensitivity.T);
  return out;
}

bool expect_close(Real expected, double got, Real allowed, const char* what) {
  const Real error = static_cast<Real>(got) - expected;
  if (std::abs(error) <= allowed) return true;  // not so for NaN
  ADD_FAILURE() << what << ": expected " << static_cast<double>(expected) << ", got " << got << ", off by "
                << static_cast<double>(error) << ", allowed " << static_cast<double>(allowed);
  return false;
}

template <typename Expected, typename Got>
void expect_all_close(const Expected& expected, const Got& got, Real allowed, const char* what) {
  ASSERT_EQ(expected.rows(), got.rows()) << what;
  ASSERT_EQ(expected.cols(), got.cols()) << what;
  for (Index r = 0; r < expected.rows(); ++r) {
    for (Index c = 0; c < expected.cols(); ++c) {
      if (!expect_close(expected(r, c), got(r, c), allowed, what)) {
        ADD_FAILURE() << "at entry " << r << ", " << c;
        return;
      }
    }
  }
}

/// All states of K_n must be listed once, the most probable first, with their weights and so their log joints.
void expect_states(const Moments& expected, const States& states, const Posterior& got, Index n, const Slack& allowed,
                   const Tolerance& tolerance) {
  std::set<State> seen;
  double sum = 0;
  double previous = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < states.size(); ++i) {
    State state = 0;
    Index last = -1;
    for (Index a = 0; a < got.max_active; ++a) {
      const Index h = got.states(n, static_cast<Index>(i) * got.max_active + a);
      if (h < 0) break;
      ASSERT_GT(h, last) << "latents of a state must ascend";
      last = h;
      state |= State{1} << h;
    }
    const auto at = std::find(states.begin(), states.end(), state);
    ASSERT_NE(at, states.end()) << "state " << state << " is not in K_n";
    ASSERT_TRUE(seen.insert(state).second) << "state " << state << " is listed twice";
    const std::size_t k = static_cast<std::size_t>(at - states.begin());
    const double weight = got.state_weights(n, static_cast<Index>(i));
    sum += weight;
    EXPECT_LE(weight, previous) << "states must be sorted";
    previous = weight;
    const Real q = expected.weight[k];
    const Real weight_slack = tolerance.relative + allowed.weights * q * (1 - q);
    bool good = expect_close(q, weight, weight_slack, "weight");
    if (q > tolerance.smallest_weight) {
      const Real log_joint = static_cast<Real>(got.log_likelihood[n]) + std::log(static_cast<Real>(weight));
      good &=
          expect_close(expected.log_joint[k], static_cast<double>(log_joint),
                       tolerance.relative * (1 + std::abs(expected.log_joint[k])) + 2 * allowed.log_joint, "log joint");
    }
    ASSERT_TRUE(good) << "of state " << state;
  }
  const Real sum_slack = 1e-12L + tolerance.relative / 100;
  EXPECT_NEAR(sum, 1, static_cast<double>(sum_slack)) << "weights must sum to one";
  for (Index i = static_cast<Index>(states.size()); i < got.state_weights.cols(); ++i) {
    EXPECT_EQ(got.state_weights(n, i), 0) << "beyond the last state there is";
  }
}

/// Sums of the allowed errors, as the quantities themselves are summed.
struct SumSlack {
  Real free_energy = 0, s = 0, m = 0, YZ = 0, ZZ = 0, YY = 0, lambda = 0, T = 0;
};

/// Of a sum of `count` numbers as large as this, before they cancel: what rounding is relative to.
Real largest_of(const oracle::Vector& sum, Real count) { return sum.cwiseAbs().maxCoeff() + count; }

void expect_statistics(const Model& model, const oracle::Sums& expected, const Statistics& got,
                       const SumSlack& allowed) {
  EXPECT_EQ(got.count, static_cast<double>(expected.count));
  expect_close(expected.free_energy, got.free_energy, allowed.free_energy, "free energy");
  expect_all_close(expected.s, got.s, allowed.s, "s");
  expect_all_close(expected.m, got.m, allowed.m, "m");
  expect_all_close(expected.YZ, got.YZ, allowed.YZ, "YZ");
  expect_all_close(expected.ZZ, got.ZZ, allowed.ZZ, "ZZ");
  if (model.noise.type() == NoiseType::full) {
    expect_all_close(expected.YY, got.YY, allowed.YY, "YY");
  } else {
    expect_all_close(oracle::Vector(expected.YY.diagonal()), got.YY, allowed.YY, "YY");
  }
  if (model.intercept.size() > 0)
    expect_all_close(expected.y, got.y, 1e-12L * largest_of(expected.y, expected.count), "y");
  else
    EXPECT_EQ(got.y.size(), 0) << "only an intercept needs it";
  if (model.slab.type() == SlabType::full) {
    expect_all_close(expected.lambda, got.lambda, allowed.lambda, "lambda");
    expect_all_close(expected.T, got.T, allowed.T, "T");
    expect_all_close(expected.SS, got.SS, allowed.s, "SS");
  } else {
    EXPECT_EQ(got.lambda.size() + got.T.size() + got.SS.size(), 0) << "only a full slab has these";
  }
}

Index binomial(Index n, Index k) { return k == 0 ? 1 : binomial(n - 1, k - 1) * n / k; }

}  // namespace

InferenceOptions truncated(Index candidates, Index max_active, Selection selection, int threads) {
  InferenceOptions options;
  options.candidates = candidates;
  options.max_active = max_active;
  options.selection = selection;
  options.threads = threads;
  return options;
}

InferenceOptions exact(int threads) {
  InferenceOptions options;
  options.method = Method::exact;
  options.threads = threads;
  return options;
}

std::vector<Index> candidates_of(const Posterior& posterior, Index n) {
  const auto row = posterior.candidates.row(n);
  return {row.begin(), row.end()};
}

oracle::StatesOfPoint states_from(const Posterior& posterior, Index latents, Index max_active) {
  return [&posterior, latents, max_active](Index n) {
    return oracle::truncated_states(latents, candidates_of(posterior, n), max_active);
  };
}

void expect_brute_force(const Model& model, const Oracle& oracle, const Matrix& data, const InferenceOptions& options,
                        const Tolerance& tolerance) {
  const Index H = model.latents();
  const bool is_exact = options.method == Method::exact;
  const Index candidates = is_exact ? H : std::min(options.candidates, H);
  const Index max_active = is_exact ? H : std::min(options.max_active, candidates);
  Index state_count = H - candidates;
  for (Index k = 0; k <= max_active; ++k) state_count += binomial(candidates, k);

  const MatrixData table(data);
  const PosteriorRequest everything{.variance = true, .states = state_count + 2, .candidates = true};
  const Posterior got = infer(model, table, options, everything);
  ASSERT_EQ(got.candidates.rows(), data.rows());
  ASSERT_EQ(got.candidates.cols(), candidates);
  ASSERT_EQ(got.state_weights.cols(), state_count + 2);

  oracle::Sums sums(model.dimensions(), H);
  SumSlack total;
  for (Index n = 0; n < data.rows(); ++n) {
    SCOPED_TRACE(::testing::Message() << "data point " << n);
    const oracle::Vector y = oracle::point(data, n);
    const std::vector<Index> chosen = candidates_of(got, n);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      ASSERT_TRUE(chosen[i] > (i == 0 ? -1 : chosen[i - 1]) && chosen[i] < H) << "candidates must ascend";
    }
    const States states = oracle::truncated_states(H, chosen, max_active);
    ASSERT_EQ(static_cast<Index>(states.size()), state_count);
    const Moments expected = oracle.moments(y, states);
    const Slack allowed = slack(oracle, y, states, expected, tolerance);
    const Real log_slack = tolerance.relative * (1 + std::abs(expected.log_sum)) + allowed.log_joint;

    expect_close(expected.log_sum, got.log_likelihood[n], log_slack, "log likelihood");
    expect_all_close(expected.s, got.probability.row(n).transpose(), allowed.s, "probability");
    expect_all_close(expected.m, got.mean.row(n).transpose(), allowed.m, "mean");
    const Real variance_slack = allowed.zz + 2 * expected.m.cwiseAbs().maxCoeff() * allowed.m;
    expect_all_close(expected.variance, got.variance.row(n).transpose(), variance_slack, "variance");
    expect_states(expected, states, got, n, allowed, tolerance);

    sums.add(y - oracle.parameters().b, expected);
    const Real y_size = y.cwiseAbs().maxCoeff() + oracle.parameters().b.cwiseAbs().maxCoeff();
    total.free_energy += log_slack;
    total.s += allowed.s;
    total.m += allowed.m;
    total.YZ += y_size * allowed.m;
    total.ZZ += allowed.zz;
    total.YY += 1e-12L * y_size * y_size;  // plain sums: double whatever the precision of the states
    total.lambda += allowed.lambda;
    total.T += allowed.T;
    if (::testing::Test::HasFailure()) return;
  }
  expect_statistics(model, sums, e_step(model, table, options), total);
}

namespace {

/// Whether picking the best latent again and again can end in the states `chosen`: the first `alone` latents are the
/// best by the density with them alone, the others with all picked before. Where several are within `tie` of the best,
/// each of them may be picked.
bool picks_end_in(State chosen, const Oracle& oracle, const oracle::Vector& y, int alone, Real tie, State picked = 0) {
  if (picked == chosen) return true;
  const State given = std::popcount(picked) < alone ? State{0} : picked;
  std::vector<Real> scores(static_cast<std::size_t>(oracle.latents()), -std::numeric_limits<Real>::infinity());
  for (std::size_t h = 0; h < scores.size(); ++h)
    if (const State bit = State{1} << h; (picked & bit) == 0) scores[h] = oracle.log_density(y, given | bit);
  const Real best = *std::max_element(scores.begin(), scores.end());
  for (std::size_t h = 0; h < scores.size(); ++h) {
    const State bit = State{1} << h;
    if ((chosen & bit) != 0 && scores[h] >= best - tie && picks_end_in(chosen, oracle, y, alone, tie, picked | bit))
      return true;
  }
  return false;
}

}  // namespace

bool are_best_candidates(const Oracle& oracle, const oracle::Vector& y, const std::vector<Index>& candidates,
                         Selection selection) {
  State chosen = 0;
  for (Index h : candidates) chosen |= State{1} << h;
  const int count = static_cast<int>(candidates.size());
  const int alone = selection == Selection::singleton ? count : count - count / 2;
  // Selection is done in float, with logarithms to 1e-4.
  const Real tie = 1e-4L + oracle.rounding(y, {chosen}, 5e-7L);
  return picks_end_in(chosen, oracle, y, alone, tie);
}

namespace {

/// Pairs up the arrays of two statistics.
template <typename Visit>
void for_each_array(const Statistics& a, const Statistics& b, const Visit& visit) {
  const auto number = [](double value) { return Matrix(Matrix::Constant(1, 1, value)); };
  visit(number(a.count), number(b.count));
  visit(number(a.free_energy), number(b.free_energy));
  visit(Matrix(a.s), Matrix(b.s));
  visit(Matrix(a.m), Matrix(b.m));
  visit(a.YZ, b.YZ);
  visit(a.ZZ, b.ZZ);
  visit(a.YY, b.YY);
  visit(Matrix(a.y), Matrix(b.y));
  visit(Matrix(a.lambda), Matrix(b.lambda));
  visit(a.T, b.T);
  visit(a.SS, b.SS);
}

}  // namespace

bool same_bits(const Statistics& a, const Statistics& b) {
  bool same = true;
  for_each_array(a, b, [&](const Matrix& x, const Matrix& y) {
    same = same && x.rows() == y.rows() && x.cols() == y.cols() && (x.array() == y.array()).all();
  });
  return same;
}

double relative_difference(const Statistics& a, const Statistics& b) {
  double worst = 0;
  for_each_array(a, b, [&](const Matrix& x, const Matrix& y) {
    if (x.size() == 0 && y.size() == 0) return;
    if (!x.allFinite() || !y.allFinite()) worst = std::numeric_limits<double>::infinity();
    const double size = std::max(x.cwiseAbs().maxCoeff(), 1e-300);
    worst = std::max(worst, (x - y).cwiseAbs().maxCoeff() / size);
  });
  return worst;
}

}  // namespace gsc::test
