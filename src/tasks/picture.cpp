#include <gsc/picture.h>

#include <algorithm>

namespace gsc {

double Picture::peak() const {
  if (depth == PixelDepth::bits8) return 255;
  if (depth == PixelDepth::bits16) return 65535;
  double most = 1;
  for (const Matrix& channel : channels)
    if (channel.size() > 0) most = std::max(most, channel.maxCoeff());
  return most;
}

}  // namespace gsc
