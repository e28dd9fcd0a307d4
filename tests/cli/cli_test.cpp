// The program as a user meets it: exit codes, files, messages. Every test runs the real binary in its own folder.

#include <gsc/option_list.h>
#include <hdf5.h>
#include <signal.h>

#include <algorithm>
#include <set>

#include "program_fixture.h"

namespace gsc::test {
namespace {

class Cli : public ProgramTest {
 protected:
  std::set<std::string> listing() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder())) names.insert(entry.path().filename());
    return names;
  }

  /// The run fails with `code`, says each of `parts`, leaves an old output as it was and nothing else behind.
  void fails(int code, const Words& words, const Words& parts, const std::string& output = "out.h5",
             const ProgramOptions& options = {}) const {
    write_file(path(output), "old contents");
    const std::set<std::string> before = listing();
    const ProgramResult result = run(words, options);
    std::string command;
    for (const std::string& word : words) command += word + " ";
    EXPECT_EQ(result.code, code) << command << "\n" << result.err;
    for (const std::string& part : parts)
      EXPECT_NE(result.err.find(part), std::string::npos) << command << "\n" << result.err;
    EXPECT_EQ(read_file(path(output)), "old contents") << command;
    EXPECT_EQ(listing(), before) << command;
    EXPECT_EQ(result.out, "") << command;
  }
  void fails_with_csv(const std::string& text, const Words& parts) const {
    write_file(path("data.csv"), text);
    fails(1, {"fit", "data.csv", "-o", "out.h5", "--latents", "2"}, parts);
  }
  /// A .npy of four elements of the given NumPy type.
  void write_npy(const std::string& name, const std::string& type, const std::string& bytes) const {
    std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (2, 2), }";
    header.resize(117, ' ');
    header += '\n';
    write_file(path(name), std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + bytes);
  }
};

TEST_F(Cli, HelpVersionAndSuggestions) {
  EXPECT_EQ(done({"--version"}).out.substr(0, 4), "gsc ");
  EXPECT_NE(done({"--help"}).out.find("gsc fit bars.npy"), std::string::npos);
  for (const char* command : {"fit", "infer", "sample", "info"}) {
    const std::string help = done({command, "--help"}).out;
    EXPECT_NE(help.find("Examples\n  gsc " + std::string(command)), std::string::npos);
    EXPECT_EQ(done({"help", command}).out, help);
  }
  fails(2, {"fot"}, {"gsc: unknown command 'fot'", "Did you mean fit?"});
  fails(2, {"fit", "x.npy", "--latent", "5"}, {"gsc fit: unknown option --latent", "Did you mean --latents?"});
  fails(2, {"fit"}, {"DATA is missing"});
  fails(2, {"fit", "x.npy"}, {"-o MODEL.h5 is missing"});
  fails(2, {"fit", "x.npy", "-o", "out.h5", "more"}, {"unexpected argument 'more'"});
  fails(2, {"fit", "x.npy", "-o", "out.h5", "--latents"}, {"--latents needs a value"});
  fails(2, {"fit", "x.npy", "-o", "out.h5", "--partition", "none"}, {"partition is 'none'", "static, local, global"});
  fails(2, {"fit", "x.npy", "-o", "out.h5", "--alpha", "3"},
        {"alpha is 3, but --partition is static", "alpha is for global"});
  fails(2, {"fit", "x.npy", "-o", "out.h5", "--partition", "global", "--alpha", "101"}, {"alpha is 101"});
  fails(2, {"fit", "x.npy", "-o", "out.h5", "--noise", "ful"}, {"noise is 'ful'", "scalar, diagonal, full"});
  make_bars();
  fails(2, {"fit", "bars.npy", "-o", "out.h5", "--device", "abacus"}, {"device is 'abacus'", "here are: auto, cpu"});
  fails(2, {"fit", "x.npy", "-o", "out.h5", "--seed", "-1"}, {"seed is '-1'", "whole number"});
  EXPECT_EQ(run({}).code, 2);
}

TEST_F(Cli, DocumentationHoldsTheTableOfOptions) {
  const std::string table = done({"options-markdown"}).out;
  EXPECT_GT(table.size(), 1000u);
  EXPECT_NE(read_file(GSC_SOURCE_DIR "/docs/cli.md").find(table), std::string::npos)
      << "docs/cli.md differs; put in the output of: gsc options-markdown";
}

