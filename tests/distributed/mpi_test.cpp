// The program as mpirun starts it: several processes give what one gives, print and write once, and end together.

#include <gsc/files.h>
#include <gsc/picture_files.h>
#include <gsc/sound.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "mpi_fixture.h"

namespace gsc::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class Mpirun : public MpirunFixture {
 protected:
  Json json(const std::string& name) const { return Json::parse(read_file(path(name))); }
  Matrix array(const std::string& name) const {
    const auto data = open_data(path(name));
    Matrix values(data->rows(), data->cols());
    data->read(0, values);
    return values;
  }
  ProgramResult helper(int ranks, const std::string& mode, const Environment& environment = {}) const {
    return start_command(ranks, {GSC_MPI_FAILURE, mode}, environment).wait(30);
  }
  /// What several processes learn is what one learns. `sharing`: options that are for the several. Returns the metrics.
  Json agrees(int ranks, const std::string& data, const Words& model, const Words& sharing = {},
              const Environment& environment = {}) const {
    std::string text = data + ", " + std::to_string(ranks) + " ranks";
    for (const std::string& word : model + sharing) text += " " + word;
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, text);
    alone(fit(data, "alone.h5", {"--quiet"}) + model);
    const ProgramResult result =
        done(ranks, fit(data, "ranks.h5", {"--metrics", "-", "--quiet"}) + model + sharing, environment);
    if (result.code != 0) return {};
    expect_same("alone.h5", "ranks.h5");
    fs::remove(path("ranks.h5"));
    const Json metrics = Json::parse(result.out);
    EXPECT_EQ(metrics["processes"], ranks);
    return metrics;
  }
  /// The run fails with `code`, says each of `parts` once, leaves an old output as it was and nothing else behind.
  void fails(int code, int ranks, const Words& words, const Words& parts) const {
    write_file(path("out.h5"), "old contents");
    const std::set<std::string> before = listing();
    const ProgramResult result = run(ranks, words);
    std::string command;
    for (const std::string& word : words) command += word + " ";
    EXPECT_EQ(result.code, code) << command << "\n" << result.err;
    for (const std::string& part : parts) EXPECT_EQ(count(result.err, part), 1) << part << "\n" << result.err;
    EXPECT_TRUE(read_file(path("out.h5")) == "old contents") << command;
    EXPECT_EQ(listing(), before) << command;
    EXPECT_EQ(result.out, "") << command;
  }
};

// --- what is learned ---------------------------------------------------------------------------------------------

/// Missing values, as NaN and by a mask, which the ranks share as they share the data; windows of a recording, too.
TEST_F(Mpirun, GapsAreSharedOut) {
  make_bars();
  Matrix values = array("bars.npy"), mask = Matrix::Zero(values.rows(), values.cols()), nan = values;
  for (Index i = 0; i < values.size(); i += 4) {
    mask.data()[i] = 1;
    nan.data()[i] = std::numeric_limits<double>::quiet_NaN();
  }
  write_arrays(path("mask.npy"), {named("mask", mask)});
  write_arrays(path("nan.npy"), {named("data", nan)});
  agrees(2, "nan.npy", {"--missing", "nan"}, {"--partition", "global"});
  agrees(3, "bars.npy", {"--mask", "mask.npy"}, {"--partition", "static"});
  agrees(2, "bars.npy", {"--mask", "mask.npy", "--gap-memory", "0"});
  agrees(2, "nan.npy", {"--missing", "nan", "--method", "factored"});
  // A process has other batches, and the last full steps hardly another model.
  for (const std::string memory : {"1024", "0"}) {
    const Words batches{"--missing", "nan", "--batch", "100", "--iterations", "10", "--gap-memory", memory, "--quiet"};
    alone(fit("nan.npy", "one.h5") + batches);
    done(2, fit("nan.npy", "two.h5") + batches);
    const double one = load_model(path("one.h5")).state.history.back().free_energy;
    EXPECT_NEAR(load_model(path("two.h5")).state.history.back().free_energy / one, 1, 0.05) << memory;
  }
  agrees(2, "nan.npy", {"--missing", "nan", "--window", "4", "--hop", "2", "--channels-in", "columns"});
}

