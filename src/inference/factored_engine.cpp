// Factored inference: coordinate ascent on a posterior in which latents are independent given the data. Formulas in
// factored_model.h.

#include "inference/factored_engine.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "data/row_list.h"
#include "inference/block_inference.h"
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
    gamma += block.sum_gamma();
    second += block.sum_second();
    x += block.x().rowwise().sum();
    add_product(1, block.x(), block.Y(), XY);
    add_square(block.x(), XX);
    YY += block.Y().colwise().squaredNorm().transpose();
    if (y.size() > 0) y += block.Y().colwise().sum().transpose();
    local += block.sum_local();
  }

  Vector gamma, second, x;
  Matrix XY, XX;  // XX: upper triangle
  Vector YY, y;
  double local = 0;
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

std::vector<Index> fixed_order(Index latents) {
  std::vector<Index> order(static_cast<std::size_t>(latents));
  std::iota(order.begin(), order.end(), Index{0});
  return order;
}

}  // namespace

const FactoredModel& FactoredEngine::prepared(const Model& model) {
  return prepared_.of(model, [&] { return FactoredModel(model, fixed_order(model.latents())); });
}

/// One sweep from `codes` into `next`, or sweeps to the end if there is no `next`.
Statistics FactoredEngine::gather(const Model& model, const FactoredModel& factored, const Data& data,
                                  const Matrix& codes, Matrix* next, const StopRequest& stop) const {
  Statistics total(model);
  if (data.rows() == 0) return total;
  const BlockPlan plan = plan_blocks(factored, 0, data.rows(), options_.threads);
  struct Thread {
    FactoredBlock block;
    FactoredSums sums;
  };
  std::vector<std::optional<Thread>> threads(static_cast<std::size_t>(plan.threads));
  parallel_blocks(plan, stop, [&](int thread, Index first, Index rows) {
    auto& mine = threads[static_cast<std::size_t>(thread)];
    if (!mine) mine.emplace(Thread{FactoredBlock(factored, plan.block_rows, next == nullptr), FactoredSums(factored)});
    mine->block.load(data, first, rows, codes);
    if (next != nullptr) {
      mine->block.sweep();
      for (Index i = 0; i < factored.latents; ++i)
        next->row(factored.order[static_cast<std::size_t>(i)]).segment(first, rows) = mine->block.x().row(i);
    } else {
      mine->block.converge();
    }
    mine->sums.add(mine->block);
  });
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
  return sweep(model, FactoredModel(model, order), codes, next);
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
    result.mean.middleRows(out, rows) = block->x().transpose();
    result.probability.middleRows(out, rows) = block->gamma().transpose();
    if (request.variance)
      result.variance.middleRows(out, rows) = (block->second() - block->x().cwiseAbs2()).cwiseMax(0.0).transpose();
    const Matrix PY = model.noise.solve(block->Y().transpose());
    result.log_likelihood.segment(out, rows) =
        block->bounds().array() + factored.constant -
        0.5 * block->Y().transpose().cwiseProduct(PY).colwise().sum().transpose().array();
  });
  return result;
}

}  // namespace gsc
