#include "benchmarks.h"

#include <gsc/files.h>
#include <gsc/picture_files.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

namespace gsc::experiments {
namespace {

/// How many sources a benchmark has.
const std::map<std::string, Index> kSources = {{"10halo", 10}, {"EEG19", 19},  {"Speech20", 20},
                                               {"Sergio7", 7}, {"Speech4", 4}, {"c5signals", 5}};

Index source_count(const std::string& name) {
  const auto found = kSources.find(name);
  if (found != kSources.end()) return found->second;
  std::string names;
  for (const auto& [known, count] : kSources) names += (names.empty() ? "" : ", ") + known;
  throw Error("benchmark is '" + name + "'; expected one of: " + names);
}

Index stand_in_sources(const std::string& name) { return std::min<Index>(source_count(name), 10); }

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

Matrix read_sources(const std::filesystem::path& file, const std::string& name) {
  const auto table = open_data(file.string());
  Matrix values(table->rows(), table->cols());
  table->read(0, values);
  if (values.rows() != source_count(name))
    throw Error(table->name() + " has " + std::to_string(values.rows()) + " rows; expected the " +
                std::to_string(source_count(name)) + " sources of " + name);
  return values;
}

}  // namespace

std::string source_file(const std::string& name) { return "icalab/" + name + ".mat"; }

Matrix benchmark_sources(const Request& request, const std::string& name) {
  constexpr Index kQuickSamples = 1000;
  if (request.quick) return stand_in(stand_in_sources(name), kQuickSamples);
  // Thousands of trials, on several threads, ask for the same few megabytes.
  static std::mutex mutex;
  static std::map<std::filesystem::path, Matrix> kept;
  const std::filesystem::path file = request.data / source_file(name);
  const std::lock_guard lock(mutex);
  const auto found = kept.find(file);
  return found != kept.end() ? found->second : kept.emplace(file, read_sources(file, name)).first->second;
}

Picture benchmark_picture(const Request& request) {
  constexpr Index kQuickSide = 48;
  return request.quick ? drawn_picture(kQuickSide) : read_picture(request.data / kHouse);
}

std::string shown_name(const Request& request, const std::string& benchmark) {
  return request.quick ? std::to_string(stand_in_sources(benchmark)) + " artificial sources" : benchmark;
}

std::string shown_picture(const Request& request) { return request.quick ? "the drawn picture" : "House"; }

}  // namespace gsc::experiments
