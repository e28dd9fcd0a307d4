#pragma once
// What learning had to mend, and the list of it that sums, model files, messages, pages and JSON follow.

#include <gsc/export.h>

#include <cstddef>
#include <cstdint>

namespace gsc {

/// What the M-step had to do beyond the plain formulas, and how often. Nothing here happens silently.
struct GSC_EXPORT Rescues {
  std::int64_t unused_latents = 0;  ///< columns of W, mu, slab kept because nobody used the latent
  std::int64_t floored_pi = 0;      ///< pi held in [1e-7, 1 - 1e-7]
  std::int64_t floored_slab = 0;    ///< slab variances or eigenvalues held above their floor
  std::int64_t floored_noise = 0;   ///< noise variances or eigenvalues held above their floor
  std::int64_t slab_fallbacks = 0;  ///< full slab: the fast step was replaced by the plain EM step
  std::int64_t clamped_pivots = 0;  ///< data points with a numerically singular state in the E-step
  std::int64_t gap_fallbacks = 0;   ///< missing values: the long step for W was made shorter
  std::int64_t replaced_atoms = 0;  ///< of a dictionary: hardly used, or as good as equal to another
  Rescues& operator+=(const Rescues& other);
  std::int64_t total() const;
};

/// Calls visit(pointer to the member, name, what happened in plain words) for each field.
template <class Visit>
constexpr void for_each_rescue(Visit visit) {
  using R = Rescues;
  visit(&R::unused_latents, "unused_latents", "latents that no data point used kept their old values");
  visit(&R::floored_pi, "floored_pi", "activation probabilities were held away from 0 and 1");
  visit(&R::floored_slab, "floored_slab", "amplitude variances were held above zero");
  visit(&R::floored_noise, "floored_noise", "noise variances were held above zero");
  visit(&R::slab_fallbacks, "slab_fallbacks", "the fast step for the full slab was replaced by the slower safe one");
  visit(&R::clamped_pivots, "clamped_pivots", "data points had a numerically singular state");
  visit(&R::gap_fallbacks, "gap_fallbacks", "the long step over missing values was made shorter");
  visit(&R::replaced_atoms, "replaced_atoms", "atoms that were hardly used, or equal to another, became data points");
}

static_assert(
    [] {
      std::size_t bytes = 0;
      for_each_rescue([&](auto, const char*, const char*) { bytes += sizeof(std::int64_t); });
      return bytes;
    }() == sizeof(Rescues),
    "a field of Rescues is not in the list");

}  // namespace gsc
