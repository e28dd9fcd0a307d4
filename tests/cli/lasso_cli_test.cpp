// --method online and feature-sign in fit, infer and denoise, as a user meets them.

#include <gsc/picture_files.h>

#include <algorithm>

#include "program_fixture.h"

namespace gsc::test {
namespace {

class LassoCli : public ProgramTest, public ::testing::WithParamInterface<std::string> {
 protected:
  LassoCli() { make_bars("x.npy", "400"); }

  Words with_method(Words words, const Words& more) const {
    return joined(joined(std::move(words), {"--method", GetParam()}), more);
  }
  Words fit(const std::string& output, const Words& more) const {
    return with_method({"fit", "x.npy", "-o", output, "--latents", "12", "--quiet"}, more);
  }
};
INSTANTIATE_TEST_SUITE_P(Methods, LassoCli, ::testing::Values("online", "feature-sign"),
                         [](const auto& test) { return test.param == "online" ? "Online" : "FeatureSign"; });

TEST_P(LassoCli, LearnsGoesOnAndCodes) {
  done(fit("whole.h5", {"--iterations", "4", "--lambda", "3", "--metrics", "m.json"}));
  EXPECT_TRUE(json("m.json").contains("lasso_objective"));
  EXPECT_FALSE(json("m.json").contains("free_energy"));
  EXPECT_NE(read_file(path("whole.h5")).find("gsc model: " + GetParam()), std::string::npos);
  EXPECT_EQ(load_model(path("whole.h5")).options->inference.coding.lambda, 3);
  done(fit("half.h5", {"--iterations", "2", "--lambda", "3", "--checkpoint", "c.h5", "--checkpoint-every", "1"}));
  done({"fit", "x.npy", "-o", "both.h5", "--resume", "c.h5", "--iterations", "4", "--quiet"});
  EXPECT_TRUE(load_model(path("both.h5")).state.model == load_model(path("whole.h5")).state.model);
  // A larger lambda than the model's leaves fewer atoms.
  const auto active = [&](const Words& more) {
    Words words{"infer", "whole.h5", "x.npy", "-o", "codes.npz", "--metrics", "i.json", "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    done(words);
    return json("i.json")["mean_active"].get<double>();
  };
  EXPECT_LT(active({"--lambda", "6"}), 0.9 * active({}));
  const ProgramResult silent = done({"infer", "whole.h5", "x.npy", "-o", "codes.npz", "--lambda", "1e9", "--quiet"});
  for (const char* part : {"lambda is 1e+09", "every code is zero", "choose less than that"})
    EXPECT_NE(silent.err.find(part), std::string::npos) << silent.err;
}

TEST_P(LassoCli, RefusesByName) {
  refused(2, fit("m.h5", {"--lambda", "1e9"}), {"lambda is 1", "every code is zero", "choose less"});
  refused(2, fit("m.h5", {"--lambda", "-1"}), {"lambda"});
  refused(2, fit("m.h5", {"--sigma", "0"}), {"sigma is 0"});
  refused(2, fit("m.h5", {"--atom-update", "exact"}), {"atom-update is for ksvd", "method is " + GetParam()});
  refused(2, fit("m.h5", {"--latents", "401"}), {"latents is 401", "400 data points"});
  refused(2, {"fit", "x.npy", "-o", "m.h5", "--lambda", "1"}, {"lambda is for online, feature-sign"});
  if (GetParam() == "feature-sign")
    refused(2, fit("m.h5", {"--missing", "nan"}), {"feature-sign", "complete", "online"});
}

/// The objective is a mean already, and the noise level nothing that codes hang on.
TEST_P(LassoCli, SaysWhatItHas) {
  Words words = fit("m.h5", {"--iterations", "2", "--metrics", "m.json", "--device", "auto"});
  words.erase(std::find(words.begin(), words.end(), "--quiet"));
  const ProgramResult result = done(words);
  EXPECT_NE(result.err.find("(mean over data points)"), std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("noise std"), std::string::npos) << result.err;
  EXPECT_EQ(json("m.json")["lasso_objective_per_point"], json("m.json")["lasso_objective"]);
  refused(2, fit("m.h5", {"--sigma", "2"}), {"sigma is 2", "method is " + GetParam(), "follow from lambda"});
  if (GetParam() == "feature-sign") {
    refused(2, fit("m.h5", {"--max-active", "2"}), {"max-active is for", "method is feature-sign"});
    return;
  }
  refused(2, fit("m.h5", {"--atoms-per-point", "2"}), {"atoms-per-point is 2", "coding is lasso", "omp"});
  refused(2, {"infer", "m.h5", "x.npy", "-o", "c.npz", "--error-gain", "2"}, {"error-gain", "coding is lasso"});
  done(fit("m.h5", {"--coding", "bounded", "--atoms-per-point", "2", "--sigma", "1", "--iterations", "2", "--metrics",
                    "m.json"}));
  EXPECT_LE(json("m.json")["mean_active"].get<double>(), 2) << "a cap";
}

/// Pictures in which there is hardly anything but noise, or a single atom for few patches.
TEST_P(LassoCli, DenoisesSmallAndNearlyFlatPictures) {
  Picture flat;
  flat.depth = PixelDepth::bits8;
  flat.channels.push_back(Matrix::Constant(24, 24, 100));
  flat.channels[0](3, 4) = 101;
  Picture small = flat;
  small.channels[0] = Matrix::NullaryExpr(10, 10, [](Index y, Index x) { return static_cast<double>(20 * x + y % 3); });
  write_picture(path("flat.png"), flat);
  write_picture(path("small.png"), small);
  for (const char* name : {"flat.png", "small.png"})
    for (const Words& more : {Words{}, Words{"--coding", "lasso"}}) {
      if (!more.empty() && GetParam() != "online") continue;
      Words words = with_method({"denoise", name, "-o", "out.png", "--quiet"}, more);
      done(words);
    }
}

TEST_P(LassoCli, Denoises) {
  Picture clean;
  clean.depth = PixelDepth::bits8;
  Matrix pixels(64, 72);
  for (Index y = 0; y < 64; ++y)
    for (Index x = 0; x < 72; ++x) pixels(y, x) = (x / 6 + y / 10) % 2 == 0 ? 60 : 190;
  clean.channels.push_back(pixels);
  write_picture(path("clean.png"), clean);
  const Words denoise{"denoise", "clean.png", "-o", "out.png", "--add-noise", "25", "--sigma", "25"};
  done(with_method(denoise, {"--metrics", "m.json", "--save-model", "m.h5"}));
  const nlohmann::json metrics = json("m.json");
  EXPECT_GT(metrics["psnr"].get<double>(), metrics["psnr_noisy"].get<double>() + 6);
  EXPECT_TRUE(metrics.contains("lasso_objective"));
  const FitOptions learned = *load_model(path("m.h5")).options;
  if (GetParam() == "online") {
    EXPECT_EQ(learned.inference.coding.coding, Coding::bounded);
    EXPECT_EQ(learned.batch, 512);
    done(with_method(denoise, {"--coding", "omp", "--quiet"}));
    done(with_method(denoise, {"--coding", "lasso", "--error-gain", "1.2", "--quiet", "--save-model", "m.h5"}));
    const CodingOptions lasso = load_model(path("m.h5")).options->inference.coding;
    EXPECT_EQ(lasso.coding, Coding::lasso) << "as asked for";
    EXPECT_EQ(lasso.lambda, 2.5 * 25);
  } else {
    EXPECT_EQ(learned.inference.coding.lambda, 2.5 * 25);
    refused(2, with_method(denoise, {"--batch", "100"}), {"batch", "feature-sign"});
  }
  refused(2, with_method(denoise, {"--std", "s.tif"}), {"std is s.tif", GetParam()});
}

}  // namespace
}  // namespace gsc::test
