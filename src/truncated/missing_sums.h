#pragma once
// What the M-step of W needs to know of the entries that are missing: sums over the data points that miss entry d, so
// that complete ones add nothing and cost nothing.
//
//   missing_d       how many
//   missing_m_d     sum <s.z>
//   missing_ZZ_d    sum <(s.z)(s.z)'>          H(H+1)/2 numbers for every d; or, where these are too many,
//   missing_WZ_d    sum <(s.z)(s.z)'> w_d      H numbers, with the model's row w_d of W
//
// Products of latents are nonzero for pairs of candidates only. They are gathered data point by data point, and added
// up after so many: then all that concern a latent i are at hand, and the sums with it, H x D numbers, stay in the
// cache.

#include <gsc/inference.h>

#include <vector>

#include "inference/statistics_shapes.h"
#include "truncated/block_inference.h"

namespace gsc {

class MissingSums {
 public:
  MissingSums(const Model& model, const PreparedModel& prepared, const InferenceOptions& options, int threads);

  /// The rows with gaps of a block that has been run with its products kept. Called by each thread for its own.
  void gather(int thread, const BlockInference& block);
  /// Adds up the products gathered by all threads; on so many.
  void add_up(int threads);
  /// Everything, after the last add_up().
  void add_to(Statistics& statistics, double empty) const;

  /// So many data points are gathered before they are added up.
  static constexpr Index kGathered = 8192;

 private:
  struct Thread {
    std::vector<std::uint16_t> latents;  ///< rows x H'
    std::vector<double> products;        ///< rows x H'(H'+1)/2, scaled
    std::vector<std::uint8_t> missing;   ///< rows x D: 1 where missing
    Index rows = 0;
    Vector counts;            ///< D
    Matrix means, diagonals;  ///< D x padded: sums of <s.z>, <(s.z)^2>, scaled
    Matrix gaps;              ///< scratch: 1 where missing
  };
  /// A candidate of a data point that was gathered.
  struct Entry {
    std::uint32_t thread, row, position;
  };

  const Model& model_;
  const PreparedModel& prepared_;
  const bool row_products_;
  Matrix scaled_W_;  ///< latents x D: W_dh t_h
  Matrix pairs_;     ///< H(H+1)/2 x D, or latents x D; scaled
  std::vector<Thread> threads_;
  std::vector<std::vector<Entry>> of_latent_;
};

}  // namespace gsc