TEST_F(Mpirun, FitLearnsTheSameModel) {
  make_bars();  // 1501 rows: no number of ranks here divides them
  const Words full{"--noise", "full", "--slab", "full"},
      other{"--noise", "diagonal", "--selection", "singleton", "--init", "random"};
  struct Case {
    int ranks;
    std::string partition;
    Words model;
  };
  for (const Case& now : {Case{2, "static", {}}, Case{2, "global", full}, Case{3, "local", other},
                          Case{3, "static", full}, Case{4, "local", full}, Case{4, "global", {}}}) {
    const Json metrics = agrees(now.ranks, "bars.npy", now.model, {"--partition", now.partition});
    EXPECT_EQ(metrics["sharing"]["partition"], now.partition);
    EXPECT_EQ(metrics["sharing"]["rows_moved"] > 0, now.partition == "global");
    EXPECT_EQ(metrics["sharing"]["rows_sent_to_other_nodes"], 0);
  }
}

TEST_F(Mpirun, FitWithFewerRowsThanRanks) {
  write_file(path("three.csv"), "1,2,0,4\n0,1,3,1\n5,1,1,2\n");
  alone({"sample", "--generator", "laplace", "--latents", "4", "-n", "2", "-o", "two.npy", "--quiet"});
  const Words small{"--latents", "2", "--candidates", "2", "--max-active", "2"};
  agrees(4, "three.csv", small);
  agrees(3, "two.npy", small, {"--partition", "global"});
}

TEST_F(Mpirun, FitOfEveryFormatAndMethod) {
  for (const std::string name : {"bars.csv", "bars.h5", "bars.npz"}) make_bars(name, "401");
  agrees(3, "bars.csv", {"--method", "exact"});
  agrees(3, "bars.h5:/data", {"--method", "factored", "--noise", "diagonal"});
  agrees(2, "bars.npz", {"--method", "factored", "--basis-prior", "gp", "--shape", "5x5"});
  agrees(2, "bars.npz:data", {"--slab", "full"}, {"--partition", "local"});
}

// GSC_RANKS_PER_NODE makes several nodes of this one.
TEST_F(Mpirun, RowsTravelBetweenNodes) {
  make_bars();
  make_bars("bars.csv", "401");
  const auto sent = [](const Json& metrics) { return metrics["sharing"]["rows_sent_to_other_nodes"].get<double>(); };
  const Words global{"--partition", "global"};
  const Json each_a_node = agrees(3, "bars.csv", {}, global + Words{"--alpha", "50"}, {{"GSC_RANKS_PER_NODE", "1"}});
  EXPECT_GT(sent(each_a_node), 0);
  EXPECT_EQ(sent(each_a_node), each_a_node["sharing"]["rows_moved"]);
  const Json two_nodes = agrees(4, "bars.npy", {}, global, {{"GSC_RANKS_PER_NODE", "2"}});
  EXPECT_GT(sent(two_nodes), 0);
  EXPECT_LT(sent(two_nodes), two_nodes["sharing"]["rows_moved"]);
}

TEST_F(Mpirun, Denoise) {
  const auto denoise = [](const std::string& name) {
    return Words{"denoise",      GSC_SOURCE_DIR "/assets/demo.png",
                 "-o",           name + ".png",
                 "--metrics",    name + ".json",
                 "--std",        name + ".tif",
                 "--add-noise",  "25",
                 "--quality",    "fast",
                 "--patch",      "5",
                 "--stride",     "2",
                 "--latents",    "16",
                 "--iterations", "3",
                 "--batch",      "0",       // batches are others where ranks share them
                 "--precision",  "double",  // in single a few patches get other candidates when sums round otherwise
                 "--threads",    "1"};
  };
  alone(denoise("alone"));
  const ProgramResult result = done(3, denoise("ranks"));
  EXPECT_EQ(count(result.err, "gsc denoise: wrote"), 1) << result.err;
  EXPECT_EQ(json("ranks.json")["processes"], 3);
  EXPECT_NEAR(json("alone.json")["psnr"].get<double>(), json("ranks.json")["psnr"].get<double>(), 0.01);
  EXPECT_GT(json("ranks.json")["psnr"].get<double>(), json("ranks.json")["psnr_noisy"].get<double>() + 5);
  const Picture one = read_picture(path("alone.png")), other = read_picture(path("ranks.png"));
  ASSERT_EQ(one.width(), other.width());
  EXPECT_LE((one.channels[0] - other.channels[0]).cwiseAbs().maxCoeff(), 1);
  EXPECT_LT(difference(read_picture(path("alone.tif")).channels[0], read_picture(path("ranks.tif")).channels[0]), 1e-3);
}

