#pragma once
// What tests of the program share: each runs it in a folder of its own, as a user would.

#include <gsc/files.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "run_program.h"

namespace gsc::test {

using Words = std::vector<std::string>;
using Json = nlohmann::json;

class ProgramTest : public ::testing::Test {
 protected:
  const std::filesystem::path& folder() const { return folder_.path(); }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  ProgramResult run(const Words& words, const ProgramOptions& options = {}) const {
    return run_program(folder_.path(), words, options);
  }
  /// Runs, and expects success.
  ProgramResult done(const Words& words, const ProgramOptions& options = {}) const {
    ProgramResult result = run(words, options);
    EXPECT_EQ(result.code, 0) << result.err;
    return result;
  }
  /// The run fails with `code`, says each of `parts` and prints nothing else.
  ProgramResult refused(int code, const Words& words, const Words& parts, const ProgramOptions& options = {}) const {
    ProgramResult result = run(words, options);
    EXPECT_EQ(result.code, code) << result.err;
    for (const std::string& part : parts)
      EXPECT_NE(result.err.find(part), std::string::npos) << part << ": " << result.err;
    EXPECT_EQ(result.out, "");
    return result;
  }
  static Words joined(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  /// Bars of the paper: 25 dimensions, 10 latents.
  void make_bars(const std::string& name = "bars.npy", const std::string& count = "300") const {
    done({"sample", "--generator", "bars", "--latents", "10", "-n", count, "-o", name, "--quiet"});
  }
  Json json(const std::string& name) const { return Json::parse(read_file(path(name))); }
  Matrix array(const std::string& location) const {
    const auto data = open_data(path(location));
    Matrix values(data->rows(), data->cols());
    data->read(0, values);
    return values;
  }
  Model model(const std::string& name) const { return load_model(path(name)).state.model; }

 private:
  TempFolder folder_;
};

}  // namespace gsc::test
