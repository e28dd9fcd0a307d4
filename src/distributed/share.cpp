#include "distributed/share.h"

#include <gsc/team.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "data/sums.h"
#include "distributed/clustering.h"
#include "distributed/packing.h"
#include "inference/statistics_fields.h"
#include "inference/statistics_shapes.h"

namespace gsc {
namespace {

/// Adds the time it lives to a number of seconds.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds) {}
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& seconds_;
  Clock::time_point start_ = Clock::now();
};

std::vector<Index> uniform_shares(Index rows, int ranks) {
  std::vector<Index> shares;
  for (int r = 0; r <= ranks; ++r) shares.push_back(rows / ranks * r + std::min<Index>(rows % ranks, r));
  return shares;
}

}  // namespace

void ShareRows::use_memory(const NodeRows& memory) {
  memory_ = &memory;
  list = memory.own_rows();
}

void ShareRows::read(Index first, Eigen::Ref<Matrix> block) const {
  if (memory_ == nullptr) return source_.read(first_ + first, block);
  constexpr Index kAhead = 8;  // rows lie anywhere, so no prefetcher knows the next
  const Row* rows = list.data() + first;
  for (Index i = 0; i < block.rows(); ++i) {
    if (i + kAhead < block.rows()) __builtin_prefetch(memory_->row(rows[i + kAhead].handle));
    std::copy_n(memory_->row(rows[i].handle), cols(), block.row(i).data());
  }
}

Share::Share(const Data& data, const SharingOptions& options)
    : data_(data),
      options_(options),
      shares_(uniform_shares(data.rows(), options.team->size())),
      rows_(data, shares_[static_cast<std::size_t>(options.team->rank())],
            shares_[static_cast<std::size_t>(options.team->rank()) + 1] -
                shares_[static_cast<std::size_t>(options.team->rank())]) {
  if (options.partition == Partition::uniform && !data.root_only()) return;
  memory_.emplace(team(), data, shares_);
  rows_.use_memory(*memory_);
}

DataSummary Share::summarize(bool full_covariance, bool allow_missing) {
  check();
  const Vector origin = from_root(team(), [&] { return first_row(data_, allow_missing); });
  DataSums sums(origin, full_covariance, allow_missing);
  all_or_none(team(), [&] { sums.add_rows(rows_, shares_[static_cast<std::size_t>(team().rank())]); });
  team().sum(&sums.count, 1);
  team().sum(&sums.magnitude, 1);
  team().sum(sums.sum.data(), sums.sum.size());
  team().sum(sums.squares.data(), sums.squares.size());
  team().sum(sums.observed.data(), sums.observed.size());
  return sums.summary(data_);
}

void Share::check() {
  all_or_none(team(), [&] { check_shape(data_); });
}

Statistics Share::total(const std::function<Statistics()>& own) {
  Statistics statistics;
  std::optional<Stopwatch> waiting;
  all_or_none(team(), [&] {
    statistics = own();
    if (!team().alone()) waiting.emplace(report_.seconds_waiting);
  });
  waiting.reset();
  add_up(statistics);
  return statistics;
}

/// A rank whose rows lack nothing has no products of what is missing; those of others are added to zeros.
void Share::agree_on_products(Statistics& statistics) {
  if (statistics.missing.size() == 0) return;
  double ranks[] = {statistics.missing_ZZ.size() > 0 ? 1.0 : 0.0, statistics.missing_WZ.size() > 0 ? 1.0 : 0.0};
  team().sum(ranks, 2);
  if (ranks[0] > 0) add_missing_products(statistics, MissingProducts::by_rows);
  if (ranks[1] > 0) add_missing_products(statistics, MissingProducts::with_basis);
}

void Share::add_up(Statistics& statistics) {
  if (team().alone()) return;
  const Stopwatch watch(report_.seconds_summing);
  agree_on_products(statistics);
  std::vector<double> numbers;
  for_each_number(statistics, [&](const auto& value) { numbers.push_back(static_cast<double>(value)); });
  team().sum(numbers.data(), static_cast<Index>(numbers.size()));
  std::size_t i = 0;
  for_each_number(statistics, [&]<class Number>(Number& value) { value = static_cast<Number>(numbers[i++]); });
  mirror(statistics);
}

