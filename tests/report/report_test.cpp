// The report as text: what must be in the page, what must never be. report_browser_test.py looks at it in a browser.

#include <fmt/format.h>
#include <gsc/picture_files.h>
#include <gsc/report.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "expect_error.h"
#include "report/chart.h"
#include "report/html.h"
#include "report/pixels.h"

namespace gsc {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
const std::string kEvil = "</script><script>alert(1)</script>\"'&<img src=x onerror=y>";

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) ++found;
  return found;
}

Picture picture(Index height, Index width, std::size_t channels = 1) {
  Picture result;
  for (std::size_t c = 0; c < channels; ++c) {
    Matrix values(height, width);
    for (Index i = 0; i < values.size(); ++i) values.data()[i] = static_cast<double>((i * 37 + 80 * Index(c)) % 256);
    result.channels.push_back(values);
  }
  return result;
}

Model model(Index latents, Index dimensions) {
  Random random(3);
  std::normal_distribution<double> normal;
  Model result;
  result.W = Matrix::NullaryExpr(dimensions, latents, [&] { return normal(random); });
  result.pi = Vector::NullaryExpr(latents, [&] { return 0.01 + 0.1 * std::abs(normal(random)); });
  result.mu = Vector::Zero(latents);
  return result;
}

FitState state(Index latents, int rows) {
  FitState result;
  result.model = model(latents, 4);
  for (int t = 0; t < rows; ++t)
    result.history.push_back({t, -1000.0 - 1e6 * std::exp(-t), 2.0 / (t + 1), 1.5, latents, 0.25, t == 3, 0});
  return result;
}

/// The numbers of all charts of a page.
std::vector<nlohmann::json> charts(const std::string& html) {
  std::vector<nlohmann::json> result;
  const std::string begin = "<script type=\"application/json\">";
  for (std::size_t at = html.find(begin); at != std::string::npos; at = html.find(begin, at + 1)) {
    const std::size_t from = at + begin.size();
    result.push_back(nlohmann::json::parse(html.substr(from, html.find("</script>", from) - from)));
  }
  return result;
}

/// The pixels of the n-th PNG of a page.
Picture png(const std::string& html, std::size_t n = 0) {
  const std::string begin = "data:image/png;base64,";
  std::size_t at = html.find(begin);
  for (; n > 0; --n) at = html.find(begin, at + 1);
  std::vector<std::byte> bytes;
  unsigned bits = 0;
  int pending = 0;
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = at + begin.size(); digits.find(html[i]) != std::string::npos; ++i) {
    bits = bits << 6 | static_cast<unsigned>(digits.find(html[i]));
    pending += 6;
    if (pending >= 8) bytes.push_back(static_cast<std::byte>(bits >> (pending -= 8) & 255));
  }
  return decode_picture(bytes, "a picture of the page");
}

TEST(Report, IsOneFileThatLoadsNothing) {
  Report report("T");
  report.add_charts({{"c", "x", "y", Chart::Kind::line, false, false, {}, {{"s", {1, 2}, {}}}}});
  report.add_figures({{"f", "", picture(4, 4)}});
  report.add_slider({"a", "", picture(4, 4)}, {"b", "", picture(4, 4)});
  report.add_basis(model(3, 4), 2, 2, 1);
  const std::string html = report.html();
  EXPECT_EQ(html.find("<!doctype html>"), 0u);
  EXPECT_EQ(count(html, "</html>"), 1u);
  EXPECT_NE(html.find("name=\"viewport\""), std::string::npos);
  EXPECT_NE(html.find("Content-Security-Policy\" content=\"default-src 'none'"), std::string::npos);
  std::size_t attributes = 0;
  for (const std::string name : {" src=\"", " href=\""})
    for (std::size_t at = html.find(name); at != std::string::npos; at = html.find(name, at + 1), ++attributes)
      EXPECT_EQ(html.substr(at + name.size(), 5), "data:") << html.substr(at, 40);
  EXPECT_EQ(attributes, 4u);  // icon and three pictures
  EXPECT_EQ(html.find("@import"), std::string::npos);
  EXPECT_EQ(count(html, "url(") - count(html, "url(data:"), 0u);
}

