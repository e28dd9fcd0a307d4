#pragma once

#include <gsc/fit.h>

#include <vector>

namespace gsc {

/// Updates mu and slab of `model`, whose pi is already the new one.
void update_full_slab(const Statistics& statistics, const std::vector<Index>& used, const MStepOptions& options,
                      Model& model, Rescues& rescues);

}  // namespace gsc
