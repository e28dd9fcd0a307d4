// Stepwise EM against full EM on patches of noisy pictures: passes over the data and seconds until 99.5 % and 99.9 % of
// the way from the free energy of the start to that of 60 full iterations are done, for sizes of batches and ways to
// forget. Decay's defaults (src/truncated/stepwise.h) come from this table.
//
//   gsc_bench_stepwise [quick] [PICTURE...]
//
// Without pictures: House and two others of $GSC_DATA, or assets/demo.png where that is not set.

#include <fmt/format.h>
#include <gsc/denoise.h>
#include <gsc/picture_files.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "math/numeric_scope.h"
#include "tasks/picture/patches.h"
#include "truncated/host_learning.h"
#include "truncated/stepwise.h"

namespace gsc {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr std::array kWays = {0.995, 0.999};  // parts of it that are to be reached
using Goals = std::array<double, kWays.size()>;

struct Plan {
  Index points = 60000, latents = 256;
  int full_iterations = 60, most_passes = 15;
  std::vector<Index> batches = {1024, 2048, 4096};
  std::vector<Decay> decays = {{0.05, 0.5}, {0.02, 0.6}};
};

Matrix noisy_patches(const std::string& path, Index points, bool remove_mean) {
  Picture picture = read_picture(path);
  picture.channels.resize(1);
  const Picture noisy = add_noise(picture, 25, false, 1);
  Random random(1);
  const PatchData patches(noisy, random_positions(noisy.height(), noisy.width(), 8, points, random), remove_mean);
  Matrix rows(patches.rows(), patches.cols());
  patches.read(0, rows);
  return rows;
}

FitOptions fit_options(Index latents, int iterations) {
  FitOptions options;
  options.latents = latents;
  options.inference.candidates = 10;
  options.inference.max_active = 5;
  options.inference.precision = Precision::single_precision;
  options.intercept = Intercept::none;
  options.iterations = iterations;
  options.tolerance = 0;
  return options;
}

Model start_of(const Data& data, const FitOptions& options) {
  Random random(options.seed);
  return initial_model(data, summarize(data, options.noise == NoiseType::full), options.latents, options.noise,
                       options.slab, options.init, random, options.intercept);
}

/// Where a goal was reached.
struct Reached {
  double passes = 0, seconds = 0;
};

/// An engine that judges the model it is given, on all data, while the clock stands: at the end of every pass, and in
/// the middle of the first three.
class Watch final : public Engine {
 public:
  Watch(const Data& data, const FitOptions& options, const Goals& goals)
      : inner_(make_engine(data, options.inference)),
        judge_(make_engine(data, options.inference)),
        rows_(data.rows()),
        goals_(goals) {}

  Statistics e_step(const Model& model, const Pass& pass) override {
    if (seen_ >= next_) judge(model);
    const auto start = Clock::now();
    Statistics sums = inner_->e_step(model, pass);
    e_steps_ += seconds_since(start);
    seen_ += static_cast<Index>(pass.rows->size());
    return sums;
  }
  Posterior infer(const Model& model, const PosteriorRequest& request, Index first, Index count,
                  const StopRequest& stop) override {
    return inner_->infer(model, request, first, count, stop);
  }

  void judge(const Model& model) {
    const auto pause = Clock::now();
    const Reached now = {static_cast<double>(seen_) / static_cast<double>(rows_),
                         std::chrono::duration<double>(pause - start_).count() - paused_};
    last_ = judge_->e_step(model, {}).free_energy;
    while (reached_.size() < goals_.size() && last_ >= goals_[reached_.size()]) reached_.push_back(now);
    next_ = seen_ + (seen_ < 3 * rows_ ? rows_ / 2 : rows_);
    ++judged_;
    paused_ += seconds_since(pause);
  }
  bool done() const { return reached_.size() == goals_.size(); }
  const std::vector<Reached>& reached() const { return reached_; }  ///< as many goals as were
  double last() const { return last_; }                             ///< free energy
  double seconds() const { return seconds_since(start_) - paused_; }
  double full_pass() const { return paused_ / judged_; }  ///< seconds of judging, that is, of a full E-step
  double e_steps() const { return e_steps_; }             ///< seconds in E-steps

