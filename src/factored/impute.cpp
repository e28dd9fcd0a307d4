#include <cmath>

#include "factored/engine.h"

namespace gsc {

Imputed impute_factored(const Model& model, const Data& data, const InferenceOptions& options,
                        const ImputeOptions& what, Index first, Index count, const StopRequest& stop) {
  const Posterior posterior = FactoredEngine(data, options).infer(model, {.variance = true}, first, count, stop);
  Imputed result{Matrix(count, data.cols()), Matrix::Zero(count, data.cols())};
  data.read(first, result.mean);  // what is observed stays to the bit

  // (m^2 + V) <(s z)^2> - m^2 x^2 = m^2 Var(s z) + V <(s z)^2>
  const Matrix W = model.W.transpose();
  Matrix signal = product(posterior.mean, W);
  if (model.intercept.size() > 0) signal.rowwise() += model.intercept.transpose();
  Matrix variance = product(posterior.variance, W.cwiseAbs2());
  if (model.W_variance.size() > 0)
    variance += product(posterior.variance + posterior.mean.cwiseAbs2(), model.W_variance.transpose());
  const Vector noise = model.noise.covariance().diagonal();
  for (Index n = 0; n < count; ++n)
    for (Index d = 0; d < data.cols(); ++d) {
      const bool missing = std::isnan(result.mean(n, d));
      if (!missing && !what.denoise_observed) continue;
      result.mean(n, d) = signal(n, d);
      result.std(n, d) = std::sqrt(variance(n, d) + (missing ? noise[d] : 0));
    }
  return result;
}

}  // namespace gsc
