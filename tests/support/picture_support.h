#pragma once
// What the tests of pictures share.

#include <gsc/picture_files.h>
#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "io_support.h"

namespace gsc::test {

/// Different everywhere; the ends of the depth's range are there, and real numbers leave it.
inline Picture example_picture(std::size_t channels, bool alpha, PixelDepth depth, Index height = 9, Index width = 14) {
  Picture picture;
  picture.depth = depth;
  const auto fill = [&](double shift) {
    Matrix values(height, width);
    const double most = depth == PixelDepth::bits8 ? 255 : 65535;
    for (Index i = 0; i < height; ++i)
      for (Index j = 0; j < width; ++j)
        values(i, j) = std::round((0.5 + 0.5 * std::sin(static_cast<double>(i * j + i) + shift)) * most);
    if (height > 1) values(0, 0) = 0;
    if (height > 1) values(height - 1, width - 1) = most;
    if (depth == PixelDepth::real32) values = (values.array() / 7 - 100).cast<float>().cast<double>();
    return values;
  };
  for (std::size_t k = 0; k < channels; ++k) picture.channels.push_back(fill(static_cast<double>(k)));
  if (alpha) picture.alpha = fill(9);
  return picture;
}

inline std::string read_error(const std::string& bytes, const std::string& name = "picture") {
  const TemporaryFolder folder;
  write_file(folder / name, bytes);
  testing::internal::CaptureStderr();
  const std::string message = error_of([&] { read_picture(folder / name); });
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_NE(message.find(name), std::string::npos) << message;
  return message;
}

inline Picture read_bytes(const std::string& bytes) {
  return decode_picture(std::as_bytes(std::span(bytes)), "picture");
}

inline std::string bytes_of(const Picture& picture, const std::string& name) {
  const std::vector<std::byte> bytes = encode_picture(name, picture);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace gsc::test
