#include <gsc/model.h>

#include <cmath>

#include "model/random_draws.h"

namespace gsc {
namespace {

/// The data covariance, made positive definite where there are fewer points than dimensions or constant columns.
Noise starting_noise(NoiseType type, const DataSummary& summary) {
  Matrix covariance = summary.covariance;
  const bool full = covariance.cols() > 1 || covariance.rows() == 1;
  const double mean_variance = full ? covariance.trace() / static_cast<double>(covariance.rows()) : covariance.mean();
  const double ridge = 1e-6 * mean_variance;
  if (full)
    covariance.diagonal().array() += ridge;
  else
    covariance.array() += ridge;
  return Noise::from_covariance(type, covariance);
}

Matrix columns_from_data(const Data& data, const DataSummary& summary, Index latents, Random& random) {
  std::uniform_int_distribution<Index> pick(0, data.rows() - 1);
  const double mean_variance = summary.covariance.cols() > 1
                                   ? summary.covariance.trace() / static_cast<double>(data.cols())
                                   : summary.covariance.mean();
  Matrix W = std::sqrt(mean_variance) / 4 * standard_normal(data.cols(), latents, random);
  Matrix row(1, data.cols());
  for (Index h = 0; h < latents; ++h) {
    data.read(pick(random), row);
    W.col(h) += row.array().isNaN().select(summary.mean.transpose(), row).row(0).transpose();
  }
  return W;
}

}  // namespace

Model initial_model(const Data& data, const DataSummary& summary, Index latents, NoiseType noise, SlabType slab,
                    Init init, Random& random, Intercept intercept) {
  Model model;
  if (intercept != Intercept::none) model.intercept = summary.mean;
  Vector variances;
  if (init == Init::random) {
    model.pi = uniform(latents, 0.05, 0.95, random);
    model.mu = standard_normal(latents, 1, random);
    variances = Vector::Ones(latents) - uniform(latents, 0, 1, random);  // (0, 1]
    model.W = standard_normal(data.cols(), latents, random);
  } else {
    model.pi = uniform(latents, 0.1, 0.5, random);
    model.mu = Vector::Zero(latents);
    variances = Vector::Ones(latents);
    model.W = columns_from_data(data, summary, latents, random);
    if (model.intercept.size() > 0) model.W.colwise() -= model.intercept;
  }
  model.slab = slab == SlabType::diagonal ? Slab::diagonal(variances) : Slab::full(Matrix(variances.asDiagonal()));
  model.noise = starting_noise(noise, summary);
  return model;
}

}  // namespace gsc
