#pragma once
// The noise under the texture of a picture that is not smooth anywhere: white noise has the same energy at all
// frequencies, texture has less the higher they are.
//
//   e_nr    energy of block n in ring r = u + v of its cosine transform, r = 2..2n-2: the sum of d_r squared
//   coefficients
//
//   p(e_n) = sum_g pi_g prod_r v_gr^(-d_r / 2) exp(-e_nr / (2 v_gr))          blocks: a mixture of Gaussians
//   v_gr   = sigma^2 + sum_l theta_gl phi_lr,  theta >= 0                     one floor, and spectra above it:
//   phi_lr = exp(-lambda_l (r - 2)), and 1 for each of the coarsest rings alone
//
// Learned by EM: the posteriors of the classes g weigh the energies of the blocks, whose means m_gr are fitted in
// maximum likelihood by the multiplicative steps of non-negative matrices (Fevotte, Bertin and Durrieu 2009, of the
// distance of Itakura and Saito)
//
//   theta_gl <- theta_gl (sum_r pi_g d_r m_gr phi_lr / v_gr^2) / (sum_r pi_g d_r phi_lr / v_gr),  sigma^2 alike.
//
// What is not seen is how slowly the texture decays that is hidden in the noise: the less of it there is, the slower.
// The slowest of the lambda_l is taken for a share of how fast the mean spectrum decays, in which the strongest texture
// is seen, tempered with what is usual (gsc_bench_noise rates prints the errors for other values). How much the floor
// moves where it is a fifth less or more is a part of the error that is told.

#include "tasks/noise/cosine_blocks.h"

namespace gsc {

struct SpectrumFloor {
  double variance = 0;
  double error = 0;  ///< relative, of the standard deviation
};

/// The least of lambda_l as it usually is, in blocks of 8 x 8; the others are two, four and eight times as much.
inline constexpr double kSlowestDecay = 0.28;

/// Of the blocks in so many of the rows of `rings`, whose energies are finite, and not all of them zero.
SpectrumFloor spectrum_floor(const CosineBlocks& blocks, const std::vector<Index>& rows,
                             double usual_decay = kSlowestDecay);

}  // namespace gsc
