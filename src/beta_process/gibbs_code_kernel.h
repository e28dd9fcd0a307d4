#pragma once
// The inner loops of code_sampler.h, compiled for every SIMD target. Arrays need no alignment.

#include <cstddef>
#include <cstdint>

namespace gsc {

/// t_h of code_sampler.h for `count` latents: (logit u - offset) 2 precision / noise_precision^2, where u are the
/// numbers that CounterRandom::leave_out() left out. `thresholds` must be none of the others.
void code_thresholds(std::size_t count, std::uint64_t random, const double* offset, const double* precision,
                     double noise_precision, double* thresholds);

/// The precisions v = slab + noise * own and offsets logit_pi + 1/2 log(slab / v) of a data point with missing values.
void code_precisions(std::size_t count, const double* own, const double* logit_pi, const double* slab, double noise,
                     double* precision, double* offset);

/// The first latent from `begin` on that is on or that is switched on: code != 0 or (c + code own)^2 > t; `count` if
/// there is none.
std::size_t next_event(std::size_t begin, std::size_t count, const double* correlations, const double* code,
                       const double* own, const double* thresholds);

/// values -= factor * row
void subtract(std::size_t count, double factor, const double* row, double* values);

/// sum a b
double dot(std::size_t count, const double* a, const double* b);

}  // namespace gsc