TEST_F(Cli, EveryOptionOfTheLibraryIsAFlagAndInTheMetrics) {
  make_bars();
  const std::string help = done({"fit", "--help"}).out;
  done({"fit", "bars.npy", "-o", "m.h5", "--method", "factored", "--latents", "4", "--iterations", "1", "--metrics",
        "m.json"});
  const Json metrics = json("m.json");
  for (const OptionDescription& option : fit_option_list()) {
    std::string flag = "--" + option.name;
    std::replace(flag.begin(), flag.end(), '_', '-');
    EXPECT_NE(help.find(flag + " "), std::string::npos) << flag;
    const bool of_the_run = option.name == "seed" || option.name == "threads" || option.name == "device";
    if (option.name == "partition" || option.name == "alpha") continue;  // how processes share: "sharing"
    const bool of_others =
        !option.methods.empty() && std::none_of(option.methods.begin(), option.methods.end(), spike_and_slab);
    if (of_others) {
      EXPECT_FALSE(metrics["options"].contains(option.name)) << option.name;
      continue;
    }
    EXPECT_TRUE((of_the_run ? metrics : metrics["options"]).contains(option.name)) << option.name;
  }
}

TEST_F(Cli, ChainsSayWhetherTheyAgree) {
  make_bars();
  const ProgramResult fit = done({"fit", "bars.npy", "-o", "m.h5", "--method", "beta-process", "--latents", "6",
                                  "--iterations", "20", "--chains", "2", "--device", "auto", "--metrics", "m.json"});
  for (const char* text : {"burn_in is 30, but there are only 20 iterations", "noise deviation", "R-hat"})
    EXPECT_NE(fit.err.find(text), std::string::npos) << text << ": " << fit.err;
  const Json metrics = json("m.json");
  for (const char* name : {"noise_std_deviation", "r_hat_noise_std", "r_hat_log_joint"})
    EXPECT_GT(metrics[name].get<double>(), 0) << name;
  const std::string info = done({"info", "m.h5"}).out;
  EXPECT_NE(info.find("R-hat"), std::string::npos) << info;
  EXPECT_EQ(info.find("converged"), std::string::npos) << "draws never do: " << info;
  const ProgramResult resumed = done({"fit", "bars.npy", "-o", "n.h5", "--resume", "m.h5"});
  EXPECT_NE(resumed.err.find("a model has no codes"), std::string::npos) << resumed.err;
  EXPECT_TRUE(load_model(path("n.h5")).state.model == load_model(path("m.h5")).state.model);
  fails(2, {"fit", "bars.npy", "-o", "m.h5", "--method", "beta-process", "--tolerance", "1e-3"},
        {"tolerance is 0.001", "up and down"});
  const ProgramResult starts = done({"fit", "bars.npy", "-o", "m.h5", "--method", "beta-process", "--latents", "4",
                                     "--iterations", "6", "--restarts", "2"});
  EXPECT_NE(starts.err.find("within 1 of the best log joint"), std::string::npos) << starts.err;
}

TEST_F(Cli, FitFromSeveralStarts) {
  make_bars();
  const Words common = {"fit", "bars.npy", "-o", "best.h5", "--latents", "5", "--iterations", "6", "--seed", "7"};
  Words several = common;
  several.insert(several.end(), {"--restarts", "3", "--metrics", "m.json", "--report", "page.html"});
  const ProgramResult result = done(several, {.terminal = true});  // where progress is shown at once
  for (const char* part : {"3 starts", "of at most 18 iterations", "of 3 within 1 of the best free energy"})
    EXPECT_NE(result.err.find(part), std::string::npos) << part << " in\n" << result.err;
  const Json metrics = json("m.json");
  const auto energies = metrics["free_energies"].get<std::vector<double>>();
  ASSERT_EQ(energies.size(), 3u);
  const auto best = std::max_element(energies.begin(), energies.end());
  EXPECT_EQ(metrics["free_energy"], *best);
  EXPECT_EQ(metrics["seed"], 7);
  EXPECT_EQ(metrics["best_seed"], 7 + (best - energies.begin()));
  EXPECT_NE(read_file(path("page.html")).find("Starts"), std::string::npos);
  const ModelFile file = load_model(path("best.h5"));
  EXPECT_EQ(file.options->seed, metrics["best_seed"]);
  EXPECT_EQ(metrics["options"]["restarts"], 3);
  EXPECT_EQ(done({"info", "best.h5"}).out.find("restarts"), std::string::npos) << "a model file knows one start";

  // The same as that start alone, on one thread as each of them.
  Words alone = common;
  alone.insert(alone.end(), {"-o", "alone.h5", "--threads", "1", "--metrics", "alone.json", "--seed",
                             std::to_string(file.options->seed)});
  done(alone);
  EXPECT_EQ(load_model(path("alone.h5")).state.model.W, file.state.model.W);
  EXPECT_EQ(json("alone.json")["free_energies"], Json::array({*best}));

  for (const char* name : {"checkpoint", "resume"}) {
    Words both = several;
    both.insert(both.end(), {std::string("--") + name, "best.h5"});
    fails(2, both, {std::string(name) + " ", "restarts is 3; leave one of them out"});
  }
  Words model = several;
  model.insert(model.end(), {"--init", "alone.h5"});
  fails(2, model, {"init is a model, from which all starts would be the same", "restarts is 3"});
  fails(2, {"fit", "bars.npy", "-o", "out.h5", "--restarts", "0"}, {"restarts is 0", "at least 1"});
}

