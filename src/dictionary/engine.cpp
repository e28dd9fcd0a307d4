#include "dictionary/engine.h"

#include "dictionary/coder.h"
#include "inference/checks.h"
#include "math/numeric_scope.h"

namespace gsc {

Statistics DictionaryEngine::e_step(const Model&, const Pass&) {
  throw UsageError("the " + std::string(to_string(options_.method)) +
                   " method has no posterior and so no E-step; choose truncated, exact or factored");
}

Posterior DictionaryEngine::infer(const Model& model, const PosteriorRequest& request, Index first, Index count,
                                  const StopRequest& stop) {
  const NumericScope scope;
  require_fit(model, data_, options_);
  request.validate(options_.method);
  const Coded coded = code_rows(make_coder(model, options_), centred_rows(data_, model, options_.missing), first, count,
                                model.latents(), options_, stop);
  Posterior result;
  result.mean = Matrix(coded.codes.transpose());
  return result;
}

}  // namespace gsc
