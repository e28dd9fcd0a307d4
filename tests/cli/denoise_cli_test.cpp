// gsc denoise, gsc report and --report as a user meets them.

#include <gsc/denoise.h>
#include <gsc/picture_files.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "run_program.h"

namespace gsc::test {
namespace {

using Json = nlohmann::json;

class DenoiseProgram : public ::testing::Test {
 protected:
  ProgramResult run(std::vector<std::string> words, const ProgramOptions& options = {}) {
    words.insert(words.begin(), "denoise");
    return run_program(folder_.path(), words, options);
  }
  void draw(const std::string& name, PixelDepth depth = PixelDepth::bits8, int channels = 1, Index size = 48) {
    Picture picture;
    picture.depth = depth;
    const double unit = depth == PixelDepth::bits16 ? 257 : 1;
    for (int c = 0; c < channels; ++c) {
      Matrix pixels(size, size + 8);
      for (Index y = 0; y < size; ++y)
        for (Index x = 0; x < size + 8; ++x) pixels(y, x) = unit * ((x / 6 + y / 10) % 2 == 0 ? 60 + c * 20 : 190);
      picture.channels.push_back(pixels);
    }
    write_picture(folder_.path() / name, picture);
  }
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }

  TempFolder folder_;
  const std::vector<std::string> quick_{"--quality", "fast", "--iterations", "8", "--latents", "32", "--quiet"};
  std::vector<std::string> with_quick(std::vector<std::string> words) const {
    words.insert(words.end(), quick_.begin(), quick_.end());
    return words;
  }
};

TEST_F(DenoiseProgram, AnExperimentWritesEverything) {
  draw("clean.png");
  const ProgramResult result =
      run(with_quick({"clean.png", "-o", "out.png", "--add-noise", "25", "--keep-noisy", "noisy.png", "--std",
                      "std.TIF", "--report", "r.html", "--metrics", "m.json", "--save-model", "model.h5"}));
  ASSERT_EQ(result.code, 0) << result.err;
  const Json metrics = Json::parse(read_file(file("m.json")));
  for (const char* field :
       {"command", "version", "seed", "threads", "seconds", "seconds_per_iteration", "iterations", "free_energy",
        "free_energy_trace", "noise_std", "mean_active", "latents_in_use", "psnr_noisy", "psnr", "ssim"})
    EXPECT_TRUE(metrics.contains(field)) << field;
  EXPECT_GT(metrics["psnr"].get<double>(), metrics["psnr_noisy"].get<double>() + 5);
  EXPECT_NEAR(metrics["psnr_noisy"].get<double>(), 20.2, 0.5);
  const Picture std = read_picture(file("std.TIF"));
  EXPECT_EQ(std.depth, PixelDepth::real32);
  EXPECT_EQ(std.width(), 56);
  EXPECT_NE(read_file(file("r.html")).find("standard deviation of the error"), std::string::npos);

  // The noisy picture it kept gives the same gain when it is told the clean one.
  const ProgramResult again =
      run(with_quick({"noisy.png", "-o", "again.png", "--clean", "clean.png", "--metrics", "-"}));
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_NEAR(Json::parse(again.out)["psnr"].get<double>(), metrics["psnr"].get<double>(), 0.5);

  const ProgramResult page = run_program(folder_.path(), {"report", "model.h5", "-o", "model.html"});
  EXPECT_EQ(page.code, 0) << page.err;
  EXPECT_NE(read_file(file("model.html")).find("Basis functions"), std::string::npos);
}

TEST_F(DenoiseProgram, KeepsTheNoisyPictureAsDeepAsTheOutput) {
  draw("clean.png");
  const auto run_with = [&](const std::string& noisy) {
    return run(with_quick(
        {"clean.png", "-o", "out.tif", "--depth", "float", "--add-noise", "60", "--keep-noisy", noisy, "--quiet"}));
  };
  ASSERT_EQ(run_with("noisy.tif").code, 0);
  const Picture deep = read_picture(file("noisy.tif"));
  EXPECT_EQ(deep.depth, PixelDepth::real32);
  EXPECT_GT(deep.channels[0].maxCoeff(), 1.05);  // beyond white, which is 1
  EXPECT_LT(deep.channels[0].minCoeff(), -0.05);
  ASSERT_EQ(run_with("noisy.png").code, 0);  // cannot hold fractions
  EXPECT_EQ(read_picture(file("noisy.png")).depth, PixelDepth::bits8);
}

TEST_F(DenoiseProgram, CarriesMetadataAndTurnsUpright) {
  draw("flat.png");
  Picture picture = read_picture(file("flat.png"));
  // The smallest EXIF block: one directory with one tag, orientation 6.
  for (const char c : std::string("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0", 26))
    picture.metadata.exif.push_back(static_cast<std::byte>(c));
  picture.metadata.dpi_x = 300;
  picture.metadata.dpi_y = 150;
  write_picture(file("camera.jpg"), picture);
  const ProgramResult result = run(with_quick(
      {"camera.jpg", "-o", "out.webp", "--keep-noisy", "noisy.jpg", "--add-noise", "9", "--std", "std.tif"}));
  ASSERT_EQ(result.code, 0) << result.err;
  for (const std::string name : {"out.webp", "noisy.jpg"}) {
    const Picture written = read_picture(file(name));
    EXPECT_EQ(written.width(), 48) << name;
    EXPECT_EQ(written.height(), 56) << name;
    ASSERT_EQ(written.metadata.exif.size(), 26U) << name;
    EXPECT_EQ(written.metadata.exif[19], std::byte{1}) << name;
  }
  EXPECT_EQ(read_picture(file("noisy.jpg")).metadata.dpi_x, 150);
  EXPECT_EQ(read_picture(file("noisy.jpg")).metadata.dpi_y, 300);
  EXPECT_EQ(read_picture(file("std.tif")).metadata.dpi_x, 0);
}

TEST_F(DenoiseProgram, KeepsDepthAndColour) {
  draw("colour.png", PixelDepth::bits16, 3);
  ASSERT_EQ(run(with_quick({"colour.png", "-o", "out.png"})).code, 0);
  Picture out = read_picture(file("out.png"));
  EXPECT_EQ(out.depth, PixelDepth::bits16);
  EXPECT_EQ(out.channels.size(), 3u);
  ASSERT_EQ(run(with_quick({"colour.png", "-o", "out8.png", "--depth", "8"})).code, 0);
  out = read_picture(file("out8.png"));
  EXPECT_EQ(out.depth, PixelDepth::bits8);
  EXPECT_NEAR(out.channels[0].mean(), read_picture(file("colour.png")).channels[0].mean() / 257, 1);
}

TEST_F(DenoiseProgram, SmallPicturesHaveNoSsim) {
  draw("small.png", PixelDepth::bits8, 1, 10);
  const ProgramResult result = run({"small.png", "-o", "out.png", "--add-noise", "10", "--iterations", "3", "--quality",
                                    "fast", "--metrics", "m.json", "--report", "r.html"});
  ASSERT_EQ(result.code, 0) << result.err;
  const Json metrics = Json::parse(read_file(file("m.json")));
  EXPECT_GT(metrics["psnr"].get<double>(), 10);
  EXPECT_TRUE(metrics.at("ssim").is_null());
  EXPECT_TRUE(metrics.at("ssim_noisy").is_null());
  EXPECT_NE(result.err.find("PSNR"), std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("SSIM"), std::string::npos) << result.err;
  EXPECT_EQ(read_file(file("r.html")).find("SSIM"), std::string::npos);
}

TEST_F(DenoiseProgram, SameSeedSameBits) {
  draw("clean.png");
  for (const char* out : {"a.png", "b.png"})
    ASSERT_EQ(run(with_quick({"clean.png", "-o", out, "--add-noise", "20"})).code, 0);
  EXPECT_EQ(read_file(file("a.png")), read_file(file("b.png")));
}

TEST_F(DenoiseProgram, BadInput) {
  draw("good.png");
  draw("tiny.pgm", PixelDepth::bits8, 1, 2);
  draw("deep.png", PixelDepth::bits16);
  draw("real.tif", PixelDepth::real32);
  draw("colour.png", PixelDepth::bits8, 3);
  Picture flat;
  flat.channels.push_back(Matrix::Constant(40, 40, 9));
  write_picture(file("flat.png"), flat);
  write_file(file("broken.png"), read_file(file("good.png")).substr(0, 60));
  write_file(file("film.mp4"), std::string("\0\0\0\x18"
                                           "ftypmp42",
                                           12) +
                                   std::string(500, 'x'));
  write_file(file("old.png"), "old");
  struct Case {
    std::vector<std::string> words;
    int code;
    std::string says;
  };
  const std::vector<Case> cases = {
      {{"missing.png", "-o", "old.png"}, 1, "missing.png: there is no such file"},
      {{"broken.png", "-o", "old.png"}, 1, "broken.png: is damaged or cut short"},
      {{"film.mp4", "-o", "old.png"}, 1, "film.mp4: is not a picture this program can read"},
      {{"tiny.pgm", "-o", "old.png"}, 1, "tiny.pgm: the picture has 10 x 2 pixels"},
      {{"flat.png", "-o", "old.png"}, 1, "flat.png: the picture is flat"},
      {{"good.png", "-o", "old.xyz"}, 2, "output is old.xyz: the name must end in .png"},
      {{"good.png", "-o", "nowhere/out.png"}, 2, "the folder nowhere does not exist"},
      {{"good.png", "-o", "good.png"}, 2, "good.png would be replaced"},
      {{"good.png", "-o", "old.png", "--patch", "100"}, 2, "patch is 100; it must be between 2 and 64"},
      {{"good.png", "-o", "old.png", "--clean", "tiny.pgm"}, 1, "tiny.pgm has 10 x 2 pixels"},
      {{"good.png", "-o", "old.png", "--clean", "deep.png"}, 1, "deep.png has 56 x 48 pixels in grey, depth 16"},
      {{"real.tif", "-o", "old.png"}, 2, "PNG cannot hold real numbers; write to a format that can (TIFF)"},
      {{"good.png", "-o", "old.png", "--depth", "float"},
       2,
       "PNG cannot hold real numbers; write to a format that can (TIFF)"},
      {{"real.tif", "-o", "out.tif", "--std", "old.png"},
       2,
       "PNG cannot hold real numbers; write to a format that can (TIFF)"},
      {{"colour.png", "-o", "old.pgm"}, 2, "PGM cannot hold a colour picture"},
      {{"good.png", "-o", "old.png", "--clip"}, 2, "clip is for --add-noise"},
      {{"good.png", "-o", "old.png", "--quality", "great"}, 2, "fast, standard, best"},
      {{"good.png", "-o", "old.png", "--latents", "0"}, 2, "latents is 0; it must lie between 1 and"},
  };
  for (const Case& c : cases) {
    const ProgramResult result = run(c.words);
    EXPECT_EQ(result.code, c.code) << c.words[0] << ' ' << c.words.back() << ": " << result.err;
    EXPECT_NE(result.err.find(c.says), std::string::npos) << result.err;
    EXPECT_EQ(result.err.find("iteration"), std::string::npos) << "refused after the work only: " << result.err;
    EXPECT_EQ(read_file(file("old.png")), "old");
  }
}

TEST_F(DenoiseProgram, PixelsThatAreNoNumbersAreNamed) {
  for (const auto& [value, says] : std::vector<std::pair<double, std::string>>{
           {std::nan(""), "bad.tif: the pixel in row 3, column 7 (from 0) is NaN"},
           {INFINITY, "bad.tif: the pixel in row 3, column 7 (from 0) is infinite"},
           {1e30,
            "bad.tif: the pixel in row 3, column 7 (from 0) is 1e+30, and denoising needs values of at most 1e15"}}) {
    Picture picture;
    picture.depth = PixelDepth::real32;
    picture.channels.push_back(Matrix::Random(40, 40));
    write_picture(file("bad.tif"), picture);
    std::string bytes = read_file(file("bad.tif"));
    const auto pixel = static_cast<float>(value);
    const auto good = static_cast<float>(picture.channels[0](3, 7));
    const std::string from(reinterpret_cast<const char*>(&good), 4), to(reinterpret_cast<const char*>(&pixel), 4);
    const std::size_t at = bytes.find(from);
    ASSERT_NE(at, std::string::npos) << "real numbers are written unpacked";
    bytes.replace(at, 4, to);
    write_file(file("bad.tif"), bytes);
    const ProgramResult result = run(with_quick({"bad.tif", "-o", "out.tif"}));
    EXPECT_EQ(result.code, 1);
    EXPECT_NE(result.err.find(says), std::string::npos) << result.err;
    EXPECT_FALSE(std::filesystem::exists(file("out.tif")));
  }
}

TEST_F(DenoiseProgram, TinyPicturesAndThoseOfTwoValues) {
  struct Case {
    Index height, width;
    int code;
  };
  for (const auto [height, width, code] : {Case{1, 1, 1}, {3, 8, 1}, {4, 4, 0}, {5, 5, 0}, {4, 90, 0}}) {
    Picture picture;
    picture.channels.push_back(Matrix::NullaryExpr(
        height, width, [](Index y, Index x) { return static_cast<double>((37 * y + 11 * x * x * (y + 1)) % 200); }));
    write_picture(file("tiny.png"), picture);
    const ProgramResult result = run({"tiny.png", "-o", "out.png"});
    EXPECT_EQ(result.code, code) << height << " x " << width << ": " << result.err;
    if (code != 0)
      EXPECT_NE(result.err.find("denoising needs at least 4"), std::string::npos) << result.err;
    else
      EXPECT_EQ(read_picture(file("out.png")).width(), width);
  }
  // A line that is like nothing else is in no other patch, and does not get lost.
  Picture line;
  line.channels.emplace_back(Matrix::Constant(4, 90, 60.0));
  line.channels[0].col(5).setConstant(200);
  line.channels[0](1, 40) = 61;
  write_picture(file("line.png"), line);
  ASSERT_EQ(run({"line.png", "-o", "line-out.png"}).code, 0);
  EXPECT_GT(read_picture(file("line-out.png")).channels[0].col(5).minCoeff(), 150);
  // One bit a pixel: what is drawn is no noise, and stays.
  std::string bits = "P2 64 48 1\n";
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 64; ++x) bits += (x / 9 + y / 7) % 2 == 0 ? "0 " : "1 ";
  write_file(file("bits.pgm"), bits);
  const ProgramResult result = run(with_quick({"bits.pgm", "-o", "out.png"}));
  ASSERT_EQ(result.code, 0) << result.err;
  const Matrix before = read_picture(file("bits.pgm")).channels[0], after = read_picture(file("out.png")).channels[0];
  EXPECT_LT((after - before).norm() / std::sqrt(static_cast<double>(before.size())), 3);
}

