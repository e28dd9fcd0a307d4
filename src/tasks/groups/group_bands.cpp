#include "tasks/groups/group_bands.h"

namespace gsc {

std::vector<Index> reference_places(Index side, Index patch, Index step) {
  const Index last = side - patch;
  std::vector<Index> places;
  for (Index at = 0; at < last; at += std::min(step, patch)) places.push_back(at);
  places.push_back(last);
  return places;
}

Band band_of(const std::vector<Index>& rows, Index band, Index reach, Index patch, Index height) {
  const auto begin = static_cast<std::size_t>(band * kBandRows);
  const auto end = std::min(begin + kBandRows, rows.size());
  return {begin, end, std::max<Index>(0, rows[begin] - reach), std::min(height, rows[end - 1] + reach + patch)};
}

Picture blank(const Picture& like, int threads) {
  Picture result;
  for (std::size_t c = 0; c < like.channels.size(); ++c)
    result.channels.push_back(zeros(like.height(), like.width(), threads));
  result.depth = like.depth;
  return result;
}

void average_in(const Matrix& value, double count, Matrix& mean, Matrix* variance, int threads) {
  parallel_rows(mean.rows(), mean.cols(), threads, [&](Index y) {
    if (variance != nullptr)
      variance->row(y) = (variance->row(y) + (value.row(y) - mean.row(y)).cwiseAbs2() / count) * ((count - 1) / count);
    mean.row(y) += (value.row(y) - mean.row(y)) / count;
  });
}

}  // namespace gsc
