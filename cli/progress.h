#pragma once
// Talk, all of it on standard error: how far a run is, and what came out; and whether the user has had enough.

#include <gsc/fit.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>

namespace gsc::cli {

/// "3.2 s", "5 min", "2 h 10 min".
std::string duration_text(double seconds);

/// "1 data point", "2 data points".
std::string data_points_text(Index count);

/// Lines about a run that goes on: on a terminal one that is redrawn, elsewhere each on its own.
class ProgressLine {
 public:
  ProgressLine(std::string command, bool quiet);
  ~ProgressLine() { finish(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// A line that the next one may replace. Where lines are not redrawn there are at least `pause` between two.
  void show(const std::string& text, std::chrono::seconds pause = {});
  /// A line that stays.
  void say(const std::string& text);
  /// As say(), even if quiet: what the user must know.
  void warn(const std::string& text);
  /// Moves on from the live line, if there is one.
  void finish();
  bool live() const { return live_; }
  bool quiet() const { return quiet_; }

 private:
  using Clock = std::chrono::steady_clock;
  std::string command_;
  bool quiet_;
  bool live_;
  int lines_ = 0;        // shown and not live
  std::string pending_;  // live: the newest text, drawn or not
  Clock::time_point drawn_ = Clock::now();
  void draw();
};

/// One line of progress for an iteration of `options.iterations`.
std::string iteration_text(const FitState& state, const FitOptions& options, bool with_time_left);

/// How sure chains of draws are of the noise level, and whether they agree: lines for below a summary; nothing to say
/// of other methods.
std::string chains_text(const MethodState& state);
/// What came out, in a few lines.
std::string fit_summary(const FitResult& result, double data_points, const InferenceOptions& inference = {});

/// From now on the first Ctrl-C or SIGTERM only sets a flag: the work stops where it can be taken up again. The second
/// kills.
void catch_interrupts();
bool interrupted();

/// Shows how far work is, and stops it on Ctrl-C.
class ProgressWatcher final : public Watcher {
 public:
  explicit ProgressWatcher(std::function<void(const Progress&)> show) : show_(std::move(show)) {}
  void on_progress(const Progress& now) override { show_(now); }
  bool stop_requested() override { return interrupted(); }

 private:
  std::function<void(const Progress&)> show_;
};

}  // namespace gsc::cli
