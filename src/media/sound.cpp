#include <gsc/file_kind.h>
#include <gsc/sound.h>
#include <sndfile.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "io/atomic_file.h"
#include "io/file_error.h"

namespace gsc {
namespace {

constexpr std::array kExtensions{".wav", ".flac", ".ogg", ".oga", ".opus", ".aif", ".aiff",
                                 ".au",  ".snd",  ".caf", ".w64", ".rf64", ".mp3"};
constexpr sf_count_t kBlockFrames = 1 << 14;

struct Close {
  void operator()(SNDFILE* file) const { sf_close(file); }
};
using File = std::unique_ptr<SNDFILE, Close>;

/// What libsndfile writes, kept in memory (two bytes a sample) until it is complete. libsndfile itself does not report
/// every failed write, of FLAC's last block for instance; AtomicFile does.
struct MemoryFile {
  std::vector<std::byte> bytes;
  sf_count_t at = 0;

  static MemoryFile& of(void* user) { return *static_cast<MemoryFile*>(user); }
  sf_count_t size() const { return static_cast<sf_count_t>(bytes.size()); }

  static SF_VIRTUAL_IO functions() {
    SF_VIRTUAL_IO io{};
    io.get_filelen = [](void* user) { return of(user).size(); };
    io.tell = [](void* user) { return of(user).at; };
    io.seek = [](sf_count_t offset, int whence, void* user) {
      MemoryFile& file = of(user);
      const sf_count_t origin = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? file.at : file.size();
      return file.at = std::max<sf_count_t>(0, origin + offset);
    };
    io.read = [](void* target, sf_count_t count, void* user) {
      MemoryFile& file = of(user);
      count = std::clamp<sf_count_t>(file.size() - file.at, 0, count);
      if (count > 0) std::memcpy(target, file.bytes.data() + file.at, static_cast<std::size_t>(count));
      file.at += count;
      return count;
    };
    io.write = [](const void* source, sf_count_t count, void* user) {
      MemoryFile& file = of(user);
      if (count <= 0) return sf_count_t{0};
      try {
        file.bytes.resize(static_cast<std::size_t>(std::max(file.size(), file.at + count)));
      } catch (const std::bad_alloc&) {
        return sf_count_t{0};  // libsndfile, which is C, takes no exceptions; a short write is an error to it
      }
      std::memcpy(file.bytes.data() + file.at, source, static_cast<std::size_t>(count));
      file.at += count;
      return count;
    };
    return io;
  }
};

int format_of(const std::filesystem::path& path) {
  const std::string extension = lower_extension(path);
  if (extension == ".wav") return SF_FORMAT_WAV | SF_FORMAT_PCM_16;
  if (extension == ".flac") return SF_FORMAT_FLAC | SF_FORMAT_PCM_16;
  fail(path.string(), "sound is written as WAV or FLAC; the name must end in .wav or .flac");
}

/// All frames, one after the other. The length that the header declares is not believed: memory grows with what is
/// really there.
std::vector<double> read_frames(SNDFILE* file, const SF_INFO& info, const std::string& name) {
  std::vector<double> values, block(static_cast<std::size_t>(kBlockFrames * info.channels));
  sf_count_t frames = 0;
  for (sf_count_t count = 0; (count = sf_readf_double(file, block.data(), kBlockFrames)) > 0; frames += count)
    values.insert(values.end(), block.begin(), block.begin() + count * info.channels);
  if (sf_error(file) != SF_ERR_NO_ERROR)
    fail(name, "is damaged: {} after {} samples a channel; get a fresh copy", sf_strerror(file), frames);
  // Formats without a length in the header say SF_COUNT_MAX or 0.
  if (info.frames > frames && info.frames < SF_COUNT_MAX)
    fail(name, "is damaged or cut off: {} samples a channel are declared, {} could be read; get a complete copy",
         info.frames, frames);
  return values;
}

}  // namespace

bool is_sound_file(const std::filesystem::path& path) {
  return std::find(kExtensions.begin(), kExtensions.end(), lower_extension(path)) != kExtensions.end();
}

Sound read_sound(const std::filesystem::path& path) {
  const std::string name = path.string();
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) fail(name, "there is no such file; is the name spelt right?");
  if (std::filesystem::is_directory(path, error)) fail(name, "is a folder; name a sound file in it");
  SF_INFO info{};
  const File file(sf_open(path.c_str(), SFM_READ, &info));
  if (!file)
    fail(name, "cannot be read as sound ({}); WAV, FLAC, OGG and AIFF can, for instance", sf_strerror(nullptr));
  if (info.samplerate < 1) fail(name, "says {} samples a second; the header is damaged", info.samplerate);
  if (info.channels < 1) fail(name, "has no channels");

  const std::vector<double> frames = read_frames(file.get(), info, name);
  if (frames.empty()) fail(name, "holds no samples; record or export it anew");
  const Index samples = static_cast<Index>(frames.size()) / info.channels;
  const Eigen::Map<const Matrix> interleaved(frames.data(), samples, info.channels);
  if (!interleaved.allFinite()) fail(name, "holds NaN or infinity; export the sound anew");
  return {interleaved.transpose(), info.samplerate};
}

void write_sound(const std::filesystem::path& path, const Sound& sound) {
  const std::string name = path.string();
  SF_INFO info{};
  info.format = format_of(path);
  info.samplerate = sound.rate;
  info.channels = static_cast<int>(std::min<Index>(sound.channels.rows(), 1 << 20));
  if (sound.rate < 1) fail(name, "cannot be written with {} samples a second; at least 1 is needed", sound.rate);
  if (sound.channels.size() == 0) fail(name, "there is no sound to write");
  if (!sound.channels.allFinite())
    fail(name, "the sound to write holds NaN or infinity; remove or replace such values first");
  if (!sf_format_check(&info))
    fail(name, "this format does not take {} channels at {} samples a second; write fewer channels, or as WAV",
         info.channels, sound.rate);

  MemoryFile memory;
  SF_VIRTUAL_IO io = MemoryFile::functions();
  File file(sf_open_virtual(&io, SFM_WRITE, &info, &memory));
  if (!file) fail(name, "cannot be written: {}", sf_strerror(nullptr));
  sf_command(file.get(), SFC_SET_CLIPPING, nullptr, SF_TRUE);  // beyond full scale: clip, never wrap around
  for (Index first = 0; first < sound.channels.cols(); first += kBlockFrames) {
    const Index count = std::min<Index>(kBlockFrames, sound.channels.cols() - first);
    const Matrix frames = sound.channels.middleCols(first, count).transpose();
    if (sf_writef_double(file.get(), frames.data(), count) != count)
      fail(name, "cannot be written: {}", sf_strerror(file.get()));
  }
  if (const int code = sf_close(file.release()); code != 0) fail(name, "cannot be written: {}", sf_error_number(code));
  AtomicFile target(path);
  target.write(memory.bytes);
  target.commit();
}

}  // namespace gsc
