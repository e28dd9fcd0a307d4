// The program in a pipe, and tables that lie on their side or are no tables at all.

#include <cmath>

#include "program_fixture.h"

namespace gsc::test {
namespace {

class Streams : public ProgramTest {
 protected:
  static ProgramOptions given(const std::string& input) {
    ProgramOptions options;
    options.input = input;
    return options;
  }
  static Words fit(const std::string& data, const std::string& output, const Words& more = {}) {
    return joined({"fit", data, "-o", output, "--latents", "6", "--iterations", "3", "--threads", "1"}, more);
  }
};

TEST_F(Streams, EveryCommandInAPipeDoesAsWithFiles) {
  make_bars("bars.npy");
  make_bars("bars.csv");
  const Words sample{"sample", "--generator", "bars", "--latents", "10", "-n", "300", "-o", "-"};
  const ProgramResult csv = done(sample);
  EXPECT_EQ(csv.out, read_file(path("bars.csv")));
  EXPECT_NE(csv.err.find("wrote standard output: 300 data points"), std::string::npos) << csv.err;
  Words as_npy = sample;
  as_npy.insert(as_npy.end(), {"--output-format", "npy"});
  EXPECT_EQ(done(as_npy).out, read_file(path("bars.npy")));
  as_npy.back() = "tsv";
  const std::string tsv = done(as_npy).out;
  EXPECT_EQ(std::count(tsv.begin(), tsv.end(), '\t'), 300 * 24);

  done(fit("bars.npy", "file.h5", {"--quiet"}));
  for (const std::string& input : {csv.out, tsv, read_file(path("bars.npy"))}) {
    const ProgramResult result = done(fit("-", "pipe.h5", {"--metrics", "m.json"}), given(input));
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(model("pipe.h5").W, model("file.h5").W);
    EXPECT_EQ(Json::parse(read_file(path("m.json")))["data"], "standard input");
  }
  const ProgramResult info = done({"info", "-"}, given(csv.out));
  EXPECT_NE(info.out.find("standard input: a table, 300 rows"), std::string::npos) << info.out;

  const ProgramResult codes = done({"infer", "file.h5", "-", "-o", "-"}, given(csv.out));
  EXPECT_EQ(codes.out.substr(0, 14), "mean_0,mean_1,");
  EXPECT_EQ(codes.out.find("gsc"), std::string::npos);  // talk is on standard error
  EXPECT_NE(codes.err.find("wrote standard output"), std::string::npos) << codes.err;
  done({"infer", "file.h5", "bars.npy", "-o", "codes.csv"});
  EXPECT_EQ(codes.out, read_file(path("codes.csv")));
}

TEST_F(Streams, WrongUseIsRefused) {
  make_bars();
  ProgramOptions terminal;
  terminal.terminal_input = true;
  refused(2, fit("-", "out.h5"), {"standard input", "terminal", "cat data.csv | gsc fit -"}, terminal);
  refused(1, fit("-", "out.h5"), {"standard input: is empty"}, given(""));
  refused(1, fit("-", "out.h5"), {"standard input:2", "'x' is not a number"}, given("1,2\n3,x\n"));
  refused(1, fit("-", "out.h5"), {"standard input: is a PNG picture"}, given("\x89PNG\r\n\x1a\n..."));
  refused(1, fit("-", "out.h5", {"--input-format", "npy"}), {"standard input: is not a .npy array but text"},
          given("1,2\n"));
  refused(2, fit("bars.npy", "out.h5", {"--input-format", "xls"}), {"input-format is 'xls'", "csv, tsv, npy"});
  refused(2, fit("bars.npy", "-"), {"output is -", ".h5"});
  refused(2, {"sample", "--generator", "bars", "-n", "5", "-o", "-", "--with-latents"}, {"with-latents", ".npz"});
  refused(2, {"sample", "--generator", "bars", "-n", "5", "-o", "a.csv", "--output-format", "npy"},
          {"output-format is for -o -", "a.csv"});
  done(fit("bars.npy", "m.h5", {"--quiet"}));
  refused(2, {"infer", "m.h5", "bars.npy", "-o", "-", "--metrics", "-"}, {"- is given for two outputs"});
  refused(2, {"infer", "m.h5", "bars.npy", "-o", "c.npy", "--variance"}, {"variance", ".npy holds one array"});
  refused(1, {"infer", "-", "bars.npy", "-o", "c.npz"}, {"-: there is no such model file"}, given("1,2\n"));
}

TEST_F(Streams, ABrokenPipeEndsQuietly) {
  ProgramOptions head;
  head.read_bytes = 1000;
  const ProgramResult result = run({"sample", "--generator", "bars", "-n", "20000", "-o", "-"}, head);
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out.size(), 1000u);
  EXPECT_EQ(result.err, "");
  // The same for text that fits into the pipe's buffer, or is printed at the very end.
  head.read_bytes = 0;
  const ProgramResult help = run({"options-markdown"}, head);
  EXPECT_TRUE(help.code == 1 || help.code == 0) << help.code;
  EXPECT_EQ(help.err, "");
}

TEST_F(Streams, AFormatMayBeGivenForAnyFile) {
  make_bars("bars.csv");
  std::filesystem::rename(path("bars.csv"), path("bars.txt"));
  refused(1, fit("bars.txt", "m.h5"), {"bars.txt", "'.txt'", "it is text", ".csv"});
  done(fit("bars.txt", "m.h5", {"--input-format", "csv", "--quiet"}));
  EXPECT_EQ(model("m.h5").dimensions(), 25);
  refused(1, fit("none.txt", "m.h5", {"--input-format", "csv"}), {"none.txt: cannot be opened"});
  refused(1, fit(".", "m.h5", {"--input-format", "csv"}), {"is a folder"});
}

TEST_F(Streams, CodesAsText) {
  make_bars();
  done(fit("bars.npy", "m.h5", {"--quiet", "--candidates", "4", "--max-active", "3"}));
  const Words more{"--variance", "--states", "2", "--with-candidates", "--quiet"};
  const auto infer = [&](const std::string& output, const Words& words) {
    Words all{"infer", "m.h5", "bars.npy", "-o", output};
    all.insert(all.end(), words.begin(), words.end());
    done(all);
  };
  infer("codes.npz", more);
  infer("codes.csv", more);
  infer("codes.tsv", {"--quiet"});
  infer("codes.npy", {"--quiet"});
  const Matrix mean = array("codes.npz:mean");
  EXPECT_EQ(array("codes.npy"), mean);
  const Matrix all = array("codes.csv");
  // mean, probability, log-likelihood, variance, two states of three latents, two weights, four candidates
  ASSERT_EQ(all.cols(), 6 + 6 + 1 + 6 + 6 + 2 + 4);
  EXPECT_EQ(all.leftCols(6), mean);
  EXPECT_EQ(all.middleCols(6, 6), array("codes.npz:probability"));
  EXPECT_EQ(all.col(12), array("codes.npz:log_likelihood"));
  EXPECT_EQ(all.middleCols(13, 6), array("codes.npz:variance"));
  EXPECT_EQ(all.middleCols(25, 2), array("codes.npz:state_weights"));
  EXPECT_EQ(all.rightCols(4), array("codes.npz:candidates"));
  EXPECT_EQ(array("codes.tsv"), all.leftCols(13));
  const std::string header = read_file(path("codes.csv")).substr(0, 400);
  for (const char* name : {"mean_0,mean_1,", ",mean_5,probability_0,", ",log_likelihood,variance_0,", ",states_0_0,",
                           ",states_1_2,state_weights_0,", ",candidates_3\n"})
    EXPECT_NE(header.find(name), std::string::npos) << header;
}

TEST_F(Streams, TablesOnTheirSide) {
  done({"sample", "--generator", "laplace", "--latents", "4", "-n", "600", "-o", "up.npy", "--quiet"});
  const Matrix up = array("up.npy");
  const Matrix turned = up.transpose();
  for (const std::string name : {"side.npy", "side.csv", "side.h5"}) {
    write_arrays(path(name), {named("x", turned)});
    const ProgramResult told = done({"fit", name, "-o", "side.model.h5", "--latents", "2", "--iterations", "1"});
    const std::string said = "has 4 rows and 600 columns";
    const std::size_t where = told.err.find(said);
    ASSERT_NE(where, std::string::npos) << told.err;
    EXPECT_EQ(told.err.find(said, where + 1), std::string::npos) << "once is enough: " << told.err;
    EXPECT_NE(told.err.find("add --transpose"), std::string::npos) << told.err;
    EXPECT_EQ(done({"fit", name, "-o", "x.h5", "--latents", "2", "--iterations", "1", "--quiet"}).err, "");
    EXPECT_NE(done({"info", name}).out.find("add --transpose"), std::string::npos);

    const ProgramResult asked = done(fit(name, "turned.h5", {"--transpose", "--candidates", "4"}));
    EXPECT_EQ(asked.err.find("--transpose"), std::string::npos) << asked.err;
    done(fit("up.npy", "up.h5", {"--candidates", "4", "--quiet"}));
    EXPECT_EQ(model("turned.h5").W, model("up.h5").W) << name;
    refused(1, {"infer", "up.h5", name, "-o", "codes.npz"}, {"600 columns", "4 dimensions", "--transpose exchanges"});
    done({"infer", "up.h5", name, "-o", "codes.npz", "--transpose", "--quiet"});
    EXPECT_EQ(array("codes.npz:mean").rows(), 600);
  }
  EXPECT_EQ(done(fit("up.npy", "up.h5")).err.find("--transpose"), std::string::npos);
  EXPECT_EQ(done({"info", "up.npy"}).out.find("--transpose"), std::string::npos);
  const ProgramResult wrong = done(fit("up.npy", "wrong.h5", {"--transpose"}));
  EXPECT_NE(wrong.err.find("leave out --transpose"), std::string::npos) << wrong.err;
}

TEST_F(Streams, PicturesSoundAndModelsAreNoTables) {
  make_bars();
  done(fit("bars.npy", "m.h5", {"--quiet"}));
  write_file(path("photo.png"), "\x89PNG\r\n\x1a\n");
  write_file(path("photo.tif"), "not looked into");
  write_file(path("song.wav"), std::string("RIFF\x24\0\0\0WAVEfmt ", 16));
  write_file(path("scan"), "\xff\xd8\xff\xe0 and so on");
  for (const std::string picture : {"photo.png", "photo.tif", "scan"}) {
    const Words parts{picture + ": is a picture", "tables of numbers", "gsc denoise " + picture + " -o"};
    refused(1, fit(picture, "out.h5"), parts);
    refused(1, {"infer", "m.h5", picture, "-o", "out.npz"}, parts);
    refused(1, {"info", picture}, parts);
  }
  const Words parts{"song.wav: is sound", "tables of numbers", "gsc separate song.wav -o"};
  refused(1, fit("song.wav", "out.h5"), parts);
  refused(1, {"infer", "m.h5", "song.wav", "-o", "out.npz"}, parts);
  refused(1, {"info", "song.wav"}, parts);
  for (const Words& words :
       {Words{"report", "bars.npy", "-o", "out.html"}, Words{"infer", "bars.npy", "other.npy", "-o", "c.npz"},
        Words{"sample", "bars.npy", "-n", "3", "-o", "d.npy"}, fit("bars.npy", "out.h5", {"--init", "bars.npy"})})
    refused(1, words, {"bars.npy: is not a model file", "a NumPy array", "gsc fit"});
  for (const std::string command : {"fit", "separate"})
    refused(1, {command, "m.h5", "-o", "x.h5"}, {"m.h5: is a model, not data", "m.h5:/parameters/W"});
  refused(2, {"infer", "bars.npy", "m.h5", "-o", "c.npz"}, {"the model comes first", "gsc infer m.h5 bars.npy"});
  refused(1, {"separate", "photo.png", "-o", "out"}, {"is a picture", "sound and tables"});
  std::filesystem::copy(path("song.wav"), path("song.bin"));
  refused(1, {"separate", "song.bin", "-o", "out"}, {"song.bin: is sound", ".wav"});
  refused(2, {"info", "bars.npy", "--show-basis", "5x5"}, {"show-basis is for models", "bars.npy"});
}

// What a stranger tries.
TEST_F(Streams, WrongCallsAreAnsweredInWords) {
  make_bars();
  done(fit("bars.npy", "m.h5", {"--quiet"}));
  write_file(path("photo.png"), std::string("\x89PNG\r\n\x1a\n[\0\x01", 11));
  write_file(path("empty.h5"), "");
  write_file(path("empty.mat"), "");
  write_file(path("text.mat"), "hello");
  write_file(path("text.h5"), "hello");
  write_file(path("row.csv"), "1,2,3\n");
  std::filesystem::create_directory(path("folder"));
  const struct {
    int code;
    Words words, says;
  } cases[] = {
      {2, {"--fit"}, {"unknown option --fit", "A command comes first"}},
      {1, fit("empty.h5", "a.h5"), {"empty.h5: is empty"}},
      {1, fit("empty.mat", "a.h5"), {"empty.mat: is empty"}},
      {1, fit("text.mat", "a.h5"), {"text.mat: is too short for a MATLAB file (it is text)"}},
      {1, {"info", "text.h5"}, {"text.h5: is not HDF5: by its first bytes it is text; give"}},
      {1, {"info", "empty.h5"}, {"gsc info: empty.h5: is empty"}},
      {1, fit("row.csv", "a.h5"), {"row.csv has 1 row and 3 columns", "add --transpose"}},
      {2, fit("bars.npy", "folder"), {"output is folder: that is a folder"}},
      {2,
       fit("bars.npy", "a.h5", {"--config", "photo.png"}),
       {"photo.png is a PNG picture, not a text file of options"}},
      {2, fit("bars.npy", "a.h5", {"--config", "folder"}), {"folder is not a file", "text file of options"}},
      {2, {"infer", "m.h5", "bars.npy", "-o", "c.npz", "--states", "1000000000"}, {"states is 1000000000", "65536"}},
      {1, {"sample", "m.h5", "-n", "99999999999999", "-o", "d.npy"}, {"count is 99999999999999", "memory", "fewer"}},
  };
  for (const auto& wrong : cases) {
    refused(wrong.code, wrong.words, wrong.says);
    const std::string err = run(wrong.words).err;
    for (const char c : err) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << err;
    EXPECT_LT(std::count(err.begin(), err.end(), '\n'), 5) << err;
  }
}

}  // namespace
}  // namespace gsc::test