TEST_F(Cli, FitInferSampleInfo) {
  done({"sample", "--generator", "bars", "--latents", "10", "-n", "400", "-o", "bars.npz", "--with-latents",
        "--save-model", "truth.h5"});
  EXPECT_EQ(array("bars.npz:data").cols(), 25);
  EXPECT_EQ(array("bars.npz:spikes").rows(), 400);
  EXPECT_EQ(array("bars.npz:slabs").cols(), 10);

  const ProgramResult fit = done({"fit", "bars.npz:data", "-o", "model.h5", "--latents", "10", "--candidates", "5",
                                  "--max-active", "4", "--iterations", "8", "--metrics", "fit.json"});
  EXPECT_EQ(fit.out, "");
  EXPECT_NE(fit.err.find("iteration 8/8"), std::string::npos);
  EXPECT_NE(fit.err.find("wrote model.h5"), std::string::npos);
  const Json metrics = json("fit.json");
  for (const char* field :
       {"command", "version", "seed", "threads", "seconds", "seconds_per_iteration", "iterations", "free_energy",
        "free_energy_trace", "noise_std", "mean_active", "latents_in_use", "options", "rescues", "stop_reason"})
    EXPECT_TRUE(metrics.contains(field)) << field;
  EXPECT_EQ(metrics["command"], "fit");
  EXPECT_EQ(metrics["options"]["max_active"], 4);
  EXPECT_EQ(metrics["free_energy_trace"].size(), 9u);
  EXPECT_EQ(metrics["free_energy_trace"].back(), metrics["free_energy"]);
  EXPECT_GT(metrics["free_energy"], metrics["free_energy_trace"].front());

  done({"infer", "model.h5", "bars.npz:data", "-o", "codes.npz", "--variance", "--states", "2", "--with-candidates",
        "--metrics", "infer.json"});
  EXPECT_EQ(array("codes.npz:mean").cols(), 10);
  EXPECT_EQ(array("codes.npz:variance").rows(), 400);
  EXPECT_EQ(array("codes.npz:candidates").cols(), 5);  // as learned
  EXPECT_EQ(array("codes.npz:state_weights").cols(), 2);
  const Matrix probability = array("codes.npz:probability");
  EXPECT_GE(probability.minCoeff(), 0);
  EXPECT_LE(probability.maxCoeff(), 1 + 1e-12);
  // The same model and data: the sum over data points is what learning ended with.
  const double free_energy = metrics["free_energy"];
  EXPECT_NEAR(array("codes.npz:log_likelihood").sum(), free_energy, 1e-9 * std::abs(free_energy));
  EXPECT_NEAR(json("infer.json")["mean_active"].get<double>(), metrics["mean_active"].get<double>(), 1e-9);

  done({"sample", "model.h5", "-n", "7", "-o", "draws.csv"});
  EXPECT_EQ(array("draws.csv").rows(), 7);
  const ProgramResult info = done({"info", "model.h5"});
  EXPECT_NE(info.out.find("latents"), std::string::npos);
  EXPECT_EQ(info.err, "");
  const Json described = Json::parse(done({"info", "model.h5", "--json"}).out);
  EXPECT_EQ(described["dimensions"], 25);
  EXPECT_EQ(described["training"]["iterations"], 8);
  EXPECT_EQ(described["options"]["candidates"], 5);
  EXPECT_NE(done({"info", "truth.h5"}).out.find("dimensions"), std::string::npos);
  EXPECT_NE(done({"info", "draws.csv"}).out.find("7 rows"), std::string::npos);
  EXPECT_NE(done({"info", "--devices"}).out.find("cpu "), std::string::npos);
  const Json devices = Json::parse(done({"info", "--devices", "--json"}).out);
  EXPECT_GE(devices["cpu"]["threads"], 1);
  EXPECT_EQ(devices["gpus"].empty(), devices["no_gpu_because"].is_string());
  fails(2, {"info", "--devices", "draws.csv"}, {"draws.csv", "give one of the two"});
}

