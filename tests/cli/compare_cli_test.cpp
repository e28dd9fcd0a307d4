// gsc compare as a user meets it.

#include <gsc/picture_files.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "checks.h"
#include "run_program.h"

namespace gsc::test {
namespace {

using Json = nlohmann::json;

class CompareProgram : public ::testing::Test {
 protected:
  ProgramResult run(std::vector<std::string> words, const ProgramOptions& options = {}) {
    words.insert(words.begin(), "compare");
    return run_program(folder_.path(), words, options);
  }
  void make_table() {
    const ProgramResult result =
        run_program(folder_.path(), {"sample", "--generator", "laplace", "--latents", "4", "--perturbation", "0.2",
                                     "-n", "500", "-o", "mix.npz", "--with-latents"});
    ASSERT_EQ(result.code, 0) << result.err;
  }
  void draw(const std::string& name, Index height = 32) { write_picture(folder_.path() / name, checks(height, 40)); }
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }

  TempFolder folder_;
};

TEST_F(CompareProgram, ThreeMethodsOnATableWithKnownTruth) {
  make_table();
  const ProgramResult result =
      run({"mix.npz:data", "--truth", "mix.npz:mixing", "--methods", "truncated,factored,exact", "--iterations", "12",
           "--max-active", "3", "-o", "out.json", "--report", "out.html"});
  ASSERT_EQ(result.code, 0) << result.err;
  const Json json = Json::parse(read_file(file("out.json")));
  EXPECT_EQ(json["command"], "compare");
  EXPECT_EQ(json["measure"], "amari");
  EXPECT_EQ(json["data_points"], 500);
  EXPECT_EQ(json["options"]["latents"], 4) << "as many as the truth has";
  EXPECT_FALSE(json["options"].contains("quality"));
  ASSERT_EQ(json["methods"].size(), 3u);
  for (const Json& method : json["methods"]) {
    for (const char* field : {"method", "free_energy", "noise_std", "iterations", "seconds_learning", "stop_reason",
                              "mean_active", "latents_in_use"})
      EXPECT_TRUE(method.contains(field)) << field;
    EXPECT_FALSE(method.contains("psnr"));
    ASSERT_EQ(method["curve"].size(), 13u);
    EXPECT_EQ(method["curve"].back()["free_energy"], method["free_energy"]);
    EXPECT_EQ(method["curve"].back()["seconds"], method["seconds_learning"]);
    EXPECT_GT(method["seconds_learning"], method["curve"][11]["seconds"]);
    EXPECT_TRUE(method["amari"] > 0 && method["amari"] < 1) << method["amari"];
    EXPECT_NE(result.out.find(method["method"].get<std::string>()), std::string::npos) << result.out;
  }
  // Given the same start, the truncated sum has a part of the terms of the exact one.
  EXPECT_LT(json["methods"][0]["curve"][0]["free_energy"], json["methods"][2]["curve"][0]["free_energy"]);
  for (const char* title : {"free energy", "Amari index", "noise std", "iterations", "learning"})
    EXPECT_NE(result.out.find(title), std::string::npos) << result.out;
  EXPECT_NE(result.err.find("factored: iteration"), std::string::npos) << result.err;
  const std::string page = read_file(file("out.html"));
  for (const char* text :
       {"Amari index", "Free energy against seconds", "Free energy against iteration", "Basis functions: exact"})
    EXPECT_NE(page.find(text), std::string::npos) << text;
}

TEST_F(CompareProgram, WithoutTruthTheFreeEnergyCounts) {
  make_table();
  write_file(file("run.toml"), "seed = 3\n[compare]\nmethods = \"exact,truncated\"\nlatents = 4\niterations = 5\n");
  const ProgramResult result = run({"mix.npz:data", "--config", "run.toml", "--quiet", "-o", "-"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["measure"], "free_energy");
  EXPECT_EQ(json["seed"], 3);
  EXPECT_EQ(result.out.find("who is better"), std::string::npos) << "the same objective tells";
  // All four latents are candidates and may be active: the same sum.
  const Json &exact = json["methods"][0], &truncated = json["methods"][1];
  EXPECT_EQ(exact["method"], "exact");
  EXPECT_NEAR(exact["free_energy"].get<double>(), truncated["free_energy"].get<double>(), 1e-6);
  EXPECT_TRUE(exact["candidates"].is_null());
  // gsc fit with the same options learns the same.
  const ProgramResult alone =
      run_program(folder_.path(), {"fit", "mix.npz:data", "-o", "m.h5", "--seed", "3", "--method", "exact", "--latents",
                                   "4", "--iterations", "5", "--quiet", "--metrics", "-"});
  ASSERT_EQ(alone.code, 0) << alone.err;
  EXPECT_EQ(Json::parse(alone.out)["free_energy"], exact["free_energy"]);
}

TEST_F(CompareProgram, TwoMethodsOnAPicture) {
  draw("clean.png");
  const ProgramResult result = run({"clean.png", "--add-noise", "25", "--latents", "16", "--iterations", "10", "-o",
                                    "o.json", "--report", "page.html"});
  ASSERT_EQ(result.code, 0) << result.err;
  const Json json = Json::parse(read_file(file("o.json")));
  EXPECT_EQ(json["measure"], "psnr");
  EXPECT_EQ(json["options"]["add_noise"], 25);
  EXPECT_NEAR(json["psnr_noisy"].get<double>(), 20.2, 0.7);
  ASSERT_EQ(json["methods"].size(), 2u);
  for (const Json& method : json["methods"]) {
    EXPECT_GT(method["psnr"].get<double>(), json["psnr_noisy"].get<double>() + 1);
    EXPECT_TRUE(method.contains("ssim"));
    EXPECT_GT(method["seconds_inferring"].get<double>(), 0);
  }
  for (const char* title : {"PSNR", "SSIM", "inference"})
    EXPECT_NE(result.out.find(title), std::string::npos) << result.out;
  const std::string page = read_file(file("page.html"));
  for (const char* text : {"Free energy against seconds", "Basis functions: factored", ">noisy<", ">clean<"})
    EXPECT_NE(page.find(text), std::string::npos) << text;

  // gsc denoise with the same options gets the same picture.
  const ProgramResult alone = run_program(
      folder_.path(), {"denoise", "clean.png", "-o", "out.png", "--add-noise", "25", "--latents", "16", "--iterations",
                       "10", "--models", "1", "--method", "factored", "--groups", "0", "--metrics", "-"});
  ASSERT_EQ(alone.code, 0) << alone.err;
  EXPECT_EQ(Json::parse(alone.out)["psnr"], json["methods"][1]["psnr"]);
}

TEST_F(CompareProgram, ObjectivesUnderTheirOwnNames) {
  make_table();
  const ProgramResult result = run({"mix.npz:data", "--latents", "4", "--methods", "exact,ksvd", "--iterations", "3",
                                    "-o", "o.json", "--report", "page.html"});
  ASSERT_EQ(result.code, 0) << result.err;
  const Json json = Json::parse(read_file(file("o.json")));
  const Json &exact = json["methods"][0], &ksvd = json["methods"][1];
  EXPECT_EQ(exact["objective"], "free_energy");
  EXPECT_TRUE(exact.contains("free_energy"));
  EXPECT_FALSE(ksvd.contains("free_energy"));
  EXPECT_EQ(ksvd["objective"], "squared_error");
  EXPECT_EQ(ksvd["curve"].back()["squared_error"], ksvd["squared_error"]);
  for (const char* text :
       {"squared error", "free energy", "make different things better", "Who is better is not known"})
    EXPECT_NE(result.out.find(text), std::string::npos) << text << "\n" << result.out;
  EXPECT_NE(read_file(file("page.html")).find("Squared error against seconds"), std::string::npos);
  // Both have an objective of the lasso, but by other codes it is not the same.
  for (const char* coding : {"lasso", "bounded", "omp"}) {
    const ProgramResult lassos = run({"mix.npz:data", "--latents", "4", "--methods", "online,feature-sign",
                                      "--iterations", "1", "--coding", coding});
    ASSERT_EQ(lassos.code, 0) << lassos.err;
    EXPECT_EQ(lassos.out.find("make different things better") == std::string::npos, coding == std::string("lasso"))
        << lassos.out;
  }
}

TEST_F(CompareProgram, OptionsOfDictionariesGoToThoseThatReadThem) {
  make_table();
  draw("clean.png");
  for (const std::vector<std::string>& input : {std::vector<std::string>{"mix.npz:data", "--latents", "4"},
                                                {"clean.png", "--add-noise", "25", "--latents", "16"}}) {
    std::vector<std::string> words = input;
    words.insert(words.end(), {"--methods", "truncated,online,feature-sign,ksvd", "--lambda", "0.7", "--error-gain",
                               "1.3", "--iterations", "2", "-o", "o.json"});
    const ProgramResult result = run(words);
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.out.find("lasso objective, lambda 0.7"), std::string::npos) << result.out;
    const Json json = Json::parse(read_file(file("o.json")));
    EXPECT_EQ(json["options"]["lambda"], 0.7);
    EXPECT_EQ(json["options"]["error_gain"], 1.3);
  }
}

/// The noise is told to those who ask for it, and the table says what it is; gaps are for methods that take them.
TEST_F(CompareProgram, NoiseAndGapsOfTables) {
  std::string table;
  for (int n = 0; n < 60; ++n)
    for (int d = 0; d < 4; ++d)
      table += ((n + d) % 9 == 0 ? "nan" : std::to_string((n * (d + 3)) % 17 - 8)) + (d < 3 ? "," : "\n");
  write_file(file("gaps.csv"), table);
  const std::vector<std::string> words = {"gaps.csv", "--latents", "3", "--iterations", "2", "--methods"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return run(more);
  };
  EXPECT_NE(with({"exact,ksvd"}).err.find("missing to nan"), std::string::npos);
  const ProgramResult guessed = with({"exact,ksvd,online", "--missing", "nan", "-o", "o.json"});
  ASSERT_EQ(guessed.code, 0) << guessed.err;
  EXPECT_NE(guessed.err.find("ksvd: the ksvd method must be told the noise level"), std::string::npos) << guessed.err;
  for (const char* word : {" learned", " estimated"})
    EXPECT_NE(guessed.out.find(word), std::string::npos) << guessed.out;
  Json methods = Json::parse(read_file(file("o.json")))["methods"];
  EXPECT_EQ(methods[0]["noise_is"], "learned");
  EXPECT_EQ(methods[1]["noise_is"], "estimated");
  EXPECT_TRUE(methods[2]["noise_std"].is_null()) << "codes of a lasso do not hang on it";
  const ProgramResult told = with({"exact,ksvd", "--missing", "nan", "--sigma", "1.5", "-o", "o.json"});
  ASSERT_EQ(told.code, 0) << told.err;
  EXPECT_EQ(told.err.find("must be told"), std::string::npos) << told.err;
  methods = Json::parse(read_file(file("o.json")))["methods"];
  EXPECT_EQ(methods[1]["noise_is"], "told");
  EXPECT_EQ(methods[1]["noise_std"], 1.5);
  EXPECT_NE(with({"exact,feature-sign", "--missing", "nan"}).err.find("beta-process"), std::string::npos);
  EXPECT_NE(with({"exact,truncated", "--missing", "nan", "--sigma", "1"}).err.find("none of which is compared"),
            std::string::npos);
}

TEST_F(CompareProgram, APictureWithoutTruth) {
  draw("noisy.png", 20);
  const ProgramResult result =
      run({"noisy.png", "--latents", "8", "--iterations", "3", "--methods", "truncated,exact", "-o", "o.json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const Json json = Json::parse(read_file(file("o.json")));
  EXPECT_EQ(json["measure"], "free_energy");
  EXPECT_FALSE(json["methods"][0].contains("psnr"));
  EXPECT_EQ(result.out.find("PSNR"), std::string::npos) << result.out;
  const ProgramResult told = run({"noisy.png", "--latents", "8", "--iterations", "2", "--sigma", "20", "--methods",
                                  "truncated,ksvd,beta-process,feature-sign", "-o", "o.json"});
  ASSERT_EQ(told.code, 0) << told.err;
  const Json methods = Json::parse(read_file(file("o.json")))["methods"];
  const char* from[] = {"learned", "told", "learned", "told"};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(methods[i]["noise_is"], from[i]);
  EXPECT_EQ(methods[1]["noise_std"], 20);
}

TEST_F(CompareProgram, BadInput) {
  make_table();
  draw("good.png");
  draw("other.png", 20);
  write_file(file("wide.csv"), "1,2,3\n4,5,6\n");
  write_file(file("zero.csv"), "1,0,0,0\n0,1,0,0\n0,0,1,0\n0,0,0,0\n");
  write_file(file("old.json"), "old");
  struct Case {
    std::vector<std::string> words;
    int code;
    std::string says;
  };
  const std::string data = "mix.npz:data";
  const std::vector<Case> cases = {
      {{data, "--methods", "truncated,magic"}, 2, "methods is 'magic'; choose one of truncated, exact, factored"},
      {{data, "--methods", "exact,exact"}, 2, "names exact twice"},
      {{data, "--methods", "exact"}, 2, "two or more"},
      {{data, "--methods", "exact,"}, 2, "methods is ''"},
      {{data, "--methods", "exact,fastica"}, 2, "methods is 'fastica'; choose one of"},
      {{data, "--methods", "truncated,exact", "--latents", "21"}, 2, "exact with 21 latents"},
      {{"good.png", "--methods", "truncated,exact"}, 2, "method is exact"},
      {{data, "--quality", "fast"}, 2, "quality is for pictures, but mix.npz:data is none"},
      {{data, "--clean", "good.png"}, 2, "clean is for pictures"},
      {{data, "--methods", "exact,ksvd", "--lambda", "1"}, 2, "lambda is for online, feature-sign, none of which"},
      {{"good.png", "--atom-update", "exact"}, 2, "atom-update is for ksvd, none of which is compared"},
      {{data, "--methods", "exact,online", "--lambda", "1e9", "--latents", "4"}, 2, "under which every code is zero"},
      {{"good.png", "--tolerance", "0"}, 2, "tolerance is for tables of numbers, but good.png is a picture"},
      {{"good.png", "--truth", data}, 2, "truth is for tables"},
      {{"good.png", "--add-noise", "5", "--clean", "good.png"}, 2, "exclude each other"},
      {{"good.png", "--clip"}, 2, "add-noise"},
      {{"good.png", "--clean", "other.png"}, 1, "other.png has 40 x 20 pixels"},
      {{"missing.png"}, 1, "missing.png"},
      {{"missing.npy"}, 1, "missing.npy"},
      {{data, "--truth", "missing.npy"}, 1, "missing.npy"},
      {{data, "--truth", "wide.csv"}, 1, "wide.csv is 2 x 3, but the data has 4 dimensions"},
      {{data, "--truth", "zero.csv"}, 1, "zero.csv: the generating mixing matrix lacks a direction"},
      {{data, "--truth", "mix.npz:mixing", "--latents", "5"}, 2, "latents is 5, but truth has 4"},
      {{data, "--noise", "full", "--latents", "4"}, 2, "factored method is for scalar or diagonal noise"},
      {{data, "--latents", "4", "--candidates", "5"}, 2, "candidates is 5"},
      {{data, "--init", "model.h5"}, 2, "init is 'model.h5'; choose one of random, data"},
      {{data, "--report", "old.json"}, 2, "old.json"},
      {{data, "-o", "nowhere/out.json"}, 2, "nowhere"},
      {{data, "-o", "out.png"}, 2, ".json"},
      {{}, 2, "DATA|PICTURE is missing"},
  };
  for (Case c : cases) {
    if (std::find(c.words.begin(), c.words.end(), "-o") == c.words.end())
      c.words.insert(c.words.end(), {"-o", "old.json"});
    const ProgramResult result = run(c.words);
    EXPECT_EQ(result.code, c.code) << c.says << ": " << result.err;
    EXPECT_NE(result.err.find(c.says), std::string::npos) << c.says << ": " << result.err;
    EXPECT_EQ(result.err.find("iteration"), std::string::npos) << "refused after the work only: " << result.err;
    EXPECT_EQ(read_file(file("old.json")), "old");
  }
}

TEST_F(CompareProgram, InterruptLeavesTheOldFile) {
  make_table();
  draw("good.png", 80);
  write_file(file("old.json"), "old");
  ProgramOptions options;
  options.signal_when = "iteration";
  options.signal = 2;
  for (const char* input : {"mix.npz:data", "good.png"}) {
    const ProgramResult result = run({input, "-o", "old.json", "--latents", "16", "--iterations", "100000"}, options);
    EXPECT_EQ(result.code, 130) << result.err;
    EXPECT_NE(result.err.find("interrupted"), std::string::npos) << result.err;
    EXPECT_EQ(read_file(file("old.json")), "old");
  }
}

}  // namespace
}  // namespace gsc::test
