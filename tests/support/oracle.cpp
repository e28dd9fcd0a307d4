#include "oracle.h"

#include <bit>
#include <cmath>
#include <numbers>

namespace oracle {
namespace {

const Real kLog2Pi = std::log(2 * std::numbers::pi_v<Real>);

Real log_determinant(const Eigen::LLT<Matrix>& factor) {
  return 2 * Matrix(factor.matrixL()).diagonal().array().log().sum();
}

Matrix inverse(const Matrix& positive_definite) {
  return positive_definite.llt().solve(Matrix::Identity(positive_definite.rows(), positive_definite.cols()));
}

Matrix columns(const Matrix& of, const std::vector<Index>& which) { return of(Eigen::all, which); }
Matrix block(const Matrix& of, const std::vector<Index>& which) { return of(which, which); }
Vector entries(const Vector& of, const std::vector<Index>& which) { return of(which); }

/// Condition number in the 1-norm after scaling to a unit diagonal.
Real scaled_condition(const Matrix& matrix, const Matrix& its_inverse) {
  const Vector scale = matrix.diagonal().array().sqrt();
  const Matrix scaled = scale.cwiseInverse().asDiagonal() * matrix * scale.cwiseInverse().asDiagonal();
  const Matrix scaled_inverse = scale.asDiagonal() * its_inverse * scale.asDiagonal();
  return scaled.cwiseAbs().colwise().sum().maxCoeff() * scaled_inverse.cwiseAbs().colwise().sum().maxCoeff();
}

Real largest(const Matrix& of) { return of.size() == 0 ? 0 : of.cwiseAbs().maxCoeff(); }

Real log_sum_exp(const std::vector<Real>& terms) {
  Real top = terms.front();
  for (Real term : terms) top = std::max(top, term);
  Real sum = 0;
  for (Real term : terms) sum += std::exp(term - top);
  return top + std::log(sum);
}

}  // namespace

States all_states(Index latents) {
  States states(std::size_t{1} << latents);
  for (std::size_t i = 0; i < states.size(); ++i) states[i] = static_cast<State>(i);
  return states;
}

States truncated_states(Index latents, const std::vector<Index>& candidates, Index max_active) {
  State allowed = 0;
  for (Index h : candidates) allowed |= State{1} << h;
  States states;
  for (State state : all_states(latents)) {
    const bool among_candidates = (state & ~allowed) == 0 && std::popcount(state) <= max_active;
    if (among_candidates || std::popcount(state) == 1) states.push_back(state);
  }
  return states;
}

StatesOfPoint every_state(Index latents) {
  return [states = all_states(latents)](Index) { return states; };
}

std::vector<Index> active_latents(State state) {
  std::vector<Index> active;
  for (Index h = 0; state >> h != 0; ++h) {
    if ((state >> h & 1U) != 0) active.push_back(h);
  }
  return active;
}

Vector point(const gsc::Matrix& data, Index n) { return data.row(n).transpose().cast<Real>(); }

Parameters::Parameters(const gsc::Model& model)
    : W(model.W.cast<Real>()),
      b(model.intercept.size() > 0 ? Vector(model.intercept.cast<Real>()) : Vector(Vector::Zero(W.rows()))),
      pi(model.pi.cast<Real>()),
      mu(model.mu.cast<Real>()),
      Psi(model.slab.covariance().cast<Real>()),
      Sigma(model.noise.covariance().cast<Real>()) {}

Parameters Parameters::observed(const std::vector<Index>& dimensions) const {
  Parameters rest = *this;
  rest.W = Matrix(W(dimensions, Eigen::all));
  rest.b = Vector(b(dimensions));
  rest.Sigma = Matrix(Sigma(dimensions, dimensions));
  return rest;
}

std::vector<Index> observed_dimensions(const gsc::Matrix& data, Index n) {
  std::vector<Index> dimensions;
  for (Index d = 0; d < data.cols(); ++d)
    if (!std::isnan(data(n, d))) dimensions.push_back(d);
  return dimensions;
}

Sums::Sums(Index dimensions, Index latents)
    : s(Vector::Zero(latents)),
      m(s),
      lambda(s),
      y(Vector::Zero(dimensions)),
      YZ(Matrix::Zero(dimensions, latents)),
      ZZ(Matrix::Zero(latents, latents)),
      YY(Matrix::Zero(dimensions, dimensions)),
      MM(ZZ),
      SS(ZZ),
      T(ZZ) {}

void Sums::add(const Vector& y_less_b, const Moments& of) {
  count += 1;
  free_energy += of.log_sum;
  s += of.s;
  m += of.m;
  lambda += of.lambda;
  y += y_less_b;
  YZ += y_less_b * of.m.transpose();
  ZZ += of.zz;
  YY += y_less_b * y_less_b.transpose();
  MM += of.m * of.m.transpose();
  SS += of.ss;
  T += of.T;
}

const Oracle::Component& Oracle::component(State state) const {
  const auto found = components_.find(state);
  if (found != components_.end()) return found->second;

  Component c;
  c.active = active_latents(state);
  for (Index h = 0; h < latents(); ++h) {
    c.log_prior += (state >> h & 1U) != 0 ? std::log(theta_.pi[h]) : std::log1p(-theta_.pi[h]);
  }
  const Matrix Ws = columns(theta_.W, c.active);
  const Matrix Psi_s = block(theta_.Psi, c.active);
  c.mu = entries(theta_.mu, c.active);
  c.mean = theta_.b + Ws * c.mu;
  c.factor.compute(theta_.Sigma + Ws * Psi_s * Ws.transpose());
  c.log_normalizer = (static_cast<Real>(theta_.W.rows()) * kLog2Pi + log_determinant(c.factor)) / 2;
  if (!c.active.empty()) {
    const Matrix PW = theta_.Sigma.llt().solve(Ws);
    c.slab_inverse = inverse(Psi_s);
    const Matrix precision = Ws.transpose() * PW + c.slab_inverse;
    c.Lambda = inverse(precision);
    c.gain = c.Lambda * PW.transpose();
    c.T_constant = c.slab_inverse * c.Lambda * c.slab_inverse - c.slab_inverse;
    c.condition = scaled_condition(precision, c.Lambda) * scaled_condition(Psi_s, c.slab_inverse);
    c.slab_energy = c.mu.dot(c.slab_inverse * c.mu);
  }
  return components_.emplace(state, std::move(c)).first->second;
}

Vector Oracle::conditional_mean(const Component& of, const Vector& y) const {
  if (of.active.empty()) return Vector(0);
  return of.mu + of.gain * (y - of.mean);
}

Real Oracle::log_density(const Vector& y, State state) const {
  const Component& c = component(state);
  return -c.log_normalizer - c.factor.matrixL().solve(y - c.mean).squaredNorm() / 2;
}

Real Oracle::log_joint(const Vector& y, State state) const {
  return component(state).log_prior + log_density(y, state);
}

Real Oracle::log_sum(const Vector& y, const States& states) const {
  std::vector<Real> terms;
  terms.reserve(states.size());
  for (State state : states) terms.push_back(log_joint(y, state));
  return log_sum_exp(terms);
}

Moments Oracle::moments(const Vector& y, const States& states) const {
  const Index H = latents();
  Moments all;
  for (State state : states) all.log_joint.push_back(log_joint(y, state));
  all.log_sum = log_sum_exp(all.log_joint);
  all.s = all.m = all.lambda = Vector::Zero(H);
  all.ss = all.zz = all.T = Matrix::Zero(H, H);
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Real q = std::exp(all.log_joint[i] - all.log_sum);
    all.weight.push_back(q);
    const Component& c = component(states[i]);
    if (c.active.empty()) continue;
    const Vector kappa = conditional_mean(c, y);
    const Matrix zz = c.Lambda + kappa * kappa.transpose();
    const Vector lambda = c.slab_inverse * (kappa - c.mu);
    const Matrix T = lambda * lambda.transpose() + c.T_constant;
    for (std::size_t a = 0; a < c.active.size(); ++a) {
      const Index h = c.active[a];
      all.s[h] += q;
      all.m[h] += q * kappa[static_cast<Index>(a)];
      all.lambda[h] += q * lambda[static_cast<Index>(a)];
      for (std::size_t b = 0; b < c.active.size(); ++b) {
        const Index k = c.active[b];
        all.ss(h, k) += q;
        all.zz(h, k) += q * zz(static_cast<Index>(a), static_cast<Index>(b));
        all.T(h, k) += q * T(static_cast<Index>(a), static_cast<Index>(b));
      }
    }
    const auto add = [&](Moments::Scale& to, Real factor) {
      to.s += factor;
      to.m += factor * largest(kappa);
      to.zz += factor * largest(zz);
      to.lambda += factor * largest(lambda);
      to.T += factor * (largest(T) + largest(c.slab_inverse));
    };
    add(all.magnitude, q);
    add(all.sensitivity, q * (1 - q));
  }
  all.variance = all.zz.diagonal() - all.m.cwiseAbs2();
  return all;
}

