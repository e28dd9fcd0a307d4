#pragma once
// What the E-step needs of a model, computed once per iteration. D never appears after this.
//
//   y is the data less the model's intercept
//   G = W'PW, P = Sigma^-1           J = G + diag(1/psi)
//   t_h = 1/sqrt(J_hh)               the unit in which latent h is measured from here on: z = t z^
//   J^  = t J t                      unit diagonal, so all pivots of the subset tree lie in (0, 1]
//   eta^ = t (W'P y + mu/psi)        = Y projection + eta_offset, one matrix product for a block of data
//   a_h = logit pi_h - 1/2 log(psi_h J_hh) - 1/2 mu_h^2/psi_h        so that log p(y,{h}) = c(y) + a_h + eta^_h^2/2
//
// For a full slab psi is the diagonal of Psi; J^ and a then serve selection and singletons, and the tree of
// full_slab_tree works on G^ = t G t, Psi^ = Psi/(t t'), mu^ = mu/t.
//
// Arrays over latents are padded with inert latents (weight zero) to a multiple of kPadding, so that vector loops need
// no tail.

#include <gsc/inference.h>

#include <memory>

#include "inference/limits.h"
#include "math/blas.h"

namespace gsc {

/// Floats in the widest vector we use.
inline constexpr Index kPadding = 16;
struct GapModel;

struct PreparedModel {
  PreparedModel(const Model& model, const InferenceOptions& options);

  Index dimensions, latents;
  Index padded;  ///< latents rounded up to kPadding
  int candidates, max_active;
  Selection selection;
  Precision precision;
  bool full_slab;
  /// Run data points with equal candidates through the shared tree: where clusters can be expected, and the tree is
  /// small enough to be stored.
  bool share_clusters;

  Vector intercept;              ///< b, or empty
  Vector scale;                  ///< t
  Matrix projection;             ///< D x padded
  Vector eta_offset;             ///< padded
  Vector a;                      ///< padded; very negative in the padding
  Eigen::VectorXf score_offset;  ///< padded; a - logit pi, for selection
  Matrix J;                      ///< latents x padded
  SingleMatrix J_single;         ///< latents x padded
  /// sum_h log(1 - pi_h) - 1/2 (D log 2 pi + log|Sigma|); log p(y,S) = constant - 1/2 y'Py + log weight of S
  double constant;

  Vector logit_pi;  ///< latents
  // Full slab only.
  Vector slab_mean;   ///< latents; mu^
  Matrix gram, slab;  ///< latents x latents; G^ and Psi^
  /// Only where values may be missing, else null.
  std::shared_ptr<const GapModel> gaps;
};

}  // namespace gsc
