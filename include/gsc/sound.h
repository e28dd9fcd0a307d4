#pragma once
// Sound files (WAV, FLAC, OGG and what else libsndfile knows). Target gsc::media.

#include <gsc/types.h>

#include <filesystem>

namespace gsc {
#pragma GCC visibility push(default)  // this is what a shared library shows

struct Sound {
  Matrix channels;  ///< channels x samples, full scale is -1..1
  int rate = 0;     ///< samples a second
};

bool is_sound_file(const std::filesystem::path& path);  ///< by extension
Sound read_sound(const std::filesystem::path& path);    ///< throws Error
/// By extension, 16 bit; atomically; throws Error.
void write_sound(const std::filesystem::path& path, const Sound& sound);

#pragma GCC visibility pop
}  // namespace gsc
