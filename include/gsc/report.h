#pragma once
// One self-contained HTML page about a run: charts, tables, pictures; works offline. Target gsc::report.

#include <gsc/export.h>
#include <gsc/fit.h>
#include <gsc/picture.h>
#include <gsc/recording.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gsc {

/// A line or bar chart.
struct Chart {
  enum class Kind { line, bar };
  struct Series {
    std::string name;
    std::vector<double> y;
    std::vector<double> x = {};      ///< empty: 0, 1, 2, ...
    std::vector<double> error = {};  ///< y +- error is drawn as a bar at each point; empty: none
    bool reference = false;          ///< to compare with: a dashed grey line without dots
  };
  std::string title = {}, x_label = {}, y_label = {};
  Kind kind = Kind::line;
  bool log_x = false, log_y = false;  ///< values without a logarithm are left out
  std::optional<double> y_from = {};  ///< the y axis starts here at first; a button shows what lies below
  std::vector<Series> series = {};
};

/// The free energy leaps in the first iterations and creeps ever after; an axis over both shows a step and a flat line.
/// If all but the lowest tenth of the values fill less than half of the range, the axis starts just below them.
GSC_EXPORT std::optional<double> readable_from(const std::vector<double>& values);

/// A picture with a caption; `detail` is a second line below it (PSNR and the like).
struct Figure {
  std::string caption, detail;
  Picture picture;
  double black = 0, white = 255;  ///< values shown as black and white
};

class GSC_EXPORT Report {
 public:
  explicit Report(std::string title, std::string subtitle = "");

  // Each call adds a section below the earlier ones.
  void add_heading(const std::string& text);
  void add_text(const std::string& text);
  void add_table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows);
  void add_charts(const std::vector<Chart>& charts);     ///< side by side where there is room
  void add_figures(const std::vector<Figure>& figures);  ///< side by side; a click enlarges
  /// Two pictures of equal size on top of each other with a handle to drag between them.
  void add_slider(const Figure& left, const Figure& right);
  /// Basis functions in a grid, the most often used first, each with its pi. As pictures of rows x cols x channels
  /// pixels (channels 1 or 3; D = rows cols channels, pixel after pixel, channels of a pixel together), or as traces if
  /// rows is 0.
  void add_basis(const Model& model, Index rows, Index cols, Index channels);
  /// Those of windows of a recording as time courses, one below the other for each channel.
  void add_basis(const Model& model, const Recording& recording);
  /// Free energy (or what the method has in its place), noise level and active latents against iteration, and sorted
  /// pi.
  void add_learning(const FitState& state, Method method = kUsualMethod);
  /// Name and value pairs: options, versions, timings.
  void add_facts(const std::string& heading, const std::vector<std::pair<std::string, std::string>>& facts);

  std::string html() const;
  void write(const std::filesystem::path& path) const;  ///< atomically; throws Error

 private:
  std::string title_, subtitle_, body_;
  int charts_ = 0, bases_ = 0;
};

}  // namespace gsc