TEST_F(DenoiseProgram, SeveralPicturesIntoAFolder) {
  draw("a.png");
  draw("b.png", PixelDepth::bits16);
  std::filesystem::create_directory(file("sub"));
  draw("sub/c.png", PixelDepth::bits8, 3);
  const std::vector<std::string> quick{"--quality", "fast", "--iterations", "3", "--latents", "16"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.end(), quick.begin(), quick.end());
    return words;
  };
  const ProgramResult result =
      run(with({"a.png", "b.png", "sub/c.png", "-o", "out/", "--add-noise", "20", "--std", "std/", "--metrics", "out/",
                "--report", "out/", "--save-model", "out/", "--keep-noisy", "noisy/"}));
  ASSERT_EQ(result.code, 0) << result.err;
  for (const char* part : {"picture 1 of 3, a.png: ", "picture 3 of 3, sub/c.png: ", "wrote out/b.png"})
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  for (const char* name : {"a", "b", "c"}) {
    const std::string stem = std::string("out/") + name;
    EXPECT_EQ(read_picture(file(stem + ".png")).width(), 56);
    EXPECT_EQ(read_picture(file(std::string("std/") + name + ".tif")).depth, PixelDepth::real32);
    EXPECT_EQ(read_picture(file(std::string("noisy/") + name + ".png")).width(), 56);
    EXPECT_TRUE(Json::parse(read_file(file(stem + ".json"))).contains("psnr"));
    EXPECT_NE(read_file(file(stem + ".html")).find(std::string(name) + ".png"), std::string::npos);
    EXPECT_TRUE(std::filesystem::exists(file(stem + ".h5")));
  }
  EXPECT_EQ(read_picture(file("out/b.png")).depth, PixelDepth::bits16);
  EXPECT_EQ(read_picture(file("out/c.png")).channels.size(), 3u);

  // Each comes out as if it were alone; a folder works for one picture, too, and so does a clean one of the same name.
  ASSERT_EQ(run(with({"a.png", "-o", "alone.png", "--add-noise", "20"})).code, 0);
  EXPECT_EQ(read_file(file("alone.png")), read_file(file("out/a.png")));
  const ProgramResult compared = run(with({"noisy/a.png", "-o", "again/", "--clean", ".", "--metrics", "-"}));
  ASSERT_EQ(compared.code, 0) << compared.err;
  EXPECT_NEAR(Json::parse(compared.out)["psnr_noisy"].get<double>(), 22.1, 0.5);
  EXPECT_TRUE(std::filesystem::exists(file("again/a.png")));
}

