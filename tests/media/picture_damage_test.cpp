// Damaged picture files: whatever is cut off or changed, a reader succeeds or throws Error, says nothing on standard
// error, and does the same in many threads at once. GSC_FUZZ_FACTOR=100 does a hundred times as much.

#include <gsc/picture_files.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "handmade_tiff.h"
#include "largest_allocation.h"
#include "picture_support.h"

namespace gsc::test {
namespace {

std::span<const std::byte> as_bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

/// What comes of decoding: the size, or the message.
std::string outcome(const std::string& bytes) {
  try {
    const Picture picture = decode_picture(as_bytes(bytes), "picture", NanPixels::refused, Bands::taken);
    return std::to_string(picture.width()) + " x " + std::to_string(picture.height());
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("picture: "), 0U) << error.what();
    return error.what();
  }
}

struct File {
  std::string name, bytes;
};

std::vector<File> small_files() {
  std::vector<File> files;
  const auto add = [&](const std::string& name, std::size_t channels, bool alpha, PixelDepth depth) {
    files.push_back({name, bytes_of(example_picture(channels, alpha, depth, 6, 7), name)});
  };
  for (const std::string name : {"a.png", "a.jpg", "a.tif", "a.webp", "a.bmp", "a.ppm"})
    add(name, 3, false, PixelDepth::bits8);
  for (const std::string name : {"a.png", "a.jpg", "a.tif", "a.bmp", "a.pgm"}) add(name, 1, false, PixelDepth::bits8);
  for (const std::string name : {"a.png", "a.tif", "a.webp"}) add(name, 3, true, PixelDepth::bits8);
  for (const std::string name : {"a.png", "a.tif", "a.pgm"}) add(name, 1, false, PixelDepth::bits16);
  add("a.tif", 1, true, PixelDepth::real32);
  add("a.tif", 6, false, PixelDepth::bits16);
  add("a.tif", 5, false, PixelDepth::real32);
  return files;
}

TEST(PictureDamage, EveryTruncationIsFound) {
  testing::internal::CaptureStderr();
  for (const File& file : small_files()) {
    EXPECT_EQ(outcome(file.bytes), "7 x 6") << file.name;
    for (std::size_t length = 0; length < file.bytes.size(); ++length) {
      const std::string message = outcome(file.bytes.substr(0, length));
      // With enough to tell the format by it is damaged, with less it is no picture.
      const std::string words = length == 0 ? "is empty" : length < 12 ? "picture: is " : "damaged";
      EXPECT_NE(message.find(words), std::string::npos)
          << file.name << " cut to " << length << " of " << file.bytes.size() << ": " << message;
    }
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(PictureDamage, MessagesSayWhatToDo) {
  for (const File& file : small_files()) {
    const std::string message = read_error(file.bytes.substr(0, file.bytes.size() * 3 / 4), file.name);
    EXPECT_TRUE(message.find("get a fresh copy") != std::string::npos ||
                message.find("get a complete copy") != std::string::npos)
        << message;
  }
}

TEST(PictureDamage, JpegWithAHole) {
  std::string bytes = bytes_of(example_picture(3, false, PixelDepth::bits8, 80, 90), "a.jpg");
  bytes.erase(bytes.size() / 2, bytes.size() / 2 - 2);  // the end marker stays
  expect_says(read_error(bytes), "damaged");
}

TEST(PictureDamage, StrayBytesBeforeTheEndOfAJpegDoNoHarm) {
  std::string bytes = bytes_of(example_picture(3, false, PixelDepth::bits8, 8, 9), "a.jpg");
  bytes.insert(bytes.size() - 2, "\0\0", 2);  // some cameras do that
  EXPECT_EQ(outcome(bytes), "9 x 8");
  EXPECT_EQ(outcome(bytes + "appended"), "9 x 8");
}

/// A copy with some bytes changed, and sometimes shortened.
std::string damaged(std::string bytes, std::mt19937_64& random) {
  for (std::uint64_t flips = 1 + random() % 4; flips > 0; --flips)
    bytes[random() % bytes.size()] = static_cast<char>(random());
  if (random() % 4 == 0) bytes.resize(1 + random() % (bytes.size() - 1));
  return bytes;
}

TEST(PictureDamage, NeverCrashes) {
  const auto start = std::chrono::steady_clock::now();
  std::mt19937_64 random(5);
  std::vector<std::string> files;
  for (const File& file : small_files()) files.push_back(file.bytes);
  for (const std::string name : {"a.png", "a.jpg", "a.tif", "a.webp"})
    files.push_back(bytes_of(example_picture(3, false, PixelDepth::bits8, 21, 30), name));
  files.push_back(
      HandmadeTiff{.width = 20, .height = 18, .tile = 16, .pieces = std::vector(4, std::string(256, 'x'))}.bytes());
  const char* const factor = std::getenv("GSC_FUZZ_FACTOR");
  const double seconds = 4 * (factor != nullptr ? std::atof(factor) : 1.0);
  int read = 0, refused = 0;
  testing::internal::CaptureStderr();
  for (std::size_t round = 0; round < 8000 || factor != nullptr; ++round) {
    if (std::chrono::steady_clock::now() - start > std::chrono::duration<double>(seconds)) break;
    const std::string bytes = damaged(files[round % files.size()], random);
    take_largest_allocation();
    try {
      const Picture picture = decode_picture(as_bytes(bytes), "picture", NanPixels::refused, Bands::taken);
      EXPECT_GT(picture.height() * picture.width(), 0);
      ++read;
    } catch (const Error&) {
      ++refused;
    }
    // What is harmless to try: 4 million pixels of four 64-bit values.
    ASSERT_LE(take_largest_allocation(), std::size_t{1} << 27) << "file " << round % files.size();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_GT(read, 10);
  EXPECT_GT(refused, 100);
}

TEST(PictureDamage, ThreadsDoNotDisturbEachOther) {
  std::mt19937_64 random(11);
  std::vector<std::string> files, alone;
  for (const File& file : small_files())
    for (int i = 0; i < 12; ++i) files.push_back(i == 0 ? file.bytes : damaged(file.bytes, random));
  for (const std::string& bytes : files) alone.push_back(outcome(bytes));
  testing::internal::CaptureStderr();
  constexpr std::size_t kThreads = 4;
  std::vector<std::vector<std::string>> together(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 4 * files.size(); ++i)
        together[t].push_back(outcome(files[(i + 50 * t) % files.size()]));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  for (std::size_t t = 0; t < kThreads; ++t)
    for (std::size_t i = 0; i < together[t].size(); ++i)
      ASSERT_EQ(together[t][i], alone[(i + 50 * t) % files.size()]) << "file " << (i + 50 * t) % files.size();
}

}  // namespace
}  // namespace gsc::test
