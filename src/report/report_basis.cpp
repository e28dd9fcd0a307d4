// The grid of basis functions. As pictures they share one PNG, in which page.css finds each by its place: a thousand
// pictures of their own would cost a browser seconds.

#include <fmt/format.h>
#include <gsc/report.h>
#include <gsc/words.h>

#include <algorithm>
#include <cmath>

#include "report/basis_order.h"
#include "report/chart.h"
#include "report/html.h"
#include "report/pixels.h"

namespace gsc {
namespace {

struct Tile {
  Index rows, cols, channels;
};

/// All tiles with a frame of one pixel around each, which repeats its edge: browsers that scale by odd factors mix in
/// the neighbours otherwise.
Pixels atlas(const Matrix& W, const std::vector<Index>& order, const Tile& tile, Index across) {
  const auto count = static_cast<Index>(order.size());
  Pixels pixels{(tile.cols + 2) * across, (tile.rows + 2) * ((count + across - 1) / across), tile.channels, {}, 1};
  pixels.bytes.assign(static_cast<std::size_t>(pixels.width * pixels.height * pixels.channels), 128);
  for (Index i = 0; i < count; ++i) {
    const Vector column = W.col(order[static_cast<std::size_t>(i)]);
    const double scale = scale_of(column);
    const Index left = i % across * (tile.cols + 2), top = i / across * (tile.rows + 2);
    for (Index y = 0; y < tile.rows + 2; ++y)
      for (Index x = 0; x < tile.cols + 2; ++x)
        for (Index c = 0; c < tile.channels; ++c) {
          const Index row = std::clamp<Index>(y - 1, 0, tile.rows - 1),
                      col = std::clamp<Index>(x - 1, 0, tile.cols - 1);
          const double value = scaled(column[(row * tile.cols + col) * tile.channels + c], scale);
          const Index to = ((top + y) * pixels.width + left + x) * pixels.channels + c;
          pixels.bytes[static_cast<std::size_t>(to)] = static_cast<std::uint8_t>(std::lround(127.5 + 127.49 * value));
        }
  }
  return pixels;
}

/// A line through the values, or a stem for each where there are few; the box is 200 x 100 with zero in the middle.
std::string trace(const Vector& column, std::size_t most_points) {
  const double scale = scale_of(column);
  const std::vector<double> values(column.begin(), column.end());
  const auto height = [&](std::size_t d) { return std::lround(50 - 46 * scaled(values[d], scale)); };
  const bool stems = values.size() <= 24;
  const double step = 200.0 / static_cast<double>(stems ? values.size() : std::max<std::size_t>(1, values.size() - 1));
  std::string path;
  for (const std::size_t d : thinned(values, most_points)) {
    const long x = std::lround((static_cast<double>(d) + (stems ? 0.5 : 0)) * step);
    if (stems)
      path += fmt::format("M{} 50V{}", x, height(d));
    else
      path += fmt::format("{}{} {}", path.empty() ? "M" : "L", x, height(d));
  }
  return fmt::format(
      "<svg viewBox=\"0 0 200 100\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><path class=\"zero\" "
      "d=\"M0 50H200\"/><path class=\"{}\" d=\"{}\"/></svg>",
      stems ? "stems" : "line", path);
}

}  // namespace

void Report::add_basis(const Model& model, Index rows, Index cols, Index channels) {
  const bool traces = rows == 0;
  if (!traces &&
      (rows < 1 || cols < 1 || (channels != 1 && channels != 3) || rows * cols * channels != model.dimensions()))
    throw Error(
        fmt::format("report: basis functions of {0} values cannot be shown as {1} x {2} pixels with {3}; "
                    "their product must be {0}, with 1 or 3 channels",
                    model.dimensions(), rows, cols, counted(channels, "channel")));
  if (model.latents() == 0 || model.dimensions() == 0) return;

  std::vector<Index> order = order_by_use(model.pi);
  // Two million values keep the page below a few megabytes.
  const auto most =
      static_cast<std::size_t>(std::clamp<Index>(traces ? 4096 : 2'000'000 / model.dimensions(), 16, 4096));
  order.resize(std::min(order.size(), most));
  const std::size_t count = order.size();

  std::string style, note;
  const Index across = std::min<Index>(32, static_cast<Index>(count));
  if (!traces) {
    // Class of its own instead of a property of each cell: the browser decodes the picture once.
    body_ += fmt::format("<style>.basis-{} i{{background-image:url({})}}</style>\n", bases_,
                         data_uri(atlas(model.W, order, {rows, cols, channels}, across)));
    const Index wanted = count <= 64 ? 64 : count <= 256 ? 48 : 36;
    style = fmt::format("--rows:{};--cols:{};--zoom:{};--across:{};--down:{}", rows, cols,
                        std::max<Index>(1, wanted / std::max(rows, cols)), across,
                        (static_cast<Index>(count) + across - 1) / across);
    note = "Each is scaled to its own largest value; mid-grey is zero.";
  } else {
    note = "Each is scaled to its own largest absolute value; the thin line is zero.";
  }
  const std::string drawn = count == static_cast<std::size_t>(model.latents())
                                ? counted(model.latents(), "basis function")
                                : fmt::format("The {} most used of {} basis functions", count, model.latents());
  body_ += fmt::format(
      "<div class=\"basis {} {}\"><p class=\"note\">{}, the most often used first. {} <output></output></p>\n"
      "<div class=\"cells basis-{}\" style=\"{}\" tabindex=\"0\" role=\"application\" "
      "aria-label=\"{}; arrow keys move, Enter enlarges\">\n",
      traces ? "traces" : "tiles", count <= 256 ? "labelled" : "dense", drawn, note, bases_, style, drawn);
  const std::size_t points = std::clamp<std::size_t>(100'000 / count, 32, 400);
  for (std::size_t i = 0; i < count; ++i) {
    const Index h = order[i];
    const auto place = static_cast<Index>(i);
    body_ += fmt::format("<b data-h=\"{}\" data-pi=\"{}\">{}</b>\n", h,
                         std::isfinite(model.pi[h]) ? fmt::format("{:#.3g}", model.pi[h]) : "–",
                         traces ? trace(model.W.col(h), points)
                                : fmt::format("<i style=\"--x:{};--y:{}\"></i>", place % across, place / across));
  }
  body_ += "</div></div>\n";
  ++bases_;
}

}  // namespace gsc
