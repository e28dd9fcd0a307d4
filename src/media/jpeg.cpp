#include <cstddef>
#include <cstdio>
// libjpeg's headers want the two above.
#include <jpeglib.h>
// Its numbers of warnings.
#include <jerror.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "io/file_error.h"
#include "media/codec.h"
#include "media/jump.h"
#include "media/metadata.h"

namespace gsc::media {
namespace {

constexpr int kExif = JPEG_APP0 + 1, kProfile = JPEG_APP0 + 2;
constexpr std::string_view kExifStart("Exif\0\0", 6);
constexpr std::size_t kLongestMarker = 65533;

/// libjpeg's error manager and where its handlers jump to.
struct Errors : Jump {
  Errors() {
    jpeg_std_error(&manager);
    manager.error_exit = [](j_common_ptr state) {
      char text[JMSG_LENGTH_MAX];
      state->err->format_message(state, text);
      of(state).leave(text);
    };
    manager.emit_message = [](j_common_ptr state, int level) {
      if (level < 0 && loses_pixels(*state->err)) state->err->error_exit(state);
    };
    manager.output_message = [](j_common_ptr) {};
  }
  static Errors& of(j_common_ptr state) { return *static_cast<Errors*>(state->client_data); }

  /// libjpeg goes on after these, with grey or garbage where pixels should be. Other warnings, such as stray bytes
  /// before the end, do no harm; many cameras earn them.
  static bool loses_pixels(const jpeg_error_mgr& manager) {
    switch (manager.msg_code) {
      case JWRN_HIT_MARKER:
      case JWRN_JPEG_EOF:
      case JWRN_HUFF_BAD_CODE:
      case JWRN_ARITH_BAD_CODE:
      case JWRN_MUST_RESYNC:
      case JWRN_BOGUS_PROGRESSION:
        return true;
      case JWRN_EXTRANEOUS_DATA:
        return manager.msg_parm.i[1] != JPEG_EOI;
      default:
        return false;
    }
  }

