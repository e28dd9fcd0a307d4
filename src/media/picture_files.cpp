#include <gsc/picture_files.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <new>
#include <opencv2/imgcodecs.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/atomic_file.h"
#include "data/extension.h"
#include "data/file_error.h"
#include "data/mapped_file.h"
#include "media/picture_checks.h"
#include "media/pnm.h"
#include "media/stderr_capture.h"
#include "media/tiff_check.h"

namespace gsc {
namespace {

/// OpenCV says what it does not like on standard error and hands back nothing, or a picture that is grey from there on.
cv::Mat decode(const PictureBytes& file, std::span<const std::byte> bytes, int flags) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    fail(file.name, "has more than 2 GB; cut it into tiles");
  cv::Mat pixels;
  StderrCapture capture;
  try {
    pixels = cv::imdecode(
        cv::_InputArray(reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size())), flags);
  } catch (const cv::Exception& error) {
    if (error.code == cv::Error::StsNoMem) throw std::bad_alloc();
  }
  const std::string talk = capture.finish();
  // libjpeg's words for pixels that are missing in the middle.
  if (pixels.empty() || talk.find("remature end") != std::string::npos)
    fail(file.name, "is damaged and cannot be decoded; get a fresh copy, or open it elsewhere and save it anew");
  std::fputs(talk.c_str(), stderr);  // warnings, and whatever other threads had to say
  return pixels;
}

template <class Value>
Matrix channel_of(const cv::Mat& pixels, int channel) {
  Matrix values(pixels.rows, pixels.cols);
  const Index step = pixels.channels();
  for (int i = 0; i < pixels.rows; ++i) {
    const Value* row = pixels.ptr<Value>(i) + channel;
    for (int j = 0; j < pixels.cols; ++j) values(i, j) = static_cast<double>(row[j * step]);
  }
  return values;
}

Matrix channel_of(const cv::Mat& pixels, int channel) {
  switch (pixels.depth()) {
    case CV_8U:
      return channel_of<unsigned char>(pixels, channel);
    case CV_16U:
      return channel_of<unsigned short>(pixels, channel);
    case CV_32F:
      return channel_of<float>(pixels, channel);
    default:
      return channel_of<double>(pixels, channel);
  }
}

Picture from_opencv(const PictureBytes& file, const cv::Mat& pixels) {
  const int depth = pixels.depth(), channels = pixels.channels();
  if ((depth != CV_8U && depth != CV_16U && depth != CV_32F && depth != CV_64F) || channels == 2 || channels > 4)
    fail(file.name, "has pixels of a kind that cannot be read; save it with 8 or 16 bits, grey or RGB");
  Picture picture;
  picture.depth = depth == CV_8U ? PixelDepth::bits8 : depth == CV_16U ? PixelDepth::bits16 : PixelDepth::real32;
  if (channels == 1)
    picture.channels = {channel_of(pixels, 0)};
  else
    picture.channels = {channel_of(pixels, 2), channel_of(pixels, 1), channel_of(pixels, 0)};
  if (channels == 4) picture.alpha = channel_of(pixels, 3);
  // Grey with alpha comes as colour with alpha, and is written so.
  if (channels == 4 && picture.channels[0] == picture.channels[1] && picture.channels[0] == picture.channels[2])
    picture.channels.resize(1);
  return picture;
}

void require_finite(const std::string& name, const Matrix& values) {
  if (values.allFinite()) return;
  for (Index i = 0; i < values.rows(); ++i)
    for (Index j = 0; j < values.cols(); ++j)
      if (!std::isfinite(values(i, j)))
        fail(name, "the pixel in row {}, column {} (from 0) is {}; replace such values first", i, j,
             std::isnan(values(i, j)) ? "NaN" : "infinite");
}

void require_finite(const std::string& name, const Picture& picture) {
  for (const Matrix& channel : picture.channels) require_finite(name, channel);
  require_finite(name, picture.alpha);
}

Picture read_checked(const PictureBytes& file) {
  switch (picture_format(file)) {
    case PictureFormat::pnm:
      return read_pnm(file);
    case PictureFormat::png:
      check_png(file);
      return from_opencv(file, decode(file, file.bytes, cv::IMREAD_UNCHANGED));
    case PictureFormat::jpeg:
      check_jpeg(file);
      // Not IMREAD_UNCHANGED: these flags turn the picture the way its EXIF data says the camera was held. What is
      // written later has no EXIF data, so it would lie on its side otherwise.
      return from_opencv(file, decode(file, file.bytes, cv::IMREAD_ANYCOLOR | cv::IMREAD_ANYDEPTH));
    default:
      break;
  }
  const std::optional<std::uint64_t> separate_alpha = check_tiff(file);
  if (!separate_alpha) return from_opencv(file, decode(file, file.bytes, cv::IMREAD_UNCHANGED));
  // OpenCV would multiply 8-bit colours by the alpha. It leaves them alone if the file does not say what the fourth
  // value means, so decode a copy that does not.
  std::vector<std::byte> copy(file.bytes.begin(), file.bytes.end());
  copy[*separate_alpha] = std::byte{0};
  return from_opencv(file, decode(file, copy, cv::IMREAD_UNCHANGED));
}

enum class Target { png, tiff, jpeg, pgm, ppm };

Target target_of(const std::filesystem::path& path) {
  const std::string extension = lower_extension(path);
  if (extension == ".png") return Target::png;
  if (extension == ".tif" || extension == ".tiff") return Target::tiff;
  if (extension == ".jpg" || extension == ".jpeg") return Target::jpeg;
  if (extension == ".pgm") return Target::pgm;
  if (extension == ".ppm") return Target::ppm;
  fail(path.string(), "cannot tell the format from {}; known are .png, .tif, .tiff, .jpg, .jpeg, .pgm, .ppm",
       extension.empty() ? "a name without extension" : in_quotes(extension));
}

