// What an M-step needs to be right: the statistics are the gradient of brute force's log likelihood, the M-step's
// result maximises the expected log joint, and EM ends where the gradient vanishes.

#include <gsc/fit.h>
#include <gtest/gtest.h>

#include <cmath>

#include "inference_check.h"
#include "oracle.h"
#include "random_model.h"

namespace gsc::test {
namespace {

using oracle::Oracle;
using oracle::Parameters;
using oracle::Real;

/// A way to move the parameters, and the slope of the free energy that way according to the statistics.
struct Direction {
  std::string name;
  std::function<void(Parameters&, Real)> move;
  Real slope = 0;
  bool slab = false;
};

/// Fisher's identity, dF = sum <d log p(y, s, z)>, written out with P = Sigma^-1 and
/// R = YY - W YZ' - YZ W' + W ZZ W' = sum <(y - W(s.z))(y - W(s.z))'>:
///   dW = P (YZ - W ZZ)       db = P (y - W m)       dlogit(pi) = s - N pi       dSigma = 1/2 (P R P - N P)
///   diagonal slab: dmu = (m - s mu) / psi      dpsi = -1/2 s/psi + 1/2 (ZZ_hh - 2 mu m + s mu^2) / psi^2
///   full slab:     dmu = sum E[lambda]         dPsi = T / 2
std::vector<Direction> directions(const Model& model, const Statistics& sums) {
  const Index D = model.dimensions();
  const Index H = model.latents();
  std::vector<Direction> all;
  const auto add = [&](const char* name, Index i, Index j, Real slope, std::function<void(Parameters&, Real)> move,
                       bool slab = false) {
    all.push_back(
        {std::string(name) + "(" + std::to_string(i) + "," + std::to_string(j) + ")", std::move(move), slope, slab});
  };

  if (model.intercept.size() > 0) {
    const Matrix db = model.noise.solve(sums.y - model.W * sums.m);
    for (Index d = 0; d < D; ++d) add("b", d, 0, db(d, 0), [=](Parameters& theta, Real step) { theta.b[d] += step; });
  }
  const Matrix dW = model.noise.solve(sums.YZ - model.W * sums.ZZ);
  for (Index d = 0; d < D; ++d) {
    for (Index h = 0; h < H; ++h) {
      add("W", d, h, dW(d, h), [=](Parameters& theta, Real step) { theta.W(d, h) += step; });
    }
  }
  for (Index h = 0; h < H; ++h) {
    add("logit pi", h, 0, sums.s[h] - sums.count * model.pi[h], [=](Parameters& theta, Real step) {
      const Real logit = std::log(theta.pi[h] / (1 - theta.pi[h])) + step;
      theta.pi[h] = 1 / (1 + std::exp(-logit));
    });
  }

  const bool full_slab = model.slab.type() == SlabType::full;
  const Vector psi = model.slab.variances();
  for (Index h = 0; h < H; ++h) {
    const double diagonal_slope = (sums.m[h] - sums.s[h] * model.mu[h]) / psi[h];
    add(
        "mu", h, 0, full_slab ? sums.lambda[h] : diagonal_slope,
        [=](Parameters& theta, Real step) { theta.mu[h] += step; }, true);
    if (!full_slab) {
      const double second = sums.ZZ(h, h) - 2 * model.mu[h] * sums.m[h] + sums.s[h] * model.mu[h] * model.mu[h];
      add(
          "psi", h, h, (second / psi[h] - sums.s[h]) / (2 * psi[h]),
          [=](Parameters& theta, Real step) { theta.Psi(h, h) += step; }, true);
    }
    for (Index k = 0; full_slab && k <= h; ++k) {
      const auto move = [=](Parameters& theta, Real step) {
        theta.Psi(h, k) += step;
        if (h != k) theta.Psi(k, h) += step;
      };
      add("Psi", h, k, h == k ? sums.T(h, h) / 2 : sums.T(h, k), move, true);
    }
  }

  const Matrix explained = model.W * sums.YZ.transpose();
  Matrix R = model.W * sums.ZZ * model.W.transpose() - explained - explained.transpose();
  if (model.noise.type() == NoiseType::full) {
    R += sums.YY;
  } else {
    R.diagonal() += sums.YY.col(0);
  }
  const Matrix P = model.noise.solve(Matrix::Identity(D, D));
  const Matrix dSigma = (P * R * P - sums.count * P) / 2;
  switch (model.noise.type()) {
    case NoiseType::scalar:
      add("sigma^2", 0, 0, dSigma.trace(),
          [](Parameters& theta, Real step) { theta.Sigma.diagonal().array() += step; });
      break;
    case NoiseType::diagonal:
      for (Index d = 0; d < D; ++d) {
        add("sigma^2", d, d, dSigma(d, d), [=](Parameters& theta, Real step) { theta.Sigma(d, d) += step; });
      }
      break;
    case NoiseType::full:
      for (Index d = 0; d < D; ++d) {
        for (Index e = 0; e <= d; ++e) {
          add("Sigma", d, e, d == e ? dSigma(d, d) : 2 * dSigma(d, e), [=](Parameters& theta, Real step) {
            theta.Sigma(d, e) += step;
            if (d != e) theta.Sigma(e, d) += step;
          });
        }
      }
  }
  return all;
}

/// Five-point central difference: error of order step^4, 1e-14 here, and in long double nothing to speak of from
/// rounding.
Real slope(const std::function<Real(const Parameters&)>& of, const Parameters& at, const Direction& along) {
  const Real step = 2e-4L;
  const auto value = [&](Real distance) {
    Parameters moved = at;
    along.move(moved, distance);
    return of(moved);
  };
  return (8 * (value(step) - value(-step)) - (value(2 * step) - value(-2 * step))) / (12 * step);
}

Real steepest(const std::vector<Direction>& all) {
  Real most = 0;
  for (const Direction& direction : all) most = std::max(most, std::abs(direction.slope));
  return most;
}

std::vector<ModelKnobs> full_slabs() {
  std::vector<ModelKnobs> all = every_type(4, 3);
  std::erase_if(all, [](const ModelKnobs& knobs) { return knobs.slab != SlabType::full; });
  return all;
}

class Gradient : public ::testing::TestWithParam<ModelKnobs> {};
INSTANTIATE_TEST_SUITE_P(Types, Gradient, ::testing::ValuesIn(every_type(4, 3)),
                         [](const auto& test) { return type_name(test.param); });

TEST_P(Gradient, StatisticsAreTheGradientOfTheFreeEnergy) {
  ModelKnobs knobs = GetParam();
  knobs.latents = 4;
  const Model model = random_model(knobs, 3);
  // Data of another model, so that no slope is near zero.
  const Matrix data = random_data(random_model(knobs, 4), 23, 5, 1.5);
  for (const InferenceOptions& options : {truncated(3, 2), exact()}) {
    const Posterior candidates = infer(model, MatrixData(data), options, {.candidates = true});
    const Index max_active = options.method == Method::exact ? 4 : 2;
    const auto states = states_from(candidates, 4, max_active);
    const auto free_energy = [&](const Parameters& theta) { return Oracle(theta).free_energy(data, states); };
    const auto all = directions(model, e_step(model, MatrixData(data), options));
    const Real allowed = 1e-9L * (1 + steepest(all));
    for (const Direction& direction : all) {
      EXPECT_NEAR(static_cast<double>(slope(free_energy, Parameters(model), direction)),
                  static_cast<double>(direction.slope), static_cast<double>(allowed))
          << direction.name;
    }
  }
}

TEST_P(Gradient, MStepMaximisesTheExpectedLogJoint) {
  const Model model = random_model(GetParam(), 13);
  Model other = random_model(GetParam(), 14);
  if (GetParam().intercept) other.intercept = model.intercept.array() + 0.3;  // near enough for all latents to be used
  const Matrix data = random_data(other, 41, 15);
  for (const InferenceOptions& options : {truncated(2, 2), exact()}) {
    const Posterior candidates = infer(model, MatrixData(data), options, {.candidates = true});
    const auto states = states_from(candidates, 3, options.method == Method::exact ? 3 : 2);
    const Statistics sums = e_step(model, MatrixData(data), options);
    Rescues rescues;
    const Model next = m_step(model, sums, {}, rescues);
    EXPECT_EQ(rescues.total() - rescues.slab_fallbacks, 0);

    const Oracle posterior(model);
    const auto expected = [&](const Parameters& theta) { return posterior.expected_log_joint(theta, data, states); };
    const auto all = directions(model, sums);
    const Real allowed = 1e-6L * steepest(all);  // W is solved with a relative ridge of 1e-9
    for (const Direction& direction : all) {
      if (direction.slab && model.slab.type() == SlabType::full) continue;  // one EM step, not the maximum
      EXPECT_LT(std::abs(slope(expected, Parameters(next), direction)), allowed) << direction.name;
    }
    EXPECT_GT(expected(Parameters(next)), expected(Parameters(model)));
  }
}

class FullSlab : public ::testing::TestWithParam<ModelKnobs> {};
INSTANTIATE_TEST_SUITE_P(Types, FullSlab, ::testing::ValuesIn(full_slabs()),
                         [](const auto& test) { return type_name(test.param); });

TEST_P(FullSlab, PlainStepTreatsInactiveSlabsAsMissing) {
  const Model model = random_model(GetParam(), 83);
  const Matrix data = random_data(random_model(GetParam(), 84), 31, 85);
  // Complete the data: in state S, z_S ~ N(kappa, Lambda) and the rest follows the prior given z_S, with the regression
  // K = Psi_:S Psi_SS^-1. The M-step of that missing-data problem is the mean and the covariance of the completed z.
  const Oracle posterior(model);
  const Parameters& theta = posterior.parameters();
  oracle::Vector mean = oracle::Vector::Zero(3);
  oracle::Matrix second = oracle::Matrix::Zero(3, 3);
  for (Index n = 0; n < data.rows(); ++n) {
    const oracle::Vector y = oracle::point(data, n);
    const oracle::States states = oracle::all_states(3);
    const std::vector<Real> weight = posterior.moments(y, states).weight;
    for (oracle::State state : states) {
      oracle::Vector z = theta.mu;
      oracle::Matrix covariance = theta.Psi;
      const std::vector<Index> S = oracle::active_latents(state);
      if (!S.empty()) {
        const oracle::Moments alone = posterior.moments(y, {state});
        const oracle::Vector kappa = alone.m(S);
        const oracle::Matrix Lambda = oracle::Matrix(alone.zz(S, S)) - kappa * kappa.transpose();
        const oracle::Matrix Psi_S = theta.Psi(S, S);
        const oracle::Matrix K = Psi_S.llt().solve(oracle::Matrix(theta.Psi(S, Eigen::all))).transpose();
        z += K * (kappa - oracle::Vector(theta.mu(S)));
        covariance += K * (Lambda - Psi_S) * K.transpose();
      }
      const Real q = weight[state] / static_cast<Real>(data.rows());
      mean += q * z;
      second += q * (covariance + z * z.transpose());
    }
  }
  Rescues rescues;
  const Statistics sums = e_step(model, MatrixData(data), exact());
  const Model next = m_step(model, sums, {.slab_acceleration = 0}, rescues);
  EXPECT_LT((next.mu.cast<Real>() - mean).cwiseAbs().maxCoeff(), 1e-11L);
  const oracle::Matrix Psi = second - mean * mean.transpose();
  EXPECT_LT((next.slab.covariance().cast<Real>() - Psi).cwiseAbs().maxCoeff(), 1e-11L);
}

TEST_P(FullSlab, FastStepIsExactForADiagonalSlab) {
  Model full = random_model(GetParam(), 93);
  const Vector variances = full.slab.variances();
  full.slab = Slab::full(Matrix(variances.asDiagonal()));
  Model diagonal = full;
  diagonal.slab = Slab::diagonal(variances);
  const MatrixData data(random_data(full, 200, 95));
  Rescues rescues;
  const Model fast = m_step(full, e_step(full, data, exact()), {.slab_acceleration = 1}, rescues);
  ASSERT_EQ(rescues.total(), 0);
  const Model plain = m_step(diagonal, e_step(diagonal, data, exact()), {}, rescues);
  EXPECT_LT((fast.mu - plain.mu).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_LT((fast.slab.variances() - plain.slab.variances()).cwiseAbs().maxCoeff(), 1e-11);
}

TEST_P(Gradient, OneStepRaisesTheLikelihood) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Model model = random_model(GetParam(), 100 + seed);
    const Matrix data = random_data(random_model(GetParam(), 200 + seed), 60, seed);
    for (double acceleration : {0.0, 1.0}) {
      if (acceleration > 0 && model.slab.type() == SlabType::full)
        continue;  // fit() guards the fast step, not m_step()
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", acceleration " << acceleration);
      Rescues rescues;
      const Statistics sums = e_step(model, MatrixData(data), exact());
      const Model next = m_step(model, sums, {.slab_acceleration = acceleration}, rescues);
      EXPECT_GT(Oracle(next).free_energy(data, oracle::every_state(3)), static_cast<Real>(sums.free_energy));
    }
  }
}