Vector Oracle::selection_scores(const Vector& y) const {
  Vector scores(latents());
  for (Index h = 0; h < latents(); ++h) scores[h] = log_density(y, State{1} << h);
  return scores;
}

Real Oracle::free_energy(const gsc::Matrix& data, const StatesOfPoint& states) const {
  Real total = 0;
  for (Index n = 0; n < data.rows(); ++n) total += log_sum(point(data, n), states(n));
  return total;
}

Sums Oracle::sums(const gsc::Matrix& data, const StatesOfPoint& states) const {
  Sums total(data.cols(), latents());
  for (Index n = 0; n < data.rows(); ++n) {
    const Vector y = point(data, n);
    total.add(y - theta_.b, moments(y, states(n)));
  }
  return total;
}

Real Oracle::expected_log_joint(const Parameters& theta, const gsc::Matrix& data, const StatesOfPoint& states) const {
  const Matrix P = inverse(theta.Sigma);
  const Real noise_terms = static_cast<Real>(theta.W.rows()) * kLog2Pi + log_determinant(theta.Sigma.llt());
  Real total = 0;
  for (Index n = 0; n < data.rows(); ++n) {
    const Vector y = point(data, n);
    const States support = states(n);
    const Real log_total = log_sum(y, support);
    for (State state : support) {
      const Real q = std::exp(log_joint(y, state) - log_total);
      const Component& c = component(state);  // of the old parameters: they gave q, kappa and Lambda
      Real expected = -noise_terms / 2;
      Vector residual = y - theta.b;
      if (!c.active.empty()) {
        const Vector kappa = conditional_mean(c, y);
        const Matrix Ws = columns(theta.W, c.active);
        const Matrix Psi_s = block(theta.Psi, c.active);
        const Vector from_mean = kappa - entries(theta.mu, c.active);
        residual -= Ws * kappa;
        expected -= (P * Ws * c.Lambda * Ws.transpose()).trace() / 2;
        expected -= (static_cast<Real>(c.active.size()) * kLog2Pi + log_determinant(Psi_s.llt())) / 2;
        expected -= (inverse(Psi_s) * (from_mean * from_mean.transpose() + c.Lambda)).trace() / 2;
      }
      expected -= residual.dot(P * residual) / 2;
      for (Index h = 0; h < latents(); ++h) {
        expected += (state >> h & 1U) != 0 ? std::log(theta.pi[h]) : std::log1p(-theta.pi[h]);
      }
      total += q * expected;
    }
  }
  return total;
}

Real Oracle::rounding(const Vector& y, const States& states, Real roundoff) const {
  const Vector from_b = y.cwiseAbs() + theta_.b.cwiseAbs();  // rounded before they are subtracted
  const Real data_energy = from_b.dot(theta_.Sigma.llt().solve(from_b));
  Real worst = 0;
  for (State state : states) {
    const Component& c = component(state);
    worst = std::max(worst, c.condition * (1 + data_energy + c.slab_energy));
  }
  return roundoff * worst;
}

}  // namespace oracle
