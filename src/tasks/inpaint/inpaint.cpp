// Inpainting: a first guess at what is missing; holes larger than a patch from the outside in; then rounds of groups of
// patches that look alike, each of which is filled from what is observed of it. Observed values that are set aside
// until the last rounds tell how good that is.

#include <gsc/inpaint.h>
#include <gsc/stopwatch.h>

#include <algorithm>
#include <cmath>

#include "math/numeric_scope.h"
#include "tasks/inpaint/deep_holes.h"
#include "tasks/inpaint/held_out.h"
#include "tasks/inpaint/model_pilot.h"
#include "tasks/inpaint/plan.h"

namespace gsc {
namespace {

/// Every thread has matrices of all values of a patch times all: 40 MB of colours at this size.
constexpr Index kLargestInpaintPatch = 32;

/// What is observed goes back to what it was, if it is kept.
void put_back(const Picture& damaged, bool keep, Picture& picture) {
  if (!keep) return;
  for (std::size_t c = 0; c < picture.channels.size(); ++c)
    picture.channels[c] = damaged.channels[c].array().isNaN().select(picture.channels[c], damaged.channels[c]);
}

/// Deviations of errors from variances of groups, which judge() said how to scale, also in deep holes where these are
/// told apart. With noise that is taken out, observed values have an error, too.
Picture deviations(const Picture& damaged, const Picture& variance, const HeldOut& by, const Table<std::uint8_t>& deep,
                   double unit, bool keep) {
  Picture std = variance;
  std.depth = PixelDepth::real32;
  Matrix scale = Matrix::Constant(damaged.height(), damaged.width(), by.scale * unit);
  if (deep.size() > 0) scale = (deep.array() != 0).select(by.deep_scale * unit, scale);
  for (std::size_t c = 0; c < std.channels.size(); ++c) {
    std.channels[c] = scale.cwiseProduct(variance.channels[c].cwiseSqrt());
    if (keep) std.channels[c] = damaged.channels[c].array().isNaN().select(std.channels[c], 0.0);
  }
  return std;
}

/// One inpainting at work.
class Inpainting {
 public:
  Inpainting(const Picture& damaged, const InpaintPlan& plan, Watcher* watcher)
      : damaged_(damaged), scaled_(to_units(damaged, plan.units)), plan_(plan), watcher_(watcher) {
    now_.rounds = static_cast<int>(plan.rounds.size());
  }

  Inpainted run() try {
    result_.missing = plan_.missing;
    result_.values = plan_.values;
    result_.deepest = plan_.deepest;
    result_.noise = plan_.noise;
    result_.kept = plan_.keep;
    const std::size_t honest = plan_.rounds.size() - plan_.last_rounds;
    Picture some = damaged_;
    HeldOutSet aside;
    if (plan_.hold_out && honest > 0) aside = hold_out(some, plan_.seed);
    begin(some);
    const Stopwatch watch;
    fill(to_units(some, plan_.units), 0, honest);
    result_.held_out = judged(aside);
    put_back(scaled_, plan_.keep, result_.picture);
    forget_laid_holes(aside);
    fill(scaled_, honest, plan_.rounds.size());
    if (!plan_.rounds.empty() || plan_.missing == 0)
      result_.std = deviations(damaged_, variance_, result_.held_out, aside.deep, plan_.units.scale, plan_.keep);
    result_.group_rounds = static_cast<int>(plan_.rounds.size());
    result_.seconds_grouping = watch.seconds();
    result_.picture = whole();
    return std::move(result_);
  } catch (Interrupted& error) {
    error.picture = std::make_shared<const Picture>(whole());
    throw;
  }

 private:
  /// In the plan's units, then in those of the pixels.
  HeldOut judged(HeldOutSet& aside) const {
    const PixelUnits& units = plan_.units;
    for (HeldOutKind& kind : aside.kinds)
      for (HeldOutValue& one : kind.values) one.value = units.to(one.value);
    HeldOut held_out = judge(aside, result_.picture, variance_,
                             {.noise = plan_.noise_taken / units.scale,
                              .noise_error = plan_.noise.error,
                              .kept = plan_.keep,
                              .peak = damaged_.peak() / units.scale});
    held_out.rmse *= units.scale;
    return held_out;
  }

  /// What is missing below holes that were laid over it was filled as a part of them, and a few last rounds do not mend
  /// that: the first guess by what is back around it is better. House, 50 % observed and two deep holes, fast: the
  /// error of single values is 3.7 instead of 5.6.
  void forget_laid_holes(const HeldOutSet& aside) {
    for (const HeldOutKind& kind : aside.kinds) {
      if (kind.below.size() == 0) continue;
      const Picture guess = to_units(first_guess(damaged_), plan_.units);
      for (std::size_t c = 0; c < guess.channels.size(); ++c)
        result_.picture.channels[c] = (kind.below.array() != 0 && damaged_.channels[c].array().isNaN())
                                          .select(guess.channels[c], result_.picture.channels[c]);
    }
  }

