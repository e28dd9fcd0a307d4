// A libFuzzer target for all readers, not part of the test run: `./run fuzz READER SECONDS`, or
//
//   GSC_FUZZ=npy fuzz_reader -max_len=4096 corpus/     (npy, npz, csv, tsv, mat, h5; model for the model file)
//
// A corpus of small valid files makes it far quicker to get anywhere. HDF5 itself is not instrumented, so for .h5 and
// version 7.3 of .mat the fuzzer sees only our side of it.

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
