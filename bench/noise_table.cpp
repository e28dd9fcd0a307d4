// How far the noise level told by measure_noise() is from the noise added: relative errors in per cent, the mean of two
// seeds, for noise of standard deviation 5 to 50 (of 255), as it is or clipped and rounded. A star: called uncertain by
// either. The last columns: seconds of one call, and the level found before noise is added.
//
//   gsc_bench_noise [clip] PICTURE...

#include <fmt/format.h>
#include <gsc/denoise.h>
#include <gsc/picture_files.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "timing.h"

namespace gsc {
namespace {

constexpr std::array kLevels = {5.0, 10.0, 15.0, 25.0, 50.0};
constexpr std::array<std::uint64_t, 2> kSeeds = {1, 2};

/// Over all pictures, one for each level.
struct Column {
  double squares = 0, worst = 0, squares_in_errors = 0;
};

void print_row(const std::string& path, bool clip, std::array<Column, kLevels.size()>& columns) {
  const Picture clean = read_picture(path);
  fmt::print("{:<22}", std::filesystem::path(path).stem().string());
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    const double sigma = kLevels[i] * clean.peak() / 255;
    double error = 0, told = 0;
    bool uncertain = false;
    for (const std::uint64_t seed : kSeeds) {
      const NoiseLevel level = measure_noise(add_noise(clean, sigma, clip, seed));
      const double one = level.std / sigma - 1;
      error += one / kSeeds.size();
      told += level.error / kSeeds.size();
      uncertain = uncertain || level.uncertain;
      columns[i].squares += one * one;
      columns[i].worst = std::max(columns[i].worst, std::abs(one));
      columns[i].squares_in_errors += one * one / (level.error * level.error);
    }
    fmt::print(" {:>+7.2f} ({:4.2f}){}", 100 * error, 100 * told, uncertain ? '*' : ' ');
  }
  NoiseLevel level;
  const double seconds = bench::median_seconds(3, [&] { level = measure_noise(clean); });
  fmt::print(" {:>7.3f} {:>7.3f}{}\n", seconds, level.std, level.uncertain ? '*' : ' ');
  std::fflush(stdout);
}

void print_table(const std::vector<std::string>& pictures, bool clip) {
  fmt::print("Relative errors in %, in brackets the standard error that is told\n\n{:<22}", "picture");
  for (const double level : kLevels) fmt::print(" {:>15}", fmt::format("{}   ", level));
  fmt::print(" {:>7} {:>7}\n", "seconds", "clean");
  std::array<Column, kLevels.size()> columns;
  for (const std::string& picture : pictures) print_row(picture, clip, columns);
  const auto count = static_cast<double>(pictures.size() * kSeeds.size());
  const auto print_last = [&](const char* name, const auto& value) {
    fmt::print("{:<22}", name);
    for (const Column& column : columns) fmt::print(" {:>7.2f}        ", value(column));
    fmt::print("\n");
  };
  print_last("root mean square", [&](const Column& column) { return 100 * std::sqrt(column.squares / count); });
  print_last("worst", [](const Column& column) { return 100 * column.worst; });
  print_last("rms, in errors told", [&](const Column& column) { return std::sqrt(column.squares_in_errors / count); });
}

}  // namespace
}  // namespace gsc

int main(int argc, char** argv) {
  std::vector<std::string> pictures(argv + 1, argv + argc);
  const bool clip = !pictures.empty() && pictures.front() == "clip";
  if (clip) pictures.erase(pictures.begin());
  gsc::print_table(pictures, clip);
}
