// Writing files so that the target is the old one or the complete new one: what a kill leaves (nothing), what is done
// about others' leavings, and the ways around for file systems that have no files without a name.

#include <fcntl.h>
#include <gsc/files.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <set>

#include "io/atomic_file.h"
#include "io_support.h"

namespace gsc::test {
namespace {

namespace fs = std::filesystem;

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

using Names = std::set<std::string>;

bool has_unnamed_files(const fs::path& folder) {
  const TemporaryFile file(folder);
  return file.path().string().starts_with("/proc/");
}

/// Runs `work` in a child, which then waits to be killed.
class Child {
 public:
  explicit Child(const std::function<void()>& work) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    id_ = ::fork();
    if (id_ == 0) {
      work();
      static_cast<void>(!::write(ends[1], "x", 1));
      while (true) ::pause();
    }
    char byte = 0;
    EXPECT_EQ(::read(ends[0], &byte, 1), 1);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  ~Child() { kill(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void kill() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
    id_ = 0;
  }

 private:
  pid_t id_ = 0;
};

enum class Way { unnamed, named, copied };

class AtomicFiles : public ::testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (GetParam() != Way::named && !has_unnamed_files(folder.path()))
      GTEST_SKIP() << "no files without a name in " << folder.path();
    TemporaryFile::only_named(GetParam() == Way::named);
    TemporaryFile::refuse_links(GetParam() == Way::copied);
  }
  void TearDown() override {
    TemporaryFile::only_named(false);
    TemporaryFile::refuse_links(false);
  }
  const TemporaryFolder folder;
  const fs::path target = folder / "target";
};

TEST_P(AtomicFiles, NewAndReplacedFiles) {
  for (const std::string text : {"first", "second, longer"}) {
    AtomicFile file(target);
    file.write(text);
    file.commit();
    EXPECT_EQ(read_file(target), text);
    EXPECT_EQ(names_in(folder.path()), Names{"target"});
  }
  { AtomicFile(target).write("given up"); }
  EXPECT_EQ(read_file(target), "second, longer");
  EXPECT_EQ(names_in(folder.path()), Names{"target"});
}

TEST_P(AtomicFiles, EveryFormatCanBeWritten) {
  const Matrix x = example(40, 30);
  for (const char* name : {"x.npy", "x.npz", "x.csv", "x.h5"})
    for (int replaced = 0; replaced < 2; ++replaced) {
      write_arrays(folder / name, {named("x", x)});
      EXPECT_EQ(read_all((folder / name).string()), x);
    }
  EXPECT_EQ(names_in(folder.path()), (Names{"x.npy", "x.npz", "x.csv", "x.h5"}));
}

TEST_P(AtomicFiles, Permissions) {
  const auto mode = [&](const fs::path& path) { return static_cast<unsigned>(fs::status(path).permissions()); };
  const mode_t old = ::umask(027);
  write_arrays(folder / "x.h5", {named("x", example(2, 2))});
  EXPECT_EQ(mode(folder / "x.h5"), 0640U) << "a new file honours the umask";
  ::umask(old);
  for (const unsigned kept : {0600U, 0400U, 0666U}) {
    fs::permissions(folder / "x.h5", static_cast<fs::perms>(kept));
    write_arrays(folder / "x.h5", {named("x", example(3, 2))});
    EXPECT_EQ(mode(folder / "x.h5"), kept) << "a replaced file keeps its own";
  }
  // Nobody may read the new file meanwhile who could not read the old.
  fs::permissions(folder / "x.h5", static_cast<fs::perms>(0600));
  const AtomicFile file(folder / "x.h5");
  EXPECT_EQ(mode(file.temporary()), 0600U);
}

TEST_P(AtomicFiles, ThroughALink) {
  fs::create_directory(folder / "elsewhere");
  const fs::path real = write_file(folder / "elsewhere/real", "old");
  fs::create_symlink(real, target);
  AtomicFile file(target);
  file.write("new");
  file.commit();
  EXPECT_TRUE(fs::is_symlink(target));
  EXPECT_EQ(read_file(real), "new");
  EXPECT_EQ(names_in(folder.path()), (Names{"target", "elsewhere"}));
  EXPECT_EQ(names_in(folder / "elsewhere"), Names{"real"});
}

TEST_P(AtomicFiles, FullDisk) {
  const Matrix x = example(100, 100);
  for (const char* name : {"x.npy", "x.npz", "x.csv", "x.h5"}) {
    const fs::path path = write_file(folder / name, "the old file");
    rlimit old{};
    ::getrlimit(RLIMIT_FSIZE, &old);
    const rlimit small{20000, old.rlim_max};
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &small);
    const std::string message = error_of([&] { write_arrays(path, {named("x", x)}); });
    ::setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, handler);
    EXPECT_NE(message.find(path.string() + ": cannot be written"), std::string::npos) << message;
    EXPECT_NE(message.find("make room"), std::string::npos) << message;
    EXPECT_EQ(read_file(path), "the old file");
    fs::remove(path);
    EXPECT_EQ(names_in(folder.path()), Names{}) << name;
  }
}

