// gsc separate as a user meets it.

#include <gsc/files.h>
#include <gsc/metrics.h>
#include <gsc/scores.h>
#include <gsc/sound.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "separate_program.h"
#include "separate_support.h"

namespace gsc::test {
namespace {

TEST_F(SeparateProgram, SourcesAndMixingAsText) {
  const Matrix mixture = laplace(3, 500, 1);
  write("mix.npy", mixture);
  write("mix.csv", mixture);
  const Words quick{"--restarts", "2", "--iterations", "20", "--quiet"};
  const auto with = [&](Words words) {
    words.insert(words.end(), quick.begin(), quick.end());
    return words;
  };
  done(with({"mix.npy", "-o", "out", "--csv"}));
  EXPECT_EQ(read_file(path("out/sources.csv")).substr(0, 24), "source1,source2,source3\n");
  EXPECT_EQ(array("out/sources.csv"), array("out/sources.npy").transpose());
  EXPECT_EQ(array("out/mixing.csv"), array("out/mixing.npy"));
  done(with({"mix.npy", "-o", "plain"}));
  EXPECT_FALSE(std::filesystem::exists(path("plain/sources.csv")));
  // An output never replaces what is read.
  std::filesystem::copy(path("mix.csv"), path("plain/sources.csv"));
  const ProgramResult result = run(with({"plain/sources.csv", "-o", "plain", "--csv"}));
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_EQ(read_file(path("plain/sources.csv")), read_file(path("mix.csv")));

  // From a pipe, the same.
  ProgramOptions piped;
  piped.input = read_file(path("mix.csv"));
  const ProgramResult read = run(with({"-", "-o", "piped"}), piped);
  EXPECT_EQ(read.code, 0) << read.err;
  EXPECT_EQ(array("piped/sources.npy"), array("out/sources.npy"));
}

TEST_F(SeparateProgram, ExperimentReportsAmariAndCorrelations) {
  write("sources.npy", laplace(3, 3000, 1));
  const ProgramResult result =
      done({"--sources", "sources.npy", "--mix", "0.2", "--mix-seed", "3", "--add-noise", "0.05", "-o", "out",
            "--restarts", "4", "--whiten", "off", "--metrics", "more.json"});
  EXPECT_NE(result.err.find("took the 3 rows of sources.npy for channels"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("Amari index 0.0"), std::string::npos) << result.err;
  const Json json = metrics();
  EXPECT_EQ(json, metrics("more.json"));
  EXPECT_EQ(json["command"], "separate");
  EXPECT_LT(json["amari"], 0.1);
  ASSERT_EQ(json["correlations"].size(), 3u);
  for (const double correlation : json["correlations"]) EXPECT_GT(correlation, 0.95);
  ASSERT_EQ(json["free_energies"].size(), 4u);
  const std::vector<double> energies = json["free_energies"];
  EXPECT_EQ(json["free_energy"], *std::max_element(energies.begin(), energies.end()));
  EXPECT_NEAR(json["spread"],
              *std::max_element(energies.begin(), energies.end()) - *std::min_element(energies.begin(), energies.end()),
              1e-9);
  EXPECT_EQ(json["options"]["method"], "exact");
  EXPECT_EQ(json["options"]["restarts"], 4);
  // The files say the same: Amari against the mixing matrix that --mix-seed 3 means, sources against sources.
  Random random(3);
  EXPECT_NEAR(amari_index(array("out/mixing.npy"), mixing_matrix(3, 0.2, random)), json["amari"], 1e-12);
  const std::vector<SourceMatch> matches = match_sources(array("sources.npy"), array("out/sources.npy"));
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(matches[i].correlation, json["correlations"][i], 1e-12);
  const ModelFile model = load_model(path("out/model.h5"));
  EXPECT_EQ(model.state.model.W, array("out/mixing.npy"));
  EXPECT_EQ(model.options->seed, json["best_seed"]);
}

TEST_F(SeparateProgram, InferenceWithItsModelGivesTheSources) {
  const Matrix mixture = (mixing(4) * laplace(4, 600, 1)).array() + 3;
  write("mix.npy", mixture);
  write("samples.npy", mixture.transpose());
  for (const Words& more : {Words{}, Words{"--latents", "2"}, Words{"--whiten", "off"}}) {
    Words words{"mix.npy", "-o", "out", "--restarts", "2"};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult result = done(words);
    EXPECT_EQ(result.err.find("channels are whitened first") != std::string::npos, metrics()["whitened"]) << result.err;
    const ProgramResult inferred =
        run_program(folder(), {"infer", "out/model.h5", "samples.npy", "-o", "codes.npy", "--metrics", "codes.json"});
    ASSERT_EQ(inferred.code, 0) << inferred.err;
    EXPECT_LT((array("codes.npy").transpose() - array("out/sources.npy")).cwiseAbs().maxCoeff(), 1e-5);
    const double learned = metrics()["free_energy"], again = metrics("codes.json")["free_energy"];
    EXPECT_NEAR(again / learned, 1, 1e-7);
  }
}

TEST_F(SeparateProgram, SaysOnceThatWhiteningWasTakenBack) {
  write("s.npy", laplace(3, 1000, 1));
  const ProgramResult result = done({"--sources", "s.npy", "--mix", "orthogonal", "--add-noise", "4", "-o", "out",
                                     "--restarts", "2", "--iterations", "50"});
  EXPECT_EQ(metrics()["whitened"], false);
  EXPECT_GT(metrics()["noise_share"], 0.5);
  const std::string note = metrics()["notes"][0];
  const std::size_t first = result.err.find(note);
  EXPECT_NE(first, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find(note, first + 1), std::string::npos) << result.err;
}

TEST_F(SeparateProgram, MoreLatentsThanSourcesHaveNoAmariIndex) {
  write("s.npy", laplace(2, 200, 1));
  const ProgramResult result =
      done({"--sources", "s.npy", "--mix", "orthogonal", "-o", "out", "--latents", "3", "--iterations", "5"});
  EXPECT_NE(result.err.find("no Amari index"), std::string::npos);
  EXPECT_TRUE(metrics()["amari"].is_null());
  EXPECT_EQ(metrics()["correlations"].size(), 2u);
  EXPECT_EQ(array("out/sources.npy").rows(), 3);
}

TEST_F(SeparateProgram, OrientationIsGuessedAndSaid) {
  const Matrix mixture = mixing(3) * laplace(3, 400, 7);
  write("rows.npy", mixture);
  write("columns.csv", mixture.transpose());
  const Words brief = {"--restarts", "2", "--iterations", "20", "--offset", "50", "--samples", "300"};
  const auto with = [&](Words words) {
    words.insert(words.end(), brief.begin(), brief.end());
    return done(words);
  };
  EXPECT_NE(with({"rows.npy", "-o", "a"}).err.find("3 rows of rows.npy for channels"), std::string::npos);
  EXPECT_NE(with({"columns.csv", "-o", "b"}).err.find("3 columns of columns.csv for channels"), std::string::npos);
  EXPECT_EQ(with({"columns.csv", "-o", "c", "--channels-in", "columns"}).err.find("for channels"), std::string::npos);
  write("part.npy", mixture.middleCols(50, 300));
  done({"part.npy", "-o", "d", "--restarts", "2", "--iterations", "20", "--threads", "1"});
  const Matrix sources = array("a/sources.npy");
  EXPECT_EQ(sources.cols(), 300);
  for (const char* other : {"b", "c", "d"}) EXPECT_TRUE(array(std::string(other) + "/sources.npy") == sources) << other;
  EXPECT_FALSE(metrics("a/metrics.json").contains("amari"));
  write("square.npy", mixture.leftCols(3));
  fails(2, {"square.npy"}, {"square", "--channels-in"});
}

TEST_F(SeparateProgram, SoundInSoundOut) {
  const Matrix sources = laplace(2, 4000, 8);
  Matrix mixture = mixing(2) * sources;
  mixture *= 0.95 / mixture.cwiseAbs().maxCoeff();
  write_sound(path("stereo.flac"), {mixture, 16000});
  write_sound(path("left.flac"), {mixture.row(0), 16000});
  write_sound(path("right.flac"), {mixture.row(1), 16000});
  done({"stereo.flac", "-o", "deep/a", "--restarts", "3"});
  done({"left.flac", "right.flac", "-o", "b", "--restarts", "3", "--quiet"});
  EXPECT_TRUE(array("deep/a/sources.npy") == array("b/sources.npy"));
  Matrix heard(2, 4000);
  for (const Index h : {0, 1}) {
    const Sound sound = read_sound(path("deep/a/source" + std::to_string(h + 1) + ".wav"));
    EXPECT_EQ(sound.rate, 16000);
    ASSERT_EQ(sound.channels.rows(), 1);
    EXPECT_NEAR(sound.channels.cwiseAbs().maxCoeff(), 0.9, 1e-3);
    heard.row(h) = sound.channels;
  }
  for (const SourceMatch& match : match_sources(sources, heard)) EXPECT_GT(match.correlation, 0.93);
  // A second run into the same folder replaces its own files and touches no other.
  write_file(path("b/notes.txt"), "mine");
  done({"left.flac", "right.flac", "-o", "b", "--samples", "1000", "--iterations", "5"});
  EXPECT_EQ(read_sound(path("b/source2.wav")).channels.cols(), 1000);
  EXPECT_EQ(read_file(path("b/notes.txt")), "mine");
}

TEST_F(SeparateProgram, SoundsOfAnEarlierRunAreNamed) {
  const Words brief = {"--restarts", "1", "--iterations", "2", "-o", "out"};
  const auto with = [&](Words words) {
    words.insert(words.end(), brief.begin(), brief.end());
    return done(words).err;
  };
  write_sound(path("two.wav"), {0.1 * laplace(2, 200, 1), 8000});
  EXPECT_EQ(with({"two.wav", "--latents", "11"}).find("also holds"), std::string::npos);
  for (const char* name : {"out/source.wav", "out/source03.wav", "out/source12.mp3", "out/sources.wav"})
    write_file(path(name), "mine");
  const std::string sound = with({"two.wav", "--latents", "9"});
  EXPECT_NE(sound.find("out also holds source10.wav, source11.wav, not of this run"), std::string::npos) << sound;
  EXPECT_TRUE(std::filesystem::exists(path("out/source11.wav")));
  write("two.npy", laplace(2, 200, 1));
  const std::string table = with({"two.npy"});
  EXPECT_NE(table.find("out also holds source1.wav, source2.wav, "), std::string::npos) << table;
}

TEST_F(SeparateProgram, WrongUsage) {
  write("x.npy", laplace(2, 100, 1));
  fails(2, {}, {"nothing to separate", "--sources"});
  fails(2, {"x.npy", "--sources", "x.npy", "--mix", "1"}, {"exclude each other"});
  fails(2, {"--sources", "x.npy"}, {"--mix orthogonal"});
  fails(2, {"--sources", "x.npy", "--mix", "diagonal"}, {"mix is 'diagonal'", "orthogonal"});
  fails(2, {"x.npy", "--mix", "orthogonal"}, {"mix is for --sources"});
  fails(2, {"x.npy", "--add-noise", "1"}, {"add-noise is for --sources"});
  fails(2, {"x.npy", "x.npy"}, {"several files", "sound"});
  fails(2, {"x.npy", "--samples", "0"}, {"samples is 0"});
  fails(2, {"x.npy", "--restarts", "0"}, {"restarts is 0"});
  fails(2, {"x.npy", "--channels-in", "lines"}, {"channels-in is 'lines'", "rows, columns"});
  fails(2, {"x.npy", "--candidates", "3"}, {"candidates is 3", "latents (2)"});
  fails(2, {"x.npy", "--metrics", "out/model.h5"}, {"two outputs"});
  const auto refused = [&](const Words& words, const std::string& part) {
    const ProgramResult result = run(words);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  };
  refused({"x.npy"}, "-o DIR is missing");
  refused({"x.npy", "-o", "deep/out", "--report", "page.txt"}, "page.txt: the name must end in .html");
  EXPECT_FALSE(std::filesystem::exists(path("deep")));
  refused({"x.npy", "-o", "x.npy"}, "that is a file");
}

TEST_F(SeparateProgram, BadInput) {
  write("x.npy", laplace(2, 100, 1));
  fails(1, {"x.npy", "--offset", "100"}, {"offset is 100", "100 samples"});
  fails(1, {"x.npy", "--offset", "60", "--samples", "41"}, {"samples is 41", "40 after offset 60"});
  fails(1, {"x.npy", "--channels-in", "columns"}, {"fewer samples (2) than channels (100)"});
  fails(1, {"x.npy", "--samples", "1"}, {"fewer samples (1) than channels (2)"});
  fails(1, {"none.npy"}, {"none.npy: there is no such file"});
  write("one.npy", laplace(1, 100, 1));
  fails(1, {"one.npy"}, {"one.npy has 1 channel;"});
  fails(1, {"--sources", "one.npy", "--mix", "orthogonal"}, {"1 channel;"});
  write_file(path("nan.csv"), "1,2,3\n4,nan,6\n");
  write("still.npy", Matrix::Constant(2, 50, 3));
  fails(1, {"still.npy"}, {"still.npy has nothing but constant channels"});
  fails(1, {"still.npy", "--normalise", "--samples", "9"}, {"still.npy"});
  Matrix twice = laplace(3, 50, 1);
  twice.row(2) = 2 * twice.row(0);
  write("twice.npy", twice);
  fails(1, {"twice.npy", "--whiten", "on"}, {"twice.npy: 1 of 3 channels follow from the others", "do not whiten"});
  Matrix half = laplace(2, 50, 1);
  half.row(1).setOnes();
  write("half.npy", half);
  fails(1, {"half.npy", "--normalise"}, {"half.npy: channel 2 is constant"});
  fails(1, {"nan.csv"}, {"channel 2 of nan.csv is NaN at sample 1 (from 0)"});
  fails(1, {"nan.csv", "--offset", "1"}, {"channel 2 of nan.csv is NaN at sample 1 (from 0)"});

  const auto sound = [&](const char* name, Index channels, Index samples, int rate) {
    write_sound(path(name), {0.1 * laplace(channels, samples, 1), rate});
  };
  sound("a.wav", 1, 500, 8000), sound("short.wav", 1, 499, 8000), sound("fast.wav", 1, 500, 16000);
  sound("stereo.wav", 2, 500, 8000);
  fails(1, {"a.wav"}, {"1 channel;"});
  fails(1, {"a.wav", "short.wav"}, {"a.wav has 500 samples, short.wav has 499"});
  fails(1, {"a.wav", "fast.wav"}, {"8000", "fast.wav has 16000"});
  fails(1, {"a.wav", "stereo.wav"}, {"stereo.wav has 2 channels"});
  fails(2, {"stereo.wav", "--channels-in", "rows"}, {"channels-in is for tables"});
  write_file(path("broken.wav"), "RIFF");
  fails(1, {"broken.wav"}, {"broken.wav: cannot be read as sound"});
}

TEST_F(SeparateProgram, InputIsNotOverwritten) {
  std::filesystem::create_directory(path("out"));
  write("out/sources.npy", laplace(2, 100, 1));
  const std::string before = read_file(path("out/sources.npy"));
  const ProgramResult result = run({"out/sources.npy", "-o", "out"});
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_NE(result.err.find("out/sources.npy would be replaced"), std::string::npos) << result.err;
  EXPECT_EQ(read_file(path("out/sources.npy")), before);
}

TEST_F(SeparateProgram, CtrlCLeavesNothingBehind) {
  write("x.npy", laplace(10, 20000, 1));
  ProgramOptions options;
  options.signal_when = "10 channels";
  options.signal = SIGINT;
  const ProgramResult result = run({"x.npy", "-o", "out"}, options);
  EXPECT_EQ(result.code, 130) << result.err;
  EXPECT_LT(result.wall_seconds, 30);
  EXPECT_FALSE(std::filesystem::exists(path("out")));
}

TEST_F(SeparateProgram, SameSeedSameBitsForAnyThreads) {
  write("x.npy", mixing(3) * laplace(3, 300, 1));
  const Words common = {"x.npy", "--restarts", "3", "--iterations", "30", "--quiet", "-o"};
  const auto with = [&](const char* folder, const char* threads) {
    Words words = common;
    words.insert(words.end(), {folder, "--threads", threads});
    EXPECT_EQ(done(words).err, "");
  };
  with("one", "1");
  with("two", "2");
  for (const char* name : {"/sources.npy", "/mixing.npy"})
    EXPECT_EQ(read_file(path(std::string("one") + name)), read_file(path(std::string("two") + name))) << name;
}

}  // namespace
}  // namespace gsc::test
