#include <gsc/picture.h>

#include <algorithm>

namespace gsc {

double Picture::peak() const {
  if (depth == PixelDepth::bits8) return 255;
  if (depth == PixelDepth::bits16) return 65535;
  double most = 1;
  for (const Matrix& channel : channels)
    if (channel.size() > 0) most = std::max(most, channel.maxCoeff<Eigen::PropagateNumbers>());
  return most;
}

std::string_view to_string(PixelDepth depth) {
  return depth == PixelDepth::bits8 ? "8" : depth == PixelDepth::bits16 ? "16" : "float";
}

}  // namespace gsc
