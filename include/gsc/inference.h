#pragma once
// The E-step: data and model -> posterior, as sums for learning (Statistics) or point by point (Posterior).

#include <gsc/data.h>
#include <gsc/dictionary.h>
#include <gsc/export.h>
#include <gsc/methods.h>
#include <gsc/model.h>
#include <gsc/types.h>
#include <gsc/watcher.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gsc {

enum class Selection { singleton, conditional };
enum class Precision { double_precision, single_precision };
enum class Missing { error, nan };

/// Exact inference enumerates 2^H states; beyond this many latents it is refused.
inline constexpr Index kMaxExactLatents = 20;
/// Most latents a model may have: candidate indices are stored in 16 bits.
inline constexpr Index kMaxLatents = 65535;

/// What candidates and max_active are where they are left out and there are enough latents.
inline constexpr Index kUsualCandidates = 10, kUsualMaxActive = 5;

/// What computes. options.device = "cuda:1" parses a text, and a device reads as one.
struct GSC_EXPORT Device {
  enum class Kind {
    cpu,        ///< "cpu": the processor
    automatic,  ///< "auto": a GPU if there is one and the work is worth waking it, else the processor
    cuda,       ///< "cuda", "cuda:K": a GPU
    added       ///< any other: one that add_engine() was given under this name
  };
  Kind kind = Kind::cpu;
  int index = -1;  ///< K of cuda:K; -1: whichever can be used
  std::string name = "cpu";

  Device() = default;
  Device(std::string text);                                // NOLINT(google-explicit-constructor)
  Device(const char* text) : Device(std::string(text)) {}  // NOLINT(google-explicit-constructor)
  operator const std::string&() const { return name; }     // NOLINT(google-explicit-constructor)
  friend bool operator==(const Device&, const Device&) = default;
};

struct GSC_EXPORT InferenceOptions {
  /// truncated: the posterior on the states of the candidates. exact: on all states. factored: the latents taken as
  /// independent given the data, for any number of them at once. ksvd, online, feature_sign: sparse codes of a
  /// dictionary, no posterior. beta_process: draws from the posterior, by Gibbs sampling. beta_variational: learns the
  /// same model by variational Bayes and infers as factored does (docs/methods.md).
  Method method = kUsualMethod;
  Index candidates = 0;  ///< H': latents per data point that may be active together; 0: 10, or all if there are fewer
  Index max_active = 0;  ///< gamma: most active latents in one state; 0: 5, or all candidates if there are fewer;
                         ///< of ksvd and online most atoms of a data point, 0: half its dimensions
  /// singleton: the paper's score, each latent alone. conditional: half of them so, the others given those.
  Selection selection = Selection::conditional;
  Precision precision = Precision::double_precision;  ///< of the state sums; totals are always double. Data
  ///< points whose log weights exceed what single can tell apart are done in double all the same
  /// What a NaN in the data is: an error that names row and column, or a value that is missing. Missing values are
  /// integrated out, so posteriors and likelihoods are those of the observed entries (docs/gaps.md); a data point
  /// without any has the prior. Not with full noise.
  Missing missing = Missing::error;
  /// Megabytes for the sums with which each row of W is learned from the data points that have its entry, about 24 D
  /// H(H+1)/2 bytes. Where these are more, W is learned from D H sums, in more iterations.
  Index gap_memory = 1024;
  /// Also sum <s.z><s.z>', which only the paper's own noise update reads.
  bool mean_products = false;
  int threads = 0;       ///< 0: OMP_NUM_THREADS, else the physical cores
  Device device;         ///< one of devices()
  CodingOptions coding;  ///< read by methods that learn a dictionary
  /// beta_process: draws of the code of a data point that are averaged, after as many that are thrown away.
  Index draws = 20;

  /// Throws UsageError naming the first field that does not fit a model with `latents` latents.
  void validate(Index latents) const;
  /// The same with the numbers that 0 stands for in candidates and max_active.
  InferenceOptions resolved(Index latents) const;
};

