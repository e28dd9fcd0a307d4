// Each constant of inference/cost_model.h, measured here on one thread and beside it the one that is used. Where two
// costs come together, the work is done at two sizes, whose difference tells them apart: on a busy machine
// one may come out negative. Processor time, the least of several repeats.

#include <fmt/format.h>
#include <gsc/fit.h>
#include <gsc/missing.h>

#include <cmath>
#include <limits>

#include "inference/cost_model.h"
#include "inference/limits.h"
#include "math/numeric_scope.h"
#include "patch_like_model.h"
#include "tasks/groups/block_matching.h"
#include "tasks/groups/group_filter.h"
#include "tasks/inpaint/deep_holes.h"
#include "tasks/inpaint/masked_groups.h"
#include "tasks/picture/patches.h"
#include "timing.h"

namespace gsc {
namespace {

constexpr int kRepeats = 5;
constexpr Index kDimensions = 64;
constexpr double kValues = static_cast<double>(kDimensions);

void print(const char* name, double measured, double used) {
  fmt::print("  {:<24}{:>12.4g}{:>12.4g}{:>8.2f} x\n", name, measured, used, measured / used);
}

template <class Work>
double nanoseconds(Work&& work) {
  work();
  return 1e9 * bench::least_thread_seconds(kRepeats, work);
}

template <class T>
double product() {
  constexpr Index kSize = 512;
  const Table<T> A = Table<T>::Random(kSize, kSize), B = Table<T>::Random(kSize, kSize);
  Table<T> C(kSize, kSize);
  return nanoseconds([&] { C.noalias() = A * B; }) / std::pow(static_cast<double>(kSize), 3);
}

InferenceOptions of_method(Method method) {
  InferenceOptions options;
  options.method = method;
  options.threads = 1;
  return options;
}

/// Work on data points of a model, nanoseconds of each.
struct Points {
  Index latents = 256, count = 2000;
  InferenceOptions options = of_method(Method::truncated);
  double missing = 0, noise = 0.5;

