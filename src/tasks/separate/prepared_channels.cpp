#include "tasks/separate/prepared_channels.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "math/eigen_pairs.h"
#include "math/number_text.h"

namespace gsc {

Whitened whiten(Matrix& mixture, const std::string& name, Index directions, Dependent dependent) {
  Whitened result;
  result.mean = mixture.rowwise().mean();
  mixture.colwise() -= result.mean;
  const double size = mixture.cwiseAbs().maxCoeff();  // squares of large numbers overflow
  mixture /= size;
  const auto [variances, axes] = eigen_pairs(mixture * mixture.transpose() / static_cast<double>(mixture.cols()));
  const Index channels = mixture.rows();
  result.dropped = (variances.array() <= 1e-12 * variances[channels - 1]).count();
  if (result.dropped > 0 && dependent == Dependent::refused)
    throw Error(name + ": " + std::to_string(result.dropped) + " of " + std::to_string(channels) +
                " channels follow from the others, so they cannot be made uncorrelated; leave that many out, or do not "
                "whiten");
  const Index kept = std::min(directions, channels - result.dropped);
  const Vector deviations = variances.tail(kept).cwiseSqrt();
  const Matrix strongest = axes.rightCols(kept);
  // All of them: turned back, so that a channel is still mostly itself.
  const Matrix turn = kept == channels ? strongest : Matrix(Matrix::Identity(kept, kept));
  result.redo = turn * deviations.cwiseInverse().asDiagonal() * strongest.transpose();
  mixture = (result.redo * mixture).eval();
  result.redo /= size;
  result.undo = size * strongest * deviations.asDiagonal() * turn.transpose();
  result.left_out = axes.leftCols(channels - kept);
  result.left_deviation = size * variances.head(channels - kept).cwiseMax(0).cwiseSqrt();
  result.log_volume = static_cast<double>(kept) * std::log(size) + deviations.array().log().sum();
  return result;
}

Prepared whitened_channels(const Matrix& mixture, Index latents, Dependent dependent) {
  Prepared prepared{mixture, {}, 1};
  prepared.white = whiten(prepared.channels, "the mixture", latents, dependent);
  const Whitened& made = *prepared.white;
  if (made.dropped > 0)
    prepared.notes.push_back(std::to_string(made.dropped) + " of " + std::to_string(mixture.rows()) +
                             " channels follow from the others; those directions were left out");
  if (const Index left = mixture.rows() - made.dropped - made.undo.cols(); left > 0)
    prepared.notes.push_back("there are more channels than sources to find: the " + std::to_string(left) +
                             " weakest directions were left out");
  return prepared;
}

Prepared scaled_channels(const Matrix& mixture) {
  Prepared prepared;
  const double largest = mixture.cwiseAbs().maxCoeff();  // squares of large numbers overflow
  prepared.channels = mixture / largest;
  const Matrix centred = prepared.channels.colwise() - prepared.channels.rowwise().mean();
  const double deviation = std::sqrt(centred.squaredNorm() / static_cast<double>(centred.size()));
  prepared.channels /= deviation;
  prepared.unit = largest * deviation;
  return prepared;
}

namespace {

/// What the model of the other channels needs, and how the free energy of a data point changes.
struct Change {
  double noise_factor = 1, noise_offset = 0;  ///< mean variance of the noise, factor times what it was plus this
  double free_energy = 0;
};

/// Of y to unit y: a density per unit becomes one per the other unit.
Change bring_back(double unit, Model& model) {
  model.W *= unit;
  model.W_variance *= unit * unit;
  model.intercept *= unit;
  model.noise = model.noise.scaled(unit * unit);
  return {unit * unit, 0, -static_cast<double>(model.dimensions()) * std::log(unit)};
}

/// Of y to x = m + U y + V e, where e ~ N(0, Lambda) with the variances that the data has there:
///
///   W_x = U W    b_x = m + U b    Sigma_x = U Sigma U' + V Lambda V'    log p(x) = log p(y) - log sqrt det(U'U) + log
///   N(e)
///
/// As U'V = 0, e says nothing of the latents, and their posterior stays what it was. Where channels follow from each
/// other there is no variance; a small part of the noise stands in for it.
Change bring_back(const Whitened& white, Model& model) {
  constexpr double kStandIn = 1e-6;
  const auto channels = static_cast<double>(white.undo.rows());
  Matrix noise = white.undo * model.noise.covariance() * white.undo.transpose();
  const Vector given = white.left_deviation.array().square();
  const Vector variances = given.cwiseMax(kStandIn * noise.trace() / channels);
  noise += white.left_out * variances.asDiagonal() * white.left_out.transpose();
  const Change change{
      white.undo.squaredNorm() / channels, variances.sum() / channels,
      -white.log_volume -
          0.5 * ((2 * std::numbers::pi * variances.array()).log() + given.array() / variances.array()).sum()};
  const Vector level =
      model.intercept.size() > 0 ? Vector(white.undo * model.intercept) : Vector::Zero(white.mean.size());
  model.intercept = white.mean + level;
  model.W = (white.undo * model.W).eval();
  model.W_variance.resize(0, 0);  // of directions that are channels no more
  model.noise = Noise::full((noise + noise.transpose()) / 2);
  return change;
}

}  // namespace

void bring_back(const Prepared& from, Separation& separation) {
  FitState& state = separation.fit.state;
  const Change change = from.white ? bring_back(*from.white, state.model) : bring_back(from.unit, state.model);
  const double shift = change.free_energy * static_cast<double>(from.channels.cols());
  for (IterationReport& row : state.history) {
    row.free_energy += shift;
    // Exact for scalar noise, of which the history knows all.
    row.noise_std = std::sqrt(change.noise_factor * row.noise_std * row.noise_std + change.noise_offset);
  }
  state.history.back().noise_std = std::sqrt(state.model.noise.mean_variance());
  for (double& free_energy : separation.free_energies) free_energy += shift;
}

}  // namespace gsc
