#include "tasks/denoise/cosine_atoms.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gsc {

Matrix cosine_atoms(Index patch, Index count, bool constant) {
  const Index skipped = constant ? 0 : 1;
  const Index K = std::max(patch, static_cast<Index>(std::ceil(std::sqrt(static_cast<double>(count + skipped)))));
  Matrix cosines(patch, K);
  for (Index k = 0; k < K; ++k) {
    for (Index i = 0; i < patch; ++i)
      cosines(i, k) = std::cos(static_cast<double>(i * k) * M_PI / static_cast<double>(K));
    if (k > 0) cosines.col(k).array() -= cosines.col(k).mean();
    cosines.col(k) /= cosines.col(k).norm();
  }
  std::vector<std::pair<Index, Index>> pairs;
  for (Index k = 0; k < K; ++k)
    for (Index l = 0; l < K; ++l) pairs.emplace_back(k, l);
  std::stable_sort(pairs.begin(), pairs.end(), [](auto a, auto b) { return a.first + a.second < b.first + b.second; });
  Matrix atoms(patch * patch, count);
  for (Index h = 0; h < count; ++h) {
    const auto [k, l] = pairs[static_cast<std::size_t>(h + skipped)];
    for (Index row = 0; row < patch; ++row) atoms.col(h).segment(row * patch, patch) = cosines(row, k) * cosines.col(l);
  }
  return atoms;
}

}  // namespace gsc
