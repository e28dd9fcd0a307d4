// Pictures: what is written is what is read, and what cannot be written is said.

#include <gsc/metrics.h>
#include <gsc/picture_files.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "picture_support.h"

namespace gsc::test {
namespace {

void expect_equal(const Picture& a, const Picture& b) {
  EXPECT_EQ(a.depth, b.depth);
  ASSERT_EQ(a.channels.size(), b.channels.size());
  for (std::size_t k = 0; k < a.channels.size(); ++k) EXPECT_EQ(a.channels[k], b.channels[k]) << "channel " << k;
  ASSERT_EQ(a.alpha.size(), b.alpha.size());
  if (a.alpha.size() > 0) {
    EXPECT_EQ(a.alpha, b.alpha);
  }
}

Picture there_and_back(const Picture& picture, const std::string& name) {
  const TemporaryFolder folder;
  write_picture(folder / name, picture);
  return read_picture(folder / name);
}

std::string write_error(const std::string& name, const Picture& picture) {
  const TemporaryFolder folder;
  const std::string message = error_of([&] { write_picture(folder / name, picture); });
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "an error left a file behind";
  return message;
}

TEST(Picture, Peak) {
  Picture picture = example_picture(3, false, PixelDepth::bits8);
  EXPECT_EQ(picture.peak(), 255);
  picture.depth = PixelDepth::bits16;
  EXPECT_EQ(picture.peak(), 65535);
  picture.depth = PixelDepth::real32;
  EXPECT_EQ(picture.peak(), 255);
  for (Matrix& channel : picture.channels) channel /= 300;
  EXPECT_EQ(picture.peak(), 1);
}

TEST(Picture, WhatIsWrittenIsRead) {
  using enum PixelDepth;
  for (const std::size_t channels : {std::size_t{1}, std::size_t{3}})
    for (const bool alpha : {false, true})
      for (const PixelDepth depth : {bits8, bits16, real32})
        for (const std::string name : {"a.png", "a.tif", "A.TIFF", "a.webp", "a.bmp", "a.pgm", "a.ppm"}) {
          if (depth == real32 && name != "a.tif" && name != "A.TIFF") continue;
          if (depth == bits16 && (name == "a.webp" || name == "a.bmp")) continue;
          if (alpha && (name == "a.pgm" || name == "a.ppm" || name == "a.bmp")) continue;
          if ((channels == 3 && name == "a.pgm") || (channels == 1 && name == "a.ppm")) continue;
          SCOPED_TRACE(name + " " + std::to_string(channels) + " channels, depth " +
                       std::to_string(static_cast<int>(depth)) + (alpha ? ", alpha" : ""));
          const Picture picture = example_picture(channels, alpha, depth);
          expect_equal(picture, there_and_back(picture, name));
          const Picture small = example_picture(channels, alpha, depth, 1, 1);
          expect_equal(small, there_and_back(small, name));
        }
}

TEST(Picture, GreyGoesIntoPpmAsColour) {
  const Picture grey = example_picture(1, false, PixelDepth::bits8);
  const Picture back = there_and_back(grey, "a.ppm");
  ASSERT_EQ(back.channels.size(), 3U);
  for (const Matrix& channel : back.channels) EXPECT_EQ(channel, grey.channels[0]);
}

TEST(Picture, JpegIsClose) {
  Picture picture = example_picture(3, false, PixelDepth::bits8, 32, 40);
  for (std::size_t k = 0; k < 3; ++k)  // smooth, with the channels far apart so that a wrong order shows
    for (Index i = 0; i < 32; ++i)
      for (Index j = 0; j < 40; ++j)
        picture.channels[k](i, j) =
            40 + 70 * static_cast<double>(k) + static_cast<double>(i) + 9 * std::sin(0.2 * static_cast<double>(j));
  for (const std::size_t channels : {std::size_t{3}, std::size_t{1}}) {
    picture.channels.resize(channels);
    const Picture back = there_and_back(picture, "a.jpg");
    ASSERT_EQ(back.channels.size(), channels);
    EXPECT_EQ(back.depth, PixelDepth::bits8);
    for (std::size_t k = 0; k < channels; ++k)
      EXPECT_LT((back.channels[k] - picture.channels[k]).cwiseAbs().maxCoeff(), 6) << k;
  }
}

TEST(Picture, JpegKeepsFineColours) {
  // Stripes of one pixel: where four pixels share a colour, as is usual, they become mud of 11 dB.
  Picture stripes = example_picture(3, false, PixelDepth::bits8, 32, 40);
  for (std::size_t k = 0; k < 3; ++k)
    for (Index i = 0; i < 32; ++i)
      for (Index j = 0; j < 40; ++j) stripes.channels[k](i, j) = (j % 2 == 0) == (k == 0) ? 200 : 40;
  EXPECT_GT(psnr(stripes, there_and_back(stripes, "a.jpg"), 255), 38);
}

TEST(Picture, RoundsAndClips) {
  Picture picture;
  picture.channels = {Matrix{{-3.0, 0.4, 0.5, 1.5, 2.5, 254.4, 254.5, 1e300}}};
  EXPECT_EQ(there_and_back(picture, "a.png").channels[0], (Matrix{{0, 0, 1, 2, 3, 254, 255, 255}}));
  picture.depth = PixelDepth::bits16;
  EXPECT_EQ(there_and_back(picture, "a.png").channels[0], (Matrix{{0, 0, 1, 2, 3, 254, 255, 65535}}));
  picture.depth = PixelDepth::real32;
  EXPECT_EQ(there_and_back(picture, "a.tif").channels[0](0, 7), static_cast<double>(std::numeric_limits<float>::max()));
}

TEST(Picture, WritesOverAnOldFileOnlyWhenAllIsWell) {
  const TemporaryFolder folder;
  write_file(folder / "a.png", "old");
  Picture picture = example_picture(1, false, PixelDepth::bits8);
  picture.channels[0](3, 4) = std::numeric_limits<double>::quiet_NaN();
  expect_says(error_of([&] { write_picture(folder / "a.png", picture); }), "row 3, column 4 (from 0) is NaN");
  EXPECT_EQ(read_file(folder / "a.png"), "old");
  picture.channels[0](3, 4) = 0;
  write_picture(folder / "a.png", picture);
  expect_equal(picture, read_picture(folder / "a.png"));
}

TEST(Picture, WriteErrors) {
  using enum PixelDepth;
  const Picture grey = example_picture(1, false, bits8), colour = example_picture(3, false, bits8);
  expect_says(write_error("a.gif", grey), "'.gif'; known are .png, .jpg, .jpeg, .tif, .tiff, .webp, .bmp, .pgm, .ppm");
  expect_says(write_error("a", grey), "a name without extension");
  for (const std::string name : {"a.jpg", "a.webp", "a.bmp"})
    expect_says(write_error(name, example_picture(1, false, bits16)),
                "cannot hold 16 bits; write to a format that can (PNG, TIFF, PGM and PPM)");
  for (const std::string name : {"a.png", "a.jpg", "a.webp", "a.bmp", "a.pgm", "a.ppm"})
    expect_says(write_error(name, example_picture(1, false, real32)), "that can (TIFF), or with 8 or 16 bits");
  for (const std::string name : {"a.jpg", "a.bmp", "a.pgm", "a.ppm"})
    expect_says(write_error(name, example_picture(1, true, bits8)), "that can (PNG, TIFF and WebP)");
  expect_says(write_error("a.pgm", colour), "PGM cannot hold a colour picture");
  expect_says(write_error("a.png", Picture{}), "needs pixels");
  Picture uneven = colour;
  uneven.channels[1].resize(2, 2);
  expect_says(write_error("a.png", uneven), "same size");
  expect_says(write_error("no/folder/a.png", grey), "create the folder first");
  Picture wide;
  wide.channels = {Matrix::Zero(1, 70000)};
  expect_says(write_error("a.jpg", wide), "70000 x 1 pixels does not fit into JPEG");
  expect_says(write_error("a.webp", wide), "which ends at 16383 a side");
}

TEST(Picture, MissingFolderEmptyUnknown) {
  const TemporaryFolder folder;
  expect_says(error_of([&] { read_picture(folder / "none.png"); }), "there is no such file");
  expect_says(error_of([&] { read_picture(folder.path()); }), "is a folder");
  expect_says(read_error(""), "is empty");
  expect_says(read_error("x"), "is not a picture");
  expect_says(read_error("hello, I am a text", "a.png"), "is not a picture this program can read");
  expect_says(read_error(std::string("\0\0\0\x20"
                                     "ftypisom",
                                     12) +
                             std::string(500, 'x'),
                         "a.mp4"),
              "single frames of a video");
  expect_says(read_error("GIF89a" + std::string(100, '\0')),
              "can read (it is a GIF picture); known are PNG, JPEG, TIFF, WebP, BMP, PGM and PPM");
}

TEST(Picture, ContentCountsAndNotTheName) {
  const Picture picture = example_picture(3, true, PixelDepth::bits8);
  expect_equal(picture, read_bytes(bytes_of(picture, "a.png")));
}

TEST(Picture, House) {
  const char* const data = std::getenv("GSC_DATA");
  if (data == nullptr) GTEST_SKIP() << "GSC_DATA is not set";
  const Picture house = read_picture(std::filesystem::path(data) / "images" / "house256.png");
  ASSERT_EQ(house.channels.size(), 1U);
  EXPECT_EQ(house.depth, PixelDepth::bits8);
  EXPECT_EQ(house.height(), 256);
  EXPECT_EQ(house.width(), 256);
  EXPECT_EQ(house.channels[0].minCoeff(), 16);
  EXPECT_EQ(house.channels[0].maxCoeff(), 239);
  EXPECT_NEAR(house.channels[0].mean(), 137.985, 5e-4);
}

}  // namespace
}  // namespace gsc::test