TEST_P(AtomicFiles, KilledBetweenTwoWrites) {
  write_file(target, "the old file");
  std::optional<AtomicFile> file;
  Child child([&] {
    file.emplace(target);
    file->write(std::string(1 << 20, 'x'));
  });
  const std::size_t meanwhile = names_in(folder.path()).size();
  EXPECT_EQ(meanwhile, GetParam() == Way::named ? 2U : 1U);
  remove_stale_files(folder.path());
  EXPECT_EQ(names_in(folder.path()).size(), meanwhile) << "what is in use stays";
  child.kill();
  EXPECT_EQ(names_in(folder.path()).size(), meanwhile);
  EXPECT_EQ(read_file(target), "the old file");
  // The next one to write here clears up.
  AtomicFile next(target);
  next.write("the new file");
  EXPECT_EQ(names_in(folder.path()).size(), meanwhile) << "its own, if that has a name, and the target";
  next.commit();
  EXPECT_EQ(names_in(folder.path()), Names{"target"});
  EXPECT_EQ(read_file(target), "the new file");
}

/// In the middle of what a library writes: the kernel kills who writes beyond a limit.
TEST_P(AtomicFiles, KilledInTheMiddleOfEveryFormat) {
  const Matrix x = example(100, 100);
  for (const char* name : {"x.npy", "x.npz", "x.csv", "x.h5", "model.h5"}) {
    const fs::path path = write_file(folder / name, "the old file");
    const pid_t child = ::fork();
    if (child == 0) {
      const rlimit small{name[0] == 'm' ? 1000U : 20000U, RLIM_INFINITY}, no_dump{0, 0};
      ::setrlimit(RLIMIT_CORE, &no_dump);
      ::setrlimit(RLIMIT_FSIZE, &small);
      std::signal(SIGXFSZ, SIG_DFL);
      if (name[0] == 'm')
        save_model(path, example_model(NoiseType::full, SlabType::full));
      else
        write_arrays(path, {named("x", x)});
      std::_Exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << name;
    EXPECT_EQ(WTERMSIG(status), SIGXFSZ) << name;
    EXPECT_EQ(read_file(path), "the old file");
    if (GetParam() == Way::named) {
      EXPECT_EQ(names_in(folder.path()).size(), 2U) << name;
      remove_stale_files(folder.path());
    }
    EXPECT_EQ(names_in(folder.path()), Names{name});
    fs::remove(path);
  }
}

std::string way_name(const ::testing::TestParamInfo<Way>& test) {
  return test.param == Way::unnamed ? "unnamed" : test.param == Way::named ? "named" : "copied";
}

INSTANTIATE_TEST_SUITE_P(Ways, AtomicFiles, ::testing::Values(Way::unnamed, Way::named, Way::copied), way_name);

class StaleFiles : public ::testing::Test {
 protected:
  /// The part of the name that tells this boot.
  std::string boot() const {
    TemporaryFile::only_named(true);
    const std::string name = TemporaryFile(folder.path()).path().filename().string();
    TemporaryFile::only_named(false);
    return name.substr(5, name.find('-', 5) - 5);
  }
  static void make_old(const fs::path& path, int hours) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
  }
  const TemporaryFolder folder;
};

TEST_F(StaleFiles, OfThisBootGoUnlessLocked) {
  write_file(folder / (".gsc-" + boot() + "-12-3.tmp"), "dead");
  const fs::path live = write_file(folder / (".gsc-" + boot() + "-12-4.tmp"), "live");
  make_old(live, 100);
  const int file = ::open(live.c_str(), O_RDONLY);
  ASSERT_EQ(::flock(file, LOCK_EX), 0);
  remove_stale_files(folder.path());
  EXPECT_EQ(names_in(folder.path()), Names{live.filename().string()});
  ::close(file);
  remove_stale_files(folder.path());
  EXPECT_EQ(names_in(folder.path()), Names{});
}

TEST_F(StaleFiles, OfAnotherBootGoIfOldAndNotLocked) {
  ASSERT_NE(boot(), "0badcafe");
  write_file(folder / ".gsc-0badcafe-12-3.tmp", "perhaps on another machine, where locks do not reach");
  make_old(folder / ".gsc-0badcafe-12-3.tmp", 23);
  make_old(write_file(folder / ".gsc-0badcafe-12-4.tmp", "dead"), 25);
  const fs::path live = write_file(folder / ".gsc-0badcafe-12-5.tmp", "slow");
  make_old(live, 25);
  const int file = ::open(live.c_str(), O_RDONLY);
  ASSERT_EQ(::flock(file, LOCK_EX), 0);
  remove_stale_files(folder.path());
  EXPECT_EQ(names_in(folder.path()), (Names{".gsc-0badcafe-12-3.tmp", ".gsc-0badcafe-12-5.tmp"}));
  ::close(file);
}

TEST_F(StaleFiles, WhatIsNotOursStays) {
  const std::string ours = ".gsc-" + boot();
  const Names names{
      ".gsc-12-3.tmp",        ".gsc-notes.tmp",    ".gsc-.tmp",        ".gsc---.tmp",     "x.tmp",
      ours + "-1.tmp",        ours + "-1-2-3.tmp", ours + "-1-2.tmp~", ours + "-1-x.tmp", ours + "--2.tmp",
      "x" + ours + "-1-2.tmp"};
  for (const std::string& name : names) make_old(write_file(folder / name, "mine"), 100);
  Names all = names;
  fs::create_directory(folder / (ours + "-1-1.tmp"));
  fs::create_symlink(folder / "x.tmp", folder / (ours + "-1-2.tmp"));
  ASSERT_EQ(::mkfifo((folder / (ours + "-1-3.tmp")).c_str(), 0600), 0);
  for (const char* end : {"-1-1.tmp", "-1-2.tmp", "-1-3.tmp"}) all.insert(ours + end);
  remove_stale_files(folder.path());
  EXPECT_EQ(names_in(folder.path()), all);
  EXPECT_EQ(read_file(folder / "x.tmp"), "mine");
  remove_stale_files(folder / "no such folder");
}

}  // namespace
}  // namespace gsc::test
