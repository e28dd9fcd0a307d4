#include "tasks/inpaint/plan.h"

#include <gsc/words.h>

#include <algorithm>
#include <cmath>

#include "inference/cost_model.h"
#include "math/number_text.h"
#include "math/numeric_scope.h"
#include "tasks/inpaint/deep_holes.h"
#include "tasks/inpaint/model_pilot.h"
#include "tasks/noise/observed_noise.h"
#include "tasks/picture/planes.h"

namespace gsc {
namespace {

/// What a quality stands for.
struct Preset {
  int rounds;
  std::vector<Index> larger;  ///< pixels added to the usual patch, one for each size of the last rounds
  Index step, reach;
};

// What is chosen here and below is from the development set (docs/inpaint.md; gsc_bench_inpaint prints it).
Preset preset(Quality quality) {
  switch (quality) {
    case Quality::fast:
      return {.rounds = 6, .larger = {0}, .step = 4, .reach = 16};
    case Quality::standard:
      return {.rounds = 14, .larger = {-2, 0, 2}, .step = 3, .reach = 20};
    case Quality::best:
      return {.rounds = 24, .larger = {-2, -1, 0, 1, 2}, .step = 2, .reach = 24};
  }
  return {};
}

constexpr Index kSmallestSide = 4, kSmallestPatch = 2;
/// In the plan's units, of which white has about 255: what observed values and the covariance of groups are taken to
/// lack, in the first round and the last. The first pilot is far off, and so are patches that look alike in it.
constexpr double kFirstNoise = 20, kLastNoise = 1, kFirstRidge = 10, kLastRidge = 1;
/// Of the pixels' units: what is left of a value by rounding to whole numbers.
constexpr double kRounding = 0.28867513459481287;
/// Of the noise: what groups take it for, as in denoising.
constexpr double kGroupShare = 0.9;
constexpr std::size_t kLastRounds = 3;  // with all sizes and the values that were set aside; of few rounds fewer

/// A colour has three values a pixel, whose covariance has nine times the entries; it gains nothing by larger patches.
/// Grey ones do where little is observed: 9 instead of 7 gain 0.16 dB at 20 % and lose 0.05 dB at 30 %.
Index usual_patch(std::size_t together, double observed) {
  constexpr double kLittle = 0.25;
  if (together >= 3) return 5;
  return observed < kLittle ? 9 : 7;
}
Index usual_members(std::size_t together) { return together >= 3 ? 60 : 40; }

std::size_t rounds_with_all_values(int rounds) { return std::min(kLastRounds, static_cast<std::size_t>(rounds) / 2); }

/// A channel of which nothing is observed: the others do not tell where its values lie, nor how far apart they are, so
/// whatever is filled in looks as good as the rest, also to what is set aside.
void require_observed(const Picture& damaged) {
  constexpr std::size_t kNamed = 10;
  std::vector<std::size_t> empty;
  for (std::size_t c = 0; c < damaged.channels.size(); ++c)
    if (damaged.channels[c].array().isNaN().all()) empty.push_back(c + 1);
  if (empty.empty()) return;
  if (empty.size() == damaged.channels.size())
    throw Error("every value of the picture is missing, so there is nothing to fill it from");
  std::string names;
  for (std::size_t i = 0; i < std::min(empty.size(), kNamed); ++i)
    names += (i > 0 ? ", " : "") + std::to_string(empty[i]);
  if (empty.size() > kNamed) names += " and " + std::to_string(empty.size() - kNamed) + " more";
  throw Error((empty.size() == 1 ? "channel " : "channels ") + names + " (from 1) of " +
              std::to_string(damaged.channels.size()) + (empty.size() == 1 ? " has" : " have") +
              " no observed value, so nothing can be known of " + (empty.size() == 1 ? "it" : "them") + "; leave " +
              (empty.size() == 1 ? "that channel" : "those channels") +
              " out of the picture, or check what says that all of it is missing");
}

void check(const Picture& damaged) {
  if (std::min(damaged.height(), damaged.width()) < kSmallestSide)
    throw Error("the picture has " + size_text(damaged) + " pixels; inpainting needs at least " +
                std::to_string(kSmallestSide) + " in each direction");
  for (const Matrix& channel : damaged.channels)
    for (Index r = 0; r < channel.rows(); ++r)
      for (Index c = 0; c < channel.cols(); ++c)
        if (std::abs(channel(r, c)) > kLargestPixel)
          throw Error("the picture is " + number_text(channel(r, c), 3) + " at row " + std::to_string(r) + ", column " +
                      std::to_string(c) +
                      " (from 0), and inpainting needs values of at most 1e15; mark such values as missing, or scale "
                      "the picture");
  require_observed(damaged);
}

double guess_seconds(const Picture& damaged, double missing, const MaskedGroupOptions& round) {
  const auto channels = static_cast<double>(damaged.channels.size());
  const double together = std::min(channels, 4.0);
  const double references = static_cast<double>(damaged.height() * damaged.width()) /
                            static_cast<double>(round.step * round.step) *
                            (round.everywhere ? 1 : std::min(1.0, 20 * missing));
  const double search = static_cast<double>((2 * round.reach + 1) * (2 * round.reach + 1));
  double seconds = 0;
  for (const GroupSize& size : round.sizes) {
    const double D = static_cast<double>(size.patch * size.patch) * together, K = static_cast<double>(size.members);
    const double observed = D * (1 - missing), unknown = D * missing;
    const double all = observed * observed / 2 * D,
                 few = 12 * unknown * unknown * unknown + 12 * unknown * D + 2 * D * (D + K);
    const double products = round.everywhere ? all : std::min(all, few);  // as the groups' filter chooses
    const double matching = (kCosts.gap_difference * D + kCosts.gap_position) * search;
    const double systems = kCosts.gap_group_product * (D * D + products) + kCosts.gap_value * (D + observed);
    seconds += 1e-9 * references * (matching + K * systems);
  }
  return seconds * std::max(1.0, channels / together) / thread_count(round.threads);
}

/// Noise and ridge come down geometrically from round to round.
std::vector<MaskedGroupOptions> plan_rounds(const Picture& damaged, const InpaintOptions& options, const Preset& usual,
                                            const InpaintPlan& plan) {
  const std::size_t together = channels_together(static_cast<Index>(damaged.channels.size())).front().size();
  const Index smaller_side = std::min(damaged.height(), damaged.width());
  const double observed = 1 - static_cast<double>(plan.missing) / static_cast<double>(plan.values);
  const Index patch = options.patch.value_or(std::min(usual_patch(together, observed), smaller_side));
  if (patch > smaller_side)
    throw UsageError("patch is " + std::to_string(patch) + ", but the picture has only " + size_text(damaged) +
                     " pixels; choose smaller patches");
  const int rounds = options.groups.value_or(usual.rounds);
  const std::size_t last_rounds = rounds_with_all_values(rounds);
  const double rounding = damaged.depth == PixelDepth::real32 ? 0 : kRounding;
  const double noise = std::max(kGroupShare * plan.noise_taken, rounding) / plan.units.scale;
  std::vector<MaskedGroupOptions> all;
  for (int i = 0; i < rounds; ++i) {
    // Noise and ridge reach their last values before the values that were set aside are judged, as deviations depend on
    // them.
    const int honest = rounds - static_cast<int>(last_rounds);
    const bool last = i >= honest;
    const double t = honest > 1 ? std::min(1.0, static_cast<double>(i) / (honest - 1)) : 1;
    MaskedGroupOptions round;
    round.noise = kFirstNoise * std::pow(kLastNoise / kFirstNoise, t);
    round.ridge = kFirstRidge * std::pow(kLastRidge / kFirstRidge, t);
    round.noise = std::max(round.noise, noise);
    round.everywhere = !plan.keep;
    round.step = usual.step;
    round.reach = usual.reach;
    round.threads = options.threads;
    round.sizes.clear();
    for (const Index larger : last ? usual.larger : std::vector<Index>{0}) {
      const Index side = std::clamp(patch + larger, kSmallestPatch, smaller_side);
      if (round.sizes.empty() || round.sizes.back().patch != side)
        round.sizes.push_back({side, usual_members(together), 0});
    }
    all.push_back(round);
  }
  return all;
}

}  // namespace

double InpaintPlan::seconds() const {
  return std::max(0.1, guess_seconds + hole_seconds + round_seconds * static_cast<double>(rounds.size()));
}

InpaintPlan make_plan(const Picture& damaged, const InpaintOptions& options) {
  options.validate();
  check(damaged);
  InpaintPlan plan;
  for (const Matrix& channel : damaged.channels) plan.values += channel.size();
  plan.missing = missing_values(damaged);
  plan.units = units_of(damaged);
  plan.deepest = depth_of_holes(damaged).maxCoeff();
  if (options.noise)
    plan.noise.std = *options.noise;
  else
    plan.noise = measure_observed_noise(damaged);
  plan.keep = options.keep_observed.value_or(options.noise.value_or(0) == 0);
  plan.noise_taken = plan.keep && !options.noise ? 0 : plan.noise.std;
  plan.rounds = plan_rounds(damaged, options, preset(options.quality), plan);
  if (plan.missing == 0 && plan.keep) plan.rounds.clear();
  if (plan.rounds.empty()) plan.units = {};  // a first guess to the bit
  if (!plan.rounds.empty()) {
    const std::vector<GroupSize>& last = plan.rounds.back().sizes;
    plan.hole_patch = last[last.size() / 2].patch + 2;
    plan.hole_seconds = deep_hole_seconds(damaged, plan.hole_patch, options.threads);
  }
  plan.last_rounds = rounds_with_all_values(static_cast<int>(plan.rounds.size()));
  if (options.learned) plan.guess_seconds = model_guess_seconds(damaged, *options.learned, options.threads);
  plan.learned = options.learned;
  plan.threads = options.threads;
  plan.hold_out = options.hold_out;
  plan.seed = options.seed;
  const double missing = static_cast<double>(plan.missing) / static_cast<double>(plan.values);
  double seconds = 0;
  for (const MaskedGroupOptions& round : plan.rounds) seconds += guess_seconds(damaged, missing, round);
  plan.round_seconds = plan.rounds.empty() ? 0 : seconds / static_cast<double>(plan.rounds.size());
  return plan;
}

PlannedInpainting plan_inpainting(const Picture& damaged, const InpaintOptions& options) {
  constexpr double kMuchNoise = 0.02 * 255;  // of white
  const NumericScope scope;
  const InpaintPlan plan = make_plan(damaged, options);
  return {.missing = plan.missing,
          .values = plan.values,
          .keep = plan.keep,
          .noise = plan.noise,
          .noisy = plan.noise.std > kMuchNoise * plan.units.scale,
          .text = plan_text(plan),
          .seconds = plan.seconds(),
          .plan = std::make_shared<const InpaintPlan>(plan)};
}

std::string plan_text(const InpaintPlan& plan) {
  const auto square = [](Index side) { return std::to_string(side) + " x " + std::to_string(side); };
  if (plan.rounds.empty()) return "a first guess only";
  std::string text = counted(static_cast<Index>(plan.rounds.size()), "round") + " of groups of patches of " +
                     square(plan.rounds.front().sizes.front().patch) + " pixels";
  const std::vector<GroupSize>& last = plan.rounds.back().sizes;
  if (last.size() > 1) {
    text += ", in the end of ";
    for (const GroupSize& size : last) text += (&size == &last.front() ? "" : ", ") + square(size.patch);
  }
  return text;
}

}  // namespace gsc
