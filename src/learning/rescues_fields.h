#pragma once
// The fields of Rescues, listed once: sums, the model file, messages, pages and JSON all follow this list.

#include <gsc/fit.h>

namespace gsc {

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