TEST_F(Cli, GeneratorsAndSeeds) {
  for (const std::string generator : {"laplace", "cauchy"}) {
    done({"sample", "--generator", generator, "--latents", "4", "-n", "20", "-o", generator + ".h5", "--with-latents"});
    EXPECT_EQ(array(generator + ".h5:/mixing").rows(), 4);
    EXPECT_EQ(array(generator + ".h5:/data").rows(), 20);
  }
  make_bars("a.npy");
  make_bars("b.npy");
  EXPECT_EQ(read_file(path("a.npy")), read_file(path("b.npy")));
  done({"sample", "--generator", "bars", "-n", "300", "-o", "c.npy", "--seed", "2"});
  EXPECT_NE(read_file(path("a.npy")), read_file(path("c.npy")));
  fails(2, {"sample", "-n", "5", "-o", "out.npy"}, {"--generator"}, "out.npy");
  fails(2, {"sample", "--generator", "bars", "-n", "5", "-o", "out.npy", "--with-latents"}, {".npz"}, "out.npy");
  fails(2, {"sample", "--generator", "bars", "--latents", "7", "-n", "5", "-o", "out.npy"}, {"even"}, "out.npy");
  fails(2, {"sample", "--generator", "bars", "-n", "0", "-o", "out.npy"}, {"count is 0"}, "out.npy");
}

TEST_F(Cli, QuietAndMetricsOnStandardOutput) {
  make_bars();
  const ProgramResult result =
      done({"fit", "bars.npy", "-o", "m.h5", "--latents", "4", "--iterations", "1", "--quiet", "--metrics", "-"});
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(Json::parse(result.out)["iterations"], 1);
  // Truncation that was not asked for is lowered to the latents there are, and the user is told.
  const ProgramResult told = done({"fit", "bars.npy", "-o", "m.h5", "--latents", "4", "--iterations", "1"});
  EXPECT_NE(told.err.find("candidates lowered to the 4 latents"), std::string::npos) << told.err;
}

TEST_F(Cli, OneLiveLineOnATerminal) {
  make_bars();
  ProgramOptions options;
  options.terminal = true;
  const std::string text =
      done({"fit", "bars.npy", "-o", "m.h5", "--latents", "8", "--iterations", "4000", "--tolerance", "0"}, options)
          .err;
  EXPECT_NE(text.find("\riteration"), std::string::npos) << text;
  EXPECT_NE(text.find(" left)"), std::string::npos) << text;
  EXPECT_EQ(text.find("\niteration"), std::string::npos) << text;
  EXPECT_NE(text.find("4000/4000"), std::string::npos) << text;
}

TEST_F(Cli, ConfigFile) {
  make_bars();
  write_file(path("run.toml"),
             "seed = 3\n[fit]\nlatents = 6\nmax_active = 2  # gamma\nquiet = true\n[infer]\nstates = 2\n");
  const ProgramResult result = done({"fit", "bars.npy", "-o", "m.h5", "--config", "run.toml", "--latents", "5",
                                     "--iterations", "1", "--metrics", "m.json"});
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(json("m.json")["latents"], 5);  // the command line wins
  EXPECT_EQ(json("m.json")["seed"], 3);
  EXPECT_EQ(json("m.json")["options"]["max_active"], 2);
  // auto: as if it were left out, of the file, too
  done({"fit", "bars.npy", "-o", "m.h5", "--config", "run.toml", "--max-active", "auto", "--method", "auto",
        "--iterations", "1", "--metrics", "m.json"});
  EXPECT_EQ(json("m.json")["options"]["max_active"], 5);
  EXPECT_EQ(json("m.json")["options"]["method"], "truncated");
  fails(2, {"fit", "bars.npy", "-o", "auto", "--init", "auto", "--report", "auto"}, {"auto"});  // files have names
  write_file(path("bad.toml"), "latens = 4\n");
  fails(2, {"fit", "bars.npy", "-o", "out.h5", "--config", "bad.toml"},
        {"bad.toml", "latens", "Did you mean latents?"});
  write_file(path("bad.toml"), "latents = many\n");
  fails(2, {"fit", "bars.npy", "-o", "out.h5", "--config", "bad.toml"}, {"bad.toml", "latents is 'many'"});
  fails(2, {"fit", "bars.npy", "-o", "out.h5", "--config", "none.toml"},
        {"config: none.toml is not a file that can be read"});
}

