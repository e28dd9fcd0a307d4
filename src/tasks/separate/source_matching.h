#pragma once
// Which learned source is which true one. Learning knows neither their order nor their sign.

#include <gsc/types.h>

#include <vector>

namespace gsc {

struct SourceMatch {
  Index found = -1;        ///< row of the learned sources, -1 where there are too few
  double correlation = 0;  ///< absolute value; 0 for a source without variance
};

/// For each row of `truth` a row of `found`, each used once, so that the absolute correlations add up to the most.
std::vector<SourceMatch> match_sources(const Matrix& truth, const Matrix& found);

}  // namespace gsc
