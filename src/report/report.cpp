#include <fmt/format.h>
#include <gsc/report.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "io/atomic_file.h"
#include "report/chart.h"
#include "report/html.h"
#include "report/pixels.h"

namespace gsc {

namespace embedded {  // made by cmake/EmbedFile.cmake
std::string_view chart_js();
std::string_view page_css();
std::string_view page_js();
}  // namespace embedded

namespace {

/// The frame around a report's sections: one HTML document with styles and scripts inside, asking the network for
/// nothing.
struct Page {
  std::string title, subtitle;  ///< plain text
  std::string body;             ///< HTML
  bool has_charts = false;      ///< Chart.js comes along only if so: it is 200 kB
};

// The policy makes the browser itself refuse whatever is not inside the page.
constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name="generator" content="gsc">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
)";

constexpr std::string_view kZoom = R"(<dialog id="zoom" aria-label="Enlarged picture">
<form method="dialog"><button class="close" aria-label="Close">Close</button></form>
<div class="stage"></div>
<p class="caption"></p>
</dialog>
)";

std::string page_html(const Page& page) {
  std::string text(kHead);
  text += fmt::format("<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n", html::escape(page.title),
                      embedded::page_css());
  text += fmt::format("<header><h1>{}</h1>", html::escape(page.title));
  if (!page.subtitle.empty()) text += fmt::format("<p class=\"subtitle\">{}</p>", html::escape(page.subtitle));
  text += "</header>\n<main>\n";
  if (page.has_charts) text += "<noscript><p class=\"note\">The charts on this page need JavaScript.</p></noscript>\n";
  text += page.body;
  text += "</main>\n<footer>Written by gsc. Everything on this page is inside this one file.</footer>\n";
  text += kZoom;
  if (page.has_charts) text += fmt::format("<script>{}</script>\n", embedded::chart_js());
  text += fmt::format("<script>\n{}</script>\n</body>\n</html>\n", embedded::page_js());
  return text;
}

using html::escape;

/// "31.7", "-3e-5", "31.7 dB", "+0.1 ± 0.2", "0.2, 3 failed": such columns line up at the right.
bool is_number(std::string_view cell) {
  if (cell.starts_with('+')) cell.remove_prefix(1);
  double value = 0;
  const std::from_chars_result result = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return result.ec == std::errc() &&
         (result.ptr == cell.data() + cell.size() || *result.ptr == ' ' || *result.ptr == ',');
}

/// Where there is little room, lines of a number break after commas only.
std::string unbroken(std::string_view cell) {
  std::string text;
  for (const char c : cell) {
    if (c == ' ' && !text.ends_with(','))
      text += "\u00a0";
    else
      text += c;
  }
  return text;
}

std::string image(const Pixels& pixels, const std::string& alt, std::string_view attributes = "") {
  return fmt::format("<img src=\"{}\" width=\"{}\" height=\"{}\" alt=\"{}\"{}>", data_uri(pixels), pixels.width,
                     pixels.height, escape(alt), attributes);
}

std::string caption(const Figure& figure, Index reduction) {
  std::string text = fmt::format("<strong>{}</strong>", escape(figure.caption));
  if (!figure.detail.empty()) text += fmt::format(" <span>{}</span>", escape(figure.detail));
  // Averaging takes noise away, so whoever compares pictures must know.
  if (reduction > 1) text += fmt::format(" <span>shown at 1/{} size, averaged</span>", reduction);
  return text;
}

/// Small pictures are looked at for their pixels, large ones as pictures.
bool is_small(const Pixels& pixels) { return std::max(pixels.width, pixels.height) <= 128; }

}  // namespace

Report::Report(std::string title, std::string subtitle) : title_(std::move(title)), subtitle_(std::move(subtitle)) {}

void Report::add_heading(const std::string& text) { body_ += fmt::format("<h2>{}</h2>\n", escape(text)); }

void Report::add_text(const std::string& text) {
  std::size_t begin = 0;
  while (begin < text.size()) {  // an empty line ends a paragraph
    const std::size_t end = std::min(text.find("\n\n", begin), text.size());
    if (end > begin) body_ += fmt::format("<p>{}</p>\n", escape(text.substr(begin, end - begin)));
    begin = end + 2;
  }
}

