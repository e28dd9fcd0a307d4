#include "inference/neighbour_sums.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

namespace gsc {
namespace {

Vector padded(const Vector& values, Index size) {
  Vector all = Vector::Zero(size);
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
      pi(padded(k * model.pi, prepared.padded)),
      mu(padded(k * model.mu, prepared.padded)),
      second(padded(k * (model.slab.variances() + model.mu.cwiseAbs2()), prepared.padded)),
      scale(padded(prepared.scale, prepared.padded)),
      square(scale.cwiseAbs2()),
      gram(padded((1 - prepared.scale.cwiseAbs2().cwiseQuotient(model.slab.variances()).array()).cwiseMax(0).matrix(),
                  prepared.padded)),
      a_rest(padded(prepared.a.head(prepared.latents) - prepared.logit_pi, prepared.padded)),
      constant(prepared.constant - (-model.pi.array()).log1p().sum()) {}

UntouchedPrior::UntouchedPrior(const SharedPrior& shared, const PreparedModel& prepared, Index neighbours)
    : a(prepared.a), score_offset(prepared.score_offset), log_off(Vector::Zero(prepared.padded)) {
  const double count = shared.pseudo_counts + static_cast<double>(neighbours);
  for (Index h = 0; h < prepared.latents; ++h) {
    const double pi = std::clamp(shared.pi[h] / count, kLeastPi, kMostPi);
    a[h] = shared.a_rest[h] + std::log(pi / (1 - pi));
    score_offset[h] = static_cast<float>(a[h]);
    log_off[h] = std::log1p(-pi);
  }
  sum_log_off = log_off.sum();
}

NeighbourSums::NeighbourSums(const SharedPrior& shared, const PreparedModel& prepared, const OwnPriors& own)
    : latents(static_cast<size_t>(prepared.padded)),
      s(Vector::Zero(prepared.padded)),
      m(Vector::Zero(prepared.padded)),
      zz(Vector::Zero(prepared.padded)),
      shared_(shared),
      prepared_(prepared),
      own_(own),
      rows_(static_cast<size_t>(own.neighbours.most())),
      bits_((static_cast<size_t>(prepared.padded) + 63) / 64),
      untouched_by_count_(rows_.size() + 1) {}

void NeighbourSums::gather(Index n) {
  const SparsePosterior& before = own_.before;
  const Index count = own_.neighbours.of(n, rows_.data());
  assert(count >= 0 && count <= own_.neighbours.most());
  neighbours = static_cast<double>(count);
  auto& untouched_of_count = untouched_by_count_[static_cast<size_t>(count)];
  if (!untouched_of_count) untouched_of_count = std::make_unique<UntouchedPrior>(shared_, prepared_, count);
  untouched = untouched_of_count.get();

  s.setZero();
  m.setZero();
  zz.setZero();
  std::fill(bits_.begin(), bits_.end(), 0);
  const Index candidates = before.candidates.cols();
  for (Index i = 0; i < count; ++i) {
    const Index at = row_in(before, rows_[static_cast<size_t>(i)]) * candidates;
    for (Index j = at; j < at + candidates; ++j) {
      const Index h = before.candidates.data()[j];
      s[h] += static_cast<double>(before.probability.data()[j]);
      m[h] += static_cast<double>(before.mean.data()[j]);
      zz[h] += static_cast<double>(before.second_moment.data()[j]);
      bits_[static_cast<size_t>(h) / 64] |= std::uint64_t{1} << (h % 64);
    }
  }
  touched = 0;
  for (size_t word = 0; word < bits_.size(); ++word)
    for (std::uint64_t bits = bits_[word]; bits != 0; bits &= bits - 1)
      latents[touched++] = static_cast<std::int64_t>(word * 64 + static_cast<size_t>(std::countr_zero(bits)));
}

}  // namespace gsc
