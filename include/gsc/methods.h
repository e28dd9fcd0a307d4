#pragma once
// The methods: ways to learn, and to infer with what was learned (docs/methods.md). What differs from one to the next is
// in its traits, so that nobody who uses methods has to know which ones there are.

#include <gsc/dictionary.h>
#include <gsc/export.h>
#include <gsc/types.h>

#include <optional>
#include <span>
#include <string_view>

namespace gsc {
enum class Method { truncated, exact, factored, ksvd, online, feature_sign, beta_process, beta_variational };
/// Where none is chosen.
inline constexpr Method kUsualMethod = Method::truncated;

/// What learning makes better from iteration to iteration. Its values stand in IterationReport::free_energy.
struct Objective {
  std::string_view name;   ///< in files and JSON: "free_energy"
  std::string_view text;   ///< for people: "free energy"
  bool minimised = false;  ///< less of it is better
  bool mean = false;       ///< over the data points; else it is a sum
};

struct MethodTraits {
  std::string_view word;  ///< for users: "truncated"
  Objective objective;

  /// It infers the posterior of the spike-and-slab model; else it has a model of its own.
  bool spike_and_slab = false;
  /// It sums over states: those of the candidates of a data point, or all.
  bool has_states = false;
  /// It chooses candidates for each data point, on which priors of their own and clusters rest.
  bool has_candidates = false;
  /// It has no posterior, but one code for each data point and nothing of how certain that is.
  bool point_estimate = false;
  /// Codes are drawn, so the objective goes up and down for ever, and a data point has no likelihood.
  bool draws = false;
  /// Of point estimates: what a code is; none: CodingOptions::coding says it.
  std::optional<Coding> coding = {};

  /// It must be told how strong the noise is.
  bool needs_noise_level = false;
  /// The noise may have a covariance.
  bool full_noise = false;
  /// Learning has a prior of the basis functions (FactoredOptions::basis_prior) and goes on from Model::W_variance.
  bool basis_variance = false;
  /// It learns from data points with missing values.
  bool learns_from_gaps = true;
  /// Why it infers nothing from them; empty: it does.
  std::string_view infers_no_gaps = {};
  /// There are devices other than the processor that may have it.
  bool on_devices = false;

  /// Of point estimates: how many patches of a picture denoise() learns from, and in how many iterations.
  Index picture_patches = 0;
  int picture_iterations = 0;
};

GSC_EXPORT const MethodTraits& traits(Method method);

/// In the order in which lists of their words have them.
GSC_EXPORT std::span<const Method> all_methods();

/// Of the spike-and-slab model: that over all states where there are at most so many latents, else that over those of
/// candidates.
GSC_EXPORT Method method_of_states(Index latents, Index exact_up_to);

GSC_EXPORT std::string_view to_string(Method method);

// Questions that are asked often.
inline bool spike_and_slab(Method method) { return traits(method).spike_and_slab; }
inline bool point_estimate(Method method) { return traits(method).point_estimate; }
inline std::string_view objective_name(Method method) { return traits(method).objective.name; }
inline std::string_view objective_text(Method method) { return traits(method).objective.text; }
/// Whether `one` is a better value of the method's objective than `other`.
inline bool better(Method method, double one, double other) {
  return traits(method).objective.minimised ? one < other : one > other;
}

}  // namespace gsc
