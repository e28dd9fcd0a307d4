#pragma once
// Inference where every data point has a prior of its own, learned from data points like it (docs/model.md). A first
// pass under the model's prior, then as many rounds as one likes:
//
//   SparsePosterior posterior = infer_sparse(model, data, options);
//   posterior = infer_nonlocal(model, data, options, posterior, neighbours);
//
// Of the truncated method with a diagonal slab, any noise.

#include <gsc/export.h>
#include <gsc/inference.h>

#include <cstdint>
#include <span>

namespace gsc {

/// The posterior of each data point on its candidates alone: H' numbers a point instead of H. Unlike those of infer(),
/// the states are the subsets of the candidates only; no other latent may be active by itself.
struct SparsePosterior {
  Index latents = 0;  ///< H
  Index first = 0;    ///< which row of the data the first row here is of
  /// N x H', most promising first. The others have their columns in this order.
  Table<std::uint16_t> candidates;
  Table<float> probability;         ///< N x H'   <s>
  Table<float> mean;                ///< N x H'   <s.z>
  Table<float> second_moment;       ///< N x H'   <(s.z)^2>
  Vector log_likelihood;            ///< N        log sum_{S in K_n} p(y_n, S), under the prior that n had
  std::int64_t clamped_pivots = 0;  ///< as in Statistics

  Index rows() const { return candidates.rows(); }
};

/// Which data points are like which. Rows are those of the data.
class GSC_EXPORT Neighbours {
 public:
  virtual ~Neighbours() = default;
  /// How many a row has at most.
  virtual Index most() const = 0;
  /// Writes the rows like row n, itself among them if it should count, and returns how many they are. Called from
  /// several threads at once.
  virtual Index of(Index n, std::uint32_t* rows) const = 0;
  /// The same for rows first .. first+count-1 at once, where that is quicker: most() places for each of them, and how
  /// many it has. False, and nothing is written, where it is not. Called from one thread.
  virtual bool of_rows([[maybe_unused]] Index first, [[maybe_unused]] Index count, [[maybe_unused]] std::uint32_t* rows,
                       [[maybe_unused]] std::int32_t* found) const {
    return false;
  }
};

struct GSC_EXPORT NonLocalOptions {
  double pseudo_counts = 2;  ///< k: so many data points with the model's own prior are added to the neighbours

  /// Throws UsageError naming the first field that makes no sense.
  void validate() const;
};

/// The prior of one data point.
struct Prior {
  Vector pi, mu, variance;  ///< H
};

/// One EM step from the model's prior over the data points given (K rows of the data, all in `before`), with k pseudo
/// counts that hold it to where it came from:
///   pi_n  = (k pi + sum_m <s>_m) / (k + K)                                               within [1e-7, 0.999]
///   mu_n  = (k mu + sum_m <s.z>_m) / (k + sum_m <s>_m)
///   psi_n = (k (psi + mu^2) + sum_m <(s.z)^2>_m) / (k + sum_m <s>_m) - mu_n^2    at least 1e-3 of its first term
GSC_EXPORT Prior own_prior(const Model& model, const SparsePosterior& before, std::span<const std::uint32_t> rows,
                           const NonLocalOptions& options = {});

/// The posterior of rows first .. first+count-1 (count < 0: to the end) under the model's prior.
GSC_EXPORT SparsePosterior infer_sparse(const Model& model, const Data& data, const InferenceOptions& options,
                                        Index first = 0, Index count = -1, const StopRequest& stop = {});

/// The same, each under its own prior. `before` must hold the rows that `neighbours` names for these, and may be a
/// window of the data: a large picture can be done in tiles.
GSC_EXPORT SparsePosterior infer_nonlocal(const Model& model, const Data& data, const InferenceOptions& options,
                                          const SparsePosterior& before, const Neighbours& neighbours,
                                          const NonLocalOptions& nonlocal = {}, Index first = 0, Index count = -1,
                                          const StopRequest& stop = {});

}  // namespace gsc
