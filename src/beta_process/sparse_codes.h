#pragma once
// Codes that are mostly zero, of all data points: in chunks that threads fill on their own.

#include <gsc/types.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dictionary/coder.h"

namespace gsc {

class SparseCodes {
 public:
  /// Data points to a chunk. Sums are added up chunk by chunk in this order, so it is part of what a seed means.
  static constexpr Index kChunk = 1024;

  struct Chunk {
    std::vector<std::uint32_t> ends;  ///< of each data point
    std::vector<std::uint16_t> latents;
    std::vector<double> values;
  };

  SparseCodes(Index latents, Index points)
      : latents_(latents), points_(points), chunks_(static_cast<std::size_t>((points + kChunk - 1) / kChunk)) {
    for (Index c = 0; c < chunks(); ++c) chunk(c).ends.assign(static_cast<std::size_t>(rows(c)), 0);
  }

  Index latents() const { return latents_; }
  Index points() const { return points_; }
  Index chunks() const { return static_cast<Index>(chunks_.size()); }
  Index first(Index c) const { return c * kChunk; }
  Index rows(Index c) const { return std::min(kChunk, points_ - c * kChunk); }
  Chunk& chunk(Index c) { return chunks_[static_cast<std::size_t>(c)]; }
  const Chunk& chunk(Index c) const { return chunks_[static_cast<std::size_t>(c)]; }

  /// Calls body(latent, value) for what data point `row` of chunk `c` has on.
  template <class Body>
  void visit(Index c, Index row, Body&& body) const {
    const Chunk& from = chunk(c);
    const auto at = static_cast<std::size_t>(row);
    for (std::uint32_t i = row == 0 ? 0 : from.ends[at - 1]; i < from.ends[at]; ++i)
      body(static_cast<Index>(from.latents[i]), from.values[i]);
  }

  /// All of them as one matrix, a column a data point; and from there.
  Codes together() const {
    Codes all(latents_, points_);
    for (Index c = 0; c < chunks(); ++c)
      for (Index row = 0; row < rows(c); ++row) {
        all.startVec(first(c) + row);
        visit(c, row, [&](Index h, double value) { all.insertBack(h, first(c) + row) = value; });
      }
    all.finalize();
    return all;
  }
  void assign(const Codes& codes) {
    for (Index c = 0; c < chunks(); ++c) {
      Chunk fresh;
      for (Index row = 0; row < rows(c); ++row) {
        for (Codes::InnerIterator entry(codes, first(c) + row); entry; ++entry)
          append(fresh, entry.row(), entry.value());
        fresh.ends.push_back(static_cast<std::uint32_t>(fresh.latents.size()));
      }
      chunk(c) = std::move(fresh);
    }
  }

  /// A latent of the data point that is being written; zeros are left out. The caller appends to `ends`.
  static void append(Chunk& to, Index latent, double value) {
    if (value == 0) return;
    to.latents.push_back(static_cast<std::uint16_t>(latent));
    to.values.push_back(value);
  }

 private:
  Index latents_, points_;
  std::vector<Chunk> chunks_;
};

}  // namespace gsc
