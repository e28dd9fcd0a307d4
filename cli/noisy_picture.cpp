#include "noisy_picture.h"

#include <gsc/file_kind.h>
#include <gsc/picture_files.h>

#include <algorithm>

namespace gsc::cli {
namespace {

/// Scores compare pixel by pixel. Real numbers may be in the units of 8 or of 16 bits.
void check_comparable(const DenoiseSettings& settings, const NoisyPicture& input) {
  const auto text = [](const Picture& picture) {
    return fmt::format("{} x {} pixels in {}, depth {}", picture.width(), picture.height(),
                       picture.channels.size() == 1 ? "grey" : "colour", to_string(picture.depth));
  };
  const Picture &a = input.noisy, &b = *input.clean;
  const bool same_units = a.depth == b.depth || a.depth == PixelDepth::real32 || b.depth == PixelDepth::real32;
  if (a.height() != b.height() || a.width() != b.width() || a.channels.size() != b.channels.size() || !same_units)
    throw Error(fmt::format("{} has {}, but {} has {}; --clean takes the same picture without its noise",
                            settings.picture, text(a), settings.clean, text(b)));
}

}  // namespace

const std::vector<std::string> kPictureExtensions = picture_extensions();

bool is_picture(const std::string& path) {
  return std::find(kPictureExtensions.begin(), kPictureExtensions.end(), lower_extension(path)) !=
         kPictureExtensions.end();
}

void check_truth_options(const CommandLine& line) {
  if (line.given("clean") && line.given("add-noise"))
    throw UsageError("clean and add-noise exclude each other: with add-noise the picture given is the clean one");
  for (const char* name : {"clip", "noise-seed", "keep-noisy"})
    if (!line.given("add-noise") && line.given(name))
      throw UsageError(fmt::format("{} is for --add-noise SIGMA", name));
}

NoisyPicture read_noisy(const DenoiseSettings& settings) {
  NoisyPicture input{read_picture(settings.picture), {}};
  if (!settings.clean.empty()) {
    input.clean = read_picture(settings.clean);
    check_comparable(settings, input);
  }
  if (settings.add_noise) {
    input.clean = input.noisy;
    input.noisy = add_noise(*input.clean, *settings.add_noise, settings.clip, settings.noise_seed);
  }
  return input;
}

}  // namespace gsc::cli
