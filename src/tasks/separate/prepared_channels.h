#pragma once
// The channels of a mixture as learning sees them: whitened, or in a unit of their own. What is learned is brought back
// to the channels as they came, so that the model is about those.
//
//   x = m + U y + V e        y: what is learned from, e: directions that are left out, V'V = I, U'V = 0

#include <gsc/separate.h>

#include <string>
#include <vector>

namespace gsc {

/// What becomes of directions in which channels follow from others: an Error, or nothing is left of them.
enum class Dependent { refused, dropped };

struct Whitened {
  Vector mean;            ///< m, of each channel
  Matrix undo;            ///< U, channels x directions
  Matrix redo;            ///< U^+, directions x channels: y = U^+ (x - m)
  Matrix left_out;        ///< V, channels x directions that are not kept
  Vector left_deviation;  ///< standard deviation of each of those
  double log_volume = 0;  ///< log sqrt det(U'U)
  Index dropped = 0;      ///< directions in which the channels follow from each other
};

/// Gives the channels zero mean and the identity as covariance; returns what undoes it. With fewer than as many
/// `directions` only the strongest are kept. `name` is what an error calls the mixture.
Whitened whiten(Matrix& mixture, const std::string& name, Index directions, Dependent dependent);

struct Prepared {
  Matrix channels;                      ///< directions x samples
  std::optional<Whitened> white;        ///< how they were whitened
  double unit = 1;                      ///< of the channels; otherwise
  std::vector<std::string> notes = {};  ///< what was left out
};

Prepared whitened_channels(const Matrix& mixture, Index latents, Dependent dependent);

/// In a unit of their own, so that starts fit whatever unit they came in.
Prepared scaled_channels(const Matrix& mixture);

/// What was learned from `from`, for the channels as they came: model, noise of the history, free energies.
void bring_back(const Prepared& from, Separation& separation);

}  // namespace gsc
