#pragma once
// Brute force to judge the engine by: the paper's formulas as printed, one state at a time, with D x D Gaussian
// densities in long double. Nothing here shares a formula with src/: no reduction to H-sized quantities, no tree.
//
//   p(y, s)  = Bernoulli(s; pi) N(y; b + W_s mu, C_s)      C_s = Sigma + W_s Psi W_s'              eq. EqnJointYS
//   Lambda_s = (W_s' Sigma^-1 W_s + Psi_s^-1)^-1           on the active latents                   eq. EqnAbbreviations
//   kappa_s  = mu_s + Lambda_s W_s' Sigma^-1 (y - W_s mu)
//   q(s)     = p(y, s) / sum over K of p(y, s')                                                    eq. EqnETPosterior
//
// For a full slab Psi_s is Psi on the active latents (the marginal of the slab), not a submatrix of the inverse.

#include <gsc/model.h>

#include <Eigen/Cholesky>
#include <functional>
#include <unordered_map>
#include <vector>

namespace oracle {

using gsc::Index;
using Real = long double;
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

/// Bit h is set when latent h is active.
using State = std::uint32_t;
using States = std::vector<State>;

/// All 2^H states.
States all_states(Index latents);
/// K_n of the paper (eq. EqnKKn): at most `max_active` of the candidates, or any one latent.
States truncated_states(Index latents, const std::vector<Index>& candidates, Index max_active);
std::vector<Index> active_latents(State state);

/// A model in long double, free to be perturbed.
struct Parameters {
  Matrix W;
  Vector b, pi, mu;
  Matrix Psi, Sigma;
  explicit Parameters(const gsc::Model& model);
  /// The same without the dimensions that are not listed: W, b and Sigma lose their rows (and columns).
  Parameters observed(const std::vector<Index>& dimensions) const;
};

/// The dimensions in which a data point is not NaN.
std::vector<Index> observed_dimensions(const gsc::Matrix& data, Index n);

/// Expectations of one data point under its posterior on the states given.
struct Moments {
  Real log_sum = 0;             ///< log sum over K of p(y, s)
  std::vector<Real> log_joint;  ///< per state
  std::vector<Real> weight;     ///< q, per state
  Vector s, m, variance;        ///< <s>, <s.z>, Var(s.z)
  Matrix ss, zz;                ///< <s s'>, <(s.z)(s.z)'>
  Vector lambda;                ///< E[lambda],  lambda = Psi_SS^-1 (z_S - mu_S)
  Matrix T;                     ///< sum q (E[lambda lambda'] - Psi_SS^-1)

  /// Largest entry of each state's share of a quantity, summed over the states: with q the quantity's natural scale,
  /// with q (1 - q) how much it moves when every log joint moves a little (that is how weights respond).
  struct Scale {
    Real s = 0, m = 0, zz = 0, lambda = 0, T = 0;
  };
  Scale magnitude, sensitivity;
};

/// Sums over data points, named as in gsc::Statistics. MM = sum <s.z><s.z>' is what the paper's noise update needs.
struct Sums {
  Real count = 0, free_energy = 0;
  Vector s, m, lambda, y;
  Matrix YZ, ZZ, YY, MM, SS, T;
  Sums(Index dimensions, Index latents);
  void add(const Vector& y_less_b, const Moments& of);
};

/// K_n by n.
using StatesOfPoint = std::function<States(Index)>;
StatesOfPoint every_state(Index latents);

class Oracle {
 public:
  explicit Oracle(Parameters parameters) : theta_(std::move(parameters)) {}
  explicit Oracle(const gsc::Model& model) : Oracle(Parameters(model)) {}
  const Parameters& parameters() const { return theta_; }
  Index latents() const { return theta_.W.cols(); }

  Real log_density(const Vector& y, State state) const;  ///< log N(y; W_s mu, C_s)
  Real log_joint(const Vector& y, State state) const;    ///< log p(y, s)
  Real log_sum(const Vector& y, const States& states) const;
  Real log_likelihood(const Vector& y) const { return log_sum(y, all_states(latents())); }
  Moments moments(const Vector& y, const States& states) const;
  /// The paper's score of each latent (eq. sel-func): the log density given that it alone is active.
  Vector selection_scores(const Vector& y) const;

  Real free_energy(const gsc::Matrix& data, const StatesOfPoint& states) const;
  Sums sums(const gsc::Matrix& data, const StatesOfPoint& states) const;
  /// sum_n sum_S q_n(S) E[log p(y_n, S, z | theta)] with q and the expectation over z from this oracle: what an M-step
  /// maximises (appendix A of the paper).
  Real expected_log_joint(const Parameters& theta, const gsc::Matrix& data, const StatesOfPoint& states) const;

  /// Largest error of a log joint computed from H-sized quantities in arithmetic of this unit roundoff, to first order:
  ///   roundoff cond(J) (1 + y' Sigma^-1 y + mu' Psi^-1 mu)
  /// The log joint is a difference of terms as large as the bracket. cond(J) is that of Lambda_S^-1 scaled to a unit
  /// diagonal, times that of Psi_SS likewise: the worst of the states given.
  Real rounding(const Vector& y, const States& states, Real roundoff) const;

 private:
  struct Component {  // one state's share of everything that does not depend on y
    std::vector<Index> active;
    Real log_prior = 0, log_normalizer = 0, condition = 1, slab_energy = 0;
    Vector mean;                // D      W_s mu
    Eigen::LLT<Matrix> factor;  //        of C_s
    Matrix Lambda, gain;        // k x k, k x D: Lambda_s W_s' Sigma^-1
    Matrix slab_inverse;        // k x k  Psi_SS^-1
    Matrix T_constant;          // k x k  Psi_SS^-1 Lambda_s Psi_SS^-1 - Psi_SS^-1
    Vector mu;                  // k
  };
  const Component& component(State state) const;
  Vector conditional_mean(const Component& of, const Vector& y) const;  // kappa on the active latents

  Parameters theta_;
  mutable std::unordered_map<State, Component> components_;
};

/// Row n of a table as the oracle's vector.
Vector point(const gsc::Matrix& data, Index n);

}  // namespace oracle
