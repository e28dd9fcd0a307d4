// The program under mpirun when a signal comes: the checkpoint is saved once, and all processes end.

#include <gsc/files.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/types.h>

#include <cstring>
#include <set>

#include "mpi_fixture.h"

namespace gsc::test {
namespace {

namespace fs = std::filesystem;

class MpirunSignal : public MpirunFixture {
 protected:
  static Words endless(const std::string& checkpoint) {
    return fit("bars.npy", "m.h5",
               {"--iterations", "100000", "--checkpoint", checkpoint, "--checkpoint-every", "100000"});
  }
  static bool has_begun(const Job& job) { return count(job.err(), "iteration      3/") > 0; }
  /// The checkpoint was saved and told of once, and learning goes on from it.
  void saved_once(const ProgramResult& result) const {
    EXPECT_EQ(count(result.err, "interrupted after iteration"), 1) << result.err;
    EXPECT_EQ(count(result.err, "saved state.h5; go on with --resume state.h5"), 1) << result.err;
    EXPECT_EQ(listing(), (std::set<std::string>{"bars.npy", "state.h5"}));
    ASSERT_TRUE(fs::exists(path("state.h5")));
    const int reached = load_model(path("state.h5")).state.history.back().iteration;
    EXPECT_GE(reached, 3);
    EXPECT_EQ(count(result.err, "interrupted after iteration " + std::to_string(reached) + ";"), 1) << result.err;
    const Words resume{"fit",    "bars.npy", "--resume", "state.h5", "--iterations", std::to_string(reached + 2),
                       "--quiet"};
    alone(resume + Words{"-o", "m.h5"});
    EXPECT_EQ(load_model(path("m.h5")).state.history.back().iteration, reached + 2);
  }
};

TEST_F(MpirunSignal, ToMpirun) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, strsignal(signal));
    for (const std::string& name : listing()) fs::remove(path(name));
    make_bars("bars.npy", "3000");
    Job job = start(3, endless("state.h5"));
    ASSERT_TRUE(job.until([&] { return has_begun(job); })) << job.err();
    kill(job.process(), signal);
    const ProgramResult result = job.wait();
    EXPECT_NE(result.code, 0);  // mpirun has its own code here
    saved_once(result);
  }
}

// As batch systems do that tell the processes themselves.
TEST_F(MpirunSignal, ToOneRank) {
  make_bars("bars.npy", "3000");
  Job job = start(3, endless("state.h5"));
  ASSERT_TRUE(job.until([&] { return has_begun(job); })) << job.err();
  job.signal_rank(2, SIGTERM);
  const ProgramResult result = job.wait();
  EXPECT_EQ(result.code, 130) << result.err;
  saved_once(result);
}

TEST_F(MpirunSignal, WhenTheCheckpointCannotBeSaved) {
  make_bars("bars.npy", "3000");
  fs::create_directory(path("gone"));
  Job job = start(3, endless("gone/state.h5"));
  ASSERT_TRUE(job.until([&] { return has_begun(job); })) << job.err();
  fs::remove(path("gone"));
  job.signal_rank(1, SIGTERM);
  const ProgramResult result = job.wait();
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_EQ(count(result.err, "gone/state.h5: cannot be written"), 1) << result.err;
}

TEST_F(MpirunSignal, ARankIsKilled) {
  make_bars("bars.npy", "6000");
  // All states: the longer run must not depend on which latents just miss being candidates.
  const Words exact = fit("bars.npy", "m.h5", {"--method", "exact", "--iterations", "100000"});
  Job job = start(3, exact + Words{"--checkpoint", "state.h5", "--checkpoint-every", "1"});
  ASSERT_TRUE(job.until([&] { return fs::exists(path("state.h5")); })) << job.err();
  job.signal_rank(1, SIGKILL);
  const ProgramResult result = job.wait(30);
  EXPECT_NE(result.code, 0);
  EXPECT_FALSE(fs::exists(path("m.h5")));

  const int reached = load_model(path("state.h5")).state.history.back().iteration;
  const std::string further = std::to_string(reached + 3);
  done(3, {"fit", "bars.npy", "-o", "ranks.h5", "--resume", "state.h5", "--iterations", further, "--quiet"});
  alone(fit("bars.npy", "alone.h5", {"--method", "exact", "--iterations", further, "--quiet"}));
  expect_same("alone.h5", "ranks.h5");
}

}  // namespace
}  // namespace gsc::test
