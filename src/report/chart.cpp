#include "report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "report/html.h"

namespace gsc {
namespace {

using Json = nlohmann::json;
constexpr std::size_t kMostPoints = 2000;

/// Nine digits are more than a chart shows and half as long as a double; null where there is no place on the axis.
Json coordinate(double value, bool log) {
  if (!std::isfinite(value) || (log && value <= 0)) return nullptr;
  // Not std::stod: it follows the locale and throws for numbers below 2e-308.
  const std::string text = fmt::format("{:.9g}", value);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Counts want ticks at whole numbers.
bool all_whole(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value == std::round(value); });
}

Json series_json(const Chart& chart, const Chart::Series& series) {
  for (const auto& [what, values] : {std::pair{"x", &series.x}, std::pair{"error", &series.error}})
    if (!values->empty() && values->size() != series.y.size())
      throw Error(fmt::format("report: series '{}' of the chart '{}' has {} {} and {} y values; give as many",
                              series.name, chart.title, values->size(), what, series.y.size()));
  Json x = Json::array(), y = Json::array(), error = Json::array();
  for (const std::size_t i : thinned(series.y, kMostPoints)) {
    x.push_back(coordinate(series.x.empty() ? static_cast<double>(i) : series.x[i], chart.log_x));
    y.push_back(coordinate(series.y[i], chart.log_y));
    if (!series.error.empty()) error.push_back(coordinate(series.error[i], false));
  }
  return {{"name", series.name}, {"x", x}, {"y", y}, {"error", error}, {"reference", series.reference}};
}

/// Whether there are values below the start of the y axis.
bool hides_values(const Chart& chart) {
  return chart.y_from && std::any_of(chart.series.begin(), chart.series.end(), [&](const Chart::Series& series) {
           return std::any_of(series.y.begin(), series.y.end(), [&](double y) { return y < *chart.y_from; });
         });
}

/// What somebody hears who cannot see the chart.
std::string spoken(const Chart& chart) {
  std::string text = fmt::format("{} chart: {}", chart.kind == Chart::Kind::bar ? "Bar" : "Line", chart.title);
  if (!chart.x_label.empty()) text += fmt::format(", against {}", chart.x_label);
  constexpr std::size_t kMost = 8;
  for (std::size_t i = 0; i < std::min(kMost, chart.series.size()); ++i) {
    const Chart::Series& series = chart.series[i];
    text += fmt::format("; {}", series.name.empty() ? "values" : series.name);
    if (series.y.empty())
      text += " (empty)";
    else
      text += fmt::format(" from {} to {}", html::number(series.y.front()), html::number(series.y.back()));
  }
  if (chart.series.size() > kMost) text += fmt::format("; and {} more", chart.series.size() - kMost);
  return text + ".";
}

/// JSON that may stand in a script element: there "<" could end the element, in JSON it occurs within strings only.
std::string script_text(const Json& json) {
  // Bytes that are not UTF-8, as in odd file names, are replaced instead of throwing.
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    if (c == '<')
      result += "\\u003c";
    else
      result += c;
  }
  return result;
}

}  // namespace

std::vector<std::size_t> thinned(const std::vector<double>& y, std::size_t most) {
  std::vector<std::size_t> places;
  if (y.size() <= most) {
    places.resize(y.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    return places;
  }
  const std::size_t stretches = most / 2;
  for (std::size_t s = 0; s < stretches; ++s) {
    const std::size_t begin = s * y.size() / stretches, end = (s + 1) * y.size() / stretches;
    std::size_t least = begin, largest = begin;
    for (std::size_t i = begin; i < end; ++i) {
      if (std::isnan(y[least]) || y[i] < y[least]) least = i;
      if (std::isnan(y[largest]) || y[i] > y[largest]) largest = i;
    }
    // The ends of the whole series stay, so that the axis does not shrink.
    if (s == 0) least = begin;
    if (s + 1 == stretches) largest = end - 1;
    places.push_back(std::min(least, largest));
    if (least != largest) places.push_back(std::max(least, largest));
  }
  return places;
}

std::string chart_html(const Chart& chart) {
  Json series = Json::array();
  bool whole_x = true, whole_y = true;
  for (const Chart::Series& one : chart.series) {
    series.push_back(series_json(chart, one));
    whole_x = whole_x && all_whole(one.x);
    whole_y = whole_y && all_whole(one.y);
  }
  const Json json = {
      {"kind", chart.kind == Chart::Kind::bar ? "bar" : "line"},
      {"xLabel", chart.x_label},
      {"yLabel", chart.y_label},
      {"logX", chart.log_x},
      {"logY", chart.log_y},
      {"wholeX", whole_x},
      {"wholeY", whole_y},
      {"yFrom", chart.y_from ? coordinate(*chart.y_from, chart.log_y) : Json()},
      {"series", series},
  };
  const std::string button =
      hides_values(chart) ? "<button type=\"button\" class=\"range\" aria-pressed=\"false\">Whole range</button>" : "";
  return fmt::format(
      "<figure class=\"chart card\"><figcaption><h3>{}</h3>{}</figcaption>"
      "<div class=\"canvas\"><canvas role=\"img\" aria-label=\"{}\"></canvas></div>"
      "<script type=\"application/json\">{}</script></figure>\n",
      html::escape(chart.title), button, html::escape(spoken(chart)), script_text(json));
}

}  // namespace gsc