 private:
  std::unique_ptr<Engine> inner_, judge_;
  Index rows_;
  Goals goals_;
  Index seen_ = 0, next_ = rows_ / 2;
  Clock::time_point start_ = Clock::now();
  double paused_ = 0, e_steps_ = 0, last_ = 0;
  int judged_ = 0;
  std::vector<Reached> reached_;
};

/// What full EM needs for each goal, and the goals.
struct Full {
  double start, end;  ///< free energies
  Goals goals = {};
  std::array<Reached, kWays.size()> reached = {};
};

Full full_em(const Data& data, const Model& start, const FitOptions& options) {
  const auto history = fit(data, options, nullptr, start).state.history;
  Full full{history.front().free_energy, history.back().free_energy};
  for (std::size_t goal = 0; goal < kWays.size(); ++goal) {
    full.goals[goal] = full.start + kWays[goal] * (full.end - full.start);
    for (std::size_t row = 1; row < history.size() && history[row - 1].free_energy < full.goals[goal]; ++row) {
      full.reached[goal].passes = history[row].iteration;
      full.reached[goal].seconds += history[row].seconds;
    }
  }
  return full;
}

/// One way to forget, over all pictures.
struct Trial {
  Index batch;
  Decay decay;
  struct Savings {
    int pictures = 0;  ///< on which the goal was reached
    double log_passes = 0, log_seconds = 0;
  };
  std::array<Savings, kWays.size()> savings = {};
};

void print_trial(const Watch& watch, const Full& full, Trial& trial) {
  for (std::size_t goal = 0; goal < kWays.size(); ++goal) {
    if (goal >= watch.reached().size()) {
      fmt::print("{:>9} {:>7} {:>8} {:>6}", "-", "-", "-", "-");
      continue;
    }
    const Reached& mine = watch.reached()[goal];
    const double fewer_passes = full.reached[goal].passes / mine.passes;
    // Full E-steps from in between: on a machine that others use, earlier ones may have had more or less of it.
    const double fewer_seconds = full.reached[goal].passes * watch.full_pass() / mine.seconds;
    fmt::print("{:>9.1f} {:>7.2f} {:>8.1f} {:>6.1f}", mine.passes, mine.seconds, fewer_passes, fewer_seconds);
    Trial::Savings& savings = trial.savings[goal];
    ++savings.pictures;
    savings.log_passes += std::log(fewer_passes);
    savings.log_seconds += std::log(fewer_seconds);
  }
  fmt::print("{:>9.2f} {:>8.0f}\n", 100 * (watch.last() - full.start) / (full.end - full.start),
             100 * watch.e_steps() / watch.seconds());
}

void stepwise(const Data& data, const Model& start, const FitOptions& options, int most_passes, const Full& full,
              Trial& trial) {
  const NumericScope scope;
  Share share(data, options.sharing);
  Watch watch(share.rows(), options, full.goals);
  HostLearning em(share, watch, options);
  em.start(start);
  Stepwise batches(share, em, options, trial.decay);
  try {
    for (int pass = 1; pass <= most_passes; ++pass) batches.pass(pass, [&] { return watch.done(); });
    watch.judge(em.model());
  } catch (const Interrupted&) {  // all goals are reached
  }
  print_trial(watch, full, trial);
}

void run(const std::string& path, const Plan& plan, std::vector<Trial>& trials) {
  const MatrixData data(noisy_patches(path, plan.points, true));
  FitOptions options = fit_options(plan.latents, plan.full_iterations);
  const Model start = start_of(data, options);
  const Full full = full_em(data, start, options);
  const std::string picture = std::filesystem::path(path).stem().string();
  fmt::print("{:<10} {:>5} {:>9} {:>6}", picture, "full", "", "");
  for (const Reached& reached : full.reached)
    fmt::print("{:>9.1f} {:>7.2f} {:>8} {:>6}", reached.passes, reached.seconds, "", "");
  fmt::print("   N = {}\n", data.rows());
  for (Trial& trial : trials) {
    options.batch = trial.batch;
    fmt::print("{:<10} {:>5} {:>9} {:>6}", picture, trial.batch, trial.decay.exponent, trial.decay.floor);
    stepwise(data, start, options, plan.most_passes, full, trial);
    std::fflush(stdout);
  }
}

/// The one that saves most seconds of those that reached the goal everywhere; null if there is none.
const Trial* best_of(const std::vector<Trial>& trials, std::size_t goal, int pictures) {
  const Trial* best = nullptr;
  for (const Trial& trial : trials)
    if (trial.savings[goal].pictures == pictures &&
        (best == nullptr || trial.savings[goal].log_seconds > best->savings[goal].log_seconds))
      best = &trial;
  return best;
}

/// Means stay in the patches: without them the covariance of full noise would be singular.
void every_type(const std::string& path, Index points, Index batch) {
  constexpr int kPasses = 8;
  const MatrixData data(noisy_patches(path, points, false));
  fmt::print("\nFree energy a point after {} passes, H = 64, patches with their means, batch {}\n\n", kPasses, batch);
  fmt::print("{:<10} {:<10} {:>12} {:>12} {:>12}\n", "noise", "slab", "start", "full EM", "stepwise");
  for (const NoiseType noise : {NoiseType::scalar, NoiseType::diagonal, NoiseType::full})
    for (const SlabType slab : {SlabType::diagonal, SlabType::full}) {
      FitOptions options = fit_options(64, kPasses);
      options.noise = noise;
      options.slab = slab;
      options.intercept = Intercept::learned;
      const Model start = start_of(data, options);
      const auto full = fit(data, options, nullptr, start).state.history;
      options.batch = batch;
      options.polish = 0;
      const Model learned = fit(data, options, nullptr, start).state.model;
      const auto points_of = static_cast<double>(data.rows());
      fmt::print("{:<10} {:<10} {:>12.4f} {:>12.4f} {:>12.4f}\n", to_string(noise), to_string(slab),
                 full.front().free_energy / points_of, full.back().free_energy / points_of,
                 e_step(learned, data, options.inference).free_energy / points_of);
    }
}

std::vector<std::string> usual_pictures() {
  const char* folder = std::getenv("GSC_DATA");
  if (folder == nullptr) return {"assets/demo.png"};
  const std::string images = std::string(folder) + "/images/";
  return {images + "house256.png", images + "bsd/test003.png", images + "bsd/test051.png"};
}

void run_all(const std::vector<std::string>& pictures, const Plan& plan) {
  fmt::print("Passes and seconds to parts of the way of {} full iterations, and how many times fewer than full EM;\n",
             plan.full_iterations);
  fmt::print("D = 64, H = {}, {} threads. Last: % of the way after at most {} passes, % of the time in E-steps\n\n",
             plan.latents, thread_count(0), plan.most_passes);
  fmt::print("{:<10} {:>5} {:>9} {:>6}", "picture", "batch", "exponent", "floor");
  for (const double way : kWays)
    fmt::print("{:>9} {:>7} {:>8} {:>6}", fmt::format("{} %", 100 * way), "seconds", "x passes", "x sec.");
  fmt::print("{:>9} {:>8}\n", "way", "E-steps");
  std::vector<Trial> trials;
  for (const Index batch : plan.batches)
    for (const Decay& decay : plan.decays) trials.push_back({batch, decay});
  for (const std::string& picture : pictures) run(picture, plan, trials);

  const auto count = static_cast<int>(pictures.size());
  const Trial* usual = best_of(trials, 0, count);
  every_type(pictures.front(), plan.points / 4, usual != nullptr ? usual->batch : plan.batches.front());
  fmt::print("\n");
  for (std::size_t goal = 0; goal < kWays.size(); ++goal) {
    const Trial* best = best_of(trials, goal, count);
    if (best == nullptr)
      fmt::print("to {} %: none on all pictures in {} passes\n", 100 * kWays[goal], plan.most_passes);
    else
      fmt::print("to {} %: best are batch {}, exponent {}, floor {}: {:.1f} x fewer passes, {:.1f} x fewer seconds\n",
                 100 * kWays[goal], best->batch, best->decay.exponent, best->decay.floor,
                 std::exp(best->savings[goal].log_passes / count), std::exp(best->savings[goal].log_seconds / count));
  }
}

}  // namespace
}  // namespace gsc

int main(int argc, char** argv) {
  std::vector<std::string> pictures(argv + 1, argv + argc);
  gsc::Plan plan;
  if (!pictures.empty() && pictures.front() == "quick") {
    pictures.erase(pictures.begin());
    plan = {8000, 64, 20, 8, {512, 2048}, {gsc::Decay{}}};
  }
  gsc::run_all(pictures.empty() ? gsc::usual_pictures() : pictures, plan);
}
