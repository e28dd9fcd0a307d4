#pragma once
// Artificial data of the paper's experiments. Models here are drawn from with sample().

#include <gsc/model.h>

#include <string_view>

namespace gsc {
#pragma GCC visibility push(default)  // this is what a shared library shows

/// Section 5.1 of the paper: H horizontal and vertical bars on a H/2 x H/2 grid with values +-10, two active on
/// average, mu ~ N(0, 5) (a variance of 5), slab variances 1, noise variance 2. `latents` is even.
Model bars_model(Index latents, Random& random);

/// A random orthogonal matrix plus N(0, perturbation^2) in every entry.
Matrix mixing_matrix(Index size, double perturbation, Random& random);

enum class Coefficients { laplace, cauchy };
std::string_view to_string(Coefficients coefficients);
/// y = W x + N(0, noise_std^2) with independent unit-scale coefficients x.
Matrix superposition(const Matrix& W, Coefficients coefficients, double noise_std, Index count, Random& random);

#pragma GCC visibility pop
}  // namespace gsc
