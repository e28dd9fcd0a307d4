#pragma once
// A picture as planes of floats: what block matching and the filter of groups read. Three channels are turned into
// brightness and two differences of colour,
//
//   Y = (R + G + B) / sqrt 3,    U = (R - B) / sqrt 2,    V = (R - 2 G + B) / sqrt 6,
//
// which are less alike than the channels. The rows are orthonormal: distances stay, and the noise stays white.

#include <gsc/picture.h>

#include <memory>
#include <vector>

#include "inference/patch_device.h"

namespace gsc {

/// Squared differences of patches are sums of floats.
inline constexpr double kLargestPixel = 1e15;

/// Whether three channels become Y, U and V, or stay as they are: where values are missing, those of one channel may.
enum class Colours { turned, kept };

class Planes {
 public:
  Planes(Index planes, Index height, Index width);
  explicit Planes(const Picture& picture, Colours colours = Colours::turned, int threads = 1);

  Index size() const { return static_cast<Index>(planes_.size()); }
  Index height() const { return height_; }
  Index width() const { return width_; }
  Index stride() const { return stride_; }  ///< from row to row; behind each row, and the last, a vector may be read
  float* row(Index plane, Index row) { return planes_[static_cast<std::size_t>(plane)].get() + row * stride_; }
  const float* row(Index plane, Index row) const {
    return planes_[static_cast<std::size_t>(plane)].get() + row * stride_;
  }
  /// For a device; good for as long as this is.
  PlanesView view() const;
  float largest(int threads) const;  ///< of the absolute values

 private:
  Index height_, width_, stride_;
  std::vector<std::unique_ptr<float[]>> planes_;
};

/// Back from planes to channels, in place: three matrices are turned, one is left as it is.
void to_channels(std::vector<Matrix>& planes, int threads = 1);

}  // namespace gsc