void Report::add_table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows) {
  std::size_t columns = header.size();
  for (const auto& row : rows) columns = std::max(columns, row.size());
  std::vector<std::string_view> classes(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    const bool numbers = std::all_of(rows.begin(), rows.end(), [&](const auto& row) {
      return c >= row.size() || row[c].empty() || is_number(row[c]);
    });
    if (numbers && !rows.empty()) classes[c] = " class=\"number\"";
  }
  const auto cells = [&](const std::vector<std::string>& row, std::string_view tag) {
    std::string text = "<tr>";
    for (std::size_t c = 0; c < columns; ++c) {
      std::string cell = c < row.size() ? escape(row[c]) : "";
      if (tag == "td" && !classes[c].empty()) cell = unbroken(cell);
      text += fmt::format("<{}{}>{}</{}>", tag, classes[c], cell, tag);
    }
    return text + "</tr>\n";
  };
  // A wide table scrolls by itself, so the keyboard must be able to reach it.
  body_ += "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table>\n";
  if (!header.empty()) body_ += "<thead>" + cells(header, "th") + "</thead>\n";
  body_ += "<tbody>";
  for (const auto& row : rows) body_ += cells(row, "td");
  body_ += "</tbody></table></div>\n";
}

void Report::add_charts(const std::vector<Chart>& charts) {
  if (charts.empty()) return;
  body_ += "<div class=\"charts\">\n";
  for (const Chart& chart : charts) body_ += chart_html(chart);
  body_ += "</div>\n";
  charts_ += static_cast<int>(charts.size());
}

void Report::add_figures(const std::vector<Figure>& figures) {
  if (figures.empty()) return;
  body_ += "<div class=\"figures\">\n";
  for (const Figure& figure : figures) {
    const Pixels pixels = shown_pixels(figure);
    body_ += fmt::format(
        "<figure><button type=\"button\" class=\"enlarge\" aria-label=\"Enlarge {}\">{}</button>"
        "<figcaption>{}</figcaption></figure>\n",
        escape(figure.caption),
        image(pixels, figure.caption, is_small(pixels) ? " class=\"small\" loading=\"lazy\"" : " loading=\"lazy\""),
        caption(figure, pixels.reduction));
  }
  body_ += "</div>\n";
}

void Report::add_slider(const Figure& left, const Figure& right) {
  if (left.picture.height() != right.picture.height() || left.picture.width() != right.picture.width())
    throw Error(fmt::format("report: a slider needs two pictures of one size; '{}' has {} x {} pixels and '{}' {} x {}",
                            left.caption, left.picture.height(), left.picture.width(), right.caption,
                            right.picture.height(), right.picture.width()));
  const Pixels below = shown_pixels(right), above = shown_pixels(left);
  // A whole multiple of its pixels, as large as fits well on a large screen; a lower one shows it less wide.
  constexpr Index kMost = 800;
  const Index scale = std::max<Index>(1, kMost / std::max(below.width, below.height));
  const double aspect = static_cast<double>(below.width) / static_cast<double>(below.height);
  body_ += fmt::format(
      "<figure class=\"slider\" style=\"max-width:min({}px,{:.2f}vh)\"><div class=\"stage{}\">{}{}<div "
      "class=\"handle\"></div>"
      "<input type=\"range\" min=\"0\" max=\"100\" step=\"0.1\" value=\"50\" aria-label=\"{}\"></div>"
      "<figcaption><span>{}</span><span>{}</span></figcaption></figure>\n",
      below.width * scale, 85 * aspect, scale > 1 ? " small" : "", image(below, right.caption),
      image(above, left.caption, " class=\"above\""),
      escape(fmt::format("How much is seen of '{}', the rest being '{}'", left.caption, right.caption)),
      caption(left, above.reduction), caption(right, below.reduction));
}

void Report::add_facts(const std::string& heading, const std::vector<std::pair<std::string, std::string>>& facts) {
  if (!heading.empty()) add_heading(heading);
  body_ += "<dl class=\"facts\">\n";
  for (const auto& [name, value] : facts)
    body_ += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(name), escape(value));
  body_ += "</dl>\n";
}

std::string Report::html() const { return page_html({title_, subtitle_, body_, charts_ > 0}); }

void Report::write(const std::filesystem::path& path) const {
  AtomicFile file(path);
  file.write(html());
  file.commit();
}

}  // namespace gsc