TEST(Report, BringsChartJsOnlyWhereItIsNeeded) {
  Report report("T");
  report.add_text("no chart");
  EXPECT_LT(report.html().size(), 40'000u);
  report.add_charts({{"c", "", "", Chart::Kind::bar, false, false, {}, {{"s", {1}, {}}}}});
  EXPECT_NE(report.html().find("Chart.js v"), std::string::npos);
}

TEST(Report, EscapesEveryText) {
  Report report(kEvil, kEvil);
  report.add_heading(kEvil);
  report.add_text(kEvil);
  report.add_table({kEvil}, {{kEvil}});
  report.add_facts(kEvil, {{kEvil, kEvil}});
  report.add_figures({{kEvil, kEvil, picture(2, 2)}});
  report.add_slider({kEvil, kEvil, picture(2, 2)}, {kEvil, kEvil, picture(2, 2)});
  const std::size_t scripts = count(report.html(), "<script");
  report.add_charts({{kEvil, kEvil, kEvil, Chart::Kind::line, false, false, {}, {{kEvil, {1}, {}}}}});
  const std::string html = report.html();
  EXPECT_EQ(scripts, 1u);
  EXPECT_EQ(count(html, "<script"), 3u);  // page.js, Chart.js, the numbers
  EXPECT_EQ(count(html, "</script"), 3u);
  EXPECT_EQ(html.find("<img src=x"), std::string::npos);
  EXPECT_EQ(html.find("\"'&<"), std::string::npos);
  EXPECT_EQ(charts(html).at(0)["series"][0]["name"], kEvil);
}

TEST(Report, TakesTextThatIsNotUtf8) {
  Report report("a\xff.png");
  report.add_charts({{"c", "x", "y", Chart::Kind::line, false, false, {}, {{"b\xfe", {1}, {}}}}});
  EXPECT_EQ(charts(report.html()).size(), 1u);
}

TEST(Report, ChartsLeaveOutWhatHasNoPlaceOnTheAxis) {
  Report report("T");
  report.add_charts({{"c", "x", "y", Chart::Kind::line, false, false, {}, {{"s", {1, kNan, kInfinity, -4}, {}}}},
                     {"l", "x", "y", Chart::Kind::line, true, true, {}, {{"s", {0, -1, 10}, {0, 1, 2}}}},
                     {"empty", "x", "y", Chart::Kind::line, false, false, {}, {{"s", {}, {}}}},
                     {"none", "x", "y", Chart::Kind::bar, false, false, {}, {}}});
  const auto all = charts(report.html());
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0]["series"][0]["y"], nlohmann::json({1, nullptr, nullptr, -4}));
  EXPECT_EQ(all[1]["series"][0]["y"], nlohmann::json({nullptr, nullptr, 10}));
  EXPECT_EQ(all[1]["series"][0]["x"], nlohmann::json({nullptr, 1, 2}));
  report.add_charts({{"tiny", "x", "y", Chart::Kind::line, false, true, {}, {{"s", {1e-310, 0.12345678912}, {}}}}});
  EXPECT_EQ(charts(report.html()).back()["series"][0]["y"], nlohmann::json({1e-310, 0.123456789}));
  const Chart uneven{"c", "", "", Chart::Kind::line, false, false, {}, {{"s", {1, 2}, {1}}}};
  test::expect_error<Error>([&] { report.add_charts({uneven}); },
                            {"series 's' of the chart 'c' has 1 x and 2 y values", "give as many"});
}

TEST(Report, ErrorBarsAndReferences) {
  Report report("T");
  const Chart chart{
      .title = "c",
      .series = {{.name = "s", .y = {1, 2}, .error = {0.1, kNan}}, {.name = "r", .y = {3, 4}, .reference = true}}};
  report.add_charts({chart});
  const auto series = charts(report.html()).at(0)["series"];
  EXPECT_EQ(series[0]["error"], nlohmann::json({0.1, nullptr}));
  EXPECT_EQ(series[0]["reference"], false);
  EXPECT_EQ(series[1]["error"], nlohmann::json::array());
  EXPECT_EQ(series[1]["reference"], true);
  Chart wrong = chart;
  wrong.series[0].error.pop_back();
  test::expect_error<Error>([&] { report.add_charts({wrong}); }, {"of the chart 'c' has 1 error and 2 y values"});
}