TEST_F(Mpirun, SeveralPicturesAndOneThatFails) {
  alone({"denoise", GSC_SOURCE_DIR "/assets/demo.png", "-o", "x.png", "--add-noise", "25", "--keep-noisy", "a.png",
         "--quality", "fast", "--latents", "16", "--iterations", "1"});
  std::filesystem::copy(path("a.png"), path("c.png"));
  write_file(path("b.png"), "no picture");
  const Words quick{"--quality", "fast", "--patch",      "5", "--stride",  "2",
                    "--latents", "16",   "--iterations", "3", "--threads", "1"};
  const ProgramResult result = run(3, Words{"denoise", "a.png", "b.png", "c.png", "-o", "out/"} + quick);
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_EQ(count(result.err, "picture 2 of 3, b.png: failed"), 1) << result.err;
  EXPECT_EQ(count(result.err, "1 of 3 pictures failed: b.png"), 1) << result.err;
  EXPECT_EQ(count(result.err, "gsc denoise: wrote"), 2) << result.err;
  EXPECT_EQ(read_file(path("out/a.png")), read_file(path("out/c.png")));
}

TEST_F(Mpirun, StandardInputAndTablesOnTheirSide) {
  make_bars("bars.csv", "600");
  const Words learn = fit("-", "ranks.h5", {"--quiet"});
  alone(fit("bars.csv", "up.h5"));
  // mpirun hands its standard input to the first process.
  const Words shell{"/bin/sh", "-c", "exec \"$0\" --oversubscribe -n 3 \"$@\" < bars.csv", MPIEXEC, GSC_PROGRAM};
  Job job(path("."), shell + learn, {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}});
  const ProgramResult result = job.wait();
  EXPECT_EQ(result.code, 0) << result.err;
  expect_same("up.h5", "ranks.h5");

  const Matrix turned = array("bars.csv").transpose();
  write_arrays(path("side.npy"), {named("x", turned)});
  done(3, fit("side.npy", "side.h5", {"--transpose"}));
  expect_same("up.h5", "side.h5");
}

TEST_F(Mpirun, WindowsOfRecordings) {
  make_bars("bars.npy", "300");
  const Matrix samples = array("bars.npy").leftCols(2);
  Matrix with_time(samples.rows(), 3);
  with_time << Vector::LinSpaced(samples.rows(), 0, 0.5 * static_cast<double>(samples.rows() - 1)), samples;
  write_arrays(path("rec.npy"), {named("x", with_time)});
  write_arrays(path("rec.csv"), {named("x", with_time)});
  write_arrays(path("side.npy"), {named("x", Matrix(with_time.transpose()))});
  write_arrays(path("side.h5"), {named("x", Matrix(with_time.transpose()))});
  write_sound(path("rec.wav"), {0.01 * samples.transpose(), 8000});
  for (const std::string name : {"rec.npy", "rec.csv", "side.npy", "side.h5", "rec.wav"}) {
    agrees(3, name, {"--window", "8", "--hop", "2"});
    EXPECT_EQ(load_model(path("alone.h5")).recording->rate, name == "rec.wav" ? 8000 : 2);
  }
  fails(1, 3, fit("rec.csv", "out.h5", {"--window", "301"}), {"window is 301"});
}

TEST_F(Mpirun, Separate) {
  alone({"sample", "--generator", "laplace", "--latents", "3", "-n", "1001", "-o", "mix.npy", "--quiet"});
  for (const std::string restarts : {"5", "1"}) {  // ranks share the starts, or the rows of the one
    const Words separate{"separate", "mix.npy", "--restarts", restarts, "--iterations", "20", "--threads", "1"};
    alone(separate + Words{"-o", "alone" + restarts});
    const ProgramResult result = done(3, separate + Words{"-o", "ranks" + restarts});
    EXPECT_EQ(count(result.err, "gsc separate: wrote"), 1) << result.err;
    const std::string one = "alone" + restarts + "/", other = "ranks" + restarts + "/";
    const Json a = json(one + "metrics.json"), b = json(other + "metrics.json");
    EXPECT_LT(difference(a["free_energy"], b["free_energy"].get<double>()), 1e-9);
    ASSERT_EQ(a["free_energies"].size(), b["free_energies"].size());
    for (std::size_t i = 0; i < a["free_energies"].size(); ++i)
      EXPECT_LT(difference(a["free_energies"][i], b["free_energies"][i].get<double>()), 1e-9);
    for (const std::string file : {"mixing.npy", "sources.npy"})
      EXPECT_LT(difference(array(one + file), array(other + file)), 1e-9) << file;
    expect_same(one + "model.h5", other + "model.h5");
  }
}

