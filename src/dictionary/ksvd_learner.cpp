#include "dictionary/ksvd_learner.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "math/blas.h"
#include "math/leading_eigenvector.h"

namespace gsc {
namespace {

constexpr double kSame = 0.99;  // |d_j'd_k| beyond this: as good as equal
constexpr Index kFewUsers = 3;
constexpr int kMostSteps = 100;    // of alternating least squares where values are missing
constexpr double kSettled = 1e-8;  // change of an atom at which these end
constexpr Index kAtomsBetweenAsking = 16;

/// Data points by how badly they are explained, each given out once.
class WorstExplained {
 public:
  WorstExplained(const Matrix& X, Vector errors) : X_(X), errors_(std::move(errors)) {}
  /// False if there is none left with any error and direction.
  bool next(Eigen::Ref<Vector> atom) {
    Index worst = 0;
    while (errors_.maxCoeff(&worst) > 0) {
      errors_[worst] = 0;
      const double norm = X_.row(worst).norm();
      if (!(norm > 0)) continue;
      atom = X_.row(worst).transpose() / norm;
      return true;
    }
    return false;
  }

 private:
  const Matrix& X_;
  Vector errors_;
};

/// Replaces atoms that are of little use; returns how many.
Index replace_useless(Matrix& atoms, const std::vector<Index>& users, WorstExplained& worst) {
  Matrix gram(atoms.rows(), atoms.rows());
  product_with_transposed(atoms, atoms, gram);
  gram.diagonal().setZero();
  Index replaced = 0;
  Vector better(atoms.cols());
  for (Index k = 0; k < atoms.rows(); ++k) {
    if (users[static_cast<std::size_t>(k)] > kFewUsers && gram.row(k).cwiseAbs().maxCoeff() <= kSame) continue;
    if (!worst.next(better)) break;
    atoms.row(k) = better.transpose();
    gram.row(k) = (atoms * better).transpose();
    gram(k, k) = 0;
    gram.col(k) = gram.row(k).transpose();
    ++replaced;
  }
  return replaced;
}

}  // namespace

AtomUpdates::AtomUpdates(const TrainingRows& rows, Matrix& atoms, Codes& codes)
    : rows_(rows), atoms_(atoms), users_(static_cast<std::size_t>(atoms.rows())), residual_(rows.X) {
  for (Index n = 0; n < codes.cols(); ++n)
    for (Codes::InnerIterator entry(codes, n); entry; ++entry) {
      users_[static_cast<std::size_t>(entry.row())].push_back({n, &entry.valueRef()});
      residual_.row(n) -= entry.value() * atoms.row(entry.row());
    }
  if (rows.observed.size() > 0) residual_ = residual_.cwiseProduct(rows.observed);
}

void AtomUpdates::update(Index atom, AtomUpdate how) {
  if (users(atom) == 0) return;
  gather(atom);
  const int steps = how == AtomUpdate::exact ? kMostSteps : 1;
  if (rows_.observed.size() > 0)
    for (int i = 0; i < steps && masked_step(atom); ++i) {
    }
  else if (how == AtomUpdate::exact)
    best_rank_one(atom);
  else
    step(atom);
  take(atom);
}

/// E and z of the users.
void AtomUpdates::gather(Index atom) {
  const std::vector<User>& users = users_[static_cast<std::size_t>(atom)];
  const auto count = static_cast<Index>(users.size());
  left_.resize(count, atoms_.cols());
  coefficients_.resize(count);
  const bool masked = rows_.observed.size() > 0;
  if (masked) mask_.resize(count, atoms_.cols());
  for (Index i = 0; i < count; ++i) {
    const User& user = users[static_cast<std::size_t>(i)];
    coefficients_[i] = *user.coefficient;
    left_.row(i) = coefficients_[i] * atoms_.row(atom);
    if (masked) {
      mask_.row(i) = rows_.observed.row(user.point);
      left_.row(i) = left_.row(i).cwiseProduct(mask_.row(i));
    }
    left_.row(i) += residual_.row(user.point);
  }
}

/// Puts coefficients and residuals back.
void AtomUpdates::take(Index atom) {
  const std::vector<User>& users = users_[static_cast<std::size_t>(atom)];
  for (Index i = 0; i < left_.rows(); ++i) {
    const User& user = users[static_cast<std::size_t>(i)];
    *user.coefficient = coefficients_[i];
    auto left = left_.row(i);
    if (rows_.observed.size() > 0)
      left -= coefficients_[i] * atoms_.row(atom).cwiseProduct(mask_.row(i));
    else
      left -= coefficients_[i] * atoms_.row(atom);
    residual_.row(user.point) = left;
  }
}

/// The first singular pair of E, from the smaller of E'E and E E'.
void AtomUpdates::best_rank_one(Index atom) {
  const Index D = left_.cols(), count = left_.rows();
  // From what is there, so that the error cannot rise even where two singular values are as good as equal.
  const auto leading = [](const Matrix& products, const Vector& now) -> Vector {
    Index largest = 0;
    if (!(products.diagonal().maxCoeff(&largest) > 0)) return Vector::Zero(now.size());
    const Vector start = products * now;
    return leading_eigenvector(products, start.norm() > 0 ? start : Vector(products.col(largest)));
  };
  Vector direction;
  if (count < D) {
    Matrix products(count, count);
    product_with_transposed(left_, left_, products);
    direction = left_.transpose() * leading(products, coefficients_);
  } else {
    Matrix products = Matrix::Zero(D, D);
    add_product_transposed(left_, left_, products);
    direction = leading(products, atoms_.row(atom).transpose());
  }
  const double norm = direction.norm();
  if (!(norm > 0)) return;  // nothing is left for the atom to explain
  // The sign is as it was, so that atoms can be followed from iteration to iteration.
  direction /= atoms_.row(atom).dot(direction) < 0 ? -norm : norm;
  atoms_.row(atom) = direction.transpose();
  coefficients_ = left_ * direction;
}

void AtomUpdates::step(Index atom) {
  const Vector direction = left_.transpose() * coefficients_;
  const double norm = direction.norm();
  if (!(norm > 0)) return;
  atoms_.row(atom) = direction.transpose() / norm;
  coefficients_ = left_ * direction / norm;
}

/// Alternating least squares over the observed entries; whether another step would change anything.
bool AtomUpdates::masked_step(Index atom) {
  const Vector sums = left_.transpose() * coefficients_, weights = mask_.transpose() * coefficients_.cwiseAbs2();
  Vector direction = atoms_.row(atom).transpose();
  for (Index d = 0; d < direction.size(); ++d)
    if (weights[d] > 0) direction[d] = sums[d] / weights[d];  // else nobody has the entry, and it stays
  const double norm = direction.norm();
  if (!(norm > 0)) return false;
  direction /= norm;
  const Vector seen = mask_ * direction.cwiseAbs2(), fitted = left_ * direction;
  coefficients_ = (seen.array() > 0).select(fitted.cwiseQuotient(seen.cwiseMax(1e-300)), coefficients_ * norm);
  const double change = (direction - atoms_.row(atom).transpose()).norm();
  atoms_.row(atom) = direction.transpose();
  return change > kSettled;
}

void KsvdLearner::improve(Matrix& W, Coded& coded, int row, Rescues& rescues) {
  Matrix atoms = W.transpose();
  AtomUpdates updates(rows(), atoms, coded.codes);
  std::vector<Index> order(static_cast<std::size_t>(atoms.rows())), users(order.size());
  std::iota(order.begin(), order.end(), Index{0});
  Random random = random_of(row);
  std::shuffle(order.begin(), order.end(), random);
  Index done = 0;
  for (const Index atom : order) {
    if (done++ % kAtomsBetweenAsking == 0) ask_to_go_on();
    updates.update(atom, options().dictionary.atom_update);
    users[static_cast<std::size_t>(atom)] = updates.users(atom);
  }
  WorstExplained worst(rows().X, updates.squared_errors());
  rescues.replaced_atoms += replace_useless(atoms, users, worst);
  W = atoms.transpose();
}

}  // namespace gsc
