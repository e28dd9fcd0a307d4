#include "dictionary/online_dictionary.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "math/blas.h"

namespace gsc {
namespace {

/// Of the mean of A_jj: an atom whose own is less does nothing.
constexpr double kDead = 1e-6;
constexpr double kCopy = 0.99;

}  // namespace

double online_decay(double t, Index batch) {
  const auto eta = static_cast<double>(batch);
  const double theta = t < eta ? t * eta : eta * eta + t - eta;
  return (theta + 1 - eta) / (theta + 1);
}

OnlineDictionary::OnlineDictionary(Matrix atoms)
    : atoms_(std::move(atoms)),
      A_(Matrix::Zero(atoms_.rows(), atoms_.rows())),
      B_(Matrix::Zero(atoms_.rows(), atoms_.cols())) {}

void OnlineDictionary::add(const Matrix& points, const Eigen::SparseMatrix<double>& codes, double decay) {
  assert(points.rows() == codes.cols() && codes.rows() == atoms_.rows());
  A_ *= decay;
  B_ *= decay;
  const double share = 1 / static_cast<double>(points.rows());
  using Entry = Eigen::SparseMatrix<double>::InnerIterator;
  for (Index n = 0; n < codes.cols(); ++n)
    for (Entry one(codes, n); one; ++one) {
      const double weight = share * one.value();
      B_.row(one.row()) += weight * points.row(n);
      for (Entry other(codes, n); other; ++other) A_(one.row(), other.row()) += weight * other.value();
    }
}

void OnlineDictionary::update() {
  Eigen::RowVectorXd image(atoms_.cols());
  for (Index j = 0; j < atoms_.rows(); ++j) {
    if (A_(j, j) <= 0) continue;
    weighted_rows(atoms_.rows(), atoms_, A_.row(j).data(), image.data());
    auto atom = atoms_.row(j);
    atom += (B_.row(j) - image) / A_(j, j);
    const double length = atom.norm();
    if (length > 1) atom /= length;
  }
}

double OnlineDictionary::surrogate() const {
  const Matrix image = product(A_, atoms_);
  return image.cwiseProduct(atoms_).sum() / 2 - B_.cwiseProduct(atoms_).sum();
}

std::vector<Index> OnlineDictionary::useless() const {
  const Index H = atoms_.rows();
  const double dead = kDead * A_.diagonal().mean();
  Matrix gram(H, H);
  product_with_transposed(atoms_, atoms_, gram);
  const Vector lengths = gram.diagonal().cwiseSqrt();
  std::vector<Index> found;
  for (Index j = 0; j < H; ++j) {
    bool bad = A_(j, j) <= dead || lengths[j] == 0;
    for (Index i = 0; i < H && !bad; ++i) {
      const bool more_used = A_(i, i) > A_(j, j) || (A_(i, i) == A_(j, j) && i < j);
      bad = i != j && more_used && std::abs(gram(i, j)) > kCopy * lengths[i] * lengths[j];
    }
    if (bad) found.push_back(j);
  }
  return found;
}

bool OnlineDictionary::replace(Index atom, const Eigen::Ref<const Eigen::RowVectorXd>& point) {
  const double length = point.norm();
  if (!(length > 0)) return false;
  const Vector products = atoms_ * point.transpose();
  for (Index j = 0; j < atoms_.rows(); ++j)
    if (j != atom && std::abs(products[j]) > kCopy * length * atoms_.row(j).norm()) return false;
  atoms_.row(atom) = point / length;
  A_.row(atom).setZero();
  A_.col(atom).setZero();
  B_.row(atom).setZero();
  return true;
}

void OnlineDictionary::restore(Matrix A, Matrix B) {
  assert(A.rows() == A_.rows() && A.cols() == A_.cols() && B.rows() == B_.rows() && B.cols() == B_.cols());
  A_ = std::move(A);
  B_ = std::move(B);
}

}  // namespace gsc
