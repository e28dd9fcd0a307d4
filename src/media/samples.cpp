#include "media/samples.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace gsc::media {
namespace {

template <class Value>
Matrix channel_of(const Samples& samples, Index channel) {
  Matrix values(samples.height, samples.width);
  for (Index y = 0; y < samples.height; ++y) {
    const Value* from = reinterpret_cast<const Value*>(samples.row(y)) + channel;
    for (Index x = 0; x < samples.width; ++x, from += samples.channels) values(y, x) = static_cast<double>(*from);
  }
  return values;
}

Matrix channel_of(const Samples& samples, Index channel) {
  switch (samples.kind) {
    case SampleKind::bits8:
      return channel_of<std::uint8_t>(samples, channel);
    case SampleKind::bits16:
      return channel_of<std::uint16_t>(samples, channel);
    case SampleKind::real32:
      return channel_of<float>(samples, channel);
    case SampleKind::real64:
      break;
  }
  return channel_of<double>(samples, channel);
}

template <class Value>
void set_channel(Samples& samples, Index channel, const Matrix& values) {
  constexpr double kLow = static_cast<double>(std::numeric_limits<Value>::lowest());
  constexpr double kHigh = static_cast<double>(std::numeric_limits<Value>::max());
  for (Index y = 0; y < samples.height; ++y) {
    Value* to = reinterpret_cast<Value*>(samples.row(y)) + channel;
    for (Index x = 0; x < samples.width; ++x, to += samples.channels) {
      const double value = std::numeric_limits<Value>::is_integer ? std::round(values(y, x)) : values(y, x);
      *to = static_cast<Value>(std::clamp(value, kLow, kHigh));
    }
  }
}

}  // namespace

Samples::Samples(Index w, Index h, Index count, SampleKind what) : width(w), height(h), channels(count), kind(what) {
  bytes = std::make_unique_for_overwrite<std::byte[]>(size());
}

std::size_t Samples::value_bytes() const {
  switch (kind) {
    case SampleKind::bits8:
      return 1;
    case SampleKind::bits16:
      return 2;
    case SampleKind::real32:
      return 4;
    case SampleKind::real64:
      break;
  }
  return 8;
}

Picture to_picture(const Samples& samples) {
  Picture picture;
  picture.depth = samples.kind == SampleKind::bits8    ? PixelDepth::bits8
                  : samples.kind == SampleKind::bits16 ? PixelDepth::bits16
                                                       : PixelDepth::real32;
  const Index colours = samples.bands ? samples.channels : samples.channels < 3 ? 1 : 3;
  for (Index c = 0; c < colours; ++c) picture.channels.push_back(channel_of(samples, c));
  if (samples.channels > colours) picture.alpha = channel_of(samples, colours);
  return picture;
}

Samples to_samples(const Picture& picture, bool colour) {
  std::vector<const Matrix*> layers;
  for (const Matrix& channel : picture.channels) layers.push_back(&channel);
  while (colour && layers.size() < 3) layers.push_back(layers.front());
  if (picture.alpha.size() > 0) layers.push_back(&picture.alpha);

  const SampleKind kind = picture.depth == PixelDepth::bits8    ? SampleKind::bits8
                          : picture.depth == PixelDepth::bits16 ? SampleKind::bits16
                                                                : SampleKind::real32;
  Samples samples(picture.width(), picture.height(), static_cast<Index>(layers.size()), kind);
  samples.bands = picture.channels.size() > 3;
  for (Index c = 0; c < samples.channels; ++c) {
    const Matrix& values = *layers[static_cast<std::size_t>(c)];
    if (kind == SampleKind::bits8)
      set_channel<std::uint8_t>(samples, c, values);
    else if (kind == SampleKind::bits16)
      set_channel<std::uint16_t>(samples, c, values);
    else
      set_channel<float>(samples, c, values);
  }
  return samples;
}

}  // namespace gsc::media
