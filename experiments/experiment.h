#pragma once
// What an experiment of the paper is. Each stands in a file of its own: which trials there are, what one trial does,
// and what is made of all of them. The library does the work; running, keeping and writing is the same for all
// (reproduce.h).

#include <gsc/report.h>
#include <gsc/team.h>
#include <gsc/types.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace gsc::experiments {

using Json = nlohmann::ordered_json;

/// What the user asked for.
struct Request {
  std::filesystem::path data;  ///< folder of the benchmark data; empty: there is none
  bool quick = false;          ///< small sizes, and stand-ins for the data: does it work, does the claim hold
  std::optional<int> trials;   ///< repetitions; left out: the paper's, or few if quick
  std::uint64_t seed = 1;      ///< of the first repetition; the next have seed + 1, ...
  int threads = 1;             ///< for trials that do not run side by side
  Team* team = &solo();        ///< its ranks share the trials

  int repetitions(int full, int small) const { return trials.value_or(quick ? small : full); }
};

/// A trial that has been run.
struct Finished {
  Json settings, result;
  double seconds = 0;
};

/// What the quick version tells about a claim.
enum class InQuick {
  holds_too,   ///< as much as the full one: it must hold
  may_fail,    ///< as much as the full one; but it may not hold: there neither, or times are compared on a busy machine
  needs_data,  ///< nothing: it is about the benchmark data, and artificial data stands in for it
  needs_sizes  ///< nothing: it takes the full sizes and all trials
};

/// What the paper concludes from the experiment, or what should be seen in it, and whether our figures say so.
struct Claim {
  std::string text;
  bool holds = false;
  InQuick in_quick = InQuick::holds_too;
};

struct Summary {
  Json figures;  ///< what the page shows: means, spreads, curves
  std::vector<Claim> claims;
};

class Experiment {
 public:
  virtual ~Experiment() = default;
  virtual std::string name() const = 0;   ///< as on the command line
  virtual std::string place() const = 0;  ///< in the paper: "Figure 3"
  virtual std::string title() const = 0;  ///< a few words
  /// Files below the data folder without which the full experiment cannot be run.
  virtual std::vector<std::string> files() const { return {}; }
  /// Where times are compared, trials run one after the other.
  virtual bool side_by_side() const { return true; }
  /// All ranks of the team run each trial together, with request.team.
  virtual bool by_whole_team() const { return false; }

  /// The settings of every trial, the random seed among them. Equal settings are the same trial.
  virtual std::vector<Json> trials(const Request& request) const = 0;
  /// How long a trial takes, in any unit: for the time that is left.
  virtual double work(const Json& /*settings*/) const { return 1; }
  /// Runs one trial, on one thread (on request.threads if not side by side). Its result depends on the settings alone.
  virtual Json run(const Json& settings, const Request& request) const = 0;
  /// Fills the page: our tables and curves with the published values beside them.
  virtual Summary summarise(const std::vector<Finished>& trials, const Request& request, Report& report) const = 0;
};

/// All experiments, in the order of the paper.
const std::vector<std::unique_ptr<Experiment>>& all_experiments();

/// The experiment's part of published.json: values the paper states, each with its place.
const Json& published(const std::string& experiment);

// One function per experiment. Files are called like them; separation.cpp has two.
std::unique_ptr<Experiment> posteriors();
std::unique_ptr<Experiment> posterior_mass();
std::unique_ptr<Experiment> selection();
std::unique_ptr<Experiment> consistency();
std::unique_ptr<Experiment> directions();
std::unique_ptr<Experiment> separation();
std::unique_ptr<Experiment> separation_noisy();
std::unique_ptr<Experiment> table1();
std::unique_ptr<Experiment> cost();
std::unique_ptr<Experiment> house();
std::unique_ptr<Experiment> table2();
std::unique_ptr<Experiment> inpainting();
std::unique_ptr<Experiment> truncation();
std::unique_ptr<Experiment> scaling();
std::unique_ptr<Experiment> repartitioning();

}  // namespace gsc::experiments