  Model model() const {
    Random random(1);
    Model model = bench::patch_like_model(kDimensions, latents, random);
    model.noise = Noise::scalar(noise, kDimensions);
    return model;
  }
  Matrix data() const {
    Random random(2);
    Matrix values = sample(model(), count, random).data;
    std::uniform_real_distribution<double> uniform;
    for (double& value : values.reshaped())
      if (uniform(random) < missing) value = std::numeric_limits<double>::quiet_NaN();
    return values;
  }
  template <class Work>
  double each(Work&& work) const {
    const MatrixData table(data());
    const Model of = model();
    return nanoseconds([&] { work(of, table); }) / static_cast<double>(count);
  }
  double e_steps() const {
    return each([this](const Model& of, const Data& table) { e_step(of, table, options); });
  }
  double posteriors() const {
    return each([this](const Model& of, const Data& table) { infer(of, table, options); });
  }
  /// Of learning: runs of two lengths.
  double iterations() const {
    const auto run = [this](int iterations) {
      return each([&](const Model& of, const Data& table) {
        FitOptions what;
        what.latents = latents;
        what.iterations = iterations;
        what.tolerance = 0;
        what.inference = options;
        if (options.method == Method::beta_process) what.beta_process.burn_in = 1;
        fit(table, what, nullptr, of);
      });
    };
    return (run(6) - run(2)) / 4;
  }
  double imputed() const {
    return each([this](const Model& of, const Data& table) { impute(of, table, options, {.calibrate = false}); });
  }
};

/// Of a state, from trees of two depths.
double state(Points points, double (Points::*work)() const) {
  Points shallow = points;
  shallow.options.max_active = 2;
  return ((points.*work)() - (shallow.*work)()) / (state_count(10, 5) - state_count(10, 2));
}

/// Of a latent, from models of two sizes.
double latent(Points points, double (Points::*work)() const) {
  Points fewer = points;
  fewer.latents /= 4;
  return ((points.*work)() - (fewer.*work)()) / static_cast<double>(points.latents - fewer.latents);
}

void truncated() {
  Points points;
  const auto singleton = [&](Selection selection) {
    points.options.selection = selection;
    return latent(points, &Points::e_steps) - 2 * kCosts.product * kValues;
  };
  print("state", state(points, &Points::e_steps), kCosts.state);
  print("singleton", singleton(Selection::singleton), kCosts.singleton);
  print("singleton_conditional", singleton(Selection::conditional), kCosts.singleton_conditional);
  points.options.precision = Precision::single_precision;
  points.noise = 20;  // or else log weights are so far apart that they are left to double precision
  print("state_single", state(points, &Points::e_steps), kCosts.state_single);
  print("selection_single", (latent(points, &Points::posteriors) - kCosts.product_single * kValues) / 10,
        kCosts.selection_single);
}

void gaps() {
  Points points;
  points.count = 500;
  points.missing = 0.5;
  points.options.missing = Missing::nan;
  const double state_of_gaps = state(points, &Points::imputed);
  const double number = latent(points, &Points::imputed) / kValues;
  print("gap_state", state_of_gaps, kCosts.gap_state);
  print("gap_product", number, kCosts.gap_product);
  print("gap_point", points.imputed() - state_of_gaps * state_count(10, 5) - number * kValues * 256, kCosts.gap_point);
  points.count = 100;
  points.options = of_method(Method::factored);
  points.options.missing = Missing::nan;
  print("gap_factored", latent(points, &Points::imputed) / kValues, kCosts.gap_factored);
}

void codes() {
  Points points;
  points.options = of_method(Method::ksvd);
  points.options.max_active = 5;
  const double number = latent(points, &Points::iterations) / kValues;
  print("code_product", number, kCosts.code_product);
  print("code", points.iterations() - number * kValues * static_cast<double>(points.latents), kCosts.code);
}

void sweeps() {
  Points points;
  points.options = of_method(Method::beta_process);
  const double each = latent(points, &Points::iterations);
  print("sweep_latent", each - 2 * kCosts.product * kValues, kCosts.sweep_latent);
  print("sweep_point", points.iterations() - each * static_cast<double>(points.latents), kCosts.sweep_point);
}

constexpr Index kSide = 128, kReach = 20, kPositions = (2 * kReach + 1) * (2 * kReach + 1);

/// Waves with noise on them.
Picture drawn() {
  Random random(3);
  Picture picture;
  picture.channels = {Matrix::NullaryExpr(kSide, kSide,
                                          [](Index r, Index c) {
                                            return 128 + 60 * std::sin(0.3 * static_cast<double>(r)) *
                                                             std::cos(0.2 * static_cast<double>(c));
                                          }) +
                      10 * standard_normal(kSide, kSide, random)};
  return picture;
}

void patches() {
  const Picture picture = drawn();
  const PatchData data(picture, grid_positions(kSide, kSide, 8, 1), true);
  PatchAverager average(data.positions(), 1, true);
  Matrix block(data.positions().grid_cols(), kDimensions), means;
  const Vector weights = Vector::Ones(block.rows());
  const double all = nanoseconds([&] {
    for (Index first = 0; first < data.rows(); first += block.rows()) {
      data.read(first, block, means);
      average.add_block(first, block, weights, block);
    }
  });
  print("patch_value", all / static_cast<double>(data.rows() * kDimensions), kCosts.patch_value);
}

void groups() {
  constexpr Index kMembers = 32;
  const Planes planes(drawn());
  std::vector<PatchMatch> matches(kMembers);
  const auto matched = [&](Index patch) {
    const BlockMatcher matcher(planes, patch, kReach);
    constexpr int kTimes = 20;
    return nanoseconds([&] {
             for (int i = 0; i < kTimes; ++i) matcher.find(kSide / 2, kSide / 2 - 10 + i, kMembers, matches.data());
           }) /
           (kTimes * static_cast<double>(kPositions));
  };
  const double small = matched(6), large = matched(12), difference = (large - small) / (144 - 36);
  print("difference", difference, kCosts.difference);
  print("position", small - 36 * difference, kCosts.position);

  Random random(4);
  const Matrix values = standard_normal(kDimensions, kMembers, random);
  GroupFilter filter(kDimensions, kMembers);
  const FloatingPointScope floating_point;
  const auto gather = [&] {
    filter.begin(kMembers);
    for (Index k = 0; k < kMembers; ++k)
      for (Index d = 0; d < kDimensions; ++d)
        filter.pilot(d, k) = filter.noisy(d, k) = static_cast<float>(values(d, k));
  };
  const double gathered = nanoseconds(gather), all = nanoseconds([&] {
                                                 gather();
                                                 bench::keep(static_cast<double>(filter.run(1)));
                                               });
  const double K = static_cast<double>(kMembers);
  print("group_value", gathered / (K * kValues), kCosts.group_value);
  print("group_product", (all - gathered) / (K * K * (3 * kValues + K)), kCosts.group_product);
}

/// The costs of a picture with gaps come together: rounds of groups, and a hole, against what they are guessed to take.
void holes() {
  Picture damaged = drawn(), pilot = damaged;
  Random random(5);
  std::uniform_real_distribution<double> uniform;
  for (double& value : damaged.channels[0].reshaped())
    if (uniform(random) < 0.5) value = std::numeric_limits<double>::quiet_NaN();
  MaskedGroupOptions round;
  round.sizes = {{7, 40, 0}};
  round.threads = 1;
  const double D = 49, observed = D / 2, K = 40;
  const auto references = [](Index step) {
    return static_cast<double>(kSide * kSide) / static_cast<double>(step * step);
  };
  const auto each = [&](bool everywhere) {
    round.everywhere = everywhere;
    return nanoseconds([&] { fill_groups(damaged, pilot, round); }) / references(round.step);
  };
  const double unknown = D - observed, matching = (kCosts.gap_difference * D + kCosts.gap_position) * kPositions;
  const double few = 12 * unknown * unknown * unknown + 12 * unknown * D + 2 * D * (D + K);
  const double products = std::min(observed * observed / 2 * D, few);
  print("all gap_* of groups", each(false),
        matching + K * (kCosts.gap_group_product * (D * D + products) + kCosts.gap_value * (D + observed)));

  Picture hole = drawn();
  hole.channels[0].block(50, 50, 24, 24).setConstant(std::numeric_limits<double>::quiet_NaN());
  print("hole_difference, product", nanoseconds([&] {
          Picture filled = pilot;
          fill_deep_holes(hole, 9, 1, filled, {}, 1);
        }),
        1e9 * deep_hole_seconds(hole, 9, 1));
}

}  // namespace
}  // namespace gsc

int main() {
  using namespace gsc;
  const NumericScope scope;
  fmt::print("Nanoseconds of one core; D = {}\n\n  {:<24}{:>12}{:>12}{:>10}\n", kDimensions, "", "measured", "used",
             "ratio");
  print("product", product<double>(), kCosts.product);
  print("product_single", product<float>(), kCosts.product_single);
  truncated();
  gaps();
  codes();
  sweeps();
  patches();
  groups();
  holes();
}
