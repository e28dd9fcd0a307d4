#pragma once
// What work takes: nanoseconds of one core. The number of threads that a block of work is worth, the choice of a device
// (cuda/worth_waking.h), and what denoising and inpainting are guessed to take follow from these, and nothing else has
// constants of its own. `gsc_bench_cost` measures each on the machine at hand and prints it beside the one here, which
// is of a core of 2023 (docs/performance.md).
//
// N: data points, D: dimensions, H: latents, |K|: states of a data point. An E-step takes
//
//   N (2 D H product + |K| state + H singleton)

namespace gsc {

struct CostModel {
  // A multiply-add of a product of large matrices.
  double product = 0.05, product_single = 0.025;
  // Truncated posteriors: a state; a latent outside the candidates; a latent of the selection, for every candidate.
  double state = 2.5, state_single = 1;
  double singleton = 5, singleton_conditional = 8;
  double selection_single = 0.75;
  // The same where values are missing: a data point, a number of W, a state; a number of W of the factored method.
  double gap_point = 30e3, gap_product = 6, gap_state = 4, gap_factored = 180;
  // Sparse codes: a data point, and a number of the dictionary.
  double code = 3e3, code_product = 0.4;
  // The Beta process: a data point in a sweep, and a latent of it, beside two products.
  double sweep_point = 1e3, sweep_latent = 10;
  // Patches: a value cut out and put back.
  double patch_value = 12.5;
  // Groups of patches: a difference of two pixels while patches are compared, a position in the window, a value that is
  // gathered for the group, a multiply-add of its small matrices.
  double difference = 0.03, position = 1.25, group_value = 0.25, group_product = 0.03;
  // The same in a picture with gaps, where each patch is a system of its own; a difference in a deep hole.
  double gap_difference = 0.12, gap_position = 5, gap_value = 2, gap_group_product = 0.15, hole_difference = 0.2;
};

inline constexpr CostModel kCosts;

}  // namespace gsc
