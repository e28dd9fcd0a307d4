// What comes with the pixels: orientation is applied once, and profile, resolution and EXIF block reach the next file.

#include <gsc/picture_files.h>
#include <gtest/gtest.h>

#include <cmath>

#include "handmade_tiff.h"
#include "picture_support.h"

namespace gsc::test {
namespace {

std::vector<std::byte> bytes_from(const std::string& text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

std::string text_from(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// An EXIF block by hand, and where the things stand in it that change when the picture is turned.
struct ExifBlock {
  bool big = true;
  unsigned orientation = 6;
  bool resolution = true;  ///< 240 x 120 an inch

  static constexpr std::size_t kOrientation = 8 + 2 + 12 + 8;
  std::size_t next() const { return 8 + 2 + 12 * (resolution ? 6 : 3); }
  std::size_t width() const { return inner() + 2 + 8; }
  std::size_t height() const { return inner() + 2 + 12 + 8; }

  std::string bytes() const {
    std::string text = big ? "MM" : "II";
    text += number(42, 2) + number(8, 4) + number(resolution ? 6 : 3, 2);
    const auto tag = [&](unsigned code, unsigned type, unsigned count, const std::string& value) {
      text += number(code, 2) + number(type, 2) + number(count, 4) + value + std::string(4 - value.size(), '\0');
    };
    tag(0x10f, 2, 8, number(inner() + 30, 4));  // the camera
    tag(0x112, 3, 1, number(orientation, 2));
    if (resolution) {
      tag(0x11a, 5, 1, number(inner() + 38, 4));
      tag(0x11b, 5, 1, number(inner() + 46, 4));
      tag(0x128, 3, 1, number(2, 2));
    }
    tag(0x8769, 4, 1, number(inner(), 4));
    text += number(inner() + 54, 4);  // the preview's directory
    text += number(2, 2);
    tag(0xa002, 4, 1, number(16, 4));
    tag(0xa003, 4, 1, number(8, 4));
    text += number(0, 4) + std::string("Camera!\0", 8);
    text += number(480, 4) + number(2, 4) + number(120, 4) + number(1, 4);
    text += number(1, 2);
    tag(0x103, 3, 1, number(6, 2));
    return text + number(0, 4);
  }

 private:
  std::size_t inner() const { return next() + 4; }
  std::string number(std::uint64_t value, int count) const {
    return big ? big_endian(value, count) : little_endian(value, count);
  }
};

/// A profile that is right in its header, which is all that is looked at.
std::string profile(const std::string& space, std::size_t size) {
  std::string icc = big_endian(size, 4) + std::string(4, '\0') + big_endian(0x04200000, 4) + "mntr" + space + "XYZ ";
  icc += big_endian(2024, 2) + std::string("\0\1\0\1\0\0\0\0\0\0", 10) + "acsp";
  icc += std::string(128 - icc.size(), '\0');
  icc.replace(68, 12, big_endian(0xf6d6, 4) + big_endian(0x10000, 4) + big_endian(0xd32d, 4));  // white is D50
  icc += big_endian(0, 4);                                                                      // no tags
  while (icc.size() < size) icc += static_cast<char>(31 * icc.size() >> 3);
  return icc;
}

/// Where pixel (i, j) of the upright picture stands in the file, from the words of the EXIF standard: 6 has the first
/// row on the right-hand side and the first column on top.
double lying_pixel(const Matrix& lying, int orientation, Index i, Index j) {
  const Index bottom = lying.rows() - 1, right = lying.cols() - 1;
  switch (orientation) {
    case 2:
      return lying(i, right - j);
    case 3:
      return lying(bottom - i, right - j);
    case 4:
      return lying(bottom - i, j);
    case 5:
      return lying(j, i);
    case 6:
      return lying(bottom - j, i);
    case 7:
      return lying(bottom - j, right - i);
    case 8:
      return lying(j, right - i);
    default:
      return lying(i, j);
  }
}

void expect_turned(const Matrix& upright, const Matrix& lying, int orientation) {
  ASSERT_EQ(upright.rows(), orientation < 5 ? lying.rows() : lying.cols());
  ASSERT_EQ(upright.cols(), orientation < 5 ? lying.cols() : lying.rows());
  for (Index i = 0; i < upright.rows(); ++i)
    for (Index j = 0; j < upright.cols(); ++j)
      ASSERT_EQ(upright(i, j), lying_pixel(lying, orientation, i, j)) << orientation << ": " << i << ", " << j;
}

TEST(PictureMetadata, OrientationIsAppliedOnceAndReset) {
  for (const std::string name : {"a.jpg", "a.png", "a.webp"})
    for (const bool big : {true, false})
      for (unsigned orientation = 1; orientation <= 8; ++orientation) {
        SCOPED_TRACE(name + ", orientation " + std::to_string(orientation));
        Picture picture = example_picture(1, name == "a.png", PixelDepth::bits8, 8, 16);
        const Picture lying = read_bytes(bytes_of(picture, name));  // JPEG changes the values
        const ExifBlock block{.big = big, .orientation = orientation};
        picture.metadata.exif = bytes_from(block.bytes());
        const Picture upright = read_bytes(bytes_of(picture, name));
        expect_turned(upright.channels[0], lying.channels[0], static_cast<int>(orientation));
        if (name == "a.png") expect_turned(upright.alpha, lying.alpha, static_cast<int>(orientation));

        // Beside the orientation only what must change has changed.
        std::string expected = ExifBlock{.big = big, .orientation = 1}.bytes();
        expected.replace(block.next(), 4, std::string(4, '\0'));
        if (orientation >= 5) {
          const std::string width = expected.substr(block.width(), 4), height = expected.substr(block.height(), 4);
          expected.replace(block.width(), 4, height);
          expected.replace(block.height(), 4, width);
        }
        EXPECT_EQ(text_from(upright.metadata.exif), expected);
        const double dpi_x = orientation < 5 ? 240 : 120;  // where the file says it nowhere else, the block counts
        EXPECT_EQ(upright.metadata.dpi_x, dpi_x);
        EXPECT_EQ(upright.metadata.dpi_y, 360 - dpi_x);

        const Picture again = read_bytes(bytes_of(upright, "a.png"));
        EXPECT_EQ(again.channels[0], upright.channels[0]);
        EXPECT_EQ(text_from(again.metadata.exif), expected);
      }
}

TEST(PictureMetadata, JpegSegmentByHand) {
  const Picture picture = example_picture(3, false, PixelDepth::bits8, 8, 16);
  std::string bytes = bytes_of(picture, "a.jpg");
  const Matrix lying = read_bytes(bytes).channels[1];
  const std::string exif = std::string("Exif\0\0", 6) + ExifBlock{}.bytes();
  bytes.insert(2, "\xff\xe1" + big_endian(exif.size() + 2, 2) + exif);
  const Picture upright = read_bytes(bytes);
  EXPECT_EQ(upright.channels[1], lying.transpose().rowwise().reverse());
  EXPECT_EQ(text_from(upright.metadata.exif).substr(ExifBlock::kOrientation, 2), big_endian(1, 2));
}

TEST(PictureMetadata, DamagedExifDoesNoHarm) {
  Picture picture = example_picture(1, false, PixelDepth::bits8, 4, 5);
  const std::string whole = ExifBlock{}.bytes();
  for (std::size_t length = 1; length < whole.size(); ++length)
    for (const std::size_t hit : {length, length / 2, std::size_t{4}, std::size_t{8}}) {
      std::string damaged = whole.substr(0, length);
      if (hit < length) damaged[hit] = '\xff';
      picture.metadata.exif = bytes_from(damaged);
      EXPECT_EQ(read_bytes(bytes_of(picture, "a.webp")).channels[0].size(), 20) << length << ", " << hit;
    }
}

/// What a format can hold.
struct Kept {
  std::string name;
  bool icc, exif, dpi;
};

TEST(PictureMetadata, CarriedAcrossFormats) {
  const std::vector<Kept> formats = {{"a.png", true, true, true},   {"a.jpg", true, true, true},
                                     {"a.tif", true, false, true},  {"a.webp", true, true, false},
                                     {"a.bmp", false, false, true}, {"a.ppm", false, false, false}};
  // The second profile is more than one segment of a JPEG can hold.
  for (const std::size_t size : {std::size_t{600}, std::size_t{150000}})
    for (const Kept& from : formats)
      for (const Kept& to : formats) {
        SCOPED_TRACE(from.name + " to " + to.name);
        Picture picture = example_picture(3, false, PixelDepth::bits8, 8, 16);
        picture.metadata.icc = bytes_from(profile("RGB ", size));
        picture.metadata.exif = bytes_from(ExifBlock{.orientation = 1, .resolution = false}.bytes());
        picture.metadata.dpi_x = 72;
        picture.metadata.dpi_y = 300;
        const Picture first = read_bytes(bytes_of(picture, from.name));
        const PictureMetadata last = read_bytes(bytes_of(first, to.name)).metadata;
        EXPECT_EQ(text_from(last.icc), from.icc && to.icc ? text_from(picture.metadata.icc) : "");
        EXPECT_EQ(text_from(last.exif), from.exif && to.exif ? text_from(first.metadata.exif) : "");
        EXPECT_EQ(last.dpi_x, from.dpi && to.dpi ? 72 : 0);
        EXPECT_EQ(last.dpi_y, from.dpi && to.dpi ? 300 : 0);
      }
}

TEST(PictureMetadata, StandsWhereOtherProgramsLook) {
  Picture picture = example_picture(3, false, PixelDepth::bits8, 8, 16);
  picture.metadata.icc = bytes_from(profile("RGB ", 150000));
  picture.metadata.exif = bytes_from(ExifBlock{.orientation = 1}.bytes());
  picture.metadata.dpi_x = picture.metadata.dpi_y = 300;
  const std::string jpeg = bytes_of(picture, "a.jpg"), png = bytes_of(picture, "a.png"),
                    webp = bytes_of(picture, "a.webp");
  EXPECT_EQ(jpeg.substr(6, 12), std::string("JFIF\0\1\1\1", 8) + big_endian(300, 2) + big_endian(300, 2));
  const std::size_t exif = jpeg.find(std::string("Exif\0\0MM", 8));
  ASSERT_NE(exif, std::string::npos);
  EXPECT_EQ(jpeg.substr(exif - 4, 2), "\xff\xe1");
  for (const char part : {'\1', '\2', '\3'})
    EXPECT_NE(jpeg.find(std::string("ICC_PROFILE\0", 12) + part + '\3'), std::string::npos) << int{part};
  for (const std::string part : {"iCCP", "eXIf", "pHYs"}) EXPECT_LT(png.find(part), png.find("IDAT")) << part;
  for (const std::string part : {"VP8X", "ICCP", "EXIF"}) EXPECT_NE(webp.find(part), std::string::npos) << part;
}

TEST(PictureMetadata, ProfilesOfTheWrongKindAreLeftOut) {
  for (const std::string name : {"a.png", "a.jpg", "a.tif"})
    for (const std::size_t channels : {std::size_t{1}, std::size_t{3}}) {
      Picture picture = example_picture(channels, false, PixelDepth::bits8, 8, 16);
      const std::string right = profile(channels == 1 ? "GRAY" : "RGB ", 300);
      picture.metadata.icc = bytes_from(right);
      EXPECT_EQ(text_from(read_bytes(bytes_of(picture, name)).metadata.icc), right) << name << channels;
      for (const std::string& wrong :
           {profile(channels == 1 ? "RGB " : "GRAY", 300), profile("CMYK", 300), std::string("profile?")}) {
        picture.metadata.icc = bytes_from(wrong);
        EXPECT_TRUE(read_bytes(bytes_of(picture, name)).metadata.icc.empty()) << name << channels;
      }
    }
}

TEST(PictureMetadata, TooLargeForTheFormat) {
  Picture picture = example_picture(1, false, PixelDepth::bits8, 8, 16);
  picture.metadata.exif = bytes_from(ExifBlock{.orientation = 1}.bytes() + std::string(70000, 'x'));
  picture.metadata.dpi_x = picture.metadata.dpi_y = 1e6;
  const PictureMetadata jpeg = read_bytes(bytes_of(picture, "a.jpg")).metadata;
  EXPECT_TRUE(jpeg.exif.empty());  // a segment has at most 65533 bytes
  EXPECT_EQ(jpeg.dpi_x, 0);
  EXPECT_EQ(read_bytes(bytes_of(picture, "a.png")).metadata.exif.size(), picture.metadata.exif.size());
  picture.metadata.dpi_x = std::nan("");
  EXPECT_EQ(read_bytes(bytes_of(picture, "a.tif")).metadata.dpi_x, 0);
}

}  // namespace
}  // namespace gsc::test
