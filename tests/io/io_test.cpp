// Tables in files: .npy, .npz, .csv, .tsv; finding the format; writing arrays, and writing where that fails.

#include <gsc/files.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>

#include "io/atomic_file.h"
#include "io_support.h"

namespace gsc::test {
namespace {

using ::testing::Test;

/// The bytes of `values` as numbers of type T, each reversed if `big_endian`.
template <class T>
std::string stored(const std::vector<double>& values, bool big_endian = false) {
  std::string bytes;
  for (const double value : values) {
    const auto number = static_cast<T>(value);
    char raw[sizeof(T)];
    std::memcpy(raw, &number, sizeof(T));
    if (big_endian) std::reverse(raw, raw + sizeof(T));
    bytes.append(raw, sizeof(T));
  }
  return bytes;
}

std::string dictionary(const std::string& type, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }\n";
}

class Files : public Test {
 protected:
  std::string npy(const std::string& header, std::string_view values, char version = 1) {
    return write_file(folder / "a.npy", npy_bytes(header, values, version)).string();
  }
  std::string csv(std::string_view text, const std::string& name = "a.csv") {
    return write_file(folder / name, text).string();
  }
  TemporaryFolder folder;
};

TEST_F(Files, WrittenArraysAreReadBackBitForBit) {
  Matrix x = example(13, 4);
  x(0, 0) = std::numeric_limits<double>::denorm_min();
  x(1, 1) = -std::numeric_limits<double>::max();
  x(2, 2) = 0.1;
  x(3, 3) = -0.0;
  for (const char* name : {"x.npy", "x.npz", "x.csv", "x.tsv", "x.h5", "X.NPY"}) {
    const auto path = folder / name;
    write_arrays(path, {named("x", x)});
    const Matrix back = read_all(path.string());
    ASSERT_EQ(back.rows(), 13) << name;
    ASSERT_EQ(back.cols(), 4) << name;
    EXPECT_EQ(std::memcmp(back.data(), x.data(), sizeof(double) * 52), 0) << name;
  }
}

TEST_F(Files, SeveralArraysIntegersAndVectors) {
  const Matrix x = example(6, 2);
  const Vector v = example(5, 1).col(0);
  const std::int32_t integers[] = {1, -2, 3, 4, 5, -2147483647};
  for (const char* name : {"x.npz", "x.h5"}) {
    const std::string path = (folder / name).string();
    const NamedArray counts{"counts", {2, 3}, nullptr, integers};
    write_arrays(path, {named("x", x), named("v", v), counts});
    EXPECT_EQ(read_all(path + ":x"), x);
    EXPECT_EQ(read_all(path + ":v"), Matrix(v));
    EXPECT_EQ(read_all(path + ":counts")(1, 2), -2147483647);
    const std::string message = open_error(path);
    expect_says(message, path);
    for (const char* array : {"counts", "v", "x"}) expect_says(message, array);
    expect_says(open_error(path + ":nothing"), "'nothing'");
  }
  EXPECT_EQ(read_all((folder / "x.npz").string() + ":x.npy"), x);
}

TEST_F(Files, NpyTypesAndByteOrders) {
  const std::vector<double> values = {1, 0, 3, 100, 5, 6};
  const Matrix expected = (Matrix(2, 3) << 1, 0, 3, 100, 5, 6).finished();
  const auto check = [&](const std::string& type, const std::string& bytes) {
    EXPECT_EQ(read_all(npy(dictionary(type, "(2, 3)"), bytes)), expected) << type;
  };
  check("|i1", stored<std::int8_t>(values));
  check("|u1", stored<std::uint8_t>(values));
  check("<i2", stored<std::int16_t>(values));
  check(">i2", stored<std::int16_t>(values, true));
  check("<u2", stored<std::uint16_t>(values));
  check("<i4", stored<std::int32_t>(values));
  check(">i4", stored<std::int32_t>(values, true));
  check(">u4", stored<std::uint32_t>(values, true));
  check("<i8", stored<std::int64_t>(values));
  check(">u8", stored<std::uint64_t>(values, true));
  check("<f4", stored<float>(values));
  check(">f4", stored<float>(values, true));
  check("<f8", stored<double>(values));
  check(">f8", stored<double>(values, true));
  check("=f8", stored<double>(values));
  EXPECT_EQ(read_all(npy(dictionary("|b1", "(2,)"), std::string("\1\0", 2))), (Matrix(2, 1) << 1, 0).finished());
  // Halves: 1.5, -2, the smallest subnormal, infinity.
  const std::string halves("\x00\x3e\x00\xc0\x01\x00\x00\x7c", 8);
  EXPECT_EQ(read_all(npy(dictionary("<f2", "(4,)"), halves)),
            (Matrix(4, 1) << 1.5, -2, std::ldexp(1, -24), std::numeric_limits<double>::infinity()).finished());
}

TEST_F(Files, NpyOrdersVersionsAndShapes) {
  const std::vector<double> values = {1, 2, 3, 4, 5, 6};
  const Matrix by_column = (Matrix(3, 2) << 1, 4, 2, 5, 3, 6).finished();
  const std::string fortran = npy(dictionary("<f8", "(3, 2)", true), stored<double>(values));
  for (const Index block : {1, 2, 3}) EXPECT_EQ(read_all(*open_data(fortran), block), by_column);
  for (const char version : {'\1', '\2', '\3'})
    EXPECT_EQ(read_all(npy(dictionary("<f8", "(2, 3)"), stored<double>(values), version))(1, 0), 4);
  EXPECT_EQ(read_all(npy(dictionary("<f8", "()"), stored<double>({7}))), Matrix::Constant(1, 1, 7));
  const auto vector = open_data(npy(dictionary("<f8", "(6,)"), stored<double>(values)));
  EXPECT_EQ(vector->rows(), 6);
  EXPECT_EQ(vector->cols(), 1);
  // A block inside a larger matrix has a stride of its own.
  Matrix wide = Matrix::Zero(2, 5);
  open_data(npy(dictionary("<f8", "(2, 3)"), stored<double>(values)))->read(0, wide.middleCols(1, 3));
  EXPECT_EQ(wide, (Matrix(2, 5) << 0, 1, 2, 3, 0, 0, 4, 5, 6, 0).finished());
}

TEST_F(Files, NpyErrorsNameFileAndProblem) {
  const std::string eight = stored<double>({1});
  const auto error = [&](const std::string& header, std::string_view values) {
    const std::string message = open_error(npy(header, values));
    expect_says(message, "a.npy");
    return message;
  };
  expect_says(error(dictionary("<f8", "(1, 1, 1)"), eight), "3 dimensions");
  expect_says(error(dictionary("<f8", "(2, 1)"), eight), "only 8 bytes follow");
  expect_says(error(dictionary("<f8", "(4611686018427387904, 4)"), eight), "only 8 bytes follow");
  expect_says(error(dictionary("<f8", "(99999999999999999999999,)"), eight), "damaged");
  expect_says(error(dictionary("<f8", "(0, 5)"), ""), "no numbers");
  expect_says(error(dictionary("<c16", "(1,)"), eight + eight), "'<c16'");
  expect_says(error(dictionary("|O", "(1,)"), eight), "'|O'");
  expect_says(error("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", eight), "records");
  expect_says(error("{'descr': '<f8', 'shape': (1,), }", eight), "damaged");
  expect_says(open_error(npy(dictionary("<f8", "(1,)"), eight, 9)), "version 9");
  expect_says(open_error(write_file(folder / "b.npy", "hello").string()), "is not a .npy");
  expect_says(open_error(write_file(folder / "b.npy", "").string()), "is empty");
}

TEST_F(Files, CsvForms) {
  const Matrix expected = (Matrix(2, 3) << 1, -2.5, 3e-3, 4, 5, 6).finished();
  for (const std::string_view text :
       {"1,-2.5,3e-3\n4,5,6\n", "1,-2.5,3e-3\n4,5,6", "a,b,c\n1,-2.5,3e-3\n4,5,6\n", "1;-2.5;3e-3\r\n4;5;6\r\n",
        "\xEF\xBB\xBF# note\n\n  \n\"a\",\"b\",\"c\"\n\"1\", -2.5 ,'3e-3'\n# more\n+4,5,6.0\n\n"})
    EXPECT_EQ(read_all(csv(text)), expected) << text;
  EXPECT_EQ(read_all(csv("1\t-2.5\t3e-3\n4\t5\t6\n", "a.TSV")), expected);
  EXPECT_EQ(read_all(csv("x\n1\n2\n")), (Matrix(2, 1) << 1, 2).finished());
  EXPECT_EQ(read_all(csv("1e-400,2\n")), (Matrix(1, 2) << 0, 2).finished());
  const Matrix odd = read_all(csv("nan,inf\n-Inf,NaN\n"));
  EXPECT_TRUE(std::isnan(odd(0, 0)) && std::isnan(odd(1, 1)));
  EXPECT_EQ(odd(0, 1), std::numeric_limits<double>::infinity());
  EXPECT_EQ(odd(1, 0), -std::numeric_limits<double>::infinity());
}

TEST_F(Files, CsvValuesThatAreNotThereAreNaN) {
  const auto places = [&](std::string_view text, const std::string& name = "a.csv") {
    std::string found;
    const Matrix values = read_all(csv(text, name));
    for (Index i = 0; i < values.rows(); ++i) {
      for (Index d = 0; d < values.cols(); ++d) found += std::isnan(values(i, d)) ? '-' : '1';
      found += ' ';
    }
    return found;
  };
  for (const std::string sign : {"", " ", "NA", "N/A", "n/a", "<NA>", "null", "NULL", "nan", "NaN", "\"\"", "\"NA\""}) {
    EXPECT_EQ(places("1," + sign + "\n3,4\n"), "1- 11 ") << sign;
    EXPECT_EQ(places(sign + ";2\n3;4\n"), "-1 11 ") << sign;
    EXPECT_EQ(places("a,b\n" + sign + "," + sign + "\r\n3,4\r\n"), "-- 11 ") << sign;
  }
  EXPECT_EQ(places("\t2\n3\t\n\t\n\n4\t5\n", "a.tsv"), "-1 1- -- 11 ");
  EXPECT_EQ(places("x\n1\n\"\"\n\n3\n"), "1 - 1 ") << "an empty line is no row";
  EXPECT_EQ(places("NA,1\n2,3\n"), "-1 11 ") << "no header";
  EXPECT_EQ(open_data(csv("K,Na,NA\n1,2,3\n"))->column_names(), (std::vector<std::string>{"K", "Na", "NA"}));
  // Where every line ends with a separator that is no column, unless it has a name.
  EXPECT_EQ(places("1,2,\n3,,\n"), "11 1- ");
  EXPECT_EQ(places("a,b\n1,2,\n3,4,\n"), "11 11 ");
  EXPECT_EQ(open_data(csv("a,b,\n1,2,\n"))->column_names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(places("a,b,c\n1,2,\n3,4,\n"), "11- 11- ");
  EXPECT_EQ(places("1,2,\n3,4,NA\n"), "11- 11- ");
  EXPECT_EQ(places("1,\n2,3\n"), "1- 11 ");
  expect_says(open_error(csv("1,2,\n3,4\n")), "a.csv:2: expected 3 columns, found 2");
}

TEST_F(Files, CsvErrorsNameLineAndColumn) {
  expect_says(open_error(csv("1,2,3\n\n4,5\n")), "a.csv:3: expected 3 columns, found 2");
  expect_says(open_error(csv("a,b\n1,2\n3,4,5\n")), "a.csv:3: expected 2 columns, found 3");
  expect_says(open_error(csv("1,2\n3,oops\n")), "a.csv:2: column 2: 'oops' is not a number");
  expect_says(open_error(csv("1,b\n3,4\n")), "a.csv:1: column 2: 'b'");
  expect_says(open_error(csv("1,5;2,5\n")), "a.csv:1: column 1: '1,5'");
  expect_says(open_error(csv("1,1e999\n")), "'1e999' is beyond");
  expect_says(open_error(csv("1,2\n3,4x\n")), "'4x'");
  expect_says(open_error(csv("")), "is empty");
  expect_says(open_error(csv("a,b\n")), "no rows of numbers");
  expect_says(open_error(csv("\xFF\xFE"
                             "1")),
              "UTF-16");
  expect_says(open_error(csv("1 2\n3 4\n")), "separated by commas");
}

TEST_F(Files, FindsFormatAndFile) {
  expect_says(open_error((folder / "absent.npy").string()), "there is no such file");
  expect_says(open_error((folder / "absent.npz:x").string()), "there is no such file");
  expect_says(open_error(folder.path().string()), "is a folder");
  const std::string unknown = open_error(csv("1", "a.xyz"));
  for (const char* extension : {".xyz", ".npy", ".npz", ".csv", ".tsv", ".mat", ".h5"}) expect_says(unknown, extension);
  expect_says(open_error(csv("1", "plain")), "without extension");
  expect_says(open_error(csv("1\n2\n") + ":x"), "leave out ':x'");
  // A colon in the name of the file itself, with and without an array behind it.
  EXPECT_EQ(read_all(csv("1\n2\n", "a:b.csv")).rows(), 2);
  write_arrays(folder / "a:b.npz", {named("c:d", example(2, 2))});
  EXPECT_EQ(read_all((folder / "a:b.npz").string() + ":c:d"), example(2, 2));
  EXPECT_EQ(open_data((folder / "a:b.npz").string())->name(), (folder / "a:b.npz").string() + ":c:d");
}

TEST_F(Files, NpzErrors) {
  expect_says(open_error(write_file(folder / "a.npz", "no archive").string()), "a.npz");
  // Damage to the numbers is found by the archive's checksum.
  const auto path = folder / "x.npz";
  write_arrays(path, {named("x", example(20, 20))});
  std::string bytes = read_file(path);
  bytes[1000] = static_cast<char>(bytes[1000] ^ 1);
  expect_says(open_error(write_file(path, bytes).string()), "x.npz:x");
}

TEST_F(Files, RefusesWhatItCannotWrite) {
  const Matrix x = example(2, 2);
  const std::vector<NamedArray> two = {named("a", x), named("b", x)};
  expect_says(error_of([&] { write_arrays(folder / "a.npy", two); }), "2 are to be written");
  expect_says(error_of([&] { write_arrays(folder / "a.xls", two); }), "'.xls'");
  const NamedArray cube{"cube", {1, 2, 2}, x.data(), nullptr};
  expect_says(error_of([&] { write_arrays(folder / "a.csv", {cube}); }), "3 dimensions");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  write_arrays(folder / "cube.npy", {cube});
  expect_says(open_error((folder / "cube.npy").string()), "3 dimensions (1 x 2 x 2)");
}

TEST_F(Files, UnwritableTargets) {
  const std::vector<NamedArray> x = {{"x", {0}, nullptr, nullptr}};
  std::filesystem::create_directories(folder / "dir.npy");
  expect_says(error_of([&] { write_arrays(folder / "dir.npy", x); }), "is a folder");
  const std::string message = error_of([&] { write_arrays(folder / "absent/x.npy", x); });
  expect_says(message, "absent/x.npy");
  expect_says(message, "create the folder first");
  expect_says(error_of([&] { AtomicFile file("/dev/null"); }), "not a regular file");
  if (::geteuid() == 0) GTEST_SKIP() << "root may write to every folder";
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  expect_says(error_of([&] { write_arrays(folder / "x.npy", x); }), "folder that you may change");
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
}

TEST_F(Files, FullDiskLeavesTheOldFile) {
  // A limit on the size of files is what a full disk looks like to a writer.
  const Matrix x = example(100, 100);
  for (const char* name : {"x.npy", "x.npz", "x.csv", "x.h5"}) {
    const auto path = write_file(folder / name, "the old file");
    rlimit old{};
    ::getrlimit(RLIMIT_FSIZE, &old);
    const rlimit small{20000, old.rlim_max};
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &small);
    const std::string message = error_of([&] { write_arrays(path, {named("x", x)}); });
    ::setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, handler);
    expect_says(message, path.string());
    expect_says(message, "make room");
    EXPECT_EQ(read_file(path), "the old file");
    std::filesystem::remove(path);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << name << " left something behind";
  }
}

TEST_F(Files, ReplacingKeepsLinksAndPermissions) {
  using std::filesystem::perms;
  const auto path = write_file(folder / "x.npy", "old");
  std::filesystem::permissions(path, perms::owner_read | perms::owner_write);
  std::filesystem::create_symlink(path, folder / "link.npy");
  write_arrays(folder / "link.npy", {named("x", example(2, 2))});
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.npy"));
  EXPECT_EQ(read_all(path.string()), example(2, 2));
  EXPECT_EQ(std::filesystem::status(path).permissions(), perms::owner_read | perms::owner_write);
  { AtomicFile abandoned(path); }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2);
}

}  // namespace
}  // namespace gsc::test
