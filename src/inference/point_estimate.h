#pragma once
// What a method that gives codes alone does not have.

#include <gsc/inference.h>

namespace gsc {

/// Throws UsageError, naming it, if the request asks for what there is not.
void refuse_of_point_estimate(Method method, const PosteriorRequest& request);

}  // namespace gsc
