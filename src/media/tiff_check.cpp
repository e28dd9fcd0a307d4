#include "media/tiff_check.h"

#include <algorithm>
#include <map>

#include "data/file_error.h"

namespace gsc {
namespace {

enum Tag : std::uint64_t {
  kWidth = 256,
  kHeight = 257,
  kBits = 258,
  kPhotometric = 262,
  kStripOffsets = 273,
  kSamples = 277,
  kStripBytes = 279,
  kPlanes = 284,
  kTileOffsets = 324,
  kTileBytes = 325,
  kExtraSamples = 338,
  kSampleFormat = 339,
};

/// The first directory of tags: classic TIFF (32-bit offsets) or BigTIFF (64-bit), in either byte order.
class Directory {
 public:
  explicit Directory(const PictureBytes& file) : file_(file), big_endian_(file.text(0, 2) == "MM") {
    big_tiff_ = number(2, 2) == 43;
    offset_bytes_ = big_tiff_ ? 8 : 4;
    std::uint64_t at = big_tiff_ ? number(8, 8) : number(4, 4);
    const int count_bytes = big_tiff_ ? 8 : 2;
    const std::uint64_t count = number(at, count_bytes), entry = 4 + 2 * static_cast<std::uint64_t>(offset_bytes_);
    at += static_cast<std::uint64_t>(count_bytes);
    if (count > file.size()) file.require(0, count);  // before the product below can overflow
    file.require(at, count * entry);
    for (std::uint64_t i = 0; i < count; ++i, at += entry) entries_.emplace(number(at, 2), at);
    next_ = number(at, offset_bytes_);
  }

  bool has_next() const { return next_ != 0; }
  bool big_endian() const { return big_endian_; }

  struct Values {
    std::uint64_t at = 0, count = 0;
    int bytes = 0;  ///< of each; 0: none, or not whole numbers
  };
  Values find(Tag tag) const {
    const auto entry = entries_.find(tag);
    if (entry == entries_.end()) return {};
    const std::uint64_t type = number(entry->second + 2, 2);
    const int bytes = type == 1 ? 1 : type == 3 ? 2 : type == 4 ? 4 : type == 16 ? 8 : 0;
    const std::uint64_t count = number(entry->second + 4, offset_bytes_);
    if (bytes == 0 || count == 0) return {};
    if (count > file_.size()) file_.require(0, count);
    const std::uint64_t total = count * static_cast<std::uint64_t>(bytes);
    // Values that fit stand in the entry itself, where others have their offset.
    const std::uint64_t inside = entry->second + 4 + static_cast<std::uint64_t>(offset_bytes_);
    const std::uint64_t at =
        total <= static_cast<std::uint64_t>(offset_bytes_) ? inside : number(inside, offset_bytes_);
    file_.require(at, total);
    return {at, count, bytes};
  }
  std::uint64_t value(const Values& values, std::uint64_t i) const {
    return number(values.at + i * static_cast<std::uint64_t>(values.bytes), values.bytes);
  }
  std::uint64_t first(Tag tag, std::uint64_t otherwise) const {
    const Values values = find(tag);
    return values.bytes == 0 ? otherwise : value(values, 0);
  }

 private:
  std::uint64_t number(std::uint64_t at, int count) const {
    return big_endian_ ? file_.big_endian(at, count) : file_.little_endian(at, count);
  }

  const PictureBytes& file_;
  bool big_endian_, big_tiff_ = false;
  int offset_bytes_ = 4;
  std::map<std::uint64_t, std::uint64_t> entries_;  // tag -> where its entry stands
  std::uint64_t next_ = 0;
};

void require_all_pieces(const PictureBytes& file, const Directory& tags, Tag offsets_tag, Tag bytes_tag) {
  const Directory::Values offsets = tags.find(offsets_tag), bytes = tags.find(bytes_tag);
  for (std::uint64_t i = 0; i < std::min(offsets.count, bytes.count); ++i)
    file.require(tags.value(offsets, i), tags.value(bytes, i));
}

}  // namespace

std::optional<std::uint64_t> check_tiff(const PictureBytes& file) {
  const Directory tags(file);
  if (tags.has_next())
    fail(file.name, "holds several pictures (pages, or a preview); save the one you want to a file of its own");
  require_plausible_size(file, tags.first(kWidth, 0), tags.first(kHeight, 0));

  const std::uint64_t samples = tags.first(kSamples, 1), bits = tags.first(kBits, 1);
  const std::uint64_t format = tags.first(kSampleFormat, 1), colours = tags.first(kPhotometric, 1);
  enum : std::uint64_t { kWhiteIsZero = 0, kGrey = 1, kRgb = 2, kPalette = 3, kYcbcr = 6 };
  const bool integer = format == 1 && (bits == 1 || bits == 8 || bits == 10 || bits == 12 || bits == 14 || bits == 16);
  const bool real = format == 3 && (bits == 32 || bits == 64);
  if (!integer && !real)
    fail(file.name, "has {} bits of {} a value; pictures of 8 or 16 bits without sign or of 32-bit reals can be read",
         bits,
         format == 1   ? "an unsigned number"
         : format == 2 ? "a signed number"
         : format == 3 ? "a real"
                       : "data");
  if (samples == 2)
    fail(file.name, "is a grey TIFF with alpha, which cannot be read; save it as PNG, or without alpha");
  // Other than 8-bit pixels are taken as they stand in the file.
  const bool plain = colours == kGrey || colours == kRgb;
  const bool converted = bits <= 8 && (colours == kWhiteIsZero || colours == kPalette || colours == kYcbcr);
  if (!plain && !converted)
    fail(file.name, "has colours of a kind that cannot be read (TIFF photometric {}); convert it to grey or RGB",
         colours);
  if (bits > 8 && samples > 1 && tags.first(kPlanes, 1) != 1)
    fail(file.name, "stores its colours in separate planes, which cannot be read; save it with interleaved colours");

  require_all_pieces(file, tags, kStripOffsets, kStripBytes);
  require_all_pieces(file, tags, kTileOffsets, kTileBytes);

  const Directory::Values alpha = tags.find(kExtraSamples);
  if (samples != 4 || alpha.bytes == 0) return std::nullopt;
  enum : std::uint64_t { kMultipliedIn = 1, kSeparate = 2 };
  if (tags.value(alpha, 0) == kMultipliedIn)
    fail(file.name, "has alpha multiplied into its colours (associated alpha); save it with ordinary alpha");
  if (tags.value(alpha, 0) != kSeparate) return std::nullopt;
  return alpha.at + (tags.big_endian() ? static_cast<std::uint64_t>(alpha.bytes) - 1 : 0);
}

}  // namespace gsc
