#include "learning/pack_fit.h"

namespace gsc {

Packer& operator<<(Packer& packer, const Model& model) {
  return packer << model.W << model.W_variance << model.intercept << model.pi << model.mu << model.slab.type()
                << model.slab.values() << model.noise.type() << model.noise.dimensions() << model.noise.values();
}

Unpacker& operator>>(Unpacker& unpacker, Model& model) {
  unpacker >> model.W >> model.W_variance >> model.intercept >> model.pi >> model.mu;
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

namespace {

template <class Value>
void pack(Packer& packer, const std::map<std::string, Value>& named) {
  packer << named.size();
  for (const auto& [name, value] : named) packer << name << value;
}

template <class Value>
void unpack(Unpacker& unpacker, std::map<std::string, Value>& named) {
  for (auto left = unpacker.next<std::size_t>(); left > 0; --left) {
    const auto name = unpacker.next<std::string>();
    unpacker >> named[name];
  }
}

}  // namespace

Packer& operator<<(Packer& packer, const FitResult& result) {
  const FitState& state = result.state;
  packer << state.model << state.history << state.rescues;
  pack(packer, state.method.numbers);
  pack(packer, state.method.arrays);
  pack(packer, state.method.columns);
  return packer << result.reason << result.seconds << result.sharing;
}

Unpacker& operator>>(Unpacker& unpacker, FitResult& result) {
  FitState& state = result.state;
  unpacker >> state.model >> state.history >> state.rescues;
  unpack(unpacker, state.method.numbers);
  unpack(unpacker, state.method.arrays);
  unpack(unpacker, state.method.columns);
  return unpacker >> result.reason >> result.seconds >> result.sharing;
}

}  // namespace gsc
