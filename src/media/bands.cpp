// Pictures of any number of bands, which beside files of pictures may be arrays.

#include <gsc/arrays.h>
#include <gsc/file_kind.h>
#include <gsc/picture_files.h>

#include "io/npy.h"

namespace gsc {

bool is_picture_array(const std::filesystem::path& path) { return lower_extension(path) == ".npy"; }

Picture read_bands(const std::filesystem::path& path) {
  if (!is_picture_array(path)) return read_picture(path, NanPixels::taken, Bands::taken);
  const NpyPicture file = open_npy_picture(path, path.string());
  const Index height = file.values->rows(), width = file.values->cols() / file.bands;
  Matrix values(height, file.values->cols());
  file.values->read(0, values);
  Picture picture;
  picture.depth = file.type == "u1" ? PixelDepth::bits8 : file.type == "u2" ? PixelDepth::bits16 : PixelDepth::real32;
  for (Index band = 0; band < file.bands; ++band)
    picture.channels.emplace_back(Eigen::Map<const Matrix, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>(
        values.data() + band, height, width, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>(values.cols(), file.bands)));
  return picture;
}

void write_bands(const std::filesystem::path& path, const Picture& picture) {
  if (!is_picture_array(path)) return write_picture(path, picture);
  const auto bands = static_cast<Index>(picture.channels.size());
  Matrix values(picture.height(), picture.width() * bands);
  for (Index band = 0; band < bands; ++band)
    for (Index c = 0; c < picture.width(); ++c)
      values.col(c * bands + band) = picture.channels[static_cast<std::size_t>(band)].col(c);
  NamedArray array{.name = "picture", .shape = {picture.height(), picture.width()}, .real = values.data()};
  if (bands > 1) array.shape.push_back(bands);
  write_arrays(path, {array});
}

}  // namespace gsc
