#pragma once
// Artificial data of the paper's experiments. Models here are drawn from with sample().

#include <gsc/export.h>
#include <gsc/model.h>

#include <string_view>

namespace gsc {

/// Section 5.1 of the paper: H horizontal and vertical bars on a H/2 x H/2 grid with values +-10, two active on
/// average, mu ~ N(0, 5) (a variance of 5), slab variances 1, noise variance 2. `latents` is even.
GSC_EXPORT Model bars_model(Index latents, Random& random);

/// A random orthogonal matrix plus N(0, perturbation^2) in every entry.
GSC_EXPORT Matrix mixing_matrix(Index size, double perturbation, Random& random);

enum class Coefficients { laplace, cauchy };
GSC_EXPORT std::string_view to_string(Coefficients coefficients);
/// y = W x + N(0, noise_std^2) with independent unit-scale coefficients x.
GSC_EXPORT Matrix superposition(const Matrix& W, Coefficients coefficients, double noise_std, Index count,
                                Random& random);

}  // namespace gsc
