// A libFuzzer target for all readers, not part of the test run: `./run fuzz READER SECONDS`, or
//
//   GSC_FUZZ=npy fuzz_reader -max_len=4096 corpus/     (npy, npz, csv, tsv, mat, h5; model for the model file;
//                                                       png, jpeg, tiff, webp, bmp, pnm)
//
// A corpus of small valid files makes it far quicker to get anywhere; fuzz_corpus makes one for pictures. HDF5 and the
// picture libraries are not instrumented, so the fuzzer sees only our side of them.

#include <gsc/files.h>
#include <gsc/picture_files.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace {

/// libpng looks at nothing whose checksum is wrong, so hardly any change would get past it.
void mend_checksums(std::vector<std::byte>& png) {
  const auto byte = [&](std::size_t at) { return std::to_integer<std::uint32_t>(png[at]); };
  for (std::size_t at = 8; at + 12 <= png.size();) {
    const std::size_t length = byte(at) << 24 | byte(at + 1) << 16 | byte(at + 2) << 8 | byte(at + 3);
    if (length > png.size() - at - 12) return;
    const auto sum = ::crc32_z(0, reinterpret_cast<const unsigned char*>(png.data()) + at + 4, length + 4);
    for (int i = 0; i < 4; ++i)
      png[at + 8 + length + static_cast<std::size_t>(i)] = static_cast<std::byte>(sum >> (24 - 8 * i) & 255);
    at += 12 + length;
  }
}

void read_picture(const std::uint8_t* bytes, std::size_t size, bool png) {
  const auto* first = reinterpret_cast<const std::byte*>(bytes);
  std::vector<std::byte> copy(first, first + size);
  if (png) mend_checksums(copy);
  const gsc::Picture picture = gsc::decode_picture(copy, "picture");
  if (picture.width() * picture.height() < 1) std::abort();
}

void read_table(const std::string& path) {
  const auto data = gsc::open_data(path);
  constexpr gsc::Index kBlock = 64;
  gsc::Matrix block(std::min(kBlock, data->rows()), data->cols());
  for (gsc::Index first = 0; first < data->rows(); first += kBlock)
    data->read(first, block.topRows(std::min(kBlock, data->rows() - first)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const char* const wanted = std::getenv("GSC_FUZZ");
  static const std::string format = wanted != nullptr ? wanted : "npy";
  static const std::vector<std::string> pictures = {"png", "jpeg", "tiff", "webp", "bmp", "pnm"};
  static const bool picture = std::find(pictures.begin(), pictures.end(), format) != pictures.end();
  static const bool model = format == "model";
  static const std::string path = "/dev/shm/gsc_fuzz_" + std::to_string(::getpid()) + "." + (model ? "h5" : format);
  if (!picture)
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  try {
    if (picture)
      read_picture(bytes, size, format == "png");
    else if (model)
      gsc::load_model(path);
    else
      read_table(path);
  } catch (const gsc::Error&) {
  }
  return 0;
}
