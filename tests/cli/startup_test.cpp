// What the program drags along when it starts. Time is not asserted on; what takes the time is libraries.

#include <gtest/gtest.h>

#include <algorithm>

#include "run_program.h"

namespace gsc::test {
namespace {

TEST(Startup, FewLibrariesAndHdf5OnlyWhereNeeded) {
  const TempFolder folder;
  // The dynamic linker lists what it would load and leaves.
  const ProgramResult loaded =
      run_program(folder.path(), {"--version"}, {.environment = {{"LD_TRACE_LOADED_OBJECTS", "1"}}});
  ASSERT_EQ(loaded.code, 0) << loaded.err;
  if (loaded.out.find("libmpi") != std::string::npos) GTEST_SKIP() << "MPI brings what it brings";
  ASSERT_NE(loaded.out.find("libpng"), std::string::npos) << loaded.out;
  EXPECT_LE(std::count(loaded.out.begin(), loaded.out.end(), '\n'), 45) << loaded.out;
  for (const char* library : {"libhdf5", "libcurl", "libopencv"})
    EXPECT_EQ(loaded.out.find(library), std::string::npos) << loaded.out;

  const ProgramResult model =
      run_program(folder.path(), {"sample", "--generator", "bars", "--latents", "10", "-n", "20", "-o", "bars.h5"},
                  {.environment = {{"LD_DEBUG", "files"}}});
  EXPECT_EQ(model.code, 0);
  EXPECT_NE(model.err.find("libhdf5"), std::string::npos) << "who wrote the file?";
}

TEST(Startup, WithoutHdf5TheRestWorks) {
  const TempFolder folder;
  // An empty file of the library's name comes before the true one.
  const ProgramResult loaded =
      run_program(folder.path(), {"sample", "--generator", "bars", "--latents", "10", "-n", "20", "-o", "bars.h5"},
                  {.environment = {{"LD_DEBUG", "files"}}});
  const std::size_t at = loaded.err.find("libhdf5");
  ASSERT_NE(at, std::string::npos);
  const std::string name = loaded.err.substr(at, loaded.err.find_first_of(" \n[;", at) - at);
  write_file(folder.path() / name, "");
  const ProgramOptions options{.environment = {{"LD_LIBRARY_PATH", folder.path().string()}}};
  const auto sample = [&](const std::string& file) {
    return run_program(folder.path(), {"sample", "--generator", "bars", "--latents", "10", "-n", "20", "-o", file},
                       options);
  };
  EXPECT_EQ(sample("bars.npy").code, 0);
  const ProgramResult without = sample("other.h5");
  EXPECT_NE(without.code, 0);
  EXPECT_NE(without.err.find("need the library " + name), std::string::npos) << without.err;
  EXPECT_NE(without.err.find("install HDF5"), std::string::npos) << without.err;
}

}  // namespace
}  // namespace gsc::test
