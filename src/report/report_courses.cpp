// The grid of basis functions of a recording's windows: in each cell a lane for every channel, and the time below.

#include <fmt/format.h>
#include <gsc/report.h>

#include <algorithm>
#include <cmath>

#include "report/basis_order.h"
#include "report/chart.h"
#include "report/html.h"

namespace gsc {
namespace {

/// Where the axis is labelled, in its own units from 0 to `end`: at 1, 2 or 5 times a power of ten, three or four
/// times.
std::vector<double> ticks(double end) {
  const double rough = end / 3, power = std::pow(10, std::floor(std::log10(rough)));
  double step = power;
  for (const double factor : {2.0, 5.0, 10.0})
    if (factor * power <= rough * 1.2) step = factor * power;
  std::vector<double> places;
  for (int i = 0; i * step <= end * (1 + 1e-9); ++i) places.push_back(i * step);
  return places;
}

struct Axis {
  double end;  ///< of the last sample
  std::vector<double> places;
  double fraction(double place) const { return place / end; }
};

/// What is the same in all cells.
std::string axis_html(const Axis& axis, bool seconds) {
  std::string text = "<div>";
  for (const double place : axis.places)
    text += fmt::format("<em style=\"left:{:.4g}%\">{:.4g}{}</em>", 100 * axis.fraction(place), place,
                        seconds && place == axis.places.back() ? " s" : "");
  return text + "</div>";
}

std::string grid_path(const Axis& axis) {
  std::string path = "M0 100H400";
  for (const double place : axis.places)
    if (place > 0) path += fmt::format("M{} 0V200", std::lround(400 * axis.fraction(place)));
  return path;
}

/// A line through the values; the box is 400 x 200 with zero in the middle, `reach` away from which the scale ends.
std::string lane(const std::vector<double>& values, double scale, double reach, std::size_t most_points,
                 const std::string& grid) {
  const double step = 400.0 / static_cast<double>(values.size() - 1);
  std::string path;
  for (const std::size_t s : thinned(values, most_points))
    path += fmt::format("{}{} {}", path.empty() ? "M" : "L", std::lround(static_cast<double>(s) * step),
                        std::lround(100 - reach * scaled(values[s], scale)));
  return fmt::format(
      "<svg viewBox=\"0 0 400 200\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><path class=\"zero\" "
      "d=\"{}\"/><path class=\"line\" d=\"{}\"/></svg>",
      grid, path);
}

}  // namespace

void Report::add_basis(const Model& model, const Recording& recording) {
  if (recording.window < 1 || recording.channels < 1 || recording.dimensions() != model.dimensions())
    throw Error(fmt::format(
        "report: basis functions of {} values cannot be shown as windows of {} samples x {} channels; their product "
        "must be that",
        model.dimensions(), recording.window, recording.channels));
  if (recording.window == 1) return add_basis(model, 0, 0, 0);  // no time to draw against
  if (model.latents() == 0) return;

  const Index lanes = recording.channels;
  std::vector<Index> order = order_by_use(model.pi);
  order.resize(std::min(order.size(), static_cast<std::size_t>(std::clamp<Index>(4096 / lanes, 16, 4096))));
  const std::size_t count = order.size();
  const std::size_t points = std::clamp<std::size_t>(200'000 / (count * static_cast<std::size_t>(lanes)), 16, 400);

  const double last = static_cast<double>(recording.window - 1);
  const bool seconds = recording.rate > 0;
  Axis axis{seconds ? last / recording.rate : last, {}};
  axis.places = ticks(axis.end);
  const std::string below = axis_html(axis, seconds), grid = grid_path(axis);
  const std::string counted = count == static_cast<std::size_t>(model.latents())
                                  ? fmt::format("{} basis function{}", count, count == 1 ? "" : "s")
                                  : fmt::format("The {} most used of {} basis functions", count, model.latents());
  // Beyond this the names would lie on each other (the enlarged view shows them), and lines leave their lanes, which
  // would be too narrow to see them bend.
  constexpr Index kNamed = 12;
  const double reach = lanes > kNamed ? 300 : 92;
  body_ += fmt::format(
      "<div class=\"basis traces courses {}\"><p class=\"note\">{}, the most often used first. Each is scaled to its "
      "own "
      "largest absolute value over all channels; the thin lines are zero and the {}. <output></output></p>\n"
      "<div class=\"cells basis-{}\" style=\"--lanes:{}\" tabindex=\"0\" role=\"application\" aria-label=\"{}; arrow "
      "keys move, Enter enlarges\">\n",
      count <= 256 ? "labelled" : "dense", counted,
      seconds ? "seconds from the beginning of the window" : "samples from the beginning of the window", bases_, lanes,
      counted);
  std::vector<double> values(static_cast<std::size_t>(recording.window));
  for (const Index h : order) {
    const Vector column = model.W.col(h);
    const double scale = scale_of(column);
    std::string cell;
    for (Index c = 0; c < lanes; ++c) {
      for (Index s = 0; s < recording.window; ++s) values[static_cast<std::size_t>(s)] = column[s * lanes + c];
      if (lanes > 1 || !recording.names.empty())
        cell += fmt::format("<span>{}</span>", html::escape(recording.channel_name(c)));
      cell += lane(values, scale, reach, points, grid);
    }
    body_ +=
        fmt::format("<b data-h=\"{}\" data-pi=\"{}\"><div class=\"course{}\" style=\"--lanes:{}\">{}{}</div></b>\n", h,
                    std::isfinite(model.pi[h]) ? fmt::format("{:#.3g}", model.pi[h]) : "–",
                    lanes > kNamed ? " many" : "", lanes, cell, below);
  }
  body_ += "</div></div>\n";
  ++bases_;
}

}  // namespace gsc
