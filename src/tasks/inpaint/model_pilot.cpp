#include "tasks/inpaint/model_pilot.h"

#include <gsc/missing.h>

#include <algorithm>
#include <cmath>

#include "inference/cost_model.h"
#include "inference/limits.h"
#include "tasks/picture/patches.h"
#include "tasks/picture/pixel_units.h"

namespace gsc {
namespace {

/// Patches with gaps, less the means that they have in a picture without.
class CentredPatches final : public Data {
 public:
  CentredPatches(const Picture& damaged, const Picture& guess, const PatchPositions& positions)
      : patches_(damaged, positions, false), guessed_(guess, positions, true) {}
  Index rows() const override { return patches_.rows(); }
  Index cols() const override { return patches_.cols(); }
  std::string name() const override { return patches_.name(); }
  void read(Index first, Eigen::Ref<Matrix> block) const override {
    patches_.read(first, block);
    add_means(block, -means(first, block.rows()));
  }
  Matrix means(Index first, Index count) const {
    Matrix patches(count, cols()), result;
    guessed_.read(first, patches, result);
    return result;
  }

 private:
  PatchData patches_, guessed_;
};

constexpr Index kParts = 20, kRows = 50;  // of patches that tell whether the model is of patches without means
constexpr Index kTogether = 4096;         // patches that are inferred at once

/// Patches a quarter of their side apart.
PatchPositions positions_for(const Picture& damaged, Index patch) {
  return grid_positions(damaged.height(), damaged.width(), patch, std::max<Index>(1, patch / 4));
}

/// How many patches are done, of all that will be, and whether to go on.
class Watch {
 public:
  Watch(Index patches, const std::function<bool(double)>& stop_at)
      : all_(static_cast<double>(patches + 2 * std::min(patches, kParts * kRows))), stop_at_(stop_at) {}

  void done(Index patches) { done_ += static_cast<double>(patches); }
  /// While patches are inferred, too, on one of the threads.
  StopRequest stop() const {
    return [this] {
      if (stop_at_ && stop_at_(done_ / all_)) throw Interrupted("interrupted while inpainting");
      return false;
    };
  }

 private:
  double all_, done_ = 0;
  const std::function<bool(double)>& stop_at_;
};

/// Of some of the patches, spread over the picture.
double log_likelihood(const PatchModel& of, const Data& data, const InferenceOptions& options, Watch& watch) {
  double total = 0;
  for (Index part = 0; part < kParts; ++part) {
    const Index first = part * data.rows() / kParts, count = std::min(kRows, data.rows() - first);
    total += infer(of.model, data, options, {}, first, count, watch.stop()).log_likelihood.sum();
    watch.done(count);
  }
  return total;
}

}  // namespace

Index patch_of_model(const PatchModel& of, const Picture& picture) {
  const Model& model = of.model;
  if (!spike_and_slab(of.inference.method))
    throw UsageError("the model is of the " + std::string(to_string(of.inference.method)) +
                     " method, whose guesses do not say how certain they are; learn one with the truncated or factored "
                     "method");
  const auto channels = static_cast<Index>(picture.channels.size());
  const Index D = model.dimensions();
  const auto side = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(D) / static_cast<double>(channels))));
  if (side < 1 || side * side * channels != D)
    throw UsageError("the model has " + std::to_string(D) + " dimensions, which are not those of patches of P x P x " +
                     std::to_string(channels) + " values, as the picture has; learn one of such patches");
  if (side > std::min(picture.height(), picture.width()))
    throw UsageError("the model is of patches of " + std::to_string(side) + " x " + std::to_string(side) +
                     " pixels, but the picture has only " + size_text(picture));
  if (model.noise.type() == NoiseType::full)
    throw UsageError(
        "the model's noise is full, and what is missing then has no noise of its own to leave out; learn one with "
        "noise "
        "scalar or diagonal");
  return side;
}

Picture model_guess(const Picture& damaged, const PatchModel& of, const Picture& guess, int threads,
                    const std::function<bool(double)>& stop_at) {
  const Index patch = patch_of_model(of, damaged);
  const auto channels = static_cast<Index>(damaged.channels.size());
  const PatchPositions positions = positions_for(damaged, patch);
  InferenceOptions options = of.inference;
  options.missing = Missing::nan;
  options.threads = threads;
  options.device = "cpu";
  const PatchData plain(damaged, positions, false);
  const CentredPatches centred(damaged, guess, positions);
  Watch watch(plain.rows(), stop_at);
  const bool without_means = log_likelihood(of, centred, options, watch) > log_likelihood(of, plain, options, watch);
  const Data& data = without_means ? static_cast<const Data&>(centred) : plain;

  const Matrix zeros = Matrix::Zero(damaged.height(), damaged.width());
  std::vector<Matrix> sums(damaged.channels.size(), zeros), weights = sums;
  for (Index first = 0; first < data.rows(); first += kTogether) {
    const Index count = std::min(kTogether, data.rows() - first);
    Imputed imputed = impute(of.model, data, options, {.calibrate = false}, first, count, watch.stop());
    watch.done(count);
    if (without_means) add_means(imputed.mean, centred.means(first, count));
    for (Index i = 0; i < count; ++i) {
      const PatchPositions::Corner corner = positions[first + i];
      for (Index k = 0; k < data.cols(); ++k) {
        const double std = imputed.std(i, k);
        if (std == 0) continue;  // observed
        const auto channel = static_cast<std::size_t>(k % channels);
        const Index row = corner.row + k / channels / patch, col = corner.col + k / channels % patch;
        sums[channel](row, col) += imputed.mean(i, k) / (std * std);
        weights[channel](row, col) += 1 / (std * std);
      }
    }
  }
  Picture result = guess;
  for (std::size_t c = 0; c < sums.size(); ++c)
    result.channels[c] = (weights[c].array() > 0).select(sums[c].cwiseQuotient(weights[c]), guess.channels[c]);
  return result;
}

double model_guess_seconds(const Picture& damaged, const PatchModel& of, int threads) {
  const Index H = of.model.latents();
  const double products = static_cast<double>(of.model.dimensions() * H);
  const double each =
      traits(of.inference.method).has_states
          ? kCosts.gap_point + kCosts.gap_product * products + kCosts.gap_state * state_space(of.inference, H).states()
          : kCosts.gap_factored * products;
  const Index patches = positions_for(damaged, patch_of_model(of, damaged)).size();
  return 1e-9 * static_cast<double>(patches + 2 * std::min(patches, kParts * kRows)) * each / thread_count(threads);
}

}  // namespace gsc