/// What an E-step leaves behind and all that an M-step reads. Sums over data points, so blocks, threads and
/// machines are joined with +=. <.> is the expectation under the (truncated) posterior.
struct GSC_EXPORT Statistics {
  double count = 0;        ///< N
  double free_energy = 0;  ///< sum_n log sum_{S in K_n} p(y_n, S)
  Vector s;                ///< H        sum <s>
  Vector m;                ///< H        sum <s.z>
  // From here on y stands for y - b, the data less the model's intercept.
  Matrix YZ;  ///< D x H    sum y <s.z>'
  Matrix ZZ;  ///< H x H    sum <(s.z)(s.z)'>
  Matrix YY;  ///< D x 1    sum y.y, or D x D sum y y' for full noise
  Vector y;   ///< D        sum y if the model has an intercept, else empty
  /// H x H    sum <s.z><s.z>' if InferenceOptions::mean_products (not by the factored method), else empty
  Matrix MM;
  // Full slab only, else empty. lambda = Psi_SS^-1 (z_S - mu_S).
  Vector lambda;  ///< H        sum E[lambda]
  Matrix T;       ///< H x H    sum (E[lambda lambda'] - Psi_SS^-1)
  Matrix SS;      ///< H x H    sum <s s'>
  // With InferenceOptions::missing nan only, else empty. Above, y is zero where it is missing. Here are sums over the
  // data points that miss entry d.
  Vector missing;    ///< D        how many
  Matrix missing_m;  ///< D x H    sum <s.z>
  /// H(H+1)/2 x D    sum <(s.z)(s.z)'>, the upper triangle row by row; empty beyond gap_memory, or where all is there
  Matrix missing_ZZ;
  Matrix missing_WZ;  ///< D x H    in its place: sum <(s.z)(s.z)'> w_d, with row d of W
  /// Data points whose state sums met a pivot that rounding had made zero or negative (then clamped).
  std::int64_t clamped_pivots = 0;

  Statistics() = default;
  /// All zero, with the shapes that `model` needs.
  explicit Statistics(const Model& model);
  Statistics& operator+=(const Statistics& other);
};

/// What InferenceOptions::device may be in this program: "cpu", and what was added (gsc/cuda.h, gsc/backend/engine.h).
GSC_EXPORT std::vector<std::string> devices();

/// Factored: sweeps from all zero until nothing moves.
GSC_EXPORT Statistics e_step(const Model& model, const Data& data, const InferenceOptions& options,
                             const StopRequest& stop = {});

struct GSC_EXPORT PosteriorRequest {
  bool variance = false;    ///< posterior variances of s.z
  Index states = 0;         ///< so many most probable states per data point
  bool candidates = false;  ///< the candidate latents of each data point

  /// Throws UsageError naming what the method does not have: of a point estimate there is the mean alone.
  void validate(Method method) const;
};

/// The posterior of each data point. N rows everywhere. Of a point estimate (point_estimate()) there is the mean alone,
/// which is the code; the rest stays empty, and asking for it is a UsageError. Draws (beta_process) give no likelihood.
struct Posterior {
  Matrix mean;         ///< N x H   <s.z>
  Matrix probability;  ///< N x H   P(s_h = 1)
  /// N. Truncated: log sum_{S in K_n} p(y_n, S). Exact: log p(y_n). Factored: a lower bound of it.
  Vector log_likelihood;
  Matrix variance;  ///< N x H   Var(s_h z_h)                       if asked for
  /// Per data point `states` rows of max_active latents, ascending, padded with -1; the most probable state first.
  Table<std::int32_t> states;       ///< N x (states * max_active)
  Matrix state_weights;             ///< N x states, posterior probability of each, 0 beyond the last state there is
  Table<std::int32_t> candidates;   ///< N x H', ascending
  Index max_active = 0;             ///< latents per state in `states`
  std::int64_t clamped_pivots = 0;  ///< as in Statistics
};

/// The posterior of rows first .. first+count-1 (count < 0: to the end).
GSC_EXPORT Posterior infer(const Model& model, const Data& data, const InferenceOptions& options,
                           const PosteriorRequest& request = {}, Index first = 0, Index count = -1,
                           const StopRequest& stop = {});

/// The same of all rows, a chunk at a time, telling how far it is.
GSC_EXPORT Posterior infer(const Model& model, const Data& data, const InferenceOptions& options,
                           const PosteriorRequest& request, Watcher& watcher);

/// How many threads `requested` means here: itself, or for 0 OMP_NUM_THREADS, else the physical cores this
/// process may use.
GSC_EXPORT int thread_count(int requested);

/// What these options infer, for people: "10 candidates, at most 5 active".
GSC_EXPORT std::string posterior_text(const InferenceOptions& options);
/// Whether codes hang on lambda and not on the noise level: those of a lasso do.
GSC_EXPORT bool codes_by_lambda(const InferenceOptions& options);
/// max |W'(y - b)| over data points and latents: with a lambda of that or more all codes of a lasso are zero.
GSC_EXPORT double largest_useful_lambda(const Model& model, const Data& data, Missing missing = Missing::error);

GSC_EXPORT std::string_view to_string(Selection selection);
GSC_EXPORT std::string_view to_string(Precision precision);
GSC_EXPORT std::string_view to_string(Missing missing);

}  // namespace gsc
