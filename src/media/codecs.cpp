#include "media/codec.h"

namespace gsc::media {

const std::vector<Codec>& codecs() {
  using namespace std::string_view_literals;
  using Text = std::string_view;
  static const std::vector<Codec> all = {
      {.name = "PNG",
       .extensions = {".png"},
       .recognises = [](Text start) { return start.starts_with("\x89PNG\r\n\x1a\n"); },
       .decode = decode_png,
       .encode = encode_png,
       .alpha = true,
       .bits16 = true},
      {.name = "JPEG",
       .extensions = {".jpg", ".jpeg"},
       .recognises = [](Text start) { return start.starts_with("\xff\xd8\xff"); },
       .decode = decode_jpeg,
       .encode = encode_jpeg,
       .largest_side = 65500},
      {.name = "TIFF",
       .extensions = {".tif", ".tiff"},
       .recognises =
           [](Text start) {  // little- and big-endian, 32-bit and 64-bit offsets
             return start.starts_with("II*\0"sv) || start.starts_with("MM\0*"sv) || start.starts_with("II+\0"sv) ||
                    start.starts_with("MM\0+"sv);
           },
       .decode = decode_tiff,
       .encode = encode_tiff,
       .alpha = true,
       .bits16 = true,
       .real = true,
       .bands = true},
      {.name = "WebP",
       .extensions = {".webp"},
       .recognises =
           [](Text start) { return start.starts_with("RIFF") && start.size() >= 12 && start.substr(8, 4) == "WEBP"; },
       .decode = decode_webp,
       .encode = encode_webp,
       .grey = false,
       .alpha = true,
       .largest_side = 16383},
      {.name = "BMP",
       .extensions = {".bmp"},
       .recognises = [](Text start) { return start.starts_with("BM"); },
       .decode = decode_bmp,
       .encode = encode_bmp},
      {.name = "PGM",
       .extensions = {".pgm"},
       .recognises = [](Text start) { return start.starts_with("P2") || start.starts_with("P5"); },
       .decode = decode_pnm,
       .encode = encode_pnm,
       .colour = false,
       .bits16 = true},
      {.name = "PPM",
       .extensions = {".ppm"},
       .recognises = [](Text start) { return start.starts_with("P3") || start.starts_with("P6"); },
       .decode = decode_pnm,
       .encode = encode_pnm,
       .grey = false,
       .bits16 = true},
  };
  return all;
}

}  // namespace gsc::media
