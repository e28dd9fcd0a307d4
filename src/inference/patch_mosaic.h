#pragma once
// Patches that stay where posteriors are computed: a device that has the picture cuts them out there, reconstructs them
// from their posteriors, and adds up what overlaps. What it does is what PatchData and PatchAverager (tasks/picture/patches.h)
// do on the processor.

#include <gsc/backend/engine.h>
#include <gsc/export.h>

#include "inference/patch_layout.h"

namespace gsc {

/// Data that can say where its rows come from (Data::patches).
class GSC_EXPORT PatchSource {
 public:
  virtual ~PatchSource() = default;
  /// Good for as long as the data is.
  virtual PatchLayout layout() const = 0;
};

/// Of patches of a grid (Engine::mosaic).
class GSC_EXPORT PatchMosaic {
 public:
  virtual ~PatchMosaic() = default;
  /// Infers rows first .. first+count-1 as infer_sparse() does, and adds x = W <s.z> + mean, with Var(x_d) = sum_h
  /// W_dh^2 Var(s_h z_h). Rows of a pass once, in ascending order. `keep` unless null becomes their posteriors.
  virtual void add(Index first, Index count, const OwnPriors* own, SparsePosterior* keep, const StopRequest& stop) = 0;
  /// What was added up.
  virtual void give(const PatchSums& to) = 0;
};

}  // namespace gsc
