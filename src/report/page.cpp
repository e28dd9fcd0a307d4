#include "report/page.h"

#include <fmt/format.h>

#include <string_view>

#include "report/html.h"

namespace gsc {

namespace embedded {  // made by cmake/EmbedFile.cmake
std::string_view chart_js();
std::string_view page_css();
std::string_view page_js();
}  // namespace embedded

namespace {

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

}  // namespace

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

}  // namespace gsc
