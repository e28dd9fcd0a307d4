#pragma once
// Learning from several starts, in gsc fit and gsc separate: progress, and what is told of it.

#include <gsc/fit.h>
#include <gsc/report.h>
#include <gsc/stopwatch.h>

#include <set>
#include <string>
#include <vector>

#include "options/options.h"
#include "progress.h"

namespace gsc::cli {

/// One line for all starts, which run side by side; stops them on Ctrl-C.
class StartsWatcher final : public Watcher {
 public:
  StartsWatcher(int starts, int iterations, Method method, ProgressLine& progress)
      : starts_(starts), iterations_(iterations), method_(method), progress_(progress) {}
  /// What follows a note is counted anew: separate() may look for the sources a second time.
  void on_note(const std::string& note) override {
    progress_.say(note);
    told_.insert(note);
    begun_ = 0;
    done_ = 0;
    watch_ = {};
  }
  void on_iteration(const FitState& state) override;
  bool stop_requested() override;
  /// Whether the user knows it already.
  bool told(const std::string& note) const { return told_.contains(note); }

 private:
  int starts_, iterations_;
  Method method_;
  ProgressLine& progress_;
  Stopwatch watch_;
  int begun_ = 0;
  double done_ = 0, best_ = 0;
  bool estimated_ = false;  // best_ is
  std::set<std::string> told_;
};

/// Lines for below fit_summary(); nothing to say of a single start.
std::string starts_text(const std::vector<double>& free_energies, int winner, Method method);

/// best_seed, free_energies (or what the method has in their place) and spread. `seed` is that of the first start.
void add_starts(Json& metrics, std::uint64_t seed, const std::vector<double>& free_energies, int winner, Method method);

/// A table of the starts.
void add_starts(Report& report, std::uint64_t seed, const std::vector<double>& free_energies, Method method);

}  // namespace gsc::cli
