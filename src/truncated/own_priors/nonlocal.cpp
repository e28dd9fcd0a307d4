#include <gsc/backend/engine.h>
#include <gsc/nonlocal.h>

#include <cmath>

#include "inference/checks.h"
#include "math/number_text.h"
#include "math/numeric_scope.h"
#include "truncated/own_priors/neighbour_sums.h"

namespace gsc {
namespace {

SparsePosterior infer(const Model& model, const Data& data, const InferenceOptions& options, const OwnPriors* own,
                      Index first, Index count, const StopRequest& stop) {
  const NumericScope scope;
  require_fit(model, data, options);
  require_rows(data);
  return make_engine(data, options)->infer_sparse(model, first, rows_asked_for(data, first, count), own, stop);
}

}  // namespace

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

SparsePosterior infer_sparse(const Model& model, const Data& data, const InferenceOptions& options, Index first,
                             Index count, const StopRequest& stop) {
  return infer(model, data, options, nullptr, first, count, stop);
}

SparsePosterior infer_nonlocal(const Model& model, const Data& data, const InferenceOptions& options,
                               const SparsePosterior& before, const Neighbours& neighbours,
                               const NonLocalOptions& nonlocal, Index first, Index count, const StopRequest& stop) {
  const OwnPriors own{before, neighbours, nonlocal};
  return infer(model, data, options, &own, first, count, stop);
}

}  // namespace gsc
