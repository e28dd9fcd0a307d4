#include "tasks/group_bands.h"

namespace gsc {

std::vector<Index> reference_places(Index last, Index step) {
  std::vector<Index> places;
  for (Index at = 0; at < last; at += step) places.push_back(at);
  places.push_back(last);
  return places;
}

Band band_of(const std::vector<Index>& rows, Index band, Index reach, Index patch, Index height) {
  const auto begin = static_cast<std::size_t>(band * kBandRows);
  const auto end = std::min(begin + kBandRows, rows.size());
  return {begin, end, std::max<Index>(0, rows[begin] - reach), std::min(height, rows[end - 1] + reach + patch)};
}

Picture blank(const Picture& like) {
  Picture result;
  result.channels.assign(like.channels.size(), Matrix::Zero(like.height(), like.width()));
  result.depth = like.depth;
  return result;
}

void average_in(const Matrix& value, double count, Matrix& mean, Matrix* variance) {
  if (variance != nullptr) *variance = (*variance + (value - mean).cwiseAbs2() / count) * ((count - 1) / count);
  mean += (value - mean) / count;
}

}  // namespace gsc
