// Factored inference: coordinate ascent on a posterior in which latents are independent given the data. Formulas in
// factored_model.h.

#include "factored/engine.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "data/row_list.h"
#include "factored/missing_sums.h"
#include "inference/checks.h"
#include "inference/parallel_blocks.h"
#include "inference/statistics_shapes.h"
#include "math/numeric_scope.h"

namespace gsc {
namespace {

/// What one thread gathers, in the sweep's order of the latents.
struct FactoredSums {
  explicit FactoredSums(const FactoredModel& model)
      : gamma(Vector::Zero(model.latents)),
        second(gamma),
        x(gamma),
        XY(Matrix::Zero(model.latents, model.dimensions)),
        XX(Matrix::Zero(model.latents, model.latents)),
        YY(Vector::Zero(model.dimensions)),
        y(Vector::Zero(model.intercept.size())) {}

  void add(FactoredBlock& block) {
    if (block.complete() > 0) {
      gamma += block.sum_gamma();
      second += block.sum_second();
      local += block.sum_local();
      add_codes(block.x(), block.Y());
    }
    if (FactoredGaps* gaps = block.gaps()) {
      gamma += gaps->gamma().rowwise().sum();
      second += gaps->second().rowwise().sum();
      local += gaps->sum_local() + gaps->surplus();
      add_codes(gaps->x(), block.gap_Y());
    }
  }

  Vector gamma, second, x;
  Matrix XY, XX;  // XX: upper triangle
  Vector YY, y;
  double local = 0;  // with what the bounds of points with gaps are more than the other sums tell

 private:
  void add_codes(LatentRows::Map codes, const ConstMatrixBlock& Y) {
    x += codes.rowwise().sum();
    add_product(1, codes, Y, XY);
    add_square(codes, XX);
    YY += Y.colwise().squaredNorm().transpose();
    if (y.size() > 0) y += Y.colwise().sum().transpose();
  }
};

Statistics in_model_order(const Model& model, const FactoredModel& factored, const FactoredSums& sums) {
  Statistics statistics(model);
  const auto& order = factored.order;
  statistics.s(order) = sums.gamma;
  statistics.m(order) = sums.x;
  statistics.YZ(Eigen::all, order) = sums.XY.transpose();
  const Matrix XX = sums.XX.selfadjointView<Eigen::Upper>();
  Matrix ZZ = XX;
  ZZ.diagonal() = sums.second;
  statistics.ZZ(order, order) = ZZ;
  statistics.YY = sums.YY;
  statistics.y = sums.y;
  statistics.free_energy = sums.local + factored.projection.cwiseProduct(sums.XY).sum() -
                           0.5 * factored.gram.cwiseProduct(XX).sum() - 0.5 * model.noise.solve(sums.YY).sum();
  return statistics;
}

BlockPlan plan_blocks(const FactoredModel& model, Index first, Index count, int threads) {
  // 2 ns an update, 0.05 ns a multiply-add of the matrix products.
  const double work =
      static_cast<double>(model.latents) * (2 + 0.1 * static_cast<double>(model.dimensions + model.latents));
  return {first, count, model.latents + model.dimensions, work, thread_count(threads)};
}

/// W is learned from sums that this method has no smaller form of.
void require_row_products(const FactoredModel& model, const InferenceOptions& options) {
  if (has_row_products(model.dimensions, model.latents, options)) return;
  throw UsageError("gap_memory is " + std::to_string(options.gap_memory) + " (MB), but with values missing of " +
                   std::to_string(model.dimensions) + " dimensions and " + std::to_string(model.latents) +
                   " latents the factored method needs " +
                   std::to_string(row_products_megabytes(model.dimensions, model.latents, options.method)) +
                   "; raise it, or use the truncated method, which can do with less");
}

/// <s.z> of a block that was swept, as columns from `first` on, with latents in the order of the model.
void keep_codes(const FactoredModel& factored, FactoredBlock& block, Index first, Matrix& codes) {
  FactoredGaps* gaps = block.gaps();
  for (Index i = 0; i < factored.latents; ++i) {
    auto row = codes.row(factored.order[static_cast<std::size_t>(i)]);
    if (gaps == nullptr) {
      row.segment(first, block.complete()) = block.x().row(i);
      continue;
    }
    for (Index n = 0; n < block.complete(); ++n) row[first + block.origin(n)] = block.x()(i, n);
    for (Index n = 0; n < gaps->count(); ++n) row[first + block.origin(block.complete() + n)] = gaps->x()(i, n);
  }
}

std::vector<Index> fixed_order(Index latents) {
  std::vector<Index> order(static_cast<std::size_t>(latents));
  std::iota(order.begin(), order.end(), Index{0});
  return order;
}

}  // namespace

bool FactoredEngine::with_gaps() const { return options_.missing == Missing::nan; }

const FactoredModel& FactoredEngine::prepared(const Model& model) {
  return prepared_.of(model, [&] { return FactoredModel(model, fixed_order(model.latents()), with_gaps()); });
}

/// One sweep from `codes` into `next`, or sweeps to the end if there is no `next`.
Statistics FactoredEngine::gather(const Model& model, const FactoredModel& factored, const Data& data,
                                  const Matrix& codes, Matrix* next, const StopRequest& stop) const {
  Statistics total(model);
  if (with_gaps()) {
    require_row_products(factored, options_);
    InferenceOptions options = options_;
    options.mean_products = false;
    add_optional_shapes(total, model, options);
    add_missing_products(total, options);
  }
  if (data.rows() == 0) return total;
  const BlockPlan plan = plan_blocks(factored, 0, data.rows(), options_.threads);
  struct Thread {
    FactoredBlock block;
    FactoredSums sums;
  };
  std::vector<std::optional<Thread>> threads(static_cast<std::size_t>(plan.threads));
  FactoredMissingSums missing(factored, plan.threads);
  const auto add_block = [&](int thread, Index first, Index rows) {
    auto& mine = threads[static_cast<std::size_t>(thread)];
    if (!mine) mine.emplace(Thread{FactoredBlock(factored, plan.block_rows, next == nullptr), FactoredSums(factored)});
    mine->block.load(data, first, rows, codes);
    if (next != nullptr) {
      mine->block.sweep();
      keep_codes(factored, mine->block, first, *next);
    } else {
      mine->block.converge();
    }
    mine->sums.add(mine->block);
    if (FactoredGaps* gaps = mine->block.gaps()) missing.gather(thread, *gaps);
  };
  const Index together = with_gaps() ? FactoredMissingSums::kGathered : data.rows();
  for (Index first = 0; first < data.rows(); first += together) {
    BlockPlan part = plan;
    part.first = first;
    part.count = std::min(together, data.rows() - first);
    parallel_blocks(part, stop, add_block);
    if (with_gaps()) missing.add_up(plan.threads, total);
  }
  for (const auto& thread : threads)
    if (thread) total += in_model_order(model, factored, thread->sums);
  total.count = static_cast<double>(data.rows());
  total.free_energy += total.count * factored.constant;
  return total;
}

Statistics FactoredEngine::sweep(const Model& model, const std::vector<Index>& order, const Matrix& codes,
                                 Matrix& next) {
  std::vector<Index> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != fixed_order(model.latents()))
    throw UsageError("the order of a sweep must name each of the " + std::to_string(model.latents()) + " latents once");
  const NumericScope scope;
  return sweep(model, FactoredModel(model, order, with_gaps()), codes, next);
}