TEST_P(Gradient, ConvergesToAStationaryPoint) {
  ModelKnobs knobs = GetParam();
  knobs.dimensions = 3;
  knobs.latents = 2;
  knobs.noise_std = 0.4;
  Model truth = random_model(knobs, 21);
  truth.mu.array() += 1;
  const Matrix data = random_data(truth, 400, 22);
  FitOptions options;
  options.latents = 2;
  options.inference = exact();
  options.noise = knobs.noise;
  options.slab = knobs.slab;
  options.intercept = knobs.intercept ? Intercept::learned : Intercept::none;
  options.iterations = 4000;
  options.tolerance = 0;
  const FitResult result = fit(MatrixData(data), options, nullptr, truth);
  const Statistics sums = e_step(result.model(), MatrixData(data), exact());
  const Real start = steepest(directions(truth, e_step(truth, MatrixData(data), exact())));
  for (const Direction& direction : directions(result.model(), sums)) {
    EXPECT_LT(std::abs(direction.slope), 1e-4L * start) << direction.name;
  }
  for (std::size_t t = 1; t < result.state.history.size(); ++t) {
    const double before = result.state.history[t - 1].free_energy;
    ASSERT_GE(result.state.history[t].free_energy, before - 1e-9 * std::abs(before)) << "iteration " << t;
  }
}

}  // namespace
}  // namespace gsc::test
