// Compiled by nvcc for the GPU, and by the C++ compiler on the emulation for the tests.

#include "cuda/device_sums.h"

#include "cuda/kernels/device_sum_kernels.h"

namespace gsc::cuda {

void DeviceSums::shape(const DeviceModel& model, bool mean_products) {
  dimensions_ = model.dimensions();
  latents_ = model.latents();
  squares_ = model.full_noise() ? dimensions_ * dimensions_ : dimensions_;
  mean_products_ = mean_products;
  const auto needed = static_cast<std::size_t>(kNumbers + size());
  if (values_.size() != needed) values_ = Array<double>(queue_, needed);
}

long DeviceSums::size() const {
  return 2 * latents_ + dimensions_ + squares_ + latents_ * latents_ * (mean_products_ ? 2 : 1) +
         dimensions_ * latents_;
}

void DeviceSums::take(const Totals& totals, const DeviceModel& model, const double* origin, double count,
                      const double* rescues) {
  shape(model, totals.MM != nullptr);
  count_ = count;
  const int D = static_cast<int>(dimensions_), H = static_cast<int>(latents_);
  const auto to = [&](const double* part) { return const_cast<double*>(part); };
  queue_.launch("unscaling", piece_count(LatentSumsKernel::rows(D, H, mean_products_), H), 0,
                LatentSumsKernel{D, H, totals, model.scale(), origin, model.intercept(), to(s()), to(m()), to(ZZ()),
                                 to(YZ()), to(MM())});
  queue_.launch("unscaling", piece_count(totals.YY != nullptr ? D : 1, D), 0,
                DataSumsKernel{D, totals, count, origin, model.intercept(), to(y()), to(YY())});
  weighted_.reserve(queue_, static_cast<std::size_t>(D));
  queue_.launch("unscaling", D, 0, RowDotKernel{model.full_noise() ? D : 1, model.precision(), YY(), weighted_.data()});
  queue_.launch("unscaling", 1, 0,
                NumbersKernel{D, model.full_noise() ? D + 1 : 1, count, totals.scalars, model.constant(),
                              weighted_.data(), model.variance(), rescues, values_.data()});
}

RowNumbers DeviceSums::numbers() const {
  std::vector<double> values(static_cast<std::size_t>(kNumbers + latents_));
  queue_.download(values.data(), values_.data(), values.size() * sizeof(double));
  RowNumbers row;
  row.free_energy = values[0];
  row.undone = values[1];
  row.clamped = values[2];
  row.unused_latents = values[3];
  row.floored_pi = values[4];
  row.floored_slab = values[5];
  row.floored_noise = values[6];
  row.noise_variance = values[7];
  row.s.assign(values.begin() + kNumbers, values.end());
  return row;
}

DeviceSums& DeviceSums::operator=(const DeviceSums& other) {
  if (this == &other) return *this;
  count_ = other.count_;
  dimensions_ = other.dimensions_;
  latents_ = other.latents_;
  squares_ = other.squares_;
  mean_products_ = other.mean_products_;
  if (values_.size() != other.values_.size()) values_ = Array<double>(queue_, other.values_.size());
  queue_.copy(values_.data(), other.values_.data(), values_.size() * sizeof(double));
  return *this;
}

void DeviceSums::blend(double keep, const DeviceSums& other, double weight) {
  queue_.launch("blending", piece_count(1, size()), 0, BlendKernel{size(), keep, weight, at(0), other.at(0)});
  count_ = keep * count_ + weight * other.count_;
}

void DeviceSums::move_intercept(const DeviceModel& from, const DeviceModel& to) {
  const bool full = from.full_noise();
  const long wide = std::max(dimensions_, latents_), rows = dimensions_ + (full ? dimensions_ : 1) + 1;
  // y is read by warps that may come after the one that writes it, so it is written elsewhere first.
  weighted_.reserve(queue_, static_cast<std::size_t>(dimensions_));
  queue_.launch(
      "blending", piece_count(rows, wide), 0,
      MoveKernel{static_cast<int>(dimensions_), static_cast<int>(latents_), full, count_, from.intercept(),
                 to.intercept(), m(), y(), const_cast<double*>(YZ()), const_cast<double*>(YY()), weighted_.data()});
  queue_.copy(const_cast<double*>(y()), weighted_.data(), static_cast<std::size_t>(dimensions_) * sizeof(double));
}

std::vector<double> DeviceSums::get() const {
  std::vector<double> values(static_cast<std::size_t>(size()));
  queue_.download(values.data(), at(0), values.size() * sizeof(double));
  return values;
}

void DeviceSums::set(const DeviceModel& shapes, bool mean_products, const std::vector<double>& values) {
  shape(shapes, mean_products);
  queue_.upload(at(0), values.data(), values.size() * sizeof(double));
}

}  // namespace gsc::cuda
