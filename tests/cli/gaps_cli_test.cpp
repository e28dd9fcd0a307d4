// --missing, --mask and --impute, as a user meets them.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "program_fixture.h"

namespace gsc::test {
namespace {

class GapsCli : public ProgramTest {
 protected:
  /// Bars, every third value missing: as NaN, as -99 and as a mask.
  GapsCli() {
    make_bars("whole.npy");
    whole_ = array("whole.npy");
    Matrix nan = whole_, value = whole_, mask = Matrix::Zero(whole_.rows(), whole_.cols());
    for (Index i = 0; i < whole_.size(); i += 3) {
      nan.data()[i] = std::numeric_limits<double>::quiet_NaN();
      value.data()[i] = -99;
      mask.data()[i] = 1;
    }
    write_arrays(path("nan.npy"), {named("data", nan)});
    write_arrays(path("value.npy"), {named("data", value)});
    write_arrays(path("mask.npy"), {named("mask", mask)});
    write_arrays(path("short.npy"), {named("mask", Matrix(mask.topRows(7)))});
  }
  Words fit(const std::string& data, const std::string& output, const Words& more) const {
    return joined({"fit", data, "-o", output, "--latents", "10", "--iterations", "15", "--threads", "1", "--quiet"},
                  more);
  }

  Matrix whole_;
};

TEST_F(GapsCli, NanValueAndMaskAreTheSame) {
  done(fit("nan.npy", "nan.h5", {"--missing", "nan"}));
  done(fit("value.npy", "value.h5", {"--missing=-99"}));
  done(fit("whole.npy", "mask.h5", {"--mask", "mask.npy"}));
  EXPECT_TRUE(model("nan.h5") == model("value.h5"));
  EXPECT_TRUE(model("nan.h5") == model("mask.h5"));
  EXPECT_EQ(load_model(path("nan.h5")).options->inference.missing, Missing::nan);

  // The model remembers that values may be missing, and fills them in better than the mean of their column.
  done({"infer", "nan.h5", "nan.npy", "-o", "codes.npz", "--impute", "filled.npy", "--impute-std", "std.csv",
        "--quiet"});
  const Matrix filled = array("filled.npy"), std = array("std.csv");
  const Vector means = whole_.colwise().mean().transpose();
  double error = 0, of_mean = 0;
  for (Index i = 0; i < whole_.size(); ++i) {
    const double truth = whole_.data()[i];
    if (i % 3 != 0) {
      EXPECT_EQ(filled.data()[i], truth);
      EXPECT_EQ(std.data()[i], 0);
      continue;
    }
    error += std::pow(filled.data()[i] - truth, 2);
    of_mean += std::pow(means[i % whole_.cols()] - truth, 2);
    EXPECT_GT(std.data()[i], 0);
  }
  EXPECT_LT(error, 0.5 * of_mean);

  done({"infer", "nan.h5", "value.npy", "--missing=-99", "-o", "c.npz", "--impute", "also.npy", "--quiet"});
  EXPECT_EQ(array("also.npy"), filled);
  done({"infer", "nan.h5", "nan.npy", "-o", "c.npz", "--impute", "smooth.npy", "--denoise-observed", "--quiet"});
  EXPECT_NE(array("smooth.npy")(0, 1), filled(0, 1));

  // Learning goes on from a checkpoint, which remembers too.
  done(fit("nan.npy", "part.h5", {"--missing", "nan", "--iterations", "10"}));
  done({"fit", "nan.npy", "--resume", "part.h5", "-o", "on.h5", "--iterations", "15", "--threads", "1", "--quiet"});
  EXPECT_TRUE(model("on.h5") == model("nan.h5"));
}

/// Windows of a recording with gaps are those that one cuts by hand, whichever way it is said what is missing. The time
/// column stays out.
TEST_F(GapsCli, WindowsOfARecordingMayHaveGaps) {
  constexpr Index kSamples = 900, kWindow = 6, kHop = 3;
  Matrix samples(kSamples, 3), mask = Matrix::Zero(kSamples, 3);
  for (Index t = 0; t < kSamples; ++t) {
    const auto time = static_cast<double>(t);
    samples.row(t) << 0.5 * time, std::sin(0.7 * time) + 0.01 * std::fmod(time, 7),
        std::cos(0.31 * time) + 0.01 * std::fmod(time, 5);
  }
  Matrix nan = samples, value = samples;
  for (Index t = 0; t < kSamples; ++t)
    for (const Index c : {1, 2})
      if ((t * 7 + c * 3) % 11 == 0) {
        nan(t, c) = std::numeric_limits<double>::quiet_NaN();
        value(t, c) = -99;
        mask(t, c) = 1;
      }
  const Index rows = (kSamples - kWindow) / kHop + 1;
  Matrix cut(rows, 2 * kWindow);
  for (Index i = 0; i < rows; ++i)
    for (Index k = 0; k < kWindow; ++k) cut.row(i).segment(2 * k, 2) = nan.row(i * kHop + k).rightCols(2);
  for (const auto& [name, table] : {std::pair<std::string, const Matrix*>{"r.npy", &samples},
                                    {"rn.npy", &nan},
                                    {"rv.npy", &value},
                                    {"rm.npy", &mask},
                                    {"cut.npy", &cut}})
    write_arrays(path(name), {named("data", *table)});

  const Words windows{"--window", "6", "--hop", "3", "--latents", "5"};
  const auto with = [&](Words more) {
    more.insert(more.end(), windows.begin(), windows.end());
    return more;
  };
  done(fit("cut.npy", "cut.h5", {"--missing", "nan", "--latents", "5"}));
  done(fit("rn.npy", "rn.h5", with({"--missing", "nan"})));
  done(fit("rv.npy", "rv.h5", with({"--missing=-99"})));
  done(fit("r.npy", "rm.h5", with({"--mask", "rm.npy"})));
  for (const std::string name : {"rn.h5", "rv.h5", "rm.h5"}) EXPECT_TRUE(model(name) == model("cut.h5")) << name;
  done({"infer", "rn.h5", "rn.npy", "-o", "c.npz", "--impute", "f.npy", "--quiet"});
  const Matrix filled = array("f.npy");
  ASSERT_EQ(filled.rows(), rows);
  EXPECT_TRUE(filled.allFinite());
  refused(1, fit("rn.npy", "m.h5", windows), {"sample", "NaN", "set missing to nan"});
}

TEST_F(GapsCli, TheFactoredMethodFillsInToo) {
  done(fit("nan.npy", "f.h5", {"--missing", "nan", "--method", "factored", "--iterations", "40"}));
  const ProgramResult result = done({"infer", "f.h5", "nan.npy", "-o", "codes.npz", "--impute", "filled.npy"});
  EXPECT_NE(result.err.find("deviations times"), std::string::npos) << result.err;
  const Matrix filled = array("filled.npy");
  const Vector means = whole_.colwise().mean().transpose();
  double error = 0, of_mean = 0;
  for (Index i = 0; i < whole_.size(); i += 3) {
    error += std::pow(filled.data()[i] - whole_.data()[i], 2);
    of_mean += std::pow(means[i % whole_.cols()] - whole_.data()[i], 2);
  }
  EXPECT_LT(error, 0.8 * of_mean);
}

TEST_F(GapsCli, NothingMissingIsSaid) {
  write_arrays(path("none.npy"), {named("mask", Matrix(Matrix::Zero(whole_.rows(), whole_.cols())))});
  const auto said = [&](Words words) {
    words.erase(std::find(words.begin(), words.end(), "--quiet"));
    return done(words).err;
  };
  const std::string note = "nothing is missing of ";
  EXPECT_NE(said(fit("whole.npy", "m.h5", {"--missing", "77"})).find(note + "whole.npy: no value in it is 77"),
            std::string::npos);
  EXPECT_NE(said(fit("whole.npy", "m.h5", {"--mask", "none.npy"})).find("none.npy is 0 everywhere"), std::string::npos);
  EXPECT_EQ(said(fit("value.npy", "m.h5", {"--missing=-99"})).find(note), std::string::npos);
}

TEST_F(GapsCli, TheModelRemembersWhatStandsForMissingValues) {
  done(fit("value.npy", "value.h5", {"--missing=-99", "--checkpoint", "part.h5", "--checkpoint-every", "5"}));
  done(fit("whole.npy", "mask.h5", {"--mask", "mask.npy", "--checkpoint", "masked.h5", "--checkpoint-every", "5"}));
  const auto resumed = [&](const std::string& data, const std::string& part, const Words& more = {}) {
    Words words{"fit", data, "-o", "rest.h5", "--resume", part, "--threads", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return done(words).err;
  };
  resumed("value.npy", "part.h5");
  EXPECT_TRUE(model("rest.h5") == model("value.h5"));
  EXPECT_EQ(load_model(path("rest.h5")).missing.value, "-99");
  done({"infer", "value.h5", "value.npy", "-o", "c.npz", "--impute", "f.npy", "--quiet"});
  done({"infer", "value.h5", "nan.npy", "--missing", "NaN", "-o", "c.npz", "--impute", "also.npy", "--quiet"});
  EXPECT_EQ(array("f.npy"), array("also.npy"));
  EXPECT_NE(done({"infer", "value.h5", "whole.npy", "-o", "c.npz"}).err.find("no value in it is -99"),
            std::string::npos);

  const std::string said = resumed("whole.npy", "masked.h5");
  EXPECT_NE(said.find("learned with a mask"), std::string::npos) << said;
  EXPECT_NE(said.find("no value in it is NaN, and the model was learned with gaps"), std::string::npos) << said;
  EXPECT_EQ(resumed("whole.npy", "masked.h5", {"--mask", "mask.npy"}).find("missing"), std::string::npos);
  EXPECT_TRUE(model("rest.h5") == model("mask.h5"));
}

/// NaN that nobody called missing are mistakes, whatever else is missing.
TEST_F(GapsCli, NanBesideAMaskOrAValueIsAnError) {
  Matrix both = array("value.npy");
  both(4, 2) = std::numeric_limits<double>::quiet_NaN();
  Matrix mask = array("mask.npy");
  mask(4, 2) = 0;
  write_arrays(path("both.npy"), {named("data", both)});
  write_arrays(path("not4.npy"), {named("mask", mask)});
  const Words place{"both.npy: row 4, column 2 (from 0) is NaN"};
  refused(1, fit("both.npy", "m.h5", {"--missing=-99"}), {place[0], "is -99", "set missing to nan"});
  for (const Words& error : {Words{}, Words{"--missing", "error"}}) {
    Words words = fit("both.npy", "m.h5", {"--mask", "not4.npy"});
    words.insert(words.end(), error.begin(), error.end());
    refused(1, words, {place[0], "the mask has 0 there", "set missing to nan"});
  }
  done(fit("both.npy", "m.h5", {"--mask", "not4.npy", "--missing", "nan"}));
  mask(4, 2) = 1;
  write_arrays(path("with4.npy"), {named("mask", mask)});
  done(fit("both.npy", "m.h5", {"--mask", "with4.npy", "--missing=-99"}));
  mask(7, 3) = std::numeric_limits<double>::quiet_NaN();
  write_arrays(path("bad.npy"), {named("mask", mask)});
  refused(1, fit("whole.npy", "m.h5", {"--mask", "bad.npy"}),
          {"bad.npy: row 7, column 3 (from 0) of the mask is NaN", "0 where a value is there"});
}

/// Whatever is under a mask: the bits are the same.
TEST_F(GapsCli, WhatAMaskHidesDoesNotMatter) {
  done(fit("whole.npy", "mask.h5", {"--mask", "mask.npy"}));
  for (const double value : {std::numeric_limits<double>::infinity(), 1e300, -1e300}) {
    Matrix hidden = whole_;
    for (Index i = 0; i < hidden.size(); i += 3) hidden.data()[i] = value;
    write_arrays(path("hidden.npy"), {named("data", hidden)});
    done(fit("hidden.npy", "hidden.h5", {"--mask", "mask.npy"}));
    EXPECT_TRUE(model("hidden.h5") == model("mask.h5")) << value;
  }
}

TEST_F(GapsCli, TextWithEmptyCells) {
  const Matrix nan = array("nan.npy");
  std::string text = "c0";
  for (Index d = 1; d < nan.cols(); ++d) text += ",c" + std::to_string(d);
  const std::string header = text;
  const char* const signs[] = {"", "NA", "nan", "null"};
  int gap = 0;
  for (Index n = 0; n < nan.rows(); ++n)
    for (Index d = 0; d < nan.cols(); ++d) {
      text += d == 0 ? '\n' : ',';
      if (std::isnan(nan(n, d)))
        text += signs[gap++ % 4];
      else
        text += fmt::format("{}", nan(n, d));
    }
  write_file(path("nan.csv"), text + "\n");
  done(fit("nan.npy", "npy.h5", {"--missing", "nan"}));
  done(fit("nan.csv", "csv.h5", {"--missing", "NAN"}));
  EXPECT_TRUE(model("csv.h5") == model("npy.h5"));
  refused(1, fit("nan.csv", "m.h5", {}), {"nan.csv: row 0, column 0 (from 0) is NaN", "set missing to nan"});
  done({"infer", "csv.h5", "nan.csv", "-o", "c.npz", "--impute", "f.csv", "--impute-std", "s.tsv", "--quiet"});
  EXPECT_EQ(read_file(path("f.csv")).substr(0, header.size() + 1), header + "\n");
  EXPECT_EQ(open_data(path("s.tsv"))->column_names(), open_data(path("nan.csv"))->column_names());
}

/// What a file of floats has in place of -99.9.
TEST_F(GapsCli, ValuesAreMetInThePrecisionOfTheFile) {
  Matrix rounded = whole_;
  for (Index i = 0; i < rounded.size(); i += 3) rounded.data()[i] = static_cast<double>(-99.9F);
  write_arrays(path("float.npy"), {named("data", rounded)});
  done(fit("float.npy", "float.h5", {"--missing=-99.9"}));
  done(fit("nan.npy", "nan.h5", {"--missing", "nan"}));
  EXPECT_TRUE(model("float.h5") == model("nan.h5"));
}

/// Latents that only a slab broader than rounding can tell apart.
TEST_F(GapsCli, SingularStatesAreSaid) {
  done(fit("whole.npy", "m.h5", {}));
  ModelFile file = load_model(path("m.h5"));
  for (Index h = 1; h < 10; ++h) file.state.model.W.col(h) = file.state.model.W.col(0);
  file.state.model.slab = Slab::diagonal(Vector::Constant(10, 1e30));
  save_model(path("singular.h5"), file);
  const auto infer = [&](const std::string& model) {
    return done({"infer", model, "nan.npy", "-o", "c.npz", "--missing", "nan", "--impute", "f.npy", "--metrics",
                 model + ".json"});
  };
  const std::string note = "data points had a numerically singular state (300 times)";
  const std::string said = infer("singular.h5").err;
  EXPECT_NE(said.find(note), said.rfind(note)) << "of the posterior and of the imputed values:\n" << said;
  EXPECT_NE(said.find(note), std::string::npos) << said;
  EXPECT_NE(read_file(path("singular.h5.json")).find("\"clamped_pivots\": 300,"), std::string::npos);
  EXPECT_EQ(infer("m.h5").err.find("singular state"), std::string::npos);
  EXPECT_NE(read_file(path("m.h5.json")).find("\"clamped_pivots\": 0,"), std::string::npos);
}

TEST_F(GapsCli, RefusalsSayWhatToDo) {
  refused(1, fit("nan.npy", "m.h5", {}), {"row 0, column 0", "NaN", "missing"});
  refused(2, fit("nan.npy", "m.h5", {"--missing", "none"}), {"missing is 'none'", "error, nan, or the number"});
  refused(1, fit("whole.npy", "m.h5", {"--mask", "short.npy"}),
          {"short.npy", "7 rows", "anything but 0 where it is missing"});
  refused(2, fit("nan.npy", "m.h5", {"--missing", "nan", "--noise", "full"}),
          {"--noise is full", "set --noise to scalar or diagonal"});
  done(fit("whole.npy", "whole.h5", {}));
  refused(2, {"infer", "whole.h5", "whole.npy", "-o", "c.npz", "--impute", "f.npy"},
          {"missing is error", "--mask FILE"});
  refused(2, {"infer", "whole.h5", "whole.npy", "-o", "c.npz", "--denoise-observed"}, {"add --impute FILE"});
  done(fit("whole.npy", "full.h5", {"--noise", "full"}));
  refused(2, {"infer", "full.h5", "whole.npy", "-o", "c.npz", "--impute", "f.npy", "--denoise-observed"},
          {"denoise-observed", "full.h5", "scalar or diagonal"});
  EXPECT_FALSE(std::filesystem::exists(path("c.npz")));
}

}  // namespace
}  // namespace gsc::test
