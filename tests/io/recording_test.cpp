// Recordings as data: windows cut out on demand, the time told from channels, and what a model file remembers.

#include <gsc/files.h>
#include <gsc/generate.h>
#include <gsc/recording.h>
#include <gtest/gtest.h>

#include <thread>

#include "distributed/thread_team.h"
#include "io_support.h"

namespace gsc::test {
namespace {

std::shared_ptr<const Data> as_data(Matrix values) { return std::make_shared<MatrixData>(std::move(values), "rec"); }

/// Window after window, element by element, as recording.h defines it.
Matrix naive_windows(const Matrix& samples, Index window, Index hop) {
  const Index channels = samples.cols(), count = (samples.rows() - window) / hop + 1;
  Matrix all(count, window * channels);
  for (Index i = 0; i < count; ++i)
    for (Index s = 0; s < window; ++s)
      for (Index c = 0; c < channels; ++c) all(i, s * channels + c) = samples(i * hop + s, c);
  return all;
}

TEST(Windows, AreThoseOfTheNaiveMatrix) {
  for (const Index channels : {1, 3})
    for (const Index samples : {7, 40, 41})
      for (const Index window : {1, 4, 7})
        for (const Index hop : {1, 2, 4, 5, 7, 100}) {
          const Matrix values = example(samples, channels);
          const WindowData data(as_data(values), window, hop);
          const Matrix expected = naive_windows(values, window, hop);
          SCOPED_TRACE(::testing::Message() << samples << " samples, window " << window << ", hop " << hop);
          ASSERT_EQ(data.rows(), expected.rows());
          ASSERT_EQ(data.cols(), expected.cols());
          EXPECT_EQ(read_all(data, 3), expected);
          EXPECT_EQ(read_all(data, expected.rows()), expected);
          EXPECT_EQ(data.left_over(), samples - (expected.rows() - 1) * hop - window);
          EXPECT_EQ(data.start(data.rows() - 1), (data.rows() - 1) * hop);
        }
}

TEST(Windows, ReadIntoPartOfALargerMatrix) {
  const Matrix values = example(50, 2);
  for (const Index hop : {2, 6}) {
    const WindowData data(as_data(values), 4, hop);
    Matrix frame = Matrix::Constant(5, 12, -7);
    data.read(2, frame.block(1, 2, 3, 8));
    EXPECT_EQ(Matrix(frame.block(1, 2, 3, 8)), naive_windows(values, 4, hop).middleRows(2, 3));
    EXPECT_EQ((frame.array() == -7).count(), 60 - 24);
  }
}

TEST(Windows, SeveralThreadsReadAtOnce) {
  const TemporaryFolder folder;
  const Matrix values = example(5000, 3);
  write_arrays(folder / "rec.npy", {named("x", values)});
  const std::shared_ptr<const Data> mapped = open_data((folder / "rec.npy").string());
  const WindowData data(mapped, 16, 3);
  const Matrix expected = naive_windows(values, 16, 3);
  std::vector<Matrix> read(8);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < read.size(); ++t)
    threads.emplace_back([&, t] { read[t] = read_all(data, 7 + static_cast<Index>(t)); });
  for (std::thread& thread : threads) thread.join();
  for (const Matrix& all : read) EXPECT_EQ(all, expected);
}

TEST(Windows, RefuseWhatIsNone) {
  const auto samples = as_data(example(20, 2));
  expect_error<Error>([&] { WindowData(samples, 21, 1); }, {"rec", "window is 21", "only 20"});
  expect_error<UsageError>([&] { WindowData(samples, 4, 0); }, {"hop is 0", "at least 1"});
  expect_error<UsageError>([&] { WindowData(samples, 0, 1); }, {"window is 0"});
}

TEST(Windows, NameTheSampleThatIsNoNumber) {
  const TemporaryFolder folder;
  std::string text = "Fz,Cz\n";
  for (int i = 0; i < 30; ++i) text += i == 17 ? "1,nan\n" : "1,2\n";
  write_file(folder / "rec.csv", text);
  const WindowData data(open_data((folder / "rec.csv").string()), 5, 5);
  Matrix block(1, 10);
  data.read(2, block);
  expect_error<Error>([&] { data.read(3, block); }, {"rec.csv", "sample 17 of Cz", "NaN"});
}

TEST(Windows, ATeamLearnsTheSameFromAFileOfTheRootAlone) {
  const Matrix values = example(400, 2);
  FitOptions options;
  options.latents = 3;
  options.iterations = 3;
  options.inference.threads = 1;
  const double alone = fit(WindowData(as_data(values), 5, 2), options).last().free_energy;
  for (const Partition partition : {Partition::uniform, Partition::local, Partition::global}) {
    std::vector<double> found(3);
    run_ranks(3, 0, [&](Team& team) {
      FitOptions mine = options;
      mine.sharing.team = &team;
      mine.sharing.partition = partition;
      // Channels in rows, to be turned round by the root, and a time to be left out.
      std::unique_ptr<Data> table;
      if (team.root()) {
        Matrix with_time(400, 3);
        with_time << Vector::LinSpaced(400, 0, 399), values;
        table = std::make_unique<MatrixData>(with_time.transpose(), "rec");
      }
      const std::shared_ptr<const Data> samples =
          without_first_column(transposed(std::make_unique<RootData>(team, std::move(table)), team));
      EXPECT_TRUE(samples->root_only());
      found[static_cast<std::size_t>(team.rank())] = fit(WindowData(samples, 5, 2), mine).last().free_energy;
    });
    for (const double energy : found) EXPECT_NEAR(energy, alone, 1e-9 * std::abs(alone));
  }
}

TEST(ColumnNames, AreThoseOfTheHeaderAndReachAllRanks) {
  const TemporaryFolder folder;
  const auto names_in = [&](const std::string& text) {
    write_file(folder / "t.csv", text);
    return open_data((folder / "t.csv").string())->column_names();
  };
  const std::vector<std::string> names = {"time (s)", "Fz", "Cz"};
  EXPECT_EQ(names_in("time (s), \"Fz\" ,Cz\r\n1,2,3\r\n"), names);
  EXPECT_EQ(names_in("# by me\n'time (s)';Fz;Cz\n1;2;3\n"), names);
  EXPECT_TRUE(names_in("1,2,3\n").empty());
  EXPECT_TRUE(names_in("Fz,Cz\n1,2,3\n").empty()) << "a header that does not fit the rows";
  write_file(folder / "t.csv", "a,b\n1,2\n3,4\n");
  run_ranks(2, 0, [&](Team& team) {
    EXPECT_EQ(open_data((folder / "t.csv").string(), team)->column_names(), (std::vector<std::string>{"a", "b"}));
  });
}

/// A table with a column of the given values before another.
class Table final : public Data {
 public:
  Table(Vector first, std::string name) : first_(std::move(first)), name_(std::move(name)) {}
  Index rows() const override { return first_.size(); }
  Index cols() const override { return 2; }
  void read(Index first, Eigen::Ref<Matrix> block) const override {
    block.col(0) = first_.segment(first, block.rows());
    block.col(1).setConstant(1);
    rows_read += block.rows();
  }
  std::vector<std::string> column_names() const override {
    return name_.empty() ? std::vector<std::string>{} : std::vector<std::string>{name_, "x"};
  }
  mutable Index rows_read = 0;

