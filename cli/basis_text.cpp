#include "basis_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <vector>

#include "option_values.h"

namespace gsc::cli {

std::pair<Index, Index> parse_shape(const std::string& text, Index dimensions) {
  const std::size_t cross = text.find('x');
  if (cross == std::string::npos)
    throw UsageError(fmt::format("show-basis is '{}'; give rows x columns, as 8x8", text));
  const auto rows = parse_value<Index>("show-basis", text.substr(0, cross));
  const auto cols = parse_value<Index>("show-basis", text.substr(cross + 1));
  if (rows < 1 || cols < 1 || rows > dimensions || rows * cols != dimensions)
    throw UsageError(
        fmt::format("show-basis is {}, but the model has {} dimensions; their product must be that", text, dimensions));
  return {rows, cols};
}

std::string basis_text(const Model& model, Index rows, Index cols) {
  constexpr std::string_view kShades = " .:+*#";
  constexpr Index kWidth = 78;
  std::vector<Index> order(static_cast<std::size_t>(model.latents()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return model.pi[a] > model.pi[b]; });

  const Index cell = std::max<Index>(2 * cols, 8) + 2;  // two characters a pixel look square
  const auto per_line = static_cast<std::size_t>(std::max<Index>(1, kWidth / cell));
  std::string text;
  for (std::size_t first = 0; first < order.size(); first += per_line) {
    const std::size_t end = std::min(order.size(), first + per_line);
    for (std::size_t i = first; i < end; ++i)
      text += fmt::format("{:<{}}", fmt::format("pi {:.3f}", model.pi[order[i]]), cell);
    text += '\n';
    for (Index row = 0; row < rows; ++row) {
      for (std::size_t i = first; i < end; ++i) {
        const auto column = model.W.col(order[i]);
        const double largest = std::max(column.cwiseAbs().maxCoeff(), 1e-300);
        std::string pixels;
        for (Index x = 0; x < cols; ++x) {
          const double shade = std::abs(column[row * cols + x]) / largest * static_cast<double>(kShades.size() - 1);
          pixels.append(2, kShades[static_cast<std::size_t>(std::lround(shade))]);
        }
        text += fmt::format("{:<{}}", pixels, cell);
      }
      text += '\n';
    }
  }
  return text;
}

}  // namespace gsc::cli
