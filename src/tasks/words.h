#pragma once
// The words of the enumerations of denoising and separation (learning/words.h).

#include <gsc/denoise.h>
#include <gsc/separate.h>

#include "learning/words.h"

namespace gsc {

template <>
inline constexpr std::array kValues<Quality>{Quality::fast, Quality::standard, Quality::best};
template <>
inline constexpr std::array kValues<PatchMean>{PatchMean::remove, PatchMean::keep};
template <>
inline constexpr std::array kValues<PatchWeights>{PatchWeights::equal, PatchWeights::certainty};
template <>
inline constexpr std::array kValues<NoiseSource>{NoiseSource::measured, NoiseSource::learned};

template <>
inline constexpr std::array kValues<Whiten>{Whiten::automatic, Whiten::on, Whiten::off};
template <>
inline constexpr std::array kValues<SeparateMethod>{SeparateMethod::model, SeparateMethod::fastica};
template <>
inline constexpr std::array kValues<Nonlinearity>{Nonlinearity::tanh, Nonlinearity::cube, Nonlinearity::gauss};
template <>
inline constexpr std::array kValues<Decorrelation>{Decorrelation::symmetric, Decorrelation::deflation};

}  // namespace gsc