// --- experiments -------------------------------------------------------------------------------------------------

/// What must not depend on who ran the trials.
Json without_seconds(Json runs) {
  for (Json& run : runs) run.erase("seconds");
  return runs;
}

TEST_F(Mpirun, ReproduceRunsTheSameTrials) {
  const auto reproduce = [](const std::string& name, const std::string& output) {
    return Words{"reproduce", name, "--quick", "--trials", "1", "--threads", "1", "-o", output};
  };
  for (const std::string name : {"posteriors", "directions"}) {
    const std::string trials = "/" + name + ".quick.trials", page = "/" + name + ".quick.json";
    alone(reproduce(name, "alone"));
    // The first trials are there already; what is missing is run, and only that.
    const std::string all = read_file(path("alone" + trials)),
                      kept = name == "posteriors" ? "" : all.substr(0, all.find('\n', all.size() / 3) + 1);
    fs::create_directory(path("ranks"));
    write_file(path("ranks" + trials), kept);
    const ProgramResult result = done(3, reproduce(name, "ranks"));
    EXPECT_EQ(count(result.err, "gsc reproduce: wrote 1 experiment to ranks"), 1) << result.err;
    const std::string finished = read_file(path("ranks" + trials));
    EXPECT_EQ(finished.substr(0, kept.size()), kept);
    EXPECT_EQ(count(finished, "\n"), count(all, "\n"));
    const Json one = json("alone" + page), other = json("ranks" + page);
    EXPECT_EQ(without_seconds(one["runs"]), without_seconds(other["runs"]));
    EXPECT_EQ(one["figures"], other["figures"]);
  }
  const std::string finished = read_file(path("ranks/directions.quick.trials"));
  const Json page = json("ranks/directions.quick.json");
  done(2, reproduce("directions", "ranks"));
  EXPECT_EQ(read_file(path("ranks/directions.quick.trials")), finished);
  EXPECT_EQ(json("ranks/directions.quick.json"), page);
}

TEST_F(Mpirun, ReproduceRepartitioningByTheWholeTeam) {
  const ProgramResult result = done(3, {"reproduce", "repartitioning", "--quick", "--trials", "1", "-o", "out"});
  EXPECT_EQ(count(result.err, "gsc reproduce: repartitioning ("), 1) << result.err;
  const Json page = json("out/repartitioning.quick.json");
  EXPECT_EQ(count(read_file(path("out/repartitioning.quick.trials")), "\n"), static_cast<int>(page["runs"].size()));
  ASSERT_GE(page["runs"].size(), 2u);
  for (const Json& trial : page["runs"]) {
    EXPECT_EQ(trial["settings"]["ranks"], 3);
    EXPECT_EQ(trial["settings"]["processes"], true);
    const double energy = trial["result"]["static"]["free_energy"];
    for (const char* partition : {"local", "global"})
      EXPECT_LT(difference(energy, trial["result"][partition]["free_energy"].get<double>()), 1e-9) << partition;
    EXPECT_GT(trial["result"]["global"]["rows_moved"], 0);
  }
}

// --- who prints and writes ---------------------------------------------------------------------------------------

TEST_F(Mpirun, OnlyTheFirstPrintsAndWrites) {
  make_bars();
  const ProgramResult loud = done(3, fit("bars.npy", "m.h5", {"--metrics", "-", "--checkpoint", "state.h5"}));
  for (const char* part : {"gsc fit: 1501 data points", ", 3 processes", "iteration 0/5", "iteration 3/5",
                           "iteration 5/5", "all iterations done", "wrote m.h5"})
    EXPECT_EQ(count(loud.err, part), 1) << part << "\n" << loud.err;
  EXPECT_EQ(Json::parse(loud.out)["iterations"], 5);  // throws if another object follows

  const ProgramResult quiet = done(3, fit("bars.npy", "m.h5", {"--quiet", "--metrics", "m.json"}));
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(quiet.out, "");
  EXPECT_EQ(json("m.json")["processes"], 3);
  EXPECT_EQ(listing(), (std::set<std::string>{"bars.npy", "m.h5", "m.json"}));
}

