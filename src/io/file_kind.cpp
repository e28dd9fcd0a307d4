#include <gsc/file_kind.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>
#include <vector>

namespace gsc {
namespace {

using namespace std::string_view_literals;

/// Bytes that stand at a place in every file of a kind.
struct Mark {
  std::size_t at;
  std::string_view bytes;
  FileKind kind;
  const char* words;
  std::string_view also_at_8 = {};  // RIFF and FORM say there what they hold
};

constexpr std::string_view kPdf = "%PDF-"sv;
constexpr std::string_view kHdf5 = "\x89HDF\r\n\x1a\n"sv;

// A MATLAB 7.3 file is HDF5 behind a header of 512 bytes, so MATLAB comes first.
constexpr Mark kMarks[] = {
    {0, "\x93NUMPY"sv, FileKind::npy, "a NumPy array (.npy)"},
    {0, "MATLAB "sv, FileKind::matlab, "a MATLAB file (.mat)"},
    {0, kHdf5, FileKind::hdf5, "an HDF5 file"},
    {512, kHdf5, FileKind::hdf5, "an HDF5 file"},
    {0, "PK\x03\x04"sv, FileKind::zip, "a zip archive (as .npz is)"},
    {0, "\x89PNG\r\n\x1a\n"sv, FileKind::picture, "a PNG picture"},
    {0, "\xff\xd8\xff"sv, FileKind::picture, "a JPEG picture"},
    {0, "II*\0"sv, FileKind::picture, "a TIFF picture"},
    {0, "MM\0*"sv, FileKind::picture, "a TIFF picture"},
    {0, "GIF8"sv, FileKind::picture, "a GIF picture"},
    {0, "RIFF"sv, FileKind::picture, "a WebP picture", "WEBP"sv},
    {0, "RIFF"sv, FileKind::sound, "a WAV sound", "WAVE"sv},
    {0, "FORM"sv, FileKind::sound, "an AIFF sound", "AIF"sv},
    {0, "fLaC"sv, FileKind::sound, "a FLAC sound"},
    {0, "OggS"sv, FileKind::sound, "an Ogg sound"},
    {0, "ID3"sv, FileKind::sound, "an MP3 sound"},
    {4, "ftyp"sv, FileKind::other, "a video (MP4 or alike)"},
    {0, kPdf, FileKind::other, "a PDF document"},
    {0, "\x1f\x8b"sv, FileKind::other, "packed with gzip"},
};

bool is_pnm(std::string_view text) {
  return text.size() > 2 && text[0] == 'P' && text[1] >= '1' && text[1] <= '6' && (text[2] == '\n' || text[2] == ' ');
}

bool is_bmp(std::string_view text) {
  return text.size() >= 14 && text.starts_with("BM") && text.substr(6, 4) == "\0\0\0\0"sv;
}

/// No byte from 0xf8 up begins a character of UTF-8, and no text of another encoding is likely to begin with one.
bool is_text(std::string_view text) {
  return static_cast<unsigned char>(text.front()) < 0xf8 && std::all_of(text.begin(), text.end(), [](char c) {
           return static_cast<unsigned char>(c) >= 0x20 || c == '\t' || c == '\n' || c == '\r' || c == '\f';
         });
}

}  // namespace

RecognisedFile recognise(std::span<const std::byte> start) {
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  if (text.empty()) return {FileKind::empty, "empty"};
  // First: a table's header may begin with letters that are somebody's mark. The others have bytes that text has not.
  if (is_text(text) && !text.starts_with(kPdf)) return {FileKind::text, "text"};
  for (const Mark& mark : kMarks) {
    if (text.size() < mark.at || !text.substr(mark.at).starts_with(mark.bytes)) continue;
    if (!mark.also_at_8.empty() && (text.size() < 8 || !text.substr(8).starts_with(mark.also_at_8))) continue;
    return {mark.kind, mark.words};
  }
  if (is_pnm(text)) return {FileKind::picture, "a PGM or PPM picture"};
  if (is_bmp(text)) return {FileKind::picture, "a BMP picture"};
  return {};
}

RecognisedFile recognise(const std::filesystem::path& path) {
  std::array<char, 520> start;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  file.read(start.data(), start.size());
  return recognise(std::as_bytes(std::span(start).first(static_cast<std::size_t>(file.gcount()))));
}

std::string lower_extension(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return extension;
}

bool is_hdf5_extension(const std::string& extension) { return extension == ".h5" || extension == ".hdf5"; }

}  // namespace gsc
