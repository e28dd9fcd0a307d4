#pragma once
// Codes by the lasso, for dictionaries that are learned with it:
//
//   lasso:    a = argmin 1/2 |x - D a|^2 + lambda |a|_1                            by LARS, or feature-sign search
//   bounded:  a = argmin |a|_1  with  |x - D a|^2 <= D (error_gain sigma)^2        by LARS, which ends there
//
// Feature-sign search starts from a code, that of the iteration before, say.
//
// lambda is what the options say. Left out (0) it is a part of the length of the data point itself,
//
//   lambda = min(1.2 / sqrt(D), 0.3) |x|        0.15 for 8 x 8 patches of unit norm, as Mairal et al. (2010) have it,
//
// so that scale does not matter and a model needs no more than its dictionary to code other data in the same way. The
// limit is for few dimensions, in which nothing would be left. Where entries are missing all goes over those that are
// there, which D is then the number of.

#include <gsc/model.h>

#include "dictionary/coder.h"

namespace gsc {

enum class LassoSearch { lars, feature_sign };

CoderMaker lasso_coder(const Model& model, const InferenceOptions& options, LassoSearch search);

/// Throws UsageError with the largest useful value if the options' lambda leaves all codes zero.
void require_useful_lambda(const Model& model, const InferenceOptions& options, const CentredRows& rows, Index count);

}  // namespace gsc
