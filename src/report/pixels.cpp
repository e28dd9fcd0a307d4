#include "report/pixels.h"

#include <fmt/format.h>
#include <gsc/picture_files.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace gsc {
namespace {

constexpr double kMostPixels = 1 << 20;

std::uint8_t shade(double value, double black, double white) {
  const double fraction = (value - black) / (white - black);
  if (std::isnan(fraction)) return 0;
  return static_cast<std::uint8_t>(std::lround(255 * std::clamp(fraction, 0.0, 1.0)));
}

std::string base64(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (k < count ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? kDigits[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace

Pixels shown_pixels(const Figure& figure) {
  const Picture& picture = figure.picture;
  const std::size_t colours = picture.channels.size();
  if ((colours != 1 && colours != 3) || picture.height() < 1 || picture.width() < 1)
    throw Error(fmt::format("report: the figure '{}' has {} channels of {} x {} pixels; a picture has 1 or 3 channels",
                            figure.caption, colours, picture.height(), picture.width()));

  struct Layer {
    const Matrix* values;
    double black, white;
  };
  std::vector<Layer> layers;
  for (const Matrix& channel : picture.channels) layers.push_back({&channel, figure.black, figure.white});
  if (picture.alpha.size() > 0) {
    const double opaque = picture.depth == PixelDepth::bits8 ? 255 : picture.depth == PixelDepth::bits16 ? 65535 : 1;
    layers.push_back({&picture.alpha, 0, opaque});
  }
  for (const Layer& layer : layers)
    if (layer.values->rows() != picture.height() || layer.values->cols() != picture.width())
      throw Error(fmt::format("report: the figure '{}' has a channel of {} x {} pixels, the first has {} x {}",
                              figure.caption, layer.values->rows(), layer.values->cols(), picture.height(),
                              picture.width()));

  Pixels pixels;
  const double area = static_cast<double>(picture.height()) * static_cast<double>(picture.width());
  const auto factor = static_cast<Index>(std::ceil(std::sqrt(area / kMostPixels)));
  // A strip of a few pixels' height or width is not made to vanish.
  pixels.reduction = std::clamp<Index>(factor, 1, std::min(picture.height(), picture.width()));
  pixels.height = picture.height() / pixels.reduction;
  pixels.width = picture.width() / pixels.reduction;
  pixels.channels = static_cast<Index>(layers.size());
  pixels.bytes.reserve(static_cast<std::size_t>(pixels.height * pixels.width * pixels.channels));
  const Index step = pixels.reduction;
  for (Index y = 0; y < pixels.height; ++y)
    for (Index x = 0; x < pixels.width; ++x)
      for (const Layer& layer : layers)
        pixels.bytes.push_back(
            shade(layer.values->block(y * step, x * step, step, step).mean(), layer.black, layer.white));
  return pixels;
}

std::string data_uri(const Pixels& pixels) {
  Picture picture;
  const auto channel = [&](Index c) {
    using Plane = Eigen::Matrix<std::uint8_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    using Step = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
    const Step step(pixels.width * pixels.channels, pixels.channels);
    const Eigen::Map<const Plane, 0, Step> values(pixels.bytes.data() + c, pixels.height, pixels.width, step);
    return Matrix(values.cast<double>());
  };
  const Index colours = pixels.channels < 3 ? 1 : 3;
  for (Index c = 0; c < colours; ++c) picture.channels.push_back(channel(c));
  if (pixels.channels > colours) picture.alpha = channel(colours);
  return "data:image/png;base64," + base64(encode_picture("figure.png", picture));
}

}  // namespace gsc
