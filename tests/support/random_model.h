#pragma once
// Seeded random models and data for the tests, with knobs for the cases that break careless arithmetic.

#include <gsc/model.h>

#include <iosfwd>
#include <string>
#include <vector>

namespace gsc::test {

struct ModelKnobs {
  Index dimensions = 4;
  Index latents = 4;
  NoiseType noise = NoiseType::scalar;
  SlabType slab = SlabType::diagonal;
  bool intercept = false;
  double pi_low = 0.15;  ///< pi is uniform between the two
  double pi_high = 0.7;
  double noise_std = 0.7;
  double slab_variance = 1;  ///< typical; the slab's variances lie around it
  /// > 0: columns of W differ from one another by this much only, so that J_SS is nearly singular where the slab is
  /// broad (J = W' Sigma^-1 W + Psi^-1).
  double column_spread = 0;
};

/// "D=4 H=3 full noise, diagonal slab": to find a failing case again.
std::string describe(const ModelKnobs& knobs);
std::ostream& operator<<(std::ostream& out, const ModelKnobs& knobs);

/// "FullNoiseDiagonalSlab": the types alone, as part of a test's name.
std::string type_name(const ModelKnobs& knobs);

Model random_model(const ModelKnobs& knobs, std::uint64_t seed);

/// Points drawn from the model (written here, so that gsc::sample is not its own judge), times `scale`.
Matrix random_data(const Model& model, Index count, std::uint64_t seed, double scale = 1);

/// The six combinations of noise and slab types, without and with intercept, with the dimensions given.
std::vector<ModelKnobs> every_type(Index dimensions, Index latents);

/// Entry by entry normal.
Matrix normal_matrix(Index rows, Index cols, Random& random);

}  // namespace gsc::test
