#include "random_model.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <sstream>

namespace gsc::test {
namespace {

double uniform(double low, double high, Random& random) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

Vector uniform_vector(Index size, double low, double high, Random& random) {
  Vector values(size);
  for (double& value : values) value = uniform(low, high, random);
  return values;
}

/// Positive definite with variances about `variance` and correlations of any sign, condition number below about 100.
Matrix random_covariance(Index size, double variance, Random& random) {
  const Matrix factor = normal_matrix(size, size, random);
  Matrix covariance = factor * factor.transpose() / static_cast<double>(size);
  covariance.diagonal().array() += 0.3;
  covariance *= variance;
  return (covariance + covariance.transpose().eval()) / 2;
}

}  // namespace

Matrix normal_matrix(Index rows, Index cols, Random& random) {
  std::normal_distribution<double> normal;
  Matrix values(rows, cols);
  for (Index r = 0; r < rows; ++r) {
    for (Index c = 0; c < cols; ++c) values(r, c) = normal(random);
  }
  return values;
}

std::string describe(const ModelKnobs& knobs) {
  static const char* const noises[] = {"scalar", "diagonal", "full"};
  static const char* const slabs[] = {"diagonal", "full"};
  std::ostringstream text;
  text << "D=" << knobs.dimensions << " H=" << knobs.latents << ' ' << noises[static_cast<int>(knobs.noise)]
       << " noise, " << slabs[static_cast<int>(knobs.slab)] << " slab, " << (knobs.intercept ? "intercept, " : "")
       << "pi " << knobs.pi_low << ".." << knobs.pi_high << ", slab variance " << knobs.slab_variance
       << ", column spread " << knobs.column_spread;
  return text.str();
}

std::ostream& operator<<(std::ostream& out, const ModelKnobs& knobs) { return out << describe(knobs); }

std::string type_name(const ModelKnobs& knobs) {
  static const char* const noises[] = {"ScalarNoise", "DiagonalNoise", "FullNoise"};
  static const char* const slabs[] = {"DiagonalSlab", "FullSlab"};
  return std::string(noises[static_cast<int>(knobs.noise)]) + slabs[static_cast<int>(knobs.slab)] +
         (knobs.intercept ? "Intercept" : "");
}

Model random_model(const ModelKnobs& knobs, std::uint64_t seed) {
  Random random(seed);
  const Index D = knobs.dimensions;
  const Index H = knobs.latents;
  const double noise_variance = knobs.noise_std * knobs.noise_std;
  Model model;
  model.W = normal_matrix(D, H, random);
  if (knobs.column_spread > 0) {
    const Vector shared = model.W.col(0);
    model.W *= knobs.column_spread;
    model.W.colwise() += shared;
  }
  model.pi = uniform_vector(H, knobs.pi_low, knobs.pi_high, random);
  model.mu = normal_matrix(H, 1, random).col(0);
  model.slab = knobs.slab == SlabType::diagonal
                   ? Slab::diagonal(knobs.slab_variance * uniform_vector(H, 0.3, 2, random))
                   : Slab::full(random_covariance(H, knobs.slab_variance, random));
  switch (knobs.noise) {
    case NoiseType::scalar:
      model.noise = Noise::scalar(noise_variance, D);
      break;
    case NoiseType::diagonal:
      model.noise = Noise::diagonal(noise_variance * uniform_vector(D, 0.5, 2, random));
      break;
    case NoiseType::full:
      model.noise = Noise::full(random_covariance(D, noise_variance, random));
      break;
  }
  if (knobs.intercept) model.intercept = 3 * normal_matrix(D, 1, random).col(0);
  return model;
}

Matrix random_data(const Model& model, Index count, std::uint64_t seed, double scale) {
  Random random(seed);
  const Matrix slab_factor = model.slab.covariance().llt().matrixL();
  const Matrix noise_factor = model.noise.covariance().llt().matrixL();
  Matrix data = Matrix::Zero(count, model.dimensions());
  for (Index n = 0; n < count; ++n) {
    Vector code = model.mu + slab_factor * normal_matrix(model.latents(), 1, random);
    for (Index h = 0; h < model.latents(); ++h) {
      if (uniform(0, 1, random) >= model.pi[h]) code[h] = 0;
    }
    if (model.intercept.size() > 0) data.row(n) = scale * model.intercept.transpose();
    data.row(n) += scale * (model.W * code + noise_factor * normal_matrix(model.dimensions(), 1, random)).transpose();
  }
  return data;
}

std::vector<ModelKnobs> every_type(Index dimensions, Index latents) {
  std::vector<ModelKnobs> all;
  for (const bool intercept : {false, true}) {
    for (NoiseType noise : {NoiseType::scalar, NoiseType::diagonal, NoiseType::full}) {
      for (SlabType slab : {SlabType::diagonal, SlabType::full}) {
        ModelKnobs knobs;
        knobs.dimensions = dimensions;
        knobs.latents = latents;
        knobs.noise = noise;
        knobs.slab = slab;
        knobs.intercept = intercept;
        all.push_back(knobs);
      }
    }
  }
  return all;
}

}  // namespace gsc::test
