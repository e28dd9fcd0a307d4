#include "tasks/separate/fastica.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "math/blas.h"
#include "math/eigen_pairs.h"
#include "math/failure.h"
#include "math/number_text.h"
#include "math/numeric_scope.h"
#include "tasks/separate/fastica_kernel.h"

namespace gsc {
namespace {

/// E[g(y) x'] and E[g'(y)] of the directions that are the rows of W.
struct Expectations {
  Matrix gx;
  Vector slope;
};

/// Samples are taken in blocks that stay in the cache, and blocks in parts, whose sums are joined in their order. Less
/// than a part is not worth a thread.
constexpr Index kBlock = 1024, kFewestBlocks = 16, kMostParts = 64;
static_assert(kBlock % kNonlinearityWidth == 0);

void add_part(const Matrix& white, Index first, Index last, const Matrix& W, Nonlinearity nonlinearity,
              Expectations& sums) {
  sums.gx = Matrix::Zero(W.rows(), white.rows());
  sums.slope = Vector::Zero(W.rows());
  Matrix y(W.rows(), kBlock), product(W.rows(), white.rows());
  for (Index n = first; n < last; n += kBlock) {
    const Index count = std::min(kBlock, last - n);
    y.setZero();
    const auto block = white.middleCols(n, count);
    add_product(1, W, block, y.leftCols(count));
    for (Index h = 0; h < W.rows(); ++h) sums.slope[h] += apply_nonlinearity(nonlinearity, y.row(h).data(), count);
    product_with_transposed(y.leftCols(count), block, product);
    sums.gx += product;
  }
}

Expectations expectations(const Matrix& white, const Matrix& W, Nonlinearity nonlinearity, int threads) {
  const Index samples = white.cols(), blocks = (samples + kBlock - 1) / kBlock;
  const Index part = std::max(kFewestBlocks, (blocks + kMostParts - 1) / kMostParts) * kBlock;
  std::vector<Expectations> sums(static_cast<std::size_t>((samples + part - 1) / part));
  const int team = std::min(threads, static_cast<int>(sums.size()));
  Failure failure;
#pragma omp parallel for schedule(dynamic, 1) num_threads(team)
  for (std::size_t i = 0; i < sums.size(); ++i)
    failure.guard([&] {
      const FloatingPointScope scope;
      const Index first = static_cast<Index>(i) * part;
      add_part(white, first, std::min(first + part, samples), W, nonlinearity, sums[i]);
    });
  failure.rethrow();
  Expectations mean = std::move(sums[0]);
  for (std::size_t i = 1; i < sums.size(); ++i) {
    mean.gx += sums[i].gx;
    mean.slope += sums[i].slope;
  }
  mean.gx /= static_cast<double>(samples);
  mean.slope /= static_cast<double>(samples);
  return mean;
}

/// Row by row E[x g(w'x)] - E[g'(w'x)] w.
Matrix newton_step(const Matrix& white, const Matrix& W, Nonlinearity nonlinearity, int threads) {
  const Expectations mean = expectations(white, W, nonlinearity, threads);
  return mean.gx - mean.slope.asDiagonal() * W;
}

/// How far the rows have turned: the largest 1 - |cosine|. A row that only changed its sign is the same direction.
double turn(const Matrix& now, const Matrix& before) {
  return (1 - now.cwiseProduct(before).rowwise().sum().array().abs()).abs().maxCoeff();
}

void ask(const std::function<bool()>& stop) {
  if (stop && stop()) throw Interrupted("interrupted while looking for independent directions");
}

FasticaDirections symmetric(const Matrix& white, const Matrix& start, const FasticaOptions& options, int threads,
                            const std::function<bool()>& stop) {
  FasticaDirections found{nearest_orthogonal(start), {}};
  FasticaRun& run = found.run;
  while (run.iterations < options.iterations && !run.converged) {
    ask(stop);
    const Matrix next = nearest_orthogonal(newton_step(white, found.W, options.nonlinearity, threads));
    run.change = turn(next, found.W);
    run.converged = run.change < options.tolerance;
    ++run.iterations;
    found.W = next;
  }
  return found;
}

/// w without its parts along the rows of `others`, and of unit norm. Done twice, as rounding leaves something of them
/// where little is left of w.
void make_orthogonal(Matrix& w, const Matrix& others) {
  for (int pass = 0; pass < 2; ++pass) {
    w -= w * others.transpose() * others;
    w /= w.norm();
  }
}

/// One direction after the other; each stays orthogonal to those before it. What was found first has no errors of the
/// later ones in it, and they have its.
FasticaDirections deflation(const Matrix& white, const Matrix& start, const FasticaOptions& options, int threads,
                            const std::function<bool()>& stop) {
  FasticaDirections found{Matrix(start.rows(), start.cols()), {0, true, 0}};
  for (Index h = 0; h < start.rows(); ++h) {
    const Matrix others = found.W.topRows(h);
    Matrix w = start.row(h).normalized();
    FasticaRun run;
    while (run.iterations < options.iterations && !run.converged) {
      ask(stop);
      Matrix next = newton_step(white, w, options.nonlinearity, threads);
      make_orthogonal(next, others);
      run.change = turn(next, w);
      run.converged = run.change < options.tolerance;
      ++run.iterations;
      w = next;
    }
    found.W.row(h) = w;
    found.run.iterations = std::max(found.run.iterations, run.iterations);
    found.run.converged = found.run.converged && run.converged;
    found.run.change = std::max(found.run.change, run.change);
  }
  return found;
}

}  // namespace

Matrix nearest_orthogonal(const Matrix& W) {
  const auto [values, vectors] = eigen_pairs(W * W.transpose());
  if (!(values[0] > 1e-14 * values[values.size() - 1]))
    throw Error(
        "FastICA: two directions have become the same; try another seed, another nonlinearity, or fewer latents");
  const Matrix near = vectors * values.cwiseSqrt().cwiseInverse().asDiagonal() * vectors.transpose() * W;
  // Where lengths differ much, rounding has left an angle; a step of Newton's iteration to the same matrix takes it
  // out.
  return 1.5 * near - 0.5 * near * (near.transpose() * near);
}

FasticaDirections fastica(const Matrix& white, const Matrix& start, const FasticaOptions& options, int threads,
                          const std::function<bool()>& stop) {
  return options.decorrelation == Decorrelation::symmetric ? symmetric(white, start, options, threads, stop)
                                                           : deflation(white, start, options, threads, stop);
}

}  // namespace gsc
