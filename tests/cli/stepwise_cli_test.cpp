// gsc fit --batch, as a user meets it.

#include "program_fixture.h"

namespace gsc::test {
namespace {

class StepwiseCli : public ProgramTest {
 protected:
  StepwiseCli() { make_bars(); }
  /// gsc fit bars.npy in batches, with more words.
  ProgramResult fit(const Words& more) const {
    return done(joined({"fit", "bars.npy", "--latents", "8", "--batch", "50", "--threads", "2"}, more));
  }
  ModelFile model(const std::string& name) const { return load_model(path(name)); }
  static bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
};

TEST_F(StepwiseCli, SaysWhichFreeEnergiesAreEstimates) {
  const ProgramResult polished = fit({"-o", "m.h5", "--iterations", "6", "--tolerance", "0", "--metrics", "m.json"});
  EXPECT_TRUE(says(polished.err, "iteration 3/6  free energy about -")) << polished.err;
  EXPECT_TRUE(says(polished.err, "iteration 4/6  free energy -")) << polished.err;
  EXPECT_TRUE(says(polished.err, "\n  free energy     -")) << polished.err;
  EXPECT_EQ(json("m.json")["free_energy_estimated"], false);
  EXPECT_EQ(model("m.h5").options->batch, 50);
  EXPECT_TRUE(says(done({"info", "m.h5"}).out, "at the start, -"));

  const ProgramResult rough =
      fit({"-o", "r.h5", "--iterations", "4", "--tolerance", "0", "--polish", "0", "--metrics", "r.json"});
  EXPECT_TRUE(says(rough.err, "\n  free energy     about -")) << rough.err;
  EXPECT_EQ(json("r.json")["free_energy_estimated"], true);
  EXPECT_TRUE(says(done({"info", "r.h5"}).out, "at the start, about -"));

  const ProgramResult starts =
      fit({"-o", "s.h5", "--iterations", "4", "--tolerance", "0", "--polish", "0", "--restarts", "2"});
  EXPECT_TRUE(says(starts.err, "\n  free energy     -")) << "starts are compared exactly: " << starts.err;
}

TEST_F(StepwiseCli, SameSeedSameBits) {
  fit({"-o", "a.h5", "--iterations", "5", "--quiet"});
  fit({"-o", "b.h5", "--iterations", "5", "--quiet"});
  EXPECT_TRUE(model("a.h5").state.model == model("b.h5").state.model);
}

TEST_F(StepwiseCli, ResumeEqualsUninterrupted) {
  // Passes end early by the tolerance in the second case, and by the number of iterations in the first.
  for (const std::string tolerance : {"0", "0.01"}) {
    const Words common{"--iterations", "20", "--tolerance", tolerance, "--quiet"};
    const auto with = [&](Words words) {
      words.insert(words.end(), common.begin(), common.end());
      return words;
    };
    fit(with({"-o", "whole.h5"}));
    const FitState whole = model("whole.h5").state;
    for (const std::string every : {"1", "2", "3", "4", "5", "6", "7"}) {
      // The last checkpoint is that of the last multiple; a finished model is a checkpoint, too.
      fit(with({"-o", "again.h5", "--checkpoint", "state.h5", "--checkpoint-every", every}));
      done({"fit", "bars.npy", "-o", "rest.h5", "--resume", "state.h5", "--quiet"});
      const FitState rest = model("rest.h5").state;
      EXPECT_TRUE(rest.model == whole.model) << tolerance << ' ' << every;
      EXPECT_EQ(rest.history.size(), whole.history.size()) << tolerance << ' ' << every;
      EXPECT_EQ(rest.history.back().free_energy, whole.history.back().free_energy) << tolerance << ' ' << every;
    }
  }
}

}  // namespace
}  // namespace gsc::test
