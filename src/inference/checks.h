#pragma once
// What is asked before any work: whether model, data and options fit each other.

#include <gsc/inference.h>

namespace gsc {

/// Throws unless options and data fit the model.
void require_fit(const Model& model, const Data& data, const InferenceOptions& options);
/// Throws unless there is any data.
void require_rows(const Data& data);
/// `count`, or if negative all rows from `first` on; throws unless the data has them.
Index rows_asked_for(const Data& data, Index first, Index count);

}  // namespace gsc
