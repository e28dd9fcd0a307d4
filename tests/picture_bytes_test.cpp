// Picture files made or damaged by hand: the kinds our own writer never makes, and what is wrong with a file is said.

#include <gsc/picture_files.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <chrono>
#include <cstdlib>
#include <limits>

#include "picture_support.h"

namespace gsc::test {
namespace {

/// A TIFF by hand, uncompressed and little-endian: one directory a page, then the pixels of all pages.
struct HandmadeTiff {
  unsigned width = 2, height = 1, samples = 1, bits = 8, format = 1, photometric = 1, planes = 1, pages = 1;
  int extra = -1, orientation = 1;
  std::string pixels;

  std::string bytes() const {
    const auto number = [](std::uint64_t value, int count) {
      std::string text;
      for (; count > 0; --count, value >>= 8) text += static_cast<char>(value & 255);
      return text;
    };
    const unsigned tags = extra >= 0 ? 13 : 12;
    const unsigned directory = 2 + 12 * tags + 4, first = 8, lists = first + pages * directory,
                   data = lists + 16;  // lists: bits and formats of up to four samples
    std::string file = "II*" + std::string(1, '\0') + number(first, 4);
    for (unsigned page = 0; page < pages; ++page) {
      const auto tag = [&](unsigned code, unsigned type, unsigned count, unsigned value) {
        file += number(code, 2) + number(type, 2) + number(count, 4) + number(value, 4);
      };
      const auto list = [&](unsigned code, unsigned value, unsigned at) {
        const bool inside = samples <= 2;
        tag(code, 3, samples, inside ? value | (samples == 2 ? value << 16 : 0) : at);
      };
      file += number(tags, 2);
      tag(256, 4, 1, width);
      tag(257, 4, 1, height);
      list(258, bits, lists);
      tag(259, 3, 1, 1);
      tag(262, 3, 1, photometric);
      tag(273, 4, 1, data);
      tag(274, 3, 1, static_cast<unsigned>(orientation));
      tag(277, 3, 1, samples);
      tag(278, 4, 1, height);
      tag(279, 4, 1, static_cast<unsigned>(pixels.size()));
      tag(284, 3, 1, planes);
      if (extra >= 0) tag(338, 3, 1, static_cast<unsigned>(extra));
      list(339, format, lists + 8);
      file += number(page + 1 < pages ? first + (page + 1) * directory : 0, 4);
    }
    for (int i = 0; i < 4; ++i) file += number(bits, 2);
    for (int i = 0; i < 4; ++i) file += number(format, 2);
    return file + pixels;
  }
};

template <class Value>
std::string raw(std::initializer_list<Value> values) {
  return {reinterpret_cast<const char*>(std::data(values)), values.size() * sizeof(Value)};
}

std::string png_part(const std::string& name, const std::string& content) {
  const auto number = [](std::uint64_t value) {
    std::string text;
    for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift & 255);
    return text;
  };
  const std::string body = name + content;
  return number(content.size()) + body +
         number(::crc32_z(0, reinterpret_cast<const unsigned char*>(body.data()), body.size()));
}

/// A PNG with `part` after its header, which is 8 + 25 bytes long.
std::string png_with(const std::string& part) {
  std::string bytes = bytes_of(example_picture(1, false, PixelDepth::bits8), "a.png");
  return bytes.insert(33, part);
}

TEST(PictureBytes, EveryTruncationIsFound) {
  testing::internal::CaptureStderr();
  for (const std::string name : {"a.png", "a.tif", "a.jpg", "a.pgm", "a.ppm"}) {
    const std::string whole =
        bytes_of(example_picture(name == "a.pgm" ? 1 : 3, false, PixelDepth::bits8, 40, 50), name);
    const TemporaryFolder folder;
    for (std::size_t length = 0; length < whole.size(); length += 1 + whole.size() / 60) {
      const auto cut = write_file(folder / std::to_string(length), whole.substr(0, length));
      SCOPED_TRACE(name + " cut to " + std::to_string(length) + " of " + std::to_string(whole.size()));
      const std::string message = error_of([&] { read_picture(cut); });
      expect_says(message, cut.string());
      // Enough to tell the format by, it is damaged; else it is no picture.
      expect_says(message, length == 0 ? "is empty" : length < 8 ? "is" : "damaged");
    }
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(PictureBytes, JpegWithAHoleIsFound) {
  std::string bytes = bytes_of(example_picture(3, false, PixelDepth::bits8, 80, 90), "a.jpg");
  bytes.erase(bytes.size() / 2, bytes.size() / 2 - 2);  // the end marker stays
  expect_says(read_error(bytes), "damaged");
}

TEST(PictureBytes, JpegIsTurnedUpright) {
  const Picture picture = example_picture(1, false, PixelDepth::bits8, 8, 16);
  std::string bytes = bytes_of(picture, "a.jpg");
  const Matrix lying = read_bytes(bytes).channels[0];
  const std::string tiff("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0", 26);
  const std::string exif = std::string("Exif\0\0", 6) + tiff;
  bytes.insert(2, std::string("\xff\xe1\0", 3) + static_cast<char>(exif.size() + 2) + exif);
  const Matrix upright = read_bytes(bytes).channels[0];  // orientation 6: turned clockwise by 90 degrees
  EXPECT_EQ(upright, lying.transpose().rowwise().reverse());
}

TEST(PictureBytes, HugeHeadersAreRefused) {
  const std::string header("\0\1\x86\xa0\0\0\x75\x30\x08\0\0\0\0", 13);  // 100,000 x 30,000 pixels
  const std::string png = "\x89PNG\r\n\x1a\n" + png_part("IHDR", header) + png_part("IEND", "");
  expect_says(read_error(png), "at most 1073741824");
  std::string smaller = header;
  smaller.replace(4, 4, std::string("\0\0\x27\x10", 4));
  expect_says(read_error("\x89PNG\r\n\x1a\n" + png_part("IHDR", smaller) + png_part("IEND", "")), "bytes cannot hold");
  expect_says(read_error("P5 30000 30000 255\nabc"), "bytes cannot hold");
  expect_says(read_error("P5 3000 3000 255\nabc"), "cut short");
  expect_says(read_error("P5 99999999999999999999 1 255\nabc"), "larger than");
  HandmadeTiff tiff{.width = 30000, .height = 30000, .pixels = "ab"};
  expect_says(read_error(tiff.bytes()), "bytes cannot hold");
}

TEST(PictureBytes, PngParts) {
  std::string flipped = bytes_of(example_picture(1, false, PixelDepth::bits8), "a.png");
  flipped[45] ^= 4;
  expect_says(read_error(flipped), "checksum of its part 'IDAT'");
  expect_says(read_error(png_with(png_part("acTL", std::string("\0\0\0\x05\0\0\0\0", 8)))), "animation of 5");
  expect_says(read_error(png_with(png_part("tRNS", std::string("\0\5", 2)))), "transparent");
  EXPECT_EQ(read_bytes(png_with(png_part("tEXt", "Title"))).width(), 14);
}

TEST(PictureBytes, PngPaletteAndGreyWithAlpha) {
  const auto png = [](const std::string& header_end, const std::string& parts, const std::string& row) {
    std::string packed(100, '\0');
    uLongf size = packed.size();
    ::compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(row.data()), row.size());
    packed.resize(size);
    return "\x89PNG\r\n\x1a\n" + png_part("IHDR", std::string("\0\0\0\2\0\0\0\1", 8) + header_end) + parts +
           png_part("IDAT", packed) + png_part("IEND", "");
  };
  const Picture palette =
      read_bytes(png(std::string("\x08\x03\0\0\0", 5), png_part("PLTE", "\1\2\3\4\5\6"), std::string("\0\0\1", 3)));
  ASSERT_EQ(palette.channels.size(), 3U);
  EXPECT_EQ(palette.channels[0], (Matrix{{1, 4}}));
  EXPECT_EQ(palette.channels[2], (Matrix{{3, 6}}));
  const Picture grey = read_bytes(png(std::string("\x08\x04\0\0\0", 5), "", std::string("\0\x10\x20\x30\x40", 5)));
  ASSERT_EQ(grey.channels.size(), 1U);
  EXPECT_EQ(grey.channels[0], (Matrix{{0x10, 0x30}}));
  EXPECT_EQ(grey.alpha, (Matrix{{0x20, 0x40}}));
}

TEST(PictureBytes, PnmKinds) {
  EXPECT_EQ(read_bytes("P2\n# by hand\n3 1 # size\n255\n0 7\n255").channels[0], (Matrix{{0, 7, 255}}));
  EXPECT_EQ(read_bytes("P2 3 1 15 0 5 15").channels[0], (Matrix{{0, 85, 255}}));
  EXPECT_EQ(read_bytes(std::string("P5 3 1 15\n\0\5\17", 13)).channels[0], (Matrix{{0, 85, 255}}));
  const Picture deep = read_bytes(std::string("P5 3 1 4095\n\0\0\0\1\17\377", 18));
  EXPECT_EQ(deep.depth, PixelDepth::bits16);
  EXPECT_EQ(deep.channels[0], (Matrix{{0, 65535.0 / 4095, 65535}}));
  const Picture colour = read_bytes("P3 1 1 255 1 2 3");
  ASSERT_EQ(colour.channels.size(), 3U);
  EXPECT_EQ(colour.channels[2](0, 0), 3);
  expect_says(read_error("P2 3 1 15 0 5 16"), "larger than 15");
  expect_says(read_error("P5 2 1 15\n\1\20"), "row 0, column 1 is 16");
  expect_says(read_error("P2 3 1 255 0 x 1"), "should start a number");
  expect_says(read_error("P2 0 1 255 0"), "0 x 1 pixels");
  expect_says(read_error("P5 1 1 0\nx"), "largest value");
  expect_says(read_error("P5 # no end"), "cut short");
}

TEST(PictureBytes, TiffKinds) {
  HandmadeTiff tiff{.pixels = raw<unsigned char>({7, 250})};
  EXPECT_EQ(read_bytes(tiff.bytes()).channels[0], (Matrix{{7, 250}}));
  tiff.photometric = 0;
  EXPECT_EQ(read_bytes(tiff.bytes()).channels[0], (Matrix{{248, 5}}));

  const HandmadeTiff doubles{.bits = 64, .format = 3, .pixels = raw<double>({1.5, -2.25})};
  EXPECT_EQ(read_bytes(doubles.bytes()).channels[0], (Matrix{{1.5, -2.25}}));
  EXPECT_EQ(read_bytes(doubles.bytes()).depth, PixelDepth::real32);

  const HandmadeTiff turned{.width = 2, .height = 2, .orientation = 6, .pixels = raw<unsigned char>({1, 2, 3, 4})};
  EXPECT_EQ(read_bytes(turned.bytes()).channels[0], (Matrix{{3, 1}, {4, 2}}));

  for (const int extra : {-1, 0, 2}) {  // alpha unexplained or separate: colours stay as they are
    const HandmadeTiff alpha{
        .samples = 4, .photometric = 2, .extra = extra, .pixels = raw<unsigned char>({200, 100, 50, 128, 9, 8, 7, 0})};
    const Picture picture = read_bytes(alpha.bytes());
    ASSERT_EQ(picture.channels.size(), 3U);
    EXPECT_EQ(picture.channels[0], (Matrix{{200, 9}}));
    EXPECT_EQ(picture.channels[2], (Matrix{{50, 7}}));
    EXPECT_EQ(picture.alpha, (Matrix{{128, 0}}));
  }
}

TEST(PictureBytes, TiffErrors) {
  const auto error = [](const HandmadeTiff& tiff) { return read_error(tiff.bytes()); };
  const std::string eight(8, '\1');
  expect_says(error({.pages = 2, .pixels = eight}), "several pictures");
  expect_says(error({.samples = 2, .extra = 2, .pixels = eight}), "grey TIFF with alpha");
  expect_says(error({.samples = 4, .photometric = 2, .extra = 1, .pixels = eight}), "multiplied into");
  expect_says(error({.samples = 4, .photometric = 5, .pixels = eight}), "photometric 5");
  expect_says(error({.bits = 16, .photometric = 0, .pixels = eight}), "photometric 0");
  expect_says(error({.bits = 16, .format = 2, .pixels = eight}), "16 bits of a signed number");
  expect_says(error({.bits = 16, .format = 3, .pixels = eight}), "16 bits of a real");
  expect_says(error({.bits = 4, .pixels = eight}), "4 bits");
  expect_says(error({.samples = 3, .bits = 16, .photometric = 2, .planes = 2, .pixels = eight + eight}), "planes");
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  expect_says(error({.bits = 32, .format = 3, .pixels = raw<float>({1, nan})}), "row 0, column 1 (from 0) is NaN");
  expect_says(error({.bits = 32, .format = 3, .pixels = raw<float>({-inf, 1})}),
              "row 0, column 0 (from 0) is infinite");
  std::string cut = HandmadeTiff{.width = 20, .height = 20, .pixels = std::string(400, 'x')}.bytes();
  expect_says(read_error(cut.substr(0, cut.size() - 1)), "cut short");
}

TEST(PictureBytes, DamageNeverCrashes) {
  const auto start = std::chrono::steady_clock::now();
  std::mt19937_64 random(5);
  const TemporaryFolder folder;
  std::vector<std::string> files;
  for (const std::string name : {"a.png", "a.tif", "a.jpg", "a.ppm"})
    files.push_back(bytes_of(example_picture(3, false, PixelDepth::bits8, 21, 30), name));
  files.push_back(bytes_of(example_picture(1, false, PixelDepth::real32, 21, 30), "a.tif"));
  files.push_back(HandmadeTiff{
      .samples = 4, .photometric = 2, .extra = 2, .pixels = raw<unsigned char>({200, 100, 50, 128, 9, 8, 7, 0})}
                      .bytes());
  const char* const factor = std::getenv("GSC_FUZZ_FACTOR");
  const double seconds = 4 * (factor != nullptr ? std::atof(factor) : 1.0);
  int read = 0, refused = 0;
  testing::internal::CaptureStderr();
  for (int round = 0; round < 2000 || factor != nullptr; ++round) {
    if (std::chrono::steady_clock::now() - start > std::chrono::duration<double>(seconds)) break;
    std::string bytes = files[static_cast<std::size_t>(round) % files.size()];
    for (std::uint64_t flips = 1 + random() % 4; flips > 0; --flips)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    const std::filesystem::path damaged = folder / std::to_string(round);  // file systems are slow to overwrite
    write_file(damaged, bytes);
    try {
      const Picture picture = read_picture(damaged);
      EXPECT_GT(picture.height() * picture.width(), 0);
      ++read;
    } catch (const Error&) {
      ++refused;
    }
    std::filesystem::remove(damaged);
  }
  testing::internal::GetCapturedStderr();
  EXPECT_GT(read, 10);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace gsc::test
