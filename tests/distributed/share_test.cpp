// What ranks hand to each other: bytes, rows of data, and sums over all rows wherever these have gone.

#include <gsc/backend/engine.h>
#include <gsc/fit.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "distributed/repartition.h"
#include "distributed/share.h"
#include "distributed/thread_team.h"
#include "expect_error.h"
#include "inference_check.h"
#include "learning/pack_fit.h"
#include "random_model.h"
#include "truncated/candidate_keys.h"

namespace gsc::test {
namespace {

template <class T>
T round_trip(const T& value) {
  Packer packer;
  packer << value;
  const Bytes bytes = packer.take();
  return Unpacker(bytes).next<T>();
}

TEST(Packing, ReturnsWhatWasPacked) {
  EXPECT_EQ(round_trip(42), 42);
  EXPECT_EQ(round_trip(std::vector<double>{1, -0.5}), (std::vector<double>{1, -0.5}));
  EXPECT_EQ(round_trip(std::vector<double>{}), std::vector<double>{});
  EXPECT_EQ(round_trip(std::string("two words\0 and a zero", 21)), std::string("two words\0 and a zero", 21));
  EXPECT_EQ(round_trip(std::string()), "");
  Random random(1);
  const Matrix matrix = normal_matrix(3, 5, random);
  EXPECT_EQ(round_trip(matrix), matrix);
  for (const Matrix& empty : {Matrix(0, 0), Matrix(0, 7), Matrix(7, 0)}) {
    EXPECT_EQ(round_trip(empty).rows(), empty.rows());
    EXPECT_EQ(round_trip(empty).cols(), empty.cols());
  }
  EXPECT_EQ(round_trip(Vector(matrix.col(2))), Vector(matrix.col(2)));
  const Bytes bytes = (Packer() << 'x' << matrix << std::string("end") << 2.5).take();
  Unpacker unpacker(bytes);
  EXPECT_EQ(unpacker.next<char>(), 'x');
  EXPECT_EQ(unpacker.next<Matrix>(), matrix);
  EXPECT_EQ(unpacker.next<std::string>(), "end");
  EXPECT_EQ(unpacker.next<double>(), 2.5);
  expect_error<Error>([&] { unpacker.next<char>(); }, {"1 bytes are missing", "same version of gsc"});
}

TEST(Packing, RefusesToReadBeyondTheEnd) {
  const auto refused = [](const auto& kind, const Bytes& bytes, const char* missing) {
    using Value = std::decay_t<decltype(kind)>;
    expect_error<Error>([&] { Unpacker(bytes).next<Value>(); }, {missing, "same version of gsc"});
  };
  refused(double(), {}, "8 bytes are missing");
  Bytes bytes = (Packer() << std::vector<double>{1, 2}).take();
  bytes.pop_back();
  refused(std::vector<double>(), bytes, "1 bytes are missing");
  bytes = (Packer() << std::string("text")).take();
  bytes.pop_back();
  refused(std::string(), bytes, "1 bytes are missing");
  bytes = (Packer() << Matrix(Matrix::Ones(2, 2))).take();
  bytes.resize(bytes.size() - 8);
  refused(Matrix(), bytes, "8 bytes are missing");
  bytes.resize(12);
  refused(Matrix(), bytes, "4 bytes are missing");
}

void expect_same_bits(const Model& a, const Model& b) {
  EXPECT_EQ(a.W, b.W);
  EXPECT_TRUE(a.W_variance == b.W_variance);
  EXPECT_EQ(a.pi, b.pi);
  EXPECT_EQ(a.mu, b.mu);
  EXPECT_EQ(a.slab.type(), b.slab.type());
  EXPECT_EQ(a.slab.values(), b.slab.values());
  EXPECT_EQ(a.intercept, b.intercept);
  EXPECT_EQ(a.noise.type(), b.noise.type());
  EXPECT_EQ(a.noise.dimensions(), b.noise.dimensions());
  EXPECT_EQ(a.noise.values(), b.noise.values());
}

TEST(Packing, ReturnsModelsAndResults) {
  Random random(2);
  for (const ModelKnobs& knobs : every_type(5, 3)) {
    SCOPED_TRACE(::testing::Message() << knobs);
    FitResult result;
    FitState& state = result.state;
    state.model = random_model(knobs, 3);
    expect_same_bits(state.model, round_trip(state.model));
    state.model.W_variance = normal_matrix(5, 3, random).cwiseAbs();
    state.history = {{.iteration = 0, .free_energy = -3}, {.iteration = 1, .free_energy = -2, .rescues = 5}};
    state.method.numbers["slab_acceleration"] = 0.25;
    state.rescues = {1, 2, 3, 4, 5, 6};
    state.method.numbers["basis_divergence"] = 0.5;
    state.method.numbers["length_scale"] = 0.75;
    state.method.arrays["running"] = normal_matrix(2, 4, random);
    state.method.columns["codes"] = normal_matrix(3, 11, random);
    result.reason = StopReason::converged;
    result.seconds = 12;
    result.sharing = {1, 2, 3, 4, 5, 6, 7, 8};
    const auto got = round_trip(result);
    expect_same_bits(state.model, got.model());
    ASSERT_EQ(got.state.history.size(), 2U);
    EXPECT_EQ(got.last().free_energy, -2);
    EXPECT_EQ(got.last().rescues, 5);
    EXPECT_EQ(got.state.method.number("slab_acceleration", 1), 0.25);
    EXPECT_EQ(got.state.rescues.unused_latents, 1);
    EXPECT_EQ(got.state.rescues.clamped_pivots, 6);
    EXPECT_EQ(got.state.method.column("codes"), state.method.column("codes"));
    EXPECT_EQ(got.state.method.number("basis_divergence", 0), 0.5);
    EXPECT_EQ(got.state.method.number("length_scale", 0), 0.75);
    EXPECT_EQ(got.reason, StopReason::converged);
    EXPECT_EQ(got.seconds, 12);
    EXPECT_EQ(got.sharing.seconds_waiting, 1);
    EXPECT_EQ(got.sharing.rows_in_clusters, 8);
  }
}

TEST(ThreadTeam, FinishesWhatAllHaveComeTo) {
  for (int trial = 0; trial < 200; ++trial) {
    std::atomic<int> summed = 0;
    const auto body = [&](Team& team) {
      double one = 1;
      team.sum(&one, 1);
      summed += static_cast<int>(one);
      if (team.rank() == 2) throw std::out_of_range("after the sum");
      team.sum(&one, 1);
    };
    expect_error<std::out_of_range>([&] { run_ranks(3, 0, body); }, {"after the sum"});
    ASSERT_EQ(summed, 9) << "trial " << trial;
  }
}

/// A number for every value: row n is cols * n, cols * n + 1, ...
Matrix numbered(Index rows, Index cols) {
  Matrix values(rows, cols);
  std::iota(values.data(), values.data() + values.size(), 0.0);
  return values;
}

/// The number of a row, which must be whole.
Index number_of(const NodeRows& memory, const Row& row) {
  const double* values = memory.row(row.handle);
  for (Index d = 1; d < memory.cols(); ++d) EXPECT_EQ(values[d], values[0] + static_cast<double>(d));
  return static_cast<Index>(values[0]) / memory.cols();
}

double summed(Team& team, Index number) {
  auto value = static_cast<double>(number);
  team.sum(&value, 1);
  return value;
}

TEST(NodeRows, MoveWithoutLoss) {
  const Index N = 403, D = 3;
  const MatrixData data(numbered(N, D));
  for (const int per_node : {0, 1, 2}) {
    SCOPED_TRACE(::testing::Message() << per_node << " per node");
    std::atomic<Index> sent_rows = 0;
    run_ranks(5, per_node, [&](Team& team) {
      NodeRows memory(team, data, {0, 100, 220, 221, 300, N});
      std::vector<Row> rows = memory.own_rows();
      for (Row& row : rows) row.key = static_cast<std::uint64_t>(number_of(memory, row)) * 7;
      Random random(static_cast<std::uint64_t>(team.rank()));
      const double all_room = summed(team, memory.room());
      for (int round = 0; round < 30; ++round) {
        std::vector<Index> room;
        for (const Bytes& bytes : team.gather((Packer() << memory.room()).take()))
          room.push_back(Unpacker(bytes).next<Index>());
        std::vector<std::vector<Row>> outgoing(5);
        std::vector<Row> staying;
        for (const Row& row : rows) {
          const auto to = static_cast<std::size_t>(random() % 5);
          const bool fits = room[to] < 0 || static_cast<Index>(outgoing[to].size()) < room[to] / 5;
          (fits && static_cast<int>(to) != team.rank() ? outgoing[to] : staying).push_back(row);
        }
        double sent = 0;
        const std::vector<Row> arrived = memory.move(outgoing, sent);
        sent_rows += static_cast<Index>(sent);
        staying.insert(staying.end(), arrived.begin(), arrived.end());
        rows = staying;
        std::vector<Index> numbers;
        for (const Row& row : rows) {
          numbers.push_back(number_of(memory, row));
          EXPECT_EQ(row.key, static_cast<std::uint64_t>(numbers.back()) * 7);
        }
        std::vector<Index> all;
        for (const Bytes& bytes : team.gather((Packer() << numbers).take())) {
          const auto part = Unpacker(bytes).next<std::vector<Index>>();
          all.insert(all.end(), part.begin(), part.end());
        }
        std::sort(all.begin(), all.end());
        std::vector<Index> expected(N);
        std::iota(expected.begin(), expected.end(), Index{0});
        EXPECT_EQ(all, expected) << "round " << round;
        EXPECT_EQ(summed(team, memory.room()), all_room) << "whence a row goes, another may come";
      }
    });
    EXPECT_EQ(sent_rows > 0, per_node > 0) << "bytes go between nodes only";
  }
}

TEST(NodeRows, ReachARankThatHadNone) {
  const MatrixData data(numbered(10, 3));
  for (const int per_node : {0, 1})
    run_ranks(3, per_node, [&](Team& team) {
      NodeRows memory(team, data, {0, 5, 5, 10});
      std::vector<std::vector<Row>> outgoing(3);
      if (team.rank() != 1) outgoing[1] = {memory.own_rows()[3]};
      double sent = 0;
      std::vector<Index> numbers;
      for (const Row& row : memory.move(outgoing, sent)) numbers.push_back(number_of(memory, row));
      EXPECT_EQ(numbers, team.rank() == 1 ? (std::vector<Index>{3, 8}) : std::vector<Index>{});
      EXPECT_EQ(sent, team.rank() != 1 && per_node > 0 ? 1 : 0);
      summed(team, 0);  // nobody leaves while others read its rows
    });
}

TEST(NodeRows, ComeFromTheRootInChunks) {
  const Index N = 21, D = Index{1} << 17;  // 8 rows to a chunk
  run_ranks(2, 1, [&](Team& team) {
    const RootData data(team, team.root() ? std::make_unique<MatrixData>(numbered(N, D), "table") : nullptr);
    EXPECT_EQ(data.rows(), N);
    EXPECT_EQ(data.cols(), D);
    EXPECT_EQ(data.name(), "table");
    const NodeRows memory(team, data, {0, 11, N});
    Index n = team.root() ? 0 : 11;
    for (const Row& row : memory.own_rows()) {
      const double* values = memory.row(row.handle);
      EXPECT_EQ(values[0], static_cast<double>(n * D));
      EXPECT_EQ(values[D - 1], static_cast<double>(n * D + D - 1));
      ++n;
    }
    EXPECT_EQ(n, team.root() ? 11 : N);
  });
}

/// Adds up the candidate sets among these rows: how many, and the rows in those worth gathering.
void count_clusters(const Model& model, const Matrix& rows, const InferenceOptions& options, SharingReport& total) {
  const Posterior posterior = infer(model, MatrixData(rows), options, {.candidates = true});
  std::map<std::vector<Index>, Index> sets;
  for (Index n = 0; n < rows.rows(); ++n) ++sets[candidates_of(posterior, n)];
  total.clusters += static_cast<double>(sets.size());
  for (const auto& [set, size] : sets)
    if (size >= kWorthGathering) total.rows_in_clusters += static_cast<double>(size);
}

/// The sums of all rows, brought together first by the candidates that they had under `before`, unless null.
Statistics grouped_sums(Share& share, Engine& engine, const InferenceOptions& options, const Model& model,
                        const Model* before) {
  if (before != nullptr) share.regroup([&] { return candidate_keys(*before, share.rows(), options, {}); });
  return share.total([&] { return engine.e_step(model, {}); });
}

struct ShareCase {
  int per_node;
  Partition partition;
  double alpha;
};

TEST(Share, GivesTheStatisticsOfAllRowsAfterEveryMove) {
  const ModelKnobs knobs{.dimensions = 5, .latents = 6, .noise = NoiseType::full, .slab = SlabType::full};
  const Matrix values = random_data(random_model(knobs, 1), 1500, 2);
  const MatrixData data(values);
  const InferenceOptions options = truncated(3, 2);
  for (const ShareCase& with :
       {ShareCase{0, Partition::uniform, 5}, ShareCase{0, Partition::local, 5}, ShareCase{0, Partition::global, 5},
        ShareCase{1, Partition::global, 5}, ShareCase{2, Partition::global, 50}}) {
    SCOPED_TRACE(::testing::Message() << to_string(with.partition) << ", " << with.per_node << " per node");
    std::vector<SharingReport> reports(4);
    run_ranks(4, with.per_node, [&](Team& team) {
      Share share(data, {&team, with.partition, with.alpha});
      const std::unique_ptr<Engine> engine = make_engine(share.rows(), options);
      std::optional<Model> before;
      for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 4U}) {
        const Model model = random_model(knobs, seed);
        const Statistics expected = e_step(model, data, options),
                         got = grouped_sums(share, *engine, options, model, before ? &*before : nullptr);
        before = model;
        EXPECT_EQ(got.count, 1500);
        EXPECT_LT(relative_difference(expected, got), 1e-10) << "model " << seed;
        EXPECT_EQ(got.YY, Matrix(got.YY.transpose()));
      }
      reports[static_cast<std::size_t>(team.rank())] = share.report();
    });
    SharingReport expected;  // rows were clustered by their candidates under the last model but one
    const Model model = random_model(knobs, 4);
    if (with.partition == Partition::global) count_clusters(model, values, options, expected);
    for (Index first = 0; with.partition == Partition::local && first < 1500; first += 375)
      count_clusters(model, values.middleRows(first, 375), options, expected);
    for (const SharingReport& report : reports) {
      EXPECT_EQ(report.clusters, expected.clusters);
      EXPECT_EQ(report.rows_in_clusters, expected.rows_in_clusters);
      EXPECT_EQ(report.rows_moved > 0, with.partition == Partition::global);
      EXPECT_EQ(report.rows_sent > 0, with.per_node > 0);
      EXPECT_LE(report.rows_sent, report.rows_moved);
      EXPECT_EQ(report.rows_moved, reports[0].rows_moved);
    }
  }
}

TEST(Share, LeavesRowsWhereTheyAreOnceClustersAreTogether) {
  const ModelKnobs knobs{.dimensions = 8, .latents = 6, .pi_low = 0.1, .pi_high = 0.3};
  const Model model = random_model(knobs, 1);
  const MatrixData data(random_data(model, 2000, 2));
  for (const int per_node : {0, 2, 1}) {
    SCOPED_TRACE(::testing::Message() << per_node << " per node");
    run_ranks(4, per_node, [&](Team& team) {
      Share share(data, {&team, Partition::global, 0});
      const std::unique_ptr<Engine> engine = make_engine(share.rows(), truncated(3, 2));
      for (int t = 0; t < 6; ++t) grouped_sums(share, *engine, truncated(3, 2), model, &model);
      const double moved = share.report().rows_moved;
      EXPECT_GT(moved, 0);
      grouped_sums(share, *engine, truncated(3, 2), model, &model);
      EXPECT_EQ(share.report().rows_moved, moved);
    });
  }
}

}  // namespace
}  // namespace gsc::test
