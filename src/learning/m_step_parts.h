#pragma once
// Parts of the M-step that the methods share. Each is the best of its parameter given the others.

#include <gsc/fit.h>

#include <vector>

namespace gsc {

inline constexpr double kSmallestPi = 1e-7;

/// Latents that carry any weight; the others keep their parameters.
std::vector<Index> used_latents(const Statistics& statistics, Rescues& rescues);

/// The sums about the data's and the latents' means instead of zero: with these in place of the others, W and Sigma are
/// the best together with the intercept (the model has one).
///
///   ZZ - m m'/N,    YZ - y m'/N,    YY - y y'/N
Statistics centred(const Statistics& statistics);
/// The sums as they are once the intercept has moved by `step`.
void move_intercept(Statistics& statistics, const Vector& step);

/// W = YZ ZZ^-1 on the used columns, the others staying as they are. The equations get a ridge of 1e-9 of ZZ's diagonal
/// that pulls towards the old W: unlike one that pulls to zero it cannot lower the free energy.
Matrix updated_basis(const Matrix& W, const Statistics& statistics, const std::vector<Index>& used);

Vector updated_pi(const Statistics& statistics, Rescues& rescues);

void update_diagonal_slab(const Statistics& statistics, const std::vector<Index>& used, Model& model, Rescues& rescues);

/// N Sigma as D x 1 (its diagonal) or D x D.
Matrix residual_products(const Matrix& W, const Statistics& statistics, Update update);

/// Noise of the old one's type from N Sigma, held above a floor.
Noise updated_noise(const Noise& old, const Matrix& products, const Statistics& statistics, Rescues& rescues);

}  // namespace gsc
