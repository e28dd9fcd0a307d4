#include "dictionary/engine.h"

#include "dictionary/coder.h"
#include "inference/checks.h"
#include "inference/point_estimate.h"
#include "math/numeric_scope.h"

namespace gsc {

void refuse_of_point_estimate(Method method, const PosteriorRequest& request) {
  const auto refuse = [&](const char* what) {
    throw UsageError(std::string(what) + " asked for, but the " + std::string(to_string(method)) +
                     " method gives codes and no posterior; leave it out, or learn with the truncated method");
  };
  if (request.variance) refuse("variances are");
  if (request.states > 0) refuse("the most probable states are");
  if (request.candidates) refuse("candidates are");
}

Statistics DictionaryEngine::e_step(const Model&, const Pass&) {
  throw UsageError("the " + std::string(to_string(options_.method)) +
                   " method has no posterior and so no E-step; choose truncated, exact or factored");
}

Posterior DictionaryEngine::infer(const Model& model, const PosteriorRequest& request, Index first, Index count,
                                  const StopRequest& stop) {
  const NumericScope scope;
  require_fit(model, data_, options_);
  refuse_of_point_estimate(options_.method, request);
  const Coded coded = code_rows(make_coder(model, options_), centred_rows(data_, model, options_.missing), first, count,
                                model.latents(), options_, stop);
  Posterior result;
  result.mean = Matrix(coded.codes.transpose());
  return result;
}

}  // namespace gsc
