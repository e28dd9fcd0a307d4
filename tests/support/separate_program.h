#pragma once
// gsc separate as tests run it.

#include "program_fixture.h"

namespace gsc::test {

class SeparateProgram : public ProgramTest {
 protected:
  ProgramResult run(Words words, const ProgramOptions& options = {}) const {
    words.insert(words.begin(), "separate");
    return ProgramTest::run(words, options);
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
  void write(const std::string& name, const Matrix& values) const { write_arrays(path(name), {named("x", values)}); }
};

}  // namespace gsc::test
