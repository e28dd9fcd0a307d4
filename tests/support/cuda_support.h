#pragma once
// The device "device" for tests: the GPU's engine on the emulation or, in gsc_gpu_tests, on a GPU.

#include <gsc/backend/engine.h>
#include <gsc/picture.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cuda/device_engine.h"
#include "inference_check.h"
#include "random_model.h"

namespace gsc::test {

inline cuda::Limits limits_of_tests;

class OnADevice : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    add_engine("device", [](const Data& data, const InferenceOptions& options) {
      return std::make_unique<cuda::DeviceEngine>(data, options, 0, limits_of_tests);
    });
  }
  void SetUp() override { limits_of_tests = {}; }
};

inline InferenceOptions on_device(InferenceOptions options) {
  options.device = "device";
  return options;
}
inline InferenceOptions in_single(InferenceOptions options) {
  options.precision = Precision::single_precision;
  return options;
}

/// Diagonal slabs, all noises, without and with intercept.
inline std::vector<ModelKnobs> diagonal_slabs(Index dimensions, Index latents) {
  std::vector<ModelKnobs> all = every_type(dimensions, latents);
  std::erase_if(all, [](const ModelKnobs& knobs) { return knobs.slab == SlabType::full; });
  return all;
}

inline double largest_difference(const Picture& a, const Picture& b) {
  double largest = 0;
  for (std::size_t c = 0; c < a.channels.size(); ++c)
    largest = std::max(largest, (a.channels[c] - b.channels[c]).cwiseAbs().maxCoeff());
  return largest;
}

}  // namespace gsc::test
