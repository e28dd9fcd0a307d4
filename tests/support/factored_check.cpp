#include "factored_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

#include "random_model.h"

namespace gsc::test {
namespace {

using oracle::FactoredOracle;
using oracle::FactoredSweep;
using oracle::Real;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Largest |got - expected| / scale, entry by entry.
double worst_error(const oracle::Matrix& expected, const Matrix& got, const oracle::Matrix& scale) {
  if (expected.rows() != got.rows() || expected.cols() != got.cols() || !got.allFinite()) return kInfinity;
  constexpr Real kSmallest = 1e-300L;  // below it a double knows nothing
  return static_cast<double>(
      ((got.cast<Real>() - expected).cwiseAbs().array() / (scale.array() + kSmallest)).maxCoeff());
}

}  // namespace

InferenceOptions factored(int threads) {
  InferenceOptions options;
  options.method = Method::factored;
  options.threads = threads;
  return options;
}

std::vector<Index> random_order(Index latents, Random& random) {
  std::vector<Index> order = oracle::fixed_order(latents);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

Model with_uncertain_basis(Model model, std::uint64_t seed) {
  Random random(seed);
  model.W_variance = 0.3 * normal_matrix(model.dimensions(), model.latents(), random).array().square();
  return model;
}

double code_error(const FactoredSweep& expected, const Matrix& got) {
  oracle::Matrix scale(expected.means.rows(), expected.means.cols());
  for (Index n = 0; n < scale.rows(); ++n) {
    scale.row(n) = expected.points[static_cast<std::size_t>(n)].square().cwiseSqrt().transpose();
  }
  return worst_error(expected.means, got.transpose(), scale);
}

double statistics_error(const oracle::Sums& expected, Real energy_scale, const Statistics& got) {
  if (got.count != static_cast<double>(expected.count)) return kInfinity;
  if (got.lambda.size() + got.T.size() + got.SS.size() > 0) return kInfinity;  // a full slab's
  const oracle::Vector z = expected.ZZ.diagonal().cwiseSqrt();
  const oracle::Vector y = expected.YY.diagonal().cwiseSqrt();
  const oracle::Vector YY = expected.YY.diagonal();
  const auto number = [](Real value) { return oracle::Matrix(oracle::Matrix::Constant(1, 1, value)); };
  return std::max(
      {worst_error(number(expected.free_energy), Matrix::Constant(1, 1, got.free_energy), number(energy_scale)),
       worst_error(expected.s, got.s, expected.s),
       worst_error(expected.m, got.m, expected.s.cwiseSqrt().cwiseProduct(z)),
       worst_error(expected.YZ, got.YZ, y * z.transpose()), worst_error(expected.ZZ, got.ZZ, z * z.transpose()),
       worst_error(YY, got.YY, YY)});
}

Real energy_scale(const FactoredOracle& oracle, const Matrix& data, const FactoredSweep& at) {
  Real scale = 0;
  for (Index n = 0; n < data.rows(); ++n) {
    scale += 1 + std::abs(oracle.bound(oracle::point(data, n), at.points[static_cast<std::size_t>(n)]));
  }
  return scale;
}

std::ostream& operator<<(std::ostream& out, const Setting& setting) {
  return out << to_string(setting.prior) << ", length scale " << setting.length_scale << ", shared prior "
             << setting.shared_prior << ", " << to_string(setting.noise) << " noise, " << to_string(setting.order)
             << " order";
}

std::vector<Setting> every_setting() {
  std::vector<Setting> all;
  for (const auto& [prior, length_scale] :
       {std::pair{BasisPrior::none, 0.0}, {BasisPrior::identity, 0.0}, {BasisPrior::gp, 1.5}, {BasisPrior::gp, 0.0}}) {
    for (const bool shared : {true, false}) {
      for (const NoiseType noise : {NoiseType::scalar, NoiseType::diagonal}) {
        for (const SweepOrder order : {SweepOrder::random, SweepOrder::fixed}) {
          all.push_back({prior, length_scale, shared, noise, order});
        }
      }
    }
  }
  return all;
}

FitOptions fit_options(const Setting& setting, Index latents, int iterations, std::uint64_t seed) {
  FitOptions options;
  options.latents = latents;
  options.inference = factored();
  options.noise = setting.noise;
  options.factored.basis_prior = setting.prior;
  options.factored.length_scale = setting.length_scale;
  options.factored.shared_prior = setting.shared_prior;
  options.factored.order = setting.order;
  options.iterations = iterations;
  options.tolerance = 0;
  options.seed = seed;
  return options;
}

}  // namespace gsc::test
