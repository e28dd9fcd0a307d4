#pragma once
// Models and sums between gsc and the device.

#include <gsc/inference.h>

#include "cuda/maximisation.h"

namespace gsc::cuda {

HostModel to_host_model(const Model& model);
Model from_host_model(const HostModel& model);

/// The device's sums, of the shapes that the model and the options give, as Statistics. Count and free energy are left
/// to the caller.
Statistics to_statistics(const DeviceSums& sums, const Model& model, bool mean_products);
std::vector<double> from_statistics(const Statistics& statistics);

/// Full noise as the device holds it.
FullNoise to_full_noise(const Noise& noise);

}  // namespace gsc::cuda
