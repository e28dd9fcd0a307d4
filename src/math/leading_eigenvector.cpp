#include "math/leading_eigenvector.h"

#include <algorithm>

#include "math/eigen_pairs.h"

namespace gsc {

// Lanczos: an orthonormal basis Q of start, A start, A^2 start, ... in which A is tridiagonal; the leading eigenvector
// of Q'AQ, in that basis, is the best start for the next round. Every vector is made orthogonal to all before it,
// twice, which rounding would otherwise undo.
Vector leading_eigenvector(const Matrix& A, const Vector& start) {
  constexpr Index kBasis = 12;
  constexpr int kRestarts = 60;
  constexpr double kSettled = 1e-9;
  const Index D = A.rows(), size = std::min(kBasis, D);
  Vector best = start / start.norm();
  Matrix Q(size, D), projected(size, size);  // vectors are rows
  for (int restart = 0; restart < kRestarts; ++restart) {
    projected.setZero();
    Q.row(0) = best.transpose();
    Index count = 0;
    double value = 0;
    while (true) {
      Vector next = A * Q.row(count).transpose();
      const double scale = next.norm();
      const double diagonal = Q.row(count).dot(next);
      projected(count, count) = diagonal;
      if (count == 0) value = diagonal;
      for (int twice = 0; twice < 2; ++twice) {
        const Vector overlap = Q.topRows(count + 1) * next;
        next -= Q.topRows(count + 1).transpose() * overlap;
      }
      const double norm = next.norm();
      if (count == 0 && norm <= kSettled * value) return best;
      ++count;
      if (count == size || norm <= 1e-14 * scale) break;
      projected(count, count - 1) = projected(count - 1, count) = norm;
      Q.row(count) = next.transpose() / norm;
    }
    const EigenPairs pairs = eigen_pairs(projected.topLeftCorner(count, count));
    best = Q.topRows(count).transpose() * pairs.vectors.col(count - 1);
    best /= best.norm();
  }
  return best;
}

}  // namespace gsc