 private:
  Vector first_;
  std::string name_;
};

std::optional<TimeColumn> time_in(const Vector& column, const std::string& name = "") {
  return find_time(Table(column, name));
}

TEST(Time, IsWhatRisesEvenly) {
  const Index n = 5000;
  const Vector even = Vector::LinSpaced(n, 3, 3 + 0.004 * (n - 1));
  const auto found = time_in(even);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rate, 250) << "whole but for rounding";
  EXPECT_NEAR(found->step, 0.004, 1e-9);
  // As text with a few digits, and as floats.
  EXPECT_EQ(time_in((even * 1e4).array().round().matrix() / 1e4)->rate, 250);
  EXPECT_NEAR(time_in(even.cast<float>().cast<double>())->rate, 250, 1e-3);

  Vector jump = even;
  jump.tail(2000).array() += 0.002;
  EXPECT_FALSE(time_in(jump)) << "half a step lost on the way";
  EXPECT_FALSE(time_in(-even)) << "falls";
  EXPECT_FALSE(time_in(Vector::Constant(n, 2)));
  EXPECT_FALSE(time_in(even.head(7))) << "too few rows to tell";
  Vector hole = even;
  hole[20] = std::nan("");
  EXPECT_FALSE(time_in(hole));
  EXPECT_FALSE(time_in(example(n, 1).col(0)));
}

