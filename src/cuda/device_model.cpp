// Compiled by nvcc for the GPU, and by the C++ compiler on the emulation for the tests.

#include "cuda/device_model.h"

#include <atomic>

#include "cuda/kernels/model_kernels.h"

namespace gsc::cuda {
namespace {

void put(Queue& queue, Array<double>& array, const std::vector<double>& values) {
  if (array.size() != values.size()) array = Array<double>(queue, values.size());
  if (!values.empty()) array.upload(values);
}

void fit_size(Queue& queue, Array<double>& array, std::size_t size) {
  if (array.size() != size) array = Array<double>(queue, size);
}

}  // namespace

void DeviceModel::changed() {
  static std::atomic<long> last{0};
  version_ = ++last;
}

void DeviceModel::set(const HostModel& model) {
  dimensions_ = model.dimensions;
  latents_ = model.latents;
  full_noise_ = model.full_noise;
  scalar_noise_ = model.scalar_noise;
  put(queue_, W_, model.W);
  put(queue_, intercept_, model.intercept);
  put(queue_, pi_, model.pi);
  put(queue_, mu_, model.mu);
  put(queue_, psi_, model.psi);
  put(queue_, variance_, model.variance);
  put(queue_, precision_, model.precision);
  put(queue_, log_determinant_, {model.log_determinant});
  changed();
}

HostModel DeviceModel::get() const {
  HostModel model;
  model.dimensions = dimensions_;
  model.latents = latents_;
  model.full_noise = full_noise_;
  model.scalar_noise = scalar_noise_;
  model.W = W_.download();
  model.intercept = intercept_.download();
  model.pi = pi_.download();
  model.mu = mu_.download();
  model.psi = psi_.download();
  model.variance = variance_.download();
  return model;
}

void DeviceModel::shape_as(const DeviceModel& other) {
  dimensions_ = other.dimensions_;
  latents_ = other.latents_;
  full_noise_ = other.full_noise_;
  scalar_noise_ = other.scalar_noise_;
  for (auto member :
       {&DeviceModel::W_, &DeviceModel::intercept_, &DeviceModel::pi_, &DeviceModel::mu_, &DeviceModel::psi_,
        &DeviceModel::variance_, &DeviceModel::precision_, &DeviceModel::log_determinant_})
    fit_size(queue_, this->*member, (other.*member).size());
}

void DeviceModel::set_full_noise(const std::vector<double>& variance, const std::vector<double>& precision,
                                 double log_determinant) {
  put(queue_, variance_, variance);
  put(queue_, precision_, precision);
  put(queue_, log_determinant_, {log_determinant});
  changed();
}

void DeviceModel::prepare(const double* origin) {
  if (prepared_ == version_) return;
  prepared_ = version_;
  const long D = dimensions_, H = latents_;
  fit_size(queue_, PW_, static_cast<std::size_t>(D * H));
  fit_size(queue_, G_, static_cast<std::size_t>(H * H));
  fit_size(queue_, vectors_, static_cast<std::size_t>(4 * H));
  fit_size(queue_, constant_, 1);
  if (full_noise_)
    queue_.multiply(Queue::Product<double>{false, D, H, D, precision_.data(), D, W_.data(), H, PW_.data(), H});
  else
    queue_.launch("preparation", piece_count(D, H), 0,
                  PrecisionKernel{latents_, precision_.data(), W_.data(), PW_.data()});
  queue_.multiply(Queue::Product<double>{true, H, H, D, W_.data(), H, PW_.data(), H, G_.data(), H});
  queue_.launch("preparation", piece_count(1, H), 0,
                LatentKernel{dimensions_, latents_, PW_.data(), G_.data(), pi_.data(), mu_.data(), psi_.data(), origin,
                             intercept_.data(), vectors_.data()});
  queue_.launch("preparation", 1, 0,
                ConstantKernel{dimensions_, latents_, pi_.data(), log_determinant_.data(), constant_.data()});
}

std::vector<double> DeviceModel::scale_on_host() const {
  std::vector<double> scale(static_cast<std::size_t>(latents_));
  queue_.download(scale.data(), vectors_.data(), scale.size() * sizeof(double));
  return scale;
}

}  // namespace gsc::cuda