void Share::regroup(const std::function<std::vector<std::uint64_t>()>& keys_of) {
  if (options_.partition == Partition::uniform) return;
  const Stopwatch watch(report_.seconds_clustering);
  all_or_none(team(), [&] {
    const std::vector<std::uint64_t> keys = keys_of();
    for (std::size_t i = 0; i < keys.size(); ++i) rows_.list[i].key = keys[i];
  });
  if (options_.partition == Partition::global && !team().alone() && !merge_clusters()) return;
  group();
}

/// Clusters worth sharing a tree first, the lone rows after them as they lie in memory.
void Share::group() {
  std::vector<Row> sorted = rows_.list;
  sort_by_key(sorted);
  const std::vector<KeyCount> clusters = clusters_of(sorted);
  const std::size_t clustered = clusters_first(sorted, clusters);
  if (options_.partition == Partition::local || team().alone()) {
    report_.clusters = static_cast<double>(clusters.size());
    report_.rows_in_clusters = static_cast<double>(clustered);
  }
  rows_.list.swap(sorted);
}

/// Brings the rows of a cluster to one rank; returns whether there is anything to group.
bool Share::merge_clusters() {
  std::vector<Row> sorted = rows_.list;
  sort_by_key(sorted);
  const std::vector<KeyCount> own = clusters_of(sorted);
  const MergedClusters merged = merge(team(), own, memory_->room());
  const Assignment assignment = assign(merged.clusters, merged.loads, options_.alpha);
  report_.clusters = merged.different;
  report_.rows_in_clusters = merged.gathered_here;
  const std::vector<std::vector<Row>> outgoing = parting(sorted, own, merged, assignment, team().rank());
  double moved = 0;
  for (const auto& rows : outgoing) moved += static_cast<double>(rows.size());
  report_.rows_moved += moved;
  team().sum(&moved, 1);
  if (moved == 0) return merged.gathered_here > 0;
  const Stopwatch watch(report_.seconds_moving);
  const std::vector<Row> arrived = memory_->move(outgoing, report_.rows_sent);
  rows_.list.swap(sorted);
  rows_.list.insert(rows_.list.end(), arrived.begin(), arrived.end());
  return true;
}

Matrix Share::own_columns(const Matrix& all) const {
  if (team().alone()) return all;
  std::vector<Bytes> outgoing(static_cast<std::size_t>(team().size()));
  all_or_none(team(), [&] {
    if (!team().root()) return;
    if (all.size() > 0 && all.cols() != data_.rows())
      throw UsageError("the codes are of " + std::to_string(all.cols()) + " data points, but there are " +
                       std::to_string(data_.rows()) + "; resume with the data they were learned from");
    for (std::size_t r = 0; r < outgoing.size(); ++r) {
      const Index first = all.size() > 0 ? shares_[r] : 0, count = all.size() > 0 ? shares_[r + 1] - shares_[r] : 0;
      outgoing[r] = (Packer() << Matrix(all.middleCols(first, count))).take();
    }
  });
  const std::vector<Bytes> incoming = team().exchange(std::move(outgoing));
  return Unpacker(incoming[0]).next<Matrix>();
}

Matrix Share::all_columns(const Matrix& own) const {
  if (team().alone()) return own;
  std::vector<Bytes> outgoing(static_cast<std::size_t>(team().size()));
  outgoing[0] = (Packer() << own).take();
  const std::vector<Bytes> incoming = team().exchange(std::move(outgoing));
  if (!team().root()) return {};
  Matrix all;
  for (std::size_t r = 0; r < incoming.size(); ++r) {
    const auto columns = Unpacker(incoming[r]).next<Matrix>();
    if (all.size() == 0 && columns.rows() > 0) all.resize(columns.rows(), data_.rows());
    if (columns.size() > 0) all.middleCols(shares_[r], columns.cols()) = columns;
  }
  return all;
}

SharingReport Share::report() const {
  SharingReport report = report_;
  if (team().alone()) return report;
  std::vector<double*> seconds = {&report.seconds_waiting, &report.seconds_summing, &report.seconds_clustering,
                                  &report.seconds_moving};
  report.seconds_clustering -= report.seconds_moving;  // moving is timed within
  std::vector<double*> rows = {&report.rows_moved, &report.rows_sent, &report.rows_in_clusters};
  if (options_.partition == Partition::local) rows.push_back(&report.clusters);
  for (double* value : seconds) {
    team().sum(value, 1);
    *value /= team().size();
  }
  for (double* value : rows) team().sum(value, 1);
  return report;
}

}  // namespace gsc
