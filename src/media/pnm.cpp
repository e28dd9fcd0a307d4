#include "media/pnm.h"

#include "data/file_error.h"

namespace gsc {
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

}  // namespace

// P2 (grey, text), P3 (colour, text), P5 (grey, binary), P6 (colour, binary); then width, height and largest value, one
// white space, and the values row by row, binary ones in one byte, or in two (high first) if the largest is above 255.
Picture read_pnm(const PictureBytes& file) {
  const char kind = file.text(1, 1)[0];
  const bool text = kind == '2' || kind == '3';
  const std::uint64_t channels = kind == '2' || kind == '5' ? 1 : 3;
  NumberReader numbers(file, 2);
  constexpr std::uint64_t kLargestSide = 1U << 30;
  const std::uint64_t width = numbers.next(kLargestSide), height = numbers.next(kLargestSide);
  const std::uint64_t largest = numbers.next(65535);
  require_plausible_size(file, width, height);
  if (largest == 0) fail(file.name, "is damaged: its header gives 0 as the largest value");
  const std::uint64_t bytes = text || largest < 256 ? 1 : 2;  // in text: at least
  std::uint64_t at = numbers.at() + 1;
  file.require(at, width * height * channels * bytes);

  Picture picture;
  picture.depth = largest < 256 ? PixelDepth::bits8 : PixelDepth::bits16;
  const double full = picture.peak(), most = static_cast<double>(largest);
  picture.channels.assign(channels, Matrix(static_cast<Index>(height), static_cast<Index>(width)));
  for (Index i = 0; i < picture.height(); ++i)
    for (Index j = 0; j < picture.width(); ++j)
      for (Matrix& channel : picture.channels) {
        const std::uint64_t value = text ? numbers.next(largest) : file.big_endian(at, static_cast<int>(bytes));
        at += bytes;
        if (value > largest)
          fail(file.name, "is damaged: row {}, column {} is {}, above the largest value {}", i, j, value, largest);
        channel(i, j) = static_cast<double>(value) * full / most;
      }
  return picture;
}

}  // namespace gsc
