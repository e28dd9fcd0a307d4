#include "truncated/gap_m_step.h"

#include <algorithm>
#include <cmath>

#include "inference/statistics_shapes.h"
#include "learning/m_step_parts.h"
#include "math/blas.h"
#include "math/failure.h"
#include "math/numeric_scope.h"

namespace gsc {
namespace {

/// Rows of W whose sums are unpacked together: a cache line of missing_ZZ.
constexpr Index kRowsTogether = 8;

/// Those of rows first .. first + rows - 1, from missing_ZZ.
std::vector<RowSums> row_sums(const Statistics& statistics, const Vector& counts, Index first, Index rows) {
  const Index H = statistics.ZZ.rows();
  std::vector<RowSums> sums(static_cast<std::size_t>(rows));
  for (Index r = 0; r < rows; ++r)
    sums[static_cast<std::size_t>(r)] = {statistics.ZZ, statistics.m - statistics.missing_m.row(first + r).transpose(),
                                         counts[first + r]};
  for (Index i = 0; i < H; ++i)
    for (Index j = i; j < H; ++j) {
      const double* missing = statistics.missing_ZZ.row(pair_row(i, j, H)).data() + first;
      for (Index r = 0; r < rows; ++r) {
        Matrix& ZZ = sums[static_cast<std::size_t>(r)].ZZ;
        ZZ(i, j) -= missing[r];
        ZZ(j, i) = ZZ(i, j);
      }
    }
  return sums;
}

/// What is left of row d:  sum over the observed of E[(y - step - W_d s.z)^2]
double residual(double YY, double y, const Vector& YZ, const Vector& W, double step, const Vector& ZZ_W,
                const Vector& m, double N) {
  return YY - 2 * W.dot(YZ) + W.dot(ZZ_W) + step * (N * step - 2 * y + 2 * W.dot(m));
}

/// The best row of W, and step of the intercept if `with_step`.
Vector solved_row(const Vector& old, const Vector& YZ, double y, const RowSums& sums, const std::vector<Index>& used,
                  bool with_step, double& step) {
  Statistics row;
  row.count = sums.N;
  row.m = sums.m;
  row.ZZ = sums.ZZ;
  row.YZ = YZ.transpose();
  row.YY = Matrix::Zero(1, 1);
  row.y = Vector::Constant(1, y);
  const Statistics about_means = with_step ? centred(row) : Statistics();
  const Statistics& about = with_step ? about_means : row;
  std::vector<Index> varying;  // of latents that are hardly ever on where d is observed only rounding is left
  std::copy_if(used.begin(), used.end(), std::back_inserter(varying),
               [&](Index h) { return about.ZZ(h, h) > 1e-12 * sums.ZZ(h, h) && sums.ZZ(h, h) > 0; });
  const Vector W = updated_basis(old.transpose(), about, varying).row(0).transpose();
  step = with_step ? (y - W.dot(sums.m)) / sums.N : 0;
  return W;
}

void row_by_row(const Model& model, const Statistics& statistics, const std::vector<Index>& used,
                const MStepOptions& options, Model& next, Vector& residuals) {
  const bool with_step = model.intercept.size() > 0 && options.learn_intercept;
  for_each_row(statistics, options.threads, [&](Index d, const RowSums& of) {
    if (of.N <= kObserved * statistics.count) return;
    const Vector YZ = statistics.YZ.row(d).transpose();
    const double y = statistics.y.size() > 0 ? statistics.y[d] : 0;
    // Latents that are active only where d is missing keep their entry.
    std::vector<Index> seen;
    std::copy_if(used.begin(), used.end(), std::back_inserter(seen),
                 [&](Index h) { return of.ZZ(h, h) > kObserved * statistics.ZZ(h, h); });
    double step = 0;
    const Vector W = solved_row(model.W.row(d).transpose(), YZ, y, of, seen, with_step, step);
    next.W.row(d) = W.transpose();
    if (with_step) next.intercept[d] += step;
    residuals[d] = residual(statistics.YY(d, 0), y, YZ, W, step, of.ZZ * W, of.m, of.N);
  });
}

/// ZZ_d w_d in row d.
Matrix observed_products(const Model& model, const Statistics& statistics) {
  return product(model.W, statistics.ZZ) - statistics.missing_WZ;
}

void with_latent_values(const Model& model, const Statistics& statistics, const std::vector<Index>& used,
                        const MStepOptions& options, const Vector& counts, Model& next, Vector& residuals) {
  const Index D = model.dimensions();
  const bool with_step = model.intercept.size() > 0 && options.learn_intercept;
  // The noise given the old W, of which all sums are known; W given the new noise does not depend on it.
  const Matrix ZZ_W = observed_products(model, statistics);
  for (Index d = 0; d < D; ++d)
    residuals[d] = residual(statistics.YY(d, 0), 0, statistics.YZ.row(d).transpose(), model.W.row(d).transpose(), 0,
                            ZZ_W.row(d).transpose(), Vector::Zero(model.latents()), counts[d]);
  Statistics expected = statistics;
  expected.YZ += statistics.missing_WZ;
  if (with_step) expected.y += model.W.cwiseProduct(statistics.missing_m).rowwise().sum();
  const Statistics about_means = with_step ? centred(expected) : Statistics();
  const Statistics& sums = with_step ? about_means : expected;
  std::vector<Index> varying;
  std::copy_if(used.begin(), used.end(), std::back_inserter(varying),
               [&](Index h) { return sums.ZZ(h, h) > 1e-12 * statistics.ZZ(h, h); });
  const Matrix W = updated_basis(model.W, sums, varying);
  const Vector step = with_step ? Vector((expected.y - W * statistics.m) / statistics.count) : Vector();
  for (Index d = 0; d < D; ++d) {
    if (counts[d] <= kObserved * statistics.count) continue;
    const double stretch = 1 + options.gap_acceleration * (statistics.count / counts[d] - 1);
    next.W.row(d) += stretch * (W.row(d) - model.W.row(d));
    if (with_step) next.intercept[d] += stretch * step[d];
  }
}

}  // namespace

void for_each_row(const Statistics& statistics, int threads, const std::function<void(Index, const RowSums&)>& row) {
  const Index D = statistics.YZ.rows(), groups = (D + kRowsTogether - 1) / kRowsTogether;
  const Vector counts = observed_counts(statistics);
  Failure failure;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (Index group = 0; group < groups; ++group)
    failure.guard([&] {
      const FloatingPointScope scope;
      const Index first = group * kRowsTogether, rows = std::min(kRowsTogether, D - first);
      const std::vector<RowSums> sums = row_sums(statistics, counts, first, rows);
      for (Index r = 0; r < rows; ++r) row(first + r, sums[static_cast<std::size_t>(r)]);
    });
  failure.rethrow();
}

Noise noise_with_gaps(const Noise& old, const Vector& residuals, const Vector& counts, Index fitted,
                      const Statistics& statistics, Rescues& rescues) {
  const double floor = std::max(1e-12 * statistics.YY.sum() / counts.sum(), 1e-300);
  const auto held = [&](double variance) {
    if (variance >= floor) return variance;
    ++rescues.floored_noise;
    return floor;
  };
  if (old.type() == NoiseType::scalar) return Noise::scalar(held(residuals.sum() / counts.sum()), old.dimensions());
  Vector variances = old.values().col(0);
  const auto determined = (counts.array() > std::max(static_cast<double>(fitted), kObserved * statistics.count)).eval();
  double sum = 0;
  for (Index d = 0; d < variances.size(); ++d)
    if (determined[d]) sum += variances[d] = held(residuals[d] / counts[d]);
  const double others =
      determined.any() ? sum / static_cast<double>(determined.count()) : held(residuals.sum() / counts.sum());
  for (Index d = 0; d < variances.size(); ++d)
    if (!determined[d] && counts[d] > kObserved * statistics.count) variances[d] = others;
  return Noise::diagonal(variances);
}

// lambda = max v'Bv / v'Rv by the power method on L^-1 B L^-T with R = L L', which comes from below; so does the
// largest of a single latent, and rare ones are what matters. lambda <= 1, as R holds B.
double longest_step(const Matrix& share, const Matrix& running) {
  constexpr double kAlways = 1.5;
  constexpr int kIterations = 10;
  const Vector diagonal = running.diagonal().cwiseMax(1e-300);
  const Vector ratios = share.diagonal().cwiseQuotient(diagonal), scale = diagonal.cwiseSqrt().cwiseInverse();
  Matrix R = scale.asDiagonal() * running * scale.asDiagonal();
  R.diagonal().array() += 1e-9;
  const Eigen::LLT<Matrix> factors(R);
  double lambda = ratios.maxCoeff();
  if (factors.info() != Eigen::Success) return kAlways;
  Vector v = ratios.array() + 1e-3;
  for (int i = 0; i < kIterations && v.norm() > 0; ++i) {
    v /= v.norm();
    const Vector u = scale.cwiseProduct(factors.matrixU().solve(v));
    v = factors.matrixL().solve(scale.cwiseProduct(share * u));
    lambda = std::max(lambda, v.norm());
  }
  return std::max(kAlways, 1 / lambda);
}

Statistics completed(const Model& model, const Statistics& statistics, double longest) {
  const Index D = model.dimensions();
  const Vector counts = observed_counts(statistics);
  const Matrix WZZ = product(model.W, statistics.ZZ), ZZ_W = observed_products(model, statistics);
  const Vector none = Vector::Zero(model.latents());
  const Vector variances = model.noise.type() == NoiseType::scalar ? Vector::Constant(D, model.noise.values()(0, 0))
                                                                   : Vector(model.noise.values().col(0));
  Statistics result = statistics;
  result.missing.resize(0);
  result.missing_m.resize(0, 0);
  result.missing_WZ.resize(0, 0);
  for (Index d = 0; d < D; ++d) {
    const double N = statistics.count, N_d = counts[d];
    if (N_d == N) continue;
    const double a = N_d > 0 ? std::min(N / N_d, longest) : 0;
    const Vector w = model.W.row(d).transpose(), G = (statistics.YZ.row(d) - ZZ_W.row(d)).transpose();
    const double left =
        residual(statistics.YY(d, 0), 0, statistics.YZ.row(d).transpose(), w, 0, ZZ_W.row(d).transpose(), none, N_d);
    result.YZ.row(d) = WZZ.row(d) + a * G.transpose();
    result.YY(d, 0) = WZZ.row(d).dot(w) + 2 * a * w.dot(G) + a * left + (N - a * N_d) * variances[d];
    if (statistics.y.size() > 0) {
      const double seen = w.dot(statistics.m - statistics.missing_m.row(d).transpose());
      result.y[d] = w.dot(statistics.m) + a * (statistics.y[d] - seen);
    }
  }
  return result;
}

void update_with_gaps(const Model& model, const Statistics& statistics, const std::vector<Index>& used,
                      const MStepOptions& options, Model& next, Rescues& rescues) {
  const Vector counts = observed_counts(statistics);
  if (!(counts.sum() > kObserved * statistics.count)) return;  // nothing was observed
  Vector residuals = Vector::Zero(model.dimensions());
  if (statistics.missing_ZZ.size() > 0)
    row_by_row(model, statistics, used, options, next, residuals);
  else
    with_latent_values(model, statistics, used, options, counts, next, residuals);
  const Index fitted = model.latents() + (model.intercept.size() > 0 && options.learn_intercept ? 1 : 0);
  next.noise = noise_with_gaps(model.noise, residuals, counts, fitted, statistics, rescues);
}

}  // namespace gsc
