#include <gsc/missing.h>

#include "inference/checks.h"
#include "inference/limits.h"
#include "math/numeric_scope.h"
#include "methods/methods.h"
#include "truncated/gaps/held_out_scale.h"

namespace gsc {

Imputed impute(const Model& model, const Data& data, const InferenceOptions& options, const ImputeOptions& what,
               Index first, Index count, const StopRequest& stop) {
  const NumericScope scope;
  InferenceOptions with_gaps = options;
  with_gaps.missing = Missing::nan;
  require_fit(model, data, with_gaps);
  require_rows(data);
  const auto impute_rows = [&, &row = row_of(options.method)](const Data& from, const ImputeOptions& wanted,
                                                              Index begin, Index rows) {
    return row.impute(model, from, with_gaps, wanted, begin, rows, stop);
  };
  Imputed result = impute_rows(data, what, first, rows_asked_for(data, first, count));
  if (!what.calibrate || result.std.size() == 0 || over_all_states(with_gaps, model.latents())) return result;
  const HeldOutScale found =
      held_out_scale(data, [&](const Data& fewer) { return impute_rows(fewer, {}, 0, fewer.rows()); });
  result.scale = found.scale;
  result.held_out = found.values;
  if (found.scale != 1) result.std *= found.scale;
  return result;
}

}  // namespace gsc