TEST_F(Mpirun, HelpOnce) {
  const ProgramResult help = done(3, {"fit", "--help"});
  EXPECT_EQ(help.out, alone({"fit", "--help"}).out);
  EXPECT_EQ(help.err, "");
  const ProgramResult nothing = run(3, {});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_EQ(count(nothing.err, "Usage"), 1) << nothing.err;
}

// --- failures ----------------------------------------------------------------------------------------------------

TEST_F(Mpirun, WrongUseIsToldOnce) {
  make_bars();
  fails(2, 3, {"fit", "bars.npy", "-o", "out.h5", "--latent", "5"}, {"unknown option --latent", "Did you mean"});
  fails(2, 3, fit("bars.npy", "none/out.h5"), {"folder none does not exist"});
  alone(fit("bars.npy", "m.h5", {"--quiet"}));
  for (const Words& words : {Words{"infer", "m.h5", "bars.npy", "-o", "codes.npz"}, Words{"info", "m.h5"},
                             Words{"sample", "m.h5", "-n", "5", "-o", "draws.npy"}})
    fails(2, 2, words, {"gsc " + words[0] + " works as one process", "without mpirun"});
}

// The others have begun to learn when the first finds that it cannot write.
TEST_F(Mpirun, WhatOnlyTheFirstNoticesEndsAll) {
  alone({"sample", "--generator", "laplace", "--latents", "3", "-n", "1001", "-o", "mix.npy", "--quiet"});
  fails(2, 3, {"separate", "mix.npy", "-o", "new", "--metrics", "none/m.json", "--quiet"},
        {"folder none does not exist"});
}

TEST_F(Mpirun, BadDataIsToldOnce) {
  fails(1, 3, fit("none.npy", "out.h5"), {"gsc fit: none.npy"});
  write_file(path("text.npy"), "not an array at all");
  fails(1, 2, fit("text.npy", "out.h5"), {"gsc fit: text.npy"});
  Matrix values = Matrix::Random(101, 3);
  values(98, 2) = std::numeric_limits<double>::quiet_NaN();  // the last rank's
  write_arrays(path("nan.npy"), {named("x", values)});
  write_arrays(path("nan.csv"), {named("x", values)});
  fails(1, 3, fit("nan.npy", "out.h5", {"--quiet"}), {"gsc fit: nan.npy: row 98, column 2 (from 0) is NaN"});
  fails(1, 3, fit("nan.csv", "out.h5", {"--quiet"}), {"nan.csv: row 98, column 2"});
}

TEST_F(Mpirun, AnOutputThatVanishesIsToldOnce) {
  make_bars("bars.npy", "3000");
  fs::create_directory(path("gone"));
  Job job = start(2, fit("bars.npy", "gone/m.h5", {"--iterations", "300"}));
  ASSERT_TRUE(job.until([&] { return count(job.err(), "iteration   1/") > 0; })) << job.err();
  fs::remove(path("gone"));
  const ProgramResult result = job.wait();
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_EQ(count(result.err, "gsc fit: gone/m.h5: cannot be written"), 1) << result.err;
}

TEST_F(Mpirun, TheProgramForOneProcessSaysSo) {
  const ProgramResult result = start_command(2, {GSC_PROGRAM_WITHOUT_MPI, "--version"}).wait();
  EXPECT_EQ(result.code, 2);
  EXPECT_GE(count(result.err, "started as 2 processes, but gsc works as one; start gsc-mpi instead"), 1) << result.err;
}

// --- taken up again ----------------------------------------------------------------------------------------------

