#pragma once
// Pictures as a page shows them: eight bits a channel, as PNG in a data: address.

#include <gsc/report.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gsc {

struct Pixels {
  Index width = 0, height = 0, channels = 1;  ///< channels: 1 grey, 3 red green blue, one more with alpha
  std::vector<std::uint8_t> bytes;            ///< row after row, pixel after pixel
  Index reduction = 1;                        ///< each pixel is the mean of reduction x reduction of the original
};

/// The picture of a figure between its black and white; NaN is black. Pictures of more than a megapixel are reduced by
/// a whole factor: a page holds several of them, and a screen does not show more.
Pixels shown_pixels(const Figure& figure);

/// "data:image/png;base64,..."
std::string data_uri(const Pixels& pixels);

}  // namespace gsc
