#pragma once
// gsc separate as tests run it.

#include <gsc/files.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "run_program.h"

namespace gsc::test {

using Words = std::vector<std::string>;
using Json = nlohmann::json;

class SeparateProgram : public ::testing::Test {
 protected:
  const std::filesystem::path& folder() const { return folder_.path(); }
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  ProgramResult run(Words words, const ProgramOptions& options = {}) const {
    words.insert(words.begin(), "separate");
    return run_program(folder_.path(), words, options);
  }
  ProgramResult done(const Words& words) const {
    ProgramResult result = run(words);
    EXPECT_EQ(result.code, 0) << result.err;
    return result;
  }
  /// The run fails, says each of `parts` and leaves no folder behind.
  void fails(int code, Words words, const Words& parts) const {
    words.insert(words.end(), {"-o", "out"});
    const ProgramResult result = run(words);
    EXPECT_EQ(result.code, code) << result.err;
    for (const std::string& part : parts)
      EXPECT_NE(result.err.find(part), std::string::npos) << part << "\n" << result.err;
    EXPECT_FALSE(std::filesystem::exists(path("out"))) << result.err;
  }
  Json metrics(const std::string& name = "out/metrics.json") const { return Json::parse(read_file(path(name))); }
  Matrix array(const std::string& name) const {
    const auto data = open_data(path(name));
    Matrix values(data->rows(), data->cols());
    data->read(0, values);
    return values;
  }
  void write(const std::string& name, const Matrix& values) const { write_arrays(path(name), {named("x", values)}); }

 private:
  TempFolder folder_;
};

}  // namespace gsc::test
