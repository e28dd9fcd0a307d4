#include "truncated/own_priors/neighbour_sums.h"

#include <cassert>

#include "math/number_text.h"

namespace gsc {
namespace {

Vector padded(const Vector& values, Index size, double padding) {
  Vector all = Vector::Constant(size, padding);
  all.head(values.size()) = values;
  return all;
}

}  // namespace

void require_before(const Model& model, const SparsePosterior& before) {
  const std::string what = "the posteriors given as `before` ";
  if (before.latents != model.latents())
    throw UsageError(what + "are of " + std::to_string(before.latents) + " latents, the model has " +
                     std::to_string(model.latents()) + "; infer them with this model");
  const auto fits = [&](const Table<float>& table) {
    return table.rows() == before.rows() && table.cols() == before.candidates.cols();
  };
  if (!fits(before.probability) || !fits(before.mean) || !fits(before.second_moment) || before.first < 0)
    throw UsageError(what +
                     "have tables of different shapes; pass them as infer_sparse() and infer_nonlocal() left them");
  if (before.candidates.size() > 0 && before.candidates.maxCoeff() >= before.latents)
    throw UsageError(what + "name candidate " + std::to_string(before.candidates.maxCoeff()) + " of " +
                     std::to_string(before.latents) + " latents; infer them with this model");
}

Index row_in(const SparsePosterior& before, std::uint32_t row) {
  const Index at = static_cast<Index>(row) - before.first;
  if (at >= 0 && at < before.rows()) return at;
  throw UsageError("neighbours: row " + std::to_string(row) +
                   " is among them, but the posteriors given as `before` are of rows " + std::to_string(before.first) +
                   " to " + std::to_string(before.first + before.rows() - 1) +
                   "; give a larger window of them, or neighbours within it");
}

SharedPrior::SharedPrior(const Model& model, const PreparedModel& prepared, double k)
    : pseudo_counts(k),
      pi(padded(k * model.pi, prepared.padded, 0)),
      mu(padded(k * model.mu.cwiseQuotient(prepared.scale), prepared.padded, 0)),
      second(padded(k * (model.slab.variances() + model.mu.cwiseAbs2()).cwiseQuotient(prepared.scale.cwiseAbs2()),
                    prepared.padded, k)),
      inverse_scale(padded(prepared.scale.cwiseInverse(), prepared.padded, 1)),
      gram(padded((1 - prepared.scale.cwiseAbs2().cwiseQuotient(model.slab.variances()).array()).cwiseMax(0).matrix(),
                  prepared.padded, 0)),
      constant(prepared.constant - (-model.pi.array()).log1p().sum()),
      single{pi.cast<float>(), mu.cast<float>(), second.cast<float>(), gram.cast<float>(),
             padded(-prepared.logit_pi, prepared.padded, -1e30).cast<float>()} {}

NeighbourSums::NeighbourSums(const PreparedModel& prepared, const OwnPriors& own)
    : s(Vector::Zero(prepared.padded)),
      m(Vector::Zero(prepared.padded)),
      zz(Vector::Zero(prepared.padded)),
      own_(own),
      rows_(static_cast<size_t>(own.neighbours.most())) {}

void NeighbourSums::gather(Index n) {
  const SparsePosterior& before = own_.before;
  const Index neighbours = own_.neighbours.of(n, rows_.data());
  assert(neighbours >= 0 && neighbours <= own_.neighbours.most());
  count = static_cast<double>(neighbours);
  s.setZero();
  m.setZero();
  zz.setZero();
  const Index candidates = before.candidates.cols();
  // Neighbours may lie anywhere: ask for all of them before any is waited for.
  for (Index i = 0; i < neighbours; ++i) {
    const Index at = row_in(before, rows_[static_cast<size_t>(i)]) * candidates;
    __builtin_prefetch(before.candidates.data() + at);
    for (const Table<float>* table : {&before.probability, &before.mean, &before.second_moment}) {
      __builtin_prefetch(table->data() + at);
      __builtin_prefetch(table->data() + at + candidates - 1);
    }
  }
  for (Index i = 0; i < neighbours; ++i) {
    const Index at = (static_cast<Index>(rows_[static_cast<size_t>(i)]) - before.first) * candidates;
    for (Index j = at; j < at + candidates; ++j) {
      const Index h = before.candidates.data()[j];
      s[h] += static_cast<double>(before.probability.data()[j]);
      m[h] += static_cast<double>(before.mean.data()[j]);
      zz[h] += static_cast<double>(before.second_moment.data()[j]);
    }
  }
}

void NonLocalOptions::validate() const {
  if (!(pseudo_counts >= 1e-6 && pseudo_counts <= 1e12))
    throw UsageError("pseudo_counts is " + number_text(pseudo_counts) +
                     "; it must lie between 1e-6 and 1e12, say 2, for the model's prior to count at all");
}

Prior own_prior(const Model& model, const SparsePosterior& before, std::span<const std::uint32_t> rows,
                const NonLocalOptions& options) {
  model.validate();
  options.validate();
  require_before(model, before);
  const Index H = model.latents();
  Vector s = Vector::Zero(H), m = s, zz = s;
  for (const std::uint32_t row : rows) {
    const Index n = row_in(before, row);
    for (Index j = 0; j < before.candidates.cols(); ++j) {
      const Index h = before.candidates(n, j);
      s[h] += static_cast<double>(before.probability(n, j));
      m[h] += static_cast<double>(before.mean(n, j));
      zz[h] += static_cast<double>(before.second_moment(n, j));
    }
  }
  const double k = options.pseudo_counts;
  Prior prior;
  prior.pi = ((k * model.pi + s) / (k + static_cast<double>(rows.size()))).cwiseMax(kLeastPi).cwiseMin(kMostPi);
  const Vector counts = s.array() + k;
  prior.mu = (k * model.mu + m).cwiseQuotient(counts);
  const Vector second = (k * (model.slab.variances() + model.mu.cwiseAbs2()) + zz).cwiseQuotient(counts);
  prior.variance = (second - prior.mu.cwiseAbs2()).cwiseMax(kLeastVariance * second);
  return prior;
}

}  // namespace gsc
