// --method ksvd in fit, infer, info and denoise, as a user meets it.

#include <gsc/denoise.h>
#include <gsc/picture_files.h>

#include <cmath>
#include <limits>

#include "program_fixture.h"

namespace gsc::test {
namespace {

class DictionaryCli : public ProgramTest {
 protected:
  DictionaryCli() { make_bars("x.npy", "400"); }

  Words fit(const Words& more, const std::string& output = "m.h5") const {
    return joined({"fit", "x.npy", "-o", output, "--method", "ksvd", "--latents", "12", "--iterations", "4"}, more);
  }
};

TEST_F(DictionaryCli, TheObjectiveHasItsOwnName) {
  const ProgramResult result =
      done(fit({"--sigma", "1.4", "--metrics", "m.json", "--report", "r.html", "--restarts", "2"}));
  EXPECT_NE(result.err.find("squared error"), std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("free energy"), std::string::npos) << result.err;
  const Json metrics = json("m.json");
  for (const char* field : {"squared_error", "squared_error_per_point", "squared_error_trace", "squared_errors"})
    EXPECT_TRUE(metrics.contains(field)) << field;
  EXPECT_EQ(metrics.dump().find("free_energ"), std::string::npos);
  EXPECT_EQ(metrics["noise_std"], 1.4);
  EXPECT_EQ(metrics["options"]["atom_update"], "exact");
  EXPECT_FALSE(metrics["options"].contains("candidates"));
  const std::string page = read_file(path("r.html"));
  EXPECT_NE(page.find("Squared error"), std::string::npos);
  EXPECT_EQ(page.find("ree energy"), std::string::npos);
  const std::string info = done({"info", "m.h5"}).out;
  EXPECT_NE(info.find("ksvd"), std::string::npos) << info;
  EXPECT_NE(info.find("squared error"), std::string::npos) << info;
  EXPECT_EQ(info.find("free energy"), std::string::npos) << info;
}

TEST_F(DictionaryCli, AModelFileNamesItsMethod) {
  done(fit({"--sigma", "1.4", "--error-gain", "1.3", "--atom-update", "approximate", "--quiet"}));
  EXPECT_NE(read_file(path("m.h5")).find("gsc model: ksvd"), std::string::npos);
  const ModelFile file = load_model(path("m.h5"));
  EXPECT_EQ(file.options->inference.method, Method::ksvd);
  EXPECT_EQ(file.options->inference.coding.error_gain, 1.3);
  EXPECT_EQ(file.options->dictionary.atom_update, AtomUpdate::approximate);
  EXPECT_EQ(file.options->sigma, 1.4);
  ASSERT_EQ(file.state.history.size(), 5U);
  EXPECT_GT(file.state.history.back().free_energy, 0);
  // It is no data, and EM starts from it.
  const ProgramResult as_data = run({"fit", "m.h5", "-o", "o.h5"});
  EXPECT_NE(as_data.err.find("is a model, not data"), std::string::npos) << as_data.err;
  done({"fit", "x.npy", "-o", "em.h5", "--init", "m.h5", "--iterations", "2", "--quiet"});
}

TEST_F(DictionaryCli, GoesOnWithTheSameBits) {
  done(fit({"--sigma", "1.4", "--quiet"}, "whole.h5"));
  done({"fit", "x.npy", "-o", "half.h5", "--method", "ksvd", "--latents", "12", "--sigma", "1.4", "--iterations", "2",
        "--checkpoint", "c.h5", "--checkpoint-every", "1", "--quiet"});
  done({"fit", "x.npy", "-o", "both.h5", "--resume", "c.h5", "--iterations", "4", "--quiet"});
  EXPECT_TRUE(load_model(path("both.h5")).state.model == load_model(path("whole.h5")).state.model);
  refused(2, {"fit", "x.npy", "-o", "o.h5", "--resume", "c.h5", "--error-gain", "2"}, {"--error-gain", "1.15", "2"});
}

TEST_F(DictionaryCli, SaysWhichNoiseLevelItTakes) {
  EXPECT_NE(done(fit({})).err.find("must be told the noise level"), std::string::npos);
  EXPECT_EQ(done(fit({"--sigma", "1.4"})).err.find("must be told"), std::string::npos);
}

TEST_F(DictionaryCli, CodesAreAllThatInferHas) {
  done(fit({"--sigma", "1.4", "--quiet"}));
  const ProgramResult result = done({"infer", "m.h5", "x.npy", "-o", "codes.npz", "--metrics", "i.json"});
  EXPECT_EQ(result.err.find("free energy"), std::string::npos) << result.err;
  EXPECT_EQ(open_data(path("codes.npz:mean"))->cols(), 12);
  EXPECT_ANY_THROW(open_data(path("codes.npz:probability")));
  EXPECT_FALSE(json("i.json").contains("free_energy"));
  EXPECT_GT(json("i.json")["mean_active"].get<double>(), 0);
  const Words infer{"infer", "m.h5", "x.npy", "-o", "o.npz"};
  const auto with = [&](const Words& more) {
    Words words = infer;
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  refused(2, with({"--variance"}), {"variances", "ksvd"});
  refused(2, with({"--states", "2"}), {"states", "ksvd"});
  refused(2, with({"--with-candidates"}), {"candidates", "ksvd"});
  refused(2, with({"--missing", "nan", "--impute-std", "s.npy"}), {"impute-std", "ksvd"});
  refused(2, with({"--candidates", "3"}), {"candidates is for truncated", "method is ksvd"});
}

TEST_F(DictionaryCli, FillsGaps) {
  const auto data = open_data(path("x.npy"));
  Matrix whole(data->rows(), data->cols());
  data->read(0, whole);
  Matrix gaps = whole;
  for (Index n = 0; n < gaps.rows(); ++n) gaps(n, n % gaps.cols()) = std::numeric_limits<double>::quiet_NaN();
  write_arrays(path("gaps.npy"), {named("data", gaps)});
  done({"fit", "gaps.npy", "-o", "g.h5", "--method", "ksvd", "--latents", "12", "--iterations", "5", "--sigma", "1.4",
        "--missing", "nan", "--quiet"});
  done({"infer", "g.h5", "gaps.npy", "-o", "c.npz", "--impute", "filled.npy", "--quiet"});
  const auto read = open_data(path("filled.npy"));
  Matrix filled(read->rows(), read->cols());
  read->read(0, filled);
  EXPECT_FALSE(filled.hasNaN());
  double error = 0, by_the_mean = 0;
  for (Index n = 0; n < gaps.rows(); ++n) {
    const Index d = n % gaps.cols();
    error += std::pow(filled(n, d) - whole(n, d), 2);
    by_the_mean += std::pow(whole.col(d).mean() - whole(n, d), 2);
  }
  EXPECT_LT(error, 0.9 * by_the_mean);
}

TEST_F(DictionaryCli, OptionsOfOthersAreRefusedByName) {
  refused(2, fit({"--basis-prior", "gp"}), {"basis-prior is for factored", "method is ksvd"});
  refused(2, fit({"--slab", "diagonal"}), {"slab is for truncated, exact, factored", "ksvd"});
  refused(2, fit({"--batch", "10"}), {"batch", "ksvd"});
  refused(2, {"fit", "x.npy", "-o", "m.h5", "--error-gain", "1.2"}, {"error-gain is for ksvd, online", "truncated"});
  refused(2, fit({"--sigma", "0"}), {"sigma is 0"});
  refused(2, fit({"--sigma", "-3"}), {"-3"});
  refused(2, fit({"--latents", "401"}), {"latents is 401", "400 data points"});
  refused(2, {"separate", "x.npy", "-o", "s", "--method", "ksvd"}, {"method", "ksvd"});
}

TEST_F(DictionaryCli, DenoisesAsPublished) {
  Picture clean;
  clean.depth = PixelDepth::bits8;
  Matrix pixels(64, 72);
  for (Index y = 0; y < 64; ++y)
    for (Index x = 0; x < 72; ++x) pixels(y, x) = (x / 6 + y / 10) % 2 == 0 ? 60 : 190;
  clean.channels.push_back(pixels);
  write_picture(path("clean.png"), clean);
  const Words denoise{"denoise", "clean.png", "-o", "out.png", "--add-noise", "25", "--method", "ksvd"};
  const auto with = [&](const Words& more) {
    Words words = denoise;
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const ProgramResult told =
      done(with({"--sigma", "25", "--metrics", "m.json", "--report", "r.html", "--save-model", "m.h5"}));
  const Json metrics = json("m.json");
  EXPECT_GT(metrics["psnr"].get<double>(), metrics["psnr_noisy"].get<double>() + 8);
  EXPECT_EQ(metrics["iterations"], 10);
  EXPECT_EQ(metrics["group_rounds"], 0);
  EXPECT_TRUE(metrics.contains("squared_error"));
  EXPECT_TRUE(metrics["noise_told"]);
  EXPECT_NE(told.err.find("25 told"), std::string::npos) << told.err;
  EXPECT_EQ(load_model(path("m.h5")).options->inference.method, Method::ksvd);
  const ProgramResult alone = done(denoise);
  EXPECT_NE(alone.err.find("must be told and --sigma is left out"), std::string::npos) << alone.err;
  refused(2, with({"--std", "s.tif"}), {"std is s.tif", "ksvd"});
  refused(2, with({"--quality", "fast"}), {"quality", "ksvd"});
  refused(2, with({"--sigma", "0"}), {"sigma is 0"});
  refused(2, with({"--nonlocal", "1"}), {"nonlocal is 1"});
  refused(2, with({"--candidates", "5"}), {"candidates is for"});
  refused(2, with({"--noise-level", "learned"}), {"noise level is learned", "ksvd"});
  refused(2, {"denoise", "clean.png", "-o", "o.png", "--error-gain", "1"}, {"error-gain is for ksvd, online"});
}

}  // namespace
}  // namespace gsc::test