void require_fit(const std::string& name, const Picture& picture, Target target) {
  const auto same_size = [&](const Matrix& m) { return m.rows() == picture.height() && m.cols() == picture.width(); };
  const bool has_alpha = picture.alpha.size() > 0;
  if (picture.height() == 0 || picture.width() == 0 || (picture.channels.size() != 1 && picture.channels.size() != 3) ||
      !std::all_of(picture.channels.begin(), picture.channels.end(), same_size) ||
      (has_alpha && !same_size(picture.alpha)))
    fail(name, "a picture to be written needs pixels, in 1 or 3 channels of the same size; this one has {} channels",
         picture.channels.size());
  if (picture.depth == PixelDepth::real32 && target != Target::tiff)
    fail(name, "only TIFF can hold a picture of real numbers; write to .tif, or with 8 or 16 bits");
  if (picture.depth == PixelDepth::bits16 && target == Target::jpeg)
    fail(name, "JPEG cannot hold 16 bits; write to .png or .tif, or with 8 bits");
  if (has_alpha && target != Target::png && target != Target::tiff)
    fail(name, "this format cannot hold an alpha channel; choose PNG or TIFF");
  if (picture.channels.size() == 3 && target == Target::pgm)
    fail(name, "PGM cannot hold a colour picture; choose PPM, PNG or TIFF");
  require_finite(name, picture);
}

template <class Value>
void set_channel(cv::Mat& pixels, int channel, const Matrix& values) {
  const Index step = pixels.channels();
  constexpr double kLow = static_cast<double>(std::numeric_limits<Value>::lowest());
  constexpr double kHigh = static_cast<double>(std::numeric_limits<Value>::max());
  for (int i = 0; i < pixels.rows; ++i) {
    Value* row = pixels.ptr<Value>(i) + channel;
    for (int j = 0; j < pixels.cols; ++j) {
      const double value = std::numeric_limits<Value>::is_integer ? std::round(values(i, j)) : values(i, j);
      row[j * step] = static_cast<Value>(std::clamp(value, kLow, kHigh));
    }
  }
}

cv::Mat to_opencv(const Picture& picture, bool colour) {
  const bool alpha = picture.alpha.size() > 0;
  std::vector<const Matrix*> order;  // blue, green, red, alpha
  if (colour || alpha)
    order = {&picture.channels.back(), &picture.channels[picture.channels.size() / 2], &picture.channels.front()};
  else
    order = {&picture.channels.front()};
  if (alpha) order.push_back(&picture.alpha);

  const int channels = static_cast<int>(order.size());
  const int depth = picture.depth == PixelDepth::bits8 ? CV_8U : picture.depth == PixelDepth::bits16 ? CV_16U : CV_32F;
  cv::Mat pixels(static_cast<int>(picture.height()), static_cast<int>(picture.width()), CV_MAKETYPE(depth, channels));
  for (int c = 0; c < channels; ++c) {
    const Matrix& values = *order[static_cast<std::size_t>(c)];
    if (depth == CV_8U)
      set_channel<unsigned char>(pixels, c, values);
    else if (depth == CV_16U)
      set_channel<unsigned short>(pixels, c, values);
    else
      set_channel<float>(pixels, c, values);
  }
  return pixels;
}

std::vector<unsigned char> encode(const Picture& picture, Target target) {
  constexpr std::array kNames = {".png", ".tiff", ".jpg", ".pgm", ".ppm"};
  std::vector<int> parameters;
  if (target == Target::jpeg) parameters = {cv::IMWRITE_JPEG_QUALITY, 95};
  // Without this, colours of real numbers are rounded to 24 bits a pixel (LogLuv).
  constexpr int kUncompressed = 1;
  if (picture.depth == PixelDepth::real32) parameters = {cv::IMWRITE_TIFF_COMPRESSION, kUncompressed};
  const bool colour = picture.channels.size() == 3 || target == Target::ppm;
  std::vector<unsigned char> bytes;
  if (!cv::imencode(kNames[static_cast<std::size_t>(target)], to_opencv(picture, colour), bytes, parameters))
    bytes.clear();
  return bytes;
}

}  // namespace

Picture read_picture(const std::filesystem::path& path) {
  std::error_code error;
  const std::string name = path.string();
  if (!std::filesystem::exists(path, error) && !error) fail(name, "there is no such file");
  if (std::filesystem::is_directory(path, error)) fail(name, "is a folder; name a picture in it");
  try {
    const MappedFile file(path);
    Picture picture = read_checked({file.bytes(), name});
    require_finite(name, picture);
    return picture;
  } catch (const std::bad_alloc&) {
    fail(name, "does not fit into memory; cut it into tiles");
  }
}

void check_writable(const std::filesystem::path& path, const Picture& picture) {
  require_fit(path.string(), picture, target_of(path));
}

void write_picture(const std::filesystem::path& path, const Picture& picture) {
  check_writable(path, picture);
  const std::string name = path.string();
  std::vector<unsigned char> bytes;
  try {
    bytes = encode(picture, target_of(path));
  } catch (const cv::Exception&) {
    bytes.clear();
  } catch (const std::bad_alloc&) {
    fail(name, "there is not enough memory to write a picture of {} x {} pixels", picture.width(), picture.height());
  }
  if (bytes.empty())
    fail(name, "a picture of {} x {} pixels does not fit this format; choose TIFF or PNG", picture.width(),
         picture.height());
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(bytes)));
  file.commit();
}

}  // namespace gsc
