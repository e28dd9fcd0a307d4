#include "benchmarks.h"

#include <gsc/files.h>
#include <gsc/picture_files.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace gsc::experiments {
namespace {

/// How many sources a benchmark has.
const std::map<std::string, Index> kSources = {{"10halo", 10}, {"EEG19", 19},  {"Speech20", 20},
                                               {"Sergio7", 7}, {"Speech4", 4}, {"c5signals", 5}};

/// Independent of each other and heavy-tailed, as speech is.
Matrix stand_in(Index sources, Index samples) {
  Random random(7);
  std::uniform_real_distribution<double> uniform(-0.5, 0.5);
  Matrix values(sources, samples);
  for (double& value : values.reshaped()) {
    const double u = uniform(random);
    value = std::copysign(std::log1p(-2 * std::abs(u)), u);
  }
  return values;
}

/// Edges, a slope and stripes: what patches can learn from.
Picture drawn_picture(Index side) {
  Picture picture;
  picture.channels.emplace_back(side, side);
  for (Index y = 0; y < side; ++y)
    for (Index x = 0; x < side; ++x) {
      const bool roof = x + y < side, stripe = (x / 4) % 2 == 0;
      picture.channels[0](y, x) = roof     ? 40 + 100 * static_cast<double>(x) / static_cast<double>(side)
                                  : stripe ? 90
                                           : 190;
    }
  return picture;
}

}  // namespace

std::string source_file(const std::string& name) { return "icalab/" + name + ".mat"; }

Matrix benchmark_sources(const Request& request, const std::string& name) {
  constexpr Index kQuickSamples = 2000;
  if (request.quick) return stand_in(std::min<Index>(kSources.at(name), 10), kQuickSamples);
  const auto table = open_data((request.data / source_file(name)).string());
  Matrix values(table->rows(), table->cols());
  table->read(0, values);
  if (values.rows() != kSources.at(name))
    throw Error(table->name() + " has " + std::to_string(values.rows()) + " rows; expected the " +
                std::to_string(kSources.at(name)) + " sources of " + name);
  return values;
}

Picture benchmark_picture(const Request& request) {
  constexpr Index kQuickSide = 64;
  return request.quick ? drawn_picture(kQuickSide) : read_picture(request.data / kHouse);
}

}  // namespace gsc::experiments
