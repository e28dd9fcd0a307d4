#include "progress.h"

#include <fmt/format.h>
#include <gsc/inference.h>
#include <gsc/rescues.h>
#include <gsc/words.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <vector>

#include "program_team.h"
#include "streams.h"

namespace gsc::cli {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(50);
constexpr int kFreeLines = 100;
volatile std::sig_atomic_t interrupt = 0;
constexpr auto kLinePause = std::chrono::milliseconds(10);

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// The rescues of a run in plain words, each with how often it happened.
std::vector<std::string> rescue_lines(const Rescues& rescues) {
  std::vector<std::string> lines;
  for_each_rescue([&](auto member, auto, const char* words) {
    if (rescues.*member > 0) lines.push_back(fmt::format("{} ({} times)", words, rescues.*member));
  });
  return lines;
}

}  // namespace

std::string duration_text(double seconds) {
  if (seconds < 10) return fmt::format("{:.2f} s", seconds);
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  const auto minutes = static_cast<long>(seconds / 60 + 0.5);
  if (minutes < 90) return fmt::format("{} min", minutes);
  return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

std::string data_points_text(Index count) { return counted(count, "data point"); }

ProgressLine::ProgressLine(std::string command, bool quiet)
    : command_(std::move(command)), quiet_(quiet || !team().root()), live_(!quiet_ && isatty(STDERR_FILENO) == 1) {}

void ProgressLine::draw() {
  const std::size_t width = terminal_width();
  talk(fmt::format("\r{}\x1b[K", pending_.substr(0, width > 1 ? width - 1 : 1)));
  drawn_ = Clock::now();
}

void ProgressLine::show(const std::string& text, std::chrono::seconds pause) {
  if (quiet_) return;
  if (!live_) {
    if (Clock::now() - drawn_ < pause) return;
    // mpirun reads nothing while it waits for ranks to end, and a full pipe would keep us from saving and ending.
    if (!team().alone() && ++lines_ > kFreeLines && Clock::now() - drawn_ < kLinePause) return;
    talk(text + "\n");
    drawn_ = Clock::now();
    return;
  }
  pending_ = text;
  if (Clock::now() - drawn_ >= kRedraw) draw();
}

void ProgressLine::finish() {
  if (pending_.empty()) return;
  draw();
  talk("\n");
  pending_.clear();
}

void ProgressLine::say(const std::string& text) {
  if (!quiet_) warn(text);
}

void ProgressLine::warn(const std::string& text) {
  if (!team().root()) return;
  finish();
  talk(fmt::format("gsc {}: {}\n", command_, text));
}

std::string iteration_text(const FitState& state, const FitOptions& options, bool with_time_left) {
  const IterationReport& now = state.history.back();
  std::string time_left;
  if (with_time_left && now.iteration > 0 && now.iteration < options.iterations) {
    // The last few iterations tell best how long the next will take.
    const std::size_t rows = std::min<std::size_t>(5, state.history.size() - 1);
    double seconds = 0;
    for (std::size_t i = state.history.size() - rows; i < state.history.size(); ++i)
      seconds += state.history[i].seconds;
    time_left = fmt::format(" ({} left)",
                            duration_text(seconds / static_cast<double>(rows) * (options.iterations - now.iteration)));
  }
  return fmt::format("iteration {:>{}}/{}{}  {} {}{:.9g}{}  active {:.2f}  in use {}/{}", now.iteration,
                     fmt::formatted_size("{}", options.iterations), options.iterations, time_left,
                     objective_text(options.inference.method), now.estimated ? "about " : "", now.free_energy,
                     codes_by_lambda(options.inference) ? "" : fmt::format("  noise std {:.4g}", now.noise_std),
                     now.mean_active, now.latents_in_use, state.model.latents());
}

std::string chains_text(const MethodState& state) {
  std::string text;
  if (const double deviation = state.number("noise_std_deviation", 0); deviation > 0)
    text += fmt::format("  noise deviation {:.2g} of the draws\n", deviation);
  const double noise = state.number("r_hat_noise_std", 0), joint = state.number("r_hat_log_joint", 0);
  if (noise == 0 && joint == 0) return text;
  constexpr double kAgree = 1.1;
  return text + fmt::format("  chains          {}: R-hat {:.3g} of the noise, {:.3g} of the log joint (1: the same)\n",
                            std::max(noise, joint) < kAgree ? "agree" : "differ, so more iterations are needed", noise,
                            joint);
}

std::string fit_summary(const FitResult& result, double data_points, const InferenceOptions& inference) {
  const IterationReport& last = result.last();
  const Objective& objective = traits(inference.method).objective;
  const std::string why = result.reason == StopReason::converged     ? "converged"
                          : result.reason == StopReason::interrupted ? "interrupted"
                                                                     : "all iterations done";
  std::string text =
      fmt::format("{} after {}, {}\n", why, counted(last.iteration, "iteration"), duration_text(result.seconds));
  text += fmt::format(
      "  {:<15} {}{:.9g} ({})\n", objective.text, last.estimated ? "about " : "", last.free_energy,
      objective.mean ? "mean over data points" : fmt::format("{:.6g} per data point", last.free_energy / data_points));
  if (!codes_by_lambda(inference)) text += fmt::format("  noise std       {:.4g}\n", last.noise_std);
  text += chains_text(result.state.method);
  text += fmt::format("  active latents  {:.3g} per data point on average\n", last.mean_active);
  text += fmt::format("  latents in use  {} of {}\n", last.latents_in_use, result.model().latents());
  const auto dips = std::count_if(result.state.history.begin(), result.state.history.end(),
                                  [](const IterationReport& row) { return row.dip; });
  if (dips > 0)
    text += fmt::format("  note            the {} {} in {} of {} iterations, as {}\n", objective.text,
                        objective.minimised ? "rose" : "fell", dips, last.iteration,
                        objective.minimised ? "new codes may" : "truncated learning may");
  for (const std::string& line : rescue_lines(result.state.rescues))
    text += fmt::format("  note            {}\n", line);
  text.pop_back();
  return text;
}

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupt = 1; };
  // The handler is gone after the first signal, so the second does what it always does. mpirun may send several.
  action.sa_flags = (team().alone() ? static_cast<int>(SA_RESETHAND) : 0) | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return interrupt != 0; }

}  // namespace gsc::cli
