#include "distributed/pack_fit.h"

namespace gsc {

Packer& operator<<(Packer& packer, const Model& model) {
  return packer << model.W << model.W_variance << model.pi << model.mu << model.slab.type() << model.slab.values()
                << model.noise.type() << model.noise.dimensions() << model.noise.values();
}

Unpacker& operator>>(Unpacker& unpacker, Model& model) {
  unpacker >> model.W >> model.W_variance >> model.pi >> model.mu;
  const auto slab = unpacker.next<SlabType>();
  const auto slab_values = unpacker.next<Matrix>();
  model.slab = slab == SlabType::full ? Slab::full(slab_values) : Slab::diagonal(slab_values.col(0));
  const auto noise = unpacker.next<NoiseType>();
  const auto dimensions = unpacker.next<Index>();
  const auto noise_values = unpacker.next<Matrix>();
  model.noise = noise == NoiseType::scalar     ? Noise::scalar(noise_values(0, 0), dimensions)
                : noise == NoiseType::diagonal ? Noise::diagonal(noise_values.col(0))
                                               : Noise::full(noise_values);
  return unpacker;
}

Packer& operator<<(Packer& packer, const FitResult& result) {
  const FitState& state = result.state;
  return packer << state.model << state.history << state.slab_acceleration << state.rescues << state.factored.codes
                << state.factored.basis_divergence << state.factored.length_scale << result.reason << result.seconds
                << result.sharing;
}

Unpacker& operator>>(Unpacker& unpacker, FitResult& result) {
  FitState& state = result.state;
  return unpacker >> state.model >> state.history >> state.slab_acceleration >> state.rescues >> state.factored.codes >>
         state.factored.basis_divergence >> state.factored.length_scale >> result.reason >> result.seconds >>
         result.sharing;
}

}  // namespace gsc
