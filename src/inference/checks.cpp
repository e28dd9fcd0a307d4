#include "inference/checks.h"

#include <string>

namespace gsc {

void require_fit(const Model& model, const Data& data, const InferenceOptions& options) {
  model.validate();
  options.validate(model.latents());
  if (data.cols() != model.dimensions())
    throw Error(data.name() + ": the data has " + std::to_string(data.cols()) + " columns, the model is for " +
                std::to_string(model.dimensions()) + "; use data of the model's kind (or is the table transposed?)");
  if (options.missing == Missing::nan && model.noise.type() == NoiseType::full)
    throw UsageError(
        "missing is nan, but the model's noise is full, and what is missing then has no noise of its own to leave out; "
        "learn a model with noise scalar or diagonal");
}

void require_rows(const Data& data) {
  if (data.rows() == 0) throw Error(data.name() + ": the data has no rows");
}

Index rows_asked_for(const Data& data, Index first, Index count) {
  if (count < 0) count = data.rows() - first;
  if (first < 0 || count < 1 || first + count > data.rows())
    throw UsageError("rows " + std::to_string(first) + " to " + std::to_string(first + count) + " asked for of " +
                     std::to_string(data.rows()));
  return count;
}

}  // namespace gsc
