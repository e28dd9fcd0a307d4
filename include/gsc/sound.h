#pragma once
// Sound files (WAV, FLAC, OGG and what else libsndfile knows). Target gsc::media.

#include <gsc/export.h>
#include <gsc/types.h>

#include <filesystem>

namespace gsc {

struct Sound {
  Matrix channels;  ///< channels x samples, full scale is -1..1
  int rate = 0;     ///< samples a second
};

GSC_EXPORT bool is_sound_file(const std::filesystem::path& path);  ///< by extension
GSC_EXPORT Sound read_sound(const std::filesystem::path& path);    ///< throws Error
/// By extension, 16 bit; atomically; throws Error.
GSC_EXPORT void write_sound(const std::filesystem::path& path, const Sound& sound);

}  // namespace gsc
