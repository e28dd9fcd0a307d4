// Several processes: mpirun -n R gsc_bench_cluster [quick]. One thread each.
//   strong scaling of the House job (62,001 patches of 8 x 8, H = 256, H' = 10, gamma = 8) from 1 to R processes,
//   what adding up the statistics costs, and what clustering by candidates gains.

#include <fmt/format.h>
#include <gsc/fit.h>
#include <gsc/mpi.h>

#include <cstring>

#include "patch_like_model.h"
#include "timing.h"

namespace gsc {
namespace {

struct Problem {
  std::string name;
  Index points, dimensions, latents, candidates, max_active;
};

MatrixData data_of(const Problem& problem) {
  Random random(1);
  return MatrixData(
      sample(bench::patch_like_model(problem.dimensions, problem.latents, random), problem.points, random).data);
}

FitResult learn(const Problem& problem, const Data& data, Team& team, Partition partition, int iterations) {
  FitOptions options;
  options.intercept = Intercept::none;
  options.latents = problem.latents;
  options.inference.candidates = problem.candidates;
  options.inference.max_active = problem.max_active;
  options.inference.threads = 1;
  options.iterations = iterations;
  options.tolerance = 0;
  options.sharing = {&team, partition, 5};
  return fit(data, options);
}

/// Median over iterations; the first rows meet cold caches and no clusters.
double iteration_seconds(const FitResult& result) {
  std::vector<double> seconds;
  for (std::size_t row = 2; row < result.state.history.size(); ++row)
    seconds.push_back(result.state.history[row].seconds);
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<Index>(seconds.size() / 2), seconds.end());
  return seconds[seconds.size() / 2];
}

void strong_scaling(Team& team, const Problem& problem, int iterations) {
  const MatrixData data = data_of(problem);
  std::vector<double> ratios, alone, shared;
  SharingReport sharing;
  for (int repeat = 0; repeat < 5; ++repeat) {
    double one = 0;
    if (team.root()) one = iteration_seconds(learn(problem, data, solo(), Partition::uniform, iterations));
    team.sum(&one, 1);  // the others wait
    const FitResult result = learn(problem, data, team, Partition::uniform, iterations);
    alone.push_back(one);
    shared.push_back(iteration_seconds(result));
    ratios.push_back(one / shared.back());
    sharing = result.sharing;
  }
  if (!team.root()) return;
  const auto median = [](std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  };
  const double whole = median(shared) * iterations;
  fmt::print("Strong scaling, {}: N = {}, D = {}, H = {}, H' = {}, gamma = {}\n\n", problem.name, problem.points,
             problem.dimensions, problem.latents, problem.candidates, problem.max_active);
  fmt::print("  1 process     {:8.1f} ms an iteration\n  {} processes   {:8.1f} ms    {:.2f} x faster (median of 5)\n",
             1e3 * median(alone), team.size(), 1e3 * median(shared), median(ratios));
  fmt::print("  of which adding up the statistics {:.2f} %, waiting for the slower process {:.2f} %\n\n",
             100 * sharing.seconds_summing / whole, 100 * sharing.seconds_waiting / whole);
}

void adding_up(Team& team) {
  if (team.root())
    fmt::print("Adding up the statistics (D = 64, upper triangles)\n\n     H    numbers         us    ns a number\n");
  for (const Index H : {16, 64, 256, 1024}) {
    const Index count = 64 * H + H * (H + 1) / 2 + 2 * H + 67;
    std::vector<double> values(static_cast<std::size_t>(count), 1.0);
    const double seconds = bench::median_seconds(50, [&] { team.sum(values.data(), count); });
    if (team.root())
      fmt::print("{:>6} {:>10} {:>10.1f} {:>14.2f}\n", H, count, 1e6 * seconds,
                 1e9 * seconds / static_cast<double>(count));
  }
  if (team.root()) fmt::print("\n");
}

void partitions(Team& team, const std::vector<Problem>& problems, int iterations) {
  if (team.root())
    fmt::print("Partitions: time of an iteration, {} processes\n\n{:<34} {:<8} {:>9} {:>9} {:>11} {:>8} {:>12}\n",
               team.size(), "", "", "ms", "speed-up", "clustering", "moving", "in clusters");
  for (const Problem& problem : problems) {
    const MatrixData data = data_of(problem);
    double fixed = 0;
    for (const Partition partition : {Partition::uniform, Partition::local, Partition::global}) {
      std::vector<double> times;
      SharingReport sharing;
      for (int repeat = 0; repeat < 3; ++repeat) {
        const FitResult result = learn(problem, data, team, partition, iterations);
        times.push_back(iteration_seconds(result));
        sharing = result.sharing;
      }
      std::sort(times.begin(), times.end());
      const double seconds = times[1], whole = seconds * iterations;
      if (partition == Partition::uniform) fixed = seconds;
      if (team.root())
        fmt::print("{:<34} {:<8} {:>9.2f} {:>9.2f} {:>10.1f}% {:>7.1f}% {:>11.1f}%\n", problem.name,
                   to_string(partition), 1e3 * seconds, fixed / seconds, 100 * sharing.seconds_clustering / whole,
                   100 * sharing.seconds_moving / whole,
                   100 * sharing.rows_in_clusters / static_cast<double>(problem.points));
    }
  }
}

}  // namespace
}  // namespace gsc

int main(int argc, char** argv) {
  using namespace gsc;
  const bool quick = argc > 1 && std::strcmp(argv[1], "quick") == 0;
  MpiTeam team;
  const Index house = quick ? 8000 : 62001, many = quick ? 10000 : 100000;
  const int iterations = quick ? 4 : 10;
  strong_scaling(team, {"the House job", house, 64, 256, 10, 8}, iterations);
  adding_up(team);
  partitions(team,
             {{"House: H = 256, H' = 10, gamma = 8", house, 64, 256, 10, 8},
              {"paper: H = 20, H' = 8, gamma = 5", many, 25, 20, 8, 5},
              {"H = 20, H' = 4, gamma = 4", many, 25, 20, 4, 4},
              {"H = 12, H' = 6, gamma = 4", many, 25, 12, 6, 4}},
             quick ? 5 : 20);
  return team.finish(0, "");
}
