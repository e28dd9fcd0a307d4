// Tables in MATLAB and HDF5 files, as matio, the HDF5 library and MATLAB itself write them.

#include <gsc/files.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "io_support.h"

namespace gsc::test {
namespace {

class Matlab : public ::testing::TestWithParam<MatVersion> {
 protected:
  std::string path() const { return (folder / "a.mat").string(); }
  TemporaryFolder folder;
};

TEST_P(Matlab, ReadsTheOnlyMatrix) {
  const Matrix x = example(7, 3);
  write_mat(path(), GetParam(), x);
  EXPECT_EQ(read_all(path()), x);
  EXPECT_EQ(read_all(path() + ":x"), x);
  EXPECT_EQ(open_data(path())->name(), path() + ":x");
  expect_says(open_error(path() + ":y"), "no variable 'y'");
}

TEST_P(Matlab, OtherKindsAreRefusedByName) {
  const Matrix x = example(7, 3);
  write_mat(path(), GetParam(), x, true);
  EXPECT_EQ(read_all(path() + ":x"), x);
  EXPECT_EQ(read_all(path() + ":small"), (Matrix(2, 2) << -300, 3, 2, 4).finished());
  const std::string ambiguous = open_error(path());
  for (const char* name : {"x", "small", "say which"}) expect_says(ambiguous, name);
  const std::pair<const char*, const char*> kinds[] = {{"structure", "structure"},
                                                       {"cells", "cell"},
                                                       {"complex", "complex double"},
                                                       {"cube", "3 dimensions"},
                                                       {"sparse", "sparse"}};
  for (const auto& [name, kind] : kinds) {
    const std::string message = open_error(path() + ":" + name);
    expect_says(message, path() + ":" + name);
    expect_says(message, kind);
    expect_says(message,
                std::string(name) == "structure" ? "as in " + path() + ":structure.field" : "MATLAB");  // what to do
  }
  expect_says(open_error(path() + ":text"), GetParam() == MatVersion::v73 ? "char" : "text");
}

TEST_P(Matlab, FieldsOfStructures) {
  const Matrix x = example(4, 60);
  const std::string eeg = (folder / "rest.set").string();
  write_eeglab(eeg, GetParam(), x);
  EXPECT_EQ(read_all(eeg + ":EEG.data"), x);
  EXPECT_EQ(read_all(eeg + ":/EEG/data"), x);
  EXPECT_EQ(open_data(eeg + ":EEG.data")->name(), eeg + ":EEG.data");
  EXPECT_EQ(read_all(eeg + ":EEG.etc.weights"), Matrix::Identity(2, 2));
  EXPECT_EQ(read_all(eeg + ":EEG.srate"), Matrix::Constant(1, 1, 250));

  // Whatever is asked for instead, the message says what can be read, the largest first.
  for (const std::string wanted : {"", ":EEG", ":EEG.dat", ":EGG"}) {
    const std::string message = open_error(eeg + wanted);
    expect_says(message, eeg);
    expect_says(message,
                "fields that can be read: EEG.data (4 x 60 double), EEG.etc.weights (2 x 2 double), EEG.srate");
  }
  expect_says(open_error(eeg), "as in " + eeg + ":EEG.data");
  expect_says(open_error(eeg + ":EEG"), "is a structure, so name a field, as in " + eeg + ":EEG.data");
  expect_says(open_error(eeg + ":EEG.dat"), "holds no field 'EEG.dat'");
  expect_says(open_error(eeg + ":EEG.data.x"), "not a structure");
  expect_says(open_error(eeg + ":EEG.setname"), "MATLAB");
  // In version 7.3 the fields of such an array are lists of references.
  expect_says(open_error(eeg + ":EEG.chanlocs.theta"),
              GetParam() == MatVersion::v73 ? "references" : "array of 1 x 2 structures");

  if (GetParam() == MatVersion::v5_packed) return;  // matio packs text of more than four letters wrongly
  write_eeglab(eeg, GetParam(), x, "rest.fdt");
  const std::string elsewhere = open_error(eeg + ":EEG.data");
  for (const char* part : {"'rest.fdt'", "another file", "onefile"}) expect_says(elsewhere, part);
}

INSTANTIATE_TEST_SUITE_P(Versions, Matlab, ::testing::Values(MatVersion::v5, MatVersion::v5_packed, MatVersion::v73),
                         [](const auto& test) {
                           return test.param == MatVersion::v5          ? "v5"
                                  : test.param == MatVersion::v5_packed ? "v5_packed"
                                                                        : "v73";
                         });

/// A version 5 file with one int16 matrix `ab` (2 x 2) in big-endian byte order, by hand.
std::string big_endian_mat() {
  std::string file(124, ' ');
  const auto word = [&](std::uint32_t value) {
    for (const int shift : {24, 16, 8, 0}) file += static_cast<char>(value >> shift & 0xff);
  };
  file += std::string("\x01\x00MI", 4);
  word(14), word(56);  // matrix, bytes that follow
  word(6), word(8);    // uint32
  word(10), word(0);   // class int16
  word(5), word(8);    // int32
  word(2), word(2);    // dimensions
  word(2U << 16 | 1);  // two bytes of int8, small form
  file += std::string("ab\0\0", 4);
  word(3), word(8);  // int16
  file += std::string("\x00\x01\xff\xfe\x00\x03\x01\x00", 8);
  return file;
}

TEST(MatlabFiles, BigEndian) {
  const TemporaryFolder folder;
  const std::string path = write_file(folder / "big.mat", big_endian_mat()).string();
  EXPECT_EQ(read_all(path + ":ab"), (Matrix(2, 2) << 1, 3, -2, 256).finished());
}

TEST(MatlabFiles, ErrorsSayWhatIsWrong) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& bytes) { return open_error(write_file(folder / "a.mat", bytes).string()); };
  expect_says(error("short"), "too short");
  expect_says(error(std::string(200, 'x')), "not a MATLAB file");
  std::string file = big_endian_mat();
  expect_says(error(file.substr(0, file.size() - 3)), "damaged or cut off");
  file[128 + 8 + 16 + 8] = 1;  // 16777218 rows
  expect_says(error(file), "promises 16777218 x 2 numbers");
  expect_says(error(big_endian_mat().substr(0, 128)), "holds no real numeric matrix");
}

