#include "dictionary/feature_sign_learner.h"

#include "dictionary/lagrange_dual.h"
#include "dictionary/lasso_coder.h"

namespace gsc {

void FeatureSignLearner::check(const FitOptions& options) {
  DictionaryLearner::check(options);
  if (options.inference.missing != Missing::nan) return;
  std::string able;
  for (const Method method : all_methods())
    if (traits(method).learns_from_gaps) able += (able.empty() ? "" : ", ") + std::string(to_string(method));
  throw UsageError(
      "missing is nan, but the feature-sign method learns from complete data points; methods that take "
      "gaps: " +
      able);
}

FeatureSignLearner::FeatureSignLearner(Share& share, const FitOptions& options, Beginning beginning, StopRequest stop)
    : DictionaryLearner(share, options, std::move(beginning), std::move(stop), CodesFrom::last_iteration) {}

Evaluation FeatureSignLearner::begin(int row) {
  const CentredRows all = [this](Index first, Index count, Matrix& block, Matrix& observed) {
    block = rows().X.middleRows(first, count);
    observed.resize(0, 0);
  };
  require_useful_lambda(model(), options().inference, all, rows().X.rows());
  return DictionaryLearner::begin(row);
}

void FeatureSignLearner::improve(Matrix& W, Coded& coded, int /*row*/, Rescues& rescues) {
  const Index H = W.cols(), D = W.rows();
  BasisSums sums{Matrix::Zero(H, H), Matrix(D, H)};
  Matrix SX = Matrix::Zero(H, D);
  for (Index n = 0; n < coded.codes.cols(); ++n)
    for (Codes::InnerIterator one(coded.codes, n); one; ++one) {
      SX.row(one.row()) += one.value() * rows().X.row(n);
      for (Codes::InnerIterator other(coded.codes, n); other; ++other)
        sums.SS(one.row(), other.row()) += one.value() * other.value();
    }
  sums.XS = SX.transpose();
  ask_to_go_on();
  DualSolution best = lagrange_dual(sums, 1, W);
  W = std::move(best.basis);
  rescues.unused_latents += best.unused;
}

double FeatureSignLearner::objective(const Coded& coded) const {
  return coded.squared_error.mean() / 2 + coded.penalty.mean();
}

}  // namespace gsc
