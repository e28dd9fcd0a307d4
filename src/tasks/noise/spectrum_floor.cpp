#include "tasks/noise/spectrum_floor.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

namespace gsc {
namespace {

constexpr Index kClasses = 10, kDecays = 4;
constexpr int kIterations = 40, kIterationsMore = 10;  ///< of EM; where only the rates have changed
constexpr int kSteps = 30, kFirstSteps = 300;          ///< multiplicative ones, for each of EM
constexpr double kTolerance = 1e-5;                    ///< of the floor's variance
constexpr double kLeast = 1e-12;                       ///< of the mean energy: a variance
constexpr float kLeastExponent = -50;                  ///< so that no product is denormal, which is slow
constexpr int kRateRounds = 5;
constexpr double kSlowestOfMean = 0.75;  ///< the slowest decay, of that of the mean spectrum
constexpr double kSpectrumError = 0.1;   ///< the mean spectrum is an exponential but for this
constexpr double kUsualError = 0.3;      ///< pictures differ from what is usual by this factor
constexpr double kMostChange = 2.5;      ///< and by this at most
constexpr double kRateError = 0.2;       ///< of the slowest decay, once it is chosen
constexpr double kMoreThanChance = 1.5;  ///< times the error by chance: blocks are not quite of one class or the other
constexpr Index kBlocksAtOnce = 1024;

using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;

class Mixture {
 public:
  Mixture(const Matrix& energies, const Vector& degrees)
      : degrees_(degrees),
        scale_(energies.sum() / (static_cast<double>(energies.rows()) * degrees.sum())),
        energies_((energies / scale_).cast<float>()),
        shares_(Vector::Constant(kClasses, 1.0 / kClasses)),
        means_(kClasses, energies.cols()) {}

  /// Classes are the blocks in the order of their energy, ten times a tenth of them.
  void start(double slowest) {
    set_rates(slowest);
    const Eigen::VectorXf sums = energies_.rowwise().sum();
    std::vector<Index> order(static_cast<std::size_t>(sums.size()));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index one, Index other) { return sums[one] < sums[other]; });
    for (Index g = 0; g < kClasses; ++g) {
      const Index begin = sums.size() * g / kClasses, end = sums.size() * (g + 1) / kClasses;
      means_.row(g).setZero();
      for (Index i = begin; i < end; ++i)
        means_.row(g) += scale_ * energies_.row(order[static_cast<std::size_t>(i)]).cast<double>();
      means_.row(g).array() /= degrees_.transpose().array() * static_cast<double>(end - begin);
    }
    means_ = means_.cwiseMax(kLeast * scale_);
    floor_ = means_.row(0).minCoeff();
    strength_.resize(kClasses, spectra_.rows());
    for (Index g = 0; g < kClasses; ++g)
      strength_.row(g).setConstant(std::max(means_.row(g).mean() - floor_, 1e-3 * means_.row(g).mean()) /
                                   static_cast<double>(spectra_.rows()));
    fit_spectra(kFirstSteps);
  }

  /// Spectra have a mean of one over the rings. Behind the decaying ones there is one for each of the coarser rings
  /// alone: blurred texture falls off faster than any sum of exponentials, from there on.
  void set_rates(double slowest) {
    const Index alone = degrees_.size() / 4;
    spectra_ = Matrix::Zero(kDecays + alone, degrees_.size());
    for (Index l = 0; l < alone; ++l) spectra_(kDecays + l, l) = static_cast<double>(degrees_.size());
    for (Index l = 0; l < kDecays; ++l) {
      for (Index r = 0; r < degrees_.size(); ++r)
        spectra_(l, r) = std::exp(-slowest * std::ldexp(1.0, static_cast<int>(l)) * static_cast<double>(r));
      spectra_.row(l) /= spectra_.row(l).mean();
    }
  }

  double learn(int iterations) {
    for (int iteration = 0; iteration < iterations; ++iteration) {
      update_classes();
      const double before = floor_;
      fit_spectra(kSteps);
      if (iteration > 4 && std::abs(floor_ - before) < kTolerance * floor_) break;
    }
    return floor_;
  }

  /// A share of how fast the mean energies above the floor decay over the finer half of the rings: the slope of their
  /// logarithms by weighted least squares, tempered with what is usual, by the errors of both.
  double slowest_decay(double independent, double usual) const {
    const Index rings = degrees_.size(), first = (rings - 1) / 2;
    double sum = 0, place = 0, level = 0, square = 0, product = 0;
    for (Index r = first; r < rings; ++r) {
      const double mean = scale_ * static_cast<double>(energies_.col(r).mean()) / degrees_[r];
      const double error = mean * std::sqrt(2 / (independent * degrees_[r])), above = std::max(mean - floor_, error);
      const double weight = 1 / (std::pow(error / above, 2) + kSpectrumError * kSpectrumError);
      const double at = static_cast<double>(r), value = std::log(above);
      sum += weight, place += weight * at, level += weight * value;
      square += weight * at * at, product += weight * at * value;
    }
    const double spread = square - place * place / sum, slope = -(product - place * level / sum) / spread;
    // A slope that cannot be told from zero says nothing; one that rises (a sharpened picture) is not texture's.
    if (!(slope > 0 && slope * slope * spread > 1)) return usual;
    const double known = slope * slope * spread, before = 1 / (kUsualError * kUsualError);
    const double rate =
        std::exp((known * std::log(kSlowestOfMean * slope) + before * std::log(usual)) / (known + before));
    return std::clamp(rate, usual / kMostChange, usual * kMostChange);
  }

