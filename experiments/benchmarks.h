#pragma once
// The benchmark data, and stand-ins for it.

#include <gsc/picture.h>

#include "experiment.h"

namespace gsc::experiments {

/// The sources of an ICALAB benchmark ("10halo"), sources x samples; a file is read once and kept. Quick: so many
/// artificial sources with Laplace amplitudes instead, of the number and length the benchmark has or fewer.
Matrix benchmark_sources(const Request& request, const std::string& name);

/// House; quick: a small picture drawn here.
Picture benchmark_picture(const Request& request);

/// What results call the data they are from: "10halo", "House"; quick: what stands in.
std::string shown_name(const Request& request, const std::string& benchmark);
std::string shown_picture(const Request& request);

/// Its file below the data folder.
std::string source_file(const std::string& name);
inline constexpr const char* kHouse = "images/house256.png";

}  // namespace gsc::experiments
