// gsc inpaint as a user meets it.

#include <gsc/arrays.h>
#include <gsc/inpaint.h>
#include <gsc/metrics.h>
#include <gsc/picture_files.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>

#include "expect_error.h"
#include "run_program.h"

namespace gsc::test {
namespace {

using Json = nlohmann::json;

class InpaintProgram : public ::testing::Test {
 protected:
  ProgramResult run(std::vector<std::string> words, const ProgramOptions& options = {}) {
    words.insert(words.begin(), "inpaint");
    return run_program(folder_.path(), words, options);
  }
  Picture drawing(PixelDepth depth = PixelDepth::bits8, int channels = 1, Index size = 48) const {
    Picture picture;
    picture.depth = depth;
    const double unit = depth == PixelDepth::bits16 ? 257 : depth == PixelDepth::bits8 ? 1 : 1 / 255.0;
    for (int c = 0; c < channels; ++c) {
      Matrix pixels(size, size + 8);
      for (Index y = 0; y < size; ++y)
        for (Index x = 0; x < size + 8; ++x)
          pixels(y, x) = unit * std::round(120 + 10 * c + 60 * std::sin(static_cast<double>(x + y / 2) / 2.5));
      picture.channels.push_back(pixels);
    }
    return picture;
  }
  std::string draw(const std::string& name, const Picture& picture) {
    write_picture(folder_.path() / name, picture);
    return name;
  }
  /// White where something is missing: a cross of lines.
  Picture mask(Index height, Index width) const {
    Picture picture;
    picture.channels = {Matrix::Zero(height, width)};
    picture.channels[0].middleRows(height / 2, 3).setConstant(255);
    picture.channels[0].middleCols(width / 3, 2).setConstant(255);
    return picture;
  }
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  /// What a refusal says; its exit code is checked.
  std::string refusal(const std::vector<std::string>& words, int code) {
    const ProgramResult result = run(words);
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_FALSE(std::filesystem::exists(file("out.png")));
    return result.err;
  }