TEST_F(DenoiseProgram, OneFailingPictureDoesNotLoseTheOthers) {
  draw("a.png");
  draw("c.png");
  draw("tiny.png", PixelDepth::bits8, 1, 2);
  write_file(file("broken.png"), read_file(file("a.png")).substr(0, 60));
  const ProgramResult result = run({"a.png", "broken.png", "missing.png", "tiny.png", "c.png", "-o", "out/",
                                    "--quality", "fast", "--iterations", "2", "--latents", "16"});
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_TRUE(std::filesystem::exists(file("out/a.png")));
  EXPECT_TRUE(std::filesystem::exists(file("out/c.png")));
  EXPECT_FALSE(std::filesystem::exists(file("out/broken.png")));
  for (const char* part :
       {"picture 2 of 5, broken.png: failed: ", "missing.png: there is no such file",
        "picture 4 of 5, tiny.png: failed: ", "3 of 5 pictures failed: broken.png, missing.png, tiny.png"})
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
}

TEST_F(DenoiseProgram, SeveralPicturesThatCannotBeAreRefusedBeforeTheWork) {
  draw("a.png");
  draw("b.png");
  std::filesystem::create_directory(file("sub"));
  std::filesystem::create_directory(file("full"));
  draw("sub/a.png");
  std::filesystem::create_symlink(file("b.png"), file("full/a.png"));
  write_file(file("plain"), "a file");
  const std::string a = read_file(file("a.png")), b = read_file(file("b.png"));
  struct Case {
    std::vector<std::string> words;
    std::string says;
  };
  const std::vector<Case> cases = {
      {{"a.png", "b.png", "-o", "out.png"}, "output is out.png, but there are 2 pictures; give a folder, as out/"},
      {{"a.png", "sub/a.png", "-o", "out/"}, "a.png and sub/a.png have the same name"},
      {{"a.png", "a.png", "-o", "out/"}, "the same name"},
      {{"a.png", "b.png", "-o", "."}, "would be replaced"},
      {{"a.png", "b.png", "-o", "./"}, "would be replaced"},
      {{"sub/a.png", "b.png", "-o", "full"}, "full/a.png would be replaced, but it is what is read"},
      {{"a.png", "-o", "out/", "--keep-noisy", ".", "--add-noise", "5"}, "would be replaced"},
      {{"a.png", "b.png", "-o", "out/", "--std", "std.tif"}, "std is std.tif, but there are 2 pictures"},
      {{"a.png", "b.png", "-o", "out/", "--report", "r.html"}, "report is r.html, but there are 2 pictures"},
      {{"a.png", "b.png", "-o", "out/", "--metrics", "-"}, "metrics is -, but there are 2 pictures"},
      {{"a.png", "b.png", "-o", "out/", "--save-model", "m.h5"}, "save-model is m.h5"},
      {{"a.png", "b.png", "-o", "out/", "--clean", "a.png"}, "clean is a.png"},
      {{"a.png", "b.png", "-o", "out/", "--keep-noisy", "out/", "--add-noise", "5"}, "is given for two outputs"},
      {{"a.png", "b.png", "-o", "plain/"}, "plain/"},
      {{"a.png", "notes.txt", "-o", "out/"}, "out/notes.txt: the name must end in .png"},
  };
  for (const Case& c : cases) {
    const ProgramResult result = run(c.words);
    EXPECT_EQ(result.code, 2) << c.says << ": " << result.err;
    EXPECT_NE(result.err.find(c.says), std::string::npos) << c.says << ": " << result.err;
    EXPECT_FALSE(std::filesystem::exists(file("out"))) << c.says;
    EXPECT_EQ(read_file(file("a.png")), a);
    EXPECT_EQ(read_file(file("b.png")), b);
  }
}

