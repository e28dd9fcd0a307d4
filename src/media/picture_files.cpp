#include <gsc/picture_files.h>

#include <gsc/file_kind.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <new>

#include "io/atomic_file.h"
#include "io/file_error.h"
#include "io/mapped_file.h"
#include "media/codec.h"
#include "media/metadata.h"

namespace gsc {
namespace {

using media::Codec;

/// "PNG, TIFF and WebP", of those formats that can do something.
std::string names_of(const std::function<bool(const Codec&)>& able) {
  std::vector<std::string> names;
  for (const Codec& codec : media::codecs())
    if (able(codec)) names.push_back(codec.name);
  const std::string last = names.back();
  names.pop_back();
  return names.empty() ? last : fmt::format("{} and {}", fmt::join(names, ", "), last);
}

const Codec& codec_of_content(const media::PictureBytes& file) {
  if (file.size() == 0) fail(file.name, "is empty; a picture is expected");
  const std::string_view start = file.text(0, std::min<std::uint64_t>(file.size(), 16));
  for (const Codec& codec : media::codecs())
    if (codec.recognises(start)) return codec;
  constexpr std::size_t kEnough = 520;
  const std::string what = recognise(file.bytes.first(std::min(kEnough, file.bytes.size()))).words;
  fail(file.name,
       "is not a picture this program can read{}; known are {}. Convert it, and take single frames of a video first",
       what.empty() ? "" : fmt::format(" (it is {})", what), names_of([](const Codec&) { return true; }));
}

const Codec& codec_of_name(const std::filesystem::path& path) {
  const std::string extension = lower_extension(path);
  for (const Codec& codec : media::codecs())
    if (std::find(codec.extensions.begin(), codec.extensions.end(), extension) != codec.extensions.end()) return codec;
  fail(path.string(), "cannot tell the format from {}; known are {}",
       extension.empty() ? "a name without extension" : in_quotes(extension), fmt::join(picture_extensions(), ", "));
}

void require_finite(const std::string& name, const Matrix& values) {
  if (values.allFinite()) return;
  for (Index i = 0; i < values.rows(); ++i)
    for (Index j = 0; j < values.cols(); ++j)
      if (!std::isfinite(values(i, j)))
        fail(name, "the pixel in row {}, column {} (from 0) is {}; replace such values first", i, j,
             std::isnan(values(i, j)) ? "NaN" : "infinite");
}

void require_finite(const std::string& name, const Picture& picture) {
  for (const Matrix& channel : picture.channels) require_finite(name, channel);
  require_finite(name, picture.alpha);
}

void require_fit(const std::string& name, const Picture& picture, const Codec& codec) {
  const auto same_size = [&](const Matrix& m) { return m.rows() == picture.height() && m.cols() == picture.width(); };
  const bool has_alpha = picture.alpha.size() > 0;
  const std::size_t channels = picture.channels.size();
  if (picture.height() == 0 || picture.width() == 0 || channels == 2 || (channels > 3 && (!codec.bands || has_alpha)) ||
      !std::all_of(picture.channels.begin(), picture.channels.end(), same_size) ||
      (has_alpha && !same_size(picture.alpha)))
    fail(
        name,
        "a picture to be written needs pixels, in 1 or 3 channels of the same size ({}: or 4 and more, without alpha); "
        "this one has {} channels",
        names_of([](const Codec& other) { return other.bands; }), channels);
  if (picture.depth == PixelDepth::real32 && !codec.real)
    fail(name, "{} cannot hold real numbers; write to a format that can ({}), or with 8 or 16 bits", codec.name,
         names_of([](const Codec& other) { return other.real; }));
  if (picture.depth == PixelDepth::bits16 && !codec.bits16)
    fail(name, "{} cannot hold 16 bits; write to a format that can ({}), or with 8 bits", codec.name,
         names_of([](const Codec& other) { return other.bits16; }));
  if (has_alpha && !codec.alpha)
    fail(name, "{} cannot hold an alpha channel; write to a format that can ({})", codec.name,
         names_of([](const Codec& other) { return other.alpha; }));
  if (picture.channels.size() == 3 && !codec.colour)
    fail(name, "{} cannot hold a colour picture; write to a format that can ({})", codec.name,
         names_of([](const Codec& other) { return other.colour; }));
  if (std::max(picture.width(), picture.height()) > codec.largest_side)
    fail(name, "a picture of {} x {} pixels does not fit into {}, which ends at {} a side; choose TIFF or PNG",
         picture.width(), picture.height(), codec.name, codec.largest_side);
  require_finite(name, picture);
}

/// As EXIF and TIFF count: 2 mirrored, 3 upside down, 4 both, 5 to 8 the same on their side.
Matrix turned(const Matrix& lying, int orientation) {
  switch (orientation) {
    case 2:
      return lying.rowwise().reverse();
    case 3:
      return lying.reverse();
    case 4:
      return lying.colwise().reverse();
    case 5:
      return lying.transpose();
    case 6:
      return lying.transpose().rowwise().reverse();
    case 7:
      return lying.transpose().reverse();
    case 8:
      return lying.transpose().colwise().reverse();
    default:
      return lying;
  }
}

void turn_upright(Picture& picture, int orientation) {
  if (orientation == 1) return;
  for (Matrix& channel : picture.channels) channel = turned(channel, orientation);
  if (picture.alpha.size() > 0) picture.alpha = turned(picture.alpha, orientation);
  if (orientation >= 5) std::swap(picture.metadata.dpi_x, picture.metadata.dpi_y);
}

}  // namespace

const std::vector<PictureFormat>& picture_formats() {
  static const std::vector<PictureFormat> formats = [] {
    std::vector<PictureFormat> all;
    for (const Codec& codec : media::codecs()) all.push_back({codec.name, codec.extensions});
    return all;
  }();
  return formats;
}

std::vector<std::string> picture_extensions() {
  std::vector<std::string> all;
  for (const PictureFormat& format : picture_formats())
    all.insert(all.end(), format.extensions.begin(), format.extensions.end());
  return all;
}

Picture decode_picture(std::span<const std::byte> bytes, const std::string& name, NanPixels nan, Bands bands) try {
  const media::PictureBytes file{bytes, name};
  media::Decoded decoded = codec_of_content(file).decode(file);
  if (decoded.samples.bands && bands == Bands::refused)
    fail(name, "has {} values a pixel; grey or RGB, with or without alpha, can be read here (gsc inpaint takes more)",
         decoded.samples.channels);
  Picture picture = media::to_picture(decoded.samples);
  decoded.samples = {};
  picture.metadata = std::move(decoded.metadata);
  PictureMetadata& metadata = picture.metadata;
  if (!metadata.exif.empty()) {
    decoded.orientation = media::exif_orientation(metadata.exif);
    const auto resolution = media::exif_resolution(metadata.exif);
    if (resolution && !media::knows_resolution(metadata)) {
      metadata.dpi_x = resolution->x;
      metadata.dpi_y = resolution->y;
    }
    media::make_upright(metadata.exif);
  }
  turn_upright(picture, decoded.orientation);
  if (nan == NanPixels::refused)
    require_finite(name, picture);
  else
    require_finite(name, picture.alpha);
  return picture;
} catch (const std::bad_alloc&) {
  fail(name, "does not fit into memory; cut it into tiles");
}

Picture read_picture(const std::filesystem::path& path, NanPixels nan, Bands bands) {
  std::error_code error;
  const std::string name = path.string();
  if (!std::filesystem::exists(path, error) && !error) fail(name, "there is no such file; is the name spelt right?");
  if (std::filesystem::is_directory(path, error)) fail(name, "is a folder; name a picture in it");
  const MappedFile file(path);
  return decode_picture(file.bytes(), name, nan, bands);
}

void check_writable(const std::filesystem::path& path, const Picture& picture) {
  require_fit(path.string(), picture, codec_of_name(path));
}

std::vector<std::byte> encode_picture(const std::filesystem::path& path, const Picture& picture) {
  const std::string name = path.string();
  const Codec& codec = codec_of_name(path);
  require_fit(name, picture, codec);
  try {
    const media::Samples samples = media::to_samples(picture, !codec.grey);
    PictureMetadata metadata = picture.metadata;
    if (samples.bands || !media::profile_fits(metadata.icc, samples.channels < 3 ? 1 : 3)) metadata.icc.clear();
    return codec.encode(samples, metadata, name);
  } catch (const std::bad_alloc&) {
    fail(name, "there is not enough memory to write a picture of {} x {} pixels", picture.width(), picture.height());
  }
}

void write_picture(const std::filesystem::path& path, const Picture& picture) {
  const std::vector<std::byte> bytes = encode_picture(path, picture);
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace gsc
