#include "distributed/node_rows.h"

#include <gsc/team.h>

#include <algorithm>

#include "distributed/packing.h"

namespace gsc {
namespace {

/// What one rank hands to another.
struct Parcel {
  std::vector<Row> here;             // stay on the node: only the handles go
  std::vector<std::uint64_t> keys;   // of rows that come along ...
  std::vector<double> values;        // ... row after row
  std::vector<std::uint64_t> freed;  // slots of the receiver's part that no longer hold a row
};

Bytes packed(const Parcel& parcel) {
  return (Packer() << parcel.here << parcel.keys << parcel.values << parcel.freed).take();
}

Parcel unpacked(const Bytes& bytes) {
  Parcel parcel;
  Unpacker(bytes) >> parcel.here >> parcel.keys >> parcel.values >> parcel.freed;
  return parcel;
}

}  // namespace

NodeRows::NodeRows(Team& team, const Data& data, const std::vector<Index>& shares)
    : team_(team), cols_(data.cols()), count_(0), parts_(static_cast<std::size_t>(team.size())) {
  const auto me = static_cast<std::size_t>(team.rank());
  count_ = shares[me + 1] - shares[me];
  for (int r = 1; r < team.size(); ++r) several_nodes_ = several_nodes_ || team.node(r) != team.node(0);
  const Index room = several_nodes_ ? count_ / 4 + 64 : 0;
  for (const Bytes& bytes : team.gather((Packer() << count_ + room + 1).take()))
    stride_ = std::max(stride_, static_cast<std::uint64_t>(Unpacker(bytes).next<Index>()));
  memory_ = team.share((count_ + room) * cols_);
  mine_ = memory_->of(team.rank());
  for (Index i = count_ + room; i > count_; --i) free_.push_back(static_cast<std::uint64_t>(i - 1));
  for (int r = 0; r < team.size(); ++r)
    if (team.node(r) == team.node(team.rank())) parts_[static_cast<std::size_t>(r)] = memory_->of(r);
  if (data.root_only())
    fill_from_root(data, shares);
  else
    all_or_none(team, [&] { fill(data, shares[me], count_); });
  memory_->publish();
}

void NodeRows::fill(const Data& data, Index first, Index count) {
  constexpr Index kBlock = 4096;
  Matrix block;
  for (Index i = 0; i < count; i += kBlock) {
    block.resize(std::min(kBlock, count - i), cols_);
    data.read(first + i, block);
    std::copy_n(block.data(), block.size(), mine_ + i * cols_);
  }
}

void NodeRows::fill_from_root(const Data& data, const std::vector<Index>& shares) {
  const auto ranks = static_cast<std::size_t>(team_.size());
  const Index chunk = (Index{1} << 20) / std::clamp<Index>(cols_, 1, Index{1} << 20);  // 8 MB to each rank at a time
  Index largest = 0;
  for (std::size_t r = 0; r < ranks; ++r) largest = std::max(largest, shares[r + 1] - shares[r]);
  for (Index done = 0; done < largest; done += chunk) {
    std::vector<Bytes> outgoing(ranks);
    all_or_none(team_, [&] {
      Matrix block;
      for (std::size_t r = 0; team_.root() && r < ranks; ++r) {
        const Index rows = std::clamp<Index>(shares[r + 1] - shares[r] - done, 0, chunk);
        block.resize(rows, cols_);
        if (rows > 0) data.read(shares[r] + done, block);
        outgoing[r] = (Packer() << block).take();
      }
    });
    const std::vector<Bytes> incoming = team_.exchange(std::move(outgoing));
    const auto block = Unpacker(incoming[0]).next<Matrix>();
    std::copy_n(block.data(), block.size(), mine_ + done * cols_);
  }
}

std::vector<Row> NodeRows::own_rows() const {
  std::vector<Row> rows(static_cast<std::size_t>(count_));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = {handle_of(team_.rank(), i), 0};
  return rows;
}

const double* NodeRows::row(std::uint64_t handle) const {
  return parts_[static_cast<std::size_t>(rank_of(handle))] + slot_of(handle) * static_cast<std::uint64_t>(cols_);
}

std::vector<Row> NodeRows::move(const std::vector<std::vector<Row>>& outgoing, double& sent) {
  const auto ranks = static_cast<std::size_t>(team_.size());
  std::vector<Parcel> parcels(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    if (team_.node(static_cast<int>(r)) == team_.node(team_.rank())) {
      parcels[r].here = outgoing[r];
      continue;
    }
    for (const Row& row : outgoing[r]) {
      const double* values = this->row(row.handle);
      parcels[r].keys.push_back(row.key);
      parcels[r].values.insert(parcels[r].values.end(), values, values + cols_);
      parcels[static_cast<std::size_t>(rank_of(row.handle))].freed.push_back(slot_of(row.handle));
    }
    sent += static_cast<double>(outgoing[r].size());
  }
  std::vector<Bytes> bytes;
  for (const Parcel& parcel : parcels) bytes.push_back(packed(parcel));
  std::vector<Row> arrived;
  std::vector<Parcel> incoming;
  for (const Bytes& from : team_.exchange(std::move(bytes))) incoming.push_back(unpacked(from));
  // Whoever freed a slot has copied its row out before the exchange, so it may be filled again.
  for (const Parcel& parcel : incoming) free_.insert(free_.end(), parcel.freed.begin(), parcel.freed.end());
  for (const Parcel& parcel : incoming) {
    arrived.insert(arrived.end(), parcel.here.begin(), parcel.here.end());
    for (std::size_t i = 0; i < parcel.keys.size(); ++i) {
      if (free_.empty()) throw Error("more rows came to a rank than it has room for");
      std::copy_n(parcel.values.data() + i * static_cast<std::size_t>(cols_), cols_, slot(free_.back()));
      arrived.push_back({handle_of(team_.rank(), free_.back()), parcel.keys[i]});
      free_.pop_back();
    }
  }
  memory_->publish();
  return arrived;
}

}  // namespace gsc
