// gsc separate --method fastica and --init fastica as a user meets them.

#include <gsc/metrics.h>
#include <gsc/scores.h>
#include <gtest/gtest.h>

#include "separate_program.h"
#include "separate_support.h"

namespace gsc::test {
namespace {

class FasticaProgram : public SeparateProgram {};

TEST_F(FasticaProgram, WritesWhatItHasAndNothingElse) {
  write("s.npy", laplace(3, 2000, 1));
  const ProgramResult result = done(
      {"--sources", "s.npy", "--mix", "0.3", "-o", "out", "--method", "fastica", "--csv", "--report", "page.html"});
  EXPECT_NE(result.err.find("3 sources to find, fastica (symmetric, tanh)"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("converged after"), std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("free energy"), std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("noise"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("wrote out: sources.npy, mixing.npy, metrics.json, sources.csv"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path("out/model.h5")));
  const Json json = metrics();
  EXPECT_LT(json["amari"], 0.1);
  for (const char* name : {"free_energy", "free_energies", "free_energy_trace", "noise_std", "noise_share",
                           "mean_active", "best_seed", "rescues", "device"})
    EXPECT_FALSE(json.contains(name)) << name;
  for (const char* name :
       {"noise", "slab", "intercept", "candidates", "max_active", "restarts", "basis_prior", "whiten"})
    EXPECT_FALSE(json["options"].contains(name)) << name;
  EXPECT_EQ(json["options"]["method"], "fastica");
  EXPECT_EQ(json["options"]["nonlinearity"], "tanh");
  EXPECT_EQ(json["options"]["iterations"], 1000);
  EXPECT_EQ(json["stop_reason"], "converged");
  EXPECT_LT(json["change"], 1e-8);
  Random random(1);
  EXPECT_NEAR(amari_index(array("out/mixing.npy"), mixing_matrix(3, 0.3, random)), json["amari"], 1e-12);
  const std::string page = read_file(path("page.html"));
  EXPECT_EQ(page.find("free energy"), std::string::npos);
  EXPECT_EQ(page.find("Posterior"), std::string::npos);
  EXPECT_NE(page.find("nonlinearity"), std::string::npos);
  // And the other way round.
  done({"--sources", "s.npy", "--mix", "0.3", "-o", "out", "--restarts", "1", "--iterations", "5", "--init", "random"});
  EXPECT_FALSE(metrics()["options"].contains("nonlinearity"));
  EXPECT_FALSE(metrics().contains("change"));
  const ProgramResult again = done({"--sources", "s.npy", "--mix", "0.3", "-o", "out", "--method", "fastica"});
  EXPECT_NE(again.err.find("out also holds model.h5, not of this run"), std::string::npos) << again.err;
}

TEST_F(FasticaProgram, OptionsArrive) {
  write("x.npy", mixing(3) * laplace(3, 1000, 2));
  done({"x.npy", "-o", "a", "--method", "fastica", "--seed", "3"});
  done({"x.npy", "-o", "b", "--method", "fastica", "--seed", "3", "--threads", "1", "--quiet"});
  EXPECT_EQ(read_file(path("a/sources.npy")), read_file(path("b/sources.npy")));
  // From what it has found it goes nowhere, so the order of the sources stays.
  done({"x.npy", "-o", "c", "--method", "fastica", "--init", "a/mixing.npy", "--tolerance", "1e-6"});
  EXPECT_LE(metrics("c/metrics.json")["iterations"], 2);
  EXPECT_EQ(metrics("c/metrics.json")["options"]["init"], "a/mixing.npy");
  const std::vector<SourceMatch> matches = match_sources(array("a/sources.npy"), array("c/sources.npy"));
  for (Index h = 0; h < 3; ++h) EXPECT_EQ(matches[static_cast<std::size_t>(h)].found, h);
  done({"x.npy", "-o", "d", "--method", "fastica", "--nonlinearity", "cube", "--decorrelation", "deflation"});
  EXPECT_NE(array("d/mixing.npy"), array("a/mixing.npy"));
  EXPECT_EQ(metrics("d/metrics.json")["options"]["decorrelation"], "deflation");
  const ProgramResult few = done({"x.npy", "-o", "e", "--method", "fastica", "--iterations", "2"});
  EXPECT_NE(few.err.find("stopped after 2 iterations"), std::string::npos) << few.err;
  EXPECT_NE(few.err.find("fastica has not converged in 2 iterations"), std::string::npos) << few.err;
  EXPECT_EQ(metrics("e/metrics.json")["stop_reason"], "iterations");
  const ProgramResult all = done({"x.npy", "-o", "f", "--method", "fastica", "--iterations", "20", "--tolerance", "0"});
  EXPECT_EQ(all.err.find("has not converged"), std::string::npos) << "all iterations were wanted: " << all.err;
}

TEST_F(FasticaProgram, IsAStartForLearning) {
  write("x.npy", mixing(3) * laplace(3, 500, 2));
  const Words common{"x.npy", "--restarts", "2", "--iterations", "20", "--whiten", "on", "-o"};
  const auto with = [&](Words more) {
    more.insert(more.begin(), common.begin(), common.end());
    done(more);
  };
  with({"a", "--init", "random"});
  with({"b", "--init", "fastica", "--nonlinearity", "gauss"});
  const Json random = metrics("a/metrics.json"), first = metrics("b/metrics.json");
  EXPECT_NE(random["free_energies"][0], first["free_energies"][0]);
  EXPECT_EQ(random["free_energies"][1], first["free_energies"][1]);
  EXPECT_EQ(first["options"]["init"], "fastica");
  EXPECT_EQ(first["options"]["nonlinearity"], "gauss");
}

TEST_F(FasticaProgram, WrongUsage) {
  write("x.npy", laplace(2, 100, 1));
  const auto fastica = [&](Words words, const Words& parts) {
    words.insert(words.begin(), {"x.npy", "--method", "fastica"});
    fails(2, words, parts);
  };
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"noise", "full"},
                                                                                    {"slab", "full"},
                                                                                    {"intercept", "none"},
                                                                                    {"candidates", "2"},
                                                                                    {"max-active", "2"},
                                                                                    {"restarts", "3"},
                                                                                    {"basis-prior", "gp"},
                                                                                    {"whiten", "off"},
                                                                                    {"device", "cpu"}})
    fastica({"--" + name, value}, {name + " is for learning a model", "method is fastica"});
  fastica({"--nonlinearity", "sinh"}, {"nonlinearity is 'sinh'", "tanh, cube, gauss"});
  fastica({"--decorrelation", "none"}, {"decorrelation is 'none'", "symmetric, deflation"});
  fastica({"--latents", "3"}, {"latents is 3", "2 channels", "at most as many"});
  fastica({"--latents", "0"}, {"latents is 0"});
  fastica({"--tolerance", "2"}, {"tolerance is 2", "below 1"});
  fastica({"--iterations", "0"}, {"iterations is 0"});
  fastica({"--init", "fastica"}, {"init is fastica, but so is method"});
  write("three.npy", Matrix::Identity(3, 3));
  fastica({"--init", "three.npy"}, {"is 3 x 3", "2 x 2"});
  fails(2, {"x.npy", "--init", "random", "--nonlinearity", "cube"},
        {"--nonlinearity is for fastica, but --init is random"});
  fails(2, {"x.npy", "--init", "random", "--decorrelation", "deflation"}, {"decorrelation is for fastica"});
  fails(2, {"x.npy", "--init", "fastica", "--latents", "3"}, {"init is fastica", "channels (2)", "latents is 3"});
  fails(2, {"x.npy", "--init", "x.npy"}, {"init is 'x.npy'", "random or fastica"});
  fails(2, {"x.npy", "--method", "ica"}, {"method is 'ica'", "exact, factored", "fastica"});
}

TEST_F(FasticaProgram, BadInput) {
  write("x.npy", laplace(2, 100, 1));
  fails(1, {"x.npy", "--method", "fastica", "--init", "none.npy"}, {"none.npy", "no such file"});
  Matrix half = laplace(3, 50, 1);
  half.row(1).setOnes();
  write("half.npy", half);
  const ProgramResult result = done({"half.npy", "--method", "fastica", "-o", "half"});
  EXPECT_NE(result.err.find("channel 2 is constant"), std::string::npos) << result.err;
  EXPECT_EQ(array("half/sources.npy").rows(), 2);
  fails(1, {"half.npy", "--method", "fastica", "--latents", "3"}, {"latents is 3", "only 2 of the channels"});
  write("still.npy", Matrix::Constant(2, 50, 3));
  fails(1, {"still.npy", "--method", "fastica"}, {"still.npy has nothing but constant channels"});
  fails(1, {"x.npy", "--method", "fastica", "--samples", "1"}, {"fewer samples (1) than channels (2)"});
}

}  // namespace
}  // namespace gsc::test
