#include "factored/missing_sums.h"

#include "inference/statistics_shapes.h"
#include "math/failure.h"
#include "math/numeric_scope.h"

namespace gsc {

FactoredMissingSums::FactoredMissingSums(const FactoredModel& model, int threads)
    : model_(model), threads_(static_cast<std::size_t>(threads)) {}

void FactoredMissingSums::gather(int thread, FactoredGaps& points) {
  Thread& mine = threads_[static_cast<std::size_t>(thread)];
  Matrix x(model_.latents, points.count()), rest(model_.latents, points.count());
  x(model_.order, Eigen::all) = points.x();
  rest(model_.order, Eigen::all) = points.second() - points.x().cwiseAbs2();
  mine.x.push_back(std::move(x));
  mine.rest.push_back(std::move(rest));
  mine.missing.push_back(points.missing());
}

void FactoredMissingSums::add_up(int threads, Statistics& statistics) {
  const Index H = model_.latents;
  for (const Thread& thread : threads_)
    for (std::size_t k = 0; k < thread.x.size(); ++k) {
      statistics.missing += thread.missing[k].colwise().sum().transpose();
      const Matrix codes = thread.x[k].transpose();
      add_product_transposed(thread.missing[k], codes, statistics.missing_m);
    }
  const auto add_latent = [&](Index i) {
    const FloatingPointScope scope;
    MatrixBlock sums = statistics.missing_ZZ.middleRows(pair_row(i, i, H), H - i);
    for (const Thread& thread : threads_)
      for (std::size_t k = 0; k < thread.x.size(); ++k) {
        Matrix products = thread.x[k].bottomRows(H - i) * thread.x[k].row(i).asDiagonal();
        products.row(0) += thread.rest[k].row(i);
        add_product(1, products, thread.missing[k], sums);
      }
  };
  Failure failure;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (Index i = 0; i < H; ++i) failure.guard([&] { add_latent(i); });
  failure.rethrow();
  for (Thread& thread : threads_) thread = {};
}

}  // namespace gsc
