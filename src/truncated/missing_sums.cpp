#include "truncated/missing_sums.h"

#include <algorithm>
#include <cmath>

#include "math/blas.h"
#include "math/failure.h"
#include "math/numeric_scope.h"
#include "truncated/tree/gap_model.h"

namespace gsc {

MissingSums::MissingSums(const Model& model, const PreparedModel& prepared, const InferenceOptions& options,
                         int threads)
    : model_(model),
      prepared_(prepared),
      row_products_(has_row_products(prepared.dimensions, prepared.latents, options)),
      scaled_W_(prepared.scale.asDiagonal() * model.W.transpose()),
      threads_(static_cast<std::size_t>(threads)),
      of_latent_(static_cast<std::size_t>(prepared.latents)) {}

void MissingSums::gather(int thread, const BlockInference& block) {
  const GapRows& gaps = block.gaps;
  if (!gaps.any()) return;
  Thread& mine = threads_[static_cast<std::size_t>(thread)];
  const Index D = prepared_.dimensions;
  if (mine.counts.size() == 0) {
    mine.counts = Vector::Zero(D);
    mine.means = mine.diagonals = Matrix::Zero(D, prepared_.padded);
  }
  mine.gaps = 1 - gaps.observed().topRows(gaps.count()).array();
  mine.counts += mine.gaps.colwise().sum().transpose();
  add_product_transposed(mine.gaps, block.rows.middleRows(gaps.complete(), gaps.count()), mine.means);
  add_product_transposed(mine.gaps, block.second_moment.topRows(gaps.count()), mine.diagonals);

  const Index rows = gaps.partial();
  mine.latents.insert(mine.latents.end(), block.product_latents.data(),
                      block.product_latents.data() + rows * block.product_latents.cols());
  mine.products.insert(mine.products.end(), block.products.data(),
                       block.products.data() + rows * block.products.cols());
  for (Index i = 0; i < rows * D; ++i) mine.missing.push_back(mine.gaps.data()[i] != 0);
  mine.rows += rows;
}

void MissingSums::add_up(int threads) {
  const Index D = prepared_.dimensions, H = prepared_.latents, size = prepared_.candidates;
  const Index triangle = size * (size + 1) / 2;
  for (auto& entries : of_latent_) entries.clear();
  bool any = false;
  for (std::size_t t = 0; t < threads_.size(); ++t)
    for (Index n = 0; n < threads_[t].rows; ++n)
      for (Index p = 0; p < size; ++p) {
        any = true;
        const auto latent = threads_[t].latents[static_cast<std::size_t>(n * size + p)];
        of_latent_[latent].push_back(
            {static_cast<std::uint32_t>(t), static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(p)});
      }
  if (!any) return;
  if (pairs_.size() == 0) pairs_ = Matrix::Zero(row_products_ ? H * (H + 1) / 2 : H, D);
  const auto add_latent = [&](Index i) {
    const FloatingPointScope scope;
    Vector product(D);
    Eigen::ArrayXd missing(D);
    for (const Entry& entry : of_latent_[static_cast<std::size_t>(i)]) {
      const Thread& from = threads_[entry.thread];
      const std::uint16_t* latents = from.latents.data() + static_cast<Index>(entry.row) * size;
      const double* products = from.products.data() + static_cast<Index>(entry.row) * triangle;
      std::copy_n(from.missing.data() + static_cast<Index>(entry.row) * D, D, missing.data());
      const auto value = [&](Index p, Index q) { return products[p >= q ? p * (p + 1) / 2 + q : q * (q + 1) / 2 + p]; };
      product.setZero();
      for (Index q = 0; q < size; ++q) {
        const Index j = latents[q];
        if (j == i || (row_products_ && j < i)) continue;  // the diagonal is known; pairs belong to the smaller latent
        const double weight = value(entry.position, q);
        if (row_products_)
          Eigen::Map<Eigen::ArrayXd>(pairs_.row(pair_row(i, j, H)).data(), D) += weight * missing;
        else
          product += weight * scaled_W_.row(j).transpose();
      }
      if (!row_products_) Eigen::Map<Eigen::ArrayXd>(pairs_.row(i).data(), D) += product.array() * missing;
    }
  };
  Failure failure;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (Index i = 0; i < H; ++i) failure.guard([&] { add_latent(i); });
  failure.rethrow();
  for (Thread& thread : threads_) {
    thread.latents.clear();
    thread.products.clear();
    thread.missing.clear();
    thread.rows = 0;
  }
}

void MissingSums::add_to(Statistics& statistics, double empty) const {
  const bool any = std::any_of(threads_.begin(), threads_.end(), [](const Thread& t) { return t.counts.size() > 0; });
  if (!any && empty == 0) return;
  add_missing_products(statistics, row_products_ ? MissingProducts::by_rows : MissingProducts::with_basis);
  const Index H = prepared_.latents;
  const Vector& t = prepared_.scale;
  const Matrix prior = empty > 0 ? Matrix(empty * prior_products(model_)) : Matrix::Zero(H, H);
  Matrix diagonals = Matrix::Zero(prepared_.dimensions, H);
  for (const Thread& thread : threads_) {
    if (thread.counts.size() == 0) continue;
    statistics.missing += thread.counts;
    statistics.missing_m += thread.means.leftCols(H) * t.asDiagonal();
    diagonals += thread.diagonals.leftCols(H) * t.cwiseAbs2().asDiagonal();
  }
  if (row_products_) {
    for (Index i = 0; i < H; ++i) {
      statistics.missing_ZZ.row(pair_row(i, i, H)) += diagonals.col(i).transpose();
      for (Index j = i + 1; j < H; ++j) {
        const Index at = pair_row(i, j, H);
        if (pairs_.size() > 0) statistics.missing_ZZ.row(at) += t[i] * t[j] * pairs_.row(at);
        if (empty > 0) statistics.missing_ZZ.row(at).array() += prior(i, j);
      }
    }
    return;
  }
  statistics.missing_WZ += diagonals.cwiseProduct(model_.W);
  if (pairs_.size() > 0) statistics.missing_WZ += (t.asDiagonal() * pairs_).transpose();
  if (empty > 0) {
    Matrix between = prior;
    between.diagonal().setZero();
    statistics.missing_WZ += model_.W * between;
  }
}

}  // namespace gsc
