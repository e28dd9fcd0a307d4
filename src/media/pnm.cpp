// PGM and PPM by hand: a few numbers in text, then the pixels.

#include <cstdint>
#include <cstring>
#include <limits>

#include "io/file_error.h"
#include "media/codec.h"
#include "media/metadata.h"

namespace gsc::media {
namespace {

/// Walks through numbers in text, between them white space and comments that go from '#' to the end of the line.
class NumberReader {
 public:
  NumberReader(const PictureBytes& file, std::uint64_t at) : file_(file), at_(at) {}

  std::uint64_t next(std::uint64_t most) {
    for (bool comment = false; comment || is_space(peek()) || peek() == '#'; ++at_)
      comment = peek() == '#' || (comment && peek() != '\n' && peek() != '\r');
    std::uint64_t value = 0;
    const std::uint64_t start = at_;
    for (; at_ < file_.size() && peek() >= '0' && peek() <= '9'; ++at_) {
      value = value * 10 + static_cast<std::uint64_t>(peek() - '0');
      if (value > most) fail(file_.name, "is damaged: the number at byte {} is larger than {}", start, most);
    }
    if (at_ == start) fail(file_.name, "is damaged: byte {} should start a number", start);
    return value;
  }
  std::uint64_t at() const { return at_; }

 private:
  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  char peek() const { return file_.text(at_, 1)[0]; }

  const PictureBytes& file_;
  std::uint64_t at_;
};

/// The largest value becomes 255 or 65535.
template <class Value>
void read_values(const PictureBytes& file, Samples& samples, NumberReader numbers, bool text, std::uint64_t largest) {
  const auto count = static_cast<std::uint64_t>(samples.width * samples.channels);
  constexpr std::uint64_t kFull = std::numeric_limits<Value>::max();
  std::uint64_t at = numbers.at() + 1;
  for (Index y = 0; y < samples.height; ++y) {
    auto* row = reinterpret_cast<Value*>(samples.row(y));
    for (std::uint64_t i = 0; i < count; ++i, at += sizeof(Value)) {
      const std::uint64_t value = text ? numbers.next(largest) : file.big_endian(at, sizeof(Value));
      if (value > largest)
        fail(file.name, "is damaged: row {}, column {} is {}, above the largest value {}", y,
             i / static_cast<std::uint64_t>(samples.channels), value, largest);
      row[i] = static_cast<Value>((value * kFull + largest / 2) / largest);
    }
  }
}

}  // namespace

// P2 (grey, text), P3 (colour, text), P5 (grey, binary), P6 (colour, binary); then width, height and largest value, one
// white space, and the values row by row, binary ones in one byte, or in two (high first) if the largest is above 255.
Decoded decode_pnm(const PictureBytes& file) {
  const char kind = file.text(1, 1)[0];
  const bool text = kind == '2' || kind == '3';
  const std::uint64_t channels = kind == '2' || kind == '5' ? 1 : 3;
  NumberReader numbers(file, 2);
  constexpr std::uint64_t kLargestSide = 1U << 30;
  const std::uint64_t width = numbers.next(kLargestSide), height = numbers.next(kLargestSide);
  const std::uint64_t largest = numbers.next(65535);
  require_plausible_size(file, width, height, 1);
  if (largest == 0) fail(file.name, "is damaged: its header gives 0 as the largest value");
  const bool deep = largest > 255;
  // In text at least that much.
  file.require(numbers.at() + 1, width * height * channels * (text || !deep ? 1 : 2));

  Decoded decoded;
  decoded.samples = Samples(static_cast<Index>(width), static_cast<Index>(height), static_cast<Index>(channels),
                            deep ? SampleKind::bits16 : SampleKind::bits8);
  if (deep)
    read_values<std::uint16_t>(file, decoded.samples, numbers, text, largest);
  else
    read_values<std::uint8_t>(file, decoded.samples, numbers, text, largest);
  return decoded;
}

std::vector<std::byte> encode_pnm(const Samples& samples, const PictureMetadata&, const std::string&) {
  const bool deep = samples.kind == SampleKind::bits16;
  const std::string header =
      fmt::format("P{}\n{} {}\n{}\n", samples.channels == 1 ? 5 : 6, samples.width, samples.height, deep ? 65535 : 255);
  std::vector<std::byte> bytes = copy_bytes(header.data(), header.size());
  bytes.resize(header.size() + samples.size());
  std::byte* to = bytes.data() + header.size();
  if (!deep) {
    std::memcpy(to, samples.bytes.get(), samples.size());
    return bytes;
  }
  const auto* value = reinterpret_cast<const std::uint16_t*>(samples.bytes.get());
  for (std::size_t i = 0; i < samples.size() / 2; ++i) {
    *to++ = static_cast<std::byte>(value[i] >> 8);
    *to++ = static_cast<std::byte>(value[i] & 255);
  }
  return bytes;
}

}  // namespace gsc::media
