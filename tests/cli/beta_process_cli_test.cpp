// --method beta-process and beta-variational in fit, infer, compare and denoise, as a user meets them.

#include <gsc/picture_files.h>

#include <cmath>
#include <limits>

#include "program_fixture.h"

namespace gsc::test {
namespace {

class BetaProcessCli : public ProgramTest {
 protected:
  BetaProcessCli() { make_bars("x.npy", "400"); }

  /// On one thread, as threads of a busy machine wait for each other.
  static Words fit(const std::string& output, const Words& more, const std::string& threads = "1") {
    return joined({"fit", "x.npy", "-o", output, "--latents", "12", "--method", "beta-process", "--threads", threads},
                  more);
  }
};

TEST_F(BetaProcessCli, LearnsByChainsAndSaysHowCertain) {
  const ProgramResult result =
      done(fit("m.h5", {"--iterations", "30", "--burn-in", "15", "--chains", "2", "--metrics", "m.json"}));
  EXPECT_NE(result.err.find("Beta process, by Gibbs sampling"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("log joint"), std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("free energy"), std::string::npos) << result.err;
  const Json metrics = json("m.json");
  EXPECT_EQ(metrics["log_joint_trace"].size(), 31U);
  EXPECT_GT(metrics["log_joint"], metrics["log_joint_trace"][0]);
  EXPECT_EQ(metrics.dump().find("free_energ"), std::string::npos);
  EXPECT_EQ(metrics["options"]["chains"], 2);
  EXPECT_EQ(metrics["options"]["burn_in"], 15);
  EXPECT_FALSE(metrics["options"].contains("candidates"));
  EXPECT_NEAR(metrics["noise_std"].get<double>(), 1.5, 0.3);
  const std::string bytes = read_file(path("m.h5"));
  EXPECT_NE(bytes.find("gsc model: beta-process"), std::string::npos);
  const ModelFile file = load_model(path("m.h5"));
  EXPECT_EQ(file.options->inference.method, Method::beta_process);
  EXPECT_EQ(file.options->beta_process.chains, 2);
  ASSERT_EQ(file.state.model.W_variance.rows(), 25);
  EXPECT_GT(file.state.model.W_variance.minCoeff(), 0);
  const auto& numbers = file.state.method.numbers;
  EXPECT_GT(numbers.at("noise_std_deviation"), 0);
  EXPECT_LT(numbers.at("noise_std_deviation"), 0.1);
  EXPECT_GT(numbers.at("r_hat_noise_std"), 0.9);
  EXPECT_GT(numbers.at("r_hat_log_joint"), 0.9);
  // One chain has nobody to be compared with, and its threads change no bit.
  done(fit("one.h5", {"--iterations", "4", "--burn-in", "1", "--quiet"}));
  done(fit("two.h5", {"--iterations", "4", "--burn-in", "1", "--quiet"}, "2"));
  const ModelFile one = load_model(path("one.h5"));
  EXPECT_FALSE(one.state.method.numbers.contains("r_hat_noise_std"));
  EXPECT_TRUE(one.state.model == load_model(path("two.h5")).state.model);
}

TEST_F(BetaProcessCli, GoesOnWithTheSameBits) {
  const Words chains{"--burn-in", "2", "--chains", "2", "--quiet"};
  for (const auto& [method, more] :
       {std::pair<std::string, Words>("beta-process", chains), {"beta-variational", {"--quiet"}}}) {
    const auto learn = [&](const std::string& output, const std::string& iterations) {
      return joined({"fit", "x.npy", "-o", output, "--latents", "12", "--method", method, "--iterations", iterations,
                     "--threads", "1"},
                    more);
    };
    done(learn("whole.h5", "6"));
    done(joined(learn("half.h5", "3"), {"--checkpoint", "c.h5", "--checkpoint-every", "1"}));
    done({"fit", "x.npy", "-o", "both.h5", "--resume", "c.h5", "--iterations", "6", "--threads", "1", "--quiet"});
    const ModelFile whole = load_model(path("whole.h5")), both = load_model(path("both.h5"));
    EXPECT_TRUE(whole.state.model == both.state.model) << method;
    EXPECT_EQ(whole.state.method.numbers, both.state.method.numbers) << method;
    EXPECT_FALSE(load_model(path("half.h5")).state.model == whole.state.model) << method;
  }
  refused(2, {"fit", "x.npy", "-o", "o.h5", "--resume", "c.h5", "--usage-prior", "paper"}, {"--usage-prior", "paper"});
}

TEST_F(BetaProcessCli, InfersByDraws) {
  done(fit("m.h5", {"--iterations", "10", "--burn-in", "5", "--quiet"}));
  const ProgramResult result = done(
      {"infer", "m.h5", "x.npy", "-o", "c.npz", "--draws", "5", "--variance", "--threads", "1", "--metrics", "i.json"});
  EXPECT_EQ(result.err.find("free energy"), std::string::npos) << result.err;
  EXPECT_EQ(json("i.json")["options"]["draws"], 5);
  EXPECT_FALSE(json("i.json").contains("free_energy"));
  const Matrix mean = array("c.npz:mean"), probability = array("c.npz:probability");
  EXPECT_EQ(mean.cols(), 12);
  EXPECT_GE(array("c.npz:variance").minCoeff(), 0);
  EXPECT_ANY_THROW(open_data(path("c.npz:log_likelihood")));
  // Five draws: shares are fifths.
  EXPECT_LT((5 * probability.array() - (5 * probability.array()).round()).abs().maxCoeff(), 1e-12);
  done({"infer", "m.h5", "x.npy", "-o", "again.npz", "--draws", "5", "--threads", "2", "--quiet"});
  EXPECT_EQ(mean, array("again.npz:mean"));
  done({"infer", "m.h5", "x.npy", "-o", "more.npz", "--draws", "6", "--threads", "1", "--quiet"});
  EXPECT_NE(mean, array("more.npz:mean"));
  const Words infer{"infer", "m.h5", "x.npy", "-o", "o.npz"};
  refused(2, joined(infer, {"--states", "2"}), {"states", "beta-process"});
  refused(2, joined(infer, {"--with-candidates"}), {"candidates", "beta-process"});
  refused(2, joined(infer, {"--candidates", "3"}), {"candidates is for truncated", "method is beta-process"});
  refused(2, joined(infer, {"--draws", "0"}), {"draws is 0", "between 1"});
}

TEST_F(BetaProcessCli, FillsGaps) {
  const Matrix whole = array("x.npy");
  Matrix gaps = whole, mask = Matrix::Zero(whole.rows(), whole.cols());
  for (Index n = 0; n < whole.rows(); ++n) mask(n, n % whole.cols()) = 1;
  write_arrays(path("mask.npy"), {named("mask", mask)});
  gaps = (mask.array() > 0).select(std::numeric_limits<double>::quiet_NaN(), whole);
  write_arrays(path("gaps.npy"), {named("data", gaps)});
  const Words learn{"--iterations", "20", "--burn-in", "10", "--quiet"};
  done(fit("m.h5", joined(learn, {"--mask", "mask.npy"})));
  done(joined({"fit", "gaps.npy", "-o", "n.h5", "--latents", "12", "--method", "beta-process", "--missing", "nan",
               "--threads", "1"},
              learn));
  EXPECT_TRUE(load_model(path("m.h5")).state.model == load_model(path("n.h5")).state.model);
  done({"infer", "m.h5", "x.npy", "-o", "c.npz", "--mask", "mask.npy", "--threads", "1", "--impute", "filled.npy",
        "--impute-std", "std.npy", "--quiet"});
  const Matrix filled = array("filled.npy"), std = array("std.npy");
  double error = 0, by_the_mean = 0, within = 0;
  for (Index n = 0; n < whole.rows(); ++n)
    for (Index d = 0; d < whole.cols(); ++d) {
      if (mask(n, d) == 0) {
        EXPECT_EQ(filled(n, d), whole(n, d));
        EXPECT_EQ(std(n, d), 0);
        continue;
      }
      error += std::pow(filled(n, d) - whole(n, d), 2);
      by_the_mean += std::pow(whole.col(d).mean() - whole(n, d), 2);
      within += std::abs(filled(n, d) - whole(n, d)) < 2 * std(n, d) ? 1 : 0;
    }
  EXPECT_LT(error, 0.5 * by_the_mean);
  EXPECT_GT(within, 0.85 * static_cast<double>(whole.rows()));
  refused(2, {"fit", "gaps.npy", "-o", "o.h5", "--method", "beta-variational", "--missing", "nan"},
          {"missing is nan", "beta-variational", "beta-process"});
}

TEST_F(BetaProcessCli, IsComparedWithOthers) {
  const ProgramResult result = done({"compare", "x.npy", "--methods", "beta-process,beta-variational,truncated",
                                     "--latents", "12", "--iterations", "4", "--threads", "1", "-o", "c.json"});
  EXPECT_NE(result.out.find("log joint"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("Who is better is not known"), std::string::npos) << result.out;
  const Json methods = json("c.json")["methods"];
  ASSERT_EQ(methods.size(), 3U);
  EXPECT_EQ(methods[0]["objective"], "log_joint");
  EXPECT_EQ(methods[1]["objective"], "bound");
  EXPECT_EQ(methods[2]["objective"], "free_energy");
  // As learned alone.
  done(fit("m.h5", {"--iterations", "4", "--metrics", "m.json", "--quiet"}));
  EXPECT_EQ(methods[0]["log_joint"], json("m.json")["log_joint"]);
}

TEST_F(BetaProcessCli, RefusesByName) {
  const auto chosen = [](const Words& more) { return fit("o.h5", more); };
  refused(2, chosen({"--sigma", "2"}), {"sigma is 2", "learns it"});
  refused(2, chosen({"--noise", "diagonal"}), {"noise is for truncated", "method is beta-process"});
  refused(2, chosen({"--slab", "full"}), {"slab is for truncated", "method is beta-process"});
  refused(2, chosen({"--batch", "10"}), {"batch is for", "beta-process"});
  refused(2, chosen({"--max-active", "3"}), {"max-active is for", "beta-process"});
  refused(2, chosen({"--error-gain", "2"}), {"error-gain is for ksvd, online"});
  refused(2, chosen({"--chains", "0"}), {"chains is 0", "between 1 and 1000"});
  refused(2, chosen({"--burn-in", "-1"}), {"burn-in", "-1"});
  refused(2, chosen({"--usage-prior", "mine"}), {"usage-prior is 'mine'", "program, paper"});
  refused(2, chosen({"--latents", "401"}), {"latents is 401", "400 data points"});
  refused(2, {"fit", "x.npy", "-o", "o.h5", "--method", "beta-variational", "--chains", "2"},
          {"chains is for beta-process", "method is beta-variational"});
  refused(2, {"fit", "x.npy", "-o", "o.h5", "--usage-prior", "paper"},
          {"usage-prior is for beta-process, beta-variational", "method is truncated"});
  refused(2, {"separate", "x.npy", "-o", "s", "--method", "beta-process"}, {"method is 'beta-process'", "fastica"});
}

TEST_F(BetaProcessCli, DenoisesToldNothing) {
  Picture clean;
  clean.depth = PixelDepth::bits8;
  Matrix pixels(64, 72);
  for (Index y = 0; y < 64; ++y)
    for (Index x = 0; x < 72; ++x) pixels(y, x) = (x / 6 + y / 10) % 2 == 0 ? 60 : 190;
  clean.channels.push_back(pixels);
  write_picture(path("clean.png"), clean);
  const Words denoise{"denoise", "clean.png", "-o",           "out.png",   "--add-noise",
                      "25",      "--method",  "beta-process", "--threads", "1"};
  done(joined(denoise, {"--iterations", "20", "--latents", "64", "--metrics", "m.json", "--std", "std.tif",
                        "--save-model", "m.h5"}));
  const Json metrics = json("m.json");
  EXPECT_GT(metrics["psnr"].get<double>(), metrics["psnr_noisy"].get<double>() + 8);
  EXPECT_TRUE(metrics.contains("log_joint"));
  EXPECT_EQ(metrics["group_rounds"], 0);
  EXPECT_GT(read_picture(path("std.tif")).channels[0].minCoeff(), 0);
  const ModelFile model = load_model(path("m.h5"));
  EXPECT_EQ(model.options->beta_process.burn_in, 10);  // half of the sweeps
  EXPECT_NEAR(model.state.history.back().noise_std, 25, 3);
  refused(2, joined(denoise, {"--sigma", "25"}), {"sigma is 25", "learns the noise level"});
  refused(2, joined(denoise, {"--noise-level", "measured"}), {"noise is to be measured", "beta-process"});
  refused(2, joined(denoise, {"--max-active", "5"}), {"max-active is for", "beta-process"});
  refused(2, joined(denoise, {"--nonlocal", "1"}), {"nonlocal is 1"});
}

}  // namespace
}  // namespace gsc::test