TEST_F(DenoiseProgram, InterruptKeepsThePicturesThatAreDone) {
  draw("a.png");
  draw("b.png", PixelDepth::bits8, 1, 400);  // every patch is learned from: hundreds of times the work of the first
  ProgramOptions options;
  options.signal_when = "picture 2 of 2, b.png:";
  options.signal = 2;
  options.timeout_seconds = 280;  // sanitizers take their time
  const ProgramResult result = run({"a.png", "b.png", "-o", "out/", "--add-noise", "20", "--latents", "64",
                                    "--iterations", "200", "--models", "1", "--train-patches", "1000000"},
                                   options);
  EXPECT_EQ(result.code, 130) << result.err;
  EXPECT_NE(result.err.find("picture 2 of 2, b.png: interrupted"), std::string::npos) << result.err;
  EXPECT_TRUE(std::filesystem::exists(file("out/a.png")));
  EXPECT_FALSE(std::filesystem::exists(file("out/b.png")));
}

TEST_F(DenoiseProgram, InterruptKeepsThePictureAsFarAsItWas) {
  draw("good.png", PixelDepth::bits8, 1, 150);
  ProgramOptions options;
  options.signal_when = "groups of patches";
  options.signal = 2;
  options.timeout_seconds = 280;
  const ProgramResult result = run({"good.png", "-o", "out.png", "--add-noise", "20", "--latents", "16", "--iterations",
                                    "1", "--models", "1", "--nonlocal", "0", "--groups", "20"},
                                   options);
  EXPECT_EQ(result.code, 130) << result.err;
  EXPECT_NE(result.err.find("out.png is the picture as far as it was"), std::string::npos) << result.err;
  EXPECT_EQ(read_picture(file("out.png")).width(), 158);
}

TEST_F(DenoiseProgram, InterruptLeavesTheOldFile) {
  draw("good.png", PixelDepth::bits8, 1, 200);
  write_file(file("old.png"), "old");
  ProgramOptions options;
  options.signal_when = "iteration";
  options.signal = 2;
  const ProgramResult result = run({"good.png", "-o", "old.png", "--add-noise", "20", "--iterations", "5000"}, options);
  EXPECT_EQ(result.code, 130) << result.err;
  EXPECT_EQ(read_file(file("old.png")), "old");
}

}  // namespace
}  // namespace gsc::test
