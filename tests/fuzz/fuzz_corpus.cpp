// fuzz_corpus FORMAT FOLDER: small valid pictures of a format of fuzz_reader, one of each kind that we write.

#include <gsc/picture_files.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace {

gsc::Picture small_picture(std::size_t channels, bool alpha, gsc::PixelDepth depth) {
  gsc::Picture picture;
  picture.depth = depth;
  const double most = depth == gsc::PixelDepth::bits16 ? 65535 : 255;
  for (std::size_t c = 0; c < channels + (alpha ? 1 : 0); ++c) {
    gsc::Matrix& values = c < channels ? picture.channels.emplace_back(9, 12) : picture.alpha;
    values.resize(9, 12);
    for (gsc::Index i = 0; i < values.size(); ++i)
      values(i / 12, i % 12) = most * (0.5 + 0.5 * std::sin(static_cast<double>(i) + static_cast<double>(c)));
  }
  // A block with orientation 6, so that pictures are turned.
  for (const char c : std::string("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0", 26))
    picture.metadata.exif.push_back(static_cast<std::byte>(c));
  picture.metadata.dpi_x = picture.metadata.dpi_y = 300;
  return picture;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::map<std::string, std::vector<std::string>> extensions = {{"png", {".png"}},  {"jpeg", {".jpg"}},
                                                                      {"tiff", {".tif"}}, {"webp", {".webp"}},
                                                                      {"bmp", {".bmp"}},  {"pnm", {".pgm", ".ppm"}}};
  if (argc != 3 || extensions.count(argv[1]) == 0) {
    std::fprintf(stderr, "usage: fuzz_corpus png|jpeg|tiff|webp|bmp|pnm FOLDER\n");
    return 2;
  }
  int number = 0;
  for (const std::string& extension : extensions.at(argv[1]))
    for (const std::size_t channels : {1, 3})
      for (const bool alpha : {false, true})
        for (const auto depth : {gsc::PixelDepth::bits8, gsc::PixelDepth::bits16, gsc::PixelDepth::real32}) {
          const std::string path = std::string(argv[2]) + "/seed" + std::to_string(number++) + extension;
          try {
            gsc::write_picture(path, small_picture(channels, alpha, depth));
          } catch (const gsc::Error&) {
            continue;  // a kind that the format cannot hold
          }
        }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "fuzz_corpus: %s\n", error.what());
  return 1;
}