TEST(Time, CountersTellNoRate) {
  const Vector counts = Vector::LinSpaced(100, 0, 99);
  EXPECT_EQ(time_in(counts)->rate, 0);
  EXPECT_EQ(time_in(counts, "Sample")->rate, 0);
  EXPECT_EQ(time_in(counts * 2, "index")->rate, 0);
  EXPECT_EQ(time_in(counts, "seconds")->rate, 1);
  EXPECT_EQ(time_in(counts * 2)->rate, 0.5);
}

TEST(Time, IsToldByItsNameAndUnit) {
  const Vector ramp = Vector::LinSpaced(100, 0, 198), noise = example(100, 1).col(0);
  EXPECT_EQ(time_in(ramp, "Time (ms)")->rate, 500);
  EXPECT_EQ(time_in(ramp, "time_us")->rate, 500000);
  EXPECT_EQ(time_in(ramp, "t [\u00b5s]")->rate, 500000);
  EXPECT_EQ(time_in(ramp, "t [s]")->rate, 0.5);
  for (const char* name : {"time", "T", "seconds", "sample", "Timestamp", "time (s)"}) {
    const auto found = time_in(noise, name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->name, name);
    EXPECT_EQ(found->step, 0);
    EXPECT_EQ(found->rate, 0);
  }
  for (const char* name : {"", "Fz", "T3", "time constant", "timer", "reaction time ms"})
    EXPECT_FALSE(time_in(noise, name)) << name;
}

TEST(Time, OfLargeTablesIsNotLookedForToTheEnd) {
  const Table table(example(100000, 1).col(0), "");
  EXPECT_FALSE(find_time(table));
  EXPECT_LE(table.rows_read, 2000);
}

TEST(Time, IsLeftOut) {
  const Matrix values = example(20, 3);
  const auto rest = without_first_column(as_data(values));
  EXPECT_EQ(read_all(*rest, 6), values.rightCols(2));
  EXPECT_EQ(rest->name(), "rec");
}

ModelFile model_of_windows(Index window, Index channels) {
  Random random(1);
  ModelFile file;
  file.state.model = bars_model(8, random);  // 16 dimensions
  file.recording = Recording{window, 2, channels, {}, 0};
  return file;
}

TEST(ModelOfWindows, RemembersItsRecording) {
  const TemporaryFolder folder;
  ModelFile file = model_of_windows(8, 2);
  save_model(folder / "m.h5", file);
  ASSERT_TRUE(load_model(folder / "m.h5").recording);
  EXPECT_TRUE(load_model(folder / "m.h5").recording->names.empty());
  EXPECT_EQ(load_model(folder / "m.h5").recording->rate, 0);

  file.recording->names = {"Fz", "\u00c4, \"left\""};
  file.recording->rate = 44100.5;
  save_model(folder / "m.h5", file);
  const Recording read = load_model(folder / "m.h5").recording.value();
  EXPECT_EQ(read.window, 8);
  EXPECT_EQ(read.hop, 2);
  EXPECT_EQ(read.channels, 2);
  EXPECT_EQ(read.names, file.recording->names);
  EXPECT_EQ(read.rate, 44100.5);
  EXPECT_EQ(read.channel_name(1), "\u00c4, \"left\"");
  EXPECT_EQ(Recording{}.channel_name(1), "channel 2");

  Checkpoint(folder / "c.h5", {}, 1, file.recording).save(file.state);
  EXPECT_EQ(load_model(folder / "c.h5").recording->names, file.recording->names);
  file.recording.reset();
  save_model(folder / "m.h5", file);
  EXPECT_FALSE(load_model(folder / "m.h5").recording);
}

TEST(ModelOfWindows, RefusesARecordingThatDoesNotFit) {
  const TemporaryFolder folder;
  save_model(folder / "m.h5", model_of_windows(5, 3));
  expect_error<Error>([&] { load_model(folder / "m.h5"); },
                      {"m.h5", "/recording", "5 samples x 3 channels", "16 dimensions"});
  save_model(folder / "m.h5", model_of_windows(0, 3));
  expect_error<Error>([&] { load_model(folder / "m.h5"); }, {"m.h5", "'window'", "is 0"});
  ModelFile file = model_of_windows(8, 2);
  file.recording->names = {"one"};
  save_model(folder / "m.h5", file);
  expect_error<Error>([&] { load_model(folder / "m.h5"); }, {"m.h5", "1 names for 2 channels"});
}

#undef expect_says

}  // namespace
}  // namespace gsc::test