  /// Of the floor's variance, by Fisher's information; spectra that are at zero tell nothing against it.
  double standard_error(double independent) const {
    const Matrix v = variances();
    double information = 0;
    for (Index g = 0; g < kClasses; ++g) {
      const Vector w = independent * shares_[g] / 2 * degrees_.array() / v.row(g).transpose().array().square();
      std::vector<Index> active;
      for (Index l = 0; l < spectra_.rows(); ++l)
        if (strength_(g, l) > 1e-3 * floor_) active.push_back(l);
      const Matrix phi = spectra_(active, Eigen::all);
      double own = w.sum();
      if (!active.empty()) {
        const Matrix square = phi * w.asDiagonal() * phi.transpose();
        const Vector cross = phi * w;
        own -= cross.dot(square.ldlt().solve(cross));
      }
      information += std::max(own, 0.0);
    }
    return information > 0 ? 1 / std::sqrt(information) : floor_;
  }

 private:
  Matrix variances() const { return (strength_ * spectra_).array() + floor_; }

  void fit_spectra(int steps) {
    const Matrix weights = shares_ * degrees_.transpose();
    for (int step = 0; step < steps; ++step) {
      const Matrix v = variances(), down = weights.cwiseQuotient(v), up = down.cwiseProduct(means_).cwiseQuotient(v);
      strength_.array() *=
          (up * spectra_.transpose()).array() / ((down * spectra_.transpose()).array() + kLeast / scale_);
      floor_ = std::max(floor_ * up.sum() / down.sum(), kLeast * scale_);
    }
  }

  void update_classes() {
    const Matrix v = variances();
    const Floats precisions = (-0.5 * scale_ * v.cwiseInverse().transpose()).cast<float>();
    const Eigen::RowVectorXd constants =
        shares_.array().max(1e-300).log().transpose() - 0.5 * (v.array().log().matrix() * degrees_).transpose().array();
    const Eigen::RowVectorXf shift = (constants.array() - constants.maxCoeff()).cast<float>();
    Vector counts = Vector::Zero(kClasses);
    Matrix sums = Matrix::Zero(kClasses, energies_.cols());
    Floats share(kBlocksAtOnce, kClasses);
    Eigen::ArrayXf most, total;
    for (Index first = 0; first < energies_.rows(); first += kBlocksAtOnce) {
      const Index count = std::min(kBlocksAtOnce, energies_.rows() - first);
      const auto blocks = energies_.middleRows(first, count);
      auto part = share.topRows(count).array();
      for (Index g = 0; g < kClasses; ++g) {
        part.col(g).setConstant(shift[g]);
        for (Index r = 0; r < blocks.cols(); ++r) part.col(g) += precisions(r, g) * blocks.col(r).array();
        most = g == 0 ? part.col(g) : most.max(part.col(g)).eval();
      }
      total.setZero(count);
      for (Index g = 0; g < kClasses; ++g) {
        part.col(g) = (part.col(g) - most).max(kLeastExponent).exp();
        total += part.col(g);
      }
      total = total.inverse();
      for (Index g = 0; g < kClasses; ++g) {
        part.col(g) *= total;
        counts[g] += static_cast<double>(part.col(g).sum());
        for (Index r = 0; r < blocks.cols(); ++r)
          sums(g, r) += static_cast<double>((part.col(g) * blocks.col(r).array()).sum());
      }
    }
    shares_ = counts / counts.sum();
    for (Index g = 0; g < kClasses; ++g)
      if (counts[g] > 0)
        means_.row(g) =
            (scale_ * sums.row(g).array() / (degrees_.transpose().array() * counts[g])).max(kLeast * scale_);
  }

  const Vector& degrees_;
  double scale_;     ///< mean square of a coefficient
  Floats energies_;  ///< blocks x rings, in units of it
  double floor_ = 0;
  Vector shares_;
  Matrix means_, strength_, spectra_;  ///< m_gr, theta_gl, phi_lr
};

}  // namespace

SpectrumFloor spectrum_floor(const CosineBlocks& blocks, const std::vector<Index>& rows, double usual_decay) {
  const Index n = blocks.size;
  Vector degrees = Vector::Zero(blocks.rings.cols());
  for (Index u = 0; u < n; ++u)
    for (Index v = std::max<Index>(2 - u, 0); v < n; ++v) degrees[u + v - 2] += static_cast<double>(blocks.channels);
  const double usual = usual_decay * static_cast<double>(kLargestBlock) / static_cast<double>(n);
  const Index apart = blocks.stride * blocks.sparse;
  const double independent =
      static_cast<double>(rows.size()) * std::min(1.0, static_cast<double>(apart * apart) / static_cast<double>(n * n));

  const Matrix energies = blocks.rings(rows, Eigen::all);
  Mixture mixture(energies, degrees);
  mixture.start(usual);
  double rate = usual;
  for (int round = 0; round < kRateRounds; ++round) {
    mixture.learn(kIterationsMore);
    rate = std::sqrt(rate * mixture.slowest_decay(independent, usual));
    mixture.set_rates(rate);
  }
  SpectrumFloor result{mixture.learn(kIterations), 0};
  const double by_chance = kMoreThanChance * mixture.standard_error(independent);
  std::array<double, 2> other{};
  for (std::size_t i = 0; i < 2; ++i) {
    Mixture changed = mixture;
    changed.set_rates(rate * (i == 0 ? 1 - kRateError : 1 + kRateError));
    other[i] = changed.learn(kIterationsMore);
  }
  result.error = std::hypot(by_chance, (other[1] - other[0]) / 2) / (2 * result.variance);
  return result;
}

}  // namespace gsc
