#include "beta_process/gibbs.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <optional>

#include "beta_process/gibbs_code_kernel.h"
#include "data/finite.h"
#include "math/blas.h"
#include "math/failure.h"
#include "math/numeric_scope.h"

namespace gsc {
namespace {

/// What a stream of random numbers is for; with seed, chain and sweep it is their name.
enum Purpose : std::uint64_t { kCodes, kBasis, kScalars };

/// W' = L^-1 (g_e ay) + L^-1/2 N(0, I) with L = D I + g_e aa (its upper triangle is read), a column per entry of `ay`.
Matrix draw_rows(const Matrix& aa, const Matrix& ay, double dimensions, double noise_precision, CounterRandom& random) {
  Matrix L = noise_precision * aa;
  L.diagonal().array() += dimensions;
  const Eigen::LLT<Matrix, Eigen::Upper> factor(L);  // L = U'U
  Matrix columns = noise_precision * ay;
  factor.matrixL().solveInPlace(columns);
  for (Index i = 0; i < columns.size(); ++i) columns.data()[i] += random.normal();
  factor.matrixU().solveInPlace(columns);
  return columns;
}

/// sum |y - W a|^2, from yy = sum |y|^2; `rows` is W'.
double residual_of(double yy, const Matrix& aa, const Matrix& ay, const Matrix& rows) {
  const Matrix fit = aa.selfadjointView<Eigen::Upper>() * rows;
  return std::max(0.0, yy - 2 * rows.cwiseProduct(ay).sum() + rows.cwiseProduct(fit).sum());
}

/// Sums are gathered in so many groups of chunks, whoever works on them, and then added up in order: the same bits on
/// any number of threads. As many as keep most machines busy, unless they would take more than 256 MB.
Index group_count(const SparseCodes& codes, Index dimensions) {
  const double bytes = 8.0 * static_cast<double>(codes.latents()) * static_cast<double>(codes.latents() + dimensions);
  return std::min(codes.chunks(), static_cast<Index>(std::clamp(256e6 / bytes, 4.0, 32.0)));
}

}  // namespace

/// One thread's buffers.
struct GibbsChain::Worker {
  static constexpr Index kRows = 128;  // of a matrix product
  Worker(const CodeModel& model, bool missing)
      : sampler(model),
        y(kRows, model.dimensions),
        observed(missing ? kRows : 0, model.dimensions),
        correlations(kRows, model.latents),
        code(Vector::Zero(model.latents)) {}

