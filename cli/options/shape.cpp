#include "options/shape.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

namespace gsc::cli {

Shape parse_shape(const std::string& name, const std::string& text) {
  std::vector<Index> extents;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    Index extent = 0;
    const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, extent);
    constexpr Index kMost = std::numeric_limits<std::int32_t>::max();  // so that no product of two is out of range
    if (error != std::errc() || stop != text.data() + end || extent < 1 || extent > kMost) {
      extents.clear();
      break;
    }
    extents.push_back(extent);
    begin = end + 1;
  }
  if (extents.size() < 2 || extents.size() > 3)
    throw UsageError(
        fmt::format("{} is '{}'; give rows x columns, as 8x8, or rows x columns x channels, as 8x8x3", name, text));
  return {extents[0], extents[1], extents.size() > 2 ? extents[2] : 1};
}

std::string to_string(const Shape& shape) {
  return shape.channels == 1 ? fmt::format("{}x{}", shape.rows, shape.cols)
                             : fmt::format("{}x{}x{}", shape.rows, shape.cols, shape.channels);
}

void check_shape(const std::string& name, const Shape& shape, Index dimensions, const std::string& of_what) {
  if (shape.rows == 0) return;
  const bool divides = dimensions % shape.channels == 0;
  if (!divides || shape.rows * shape.cols != dimensions / shape.channels)
    throw UsageError(fmt::format("{} is {}, but {} has {} dimensions; the product must be that", name, to_string(shape),
                                 of_what, dimensions));
}

Shape drawn_shape(const Shape& show_basis, const Shape& of_data) { return show_basis.rows > 0 ? show_basis : of_data; }

}  // namespace gsc::cli
