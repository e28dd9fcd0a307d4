#pragma once
// The spike-and-slab model:  s_h ~ Bernoulli(pi_h),  z ~ N(mu, Psi),  y ~ N(b + W (s.z), Sigma).
//
//   symbol   name     shape
//   W        W        D x H   basis functions, one a column
//   b        intercept D      what the data is around when all latents are off
//   pi       pi       H       how often a latent is active
//   mu, Psi  mu, slab H       mean and covariance of the amplitudes
//   Sigma    noise    D       covariance of the observation noise

#include <gsc/data.h>
#include <gsc/export.h>
#include <gsc/types.h>

#include <string_view>

namespace gsc {

enum class NoiseType { scalar, diagonal, full };
enum class SlabType { diagonal, full };
enum class Init { random, data };
/// b: learned like the other parameters, starting from the mean of the data; that mean; or no intercept, that is zero.
enum class Intercept { learned, mean, none };

/// Sigma: one variance for all dimensions, one each, or a covariance matrix.
class GSC_EXPORT Noise {
 public:
  Noise() = default;
  static Noise scalar(double variance, Index dimensions);
  static Noise diagonal(Vector variances);
  static Noise full(Matrix covariance);  ///< throws Error unless symmetric positive definite
  /// The noise of the given type closest to a D x 1 (variances) or D x D covariance; full needs the latter.
  static Noise from_covariance(NoiseType type, const Matrix& covariance);

  NoiseType type() const { return type_; }
  Index dimensions() const { return dimensions_; }
  /// As in the model file: 1 x 1, D x 1 or D x D.
  const Matrix& values() const { return values_; }
  Matrix covariance() const;              ///< always D x D
  Matrix solve(const Matrix& rhs) const;  ///< Sigma^-1 rhs, for D x k
  double log_determinant() const;
  double mean_variance() const;       ///< trace(Sigma) / D
  Noise scaled(double factor) const;  ///< factor Sigma
  /// L with Sigma = L L', as rows to scale or multiply: returns L x for D x k.
  Matrix color(const Matrix& white) const;

 private:
  NoiseType type_ = NoiseType::scalar;
  Index dimensions_ = 0;
  Matrix values_;
  Matrix cholesky_;  // lower factor, full only
};

/// Psi: a variance per latent, or a covariance matrix.
class GSC_EXPORT Slab {
 public:
  Slab() = default;
  static Slab diagonal(Vector variances);
  static Slab full(Matrix covariance);  ///< throws Error unless symmetric positive definite

  SlabType type() const { return type_; }
  Index latents() const { return values_.rows(); }
  /// As in the model file: H x 1 or H x H.
  const Matrix& values() const { return values_; }
  Vector variances() const;
  Matrix covariance() const;                ///< always H x H
  Matrix color(const Matrix& white) const;  ///< L x with Psi = L L', for H x k

 private:
  SlabType type_ = SlabType::diagonal;
  Matrix values_;
};

struct GSC_EXPORT Model {
  Matrix W;
  /// D x H, or empty: how uncertain each entry of W is. Learned by the factored method with a prior on W, and used by
  /// its inference; the other methods take W as it stands.
  Matrix W_variance;
  Vector intercept;  ///< D, or empty: none
  Vector pi;
  Vector mu;
  Slab slab;
  Noise noise;

  Index dimensions() const { return W.rows(); }
  Index latents() const { return W.cols(); }
  /// Throws Error naming the first parameter with a wrong shape or an impossible value.
  void validate() const;
};

/// Whether all parameters are the same numbers.
GSC_EXPORT bool operator==(const Model& one, const Model& other);

/// A starting point for learning.
///   random: the paper's footnote: pi uniform in 0.05..0.95, mu normal, slab variances uniform in (0, 1], noise = data
///           covariance, W standard normal.
///   data:   columns of W are random data points plus N(0, sd/4) noise, mu = 0, slab variances 1, pi uniform in
///           0.1..0.5, noise = data covariance. Starts near the data, so it needs fewer iterations.
/// What is missing (NaN) of a data point is taken to be the mean.
/// With an intercept, which is the data's mean, columns are data points less that mean.
GSC_EXPORT Model initial_model(const Data& data, const DataSummary& summary, Index latents, NoiseType noise,
                               SlabType slab, Init init, Random& random, Intercept intercept = Intercept::none);

struct Sample {
  Matrix data;    ///< N x D
  Matrix spikes;  ///< N x H, 0 or 1
  Matrix slabs;   ///< N x H; the code of point n is spikes.row(n) * slabs.row(n), element by element
};

GSC_EXPORT Sample sample(const Model& model, Index count, Random& random);

GSC_EXPORT std::string_view to_string(NoiseType type);
GSC_EXPORT std::string_view to_string(SlabType type);
GSC_EXPORT std::string_view to_string(Init init);
GSC_EXPORT std::string_view to_string(Intercept intercept);

}  // namespace gsc
