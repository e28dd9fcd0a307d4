#include "picture_mask.h"

#include <fmt/format.h>
#include <gsc/picture_files.h>

#include <fstream>
#include <set>

#include "damaged_picture.h"

namespace gsc::cli {
namespace {

/// Of white. Letters and scratches that were saved as JPEG at quality 30 to 92 come back to 4 % of their pixels; with 0
/// they are 2 to 2.7 times as large.
constexpr double kJpegBlack = 0.25;

bool is_jpeg(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return stream.get() == 0xff && stream.get() == 0xd8;
}

bool more_than_two_shades(const Picture& mask) {
  std::set<double> shades;
  for (const Matrix& channel : mask.channels)
    for (const double value : channel.reshaped()) {
      shades.insert(value);
      if (shades.size() > 2) return true;
    }
  return false;
}

/// Drawing programs write grey as three equal channels.
void join_equal_channels(Picture& mask) {
  for (const Matrix& channel : mask.channels)
    if (channel != mask.channels[0]) return;
  mask.channels.resize(1);
}

void blacken_transparent(Picture& mask) {
  if (mask.alpha.size() == 0) return;
  for (Matrix& channel : mask.channels) channel = (mask.alpha.array() == 0).select(0.0, channel);
  mask.alpha.resize(0, 0);
}

}  // namespace

PictureMask read_mask(const std::string& file, bool inverted) {
  PictureMask mask{read_bands(file), ""};
  const bool jpeg = is_jpeg(file);
  if (jpeg) {
    const double black = kJpegBlack * mask.picture.peak();
    for (Matrix& channel : mask.picture.channels) channel = (channel.array() < black).select(0.0, channel);
  }
  blacken_transparent(mask.picture);
  join_equal_channels(mask.picture);
  if (jpeg)
    mask.warning = fmt::format(
        "{} is a JPEG file, which makes shades at every edge; what is darker than a quarter of white is taken for "
        "black, all else for white",
        file);
  else if (more_than_two_shades(mask.picture))
    mask.warning = fmt::format("{} has more than two shades; all but 0 is taken for white (was it smoothed?)", file);
  if (inverted)
    for (Matrix& channel : mask.picture.channels) channel = (channel.array() == 0).cast<double>();
  return mask;
}

}  // namespace gsc::cli