/// The files that the experiments use, where they are to be found.
TEST(MatlabFiles, IcalabShapes) {
  const char* const data = std::getenv("GSC_DATA");
  const std::filesystem::path folder = std::filesystem::path(data != nullptr ? data : "") / "icalab";
  if (data == nullptr || !std::filesystem::exists(folder))
    GTEST_SKIP() << "set GSC_DATA to the folder with the benchmark data to run this test";
  const struct {
    const char* file;
    const char* variable;
    Index rows, cols;
  } known[] = {{"10halo.mat", "shalo", 10, 6000},   {"Speech20.mat", "s20i", 20, 3500},
               {"EEG19.mat", "EEG19", 19, 2048},    {"Sergio7.mat", "source", 7, 10000},
               {"Speech4.mat", "Speech4", 4, 5000}, {"c5signals.mat", "selected_signals", 5, 5000}};
  for (const auto& [file, variable, rows, cols] : known) {
    const auto table = open_data((folder / file).string() + ":" + variable);
    EXPECT_EQ(table->rows(), rows) << file;
    EXPECT_EQ(table->cols(), cols) << file;
    const Matrix values = read_all(*table);
    EXPECT_TRUE(values.allFinite()) << file;
    EXPECT_LT(values.cwiseAbs().maxCoeff(), 1e5) << file;
    EXPECT_GT(values.cwiseAbs().maxCoeff(), 1e-2) << file;
  }
  // Known facts tell a right byte order from a wrong one.
  const Matrix speech = read_all((folder / "Speech20.mat").string() + ":s20i");
  const Vector power = speech.array().square().rowwise().mean();
  EXPECT_NEAR(power.minCoeff(), 1, 0.05);
  EXPECT_NEAR(power.maxCoeff(), 1, 0.05);
}

class Hdf5 : public ::testing::Test {
 protected:
  std::string path() const { return (folder / "a.h5").string(); }
  TemporaryFolder folder;
};

TEST_F(Hdf5, EveryLayoutIsReadInBlocks) {
  const Matrix x = example(23, 7);
  const Hdf5Layout layouts[] = {{},
                                {4, 3, false, false, false, false},
                                {4, 3, true, false, false, false},
                                {4, 3, true, true, false, false},
                                {23, 1, true, true, true, false},
                                {100, 100, true, true, true, false},
                                {5, 7, false, false, true, false}};
  for (const Hdf5Layout& layout : layouts) {
    write_hdf5(path(), x, layout);
    for (const Index block : {1, 4, 23}) EXPECT_EQ(read_all(*open_data(path()), block), x);
    EXPECT_EQ(read_all(path() + ":/group/x"), x);
    EXPECT_EQ(read_all(path() + ":group/x"), x);
    Matrix wide = Matrix::Zero(6, 9);
    open_data(path())->read(3, wide.middleCols(1, 7));
    EXPECT_EQ(wide.middleCols(1, 7), x.middleRows(3, 6));
    EXPECT_TRUE(wide.col(8).isZero());
  }
  write_hdf5(path(), x, {4, 3, true, true, true, true});
  EXPECT_EQ(read_all(path()), x.cast<float>().cast<double>());
}

TEST_F(Hdf5, ThreadsReadTheSameFile) {
  const Matrix x = example(400, 5);
  write_hdf5(path(), x, {16, 5, true, true, false, false});
  const auto data = open_data(path());
  Matrix result = Matrix::Zero(400, 5);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (Index first = 10 * t; first < 400; first += 40) data->read(first, result.middleRows(first, 10));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(result, x);
}

TEST_F(Hdf5, DamagedNumbersFailTheirChecksum) {
  const Matrix x = example(8, 8);
  write_hdf5(path(), x, {8, 8, false, false, true, false});
  std::string bytes = read_file(path());
  const std::string numbers(reinterpret_cast<const char*>(x.data()), 8);
  const std::size_t at = bytes.find(numbers);
  ASSERT_NE(at, std::string::npos);
  bytes[at] = static_cast<char>(bytes[at] ^ 4);
  write_file(path(), bytes);
  expect_says(open_error(path()), "checksum");
}

TEST_F(Hdf5, ErrorsSayWhatIsThere) {
  expect_says(open_error(write_file(folder / "b.hdf5", "not HDF5").string()),
              "is not HDF5: by its first bytes it is text");
  write_hdf5(path(), example(2, 2));
  expect_says(open_error(path() + ":/absent"), "/group/x");
  expect_says(open_error(path() + ":/group"), "is a group");
  const Matrix x = example(8, 1);
  write_arrays(path(), {{"deep/cube", {2, 2, 2}, x.data(), nullptr}});
  expect_says(open_error(path()), "/deep/cube (2 x 2 x 2 float64)");
  expect_says(open_error(path() + ":deep/cube"), "3 dimensions");
}

}  // namespace
}  // namespace gsc::test