  jpeg_error_mgr manager;
};

struct Reader : Errors {
  explicit Reader(const PictureBytes& picture) : file(picture) {
    jpeg.err = &manager;
    jpeg.client_data = static_cast<Errors*>(this);
  }
  ~Reader() {
    jpeg_destroy_decompress(&jpeg);
    std::free(profile);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  void run(void (*work)(Reader&)) {
    if (!succeeds(*this, work)) fail_damaged(file, words);
  }

  const PictureBytes& file;
  jpeg_decompress_struct jpeg{};
  jpeg_progress_mgr progress{};
  Samples samples;
  JOCTET* profile = nullptr;  ///< of malloc
  unsigned profile_size = 0;
};

void read_header(Reader& reader) {
  jpeg_decompress_struct& jpeg = reader.jpeg;
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(reader.file.bytes.data()), reader.file.size());
  jpeg_save_markers(&jpeg, kExif, 0xffff);
  jpeg_save_markers(&jpeg, kProfile, 0xffff);
  // A small file can make a decoder go over all pixels thousands of times.
  reader.progress.progress_monitor = [](j_common_ptr state) {
    constexpr int kMostScans = 500;
    if (reinterpret_cast<j_decompress_ptr>(state)->input_scan_number > kMostScans)
      Errors::of(state).leave("more than 500 scans");
  };
  jpeg.progress = &reader.progress;
  jpeg_read_header(&jpeg, TRUE);
}

void read_pixels(Reader& reader) {
  jpeg_decompress_struct& jpeg = reader.jpeg;
  jpeg.out_color_space = reader.samples.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_start_decompress(&jpeg);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row = reinterpret_cast<JSAMPROW>(reader.samples.row(jpeg.output_scanline));
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
}

/// The markers are gone after read_end().
void read_profile(Reader& reader) { jpeg_read_icc_profile(&reader.jpeg, &reader.profile, &reader.profile_size); }

void read_end(Reader& reader) { jpeg_finish_decompress(&reader.jpeg); }

PictureMetadata metadata_of(const Reader& reader) {
  PictureMetadata metadata;
  if (reader.profile != nullptr) metadata.icc = copy_bytes(reader.profile, reader.profile_size);
  for (jpeg_saved_marker_ptr marker = reader.jpeg.marker_list; marker != nullptr; marker = marker->next) {
    const std::string_view data(reinterpret_cast<const char*>(marker->data), marker->data_length);
    if (marker->marker == kExif && data.starts_with(kExifStart) && metadata.exif.empty())
      metadata.exif = copy_bytes(data.data() + kExifStart.size(), data.size() - kExifStart.size());
  }
  constexpr int kInches = 1, kCentimetres = 2;
  if (reader.jpeg.density_unit == kInches) {
    metadata.dpi_x = reader.jpeg.X_density;
    metadata.dpi_y = reader.jpeg.Y_density;
  } else if (reader.jpeg.density_unit == kCentimetres) {
    metadata.dpi_x = 2.54 * reader.jpeg.X_density;
    metadata.dpi_y = 2.54 * reader.jpeg.Y_density;
  }
  return metadata;
}

struct Writer : Errors {
  Writer(const Samples& of, const PictureMetadata& about) : samples(of), metadata(about) {
    jpeg.err = &manager;
    jpeg.client_data = static_cast<Errors*>(this);
    target.init_destination = [](j_compress_ptr state) { writer(state).restart(); };
    target.empty_output_buffer = [](j_compress_ptr state) -> boolean {
      writer(state).take(sizeof block);
      writer(state).restart();
      return TRUE;
    };
    target.term_destination = [](j_compress_ptr state) {
      writer(state).take(sizeof block - writer(state).target.free_in_buffer);
    };
  }
  ~Writer() { jpeg_destroy_compress(&jpeg); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  static Writer& writer(j_compress_ptr state) {
    return static_cast<Writer&>(*static_cast<Errors*>(state->client_data));
  }
  void restart() {
    target.next_output_byte = block;
    target.free_in_buffer = sizeof block;
  }
  void take(std::size_t count) {
    if (!append(bytes, block, count)) leave("out of memory");
  }

  const Samples& samples;
  const PictureMetadata& metadata;
  jpeg_compress_struct jpeg{};
  jpeg_destination_mgr target{};
  JOCTET block[1 << 14];
  std::vector<std::byte> exif;  ///< with its start, or empty if it is too long
  std::vector<std::byte> bytes;
};

void write_file(Writer& writer) {
  jpeg_compress_struct& jpeg = writer.jpeg;
  const Samples& samples = writer.samples;
  const PictureMetadata& metadata = writer.metadata;
  jpeg_create_compress(&jpeg);
  jpeg.dest = &writer.target;
  jpeg.image_width = static_cast<JDIMENSION>(samples.width);
  jpeg.image_height = static_cast<JDIMENSION>(samples.height);
  jpeg.input_components = static_cast<int>(samples.channels);
  jpeg.in_color_space = samples.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 95, TRUE);
  // Every pixel keeps its colour; usual is one colour for four pixels.
  for (int c = 0; c < jpeg.num_components; ++c) jpeg.comp_info[c].h_samp_factor = jpeg.comp_info[c].v_samp_factor = 1;
  jpeg.optimize_coding = TRUE;
  if (knows_resolution(metadata) && metadata.dpi_x < 65535.5 && metadata.dpi_y < 65535.5) {
    jpeg.density_unit = 1;
    jpeg.X_density = static_cast<UINT16>(std::lround(metadata.dpi_x));
    jpeg.Y_density = static_cast<UINT16>(std::lround(metadata.dpi_y));
  }
  jpeg_start_compress(&jpeg, TRUE);
  if (!writer.exif.empty())
    jpeg_write_marker(&jpeg, kExif, reinterpret_cast<const JOCTET*>(writer.exif.data()),
                      static_cast<unsigned>(writer.exif.size()));
  if (!metadata.icc.empty())
    jpeg_write_icc_profile(&jpeg, reinterpret_cast<const JOCTET*>(metadata.icc.data()),
                           static_cast<unsigned>(metadata.icc.size()));
  while (jpeg.next_scanline < jpeg.image_height) {
    // libjpeg takes rows as not const and does not write to them.
    JSAMPROW row = const_cast<JSAMPROW>(reinterpret_cast<const JSAMPLE*>(samples.row(jpeg.next_scanline)));
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
}

}  // namespace

Decoded decode_jpeg(const PictureBytes& file) {
  Reader reader(file);
  reader.run(read_header);
  const jpeg_decompress_struct& jpeg = reader.jpeg;
  constexpr std::uint64_t kDensestJpeg = 2000;  // 64 pixels take a bit at least, 512 a byte
  require_plausible_size(file, jpeg.image_width, jpeg.image_height, kDensestJpeg);
  if (jpeg.jpeg_color_space == JCS_CMYK || jpeg.jpeg_color_space == JCS_YCCK)
    fail(file.name, "is in CMYK colours (for print); convert it to RGB first");
  if (jpeg.num_components != 1 && jpeg.num_components != 3)
    fail(file.name, "has {} values a pixel; pictures in grey or in colours can be read", jpeg.num_components);
  reader.samples = Samples(jpeg.image_width, jpeg.image_height, jpeg.num_components, SampleKind::bits8);
  reader.run(read_pixels);
  reader.run(read_profile);
  Decoded decoded;
  decoded.metadata = metadata_of(reader);
  reader.run(read_end);
  decoded.samples = std::move(reader.samples);
  return decoded;
}

std::vector<std::byte> encode_jpeg(const Samples& samples, const PictureMetadata& metadata, const std::string& name) {
  Writer writer(samples, metadata);
  if (!metadata.exif.empty() && metadata.exif.size() + kExifStart.size() <= kLongestMarker) {
    writer.exif = copy_bytes(kExifStart.data(), kExifStart.size());
    writer.exif.insert(writer.exif.end(), metadata.exif.begin(), metadata.exif.end());
  }
  if (!succeeds(writer, write_file)) fail(name, "cannot be written as JPEG: {}", writer.words);
  return std::move(writer.bytes);
}

}  // namespace gsc::media