  TempFolder folder_;
};

TEST_F(InpaintProgram, AnExperimentWritesEverything) {
  draw("whole.png", drawing());
  const ProgramResult result =
      run({"whole.png", "-o", "out.png", "--observe", "0.4", "--keep-damaged", "damaged.png", "--std", "std.tif",
           "--report", "r.html", "--metrics", "m.json", "--quality", "fast"});
  ASSERT_EQ(result.code, 0) << result.err;
  expect_says(result.err, {"% of the values are missing", "what is observed is kept", "rounds of groups", "thread",
                           "held out", "within two deviations", "inpainted       PSNR", "wrote out.png"});
  const Json metrics = Json::parse(read_file(file("m.json")));
  for (const char* field :
       {"command", "version", "seed", "threads", "seconds", "height", "width", "channels", "values", "missing",
        "deepest", "noise_std", "observed_kept", "held_out", "psnr", "ssim", "coverage", "options"})
    EXPECT_TRUE(metrics.contains(field)) << field;
  EXPECT_GT(metrics["psnr"].get<double>(), metrics["psnr_first_guess"].get<double>() + 5);
  // What is set aside comes back for the last rounds, which in so regular a picture is worth a lot.
  EXPECT_LT(metrics["held_out"]["psnr"].get<double>(), metrics["psnr"].get<double>() + 1);
  EXPECT_GT(metrics["held_out"]["psnr"].get<double>(), metrics["psnr_first_guess"].get<double>());
  const std::string page = read_file(file("r.html"));
  expect_says(page,
              {"class=\"slider\"", "damaged", "mask", "white is missing", "standard deviation", "How far to trust it"});
  EXPECT_EQ(read_picture(file("std.tif")).depth, PixelDepth::real32);

  // The damaged picture it kept gives the same result: what is missing is 0 there.
  const ProgramResult again = run({"damaged.png", "-o", "again.png", "--missing", "0", "--quality", "fast", "--clean",
                                   "whole.png", "--metrics", "-", "--quiet"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(read_file(file("again.png")), read_file(file("out.png")));
  EXPECT_EQ(Json::parse(again.out)["psnr"], metrics["psnr"]);
  EXPECT_EQ(again.err, "");
}

TEST_F(InpaintProgram, MasksOfAllKinds) {
  for (const PixelDepth depth : {PixelDepth::bits8, PixelDepth::bits16, PixelDepth::real32})
    for (const int channels : {1, 3}) {
      const Picture whole = drawing(depth, channels);
      Picture damaged = whole, hole = mask(48, 56);
      for (Matrix& channel : damaged.channels)
        channel = (hole.channels[0].array() != 0).select(depth == PixelDepth::bits16 ? 40000.0 : 0.5, channel);
      const std::string extension = depth == PixelDepth::real32 ? ".tif" : ".png";
      draw("in" + extension, damaged);
      draw("mask.png", hole);
      for (Matrix& channel : hole.channels) channel = (channel.array() == 0).cast<double>() * 255;
      draw("inverted.png", hole);
      const auto fill = [&](const std::string& out, std::vector<std::string> words) {
        words.insert(words.begin(), {"in" + extension, "-o", out + extension, "--quality", "fast", "--quiet"});
        const ProgramResult result = run(words);
        EXPECT_EQ(result.code, 0) << result.err;
        return read_picture(file(out + extension));
      };
      const Picture filled = fill("a", {"--mask", "mask.png"});
      EXPECT_EQ(filled.depth, depth);
      EXPECT_GT(psnr(whole, filled, whole.peak()), 30) << static_cast<int>(depth) << ' ' << channels;
      const Picture same = fill("b", {"--mask", "inverted.png", "--invert-mask"});
      for (std::size_t c = 0; c < filled.channels.size(); ++c) EXPECT_EQ(filled.channels[c], same.channels[c]);
    }
}

/// Three equal channels, paint on a transparent layer, and JPEG are one mask.
TEST_F(InpaintProgram, MasksOfDrawingPrograms) {
  Picture damaged = drawing();
  const Picture hole = mask(48, 56);
  damaged.channels[0] = (hole.channels[0].array() != 0).select(255.0, damaged.channels[0]);
  draw("in.png", damaged);
  draw("mask.png", hole);
  Picture colours = hole;
  colours.channels.assign(3, hole.channels[0]);
  draw("colours.png", colours);
  Picture layer = colours;
  for (Matrix& channel : layer.channels) channel.setConstant(255);
  layer.alpha = hole.channels[0];
  draw("layer.png", layer);
  draw("grey.jpg", hole);
  draw("colours.jpg", colours);
  const auto fill = [&](const std::string& with, Parts said) {
    const ProgramResult result = run({"in.png", "-o", "out.png", "--mask", with, "--quality", "fast"});
    EXPECT_EQ(result.code, 0) << result.err;
    expect_says(result.err, said);
    return read_file(file("out.png"));
  };
  const std::string expected = fill("mask.png", {"done in"});
  EXPECT_EQ(fill("colours.png", {"done in"}), expected);
  EXPECT_EQ(fill("layer.png", {"done in"}), expected);
  EXPECT_EQ(fill("grey.jpg", {"grey.jpg is a JPEG file", "a quarter of white"}), expected);
  EXPECT_EQ(fill("colours.jpg", {"is a JPEG file"}), expected);
}

TEST_F(InpaintProgram, CubesAreArrays) {
  const Picture whole = drawing(PixelDepth::real32, 5, 30);
  const Index height = whole.height(), width = whole.width();
  Matrix values(height, width * 5);
  for (Index band = 0; band < 5; ++band)
    for (Index x = 0; x < width; ++x) values.col(x * 5 + band) = whole.channels[static_cast<std::size_t>(band)].col(x);
  Matrix damaged = values;
  Random random(1);
  for (double& value : damaged.reshaped())
    if (std::uniform_real_distribution<double>()(random) < 0.5) value = std::nan("");
  const auto write = [&](const std::string& name, const Matrix& matrix) {
    write_arrays(folder_.path() / name, {NamedArray{.name = "x", .shape = {height, width, 5}, .real = matrix.data()}});
  };
  write("cube.npy", damaged);
  write("whole.npy", values);
  const ProgramResult result = run({"cube.npy", "-o", "out.npy", "--missing", "nan", "--clean", "whole.npy", "--std",
                                    "std.npy", "--report", "r.html", "--quality", "fast", "--metrics", "-"});
  ASSERT_EQ(result.code, 0) << result.err;
  const Json metrics = Json::parse(result.out);
  EXPECT_EQ(metrics["channels"], 5);
  EXPECT_GT(metrics["psnr"].get<double>(), metrics["psnr_first_guess"].get<double>() + 3);
  expect_says(read_file(file("out.npy")), "(" + std::to_string(height) + ", " + std::to_string(width) + ", 5)");
  // NaN that nobody calls missing.
  expect_says(refusal({"cube.npy", "-o", "out.png", "--missing", "0"}, 1), {"cube.npy", "is NaN", "--missing nan"});
  expect_says(refusal({"cube.npy", "-o", "out.png", "--missing", "nan"}, 2), {"out.png", "1 or 3 channels"});
}

TEST_F(InpaintProgram, TiffOfManyBands) {
  using enum PixelDepth;
  for (const PixelDepth depth : {bits8, bits16, real32}) {
    const Picture whole = drawing(depth, 6, 30);
    Picture damaged = whole;
    Random random(1);
    for (Matrix& band : damaged.channels)
      for (double& value : band.reshaped())
        if (std::uniform_real_distribution<double>()(random) < 0.4) value = 0;
    draw("cube.tif", damaged);
    draw("whole.tif", whole);
    const ProgramResult result = run({"cube.tif", "-o", "filled.tif", "--missing", "0", "--clean", "whole.tif", "--std",
                                      "std.tif", "--quality", "fast", "--metrics", "-"});
    ASSERT_EQ(result.code, 0) << result.err;
    const Json metrics = Json::parse(result.out);
    EXPECT_EQ(metrics["channels"], 6);
    EXPECT_GT(metrics["psnr"].get<double>(), metrics["psnr_first_guess"].get<double>() + 3);
    const Picture filled = read_picture(file("filled.tif"), NanPixels::refused, Bands::taken);
    EXPECT_EQ(filled.depth, depth);
    EXPECT_EQ(filled.channels.size(), 6U);
    EXPECT_EQ(read_picture(file("std.tif"), NanPixels::refused, Bands::taken).channels.size(), 6U);
  }
  expect_says(refusal({"cube.tif", "-o", "out.png", "--missing", "0"}, 2), {"out.png", "1 or 3 channels", "TIFF"});
  const ProgramResult denoised = run_program(folder_.path(), {"denoise", "cube.tif", "-o", "out.png"}, {});
  EXPECT_EQ(denoised.code, 1);
  expect_says(denoised.err, {"cube.tif", "6 values a pixel", "gsc inpaint"});
}

TEST_F(InpaintProgram, LearnsFromAModel) {
  draw("other.png", drawing(PixelDepth::bits8, 1, 64));
  draw("whole.png", drawing());
  const ProgramResult learned = run_program(
      folder_.path(), {"denoise", "other.png", "-o", "d.png", "--save-model", "m.h5", "--quality", "fast"}, {});
  ASSERT_EQ(learned.code, 0) << learned.err;
  const ProgramResult result = run(
      {"whole.png", "-o", "a.png", "--observe", "0.3", "--learn-from", "m.h5", "--quality", "fast", "--metrics", "-"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_GT(Json::parse(result.out)["psnr"].get<double>(), 25);
  ASSERT_EQ(run({"whole.png", "-o", "b.png", "--observe", "0.3", "--quality", "fast"}).code, 0);
  EXPECT_NE(read_picture(file("a.png")).channels, read_picture(file("b.png")).channels);
  draw("colour.png", drawing(PixelDepth::bits8, 3));
  expect_says(refusal({"colour.png", "-o", "out.png", "--missing", "0", "--learn-from", "m.h5"}, 2),
              {"learn-from is m.h5", "dimensions", "P x P x 3"});
  expect_says(refusal({"whole.png", "-o", "out.png", "--missing", "0", "--learn-from", "none.h5"}, 1), "none.h5");
}

TEST_F(InpaintProgram, ATiffWithNanIsFilled) {
  const Picture whole = drawing(PixelDepth::real32);
  Picture damaged = whole;
  damaged.channels[0].block(10, 10, 4, 4).setConstant(-1);
  draw("in.tif", damaged);
  // Our writer refuses NaN, so the bytes of -1 are made NaN: all bits of the exponent set.
  std::string bytes = read_file(file("in.tif"));
  const float from = -1, to = std::nanf("");
  std::string old(reinterpret_cast<const char*>(&from), 4), fresh(reinterpret_cast<const char*>(&to), 4);
  for (std::size_t at = 0; (at = bytes.find(old, at)) != std::string::npos; at += 4) bytes.replace(at, 4, fresh);
  write_file(file("nan.tif"), bytes);
  expect_says(refusal({"nan.tif", "-o", "out.png", "--missing", "-1"}, 1),
              {"nan.tif", "row 10, column 10", "is NaN", "--missing nan"});
  const ProgramResult result = run({"nan.tif", "-o", "filled.tif", "--missing", "nan", "--quality", "fast", "--quiet"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_GT(psnr(whole, read_picture(file("filled.tif")), 1), 35);
}

/// -99.9 is -99.90000153 in them.
TEST_F(InpaintProgram, AFractionIsFoundInSinglePrecision) {
  Picture damaged = drawing(PixelDepth::real32);
  damaged.channels[0].block(10, 10, 4, 4).setConstant(-99.9);
  draw("in.tif", damaged);
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (48, 56), }";
  header.resize(117, ' ');
  std::string bytes = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + '\n';
  for (const double value : damaged.channels[0].reshaped<Eigen::RowMajor>()) {
    const auto single = static_cast<float>(value);
    bytes.append(reinterpret_cast<const char*>(&single), sizeof(single));
  }
  write_file(file("in.npy"), bytes);
  write_arrays(folder_.path() / "double.npy", {named("x", damaged.channels[0])});
  for (const std::string name : {"in.tif", "in.npy", "double.npy"}) {
    const ProgramResult result =
        run({name, "-o", "out.npy", "--missing=-99.9", "--quality", "fast", "--quiet", "--metrics", "-"});
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(Json::parse(result.out)["missing"], 16) << name;
  }
}

TEST_F(InpaintProgram, AlphaStays) {
  for (const int channels : {1, 3}) {
    Picture picture = drawing(PixelDepth::bits8, channels);
    picture.alpha = Matrix::Constant(48, 56, 255);
    for (Index at = 0; at < 48; ++at) picture.alpha(at, at) = static_cast<double>(5 * at);
    draw("in.png", picture);
    ASSERT_EQ(run({"in.png", "-o", "out.png", "--observe", "0.6", "--quality", "fast"}).code, 0);
    const Picture filled = read_picture(file("out.png"));
    EXPECT_EQ(filled.channels.size(), picture.channels.size());
    EXPECT_EQ(filled.alpha, picture.alpha);
  }
}

TEST_F(InpaintProgram, ObservedValuesAreKeptToTheBitWithNoise) {
  Picture picture = drawing(PixelDepth::real32);
  Random random(2);
  for (double& value : picture.channels[0].reshaped())
    value = static_cast<float>(value + std::normal_distribution<double>(0, 0.05)(random));
  draw("in.tif", picture);
  const auto fill = [&](const std::string& keep) {
    std::vector<std::string> words{"in.tif",        "-o",    "out.tif",        "--observe",   "0.6",
                                   "--noise-level", "0.05",  "--keep-damaged", "damaged.tif", "--quality",
                                   "fast",          "--std", "std.tif"};
    if (!keep.empty()) words.push_back(keep);
    EXPECT_EQ(run(words).code, 0);
    const Matrix before = read_picture(file("damaged.tif")).channels[0],
                 after = read_picture(file("out.tif")).channels[0];
    return std::pair{(before.array() != 0).count(), (before.array() == after.array()).count()};
  };
  const auto [observed, same] = fill("--keep-observed");
  EXPECT_GT(observed, 1000);
  EXPECT_EQ(same, observed);
  const auto [as_many, denoised] = fill("");
  EXPECT_EQ(as_many, observed);
  EXPECT_LT(denoised, observed / 10);
}

TEST_F(InpaintProgram, NothingMissingIsSaid) {
  draw("in.png", drawing());
  const ProgramResult result = run({"in.png", "-o", "out.png", "--missing", "1", "--quality", "fast"});
  ASSERT_EQ(result.code, 0) << result.err;
  expect_says(result.err, {"nothing is missing of in.png", "no value in it is 1"});
  EXPECT_EQ(read_picture(file("out.png")).channels[0], drawing().channels[0]);
  Picture none = mask(48, 56);
  none.channels[0].setZero();
  draw("none.png", none);
  expect_says(run({"in.png", "-o", "out.png", "--mask", "none.png"}).err,
              {"none.png is black everywhere", "--invert-mask"});
}

TEST_F(InpaintProgram, HardlyAnythingObservedIsSaid) {
  draw("in.png", drawing());
  const ProgramResult result = run({"in.png", "-o", "out.png", "--observe", "0.002", "--quality", "fast"});
  ASSERT_EQ(result.code, 0) << result.err;
  expect_says(result.err, {"all but", "of 2688 values are missing", "deviations are not measured"});
}

TEST_F(InpaintProgram, RefusesWhatMakesNoSense) {
  draw("in.png", drawing());
  draw("mask.png", mask(48, 56));
  draw("small.png", mask(40, 56));
  draw("colour.png", drawing(PixelDepth::bits8, 3));
  Picture all = mask(48, 56);
  all.channels[0].setConstant(1);
  draw("all.png", all);
  write_file(file("text.png"), "no picture at all");
  const std::vector<std::string> usual{"in.png", "-o", "out.png"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.begin(), usual.begin(), usual.end());
    return words;
  };
  expect_says(refusal(usual, 2), {"what is missing", "--mask", "--missing"});
  expect_says(refusal(with({"--mask", "small.png"}), 1), {"small.png", "56 x 40", "56 x 48", "must be equal"});
  expect_says(refusal(with({"--mask", "colour.png"}), 1), {"colour.png", "3 channels", "picture has 1"});
  expect_says(refusal(with({"--mask", "all.png"}), 1),
              {"in.png", "every value of the picture is missing", "all.png is white everywhere", "--invert-mask"});
  Picture red = drawing(PixelDepth::bits8, 3);
  red.channels[1].setZero();
  draw("red.png", red);
  expect_says(refusal({"red.png", "-o", "out.png", "--missing", "0"}, 1),
              {"red.png", "channel 2 (from 1) of 3 has no observed value", "leave that channel out"});
  expect_says(refusal(with({"--mask", "text.png"}), 1), {"text.png"});
  expect_says(refusal(with({"--mask", "none.png"}), 1), {"none.png", "no such file"});
  expect_says(refusal(with({"--missing", "zero"}), 2), {"missing is 'zero'", "nan"});
  expect_says(refusal(with({"--observe", "1.5"}), 2), {"observe is 1.5", "up to 1"});
  expect_says(refusal(with({"--observe", "1e-9"}), 1), {"in.png", "observe is 1e-09", "none of 2688 values", "more"});
  expect_says(refusal(with({"--observe", "0.5", "--missing", "0"}), 2), {"observe", "excludes"});
  expect_says(refusal(with({"--observe", "0.5", "--clean", "in.png"}), 2), {"clean and observe exclude"});
  expect_says(refusal(with({"--missing", "0", "--groups", "0", "--std", "std.tif"}), 2),
              {"groups is 0", "first guess"});
  expect_says(refusal(with({"--missing", "0", "--invert-mask"}), 2), {"invert-mask is for --mask"});
  expect_says(refusal(with({"--missing", "0", "--whole-pixels"}), 2), {"whole-pixels is for --observe"});
  expect_says(refusal(with({"--missing", "0", "--keep-observed", "--denoise-observed"}), 2), {"exclude each other"});
  expect_says(refusal(with({"--missing", "0", "--clean", "colour.png"}), 1), {"colour.png", "--clean"});
  expect_says(refusal({"in.png", "-o", "in.png", "--missing", "0"}, 2), {"in.png would be replaced"});
  expect_says(refusal({"in.png", "-o", "mask.png", "--mask", "mask.png"}, 2), {"mask.png would be replaced"});
  expect_says(refusal({"in.png", "-o", "out.gif", "--missing", "0"}, 2), {"out.gif", ".npy"});
  expect_says(refusal({"in.png", "-o", "out.jpg", "--missing", "0", "--depth", "16"}, 2), {"out.jpg", "16 bits"});
  expect_says(refusal({"in.png", "-o", "a.png", "--std", "a.png", "--missing", "0"}, 2), {"a.png", "two outputs"});
  // All is as it was.
  EXPECT_EQ(read_picture(file("in.png")).channels[0], drawing().channels[0]);
  EXPECT_EQ(read_picture(file("mask.png")).channels[0], mask(48, 56).channels[0]);
  // Shades in a mask are told, and work.
  Picture shades = mask(48, 56);
  shades.channels[0](3, 3) = 7;
  draw("shades.png", shades);
  const ProgramResult result = run(with({"--mask", "shades.png", "--quality", "fast"}));
  EXPECT_EQ(result.code, 0) << result.err;
  expect_says(result.err, {"shades.png has more than two shades"});
}

TEST_F(InpaintProgram, CtrlCKeepsThePictureAsFarAsItWas) {
  draw("in.png", drawing(PixelDepth::bits8, 3, 160));
  ProgramOptions options;
  options.signal_when = "round";
  options.signal = SIGINT;
  const ProgramResult result =
      run({"in.png", "-o", "out.png", "--observe", "0.3", "--quality", "best", "--threads", "1"}, options);
  EXPECT_EQ(result.code, 130) << result.err;
  expect_says(result.err, {"interrupted while inpainting", "out.png is the picture as far as it was"});
  EXPECT_EQ(read_picture(file("out.png")).width(), 168);
}

}  // namespace
}  // namespace gsc::test
