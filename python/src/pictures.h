#pragma once
// Pictures as arrays of channels x height x width.

#include <gsc/picture.h>
#include <nanobind/ndarray.h>

#include <string>

#include "array_data.h"

namespace gsc::python {

using Planes = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

/// `depth` is what the numbers were: uint8, uint16, or anything else for real ones.
inline Picture picture_of(const Planes& planes, const std::string& depth) {
  Picture picture;
  picture.depth = depth == "uint8" ? PixelDepth::bits8 : depth == "uint16" ? PixelDepth::bits16 : PixelDepth::real32;
  const auto height = static_cast<Index>(planes.shape(1)), width = static_cast<Index>(planes.shape(2));
  for (std::size_t channel = 0; channel < planes.shape(0); ++channel)
    picture.channels.emplace_back(
        Eigen::Map<const Matrix>(planes.data() + static_cast<Index>(channel) * height * width, height, width));
  return picture;
}

/// The channels below each other: (channels * height) x width.
inline Matrix planes_of(const Picture& picture) {
  Matrix planes(static_cast<Index>(picture.channels.size()) * picture.height(), picture.width());
  for (std::size_t channel = 0; channel < picture.channels.size(); ++channel)
    planes.middleRows(static_cast<Index>(channel) * picture.height(), picture.height()) = picture.channels[channel];
  return planes;
}

}  // namespace gsc::python
