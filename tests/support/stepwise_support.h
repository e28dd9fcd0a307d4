#pragma once
// What the tests of stepwise EM share.

#include <gsc/fit.h>

#include <algorithm>

#include "random_model.h"

namespace gsc::test {

inline FitOptions options_for(const ModelKnobs& knobs, Index batch, int iterations) {
  FitOptions options;
  options.latents = knobs.latents;
  options.noise = knobs.noise;
  options.slab = knobs.slab;
  options.intercept = knobs.intercept ? Intercept::learned : Intercept::none;
  options.inference.candidates = std::min<Index>(4, knobs.latents);
  options.inference.max_active = std::min<Index>(3, knobs.latents);
  options.inference.threads = 1;
  options.batch = batch;
  options.iterations = iterations;
  options.tolerance = 0;
  return options;
}

inline MatrixData data_for(const ModelKnobs& knobs, Index count) {
  return MatrixData(random_data(random_model(knobs, 1), count, 2));
}

/// Keeps the state of one row.
class Keeper final : public Watcher {
 public:
  explicit Keeper(int row) : row_(row) {}
  void on_iteration(const FitState& state) override {
    if (state.history.back().iteration == row_) kept = state;
  }
  bool needs_method_state(const FitState&) override { return true; }
  FitState kept;

 private:
  int row_;
};

}  // namespace gsc::test
