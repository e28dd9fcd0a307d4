// A libFuzzer target for all readers; not part of the test run. After a normal build, from the project's root:
//
//   clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -DGSC_VERSION='"fuzz"' -Iinclude -Isrc
//     $(pkg-config --cflags eigen3 hdf5 libzip) tests/fuzz/fuzz_reader.cpp src/data/*.cpp src/model/*.cpp
//     build/release/libgsc_core.a $(pkg-config --libs hdf5 libzip fmt zlib libhwy openblas) -lgomp -o fuzz_reader
//   GSC_FUZZ=npy ./fuzz_reader -max_len=4096 corpus/     (npy, npz, csv, tsv, mat, h5; model for the model file)
//
// A corpus of small valid files gets it going. HDF5 itself is not instrumented, so for .h5, version 7.3 of .mat and the
// model file the fuzzer only sees our side.

#include <gsc/files.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const char* const wanted = std::getenv("GSC_FUZZ");
  static const std::string format = wanted != nullptr ? wanted : "npy";
  static const bool model = format == "model";
  static const std::string path = "/dev/shm/gsc_fuzz_" + std::to_string(::getpid()) + "." + (model ? "h5" : format);
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  try {
    if (model) {
      gsc::load_model(path);
      return 0;
    }
    const auto data = gsc::open_data(path);
    constexpr gsc::Index kBlock = 64;
    gsc::Matrix block(std::min(kBlock, data->rows()), data->cols());
    for (gsc::Index first = 0; first < data->rows(); first += kBlock)
      data->read(first, block.topRows(std::min(kBlock, data->rows() - first)));
  } catch (const gsc::Error&) {
  }
  return 0;
}
