#include "truncated/thread_sums.h"

#include <algorithm>

#include "inference/parallel_blocks.h"

namespace gsc {
namespace {

Index square_columns(const Model& model, const PreparedModel& prepared) {
  return model.noise.type() == NoiseType::full ? prepared.dimensions : 1;
}

}  // namespace

ThreadSums::ThreadSums(const Model& model, const PreparedModel& prepared, bool mean_products)
    : sums(prepared),
      YZ(Matrix::Zero(prepared.dimensions, prepared.padded)),
      YY(Matrix::Zero(prepared.dimensions, square_columns(model, prepared))),
      y(Vector::Zero(model.intercept.size())),
      MM(Matrix::Zero(mean_products ? prepared.padded : 0, mean_products ? prepared.padded : 0)) {}

bool ThreadSums::fits(const Model& model, const PreparedModel& prepared) const {
  return sums.ZZ.rows() == prepared.latents && YZ.rows() == prepared.dimensions && YZ.cols() == prepared.padded &&
         YY.cols() == square_columns(model, prepared) && y.size() == model.intercept.size() &&
         sums.T.rows() == (prepared.full_slab ? prepared.latents : 0);
}

void ThreadSums::clear() {
  for (const std::span<double> part : numbers()) std::fill(part.begin(), part.end(), 0.0);
  log_sum = 0;
  clamped_pivots = 0;
  empty = 0;
}

std::vector<std::span<double>> ThreadSums::numbers() {
  std::vector<std::span<double>> parts;
  const auto add = [&](auto& values) { parts.emplace_back(values.data(), static_cast<std::size_t>(values.size())); };
  for (Vector* vector : {&sums.single_s, &sums.single_m, &sums.single_ZZ, &sums.s, &sums.m, &sums.lambda, &y})
    add(*vector);
  for (Matrix* matrix : {&sums.ZZ, &sums.T, &sums.SS, &YZ, &YY, &MM}) add(*matrix);
  return parts;
}

void add_up(const std::vector<ThreadSums*>& sums, int threads) {
  if (sums.size() < 2) return;
  std::vector<std::vector<std::span<double>>> numbers;
  numbers.reserve(sums.size());
  for (ThreadSums* one : sums) numbers.push_back(one->numbers());
  const std::vector<std::span<double>>& total = numbers.front();
  Index count = 0;
  for (const std::span<double> part : total) count += std::ssize(part);
  const auto of_number = static_cast<Index>(sums.size());
  constexpr Index kWorth = 1 << 18;  // additions
  BlockPlan plan(0, count, of_number, 0, 1);
  if (count * of_number > kWorth) plan.threads = threads;  // those that wait there: of fewer, the others would end
  parallel_blocks(plan, {}, [&](int, Index first, Index rows) {
    Index before = 0;  // numbers of the parts so far
    for (std::size_t p = 0; p < total.size(); ++p) {
      const Index size = std::ssize(total[p]);
      const Index begin = std::max<Index>(first - before, 0), end = std::min(first + rows - before, size);
      for (std::size_t t = 1; t < numbers.size(); ++t) {
        double* to = total[p].data();
        const double* from = numbers[t][p].data();
        for (Index i = begin; i < end; ++i) to[i] += from[i];
      }
      before += size;
    }
  });
  for (std::size_t t = 1; t < sums.size(); ++t) {
    sums[0]->log_sum += sums[t]->log_sum;
    sums[0]->clamped_pivots += sums[t]->clamped_pivots;
    sums[0]->empty += sums[t]->empty;
  }
}

}  // namespace gsc
