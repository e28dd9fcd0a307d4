#pragma once
// The E-step on a device, in one precision: the kernels in their order, over blocks of data points. The class is in four
// files: expectation.cpp (a pass), expectation_memory.cpp (work space, model and data there), expectation_output.cpp
// (what a pass gives point by point) and expectation_own.cpp (priors of their own).
//
//   eta   = Y projection                      a matrix product
//   select_kernel.h                           candidates, the weights of the latents outside
//   tree_kernel.h                             moments on the candidates, log sums
//   SingletonKernel                           means in place of eta, sums of the latents outside
//   ProductKernel, ReduceKernel               sums of <(s.z)(s.z)'>
//   YZ   += Y' means                          a matrix product in pieces, added up in order
//
// Y is the data less an origin; with delta = origin - intercept, y - b = Y + delta. All in the scaled units of
// PreparedModel. A block is as many rows as keep eta within the cache of a large GPU.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "cuda/device_sums.h"
#include "cuda/mosaic.h"

namespace gsc::cuda {

inline long rounded_up(long value, long unit) { return (value + unit - 1) / unit * unit; }
inline long pieces(long value, long size) { return (value + size - 1) / size; }

/// Which states a posterior is on.
struct Truncation {
  int candidates, max_active;
  bool conditional;
};

/// The sums that a pass wants beside those that all need.
struct Wanted {
  bool full_squares = false;   ///< YY as D x D
  bool mean_products = false;  ///< MM
};

/// Priors of their own (own_prior_kernel.h), of all data points of a pass point by point: lists on the host.
struct OwnLists {
  double pseudo_counts = 0;
  int most = 0;                          ///< neighbours that a data point has at most
  std::vector<std::uint32_t> rows;       ///< count x most: rows of what set_before() was given
  std::vector<std::int32_t> neighbours;  ///< count: how many
  std::vector<double> log_off;           ///< count; out, where squares are wanted: sum_h log(1 - pi_n)
};

/// Posteriors on the candidates, count x K, the most promising first. Not scaled.
struct SparseOutput {
  std::uint16_t* candidates;
  float *probability, *mean, *second_moment;
};

/// What is wanted of each data point of a block; null: nothing. Numbers are scaled.
struct BlockOutput {
  double* mean = nullptr;               ///< count x H
  double* probability = nullptr;        ///< count x H
  double* second_moment = nullptr;      ///< count x H
  double* log_sums = nullptr;           ///< count
  double* squares = nullptr;            ///< count: y'Py, with what set_weights() was given
  std::int64_t* clamped = nullptr;      ///< one: gets how many met a pivot that was lost to rounding added
  std::uint16_t* candidates = nullptr;  ///< count x K, by position
  SparseOutput* sparse = nullptr;
  Mosaic* mosaic = nullptr;       ///< where they are put back as patches
  long first = 0;                 ///< of the data points: which row of the data it is
  bool candidates_alone = false;  ///< no other latent may be active by itself; there are no means then
  OwnLists* own = nullptr;        ///< then with candidates_alone
  /// Calls body(n) for 0 <= n < count on the host's threads; null: on one.
  std::function<void(long count, const std::function<void(long)>& body)> each_row = {};
};

/// Most latents for which kernels find room in so many bytes of shared memory that a block may have: those of a pass
/// for sums, and of one with priors of their own.
long most_latents(std::size_t block_bytes, bool own_priors);

template <class Real>
class Expectation {
 public:
  /// `resident` rows are kept on the device; 0: blocks come from the host each time. `most_rows`: in a block, 0 lets it
  /// choose.
  Expectation(Queue& queue, int dimensions, long resident, long most_rows = 0);
  ~Expectation();
  Expectation(const Expectation&) = delete;
  Expectation& operator=(const Expectation&) = delete;

  /// Rows of a block.
  long block_rows(int latents) const;
  /// Bytes that work space for this model takes, beside the data.
  std::size_t bytes(int latents, int candidates) const;

  /// A model that is prepared.
  void set_model(const DeviceModel& model, const Truncation& truncation);
  /// For squares: y'Py = sum_d weight_d (x_d + offset_d)^2 with x = Y root (D x D, row-major), or Y if root is empty.
  void set_weights(const std::vector<double>& root, const std::vector<double>& offset,
                   const std::vector<double>& weight);

