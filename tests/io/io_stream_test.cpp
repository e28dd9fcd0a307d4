// Tables through pipes, text with several arrays side by side, tables turned round, and what files are by their bytes.

#include <gsc/files.h>
#include <gsc/streams.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "io/write_table.h"
#include "io_support.h"

namespace gsc::test {
namespace {

#define expect_says(message, part) EXPECT_NE((message).find(part), std::string::npos) << "the message is: " << (message)

/// What comes out of read_stream() when `bytes` go into a pipe.
std::unique_ptr<Data> through_a_pipe(const std::string& bytes, std::optional<StreamFormat> format = {}) {
  ::signal(SIGPIPE, SIG_IGN);  // the reader may give up before the end
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  std::thread writer([&] {
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t count = ::write(ends[1], bytes.data() + done, bytes.size() - done);
      if (count <= 0) break;
      done += static_cast<std::size_t>(count);
    }
    ::close(ends[1]);
  });
  std::unique_ptr<Data> data;
  std::exception_ptr thrown;
  try {
    data = read_stream(ends[0], format, "the pipe");
  } catch (...) {
    thrown = std::current_exception();
  }
  ::close(ends[0]);
  writer.join();
  if (thrown) std::rethrow_exception(thrown);
  return data;
}

std::string npy_of(const Matrix& x) {
  std::string bytes;
  write_npy([&](std::string_view piece) { bytes += piece; }, named("x", x));
  return bytes;
}

TEST(Stream, FormatsAreGuessed) {
  const Matrix x = example(5, 3);
  EXPECT_EQ(read_all(*through_a_pipe(npy_of(x))), x);
  const Matrix two = (Matrix(2, 2) << 1, 2, 3, 4).finished();
  EXPECT_EQ(read_all(*through_a_pipe("1,2\n3,4\n")), two);
  EXPECT_EQ(read_all(*through_a_pipe("a;b\n1;2\n3;4")), two);
  EXPECT_EQ(read_all(*through_a_pipe("# from there\na\tb\n1\t2\n3\t4\n")), two);
  EXPECT_EQ(read_all(*through_a_pipe("1\t2\n3\t4\n", StreamFormat::tsv)), two);
  EXPECT_EQ(through_a_pipe("1,2\n3,4\n")->name(), "the pipe");
}

TEST(Stream, ErrorsNameIt) {
  const auto error = [](const std::string& bytes, std::optional<StreamFormat> format = {}) {
    return error_of([&] { through_a_pipe(bytes, format); });
  };
  expect_says(error(""), "the pipe: is empty");
  expect_says(error("", StreamFormat::csv), "the pipe: is empty");
  expect_says(error("1,2\n3\n"), "the pipe:2: expected 2 columns");
  expect_says(error(npy_of(example(5, 3)).substr(0, 150)), "the pipe: promises 5 x 3 numbers");
  expect_says(error("1,2\n3,4\n", StreamFormat::npy), "the pipe: is not a .npy array but text");
  expect_says(error(npy_of(example(5, 3)), StreamFormat::csv), "not a table in text but a NumPy array");
  expect_says(error("\x89HDF\r\n\x1a\n and so on"), "an HDF5 file; only text and .npy can be read so");
}

TEST(Stream, WhatIsLargeGoesThroughAFileWithoutAName) {
  const TemporaryFolder folder;
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  ASSERT_EQ(::setenv("TMPDIR", folder.path().c_str(), 1), 0);
  const Matrix x = Matrix::Random(9000, 1000);  // 72 MB
  const std::unique_ptr<Data> data = through_a_pipe(npy_of(x));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_EQ(read_all(*data, 1000), x);
  // Where there is no such folder, nothing can be kept, and the message says how to help it.
  ASSERT_EQ(::setenv("TMPDIR", "/proc", 1), 0);
  const std::string message = error_of([&] { through_a_pipe(npy_of(x)); });
  expect_says(message, "cannot be kept in the folder /proc");
  expect_says(message, "TMPDIR");
  before != nullptr ? ::setenv("TMPDIR", kept.c_str(), 1) : ::unsetenv("TMPDIR");
}

TEST(Text, ArraysSideBySideReadBack) {
  const TemporaryFolder folder;
  Matrix mean = example(4, 2), probability = example(4, 3);
  mean(0, 0) = 1e-310;
  mean(1, 1) = -1e300;
  const Vector likelihood = example(4, 1).col(0);
  const std::vector<std::int32_t> states = {0, 1, 2, 3, 4, 5, 6, 7, -1, 9, 10, 11, 12, 13, 14, 15};
  const std::vector<NamedArray> arrays = {named("mean", mean),
                                          named("probability", probability),
                                          named("log_likelihood", likelihood),
                                          {"states", {4, 2, 2}, nullptr, states.data()}};
  for (const std::string name : {"a.csv", "a.tsv"}) {
    const std::string path = (folder / name).string();
    write_arrays(path, arrays);
    const char separator = name == "a.csv" ? ',' : '\t';
    std::string header = "mean_0,mean_1,probability_0,probability_1,probability_2,log_likelihood,";
    header += "states_0_0,states_0_1,states_1_0,states_1_1\n";
    std::replace(header.begin(), header.end(), ',', separator);
    EXPECT_EQ(read_file(path).substr(0, header.size()), header);
    const Matrix read = read_all(path);
    ASSERT_EQ(read.rows(), 4);
    ASSERT_EQ(read.cols(), 10);
    EXPECT_EQ(read.leftCols(2), mean);
    EXPECT_EQ(read.middleCols(2, 3), probability);
    EXPECT_EQ(read.col(5), likelihood);
    EXPECT_EQ(read(2, 6), -1);
    EXPECT_EQ(read(3, 9), 15);
  }
  const Vector longer = example(5, 1).col(0);
  const std::string message = error_of([&] {
    write_arrays(folder / "b.csv", {named("mean", mean), named("longer", longer)});
  });
  expect_says(message, "'mean' has 4 rows, 'longer' has 5");
  EXPECT_FALSE(std::filesystem::exists(folder / "b.csv"));
}

TEST(Transposed, OfEveryKindOfTable) {
  const TemporaryFolder folder;
  const Matrix x = example(7, 3);
  write_arrays(folder / "a.npy", {named("x", x)});
  write_mat(folder / "a.mat", MatVersion::v5, x);
  write_hdf5(folder / "a.h5", x, {4, 2, true, true, true, false});
  for (const std::string name : {"a.npy", "a.mat", "a.h5"}) {
    const std::string location = (folder / name).string();
    const std::unique_ptr<Data> turned = transposed(open_data(location));
    EXPECT_EQ(turned->rows(), 3) << name;
    EXPECT_EQ(turned->cols(), 7) << name;
    EXPECT_EQ(turned->name(), open_data(location)->name());
    EXPECT_EQ(read_all(*turned, 2), x.transpose()) << name;
    EXPECT_EQ(read_all(*transposed(transposed(open_data(location)))), x) << name;
  }
}

TEST(FileKind, ByTheFirstBytes) {
  const auto kind = [](const std::string& bytes) { return recognise(std::as_bytes(std::span(bytes))).kind; };
  const std::string zeros(20, '\0');
  EXPECT_EQ(kind(""), FileKind::empty);
  EXPECT_EQ(kind("1,2\n"), FileKind::text);
  EXPECT_EQ(kind("ID3,P5\n1,2\n"), FileKind::text);  // a header may look like somebody's mark
  EXPECT_EQ(kind("P5\n3\n"), FileKind::text);
  EXPECT_EQ(kind("P5\n2 2\n255\n" + zeros), FileKind::picture);
  EXPECT_EQ(kind("\x89PNG\r\n\x1a\n"), FileKind::picture);
  EXPECT_EQ(kind("RIFF1234WAVE" + zeros), FileKind::sound);
  EXPECT_EQ(kind("RIFF1234WEBP" + zeros), FileKind::picture);
  EXPECT_EQ(kind("RIFF1234" + zeros), FileKind::unknown);
  EXPECT_EQ(kind("ID3" + zeros), FileKind::sound);
  EXPECT_EQ(kind(npy_of(example(2, 2))), FileKind::npy);
  EXPECT_EQ(kind("\x01\x02\x03"), FileKind::unknown);
}

TEST(FileKind, MessagesSayWhatAFileIs) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& name, const std::string& bytes) {
    return open_error(write_file(folder / name, bytes).string());
  };
  expect_says(error("a.npy", "1,2\n3,4\n"), "not a .npy array but text");
  expect_says(error("b.npy", ""), "is empty");
  expect_says(error("a.csv", npy_of(example(2, 2))), "not a table in text but a NumPy array (.npy)");
  expect_says(error("a.h5", "1,2\n"), "is not HDF5: by its first bytes it is text");
  expect_says(error("a.npz", "1,2\n"), "by its first bytes it is text");
  expect_says(error("a.dat", "1,2\n"), "(by its first bytes it is text)");
  const auto path = write_file(folder / "bars.npy", npy_of(example(2, 2)));
  const std::string model = error_of([&] { load_model(path); });
  expect_says(model, "not a model file: by its first bytes it is a NumPy array (.npy)");
  expect_says(model, "gsc fit");
}

#undef expect_says

}  // namespace
}  // namespace gsc::test