TEST_F(Mpirun, ResumeWithOtherNumbersOfRanks) {
  make_bars();
  for (const std::string method : {"truncated", "factored"}) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, method);
    const Words quiet{"--method", method, "--quiet"};
    alone(fit("bars.npy", "whole.h5", {"--iterations", "9"}) + quiet);
    done(3, fit("bars.npy", "part.h5", {"--checkpoint", "state.h5", "--checkpoint-every", "2"}) + quiet);
    EXPECT_EQ(load_model(path("state.h5")).state.history.back().iteration, 4);
    const Words resume{"fit", "bars.npy", "-o", "rest.h5", "--resume", "state.h5", "--iterations", "9", "--quiet"};
    alone(resume);
    expect_same("whole.h5", "rest.h5");
    fs::remove(path("rest.h5"));
    done(2, resume + (method == "truncated" ? Words{"--partition", "global"} : Words{}));
    expect_same("whole.h5", "rest.h5");
    fs::remove(path("rest.h5"));
  }
}

TEST_F(Mpirun, StepwiseGoesOnWithTheSameBits) {
  make_bars();
  for (const std::string tolerance : {"0", "0.01"}) {  // where passes end by their number, and where they settle
    const Words learn = fit("bars.npy", "whole.h5", {"--iterations", "12"}) +
                        Words{"--batch", "100", "--tolerance", tolerance, "--quiet"};
    done(2, learn);
    const FitState whole = load_model(path("whole.h5")).state;
    for (const std::string every : {"3", "4"}) {
      done(2, learn + Words{"--checkpoint", "state.h5", "--checkpoint-every", every});
      done(2, {"fit", "bars.npy", "-o", "rest.h5", "--resume", "state.h5", "--quiet"});
      EXPECT_TRUE(load_model(path("rest.h5")).state.model == whole.model) << tolerance << ' ' << every;
    }
    // One process has other batches, and hardly another model.
    alone({"fit", "bars.npy", "-o", "rest.h5", "--resume", "state.h5", "--quiet"});
    const double rest = load_model(path("rest.h5")).state.history.back().free_energy;
    EXPECT_NEAR(rest / whole.history.back().free_energy, 1, 0.05) << tolerance;
  }
}

// The checkpoint of the factored method has a column for every row of its data.
TEST_F(Mpirun, ResumeOnDataOfAnotherSize) {
  make_bars();
  make_bars("other.npy", "700");
  alone(fit("bars.npy", "m.h5", {"--method", "factored", "--checkpoint", "state.h5", "--checkpoint-every", "2"}));
  const Words resume{"fit", "other.npy", "-o", "out.h5", "--resume", "state.h5", "--quiet"};
  const ProgramResult one = run_program(path("."), resume);
  EXPECT_NE(one.code, 0);
  EXPECT_EQ(count(one.err, "gsc fit: the codes are "), 1) << one.err;
  fails(one.code, 2, resume, {"gsc fit: the codes are "});
}

// --- the team itself ---------------------------------------------------------------------------------------------

TEST_F(Mpirun, CollectiveCallsOfTheTeam) {
  EXPECT_EQ(helper(3, "collectives").code, 0);
  const ProgramResult nodes = helper(4, "collectives", {{"GSC_RANKS_PER_NODE", "3"}});
  EXPECT_EQ(nodes.code, 0) << nodes.err;
}

TEST_F(Mpirun, AFailureOfOneRankEndsAll) {
  const ProgramResult one = helper(3, "throw-one");
  EXPECT_EQ(one.code, 1) << one.err;
  EXPECT_EQ(count(one.err, "rank 1 gives up"), 1) << one.err;
  const ProgramResult all = helper(3, "throw-all");
  EXPECT_EQ(all.code, 1) << all.err;
  EXPECT_EQ(count(all.err, "gives up"), 1) << all.err;
  EXPECT_EQ(count(all.err, "rank 0 gives up"), 1) << all.err;
  EXPECT_NE(helper(3, "kill").code, 0);
}

TEST_F(Mpirun, RanksOfANodeDivideItsCores) {
  unsetenv("OMP_NUM_THREADS");
  const int cores = std::atoi(helper(1, "threads").out.c_str());
  ASSERT_GE(cores, 1);
  const std::string line = std::to_string(std::max(1, cores / 3)) + " threads\n";
  EXPECT_EQ(helper(3, "threads").out, line + line + line);
  const std::string two = std::to_string(std::max(1, cores / 2)) + " threads\n";  // two are bound to a core each
  EXPECT_EQ(helper(2, "threads").out, two + two);
}

}  // namespace
}  // namespace gsc::test
