// TIFF files of all the kinds there are: bits, planes, tiles, palettes, alpha; and what is wrong with the others is
// said.

#include <gsc/picture_files.h>
#include <gtest/gtest.h>
#include <tiffio.h>

#include <limits>

#include "handmade_tiff.h"
#include "picture_support.h"

namespace gsc::test {
namespace {

Matrix grey_of(const HandmadeTiff& tiff) {
  const Picture picture = read_bytes(tiff.bytes());
  EXPECT_EQ(picture.channels.size(), 1U);
  return picture.channels[0];
}

TEST(Tiff, GreyOfAllBits) {
  HandmadeTiff tiff{.pieces = {raw<unsigned char>({7, 250})}};
  EXPECT_EQ(grey_of(tiff), (Matrix{{7, 250}}));
  tiff.photometric = 0;  // white is zero
  EXPECT_EQ(grey_of(tiff), (Matrix{{248, 5}}));
  EXPECT_EQ(grey_of({.width = 5, .bits = 1, .pieces = {"\xa8"}}), (Matrix{{255, 0, 255, 0, 255}}));
  EXPECT_EQ(grey_of({.width = 3, .bits = 2, .pieces = {"\x1b"}}), (Matrix{{0, 85, 170}}));
  EXPECT_EQ(grey_of({.width = 3, .bits = 4, .pieces = {"\x0f\x30"}}), (Matrix{{0, 255, 51}}));
  EXPECT_EQ(grey_of({.bits = 16, .photometric = 0, .pieces = {raw<std::uint16_t>({1, 65535})}}), (Matrix{{65534, 0}}));
  const HandmadeTiff twelve{.width = 2, .bits = 12, .pieces = {"\xff\xf0\x01"}};
  EXPECT_EQ(grey_of(twelve), (Matrix{{65535, 16}}));
  EXPECT_EQ(read_bytes(twelve.bytes()).depth, PixelDepth::bits16);

  const HandmadeTiff doubles{.bits = 64, .format = 3, .pieces = {raw<double>({0.1, -2.25})}};
  EXPECT_EQ(grey_of(doubles), (Matrix{{0.1, -2.25}}));
  EXPECT_EQ(read_bytes(doubles.bytes()).depth, PixelDepth::real32);
}

TEST(Tiff, TurnedUpright) {
  const HandmadeTiff turned{.width = 2, .height = 2, .orientation = 6, .pieces = {raw<unsigned char>({1, 2, 3, 4})}};
  EXPECT_EQ(grey_of(turned), (Matrix{{3, 1}, {4, 2}}));
}

TEST(Tiff, Alpha) {
  for (const int extra : {-1, 0, 2}) {  // unexplained or separate: colours stay as they are
    const HandmadeTiff alpha{.samples = 4,
                             .photometric = 2,
                             .extra = extra,
                             .pieces = {raw<unsigned char>({200, 100, 50, 128, 9, 8, 7, 0})}};
    const Picture picture = read_bytes(alpha.bytes());
    ASSERT_EQ(picture.channels.size(), 3U);
    EXPECT_EQ(picture.channels[0], (Matrix{{200, 9}}));
    EXPECT_EQ(picture.channels[2], (Matrix{{50, 7}}));
    EXPECT_EQ(picture.alpha, (Matrix{{128, 0}}));
  }
  HandmadeTiff grey{.samples = 2, .extra = 2, .pieces = {raw<unsigned char>({1, 2, 3, 4})}};
  EXPECT_EQ(grey_of(grey), (Matrix{{1, 3}}));
  grey.photometric = 0;
  EXPECT_EQ(grey_of(grey), (Matrix{{254, 252}}));
  EXPECT_EQ(read_bytes(grey.bytes()).alpha, (Matrix{{2, 4}}));
}

TEST(Tiff, PlanesAndTiles) {
  const HandmadeTiff planes{
      .samples = 3,
      .bits = 16,
      .photometric = 2,
      .planes = 2,
      .pieces = {raw<std::uint16_t>({1, 1000}), raw<std::uint16_t>({2, 2000}), raw<std::uint16_t>({3, 3000})}};
  const Picture picture = read_bytes(planes.bytes());
  ASSERT_EQ(picture.channels.size(), 3U);
  EXPECT_EQ(picture.channels[0], (Matrix{{1, 1000}}));
  EXPECT_EQ(picture.channels[2], (Matrix{{3, 3000}}));

  // 20 x 18 pixels in four tiles of 16 x 16, which reach beyond the edges.
  HandmadeTiff tiles{.width = 20, .height = 18, .tile = 16, .pieces = {}};
  for (int tile = 0; tile < 4; ++tile) {
    std::string piece;
    for (int y = 0; y < 16; ++y)
      for (int x = 0; x < 16; ++x) piece += static_cast<char>(7 * (y + 16 * (tile / 2)) + x + 16 * (tile % 2));
    tiles.pieces.push_back(piece);
  }
  const Matrix pixels = grey_of(tiles);
  ASSERT_EQ(pixels.rows(), 18);
  ASSERT_EQ(pixels.cols(), 20);
  for (Index y = 0; y < 18; ++y)
    for (Index x = 0; x < 20; ++x) EXPECT_EQ(pixels(y, x), static_cast<double>(7 * y + x)) << y << ", " << x;
}

Picture bands_of(const HandmadeTiff& tiff) {
  const std::string bytes = tiff.bytes();
  return decode_picture(std::as_bytes(std::span(bytes)), "picture", NanPixels::taken, Bands::taken);
}

/// Two pixels of so many bands, numbered through, with the values of a pixel together or in planes.
template <class Value>
HandmadeTiff numbered_bands(unsigned bands, unsigned format, unsigned planes, unsigned photometric = 1) {
  HandmadeTiff tiff{.samples = bands,
                    .bits = 8 * sizeof(Value),
                    .format = format,
                    .photometric = photometric,
                    .planes = planes,
                    .pieces = {}};
  std::string together;
  for (unsigned i = 0; i < 2 * bands; ++i) together += raw<Value>({static_cast<Value>(i)});
  if (planes == 1) tiff.pieces = {together};
  for (unsigned k = 0; planes == 2 && k < bands; ++k)
    tiff.pieces.push_back(raw<Value>({static_cast<Value>(k), static_cast<Value>(bands + k)}));
  return tiff;
}

TEST(Tiff, ManyBands) {
  for (const unsigned bands : {4U, 5U, 7U, 200U})
    for (const unsigned planes : {1U, 2U}) {
      SCOPED_TRACE(::testing::Message() << bands << " bands, planes " << planes);
      if (2 * bands < 256) {
        EXPECT_EQ(bands_of(numbered_bands<unsigned char>(bands, 1, planes)).depth, PixelDepth::bits8);
      }
      for (const HandmadeTiff& tiff :
           {numbered_bands<std::uint16_t>(bands, 1, planes), numbered_bands<float>(bands, 3, planes),
            numbered_bands<double>(bands, 3, planes),
            numbered_bands<std::uint16_t>(std::max(5U, bands), 1, planes, 2)}) {  // as colours and more
        const Picture picture = bands_of(tiff);
        ASSERT_EQ(picture.channels.size(), tiff.samples);
        EXPECT_EQ(picture.alpha.size(), 0);
        for (unsigned k = 0; k < tiff.samples; ++k)
          EXPECT_EQ(picture.channels[k], (Matrix{{1.0 * k, 1.0 * (tiff.samples + k)}}));
      }
    }
  // What does not ask for bands gets none.
  expect_says(read_error(numbered_bands<float>(5, 3, 1).bytes()), {"5 values a pixel", "grey or RGB", "gsc inpaint"});
  HandmadeTiff cut = numbered_bands<std::uint16_t>(6, 1, 2);
  cut.pieces.back().pop_back();
  expect_says(read_error(cut.bytes()), "is damaged");
}

TEST(Tiff, ManyBandsThatAreWrittenAreRead) {
  using enum PixelDepth;
  for (const PixelDepth depth : {bits8, bits16, real32})
    for (const std::size_t bands : {4, 5, 31}) {
      const Picture picture = example_picture(bands, false, depth);
      const std::string bytes = bytes_of(picture, "a.tif");
      const Picture again = decode_picture(std::as_bytes(std::span(bytes)), "a.tif", NanPixels::refused, Bands::taken);
      EXPECT_EQ(again.depth, depth);
      EXPECT_EQ(again.alpha.size(), 0);
      EXPECT_EQ(again.channels, picture.channels);
    }
  expect_says(error_of([] { encode_picture("a.png", example_picture(5, false, bits8)); }),
              {"a.png", "1 or 3 channels", "TIFF", "5 channels"});
  expect_says(error_of([] { encode_picture("a.tif", example_picture(5, true, bits8)); }), "without alpha");
  expect_says(error_of([] { encode_picture("a.tif", example_picture(2, false, bits8)); }), "2 channels");
}

TEST(Tiff, Palettes) {
  HandmadeTiff tiff{.width = 3, .bits = 2, .photometric = 3, .pieces = {"\x6c"}};  // 1, 2, 3
  tiff.colours = {0, 257, 514, 65535, 0, 0, 257, 0, 0, 0, 0, 257};
  const Picture picture = read_bytes(tiff.bytes());
  ASSERT_EQ(picture.channels.size(), 3U);
  EXPECT_EQ(picture.channels[0], (Matrix{{1, 2, 255}}));
  EXPECT_EQ(picture.channels[1], (Matrix{{0, 1, 0}}));
  EXPECT_EQ(picture.channels[2], (Matrix{{0, 0, 1}}));
  for (unsigned& colour : tiff.colours) colour = colour * 255 / 65535;  // 8 bits, as old programs wrote them
  EXPECT_EQ(read_bytes(tiff.bytes()).channels[0], (Matrix{{1, 2, 255}}));
}

TEST(Tiff, Errors) {
  const auto error = [](const HandmadeTiff& tiff) { return read_error(tiff.bytes()); };
  const std::string eight(8, '\1');
  expect_says(error({.pages = 2, .pieces = {eight}}), "several pictures");
  expect_says(error({.samples = 4, .photometric = 2, .extra = 1, .pieces = {eight}}), "multiplied into");
  expect_says(error({.samples = 4, .photometric = 5, .pieces = {eight}}), "photometric 5");
  expect_says(error({.bits = 32, .format = 3, .photometric = 0, .pieces = {eight}}), "photometric 0");
  expect_says(error({.bits = 16, .format = 2, .pieces = {eight}}), "16 bits of a signed number");
  expect_says(error({.bits = 16, .format = 3, .pieces = {eight}}), "16 bits of a real");
  expect_says(error({.bits = 32, .pieces = {eight}}), "32 bits of an unsigned number");
  expect_says(error({.samples = 2, .photometric = 2, .pieces = {eight}}), "2 values a pixel");
  expect_says(error({.bits = 4, .photometric = 3, .pieces = {eight}}), "is damaged or cut short");
  expect_says(error({.compression = 6, .pieces = {eight}}), "TIFF compression 6");
  expect_says(error({.compression = 999, .pieces = {eight}}), "TIFF compression 999");
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  expect_says(error({.bits = 32, .format = 3, .pieces = {raw<float>({1, nan})}}), "row 0, column 1 (from 0) is NaN");
  expect_says(error({.bits = 32, .format = 3, .pieces = {raw<float>({-inf, 1})}}),
              "row 0, column 0 (from 0) is infinite");
  const std::string cut = HandmadeTiff{.width = 20, .height = 20, .pieces = {std::string(400, 'x')}}.bytes();
  expect_says(read_error(cut.substr(0, cut.size() - 1)), "get a fresh copy");
}

int calls_of_other_handlers = 0;
void other_handler(const char*, const char*, va_list) { ++calls_of_other_handlers; }

TEST(Tiff, HandlersOfTheProcessAreLeftAlone) {
  const TIFFErrorHandler errors = TIFFSetErrorHandler(other_handler), warnings = TIFFSetWarningHandler(other_handler);
  EXPECT_NE(read_error(HandmadeTiff{.width = 20, .height = 20, .pieces = {"short"}}.bytes()), "");
  std::string unknown_tag = HandmadeTiff{.pieces = {"ab"}}.bytes();
  unknown_tag.replace(8 + 2 + 12 * 6, 2, little_endian(275, 2));  // orientation: libtiff warns about what it is not
  EXPECT_EQ(read_bytes(unknown_tag).width(), 2);
  EXPECT_EQ(calls_of_other_handlers, 0);
  EXPECT_EQ(TIFFSetErrorHandler(errors), other_handler);
  EXPECT_EQ(TIFFSetWarningHandler(warnings), other_handler);
}

}  // namespace
}  // namespace gsc::test
