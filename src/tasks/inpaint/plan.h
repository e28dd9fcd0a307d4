#pragma once
// What inpaint() will do, chosen from the options and the picture.

#include <gsc/inpaint.h>

#include <string>
#include <vector>

#include "tasks/inpaint/masked_groups.h"
#include "tasks/picture/pixel_units.h"

namespace gsc {

struct InpaintPlan {
  NoiseLevel noise;                            ///< told, or measured, which texture makes too much
  double noise_taken = 0;                      ///< that observed values are taken to have
  bool keep = true;                            ///< observed values come out as they are
  Index missing = 0, values = 0;               ///< of the picture
  Index deepest = 0;                           ///< pixels from the innermost missing one to the nearest observed
  PixelUnits units;                            ///< that the picture is filled in
  std::vector<MaskedGroupOptions> rounds;      ///< of groups, one after the other, in these units
  double step = 1.8;                           ///< how far the pilot moves towards a round's result, all but the last
  std::size_t last_rounds = 0;                 ///< so many at the end have the held-out values back
  Index hole_patch = 0;                        ///< of holes larger than that, filled from the outside in
  double round_seconds = 0, hole_seconds = 0;  ///< guesses, of each round, and of these holes
  double guess_seconds = 0;                    ///< the same of the first guess by a model
  std::shared_ptr<const PatchModel> learned;   ///< of the first guess, or null
  int threads = 0;
  bool hold_out = true;
  std::uint64_t seed = 1;

  double seconds() const;
};

/// Throws Error for a picture that is too small, has a channel without any value or an infinite one; UsageError for
/// options that do not fit.
InpaintPlan make_plan(const Picture& damaged, const InpaintOptions& options);

/// The plan in a line.
std::string plan_text(const InpaintPlan& plan);

/// What inpaint() does once it is planned.
Inpainted inpaint_as_planned(const Picture& damaged, const InpaintPlan& plan, Watcher* watcher = nullptr);

}  // namespace gsc
