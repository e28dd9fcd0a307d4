#pragma once

#include <gsc/types.h>

#include <fstream>
#include <string>

namespace gsc::bench {

/// A picture in the raw form of PGM.
inline Matrix read_pgm(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string mark;
  Index width = 0, height = 0, most = 0;
  if (!(file >> mark >> width >> height >> most) || mark != "P5" || most != 255)
    throw Error(path + ": not a raw PGM picture of 8 bits");
  file.get();
  std::string bytes(static_cast<std::size_t>(width * height), '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return Matrix::NullaryExpr(height, width, [&](Index y, Index x) {
    return static_cast<double>(static_cast<unsigned char>(bytes[static_cast<std::size_t>(y * width + x)]));
  });
}

}  // namespace gsc::bench
