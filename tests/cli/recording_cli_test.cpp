// The program on recordings: gsc fit, infer, sample and report with --window, and tables with a time in gsc separate.

#include <gsc/sound.h>

#include <cmath>

#include "program_fixture.h"

namespace gsc::test {
namespace {

constexpr Index kSamples = 1003;

class Recordings : public ProgramTest {
 protected:
  std::string done(const Words& words) const {
    const ProgramResult result = run(words);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.err + result.out;
  }
  std::string refused(int code, const Words& words, const Words& parts) const {
    const ProgramResult result = run(words);
    EXPECT_EQ(result.code, code) << result.err;
    for (const std::string& part : parts) expect_in(result.err, part);
    return result.err;
  }
  static void expect_in(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in: " << text;
  }
  static void expect_not_in(const std::string& text, const std::string& part) {
    EXPECT_EQ(text.find(part), std::string::npos) << "'" << part << "' in: " << text;
  }
  static Words fit(const std::string& data, const std::string& output, const Words& more = {}) {
    return joined({"fit", data, "-o", output, "--latents", "4", "--iterations", "3", "--threads", "1"}, more);
  }
  Recording recording(const std::string& model) const { return load_model(path(model)).recording.value(); }

  /// Samples x 2, bumps here and there.
  static Matrix signals() {
    Matrix values(kSamples, 2);
    for (Index i = 0; i < kSamples; ++i) {
      const double t = static_cast<double>(i);
      values(i, 0) = 0.3 * std::sin(t / 3) * std::pow(std::sin(t / 40), 8) + 0.01 * std::sin(1.7 * t * t);
      values(i, 1) = 0.3 * std::cos(t / 5) * std::pow(std::cos(t / 31), 8) + 0.01 * std::cos(2.3 * t * t);
    }
    return values;
  }
  void write_csv(const std::string& name, const std::string& header, bool with_time = true) const {
    const Matrix values = signals();
    std::string text = header;
    for (Index i = 0; i < kSamples; ++i)
      text += (with_time ? std::to_string(static_cast<double>(i) / 250) + "," : "") + std::to_string(values(i, 0)) +
              "," + std::to_string(values(i, 1)) + "\n";
    write_file(path(name), text);
  }
};

TEST_F(Recordings, AreLearnedInWindowsAndRemembered) {
  write_csv("eeg.csv", "time,Fz,Cz\n");
  const std::string told = done(fit("eeg.csv", "m.h5", {"--window", "16", "--hop", "5", "--metrics", "m.json"}));
  expect_in(told, "198 windows of 16 samples x 2 channels");
  expect_in(told, "column 1 'time' rises evenly by 0.004: taken as the time (250 samples a second), not as a channel");
  expect_in(told, "--keep-time");
  expect_in(told, "the last 2 of 1003 samples");
  const Recording learned = recording("m.h5");
  EXPECT_EQ(learned.window, 16);
  EXPECT_EQ(learned.hop, 5);
  EXPECT_EQ(learned.rate, 250);
  EXPECT_EQ(learned.names, (Words{"Fz", "Cz"}));
  const Json metrics = Json::parse(read_file(path("m.json")));
  EXPECT_EQ(metrics["data_points"], 198);
  EXPECT_EQ(metrics["dimensions"], 32);
  EXPECT_EQ(metrics["options"]["window"], 16);
  EXPECT_EQ(metrics["options"]["rate"], 250);
  expect_in(done({"info", "m.h5"}), "windows of 16 samples x 2 channels (Fz, Cz), starting every 5 samples");

  // The same as learning from a table of the windows.
  const Matrix samples = array("eeg.csv").rightCols(2);
  Matrix windows(198, 32);
  for (Index i = 0; i < 198; ++i)
    for (Index s = 0; s < 16; ++s) windows.block(i, 2 * s, 1, 2) = samples.row(5 * i + s);
  write_arrays(path("windows.npy"), {named("x", windows)});
  done(fit("windows.npy", "w.h5"));
  EXPECT_EQ(load_model(path("w.h5")).state.model.W, load_model(path("m.h5")).state.model.W);
  EXPECT_FALSE(load_model(path("w.h5")).recording);
}

TEST_F(Recordings, AreInferredAsTheyWereLearned) {
  write_csv("eeg.csv", "time,Fz,Cz\n");
  done(fit("eeg.csv", "m.h5", {"--window", "16", "--hop", "5"}));
  done({"infer", "m.h5", "eeg.csv", "-o", "codes.npz"});
  EXPECT_EQ(array("codes.npz:mean").rows(), 198);
  const Matrix start = array("codes.npz:start"), time = array("codes.npz:time");
  ASSERT_EQ(start.rows(), 198);
  EXPECT_EQ(start(197, 0), 985);
  EXPECT_EQ(time(197, 0), 985 / 250.0);
  // Options that are given win.
  done({"infer", "m.h5", "eeg.csv", "--hop", "1", "--rate", "500", "-o", "codes.npz"});
  EXPECT_EQ(array("codes.npz:mean").rows(), 988);
  EXPECT_EQ(array("codes.npz:time")(2, 0), 2 / 500.0);
  done({"infer", "m.h5", "eeg.csv", "--window", "16", "-o", "codes.npz"});
  EXPECT_EQ(array("codes.npz:mean").rows(), 198);
  done({"infer", "m.h5", "eeg.csv", "-o", "codes.npy"});
  EXPECT_EQ(array("codes.npy").cols(), 4);
  done({"infer", "m.h5", "eeg.csv", "-o", "codes.csv"});
  expect_in(read_file(path("codes.csv")).substr(0, 300), "log_likelihood,start,time\n");

  refused(1, {"infer", "m.h5", "eeg.csv", "--window", "8", "-o", "codes.npz"},
          {"windows of 8 samples x 2 channels have 16 values", "m.h5 has 32 dimensions",
           "learned from windows of 16 samples x 2 channels"});
  refused(1, {"infer", "m.h5", "eeg.csv", "--keep-time", "-o", "codes.npz"},
          {"16 samples x 3 channels have 48 values"});
  // A model that knows of no recording takes windows that fit.
  done({"sample", "m.h5", "-n", "50", "-o", "drawn.npy"});
  done(fit("drawn.npy", "plain.h5"));
  done({"infer", "plain.h5", "eeg.csv", "--window", "16", "-o", "codes.npz"});
  EXPECT_EQ(array("codes.npz:start")(1, 0), 16);
  refused(1, {"infer", "plain.h5", "eeg.csv", "--window", "15", "-o", "codes.npz"}, {"--window 16 fits"});
  // What was drawn has windows in its rows already.
  expect_in(done({"infer", "m.h5", "drawn.npy", "-o", "codes.npz"}), "each is taken as a window");
  EXPECT_EQ(array("codes.npz:mean").rows(), 50);
}

TEST_F(Recordings, ThatDifferFromTheModelAreToldSo) {
  write_csv("eeg.csv", "time,Fz,Cz\n");
  write_csv("other.csv", "time,Oz,Pz\n");
  done(fit("eeg.csv", "m.h5", {"--window", "16"}));
  const std::string told = done({"infer", "m.h5", "other.csv", "--rate", "100", "-o", "codes.npz"});
  expect_in(told, "100 samples a second, but the model was learned at 250");
  expect_in(told, "Oz, Pz, but those of the model Fz, Cz");
}

TEST_F(Recordings, ChannelsInRowsAndColumnsGiveTheSame) {
  const Matrix samples = signals();
  write_arrays(path("columns.npy"), {named("x", samples)});
  write_arrays(path("rows.npy"), {named("x", Matrix(samples.transpose()))});
  write_arrays(path("square.npy"), {named("x", Matrix(samples.topRows(2)))});
  expect_not_in(done(fit("columns.npy", "c.h5", {"--window", "16"})), "channels-in");
  expect_in(done(fit("rows.npy", "r.h5", {"--window", "16"})), "took the 2 rows of rows.npy for channels");
  EXPECT_EQ(load_model(path("c.h5")).state.model.W, load_model(path("r.h5")).state.model.W);
  refused(2, fit("square.npy", "s.h5", {"--window", "1"}), {"square", "--channels-in"});
  const std::string few = done(fit("columns.npy", "wide.h5", {"--window", "1", "--channels-in", "rows"}));
  expect_in(few, "2 windows of 1003 values each are few to learn from");
  EXPECT_EQ(recording("wide.h5").channels, kSamples);
  refused(1, fit("columns.npy", "m.h5", {"--window", "1000", "--hop", "9"}), {"one window of 1000", "smaller --hop"});
}

TEST_F(Recordings, SoundGoesInAndOut) {
  write_sound(path("in.wav"), {signals().transpose(), 8000});
  refused(1, fit("in.wav", "m.h5"), {"is sound", "--window N", "gsc separate"});
  const std::string told = done(fit("in.wav", "m.h5", {"--window", "20", "--hop", "1"}));
  expect_in(told, "984 windows of 20 samples x 2 channels");
  EXPECT_EQ(recording("m.h5").rate, 8000);
  done({"infer", "m.h5", "in.wav", "-o", "codes.npz"});
  EXPECT_EQ(array("codes.npz:time")(983, 0), 983 / 8000.0);

  done({"sample", "m.h5", "-n", "30", "-o", "drawn.npy"});
  done({"sample", "m.h5", "-n", "30", "-o", "drawn.wav"});
  const Sound sound = read_sound(path("drawn.wav"));
  EXPECT_EQ(sound.rate, 8000);
  ASSERT_EQ(sound.channels.rows(), 2);
  ASSERT_EQ(sound.channels.cols(), 600);
  const Matrix drawn = array("drawn.npy");
  for (Index i : {0, 7, 29})
    for (Index s : {0, 19})
      for (Index c : {0, 1}) EXPECT_NEAR(sound.channels(c, 20 * i + s), drawn(i, 2 * s + c), 1e-4);
  done({"sample", "m.h5", "-n", "3", "-o", "drawn.flac", "--rate", "16000"});
  EXPECT_EQ(read_sound(path("drawn.flac")).rate, 16000);
}

TEST_F(Recordings, SoundIsDrawnOnlyFromModelsOfRecordings) {
  write_arrays(path("big.npy"), {named("x", Matrix(50 * signals()))});
  done(fit("big.npy", "rows.h5"));
  refused(1, {"sample", "rows.h5", "-n", "3", "-o", "x.wav"}, {"x.wav", "rows.h5", "not learned from windows"});
  refused(2, {"sample", "--generator", "bars", "-n", "3", "-o", "x.wav"}, {"x.wav", "generator"});
  done(fit("big.npy", "m.h5", {"--window", "10"}));
  refused(2, {"sample", "m.h5", "-n", "3", "-o", "x.wav"}, {"samples a second", "--rate R"});
  refused(2, {"sample", "m.h5", "-n", "3", "-o", "x.npy", "--rate", "9"}, {"rate is for sound"});
  expect_in(done({"sample", "m.h5", "-n", "99", "-o", "x.wav", "--rate", "8000"}), "to fit the range of sound");
  EXPECT_NEAR(read_sound(path("x.wav")).channels.cwiseAbs().maxCoeff(), 0.9, 1e-3);
}

TEST_F(Recordings, OptionsThatMakeNoSenseAreRefused) {
  write_csv("eeg.csv", "time,Fz,Cz\n");
  refused(2, fit("eeg.csv", "m.h5", {"--hop", "3"}), {"hop", "--window N"});
  refused(2, fit("eeg.csv", "m.h5", {"--keep-time"}), {"keep-time", "--window N"});
  refused(2, fit("eeg.csv", "m.h5", {"--window", "8", "--hop", "0"}), {"hop is 0"});
  refused(2, fit("eeg.csv", "m.h5", {"--window", "0"}), {"window is 0"});
  refused(2, fit("eeg.csv", "m.h5", {"--window", "8", "--rate", "0"}), {"rate is 0"});
  refused(2, fit("eeg.csv", "m.h5", {"--window", "8", "--transpose"}), {"transpose", "--channels-in"});
  refused(1, fit("eeg.csv", "m.h5", {"--window", "2000"}), {"eeg.csv", "window is 2000", "only 1003"});
}

TEST_F(Recordings, TheTimeOfAPlainTableIsOnlyMentioned) {
  write_csv("eeg.csv", "time,Fz,Cz\n");
  write_csv("plain.csv", "Fz,Cz\n", false);
  const std::string told = done(fit("eeg.csv", "m.h5"));
  expect_in(told, "1003 data points of 3 dimensions");
  expect_in(told, "column 1 'time' rises evenly by 0.004, as time does, but is learned like any other");
  expect_not_in(done(fit("plain.csv", "m.h5")), "time does");
  done(fit("eeg.csv", "kept.h5", {"--window", "4", "--keep-time"}));
  EXPECT_EQ(recording("kept.h5").names, (Words{"time", "Fz", "Cz"}));
}

TEST_F(Recordings, LearningGoesOnFromACheckpoint) {
  write_csv("eeg.csv", "time,Fz,Cz\n");
  done(fit("eeg.csv", "whole.h5", {"--window", "16", "--hop", "5", "--iterations", "6"}));
  done(fit("eeg.csv", "half.h5", {"--window", "16", "--hop", "5", "--checkpoint", "c.h5", "--checkpoint-every", "3"}));
  done({"fit", "eeg.csv", "--resume", "c.h5", "--iterations", "6", "--threads", "1", "-o", "rest.h5"});
  EXPECT_EQ(load_model(path("rest.h5")).state.model.W, load_model(path("whole.h5")).state.model.W);
  EXPECT_EQ(recording("rest.h5").names, (Words{"Fz", "Cz"}));
}

TEST_F(Recordings, SmoothBasisFunctionsAreSmoothInTime) {
  write_csv("eeg.csv", "time,Fz,Cz\n");
  done(fit("eeg.csv", "m.h5", {"--window", "16", "--method", "factored", "--basis-prior", "gp"}));
  const ModelFile file = load_model(path("m.h5"));
  EXPECT_EQ(file.options->shape.rows, 16);
  EXPECT_EQ(file.options->shape.cols, 1);
  EXPECT_EQ(file.options->shape.channels, 2);
}

TEST_F(Recordings, PagesShowTimeCoursesOfNamedChannels) {
  write_csv("eeg.csv", "time,Fz,C<z\n");
  done(fit("eeg.csv", "m.h5", {"--window", "51", "--hop", "5", "--report", "fit.html"}));
  done({"report", "m.h5", "-o", "report.html"});
  for (const char* name : {"fit.html", "report.html"}) {
    const std::string page = read_file(path(name));
    expect_in(page, "<span>Fz</span><svg");
    expect_in(page, "<span>C&lt;z</span><svg");
    expect_in(page, "0.2 s</em>");
    expect_in(page, "seconds from the beginning of the window");
  }
  done(joined({"report", "m.h5", "-o", "report.html"}, {"--show-basis", "17x6"}));
  expect_not_in(read_file(path("report.html")), "<span>Fz</span><svg");
}

TEST_F(Recordings, SeparateLeavesTheTimeOutAndNamesChannels) {
  write_csv("eeg.csv", "time,Fz,Cz\n");
  const Words separate = {"separate", "eeg.csv", "-o", "out", "--restarts", "1", "--iterations", "5"};
  const std::string told = done(joined(separate, {"--report", "r.html"}));
  expect_in(told, "took the 3 columns of eeg.csv for channels");
  expect_in(told, "column 1 'time' rises evenly by 0.004: taken as the time (250 samples a second)");
  expect_in(told, "2 channels, 1003 samples");
  EXPECT_EQ(array("out/mixing.npy").rows(), 2);
  EXPECT_FALSE(std::filesystem::exists(path("out/source1.wav"))) << "a table is no sound, though it has a rate";
  const std::string page = read_file(path("r.html"));
  expect_in(page, "\"xLabel\":\"seconds\"");
  expect_in(page, "<td>Fz</td>");
  expect_in(done(joined(separate, {"--keep-time"})), "3 channels, 1003 samples");
}

TEST_F(Recordings, TablesOnTheirSideAreAskedAbout) {
  write_arrays(path("wide.npy"), {named("x", Matrix(signals().transpose().leftCols(600)))});
  write_arrays(path("deep.npy"), {named("x", signals())});
  const std::string question = "if the columns are the data points, add --transpose";
  expect_in(done(fit("wide.npy", "m.h5")), question);
  expect_in(done({"compare", "wide.npy", "--latents", "3", "--iterations", "1", "--threads", "1"}), question);
  expect_in(done({"separate", "wide.npy", "-o", "out", "--restarts", "1", "--iterations", "2"}),
            "took the 2 rows of wide.npy for channels");
  done(fit("deep.npy", "m.h5"));
  refused(1, {"infer", "m.h5", "wide.npy", "-o", "c.npz"}, {"600 columns", "2 dimensions", "--transpose"});
}

}  // namespace
}  // namespace gsc::test
