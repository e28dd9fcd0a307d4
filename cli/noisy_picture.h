#pragma once
// The picture that gsc denoise and gsc compare work on, and the truth where it is known.

#include <fmt/format.h>
#include <gsc/picture.h>

#include <optional>
#include <string>
#include <vector>

#include "options/command_line.h"

namespace gsc::cli {

extern const std::vector<std::string> kPictureExtensions;
bool is_picture(const std::string& path);

struct NoisyPicture {
  Picture noisy;
  std::optional<Picture> clean;
};

/// Throws UsageError if --clean, --add-noise and what belongs to them do not go together.
void check_truth_options(const CommandLine& line);

/// The picture as it is or with noise added, and the clean one if there is one.
NoisyPicture read_noisy(const DenoiseSettings& settings);

/// Does the work; errors about the picture name its file.
template <class Work>
auto naming_file(const std::string& file, const Work& work) {
  try {
    return work();
  } catch (const UsageError&) {
    throw;
  } catch (const Interrupted&) {
    throw;
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", file, error.what()));
  }
}

}  // namespace gsc::cli