  CodeSampler sampler;
  Matrix y, observed, correlations;
  Vector code;  // zero between data points
};

GibbsChain::GibbsChain(const Data& data, const GibbsSettings& settings, BetaProcessParameters start)
    : data_(data),
      settings_(settings),
      theta_(std::move(start)),
      codes_(theta_.W.cols(), data.rows()),
      sums_(theta_.W.rows(), theta_.W.cols()),
      parts_(static_cast<std::size_t>(group_count(codes_, theta_.W.rows())), sums_) {
  if (!settings.missing) return;
  values_.resize(data.cols(), data.rows());
  Matrix block;
  for (Index c = 0; c < codes_.chunks(); ++c) {
    block.resize(codes_.rows(c), data.cols());
    data.read(codes_.first(c), block);
    require_not_infinite(data, codes_.first(c), block);
    values_.middleCols(codes_.first(c), block.rows()) = block.transpose();
  }
}

void GibbsChain::sweep(int sweep) {
  draw_codes(sweep);
  draw_basis(sweep);
  draw_scalars(sweep);
}

void GibbsChain::draw_codes(int sweep) {
  const CodeModel model(theta_.W, theta_.logit_pi, Vector::Constant(theta_.W.cols(), theta_.slab_precision),
                        theta_.noise_precision);
  const auto groups = static_cast<Index>(parts_.size());
  Failure failure;
#pragma omp parallel num_threads(settings_.threads)
  {
    const FloatingPointScope scope;
    std::optional<Worker> worker;
    failure.guard([&] { worker.emplace(model, settings_.missing); });
#pragma omp for schedule(dynamic, 1)
    for (Index group = 0; group < groups; ++group)
      failure.guard([&] {
        BetaProcessSums& sums = parts_[static_cast<std::size_t>(group)];
        sums.clear();
        for (Index c = codes_.chunks() * group / groups; c < codes_.chunks() * (group + 1) / groups; ++c)
          draw_chunk(c, sweep, model, *worker, sums);
      });
  }
  failure.rethrow();
  sums_.clear();
  for (const BetaProcessSums& part : parts_) sums_ += part;
  residual_ = settings_.missing ? sums_.yy : residual_of(sums_.yy, sums_.aa, sums_.ay, model.Wt);
}

void GibbsChain::draw_chunk(Index c, int sweep, const CodeModel& model, Worker& worker, BetaProcessSums& sums) {
  const Index D = model.dimensions;
  SparseCodes::Chunk next;
  for (Index begin = 0; begin < codes_.rows(c); begin += Worker::kRows) {
    const Index rows = std::min(Worker::kRows, codes_.rows(c) - begin), first = codes_.first(c) + begin;
    if (settings_.missing) {
      worker.y.topRows(rows) = values_.middleCols(first, rows).transpose();
      worker.observed.topRows(rows) = worker.y.topRows(rows).array().isNaN().select(0.0, Matrix::Ones(rows, D));
    } else {
      data_.read(first, worker.y.topRows(rows));
      require_finite(data_, first, worker.y.topRows(rows));
    }
    if (theta_.intercept.size() > 0) worker.y.topRows(rows).rowwise() -= theta_.intercept.transpose();
    if (settings_.missing) {
      worker.y.topRows(rows) = (worker.observed.topRows(rows).array() > 0).select(worker.y.topRows(rows), 0.0);
      product(rows, worker.observed, model.squares, worker.correlations);  // sum over the observed d of W_dh^2
    } else {
      product(rows, worker.y, model.W, worker.correlations);
    }
    for (Index row = 0; row < rows; ++row) {
      double* y = &worker.y(row, 0);
      double* correlations = &worker.correlations(row, 0);
      codes_.visit(c, begin + row, [&](Index h, double value) {
        worker.code[h] = value;
        if (!settings_.missing) worker.sampler.take_out(h, value, correlations);
      });
      CounterRandom random{settings_.seed, settings_.chain, static_cast<std::uint64_t>(sweep), kCodes,
                           static_cast<std::uint64_t>(first + row)};
      if (settings_.missing) {
        worker.sampler.sweep_masked(&worker.observed(row, 0), correlations, y, worker.code.data(), random);
        sums.values += worker.observed.row(row).sum();
      } else {
        worker.sampler.sweep(correlations, worker.code.data(), random, true);
        sums.values += static_cast<double>(D);
        subtract(static_cast<std::size_t>(D), -1, y, sums.y.data());
      }
      sums.yy += dot(static_cast<std::size_t>(D), y, y);  // where values are missing, what is left of y
      const std::vector<Index>& on = worker.sampler.on();
      for (std::size_t i = 0; i < on.size(); ++i) {
        const Index h = on[i];
        const double a = worker.code[h];
        SparseCodes::append(next, h, a);
        sums.active[h] += 1;
        sums.a[h] += a;
        sums.a_squared += a * a;
        if (settings_.missing) continue;
        for (std::size_t j = i; j < on.size(); ++j) sums.aa(h, on[j]) += a * worker.code[on[j]];
        subtract(static_cast<std::size_t>(D), -a, y, &sums.ay(h, 0));
      }
      next.ends.push_back(static_cast<std::uint32_t>(next.latents.size()));
      for (const Index h : on) worker.code[h] = 0;
      sums.points += 1;
    }
  }
  codes_.chunk(c) = std::move(next);
}

void GibbsChain::draw_basis(int sweep) {
  if (settings_.missing)
    draw_own_rows(sweep);
  else
    draw_shared_rows(sweep);
}

void GibbsChain::draw_shared_rows(int sweep) {
  const auto D = static_cast<double>(theta_.W.rows());
  CounterRandom random{settings_.seed, settings_.chain, static_cast<std::uint64_t>(sweep), kBasis};
  const Matrix rows = draw_rows(sums_.aa, sums_.ay, D, theta_.noise_precision, random);
  theta_.W = rows.transpose();
  if (settings_.learn_intercept) {
    const double N = sums_.points;
    Vector step = (sums_.y - theta_.W * sums_.a) / N;
    for (double& value : step) value += random.normal() / std::sqrt(theta_.noise_precision * N);
    theta_.intercept += step;
    sums_.yy += N * step.squaredNorm() - 2 * step.dot(sums_.y);
    sums_.y -= N * step;
    sums_.ay -= sums_.a * step.transpose();
  }
  residual_ = residual_of(sums_.yy, sums_.aa, sums_.ay, rows);
}

/// The same, row by row of W, each with the sums over the data points that have its entry.
void GibbsChain::draw_own_rows(int sweep) {
  const Index D = theta_.W.rows(), H = theta_.W.cols();
  Vector residuals(D);
  Failure failure;
#pragma omp parallel num_threads(settings_.threads)
  {
    const FloatingPointScope scope;
    Matrix aa, ay;
    Vector a;
    const auto draw_row = [&](Index d) {
      aa.setZero(H, H);
      ay.setZero(H, 1);
      a.setZero(H);
      double N = 0, sum = 0, yy = 0;
      const double intercept = theta_.intercept.size() > 0 ? theta_.intercept[d] : 0;
      for (Index c = 0; c < codes_.chunks(); ++c) {
        const SparseCodes::Chunk& chunk = codes_.chunk(c);
        for (Index row = 0; row < codes_.rows(c); ++row) {
          const double y = values_(d, codes_.first(c) + row) - intercept;
          if (std::isnan(y)) continue;
          const std::uint32_t end = chunk.ends[static_cast<std::size_t>(row)];
          for (std::uint32_t i = row == 0 ? 0 : chunk.ends[static_cast<std::size_t>(row) - 1]; i < end; ++i) {
            const Index h = chunk.latents[i];
            const double value = chunk.values[i];
            for (std::uint32_t j = i; j < end; ++j) aa(h, chunk.latents[j]) += value * chunk.values[j];
            ay(h, 0) += value * y;
            a[h] += value;
          }
          N += 1;
          sum += y;
          yy += y * y;
        }
      }
      CounterRandom random{settings_.seed, settings_.chain, static_cast<std::uint64_t>(sweep), kBasis,
                           static_cast<std::uint64_t>(d)};
      const Matrix row = draw_rows(aa, ay, static_cast<double>(D), theta_.noise_precision, random);
      theta_.W.row(d) = row.transpose();
      if (settings_.learn_intercept && N > 0) {
        const double step = (sum - a.dot(row.col(0))) / N + random.normal() / std::sqrt(theta_.noise_precision * N);
        theta_.intercept[d] += step;
        yy += N * step * step - 2 * step * sum;
        ay -= step * a;
      }
      residuals[d] = residual_of(yy, aa, ay, row);
    };
#pragma omp for schedule(dynamic, 1)
    for (Index d = 0; d < D; ++d) failure.guard([&] { draw_row(d); });
  }
  failure.rethrow();
  residual_ = residuals.sum();
}

void GibbsChain::draw_scalars(int sweep) {
  const BetaProcessPriors& priors = settings_.priors;
  CounterRandom random{settings_.seed, settings_.chain, static_cast<std::uint64_t>(sweep), kScalars};
  for (Index h = 0; h < theta_.logit_pi.size(); ++h)
    theta_.logit_pi[h] =
        random.logit_beta(priors.alpha + sums_.active[h], priors.beta + sums_.points - sums_.active[h]);
  const auto draw_precision = [&](double shape, double rate) { return std::exp(random.log_gamma(shape)) / rate; };
  // Without any latent on it has its prior, which is next to improper: then it stays, which leaves that prior as it is.
  if (sums_.active.sum() > 0)
    theta_.slab_precision =
        draw_precision(priors.slab_shape + 0.5 * sums_.active.sum(), priors.slab_rate + 0.5 * sums_.a_squared);
  theta_.noise_precision = draw_precision(priors.noise_shape + 0.5 * sums_.values, priors.noise_rate + 0.5 * residual_);
}

}  // namespace gsc
