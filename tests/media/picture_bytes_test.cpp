// Picture files made by hand: the kinds our own writers never make, and what is wrong with a file is said. TIFF has a
// file of its own.

#include <gsc/picture_files.h>
#include <gtest/gtest.h>
#include <webp/encode.h>
#include <webp/mux.h>
#include <zlib.h>

#include "handmade_tiff.h"
#include "picture_support.h"

namespace gsc::test {
namespace {

std::string png_part(const std::string& name, const std::string& content) {
  const std::string body = name + content;
  return big_endian(content.size(), 4) + body +
         big_endian(::crc32_z(0, reinterpret_cast<const unsigned char*>(body.data()), body.size()), 4);
}

/// A PNG with `part` after its header, which is 8 + 25 bytes long.
std::string png_with(const std::string& part) {
  std::string bytes = bytes_of(example_picture(1, false, PixelDepth::bits8), "a.png");
  return bytes.insert(33, part);
}

/// One row of two pixels; header_end: bits, colour type, 0, 0, interlaced.
std::string png_row(const std::string& header_end, const std::string& parts, const std::string& row) {
  std::string packed(100, '\0');
  uLongf size = packed.size();
  ::compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(row.data()), row.size());
  packed.resize(size);
  return "\x89PNG\r\n\x1a\n" + png_part("IHDR", std::string("\0\0\0\2\0\0\0\1", 8) + header_end) + parts +
         png_part("IDAT", packed) + png_part("IEND", "");
}

TEST(PictureBytes, HugeHeadersAreRefused) {
  const std::string header("\0\1\x86\xa0\0\0\x75\x30\x08\0\0\0\0", 13);  // 100,000 x 30,000 pixels
  const std::string empty = png_part("IDAT", "") + png_part("IEND", "");
  expect_says(read_error("\x89PNG\r\n\x1a\n" + png_part("IHDR", header) + empty), "at most 1073741824");
  std::string smaller = header;
  smaller.replace(4, 4, std::string("\0\0\x27\x10", 4));
  expect_says(read_error("\x89PNG\r\n\x1a\n" + png_part("IHDR", smaller) + empty), "bytes cannot hold");
  expect_says(read_error("P5 30000 30000 255\nabc"), "bytes cannot hold");
  expect_says(read_error("P5 1000 1000 255\nabc"), "cut short");
  expect_says(read_error("P5 99999999999999999999 1 255\nabc"), "larger than");
  expect_says(read_error(HandmadeTiff{.width = 30000, .height = 30000, .pieces = {"ab"}}.bytes()), "bytes cannot hold");
  expect_says(read_error(HandmadeTiff{.tile = 1U << 20, .pieces = {"ab"}}.bytes()), "at most 1073741824");
  std::string jpeg = bytes_of(example_picture(1, false, PixelDepth::bits8), "a.jpg");
  jpeg.replace(jpeg.find("\xff\xc0") + 5, 4, big_endian(60000, 2) + big_endian(17000, 2));
  expect_says(read_error(jpeg), "bytes cannot hold");
  std::string bmp = bytes_of(example_picture(1, false, PixelDepth::bits8), "a.bmp");
  bmp.replace(18, 8, little_endian(30000, 4) + little_endian(30000, 4));
  expect_says(read_error(bmp), "bytes cannot hold");
}

TEST(PictureBytes, PngParts) {
  std::string flipped = bytes_of(example_picture(1, false, PixelDepth::bits8), "a.png");
  flipped[45] ^= 4;
  expect_says(read_error(flipped), "is damaged and cannot be decoded (IDAT: ");
  std::string wrong_sum = bytes_of(example_picture(1, false, PixelDepth::bits8), "a.png");
  wrong_sum[wrong_sum.size() - 13] ^= 4;  // of the pixels; the last part has 12 bytes
  expect_says(read_error(wrong_sum), "IDAT: CRC error");
  expect_says(read_error(png_with(png_part("acTL", std::string("\0\0\0\x05\0\0\0\0", 8)))), "animation of 5");
  EXPECT_EQ(read_bytes(png_with(png_part("tEXt", "Title"))).width(), 14);
  std::string comment = png_with(png_part("tEXt", std::string("Title\0x", 7)));
  comment[33 + 8] ^= 1;  // damage where no pixel is does no harm
  EXPECT_EQ(read_bytes(comment).width(), 14);
}

TEST(PictureBytes, PngKinds) {
  const Picture palette =
      read_bytes(png_row(std::string("\x08\x03\0\0\0", 5), png_part("PLTE", "\1\2\3\4\5\6"), std::string("\0\0\1", 3)));
  ASSERT_EQ(palette.channels.size(), 3U);
  EXPECT_EQ(palette.channels[0], (Matrix{{1, 4}}));
  EXPECT_EQ(palette.channels[2], (Matrix{{3, 6}}));
  const Picture grey = read_bytes(png_row(std::string("\x08\x04\0\0\0", 5), "", std::string("\0\x10\x20\x30\x40", 5)));
  ASSERT_EQ(grey.channels.size(), 1U);
  EXPECT_EQ(grey.channels[0], (Matrix{{0x10, 0x30}}));
  EXPECT_EQ(grey.alpha, (Matrix{{0x20, 0x40}}));
  const auto few_bits = [](char bits, char row) {
    return read_bytes(png_row(bits + std::string("\0\0\0\0", 4), "", std::string(1, '\0') + row)).channels[0];
  };
  EXPECT_EQ(few_bits(1, '\x40'), (Matrix{{0, 255}}));
  EXPECT_EQ(few_bits(2, '\x60'), (Matrix{{85, 170}}));
  EXPECT_EQ(few_bits(4, '\x3f'), (Matrix{{51, 255}}));
  const Picture keyed = read_bytes(png_row(std::string("\x08\0\0\0\0", 5), png_part("tRNS", std::string("\0\5", 2)),
                                           std::string("\0\5\6", 3)));  // 5 is transparent
  EXPECT_EQ(keyed.channels[0], (Matrix{{5, 6}}));
  EXPECT_EQ(keyed.alpha, (Matrix{{0, 255}}));
  const Picture interlaced = read_bytes(png_row(std::string("\x10\0\0\0\1", 5), "", std::string("\0\1\2\0\3\4", 6)));
  EXPECT_EQ(interlaced.channels[0], (Matrix{{0x102, 0x304}}));
}

TEST(PictureBytes, PnmKinds) {
  EXPECT_EQ(read_bytes("P2\n# by hand\n3 1 # size\n255\n0 7\n255").channels[0], (Matrix{{0, 7, 255}}));
  EXPECT_EQ(read_bytes("P2 3 1 15 0 5 15").channels[0], (Matrix{{0, 85, 255}}));
  EXPECT_EQ(read_bytes(std::string("P5 3 1 15\n\0\5\17", 13)).channels[0], (Matrix{{0, 85, 255}}));
  const Picture deep = read_bytes(std::string("P5 3 1 4095\n\0\0\0\1\17\377", 18));
  EXPECT_EQ(deep.depth, PixelDepth::bits16);
  EXPECT_EQ(deep.channels[0], (Matrix{{0, 16, 65535}}));
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

/// A BMP by hand: its header with what follows it, and rows that fill whole words.
std::string bmp(int width, int height, unsigned bits, unsigned packing, const std::string& after_header,
                const std::string& rows, unsigned colours = 0, unsigned header = 40) {
  const std::size_t start = 14 + 40 + after_header.size();
  const auto unsigned_of = [](int value) { return static_cast<std::uint32_t>(value); };
  return "BM" + little_endian(start + rows.size(), 4) + little_endian(0, 4) + little_endian(start, 4) +
         little_endian(header, 4) + little_endian(unsigned_of(width), 4) + little_endian(unsigned_of(height), 4) +
         little_endian(1, 2) + little_endian(bits, 2) + little_endian(packing, 4) + little_endian(rows.size(), 4) +
         little_endian(2835, 4) + little_endian(11811, 4) + little_endian(colours, 4) + little_endian(0, 4) +
         after_header + rows;
}

TEST(PictureBytes, BmpKinds) {
  const std::string black_white("\0\0\0\0\xff\xff\xff\0", 8), two("\3\2\1\0\6\5\4\0", 8);
  const std::string rows("\x40\0\0\0\x80\0\0\0", 8);  // of one bit, bottom first
  EXPECT_EQ(read_bytes(bmp(2, 2, 1, 0, black_white, rows)).channels.size(), 1U);
  EXPECT_EQ(read_bytes(bmp(2, 2, 1, 0, black_white, rows)).channels[0], (Matrix{{255, 0}, {0, 255}}));
  EXPECT_EQ(read_bytes(bmp(2, -2, 1, 0, black_white, rows)).channels[0], (Matrix{{0, 255}, {255, 0}}));
  const Picture palette = read_bytes(bmp(2, 1, 4, 0, two, std::string("\x10\0\0\0", 4), 2));
  ASSERT_EQ(palette.channels.size(), 3U);
  EXPECT_EQ(palette.channels[0], (Matrix{{4, 1}}));
  EXPECT_EQ(palette.channels[2], (Matrix{{6, 3}}));
  EXPECT_EQ(palette.metadata.dpi_x, 72);
  EXPECT_EQ(palette.metadata.dpi_y, 300);
  EXPECT_EQ(read_bytes(bmp(2, 1, 8, 0, two, std::string("\1\0\0\0", 4), 2)).channels[1], (Matrix{{5, 2}}));
  EXPECT_EQ(read_bytes(bmp(1, 1, 24, 0, "", std::string("\3\2\1\0", 4))).channels[0], (Matrix{{1}}));

  const std::string pixel("\3\2\1\x80", 4);
  const Picture plain = read_bytes(bmp(1, 1, 32, 0, "", pixel));
  EXPECT_EQ(plain.channels[0], (Matrix{{1}}));
  EXPECT_EQ(plain.alpha.size(), 0);
  const std::string masks = little_endian(0xff0000, 4) + little_endian(0xff00, 4) + little_endian(0xff, 4);
  EXPECT_EQ(read_bytes(bmp(1, 1, 32, 3, masks, pixel)).alpha.size(), 0);
  const std::string with_alpha = masks + little_endian(0xff000000, 4);
  EXPECT_EQ(read_bytes(bmp(1, 1, 32, 3, with_alpha, pixel, 0, 56)).alpha, (Matrix{{0x80}}));

  const std::string old = "BM" + little_endian(30, 4) + little_endian(0, 4) + little_endian(26, 4) +
                          little_endian(12, 4) + little_endian(1, 2) + little_endian(1, 2) + little_endian(1, 2) +
                          little_endian(24, 2) + std::string("\3\2\1\0", 4);
  EXPECT_EQ(read_bytes(old).channels[2], (Matrix{{3}}));
}

TEST(PictureBytes, BmpErrors) {
  const std::string two("\3\2\1\0\6\5\4\0", 8), word(4, '\0');
  expect_says(read_error(bmp(2, 1, 8, 1, two, word, 2)), "packed BMP (kind 1)");
  expect_says(read_error(bmp(2, 1, 16, 0, "", word)), "16 bits a pixel");
  expect_says(read_error(bmp(1, 1, 32, 3, std::string(12, '\1'), word)), "unusual bits");
  expect_says(read_error(bmp(2, 1, 8, 0, two, std::string("\1\2\0\0", 4), 2)), "row 0, column 1 is colour 2 of 2");
  expect_says(read_error(bmp(0, 1, 8, 0, two, word, 2)), "0 x 1 pixels");
  expect_says(read_error(bmp(-5, 1, 24, 0, "", word)), "at most 1073741824");
  expect_says(read_error(bmp(2, 2, 24, 0, "", word)), "cut short");
  expect_says(read_error(bmp(1, 1, 24, 0, "", word, 0, 13)), "header of a BMP has 13 bytes");
}

TEST(PictureBytes, WebpKinds) {
  std::vector<std::uint8_t> rgb;
  for (int i = 0; i < 64 * 48; ++i)
    for (const int value : {40 + i % 64, 90 + i / 64, 200 - i % 64}) rgb.push_back(static_cast<std::uint8_t>(value));
  std::uint8_t* encoded = nullptr;
  const std::size_t size = WebPEncodeRGB(rgb.data(), 64, 48, 3 * 64, 95, &encoded);  // lossy
  const std::string bytes(reinterpret_cast<const char*>(encoded), size);
  WebPFree(encoded);
  const Picture picture = read_bytes(bytes);
  ASSERT_EQ(picture.channels.size(), 3U);
  ASSERT_EQ(picture.width(), 64);
  for (Index i = 0; i < 48; ++i)
    for (Index j = 0; j < 64; ++j) {
      ASSERT_NEAR(picture.channels[0](i, j), static_cast<double>(40 + j), 9);
      ASSERT_NEAR(picture.channels[1](i, j), static_cast<double>(90 + i), 9);
    }

  WebPAnimEncoderOptions options;
  ASSERT_TRUE(WebPAnimEncoderOptionsInit(&options));
  WebPAnimEncoder* const animation = WebPAnimEncoderNew(8, 8, &options);
  for (int frame = 0; frame < 2; ++frame) {
    WebPPicture image;
    ASSERT_TRUE(WebPPictureInit(&image));
    image.use_argb = 1;
    image.width = image.height = 8;
    WebPPictureImportRGB(&image, rgb.data() + 100 * frame, 3 * 64);
    WebPAnimEncoderAdd(animation, &image, 100 * frame, nullptr);
    WebPPictureFree(&image);
  }
  WebPAnimEncoderAdd(animation, nullptr, 200, nullptr);
  WebPData data{};
  ASSERT_TRUE(WebPAnimEncoderAssemble(animation, &data));
  WebPAnimEncoderDelete(animation);
  const std::string moving(reinterpret_cast<const char*>(data.bytes), data.size);
  WebPDataClear(&data);
  expect_says(read_error(moving), "is an animation");
}

TEST(PictureBytes, JpegInCmyk) {
  std::string bytes = bytes_of(example_picture(3, false, PixelDepth::bits8), "a.jpg");
  // Four components by the frame's header; the header of the pixels, which would disagree, is not looked at any more.
  const std::size_t frame = bytes.find("\xff\xc0");
  bytes.replace(frame + 2, 2, big_endian(20, 2));
  bytes[frame + 9] = 4;
  bytes.insert(frame + 10, "\5\x11\0", 3);
  expect_says(read_error(bytes), "in CMYK colours (for print); convert it to RGB");
}

}  // namespace
}  // namespace gsc::test
