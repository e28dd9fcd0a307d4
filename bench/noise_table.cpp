// How far the noise level told by measure_noise() is from the noise added: relative errors in per cent, the mean of two
// seeds, for noise of standard deviation 5 to 50 (of 255), as it is or clipped and rounded. A star: called uncertain by
// either. The last columns: seconds of one call, and the level found before noise is added.
//
//   gsc_bench_noise [clip] PICTURE...
//   gsc_bench_noise rates PICTURE...    errors of the floor of all spectra alone (tasks/noise/spectrum_floor.h) for several
//                                       decays of texture that are taken for usual, root mean squares over levels
//                                       and seeds

#include <fmt/format.h>
#include <gsc/denoise.h>
#include <gsc/picture_files.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "tasks/noise/cosine_blocks.h"
#include "tasks/noise/spectrum_floor.h"
#include "timing.h"

namespace gsc {
namespace {

constexpr std::array kLevels = {5.0, 10.0, 15.0, 25.0, 50.0};
constexpr std::array<std::uint64_t, 2> kSeeds = {1, 2};
constexpr std::array kRates = {0.22, 0.26, 0.28, 0.3, 0.32, 0.34, 0.38};

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

/// The best rate of all the other pictures, for each picture, and the error that it has with it.
void print_left_out(const std::vector<std::string>& names, const std::vector<std::vector<double>>& squares) {
  for (std::size_t left_out = 0; left_out < names.size(); ++left_out) {
    std::size_t best = 0;
    double least = INFINITY;
    for (std::size_t r = 0; r < kRates.size(); ++r) {
      double sum = 0;
      for (std::size_t p = 0; p < names.size(); ++p)
        if (p != left_out) sum += squares[p][r];
      if (sum < least) best = r, least = sum;
    }
    fmt::print("{:<22} {:>7.2f} by the others, error {:.2f}\n", names[left_out], kRates[best],
               100 * std::sqrt(squares[left_out][best]));
  }
}

void print_rates(const std::vector<std::string>& pictures) {
  fmt::print("Errors of the floor in %, root mean square over levels from 10 up and seeds\n\n{:<22}",
             "usual slowest decay");
  for (const double rate : kRates) fmt::print(" {:>7.2f}", rate);
  fmt::print("\n");
  std::vector<std::string> names;
  std::vector<std::vector<double>> squares;
  for (const std::string& path : pictures) {
    const Picture clean = read_picture(path);
    names.push_back(std::filesystem::path(path).stem().string());
    std::vector<double> sums(kRates.size(), 0);
    constexpr double kCases = (kLevels.size() - 1) * kSeeds.size();
    for (std::size_t i = 1; i < kLevels.size(); ++i)  // at the lowest, the picture's own grain counts
      for (const std::uint64_t seed : kSeeds) {
        const double sigma = kLevels[i] * clean.peak() / 255;
        const CosineBlocks blocks = cosine_blocks(add_noise(clean, sigma, false, seed));
        std::vector<Index> rows(static_cast<std::size_t>(blocks.rings.rows()));
        std::iota(rows.begin(), rows.end(), Index{0});
        for (std::size_t r = 0; r < kRates.size(); ++r)
          sums[r] += std::pow(std::sqrt(spectrum_floor(blocks, rows, kRates[r]).variance) / sigma - 1, 2) / kCases;
      }
    fmt::print("{:<22}", names.back());
    for (const double sum : sums) fmt::print(" {:>7.2f}", 100 * std::sqrt(sum));
    fmt::print("\n");
    std::fflush(stdout);
    squares.push_back(std::move(sums));
  }
  fmt::print("\n");
  print_left_out(names, squares);
}

}  // namespace
}  // namespace gsc

int main(int argc, char** argv) {
  std::vector<std::string> pictures(argv + 1, argv + argc);
  if (!pictures.empty() && pictures.front() == "rates") {
    gsc::print_rates({pictures.begin() + 1, pictures.end()});
    return 0;
  }
  const bool clip = !pictures.empty() && pictures.front() == "clip";
  if (clip) pictures.erase(pictures.begin());
  gsc::print_table(pictures, clip);
}
