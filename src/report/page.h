#pragma once
// The frame around a report's sections: one HTML document with styles and scripts inside, asking the network for
// nothing.

#include <string>

namespace gsc {

struct Page {
  std::string title, subtitle;  ///< plain text
  std::string body;             ///< HTML
  bool has_charts = false;      ///< Chart.js comes along only if so: it is 200 kB
};

std::string page_html(const Page& page);

}  // namespace gsc