Statistics FactoredEngine::sweep(const Model& model, const FactoredModel& factored, const Matrix& codes, Matrix& next) {
  const NumericScope scope;
  require_fit(model, data_, options_);
  const Index H = model.latents();
  if (codes.size() > 0 && (codes.rows() != H || codes.cols() != data_.rows()))
    throw UsageError("the codes are of " + std::to_string(codes.rows()) + " latents and " +
                     std::to_string(codes.cols()) + " data points, but there are " + std::to_string(H) + " and " +
                     std::to_string(data_.rows()) + "; resume with the data they were learned from");
  next.resize(H, data_.rows());
  return gather(model, factored, data_, codes, &next, {});
}

Statistics factored_step(const Model& model, const Data& data, const InferenceOptions& options,
                         const std::vector<Index>& order, const Matrix& codes, Matrix& next) {
  const NumericScope scope;
  require_rows(data);
  return FactoredEngine(data, options).sweep(model, order, codes, next);
}

Statistics FactoredEngine::e_step(const Model& model, const Pass& pass) {
  const NumericScope scope;
  require_fit(model, data_, options_);
  const RowList listed(data_, pass.rows.value_or(std::span<const Index>()));
  return gather(model, prepared(model), pass.rows ? static_cast<const Data&>(listed) : data_, Matrix(), nullptr,
                pass.stop);
}

Posterior FactoredEngine::infer(const Model& model, const PosteriorRequest& request, Index first, Index count,
                                const StopRequest& stop) {
  const NumericScope scope;
  require_fit(model, data_, options_);
  if (request.states > 0 || request.candidates)
    throw UsageError(std::string(request.states > 0 ? "states" : "candidates") +
                     " asked for, but the factored method has none; use the truncated method for them");
  const FactoredModel& factored = prepared(model);
  const BlockPlan plan = plan_blocks(factored, first, count, options_.threads);
  Posterior result;
  result.mean.resize(count, factored.latents);
  result.probability.resize(count, factored.latents);
  result.log_likelihood.resize(count);
  if (request.variance) result.variance.resize(count, factored.latents);
  std::vector<std::optional<FactoredBlock>> threads(static_cast<std::size_t>(plan.threads));
  parallel_blocks(plan, stop, [&](int thread, Index row, Index rows) {
    auto& block = threads[static_cast<std::size_t>(thread)];
    if (!block) block.emplace(factored, plan.block_rows, true);
    block->load(data_, row, rows, Matrix());
    block->converge();
    const Index out = row - first;
    block->place(block->x(), &FactoredGaps::x, result.mean.middleRows(out, rows));
    block->place(block->gamma(), &FactoredGaps::gamma, result.probability.middleRows(out, rows));
    if (request.variance) block->place(block->second(), &FactoredGaps::second, result.variance.middleRows(out, rows));
    const Matrix PY = model.noise.solve(block->Y().transpose());
    const Vector complete = block->bounds().array() + factored.constant -
                            0.5 * block->Y().transpose().cwiseProduct(PY).colwise().sum().transpose().array();
    for (Index n = 0; n < complete.size(); ++n) result.log_likelihood[out + block->origin(n)] = complete[n];
    if (block->gaps() == nullptr) return;
    const Vector bounds = block->gaps()->bounds();
    for (Index n = 0; n < bounds.size(); ++n)
      result.log_likelihood[out + block->origin(complete.size() + n)] = bounds[n];
  });
  if (request.variance) result.variance = (result.variance - result.mean.cwiseAbs2()).cwiseMax(0.0);
  return result;
}

}  // namespace gsc
