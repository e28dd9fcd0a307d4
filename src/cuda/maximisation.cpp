// Compiled by nvcc for the GPU, and by the C++ compiler on the emulation for the tests.

#include "cuda/maximisation.h"

#include <algorithm>

#include "cuda/kernels/m_step_kernels.h"

namespace gsc::cuda {

Maximisation::Maximisation(Queue& queue) : queue_(queue), cholesky_(queue), rescues_(queue, kRescueCounts) {
  rescues_.zero();
}

void Maximisation::run(const DeviceSums& from_sums, const DeviceModel& from, DeviceModel& to,
                       const StepOptions& options, const MakeFullNoise& make_full_noise) {
  to.shape_as(from);
  const long D = from.dimensions(), H = from.latents();
  const bool centred = options.learn_intercept && from.intercept() != nullptr;
  const StepSums sums{from.dimensions(), from.latents(), from_sums.count(), centred,        from_sums.s(),
                      from_sums.m(),     from_sums.y(),  from_sums.YY(),    from_sums.ZZ(), from_sums.YZ()};
  const long wide = Cholesky::padded(H), rows = Cholesky::padded(D);
  A_.reserve(queue_, static_cast<std::size_t>(wide * wide));
  B_.reserve(queue_, static_cast<std::size_t>(rows * wide));
  ZZ_.reserve(queue_, static_cast<std::size_t>(H * H));
  WZZ_.reserve(queue_, static_cast<std::size_t>(D * H));
  diagonal_.reserve(queue_, static_cast<std::size_t>(H));
  residual_.reserve(queue_, static_cast<std::size_t>(from.full_noise() ? D * D : D));

  queue_.launch(
      "M-step", 1, 0,
      PriorKernel{sums, from.mu(), from.psi(), to.pi(), to.mu(), to.psi(), diagonal_.data(), rescues_.data()});
  for (double ridge = 1e-9;; ridge *= 100) {
    queue_.launch("M-step", piece_count(wide + rows, wide), 0,
                  SystemKernel{sums, wide, ridge, from.W(), diagonal_.data(), A_.data(), ZZ_.data(), B_.data()});
    if (cholesky_.solve(A_.data(), wide, B_.data(), rows, to.W(), D, H) || ridge >= 1) break;
  }
  queue_.multiply(Queue::Product<double>{false, D, H, H, to.W(), H, ZZ_.data(), H, WZZ_.data(), H});
  queue_.launch("M-step", D, 0,
                ResidualKernel{sums, to.W(), WZZ_.data(), centred ? from.intercept() : nullptr,
                               from.full_noise() ? nullptr : residual_.data(), to.intercept()});
  if (!centred && from.intercept() != nullptr)
    queue_.copy(to.intercept(), from.intercept(), static_cast<std::size_t>(D) * sizeof(double));
  if (!from.full_noise()) {
    queue_.launch(
        "M-step", 1, 0,
        NoiseKernel{from.dimensions(), from.scalar_noise(), sums.count, options.known_variance, sums.YY,
                    residual_.data(), to.variance(), to.precision(), to.log_determinant(), rescues_.data() + 3});
    to.changed();
    return;
  }
  queue_.launch("M-step", piece_count(D, H), 0, DifferenceKernel{sums, WZZ_.data()});
  Queue::Product<double> product{false, D, D, H, WZZ_.data(), H, to.W(), H, residual_.data(), D};
  product.B_transposed = true;
  queue_.multiply(product);
  std::vector<double> products(static_cast<std::size_t>(D * D)), YY(products.size()), y(static_cast<std::size_t>(D));
  queue_.download(products.data(), residual_.data(), products.size() * sizeof(double));
  queue_.download(YY.data(), from_sums.YY(), YY.size() * sizeof(double));
  queue_.download(y.data(), from_sums.y(), y.size() * sizeof(double));
  double power = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    power += YY[i * y.size() + i];
    for (std::size_t j = 0; j < y.size(); ++j)
      products[i * y.size() + j] += YY[i * y.size() + j] - (centred ? y[i] * (y[j] / sums.count) : 0);
  }
  const FullNoise noise = make_full_noise(products, power);
  to.set_full_noise(noise.variance, noise.precision, noise.log_determinant);
}

}  // namespace gsc::cuda
