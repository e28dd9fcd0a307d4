#include <algorithm>
#include <cstring>
#include <vector>

#include "io/file_error.h"
#include "media/codec.h"
#include "media/metadata.h"
#include "media/tiff_blocks.h"
#include "media/tiff_file.h"

namespace gsc::media {
namespace {

const char* words_for_format(unsigned format) {
  switch (format) {
    case SAMPLEFORMAT_UINT:
      return "an unsigned number";
    case SAMPLEFORMAT_INT:
      return "a signed number";
    case SAMPLEFORMAT_IEEEFP:
      return "a real";
    default:
      return "data";
  }
}

/// At most; what nobody promises anything about gets the benefit of the doubt.
std::uint64_t pixels_a_byte(unsigned compression, const TiffLayout& layout) {
  const std::uint64_t bits = std::max<std::uint64_t>(1, std::uint64_t{layout.samples} * layout.bits);
  const auto bytes = [&](std::uint64_t from_one) { return std::max<std::uint64_t>(1, 8 * from_one / bits); };
  switch (compression) {
    case COMPRESSION_NONE:
      return bytes(1);
    case COMPRESSION_PACKBITS:
      return bytes(64);
    case COMPRESSION_LZW:
    case COMPRESSION_DEFLATE:
    case COMPRESSION_ADOBE_DEFLATE:
      return bytes(1400);
    default:
      return kDensest;
  }
}

TiffLayout read_layout(const PictureBytes& file, const TiffFile& tiff) {
  TiffLayout layout;
  layout.width = tiff.tag<std::uint32_t>(TIFFTAG_IMAGEWIDTH, 0);
  layout.height = tiff.tag<std::uint32_t>(TIFFTAG_IMAGELENGTH, 0);
  layout.samples = tiff.tag<std::uint16_t>(TIFFTAG_SAMPLESPERPIXEL, 1);
  layout.bits = tiff.tag<std::uint16_t>(TIFFTAG_BITSPERSAMPLE, 1);
  layout.real = tiff.tag<std::uint16_t>(TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT) == SAMPLEFORMAT_IEEEFP;
  layout.photometric = tiff.tag<std::uint16_t>(TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  layout.planes = tiff.tag<std::uint16_t>(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE;
  // Many bands take the room of so many pictures with four values a pixel.
  TiffLayout picture = layout;
  picture.samples = std::min(layout.samples, kPictureSamples);
  require_plausible_size(file, layout.width, std::uint64_t{layout.height} * layout.pictures(),
                         pixels_a_byte(tiff.tag<std::uint16_t>(TIFFTAG_COMPRESSION, COMPRESSION_NONE), picture));
  return layout;
}

/// Throws Error for values and colours of a kind that we do not know what to do with.
void require_known(const PictureBytes& file, const TiffFile& tiff, const TiffLayout& layout) {
  const auto compression = tiff.tag<std::uint16_t>(TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  if (compression == COMPRESSION_OJPEG || TIFFIsCODECConfigured(compression) == 0)
    fail(file.name, "is compressed in a way that cannot be read (TIFF compression {}); save it with LZW or none",
         compression);
  const unsigned format = tiff.tag<std::uint16_t>(TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  const bool integer = format == SAMPLEFORMAT_UINT && layout.bits >= 1 && layout.bits <= 16;
  const bool real = layout.real && (layout.bits == 32 || layout.bits == 64);
  if (!integer && !real)
    fail(file.name, "has {} bits of {} a value; pictures of up to 16 bits without sign or of 32-bit reals can be read",
         layout.bits, words_for_format(format));
  const unsigned colours = layout.photometric;
  const bool plain = colours == PHOTOMETRIC_MINISBLACK || colours == PHOTOMETRIC_RGB;
  const bool converted =
      (colours == PHOTOMETRIC_MINISWHITE && integer) ||
      ((colours == PHOTOMETRIC_PALETTE || colours == PHOTOMETRIC_YCBCR) && integer && layout.bits <= 8);
  if (!plain && !converted)
    fail(file.name, "has colours of a kind that cannot be read (TIFF photometric {}); convert it to grey or RGB",
         colours);
  if (layout.bands()) return;
  if (layout.samples < layout.colours() || layout.samples > layout.colours() + 1 ||
      (colours == PHOTOMETRIC_PALETTE && layout.samples > 1))
    fail(file.name, "has {} values a pixel; grey or RGB, with or without alpha, can be read", layout.samples);

  std::uint16_t count = 0, *kinds = nullptr;
  if (TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_EXTRASAMPLES, &count, &kinds) == 1 && count > 0 && kinds != nullptr &&
      kinds[0] == EXTRASAMPLE_ASSOCALPHA)
    fail(file.name, "has alpha multiplied into its colours (associated alpha); save it with ordinary alpha");
}

/// 8-bit luminance and colour differences, of which neighbours share some: libtiff puts them together.
Samples read_ycbcr(const PictureBytes& file, const TiffFile& tiff, const TiffLayout& layout, int orientation) {
  std::vector<std::uint32_t> raster(std::size_t{layout.width} * layout.height);
  // In the orientation of the file, so that it is left as it is.
  if (TIFFReadRGBAImageOriented(tiff.get(), layout.width, layout.height, raster.data(), orientation, 1) != 1)
    fail_damaged(file, tiff.words());
  Samples samples(layout.width, layout.height, 3, SampleKind::bits8);
  auto* to = reinterpret_cast<std::uint8_t*>(samples.bytes.get());
  for (const std::uint32_t pixel : raster)
    for (const unsigned shift : {0U, 8U, 16U}) *to++ = static_cast<std::uint8_t>(pixel >> shift & 255);
  return samples;
}

PictureMetadata metadata_of(const TiffFile& tiff) {
  PictureMetadata metadata;
  std::uint32_t size = 0;
  void* profile = nullptr;
  if (TIFFGetField(tiff.get(), TIFFTAG_ICCPROFILE, &size, &profile) == 1) metadata.icc = copy_bytes(profile, size);
  const unsigned unit = tiff.tag<std::uint16_t>(TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
  const float x = tiff.tag<float>(TIFFTAG_XRESOLUTION, 0), y = tiff.tag<float>(TIFFTAG_YRESOLUTION, 0);
  if (unit == RESUNIT_NONE || !(x > 0) || !(y > 0)) return metadata;
  const double scale = unit == RESUNIT_CENTIMETER ? 2.54 : 1;
  metadata.dpi_x = scale * static_cast<double>(x);
  metadata.dpi_y = scale * static_cast<double>(y);
  return metadata;
}

}  // namespace

Decoded decode_tiff(const PictureBytes& file) {
  TiffFile tiff(file.bytes);
  if (tiff.get() == nullptr) fail(file.name, "is damaged or cut short ({}); get a complete copy", tiff.words());
  if (tiff.cut_short()) fail_cut_short(file);
  if (TIFFLastDirectory(tiff.get()) == 0)
    fail(file.name, "holds several pictures (pages, or a preview); save the one you want to a file of its own");
  const TiffLayout layout = read_layout(file, tiff);
  require_known(file, tiff, layout);

  Decoded decoded;
  const int orientation = tiff.tag<std::uint16_t>(TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
  decoded.orientation = orientation >= 1 && orientation <= 8 ? orientation : 1;
  decoded.metadata = metadata_of(tiff);
  const bool jpeg = tiff.tag<std::uint16_t>(TIFFTAG_COMPRESSION, COMPRESSION_NONE) == COMPRESSION_JPEG;
  if (layout.photometric == PHOTOMETRIC_YCBCR && jpeg)
    TIFFSetField(tiff.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);  // libjpeg converts
  decoded.samples = layout.photometric == PHOTOMETRIC_YCBCR && !jpeg
                        ? read_ycbcr(file, tiff, layout, decoded.orientation)
                        : read_blocks(file, tiff, layout);
  return decoded;
}

std::vector<std::byte> encode_tiff(const Samples& samples, const PictureMetadata& metadata, const std::string& name) {
  TiffFile file(samples.size() > std::size_t{1} << 31);  // packed badly it may grow
  TIFF* const tiff = file.get();
  if (tiff == nullptr) throw std::bad_alloc();
  const bool real = samples.kind == SampleKind::real32, colour = samples.channels >= 3 && !samples.bands;
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(samples.width));
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(samples.height));
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, static_cast<std::uint16_t>(samples.channels));
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, static_cast<std::uint16_t>(8 * samples.value_bytes()));
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, real ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, colour ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
  // Real numbers hardly become smaller, and more programs read them as they are.
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, real ? COMPRESSION_NONE : COMPRESSION_LZW);
  if (!real) TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
  if (samples.bands) {
    const std::vector<std::uint16_t> more(static_cast<std::size_t>(samples.channels - 1), EXTRASAMPLE_UNSPECIFIED);
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, static_cast<std::uint16_t>(more.size()), more.data());
  } else if (samples.channels % 2 == 0) {
    const std::uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &alpha);
  }
  if (!metadata.icc.empty())
    TIFFSetField(tiff, TIFFTAG_ICCPROFILE, static_cast<std::uint32_t>(metadata.icc.size()), metadata.icc.data());
  if (knows_resolution(metadata)) {
    TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
    TIFFSetField(tiff, TIFFTAG_XRESOLUTION, metadata.dpi_x);
    TIFFSetField(tiff, TIFFTAG_YRESOLUTION, metadata.dpi_y);
  }
  constexpr std::size_t kStripBytes = 1 << 17;
  const Index rows = std::clamp<Index>(static_cast<Index>(kStripBytes / samples.row_bytes()), 1, samples.height);
  TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, static_cast<std::uint32_t>(rows));

  bool good = true;
  std::vector<std::byte> strip;  // libtiff takes differences in place
  for (Index y = 0; y < samples.height && good; y += rows) {
    const auto count = static_cast<std::size_t>(std::min(rows, samples.height - y)) * samples.row_bytes();
    strip.assign(samples.row(y), samples.row(y) + count);
    good = TIFFWriteEncodedStrip(tiff, static_cast<std::uint32_t>(y / rows), strip.data(),
                                 static_cast<tmsize_t>(count)) == static_cast<tmsize_t>(count);
  }
  std::vector<std::byte> bytes;
  if (!file.take(bytes) || !good) fail(name, "cannot be written as TIFF: {}", file.words());
  return bytes;
}

}  // namespace gsc::media