  void begin(const Picture& some) {
    const Picture guess = first_guess(some);
    result_.picture = to_units(guess, plan_.units);
    // A model has the units of the pixels.
    if (plan_.learned)
      result_.picture = to_units(model_guess(some, *plan_.learned, guess, plan_.threads,
                                             [&](double share) { return report(share * plan_.guess_seconds); }),
                                 plan_.units);
    variance_ = result_.picture;
    for (Matrix& channel : variance_.channels) channel.setZero();
    if (plan_.rounds.empty()) return;
    result_.shells = fill_deep_holes(
        some, plan_.hole_patch, plan_.rounds.back().ridge, result_.picture, [&] { return report(plan_.guess_seconds); },
        plan_.threads);
  }

  void fill(const Picture& damaged, std::size_t begin, std::size_t end) {
    const double before = plan_.guess_seconds + plan_.hole_seconds;
    for (std::size_t i = begin; i < end; ++i) {
      now_.round = static_cast<int>(i) + 1;
      FilledGroups filled = fill_groups(damaged, result_.picture, plan_.rounds[i], [&](double share) {
        return report(before + (static_cast<double>(i) + share) * plan_.round_seconds);
      });
      put_back(damaged, plan_.keep, filled.picture);
      step(filled.picture, i + 1 < end ? plan_.step : 1);
      variance_ = std::move(filled.variance);
      add_variance_of_means(plan_.rounds[i]);
    }
  }

  /// Groups take their mean for known. Where noise is taken out, it has some of the noise of the patches it is made of.
  void add_variance_of_means(const MaskedGroupOptions& round) {
    const double noise = plan_.noise_taken / plan_.units.scale;
    for (Matrix& channel : variance_.channels)
      channel.array() += noise * noise / static_cast<double>(round.sizes.front().members);
  }

  /// Goes further than a round says: each corrects but a part of what is wrong with the pilot, and always in the same
  /// direction. Not after the last, whose result is what counts.
  void step(const Picture& filled, double length) {
    for (std::size_t c = 0; c < filled.channels.size(); ++c)
      result_.picture.channels[c] += length * (filled.channels[c] - result_.picture.channels[c]);
  }

  /// After so many of the seconds of the plan; whether to stop.
  bool report(double seconds) {
    now_.fraction = std::min(1.0, seconds / plan_.seconds());
    if (watcher_ == nullptr) return false;
    watcher_->on_progress(now_);
    return watcher_->stop_requested();
  }

  /// The result so far as it would be given back: with the values that are set aside for now.
  Picture whole() const {
    Picture picture = from_units(result_.picture, plan_.units);
    put_back(damaged_, plan_.keep, picture);
    picture.alpha = damaged_.alpha;
    picture.metadata = damaged_.metadata;
    return picture;
  }

  const Picture& damaged_;
  const Picture scaled_;  // in the plan's units, as the result is until it is given back
  const InpaintPlan& plan_;
  Watcher* watcher_;
  Progress now_;
  Inpainted result_;
  Picture variance_;  // of every value's error, as the groups see it
};

}  // namespace

void InpaintOptions::validate() const {
  const auto at_least = [](const char* name, auto value, auto least) {
    if (value && !(*value >= least))
      throw UsageError(std::string(name) + " is " + std::to_string(*value) + "; it must be at least " +
                       std::to_string(least));
  };
  if (patch && (*patch < 2 || *patch > kLargestInpaintPatch))
    throw UsageError("patch is " + std::to_string(*patch) + "; it must be between 2 and " +
                     std::to_string(kLargestInpaintPatch) + " pixels");
  at_least("groups", groups, 0);
  if (noise && !(*noise >= 0 && std::isfinite(*noise)))
    throw UsageError("noise is " + std::to_string(*noise) + "; it must be a standard deviation, at least 0");
  if (threads < 0) throw UsageError("threads is " + std::to_string(threads) + "; it must be at least 0");
}

Inpainted inpaint(const Picture& damaged, const InpaintOptions& options, Watcher* watcher) {
  return inpaint_as_planned(damaged, plan_inpainting(damaged, options), watcher);
}

Inpainted inpaint_as_planned(const Picture& damaged, const PlannedInpainting& planned, Watcher* watcher) {
  return inpaint_as_planned(damaged, *planned.plan, watcher);
}

Inpainted inpaint_as_planned(const Picture& damaged, const InpaintPlan& plan, Watcher* watcher) {
  const NumericScope scope;
  return Inpainting(damaged, plan, watcher).run();
}

}  // namespace gsc
