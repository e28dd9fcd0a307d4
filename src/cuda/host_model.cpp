#include "cuda/host_model.h"

namespace gsc::cuda {
namespace {

template <class Numbers>
std::vector<double> list(const Numbers& values) {
  return {values.data(), values.data() + values.size()};
}
Vector vector(const std::vector<double>& values) {
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}
Matrix matrix(const std::vector<double>& values, Index columns) {
  return Eigen::Map<const Matrix>(values.data(), static_cast<Index>(values.size()) / columns, columns);
}

}  // namespace

FullNoise to_full_noise(const Noise& noise) {
  const Index D = noise.dimensions();
  return {list(noise.values()), list(noise.solve(Matrix::Identity(D, D))), noise.log_determinant()};
}

HostModel to_host_model(const Model& model) {
  HostModel host;
  host.dimensions = static_cast<int>(model.dimensions());
  host.latents = static_cast<int>(model.latents());
  host.full_noise = model.noise.type() == NoiseType::full;
  host.scalar_noise = model.noise.type() == NoiseType::scalar;
  host.W = list(model.W);
  host.intercept = list(model.intercept);
  host.pi = list(model.pi);
  host.mu = list(model.mu);
  host.psi = list(model.slab.variances());
  if (host.full_noise) {
    const FullNoise noise = to_full_noise(model.noise);
    host.variance = noise.variance;
    host.precision = noise.precision;
  } else {
    const Index D = model.dimensions();
    const Vector variance =
        host.scalar_noise ? Vector::Constant(D, model.noise.values()(0, 0)) : Vector(model.noise.values().col(0));
    host.variance = list(variance);
    host.precision = list(Vector(variance.cwiseInverse()));
  }
  host.log_determinant = model.noise.log_determinant();
  return host;
}

Model from_host_model(const HostModel& host) {
  Model model;
  model.W = matrix(host.W, host.latents);
  model.intercept = vector(host.intercept);
  model.pi = vector(host.pi);
  model.mu = vector(host.mu);
  model.slab = Slab::diagonal(vector(host.psi));
  if (host.full_noise)
    model.noise = Noise::full(matrix(host.variance, host.dimensions));
  else if (host.scalar_noise)
    model.noise = Noise::scalar(host.variance[0], host.dimensions);
  else
    model.noise = Noise::diagonal(vector(host.variance));
  return model;
}

Statistics to_statistics(const DeviceSums& sums, const Model& model, bool mean_products) {
  Statistics statistics(model);
  const std::vector<double> values = sums.get();
  auto next = values.begin();
  const auto take = [&](auto& field, Index size) {
    std::copy_n(next, size, field.data());
    next += size;
  };
  const Index D = model.dimensions(), H = model.latents();
  if (mean_products) statistics.MM.resize(H, H);
  Vector y(D);
  take(statistics.s, H);
  take(statistics.m, H);
  take(y, D);
  if (statistics.y.size() > 0) statistics.y = y;
  take(statistics.YY, statistics.YY.size());
  take(statistics.ZZ, H * H);
  take(statistics.YZ, D * H);
  if (mean_products) take(statistics.MM, H * H);
  return statistics;
}

std::vector<double> from_statistics(const Statistics& statistics) {
  std::vector<double> values;
  const auto give = [&](const auto& field) { values.insert(values.end(), field.data(), field.data() + field.size()); };
  give(statistics.s);
  give(statistics.m);
  give(statistics.y.size() > 0 ? statistics.y : Vector(Vector::Zero(statistics.YZ.rows())));
  give(statistics.YY);
  give(statistics.ZZ);
  give(statistics.YZ);
  give(statistics.MM);
  return values;
}

}  // namespace gsc::cuda
