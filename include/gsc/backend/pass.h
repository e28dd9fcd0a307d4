#pragma once
// What an engine is asked to go over.

#include <gsc/inference.h>
#include <gsc/nonlocal.h>

#include <optional>
#include <span>

namespace gsc {

/// Which data points an E-step goes over.
struct Pass {
  std::optional<std::span<const Index>> rows = {};  ///< these rows, in this order; none: all of them
  StopRequest stop = {};
};

/// What Engine::infer_sparse needs for priors of their own.
struct OwnPriors {
  const SparsePosterior& before;
  const Neighbours& neighbours;
  NonLocalOptions options = {};
};

}  // namespace gsc
