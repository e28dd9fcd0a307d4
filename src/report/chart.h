#pragma once
// A chart as HTML: a canvas, what a screen reader says, and the numbers as JSON for page.js.

#include <gsc/report.h>

#include <string>
#include <vector>

namespace gsc {

/// The points of a series that a chart of limited width needs: all up to `most`, else the least and the largest of each
/// of most / 2 stretches, in order, so that no peak is lost. Returns their places in `y`.
std::vector<std::size_t> thinned(const std::vector<double>& y, std::size_t most);

std::string chart_html(const Chart& chart);

}  // namespace gsc
