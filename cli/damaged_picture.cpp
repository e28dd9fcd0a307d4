#include "damaged_picture.h"

#include <gsc/inpaint.h>
#include <gsc/picture_files.h>
#include <gsc/words.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "noisy_picture.h"
#include "picture_mask.h"

namespace gsc::cli {
namespace {

std::string kind_text(const Picture& picture) {
  return fmt::format("{} x {} pixels of {}", picture.width(), picture.height(),
                     counted(static_cast<Index>(picture.channels.size()), "channel"));
}

/// "0", "65535" or "nan"; a message names the option.
double missing_value(const std::string& text) {
  if (text == "nan" || text == "NaN" || text == "NAN") return std::nan("");
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    throw UsageError(fmt::format("missing is '{}'; it must be a number, as 0, or nan", text));
  return value;
}

/// NaN that nobody called missing, neither by a mask.
void check_numbers(const std::string& file, const Picture& picture, const Picture* mask = nullptr) {
  for (std::size_t k = 0; k < picture.channels.size(); ++k) {
    const Matrix* hidden = mask == nullptr ? nullptr : &mask->channels[mask->channels.size() == 1 ? 0 : k];
    for (Index r = 0; r < picture.height(); ++r)
      for (Index c = 0; c < picture.width(); ++c)
        if (std::isnan(picture.channels[k](r, c)) && (hidden == nullptr || (*hidden)(r, c) == 0))
          throw Error(
              fmt::format("{}: the value at row {}, column {} (from 0) of channel {} is NaN; --missing nan takes "
                          "NaN for missing",
                          file, r, c, k + 1));
  }
}

/// Why nothing is missing: most likely not what was meant.
std::string nothing_missing(const InpaintSettings& settings) {
  std::string text = "nothing is missing of " + settings.picture;
  if (!settings.mask.empty())
    text += fmt::format(": {} is {} everywhere{}", settings.mask, settings.invert_mask ? "white" : "black",
                        settings.invert_mask ? "" : "; where black is missing, add --invert-mask");
  if (!settings.missing.empty())
    text += fmt::format("{} no value in it is {}", settings.mask.empty() ? ":" : ", and", settings.missing);
  return text;
}

/// A mask that leaves nothing is most likely the wrong way round.
void check_mask_leaves_something(const InpaintSettings& settings, const Picture& damaged) {
  const auto channels = static_cast<Index>(damaged.channels.size());
  if (missing_values(damaged) < channels * damaged.height() * damaged.width()) return;
  throw Error(
      fmt::format("{}: every value of the picture is missing, as {} is {} everywhere, so there is nothing to "
                  "fill it from{}",
                  settings.picture, settings.mask, settings.invert_mask ? "black" : "white",
                  settings.invert_mask ? "" : "; where black is missing, add --invert-mask"));
}

/// Scores compare value by value.
void check_comparable(const InpaintSettings& settings, const Picture& damaged, const Picture& clean) {
  const bool same_units =
      damaged.depth == clean.depth || damaged.depth == PixelDepth::real32 || clean.depth == PixelDepth::real32;
  if (damaged.height() == clean.height() && damaged.width() == clean.width() &&
      damaged.channels.size() == clean.channels.size() && same_units)
    return;
  throw Error(
      fmt::format("{} has {}, depth {}, but {} has {}, depth {}; --clean takes the same picture with nothing "
                  "missing",
                  settings.picture, kind_text(damaged), to_string(damaged.depth), settings.clean, kind_text(clean),
                  to_string(clean.depth)));
}

}  // namespace

void check_gap_options(const CommandLine& line) {
  const int said = line.given("mask") + line.given("missing") + line.given("observe");
  if (said == 0) throw UsageError("nobody says what is missing; give --mask M.png, --missing VALUE or --missing nan");
  if (said > 1 && !(said == 2 && !line.given("observe")))
    throw UsageError("observe is for a picture that is whole, so it excludes --mask and --missing");
  if (line.given("invert-mask") && !line.given("mask")) throw UsageError("invert-mask is for --mask M.png");
  if (line.given("clean") && line.given("observe"))
    throw UsageError("clean and observe exclude each other: with observe the picture given is the whole one");
  if (line.given("keep-observed") && line.given("denoise-observed"))
    throw UsageError("keep-observed and denoise-observed exclude each other");
  for (const char* name : {"whole-pixels", "mask-seed", "keep-damaged"})
    if (!line.given("observe") && line.given(name)) throw UsageError(fmt::format("{} is for --observe SHARE", name));
}

DamagedPicture read_damaged(const InpaintSettings& settings) {
  DamagedPicture input{read_bands(settings.picture), {}, {}};
  if (settings.observe) {
    if (!(*settings.observe > 0 && *settings.observe <= 1))
      throw UsageError(fmt::format("observe is {}; it must be a share of the values, above 0 and up to 1, as 0.2",
                                   *settings.observe));
    check_numbers(settings.picture, input.damaged);
    input.clean = input.damaged;
    input.damaged = drop_values(*input.clean, *settings.observe, settings.whole_pixels, settings.mask_seed);
    if (const auto values = static_cast<Index>(input.damaged.channels.size()) * input.damaged.channels[0].size();
        missing_values(input.damaged) == values)
      throw Error(
          fmt::format("{}: observe is {}, which left none of {} values, so there is nothing to fill it from; "
                      "observe more, as --observe 0.2",
                      settings.picture, *settings.observe, values));
    return input;
  }
  const double missing = settings.missing.empty() ? 0 : missing_value(settings.missing);
  const bool nan_is_missing = !settings.missing.empty() && std::isnan(missing);
  Picture mask;
  if (!settings.mask.empty()) {
    PictureMask read = read_mask(settings.mask, settings.invert_mask);
    mask = std::move(read.picture);
    input.warning = std::move(read.warning);
  }
  const Picture as_read = input.damaged;
  if (!settings.mask.empty()) {
    input.damaged = naming_file(settings.mask, [&] { return with_gaps(as_read, mask); });
    check_mask_leaves_something(settings, input.damaged);
  }
  // What the mask hides may be anything; the rest must be numbers.
  if (!nan_is_missing) check_numbers(settings.picture, as_read, settings.mask.empty() ? nullptr : &mask);
  if (!settings.missing.empty()) input.damaged = with_gaps(input.damaged, missing);
  if (missing_values(input.damaged) == 0) input.warning = nothing_missing(settings);
  if (!settings.clean.empty()) {
    input.clean = read_bands(settings.clean);
    check_numbers(settings.clean, *input.clean);
    check_comparable(settings, input.damaged, *input.clean);
  }
  return input;
}

}  // namespace gsc::cli
