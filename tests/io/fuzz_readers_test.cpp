// Damaged files: whatever is cut off, flipped or blown up, a reader either succeeds or throws gsc::Error. It never
// crashes, hangs or asks for more memory than the file can explain. The damage is random but the same in every run; a
// crash leaves the file behind in the temporary folder. GSC_FUZZ_FACTOR=100 does a hundred times as much.

#include <gsc/files.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "io_support.h"
#include "largest_allocation.h"

// HDF5 copes with an allocation that fails, so the address sanitizer should let it, and forgets some memory when it
// finds a file damaged.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

namespace gsc::test {
namespace {

using Bytes = std::string;

/// One random injury.
Bytes damage(Bytes bytes, std::mt19937_64& random) {
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  const auto fill = [&](std::size_t count, char value) {
    const std::size_t at = below(bytes.size());
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), std::min(count, bytes.size() - at), value);
  };
  switch (below(7)) {
    case 0:
      bytes.resize(below(bytes.size()));
      break;
    case 1:
      bytes[below(bytes.size())] = static_cast<char>(random());
      break;
    case 2:
      for (int i = 0; i < 4; ++i) bytes[below(bytes.size())] = static_cast<char>(random());
      break;
    case 3: {  // sizes and dimensions become huge, negative or zero
      constexpr char kValues[] = {'\xff', '\x7f', '\x00', '\x80'};
      fill(std::size_t{1} << below(4), kValues[below(4)]);
      break;
    }
    case 4:  // a single bit
      bytes[below(bytes.size())] ^= static_cast<char>(1U << below(8));
      break;
    case 5: {  // a piece of the file stands at a wrong place
      const std::size_t count = 1 + below(std::min<std::size_t>(64, bytes.size() - 1));
      const Bytes piece = bytes.substr(below(bytes.size() - count), count);
      bytes.replace(below(bytes.size() - count), count, piece);
      break;
    }
    default:  // a piece is missing or doubled, so that all offsets behind it are wrong
      if (below(2) == 0)
        bytes.erase(below(bytes.size() - 1), 1 + below(16));
      else
        bytes.insert(below(bytes.size()), bytes.substr(below(bytes.size()), 1 + below(16)));
  }
  return bytes;
}

/// Opens and reads everything; true if that worked.
bool survives(const std::filesystem::path& path, bool model, const std::string& array = "") {
  try {
    if (model) {
      load_model(path);
      return true;
    }
    const auto data = open_data(path.string() + array);
    EXPECT_GT(data->rows(), 0);
    EXPECT_GT(data->cols(), 0);
    constexpr Index kBlock = 16;
    Matrix block(std::min(kBlock, data->rows()), data->cols());
    for (Index first = 0; first < data->rows(); first += kBlock)
      data->read(first, block.topRows(std::min(kBlock, data->rows() - first)));
    return true;
  } catch (const Error& error) {
    EXPECT_NE(std::string_view(error.what()).find(path.filename().string()), std::string_view::npos) << error.what();
    return false;
  }
}

struct Injuries {
  int count = 1000;
  /// Numbers take up to 8 times the file as doubles; where they may be packed, zlib makes at most 1032 out of one.
  std::size_t growth = 16;
  bool model = false;
  std::string array = "";  ///< what is read, as ":name"; empty: the only table
};
constexpr std::size_t kPacked = 8 * 1032;

/// Damages the file at `path` again and again.
void expect_robust(const std::filesystem::path& path, const Injuries& injuries) {
  constexpr std::size_t kSlack = 1 << 20;
  const Bytes whole = read_file(path);
  ASSERT_TRUE(survives(path, injuries.model, injuries.array));
  const auto victim = path.parent_path() / ("damaged" + path.extension().string());
  std::mt19937_64 random(20240601);
  const char* const factor = std::getenv("GSC_FUZZ_FACTOR");
  const int count = injuries.count * (factor != nullptr ? std::max(1, std::atoi(factor)) : 1);
  int rejected = 0;
  for (int i = 0; i < count; ++i) {
    Bytes bytes = damage(whole, random);
    if (random() % 4 == 0 && bytes.size() > 2) bytes = damage(bytes, random);
    std::filesystem::remove(victim);  // rewriting a file in place makes some file systems wait for the disk
    write_file(victim, bytes);
    take_largest_allocation();
    rejected += survives(victim, injuries.model, injuries.array) ? 0 : 1;
    ASSERT_LE(take_largest_allocation(), injuries.growth * bytes.size() + kSlack)
        << path.filename() << ", injury " << i;
  }
  EXPECT_GT(rejected, count / 20) << "hardly any damage was noticed; is the file what it should be?";
}