  /// Posteriors on their candidates (rows x candidates) of data points that are neighbours, not scaled.
  void set_before(long rows, int candidates, const std::uint16_t* chosen, const float* probability, const float* mean,
                  const float* second_moment);

  /// Memory of the host, for a block of rows less the origin, that may be filled now; then `bring` takes it to the
  /// device: to row `first` of the resident ones, or to be the next block. The next two blocks use different memory.
  Real* staging();
  void bring(long first, long count);
  /// Where a block is to be that is made on the device: `first` as with bring().
  Real* place(long first);

  /// Before a pass over so many data points: for sums, or for output point by point alone.
  /// `all_resident`: it will be all resident rows, in their order, whose own sums are then computed once.
  void begin(const Wanted& wanted, long points, bool all_resident = false);
  void begin_points(long points);
  /// The next block of such a pass begins with this one of its data points.
  void go_to(long point) { done_ = point; }
  /// Adds the rows first .. first+count-1 of the resident data, or those of the list (resident rows as well), or the
  /// block brought last, to the sums. `output` unless null: also this.
  void add_resident(long first, long count, const BlockOutput* output = nullptr);
  void add_listed(const std::int64_t* list, long count);
  void add_brought(long count, const BlockOutput* output = nullptr);
  /// After a pass: its sums, on the device.
  Totals totals();
  /// Adds what the posteriors of another pass, over data points that this one left undone, add to the sums.
  void add_posteriors(const Totals& other);
  /// Which data points of the pass are left undone, counted from its beginning.
  std::vector<long> undone();

 private:
  void work_space(int latents, const Truncation& truncation);
  void block(const Real* Y, long count, const BlockOutput* output);
  void own_sums(const Real* Y, long count);
  void own_priors(long count, const OwnLists& own);
  void own_units(long count, OwnLists& own, bool log_off);
  void select(long count, bool own);
  void tree(long count, const BlockOutput* output);
  void outside(long count);
  void products(long count);
  void cross_products(const Real* Y, long count, const Real* other, int other_stride, int columns, double* target);
  template <class From>
  void reduce(const From* parts, long count, long step, long part_count, double* target);
  void give(const Real* Y, long count, const BlockOutput& output);
  void keep_candidates(long count);
  void give_sparse(long count, const SparseOutput& output);

  Queue& queue_;
  int dimensions_;
  long resident_, most_rows_, rows_ = 0;
  int latents_ = 0, stride_ = 0, candidates_ = 0, max_active_ = 0;
  bool conditional_ = false, summing_ = false;
  bool squares_known_ = false, keep_squares_ = false, known_full_ = false;
  Array<double> known_;  // y, yy and YY of all resident data
  Wanted wanted_;
  long points_ = 0, done_ = 0;

  Array<Real> Y_, staged_[2], gathered_;
  Real* pinned_[2] = {};
  std::size_t pinned_size_ = 0;
  int slot_ = 0;
  Array<std::int64_t> list_;

  const DeviceModel* model_ = nullptr;
  Array<Real> projection_, eta_offset_, a_, J_;
  Array<float> score_offset_, J_single_, select_memory_;
  Array<Real> root_, square_offset_, square_weight_;
  bool has_root_ = false;

  Array<Real> eta_, best_, outside_, moments_, log_sums_, probability_, second_moment_, cross_;
  Array<std::uint16_t> chosen_, before_chosen_, kept_;
  Array<float> kept_moments_[3];        // probability, mean, second moment
  Array<float> before_[3], own_score_;  // the first: probability, mean, second moment
  int before_candidates_ = 0;
  Array<std::uint32_t> own_rows_;
  Array<std::int32_t> own_counts_;
  Array<Real> own_a_, own_tau_, no_offset_;
  Array<double> own_off_;
  Array<std::uint32_t> members_, clamped_;
  Array<double> partial_, products_, spans_, scalar_parts_, squares_;
  /// Sums, one behind the other: scalars (3), singletons (3 x stride), candidates (2 x stride), y and yy (2 x D), ZZ
  /// (H x stride), YZ (D x stride), YY (D x D), MM (H x stride).
  Array<double> totals_;
  struct Layout {
    long scalars, singletons, candidates, columns, ZZ, YZ, YY, MM, size;
  } layout_{};
};

}  // namespace gsc::cuda