// What is drawn must not change what is learned.
TEST_F(Cli, ShapeIsForLearningShowBasisForDrawing) {
  done({"sample", "--generator", "laplace", "--latents", "24", "-n", "300", "-o", "x.npy", "--quiet"});
  const auto learned = [&](const std::string& name, const Words& more) {
    Words words{"fit",           "x.npy", "-o",           name, "--latents", "6", "--method", "factored",
                "--basis-prior", "gp",    "--iterations", "3",  "--threads", "1", "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    done(words);
    return load_model(path(name));
  };
  const ModelFile plain = learned("plain.h5", {});
  const ModelFile drawn = learned("drawn.h5", {"--show-basis", "4x6", "--report", "drawn.html"});
  EXPECT_EQ(drawn.state.model.W, plain.state.model.W);
  EXPECT_EQ(drawn.options->shape.rows, 0);
  EXPECT_NE(read_file(path("drawn.html")).find("--rows:4;--cols:6"), std::string::npos);
  const ModelFile shaped = learned("shaped.h5", {"--shape", "4x6"});
  EXPECT_NE(shaped.state.model.W, plain.state.model.W);
  EXPECT_EQ(shaped.options->shape.rows, 4);
  EXPECT_EQ(learned("colour.h5", {"--shape", "2x4x3"}).options->shape.channels, 3);

  // The shape is remembered: for going on, for drawing, and for info.
  done({"fit", "x.npy", "-o", "more.h5", "--resume", "shaped.h5", "--iterations", "4", "--show-basis", "6x4",
        "--quiet"});
  EXPECT_EQ(load_model(path("more.h5")).options->shape.cols, 6);
  fails(2, {"fit", "x.npy", "-o", "out.h5", "--resume", "shaped.h5", "--shape", "6x4"}, {"shaped.h5", "shape_rows"});
  done({"report", "shaped.h5", "-o", "shaped.html"});
  EXPECT_NE(read_file(path("shaped.html")).find("--rows:4;--cols:6"), std::string::npos);
  EXPECT_EQ(Json::parse(done({"info", "shaped.h5", "--json"}).out)["options"]["shape"], "4x6");
  EXPECT_NE(done({"info", "shaped.h5", "--show-basis", "2x4x3"}).out.find("pi "), std::string::npos);

  const Words fit{"fit", "x.npy", "-o", "out.h5"};
  const auto refused = [&](const std::string& option, const std::string& value, const Words& parts) {
    fails(2, {"fit", "x.npy", "-o", "out.h5", option, value}, parts);
  };
  refused("--shape", "5x5", {"shape is 5x5", "x.npy has 24 dimensions"});
  refused("--show-basis", "5x5", {"show-basis is 5x5", "x.npy has 24 dimensions"});
  refused("--shape", "2x4x5", {"shape is 2x4x5", "24"});
  for (const std::string text : {"24", "x", "4x", "4x6x1x1", "0x24", "-4x-6", "4 x 6", "99999999999999999999x1"})
    refused("--shape", text, {"shape is '" + text + "'", "8x8x3"});
  // Config files of earlier versions are still read.
  write_file(path("old.toml"), "[fit]\nshow_basis = \"4x6\"\n");
  done({"fit", "x.npy", "-o", "old.h5", "--latents", "4", "--iterations", "1", "--config", "old.toml", "--quiet"});
}

TEST_F(Cli, SameSeedSameBits) {
  make_bars();
  const auto fit = [&](const std::string& output) {
    return Words{"fit", "bars.npy", "-o", output, "--latents", "8", "--iterations", "4", "--threads", "2", "--quiet"};
  };
  done(fit("a.h5"));
  done(fit("b.h5"));
  const Model a = load_model(path("a.h5")).state.model, b = load_model(path("b.h5")).state.model;
  EXPECT_EQ(a.W, b.W);
  EXPECT_EQ(a.pi, b.pi);
  EXPECT_EQ(a.noise.values(), b.noise.values());
}

TEST_F(Cli, ResumeEqualsUninterrupted) {
  make_bars();
  const Words common{"--latents", "8", "--tolerance", "0", "--threads", "2", "--quiet"};
  const auto with = [&](Words words) {
    words.insert(words.end(), common.begin(), common.end());
    return words;
  };
  done(with({"fit", "bars.npy", "-o", "whole.h5", "--iterations", "9"}));
  done(with({"fit", "bars.npy", "-o", "part.h5", "--iterations", "5", "--checkpoint", "state.h5", "--checkpoint-every",
             "2"}));
  EXPECT_EQ(load_model(path("state.h5")).state.history.back().iteration, 4);
  for (const std::string from : {"state.h5", "part.h5"}) {
    done({"fit", "bars.npy", "-o", "rest.h5", "--resume", from, "--iterations", "9", "--quiet"});
    const FitState whole = load_model(path("whole.h5")).state, rest = load_model(path("rest.h5")).state;
    EXPECT_EQ(whole.model.W, rest.model.W);
    EXPECT_EQ(whole.model.noise.values(), rest.model.noise.values());
    ASSERT_EQ(whole.history.size(), rest.history.size());
    for (std::size_t t = 0; t < whole.history.size(); ++t)
      EXPECT_EQ(whole.history[t].free_energy, rest.history[t].free_energy);
  }
  fails(2, {"fit", "bars.npy", "-o", "out.h5", "--resume", "state.h5", "--latents", "7", "--noise", "full"},
        {"state.h5", "latents", "noise"});
  fails(2, {"fit", "bars.npy", "-o", "out.h5", "--resume", "state.h5", "--init", "random"}, {"init", "resume"});
}

TEST_F(Cli, InitFromModel) {
  make_bars();
  done({"fit", "bars.npy", "-o", "first.h5", "--latents", "6", "--iterations", "3", "--quiet", "--metrics", "1.json"});
  done({"fit", "bars.npy", "-o", "second.h5", "--init", "first.h5", "--iterations", "1", "--quiet", "--metrics",
        "2.json"});
  EXPECT_EQ(json("2.json")["latents"], 6);
  const double left = json("1.json")["free_energy"], taken_up = json("2.json")["free_energy_trace"][0];
  EXPECT_NEAR(taken_up, left, 1e-9 * std::abs(left));
  done({"fit", "bars.npy", "-o", "third.h5", "--init", "first.h5", "--noise", "diagonal", "--slab", "full",
        "--iterations", "1", "--quiet"});
  EXPECT_EQ(load_model(path("third.h5")).state.model.noise.type(), NoiseType::diagonal);
  // A model without intercept stays one, as its basis functions explain the level.
  const Words without{"fit", "bars.npy",    "-o",   "none.h5", "--latents", "6",     "--iterations",
                      "3",   "--intercept", "none", "--quiet", "--metrics", "4.json"};
  done(without);
  done({"fit", "bars.npy", "-o", "fifth.h5", "--init", "none.h5", "--iterations", "1", "--quiet", "--metrics",
        "5.json"});
  EXPECT_EQ(load_model(path("fifth.h5")).state.model.intercept.size(), 0);
  const double of_none = json("4.json")["free_energy"];
  EXPECT_NEAR(json("5.json")["free_energy_trace"][0].get<double>(), of_none, 1e-9 * std::abs(of_none));
  done({"fit", "bars.npy", "-o", "sixth.h5", "--init", "none.h5", "--intercept", "learned", "--iterations", "1",
        "--quiet"});
  EXPECT_EQ(load_model(path("sixth.h5")).state.model.intercept.size(), 25);
  fails(2, {"fit", "bars.npy", "-o", "out.h5", "--init", "first.h5", "--latents", "5"}, {"latents is 5", "has 6"});
  fails(2, {"fit", "bars.npy", "-o", "out.h5", "--init", "rndom"}, {"init is 'rndom'", "random, data"});
}

TEST_F(Cli, InterruptSavesTheCheckpoint) {
  make_bars("bars.npy", "2000");
  ProgramOptions interrupt;
  interrupt.signal_when = "iteration      3/";
  interrupt.signal = SIGINT;
  const Words fit{"fit", "bars.npy", "-o", "m.h5", "--latents", "10", "--iterations", "100000", "--tolerance", "0"};
  Words with_checkpoint = fit;
  with_checkpoint.insert(with_checkpoint.end(), {"--checkpoint", "state.h5", "--checkpoint-every", "100000"});
  const ProgramResult stopped = run(with_checkpoint, interrupt);
  EXPECT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_NE(stopped.err.find("saved state.h5"), std::string::npos) << stopped.err;
  EXPECT_FALSE(std::filesystem::exists(path("m.h5")));
  const int reached = load_model(path("state.h5")).state.history.back().iteration;
  EXPECT_GE(reached, 3);
  done({"fit", "bars.npy", "-o", "m.h5", "--resume", "state.h5", "--iterations", std::to_string(reached + 2),
        "--quiet"});
  EXPECT_EQ(load_model(path("m.h5")).state.history.back().iteration, reached + 2);

  std::filesystem::remove(path("m.h5"));
  interrupt.signal = SIGTERM;
  const ProgramResult terminated = run(fit, interrupt);
  EXPECT_EQ(terminated.code, 130);
  EXPECT_NE(terminated.err.find("nothing is saved"), std::string::npos) << terminated.err;
  EXPECT_FALSE(std::filesystem::exists(path("m.h5")));
}

TEST_F(Cli, BadData) {
  fails_with_csv("1,2\n3,4\n5,nan\n", {"gsc fit:", "data.csv", "row 2", "column 1", "NaN"});
  fails_with_csv("1,2\ninf,4\n5,6\n", {"data.csv", "row 1", "column 0", "infinite"});
  fails_with_csv("", {"data.csv: is empty; one row of numbers per line is expected"});
  fails_with_csv("1,2,3\n", {"data.csv", "only one row"});
  fails_with_csv("1,2\n1,2\n1,2\n", {"data.csv", "all rows are equal"});
  fails_with_csv("1,2\n3\n4,5\n", {"data.csv:2", "expected 2 columns", "found 1"});
  fails_with_csv("1,2\n3,four\n", {"data.csv:2", "'four'", "not a number"});
  fails(1, {"fit", "none.npy", "-o", "out.h5"}, {"none.npy: there is no such file"});
  write_file(path("data.xyz"), "1 2 3");
  fails(1, {"fit", "data.xyz", "-o", "out.h5"}, {"data.xyz", ".npy"});
  done({"sample", "--generator", "bars", "-n", "5", "-o", "many.npz", "--with-latents"});
  fails(1, {"fit", "many.npz:dat", "-o", "out.h5"}, {"many.npz", "dat", "spikes"});
  fails(1, {"fit", "many.npz", "-o", "out.h5"}, {"many.npz", "data", "spikes"});
  write_npy("complex.npy", "<c16", std::string(64, '\0'));
  fails(1, {"fit", "complex.npy", "-o", "out.h5"}, {"complex.npy", "complex"});
  write_npy("string.npy", "<U1", std::string(16, '\0'));
  fails(1, {"fit", "string.npy", "-o", "out.h5"}, {"string.npy", "'<U1'"});
}

TEST_F(Cli, BadOptions) {
  make_bars();
  const auto refused = [&](Words more, const Words& parts) {
    more.insert(more.begin(), {"fit", "bars.npy", "-o", "out.h5"});
    fails(2, more, parts);
  };
  refused({"--latents", "6", "--candidates", "7"}, {"candidates is 7", "latents (6)"});
  refused({"--latents", "6", "--candidates", "3", "--max-active", "4"}, {"max-active is 4", "candidates (3)"});
  refused({"--latents", "0"}, {"latents is 0", "65535"});
  refused({"--candidates", "0"}, {"candidates is 0", "at least 1"});
  refused({"--max-active", "0"}, {"max-active is 0", "at least 1"});
  refused({"--latents", "65536"}, {"latents is 65536", "65535"});
  refused({"--latents", "21", "--method", "exact"}, {"exact", "21", "20"});
  refused({"--checkpoint", "state.h5", "--checkpoint-every", "0"}, {"checkpoint-every is 0"});
  refused({"--metrics", "out.h5"}, {"out.h5", "two outputs"});
  fails(2, {"fit", "bars.npy", "-o", "out.txt"}, {"out.txt", ".h5"}, "out.txt");
  fails(2, {"infer", "m.h5", "bars.npy", "-o", "out.txt"}, {"out.txt", ".npz", ".csv"}, "out.txt");
}

TEST_F(Cli, BadModels) {
  make_bars();
  done({"sample", "--generator", "laplace", "--latents", "3", "-n", "20", "-o", "other.csv"});
  done({"fit", "bars.npy", "-o", "m.h5", "--latents", "4", "--iterations", "1", "--quiet"});
  fails(1, {"infer", "m.h5", "other.csv", "-o", "out.npz"}, {"other.csv has 3 columns", "m.h5 has 25"}, "out.npz");
  fails(1, {"fit", "other.csv", "-o", "out.h5", "--init", "m.h5"}, {"3 columns", "25 dimensions"});
  fails(1, {"fit", "other.csv", "-o", "out.h5", "--resume", "m.h5"}, {"3 columns", "25 dimensions"});
  fails(1, {"infer", "none.h5", "bars.npy", "-o", "out.npz"}, {"none.h5: there is no such model file"}, "out.npz");
  write_file(path("text.h5"), "not HDF5 at all");
  fails(1, {"info", "text.h5"}, {"text.h5: is not HDF5: by its first bytes it is text", "the extension of its format"});
  std::string cut = read_file(path("m.h5"));
  write_file(path("cut.h5"), cut.substr(0, cut.size() / 2));
  fails(1, {"info", "cut.h5"}, {"cut.h5: cannot be read as HDF5", "cut off"});
  std::filesystem::copy(path("m.h5"), path("newer.h5"));
  const hid_t file = H5Fopen(path("newer.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t version = H5Aopen(file, "format_version", H5P_DEFAULT);
  const std::int64_t future = 99;
  EXPECT_GE(H5Awrite(version, H5T_NATIVE_INT64, &future), 0);
  H5Aclose(version);
  H5Fclose(file);
  fails(1, {"info", "newer.h5"}, {"newer.h5", "format version 99", "update gsc"});
  fails(1, {"infer", "newer.h5", "bars.npy", "-o", "out.npz"}, {"newer.h5", "format version 99"}, "out.npz");
  // An input is never replaced.
  const std::string model = read_file(path("m.h5"));
  EXPECT_EQ(run({"infer", "m.h5", "bars.npy", "-o", "m.h5"}).code, 2);
  EXPECT_EQ(read_file(path("m.h5")), model);
}

TEST_F(Cli, OutputsThatCannotBeWritten) {
  make_bars();
  write_file(path("file"), "");
  const auto refused = [&](const std::string& output, const Words& parts) {
    fails(2, {"fit", "bars.npy", "-o", output, "--latents", "4"}, parts);
  };
  refused("none/out.h5", {"none/out.h5", "folder none does not exist"});
  refused("file/out.h5", {"file", "not a folder"});
  refused("/proc/out.h5", {"/proc/out.h5"});
  std::filesystem::create_directory(path("folder.h5"));
  refused("folder.h5", {"folder.h5", "is a folder"});
  fails(2, {"fit", "bars.npy", "-o", "out.h5", "--checkpoint", "none/state.h5"}, {"checkpoint", "none"});
  fails(2, {"fit", "bars.npy", "-o", "out.h5", "--metrics", "none/m.json"}, {"metrics", "none"});

  // No file may grow beyond 2 kB: as on a full disk.
  ProgramOptions full;
  full.file_limit = 2048;
  fails(1, {"fit", "bars.npy", "-o", "out.h5", "--latents", "4", "--iterations", "1"}, {"out.h5", "make room"},
        "out.h5", full);
  for (const std::string output : {"out.npy", "out.npz", "out.csv", "out.h5"})
    fails(1, {"sample", "--generator", "bars", "-n", "100", "-o", output}, {output, "make room"}, output, full);
}

// OpenBLAS and OpenMP would start threads of their own if let.
TEST_F(Cli, OneThreadMeansOne) {
  make_bars("bars.npy", "3000");
  ProgramOptions many;
  many.environment = {{"OMP_NUM_THREADS", "8"}, {"OPENBLAS_NUM_THREADS", "8"}};
  const ProgramResult result = done({"fit", "bars.npy", "-o", "m.h5", "--latents", "40", "--iterations", "15",
                                     "--tolerance", "0", "--threads", "1", "--metrics", "m.json", "--quiet"},
                                    many);
  EXPECT_EQ(json("m.json")["threads"], 1);
  EXPECT_LT(result.cpu_seconds, 1.3 * result.wall_seconds + 0.05);
  many.environment = {{"OMP_NUM_THREADS", "3"}};
  done({"fit", "bars.npy", "-o", "m.h5", "--latents", "4", "--iterations", "1", "--metrics", "m.json", "--quiet"},
       many);
  EXPECT_EQ(json("m.json")["threads"], 3);
}

}  // namespace
}  // namespace gsc::test
