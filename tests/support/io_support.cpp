#include "io_support.h"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <matio.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <iterator>
#include <vector>

namespace gsc::test {

TemporaryFolder::TemporaryFolder() {
  static std::atomic<int> counter{0};
  path_ = std::filesystem::temp_directory_path() /
          ("gsc_io_" + std::to_string(::getpid()) + "_" + std::to_string(counter++));
  std::filesystem::create_directories(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::filesystem::path write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

Matrix read_all(const Data& data, Index block) {
  Matrix result(data.rows(), data.cols());
  for (Index first = 0; first < data.rows(); first += block)
    data.read(first, result.middleRows(first, std::min(block, data.rows() - first)));
  return result;
}

Matrix read_all(const std::string& location) { return read_all(*open_data(location)); }

std::string open_error(const std::string& location) {
  return error_of([&] { read_all(location); });
}

Matrix example(Index rows, Index cols) {
  Matrix values(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) values(i, j) = std::sin(static_cast<double>(1 + i * cols + j)) * 1e3;
  return values;
}

std::string npy_bytes(const std::string& dictionary, std::string_view values, char version) {
  std::string header("\x93NUMPY", 6);
  header += version;
  header += '\0';
  header += static_cast<char>(dictionary.size() & 0xff);
  header += static_cast<char>(dictionary.size() >> 8);
  if (version > 1) header += std::string(2, '\0');
  return header + dictionary + std::string(values);
}

void write_mat(const std::filesystem::path& path, MatVersion version, const Matrix& x, bool other_kinds) {
  mat_t* const file = Mat_CreateVer(path.c_str(), nullptr, version == MatVersion::v73 ? MAT_FT_MAT73 : MAT_FT_MAT5);
  ASSERT_NE(file, nullptr);
  const auto write = [&](matvar_t* variable) {
    EXPECT_EQ(
        Mat_VarWrite(file, variable, version == MatVersion::v5_packed ? MAT_COMPRESSION_ZLIB : MAT_COMPRESSION_NONE),
        0);
    Mat_VarFree(variable);
  };
  Eigen::MatrixXd columns = x;  // MATLAB's order
  std::size_t shape[2] = {static_cast<std::size_t>(x.rows()), static_cast<std::size_t>(x.cols())};
  const auto numbers = [&](const char* name) {
    return Mat_VarCreate(name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, shape, columns.data(), 0);
  };
  if (other_kinds) {
    std::size_t text_shape[2] = {1, 5};
    char text[] = "hello";
    write(Mat_VarCreate("text", MAT_C_CHAR, MAT_T_UINT8, 2, text_shape, text, 0));
    const char* fields[] = {"field", nullptr};
    std::size_t one[2] = {1, 1};
    matvar_t* const structure = Mat_VarCreateStruct2("structure", 2, one, fields);
    Mat_VarSetStructFieldByName(structure, "field", 0, numbers("field"));
    write(structure);
    matvar_t* const cell = Mat_VarCreate("cells", MAT_C_CELL, MAT_T_CELL, 2, one, nullptr, 0);
    Mat_VarSetCell(cell, 0, numbers("inside"));
    write(cell);
    mat_complex_split_t parts{columns.data(), columns.data()};
    write(Mat_VarCreate("complex", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, shape, &parts, MAT_F_COMPLEX));
    std::size_t cube[3] = {2, 2, 2};
    write(Mat_VarCreate("cube", MAT_C_DOUBLE, MAT_T_DOUBLE, 3, cube, columns.data(), 0));
    mat_uint32_t rows[] = {0};
    std::vector<mat_uint32_t> starts(shape[1] + 1, 1);
    starts[0] = 0;
    mat_sparse_t sparse{1, rows, 1, starts.data(), static_cast<mat_uint32_t>(starts.size()), 1, columns.data()};
    write(Mat_VarCreate("sparse", MAT_C_SPARSE, MAT_T_DOUBLE, 2, shape, &sparse, 0));
    short small[] = {-300, 2, 3, 4};
    std::size_t square[2] = {2, 2};
    write(Mat_VarCreate("small", MAT_C_INT16, MAT_T_INT16, 2, square, small, 0));
  }
  write(numbers("x"));
  Mat_Close(file);
}

void write_eeglab(const std::filesystem::path& path, MatVersion version, const Matrix& x, const std::string& data) {
  mat_t* const file = Mat_CreateVer(path.c_str(), nullptr, version == MatVersion::v73 ? MAT_FT_MAT73 : MAT_FT_MAT5);
  ASSERT_NE(file, nullptr);
  const auto matrix = [](const char* name, Eigen::MatrixXd columns) {
    std::size_t shape[2] = {static_cast<std::size_t>(columns.rows()), static_cast<std::size_t>(columns.cols())};
    return Mat_VarCreate(name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, shape, columns.data(), 0);
  };
  const auto text = [](const char* name, std::string letters) {
    std::size_t shape[2] = {1, letters.size()};
    return Mat_VarCreate(name, MAT_C_CHAR, MAT_T_UINT8, 2, shape, letters.data(), 0);
  };
  const auto structure = [](const char* name, std::size_t count, std::vector<const char*> fields) {
    std::size_t shape[2] = {1, count};
    return Mat_VarCreateStruct(name, 2, shape, fields.data(), static_cast<unsigned>(fields.size()));
  };
  matvar_t* const eeg = structure("EEG", 1, {"srate", "setname", "data", "etc", "chanlocs"});
  Mat_VarSetStructFieldByName(eeg, "srate", 0, matrix("srate", Eigen::MatrixXd::Constant(1, 1, 250)));
  Mat_VarSetStructFieldByName(eeg, "setname", 0, text("setname", "rest"));
  Mat_VarSetStructFieldByName(eeg, "data", 0, data.empty() ? matrix("data", x) : text("data", data));
  matvar_t* const etc = structure("etc", 1, {"weights"});
  Mat_VarSetStructFieldByName(etc, "weights", 0, matrix("weights", Eigen::Matrix2d::Identity()));
  Mat_VarSetStructFieldByName(eeg, "etc", 0, etc);
  matvar_t* const places = structure("chanlocs", 2, {"theta"});
  for (std::size_t i = 0; i < 2; ++i)
    Mat_VarSetStructFieldByName(places, "theta", i, matrix("theta", Eigen::MatrixXd::Constant(1, 1, 30)));
  Mat_VarSetStructFieldByName(eeg, "chanlocs", 0, places);
  EXPECT_EQ(Mat_VarWrite(file, eeg, version == MatVersion::v5_packed ? MAT_COMPRESSION_ZLIB : MAT_COMPRESSION_NONE), 0);
  Mat_VarFree(eeg);
  Mat_Close(file);
}

void write_hdf5(const std::filesystem::path& path, const Matrix& x, const Hdf5Layout& layout) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t shape[2] = {static_cast<hsize_t>(x.rows()), static_cast<hsize_t>(x.cols())};
  const hsize_t growing[2] = {H5S_UNLIMITED, H5S_UNLIMITED};  // else a chunk may not be larger than the whole
  const hid_t space = H5Screate_simple(2, shape, layout.chunk_rows > 0 ? growing : nullptr);
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  if (layout.chunk_rows > 0) {
    const hsize_t chunk[2] = {static_cast<hsize_t>(layout.chunk_rows), static_cast<hsize_t>(layout.chunk_cols)};
    H5Pset_chunk(properties, 2, chunk);
    if (layout.shuffle) H5Pset_shuffle(properties);
    if (layout.deflate) H5Pset_deflate(properties, 6);
    if (layout.checksum) H5Pset_fletcher32(properties);
  }
  const hid_t dataset = H5Dcreate2(group, "x", layout.single ? H5T_IEEE_F32BE : H5T_IEEE_F64LE, space, H5P_DEFAULT,
                                   properties, H5P_DEFAULT);
  EXPECT_GE(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x.data()), 0);
  H5Dclose(dataset);
  H5Pclose(properties);
  H5Sclose(space);
  H5Gclose(group);
  H5Fclose(file);
}

ModelFile example_model(NoiseType noise, SlabType slab) {
  constexpr Index D = 4;
  constexpr Index H = 3;
  const auto covariance = [](Index size) {
    const Matrix root = example(size, size) / 1e3;
    // Symmetric bit for bit, which a product of two matrices need not be.
    const Matrix product = root * root.transpose() + Matrix::Identity(size, size);
    return Matrix(0.5 * (product + Matrix(product.transpose())));
  };
  ModelFile file;
  Model& model = file.state.model;
  model.W = example(D, H);
  model.pi = Vector::LinSpaced(H, 0.1, 0.7);
  model.mu = example(H, 1).col(0);
  model.slab = slab == SlabType::full ? Slab::full(covariance(H)) : Slab::diagonal(covariance(H).diagonal());
  model.noise = noise == NoiseType::full       ? Noise::full(covariance(D))
                : noise == NoiseType::diagonal ? Noise::diagonal(covariance(D).diagonal())
                                               : Noise::scalar(1.0 / 3, D);
  if (noise == NoiseType::diagonal) file.state.model.intercept = Vector::LinSpaced(D, -1.0 / 3, 2);
  for (int t = 0; t < 3; ++t)
    file.state.history.push_back(
        {t, -1e5 / (t + 1), 0.1 + t, 1.0 / (t + 3), H - t, 0.7 * t, t == 2, t % 2 == 1, 5 * t});
  file.state.method.numbers["slab_acceleration"] = 0.3;
  file.state.rescues = {1, 2, 3, 4, 5, std::int64_t{1} << 60};
  FitOptions options;
  options.latents = H;
  options.inference.method = Method::exact;
  options.inference.candidates = 3;
  options.inference.max_active = 2;
  options.inference.selection = Selection::singleton;
  options.inference.precision = Precision::single_precision;
  options.inference.threads = 7;
  options.noise = noise;
  options.slab = slab;
  options.init = Init::random;
  options.intercept = Intercept::mean;
  options.batch = 5;
  options.polish = 2;
  options.noise_update = Update::paper;
  options.slab_update = Update::paper;
  options.iterations = 17;
  options.tolerance = 0.1;
  options.seed = ~std::uint64_t{0} - 3;
  file.options = options;
  return file;
}

}  // namespace gsc::test
