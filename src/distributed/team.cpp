#include <gsc/inference.h>
#include <gsc/recording.h>
#include <gsc/team.h>

#include <new>

#include "distributed/packing.h"

namespace gsc {
namespace {

class OwnMemory final : public SharedMemory {
 public:
  explicit OwnMemory(Index count) : values_(static_cast<std::size_t>(count)) {}
  double* of(int) override { return values_.data(); }

 private:
  std::vector<double> values_;
};

enum class Failure { none, interrupted, usage, error, memory };

}  // namespace

void Team::sum(double*, Index) {}
Bytes Team::broadcast(Bytes bytes, int) { return bytes; }
std::vector<Bytes> Team::gather(Bytes bytes) { return {std::move(bytes)}; }
std::vector<Bytes> Team::exchange(std::vector<Bytes> outgoing) { return outgoing; }
std::unique_ptr<SharedMemory> Team::share(Index count) { return std::make_unique<OwnMemory>(count); }

Team& solo() {
  static Team team;
  return team;
}

void all_or_none(Team& team, const std::function<void()>& part) {
  if (team.alone()) {
    part();
    return;
  }
  Failure failure = Failure::none;
  std::string message;
  const auto failed = [&](Failure how, const char* what) {
    failure = how;
    message = what;
  };
  try {
    part();
  } catch (const Interrupted& error) {
    failed(Failure::interrupted, error.what());
  } catch (const UsageError& error) {
    failed(Failure::usage, error.what());
  } catch (const std::bad_alloc& error) {
    failed(Failure::memory, error.what());
  } catch (const std::exception& error) {
    failed(Failure::error, error.what());
  }
  double failures = failure == Failure::none ? 0 : 1;
  team.sum(&failures, 1);
  if (failures == 0) return;

  // A real failure tells more than the interruption that may have come with it.
  Failure first = Failure::none;
  std::string first_message;
  for (const Bytes& bytes : team.gather((Packer() << failure << message).take())) {
    Unpacker unpacker(bytes);
    const auto how = unpacker.next<Failure>();
    const auto what = unpacker.next<std::string>();
    if (first == Failure::none || (first == Failure::interrupted && how > Failure::interrupted)) {
      first = how;
      first_message = what;
    }
  }
  switch (first) {
    case Failure::interrupted:
      throw Interrupted(first_message);
    case Failure::usage:
      throw UsageError(first_message);
    case Failure::memory:
      throw std::bad_alloc();
    default:
      throw Error(first_message);
  }
}

RootData::RootData(Team& team, std::unique_ptr<Data> data) : data_(std::move(data)) {
  Packer packer;
  if (data_) {
    column_names_ = data_->column_names();
    packer << data_->rows() << data_->cols() << data_->name() << column_names_.size();
    for (const std::string& name : column_names_) packer << name;
  }
  const Bytes shape = team.broadcast(packer.take(), 0);
  Unpacker unpacker(shape);
  unpacker >> rows_ >> cols_ >> name_;
  column_names_.resize(unpacker.next<std::size_t>());
  for (std::string& name : column_names_) unpacker >> name;
}

void RootData::read(Index first, Eigen::Ref<Matrix> block) const {
  if (!data_) throw Error(name_ + ": only the first process of the team holds this data");
  data_->read(first, block);
}

std::optional<TimeColumn> find_time(const Data& table, Team& team) {
  std::optional<TimeColumn> found;
  all_or_none(team, [&] {
    if (team.root()) found = find_time(table);
  });
  if (team.alone()) return found;
  Packer packer;
  packer << found.has_value();
  if (found) packer << found->name << found->step << found->rate;
  const Bytes bytes = team.broadcast(packer.take(), 0);
  Unpacker unpacker(bytes);
  if (!unpacker.next<bool>()) return {};
  TimeColumn column;
  unpacker >> column.name >> column.step >> column.rate;
  return column;
}

std::string_view to_string(Partition partition) {
  switch (partition) {
    case Partition::uniform:
      return "static";
    case Partition::local:
      return "local";
    case Partition::global:
      return "global";
  }
  return "";
}

}  // namespace gsc
