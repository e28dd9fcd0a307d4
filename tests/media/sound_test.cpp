// Sound files: what is written is what is read, and what is wrong is said.

#include <gsc/sound.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "expect_error.h"
#include "run_program.h"

namespace gsc::test {
namespace {

class SoundFiles : public ::testing::Test {
 protected:
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  /// Chords of `channels` different pitches; longer than a block of the reader.
  static Sound chords(Index channels, Index samples = 40000, int rate = 8000) {
    Sound sound{Matrix(channels, samples), rate};
    for (Index c = 0; c < channels; ++c)
      for (Index n = 0; n < samples; ++n)
        sound.channels(c, n) = 0.6 * std::sin(0.01 * static_cast<double>((c + 1) * n)) + 0.1 * static_cast<double>(c);
    return sound;
  }
  void expect_unreadable(const std::string& name, std::string_view part, int line = __builtin_LINE()) const {
    expect_error<Error>([&] { read_sound(path(name)); }, {name, part}, __FILE__, line);
  }
  /// Replaces bytes of a file.
  void patch(const std::string& name, std::size_t at, const std::string& bytes) const {
    write_file(path(name), read_file(path(name)).replace(at, bytes.size(), bytes));
  }

 private:
  TempFolder folder_;
};

TEST_F(SoundFiles, RoundTrip) {
  for (const char* name : {"a.wav", "b.flac", "C.WAV"})
    for (const Index channels : {1, 2, 5}) {
      const Sound sound = chords(channels);
      write_sound(path(name), sound);
      const Sound back = read_sound(path(name));
      EXPECT_EQ(back.rate, 8000);
      ASSERT_EQ(back.channels.rows(), channels) << name;
      ASSERT_EQ(back.channels.cols(), sound.channels.cols()) << name;
      // 16 bits: half a step of rounding, and the scale 32767 / 32768.
      EXPECT_LT((back.channels - sound.channels).cwiseAbs().maxCoeff(), 1.6 / 32768) << name;
    }
}

TEST_F(SoundFiles, BeyondFullScaleIsClipped) {
  Sound sound{Matrix(1, 4), 8000};
  sound.channels << 1.5, -1.5, 0.5, 0;
  write_sound(path("loud.wav"), sound);
  const Matrix back = read_sound(path("loud.wav")).channels;
  EXPECT_NEAR(back(0, 0), 1, 1e-4);
  EXPECT_NEAR(back(0, 1), -1, 1e-4);
  EXPECT_NEAR(back(0, 2), 0.5, 1e-4);
}

TEST_F(SoundFiles, KnownByExtension) {
  EXPECT_TRUE(is_sound_file("x.wav"));
  EXPECT_TRUE(is_sound_file("folder.npy/x.FLAC"));
  for (const char* name : {"x.npy", "x", "wav", "x.mat:wav", "x.wav.csv"}) EXPECT_FALSE(is_sound_file(name)) << name;
}

TEST_F(SoundFiles, CannotBeWritten) {
  const Sound sound = chords(1, 10);
  const auto refused = [&](const std::string& name, const Sound& wanted, Parts parts) {
    const std::string message = error_of([&] { write_sound(path(name), wanted); });
    expect_says(message, path(name).string() + ": ");
    expect_says(message, parts);
  };
  for (const char* name : {"x.mp5", "x", "x.npy"}) refused(name, sound, {"must end in .wav or .flac"});
  refused("none/x.wav", sound, {"create the folder first"});
  refused("x.wav", {sound.channels, 0}, {"0 samples a second", "at least 1"});
  refused("x.wav", {Matrix(1, 0), 8000}, {"there is no sound to write"});
  refused("x.flac", chords(9, 10), {"does not take 9 channels at 8000 samples a second", "fewer channels, or as WAV"});
  Sound wrong = sound;
  wrong.channels(0, 3) = std::numeric_limits<double>::quiet_NaN();
  refused("x.wav", wrong, {"NaN or infinity", "remove or replace"});
  EXPECT_TRUE(std::filesystem::is_empty(path("")));
}

TEST_F(SoundFiles, CannotBeRead) {
  expect_unreadable("none.wav", "there is no such file");
  std::filesystem::create_directory(path("folder.wav"));
  expect_unreadable("folder.wav", "is a folder; name a sound file in it");
  write_file(path("text.wav"), "this is not sound at all");
  expect_unreadable("text.wav", "cannot be read as sound");
  write_file(path("empty.wav"), "");
  expect_unreadable("empty.wav", "cannot be read as sound");

  write_sound(path("mono.wav"), chords(1));
  const std::string whole = read_file(path("mono.wav"));
  write_file(path("header.wav"), whole.substr(0, 44));
  expect_unreadable("header.wav", "no samples");
  write_file(path("rate.wav"), whole);
  patch("rate.wav", 24, std::string(4, '\0'));
  expect_unreadable("rate.wav", "cannot be read as sound");

  write_sound(path("mono.flac"), chords(1));
  const std::string flac = read_file(path("mono.flac"));
  write_file(path("cut.flac"), flac.substr(0, flac.size() / 2));
  expect_unreadable("cut.flac", "damaged");
}

// A length in the header is no reason to ask for as much memory: std::bad_alloc would not be an Error.
TEST_F(SoundFiles, DeclaredLengthIsNotBelieved) {
  const Sound sound = chords(1, 100);
  write_sound(path("tiny.flac"), sound);
  patch("tiny.flac", 22, "\xff\xff\xff\xff");  // total samples, 36 bits that end at byte 26
  expect_unreadable("tiny.flac", "declared");
  write_sound(path("tiny.wav"), sound);
  patch("tiny.wav", 40, "\xf0\xff\xff\x7f");  // bytes of the data chunk
  EXPECT_EQ(read_sound(path("tiny.wav")).channels.cols(), 100);
}

TEST_F(SoundFiles, FloatSoundWithNanIsRefused) {
  // RIFF header of one channel, 32-bit float (format 3), two samples: 0.5 and NaN.
  std::string wav = "RIFF____WAVEfmt ";
  const auto number = [&wav](unsigned value, int bytes) {
    for (int i = 0; i < bytes; ++i) wav += static_cast<char>(value >> (8 * i) & 255u);
  };
  number(16, 4), number(3, 2), number(1, 2), number(8000, 4), number(32000, 4), number(4, 2), number(32, 2);
  wav += "data";
  number(8, 4), number(0x3f000000u, 4), number(0x7fc00000u, 4);
  wav.replace(4, 4, std::string{static_cast<char>(wav.size() - 8), 0, 0, 0});
  write_file(path("nan.wav"), wav);
  expect_unreadable("nan.wav", "holds NaN or infinity; export the sound anew");
}

}  // namespace
}  // namespace gsc::test
