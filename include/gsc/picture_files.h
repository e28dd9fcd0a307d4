#pragma once
// Pictures in files. Target gsc::media.

#include <gsc/export.h>
#include <gsc/picture.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace gsc {

struct PictureFormat {
  std::string name;                     ///< "TIFF"
  std::vector<std::string> extensions;  ///< ".tif", ".tiff"
};
/// Those that are read and written.
GSC_EXPORT const std::vector<PictureFormat>& picture_formats();
/// Of all formats: ".png", ".jpg", ".jpeg", ...
GSC_EXPORT std::vector<std::string> picture_extensions();

/// Real pictures may hold NaN for what is missing (gsc/inpaint.h): refused, or taken as it is (infinity, too).
enum class NanPixels { refused, taken };
/// TIFF may have any number of values a pixel. Beyond grey and colour, with or without alpha, they are bands: refused,
/// or taken as so many channels.
enum class Bands { refused, taken };

/// Reads a file of any of these formats, told apart by its first bytes, and turns it the way its EXIF block or TIFF
/// orientation says the camera was held. Throws Error naming the file and what is wrong (missing, damaged, a video).
GSC_EXPORT Picture read_picture(const std::filesystem::path& path, NanPixels nan = NanPixels::refused,
                                Bands bands = Bands::refused);
/// The same from memory; messages call it `name`.
GSC_EXPORT Picture decode_picture(std::span<const std::byte> bytes, const std::string& name,
                                  NanPixels nan = NanPixels::refused, Bands bands = Bands::refused);

/// Writes by extension, rounding and clipping to the depth; atomically. The metadata go with it as far as the format
/// can hold them (docs/denoise.md has a table). TIFF takes four and more channels, as bands. Throws Error if the format
/// cannot hold the pixels.
GSC_EXPORT void write_picture(const std::filesystem::path& path, const Picture& picture);
/// The bytes of the file that write_picture() would write to a name with this extension.
GSC_EXPORT std::vector<std::byte> encode_picture(const std::filesystem::path& name, const Picture& picture);

/// A picture file, or by the extension .npy an array of height x width (x bands): bytes and 16-bit integers are
/// pictures of such depth, all else is real. NaN and bands are taken.
GSC_EXPORT Picture read_bands(const std::filesystem::path& path);
/// The same way back; arrays are doubles, not rounded.
GSC_EXPORT void write_bands(const std::filesystem::path& path, const Picture& picture);
GSC_EXPORT bool is_picture_array(const std::filesystem::path& path);  ///< by extension

/// Throws Error if write_picture() would because the format that `path` asks for cannot hold the picture.
GSC_EXPORT void check_writable(const std::filesystem::path& path, const Picture& picture);

}  // namespace gsc