/// Cuts the file at every length up to `lengths`, then at as many random ones.
void expect_cuts_rejected(const std::filesystem::path& path, std::size_t lengths) {
  const Bytes whole = read_file(path);
  const auto victim = path.parent_path() / ("cut" + path.extension().string());
  std::mt19937_64 random(7);
  for (std::size_t i = 0; i < 2 * lengths; ++i) {
    const std::size_t length = i < lengths ? i : random() % whole.size();
    if (length >= whole.size()) break;
    std::filesystem::remove(victim);
    write_file(victim, whole.substr(0, length));
    EXPECT_FALSE(survives(victim, false)) << path.filename() << " cut to " << length << " of " << whole.size();
  }
}

class DamagedFiles : public ::testing::Test {
 protected:
  TemporaryFolder folder;
};

TEST_F(DamagedFiles, Npy) {
  const auto path = folder / "a.npy";
  write_arrays(path, {named("x", example(9, 3))});
  expect_cuts_rejected(path, 130);
  expect_robust(path, {4000});
}

TEST_F(DamagedFiles, Npz) {
  const auto path = folder / "a.npz";
  write_arrays(path, {named("x", example(9, 3))});
  expect_cuts_rejected(path, 100);
  expect_robust(path, {3000, kPacked});
}

TEST_F(DamagedFiles, Csv) {
  const auto path = folder / "a.csv";
  write_arrays(path, {named("x", example(5, 3))});
  expect_robust(path, {3000});
}

TEST_F(DamagedFiles, MatlabVersion5) {
  const auto path = folder / "a.mat";
  for (const MatVersion version : {MatVersion::v5, MatVersion::v5_packed}) {
    write_mat(path, version, example(9, 3));
    expect_cuts_rejected(path, 140);
    expect_robust(path, {3000, kPacked});
    write_mat(path, version, Matrix::Zero(200, 30));  // packs well, so sizes in the file are far from those in memory
    expect_robust(path, {300, kPacked});
  }
}

TEST_F(DamagedFiles, MatlabStructures) {
  const auto path = folder / "a.mat";
  for (const MatVersion version : {MatVersion::v5, MatVersion::v5_packed, MatVersion::v73}) {
    write_eeglab(path, version, example(9, 3));
    expect_robust(path, {2000, kPacked, false, ":EEG.data"});
  }
}

TEST_F(DamagedFiles, MatlabVersion73) {
  const auto path = folder / "a.mat";
  write_mat(path, MatVersion::v73, example(9, 3));
  expect_cuts_rejected(path, 10);
  expect_robust(path, {3000, kPacked});
}

TEST_F(DamagedFiles, Hdf5) {
  const auto path = folder / "a.h5";
  for (const Hdf5Layout& layout :
       {Hdf5Layout{}, Hdf5Layout{4, 2, false, false, false, false}, Hdf5Layout{4, 2, true, true, true, false}}) {
    write_hdf5(path, example(9, 3), layout);
    expect_cuts_rejected(path, 10);
    expect_robust(path, {2500, kPacked});
  }
}

TEST_F(DamagedFiles, Model) {
  const auto path = folder / "model.h5";
  ModelFile model = example_model(NoiseType::full, SlabType::full);
  model.recording = Recording{2, 1, 2, {"left", "right"}, 250};
  save_model(path, model);
  expect_robust(path, {2500, kPacked, true});
}

}  // namespace
}  // namespace gsc::test