TEST(Report, TheButtonForTheWholeRangeIsThereIfSomethingIsBelow) {
  for (const double from : {0.5, 1.5}) {
    Report report("T");
    report.add_charts({{.title = "c", .y_from = from, .series = {{"s", {1, 2}}}}});
    EXPECT_EQ(count(report.html(), "<button type=\"button\" class=\"range\""), from > 1 ? 1u : 0u);
  }
}

TEST(Report, ThinningKeepsEndsAndPeaks) {
  std::vector<double> y(100'000);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = std::sin(1e-3 * static_cast<double>(i));
  y[12'345] = 50;
  y[77'777] = -50;
  y[0] = y[500] = kNan;
  const std::vector<std::size_t> places = thinned(y, 2000);
  EXPECT_LE(places.size(), 2000u);
  EXPECT_GT(places.size(), 1000u);
  EXPECT_TRUE(std::is_sorted(places.begin(), places.end()));
  EXPECT_EQ(std::adjacent_find(places.begin(), places.end()), places.end());
  EXPECT_EQ(places.front(), 0u);
  EXPECT_EQ(places.back(), y.size() - 1);
  for (const std::size_t peak : {12'345u, 77'777u}) EXPECT_TRUE(std::binary_search(places.begin(), places.end(), peak));
  EXPECT_EQ(thinned({3, 1, 2}, 2000), (std::vector<std::size_t>{0, 1, 2}));
}

TEST(Report, LearningShowsHistoryAndSortedPi) {
  Report report("T");
  const FitState learned = state(5, 50);
  report.add_learning(learned);
  const std::string html = report.html();
  const auto all = charts(html);
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all[0]["series"][0]["y"].size(), 50u);
  EXPECT_EQ(all[1]["series"][0]["y"][1], 1.0);
  // The first rows lie a million below the others: the axis starts above them, below nine tenths of the rows.
  EXPECT_GT(all[0]["yFrom"].get<double>(), learned.history[4].free_energy);
  EXPECT_LT(all[0]["yFrom"].get<double>(), learned.history[5].free_energy);
  EXPECT_TRUE(all[1]["yFrom"].is_null());
  const auto pi = all[4]["series"][0]["y"].get<std::vector<double>>();
  EXPECT_TRUE(std::is_sorted(pi.rbegin(), pi.rend()));
  EXPECT_NE(html.find("The free energy fell in 1 iteration."), std::string::npos);
  EXPECT_NE(html.find("5 of 5"), std::string::npos);
}

TEST(Report, LearningCopesWithNothingLearned) {
  Report report("T");
  report.add_learning({});
  FitState one = state(1, 1);
  one.history[0].free_energy = kNan;
  report.add_learning(one);
  FitState fresh;
  fresh.model = model(1, 4);
  report.add_learning(fresh);
  EXPECT_EQ(count(report.html(), "No iterations were recorded."), 2u);
  EXPECT_EQ(charts(report.html()).size(), 7u);
}

TEST(Report, BasisIsOrderedByUseAndScaledAlone) {
  Model small = model(3, 4);
  small.pi << 0.1, 0.3, 0.2;
  small.W.col(0) << 0, 0, 0, 0;
  small.W.col(1) << 100, -100, 50, 0;
  small.W.col(2) << 0, kNan, -0.01, 0;
  Report report("T");
  report.add_basis(small, 2, 2, 1);
  const std::string html = report.html();
  const std::size_t first = html.find("data-h=\"1\" data-pi=\"0.300\""), second = html.find("data-h=\"2\"");
  EXPECT_LT(first, second);
  EXPECT_LT(second, html.find("data-h=\"0\""));
  const Matrix tiles = png(html).channels[0];
  ASSERT_EQ(tiles.rows(), 4);  // 2 x 2 pixels and a frame of one, three times
  ASSERT_EQ(tiles.cols(), 12);
  const auto at = [&](int tile, int y, int x) { return tiles(1 + y, 4 * tile + 1 + x); };
  EXPECT_EQ(at(0, 0, 0), 255);
  EXPECT_EQ(at(0, 0, 1), 0);
  EXPECT_EQ(at(0, 1, 0), 191);
  EXPECT_NEAR(at(0, 1, 1), 128, 1);
  EXPECT_NEAR(at(1, 0, 1), 128, 1);
  EXPECT_EQ(at(1, 1, 0), 0);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(at(2, i / 2, i % 2), 128, 1);
  EXPECT_EQ(tiles(0, 0), 255);  // the frame repeats the edge
}

TEST(Report, BasisInColourAndAsTraces) {
  Model colour = model(1, 12);
  colour.W.setZero();
  colour.W(3, 0) = 1;  // second pixel, red
  Report report("T");
  report.add_basis(colour, 2, 2, 3);
  EXPECT_EQ(png(report.html()).channels[0](1, 2), 255);
  Report traces("T");
  traces.add_basis(model(7, 100), 0, 0, 1);
  EXPECT_EQ(count(traces.html(), "<svg"), 7u);
  traces.add_basis(model(2, 1), 0, 0, 1);
  EXPECT_EQ(count(traces.html(), "class=\"stems\""), 2u);
  test::expect_error<Error>([&] { report.add_basis(colour, 2, 2, 1); },
                            {"of 12 values", "2 x 2 pixels with 1 channel;", "their product must be 12"});
  test::expect_error<Error>([&] { report.add_basis(colour, 3, 2, 2); },
                            {"of 12 values", "3 x 2 pixels with 2 channels", "1 or 3 channels"});
}

TEST(Report, BasisOfWindowsAsTimeCourses) {
  Model two = model(2, 6);  // three samples x two channels
  two.pi << 0.1, 0.2;
  two.W.setZero();
  two.W.col(1) << 0, 4, 0, 0, 2, 0;  // channel 2 at sample 0, channel 1 at sample 2
  Report report("T");
  report.add_basis(two, Recording{3, 1, 2, {"Fz", "<Cz>"}, 10});
  const std::string html = report.html();
  // The box is 400 x 200, the largest of both channels reaches 92 above the middle.
  const std::size_t first = html.find("<span>Fz</span>"), second = html.find("<span>&lt;Cz&gt;</span>");
  EXPECT_LT(html.find("data-h=\"1\""), first);
  EXPECT_LT(first, html.find("d=\"M0 100L200 100L400 54\""));
  EXPECT_LT(second, html.find("d=\"M0 8L200 100L400 100\""));
  EXPECT_EQ(count(html, "left:50%\">0.1</em>"), 2u);
  EXPECT_EQ(count(html, "left:100%\">0.2 s</em>"), 2u);

  Report plain("T");
  plain.add_basis(two, Recording{3, 1, 2, {}, 0});
  EXPECT_EQ(count(plain.html(), "<span>channel 2</span>"), 2u);
  EXPECT_EQ(count(plain.html(), "left:50%\">1</em>"), 2u);
  plain.add_basis(two, Recording{1, 1, 6, {}, 0});
  EXPECT_EQ(count(plain.html(), "class=\"stems\""), 2u) << "one sample is no course";
  test::expect_error<Error>(
      [&] {
        plain.add_basis(two, Recording{4, 1, 2, {}, 0});
      },
      {"of 6 values", "4 samples x 2 channels"});

  Report large("T");
  large.add_basis(model(1024, 500), Recording{50, 1, 10, {}, 0});
  EXPECT_LT(large.html().size(), 3'000'000u);
}

TEST(Report, ThousandLatentsStaySmall) {
  Report report("T");
  report.add_basis(model(1024, 64), 8, 8, 1);
  report.add_basis(model(1024, 192), 8, 8, 3);
  report.add_basis(model(1024, 500), 0, 0, 1);
  report.add_learning(state(1024, 300));
  const std::string html = report.html();
  EXPECT_EQ(count(html, "data-h="), 3 * 1024u);
  EXPECT_LT(html.size(), 3'000'000u);
}

TEST(Report, FiguresMapBlackAndWhite) {
  Picture values;
  values.channels.push_back(Matrix{{-20, 0, 20, kNan, 1e9}});
  Report report("T");
  report.add_figures({{"d", "", values, -20, 20}, {"c", "", picture(3, 2, 3)}});
  const Picture grey = png(report.html(), 0), colour = png(report.html(), 1);
  EXPECT_EQ(grey.channels[0], (Matrix{{0, 128, 255, 0, 255}}));
  ASSERT_EQ(colour.channels.size(), 3u);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(colour.channels[c](0, 1), (std::vector<double>{37, 117, 197}[c]));
}

TEST(Report, FiguresKeepAlphaAndReduceLargePictures) {
  Picture transparent = picture(2, 2);
  transparent.alpha = Matrix::Constant(2, 2, 51);
  const Picture pixels = png(data_uri(shown_pixels({"a", "", transparent})));
  EXPECT_EQ(pixels.channels[0](0, 1), 37);
  ASSERT_EQ(pixels.alpha.size(), 4);
  EXPECT_EQ(pixels.alpha(0, 1), 51);

  Report report("T");
  report.add_figures({{"large", "", picture(2000, 1500)}});
  EXPECT_EQ(png(report.html()).width(), 750);
  EXPECT_EQ(png(report.html()).height(), 1000);
  EXPECT_NE(report.html().find("shown at 1/2 size"), std::string::npos);
}

TEST(Report, RefusesPicturesThatAreNone) {
  Report report("T");
  const auto expect_refused = [&](const Figure& figure, test::Parts parts) {
    test::expect_error<Error>([&] { report.add_figures({figure}); }, parts);
  };
  expect_refused({"nothing", "", {}}, {"the figure 'nothing' has 0 channels of 0 x 0 pixels"});
  expect_refused({"two channels", "", picture(2, 2, 2)}, {"'two channels' has 2 channels", "a picture has 1 or 3"});
  test::expect_error<Error>(
      [&] {
        report.add_slider({"a", "", picture(2, 3)}, {"b", "", picture(3, 2)});
      },
      {"two pictures of one size", "'a' has 2 x 3 pixels and 'b' 3 x 2"});
  Picture odd = picture(2, 2, 3);
  odd.channels[2].resize(1, 2);
  expect_refused({"odd", "", odd}, {"the figure 'odd'", "a channel of 1 x 2 pixels, the first has 2 x 2"});
}

TEST(Report, TablesAlignNumbersAndFillShortRows) {
  Report report("T");
  report.add_table({"run", "PSNR", "note"}, {{"a", "31.7 dB", "x"}, {"b", "-2e3"}, {}});
  const std::string html = report.html();
  EXPECT_EQ(count(html, "<td class=\"number\">"), 3u);
  EXPECT_EQ(count(html, "<td"), 9u);
}

TEST(Report, NumbersInTablesBreakAfterCommasOnly) {
  Report report("T");
  report.add_table({"difference"}, {{"+0.1 ± 0.2"}, {"0.3 (0.1), 4 failed"}});
  const std::string html = report.html();
  EXPECT_EQ(count(html, "<td class=\"number\">+0.1\u00a0±\u00a00.2<"), 1u);
  EXPECT_EQ(count(html, "<td class=\"number\">0.3\u00a0(0.1), 4\u00a0failed<"), 1u);
}

TEST(Report, NumbersAndTimesReadWell) {
  EXPECT_EQ(html::number(0.0123456789), "0.0123457");
  EXPECT_EQ(html::number(-1234567.8), "-1,234,568");
  EXPECT_EQ(html::number(123456), "123,456");
  EXPECT_EQ(html::number(1e20), "1e+20");
  EXPECT_EQ(html::number(kNan), "–");
  EXPECT_EQ(html::duration(0.002), "< 0.01 s");
  EXPECT_EQ(html::duration(0.421), "0.42 s");
  EXPECT_EQ(html::duration(185), "3 min 05 s");
  EXPECT_EQ(html::duration(7441), "2 h 04 min");
}

TEST(Report, WritesTheFileOrThrows) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("gsc-report-{}.html", std::random_device{}());
  Report report("T");
  report.add_text("first\n\nsecond");
  report.write(path);
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(text, report.html());
  EXPECT_NE(text.find("<p>first</p>\n<p>second</p>"), std::string::npos);
  std::filesystem::remove(path);
  const std::filesystem::path nowhere = path / "folder" / "is" / "missing.html";
  test::expect_error<Error>([&] { report.write(nowhere); }, {nowhere.string(), "create the folder first"});
}

}  // namespace
}  // namespace gsc
