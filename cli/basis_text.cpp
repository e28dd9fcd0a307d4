#include "basis_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <vector>

namespace gsc::cli {

std::string basis_text(const Model& model, const Shape& shape) {
  constexpr std::string_view kShades = " .:+*#";
  constexpr Index kWidth = 78;
  std::vector<Index> order(static_cast<std::size_t>(model.latents()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return model.pi[a] > model.pi[b]; });

  const Index cell = std::max<Index>(2 * shape.cols, 8) + 2;  // two characters a pixel look square
  const auto per_line = static_cast<std::size_t>(std::max<Index>(1, kWidth / cell));
  std::string text;
  for (std::size_t first = 0; first < order.size(); first += per_line) {
    const std::size_t end = std::min(order.size(), first + per_line);
    for (std::size_t i = first; i < end; ++i)
      text += fmt::format("{:<{}}", fmt::format("pi {:.3f}", model.pi[order[i]]), cell);
    text += '\n';
    for (Index row = 0; row < shape.rows; ++row) {
      for (std::size_t i = first; i < end; ++i) {
        const auto column = model.W.col(order[i]);
        const double largest = std::max(column.cwiseAbs().maxCoeff(), 1e-300);
        std::string pixels;
        for (Index x = 0; x < shape.cols; ++x) {
          const auto values = column.segment((row * shape.cols + x) * shape.channels, shape.channels);
          const double shade = values.cwiseAbs().maxCoeff() / largest * static_cast<double>(kShades.size() - 1);
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
