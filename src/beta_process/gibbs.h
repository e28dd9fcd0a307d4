#pragma once
// A chain of Gibbs draws from the posterior of beta_process.h. One sweep draws, each given all the rest,
//
//   a_nh      for all data points, as in beta_process/code_sampler.h
//   W         all at once: its rows share the precision L = D I + g_e sum a a', so
//             W' ~ L^-1 (g_e sum a y') + L^-1/2 N(0, I);  where values are missing each row has a sum and an L of its
//             own
//   b         N(mean of y - W a, 1/(g_e N)) for every entry, if it is learned
//   pi_h      Beta(alpha + n_h, beta + N - n_h)                       n_h: data points that have latent h on
//   g_s       Gamma(shape + 1/2 sum n_h, rate + 1/2 sum a^2)
//   g_e       Gamma(shape + 1/2 N D, rate + 1/2 sum |y - W a|^2)
//
// The amplitudes of latents that are off are integrated out throughout: they are never drawn and do not count in g_s.
// What is drawn follows from seed, chain and number of the sweep, not from the number of threads.

#include <gsc/data.h>

#include <cstdint>

#include "beta_process/beta_process.h"
#include "beta_process/code_sampler.h"
#include "beta_process/sparse_codes.h"

namespace gsc {

struct GibbsSettings {
  BetaProcessPriors priors;
  bool learn_intercept = false;
  bool missing = false;  ///< NaN stands for a missing value
  std::uint64_t seed = 1, chain = 0;
  int threads = 1;
};

class GibbsChain {
 public:
  /// The data must stay. Starts with all codes zero.
  GibbsChain(const Data& data, const GibbsSettings& settings, BetaProcessParameters start);

  /// Sweep number `sweep`, which names its random numbers.
  void sweep(int sweep);

  /// The parts of a sweep, for tests.
  void draw_codes(int sweep);
  void draw_basis(int sweep);
  void draw_scalars(int sweep);

  const BetaProcessParameters& parameters() const { return theta_; }
  const SparseCodes& codes() const { return codes_; }
  const BetaProcessSums& sums() const { return sums_; }
  /// Goes on from these.
  void set(BetaProcessParameters theta) { theta_ = std::move(theta); }
  void set(const Codes& codes) { codes_.assign(codes); }

  double log_joint() const { return gsc::log_joint(theta_, settings_.priors, sums_, residual_); }

 private:
  struct Worker;
  void draw_chunk(Index chunk, int sweep, const CodeModel& model, Worker& worker, BetaProcessSums& sums);
  void draw_shared_rows(int sweep);
  void draw_own_rows(int sweep);

  const Data& data_;
  GibbsSettings settings_;
  BetaProcessParameters theta_;
  SparseCodes codes_;
  BetaProcessSums sums_;
  std::vector<BetaProcessSums> parts_;  // of groups of chunks
  double residual_ = 0;                 // sum |y - W a|^2
  Matrix values_;                       // D x N, as read, if values may be missing
};

}  // namespace gsc
