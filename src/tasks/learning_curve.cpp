#include "tasks/learning_curve.h"

#include <gsc/metrics.h>

#include <bit>
#include <cmath>
#include <map>

#include "tasks/reconstruct.h"

namespace gsc {
namespace {

/// Models by iteration. Only parameters: the rest of a FitState may be as large as the data.
using KeptModels = std::map<int, Model>;

void keep(KeptModels& models, const FitState& state) {
  const int iteration = state.history.back().iteration;
  if (is_judged(iteration)) models[iteration] = state.model;
}

class KeepingObserver final : public Observer {
 public:
  KeepingObserver(KeptModels& models, bool keeps, Observer* inner) : models_(models), keeps_(keeps), inner_(inner) {}
  void on_iteration(const FitState& state) override {
    if (keeps_) keep(models_, state);
    if (inner_ != nullptr) inner_->on_iteration(state);
  }
  bool stop_requested() override { return inner_ != nullptr && inner_->stop_requested(); }

 private:
  KeptModels& models_;
  bool keeps_;
  Observer* inner_;
};

LearningCurve curve_of(const std::vector<IterationReport>& history) {
  LearningCurve curve;
  double seconds = 0;
  for (const IterationReport& row : history)
    curve.push_back({row.iteration, seconds += row.seconds, row.free_energy, std::nullopt});
  return curve;
}

/// All points but the last, whose model is the result.
void judge_kept(LearningCurve& curve, const KeptModels& models, const Judge& judge) {
  for (std::size_t i = 0; i + 1 < curve.size(); ++i)
    if (const auto kept = models.find(curve[i].iteration); kept != models.end()) curve[i].quality = judge(kept->second);
}

bool less_is_better(Measure measure) { return measure == Measure::amari; }

}  // namespace

bool is_judged(int iteration) {
  const auto t = static_cast<unsigned>(iteration);
  return t <= 3 || (t % 5 == 0 && std::has_single_bit(t / 5)) || (t % 7 == 0 && std::has_single_bit(t / 7));
}

FitCourse fit_with_curve(const Data& data, const FitOptions& options, const Judge& judge, Observer* observer) {
  KeptModels models;
  KeepingObserver watch(models, static_cast<bool>(judge), observer);
  FitResult result = fit(data, options, &watch);
  LearningCurve curve = curve_of(result.state.history);
  if (judge && result.reason != StopReason::interrupted) {
    judge_kept(curve, models, judge);
    curve.back().quality = judge(result.model());
  }
  return {std::move(result), std::move(curve)};
}

DenoisingCourse denoise_with_curve(const Picture& noisy, const std::optional<Picture>& clean, const ModelPlan& plan,
                                   double noise, bool judge_on_the_way, const DenoiseObserver& observer) {
  KeptModels models;
  DenoisingCourse course;
  DenoisePlan alone;
  alone.noise.std = noise;
  alone.models = {plan};
  course.denoised = denoise_as_planned(noisy, alone, [&](const DenoiseProgress& now) {
    if (clean && judge_on_the_way && now.state != nullptr) keep(models, *now.state);
    return !observer || observer(now);
  });
  course.curve = curve_of(course.denoised.learned.front().fit.state.history);
  if (!clean) return course;

  const DenoiseProgress judging{.fraction = 1, .model = 1, .models = 1, .state = nullptr};
  const auto go_on = [&](double) { return !observer || observer(judging); };
  judge_kept(course.curve, models, [&](const Model& model) {
    return psnr(*clean, reconstruct(noisy, model, plan, go_on).picture, clean->peak());
  });
  course.curve.back().quality = psnr(*clean, course.denoised.picture, clean->peak());
  return course;
}

std::optional<double> value_of(const CurvePoint& point, Measure measure) {
  return measure == Measure::free_energy ? point.free_energy : point.quality;
}

std::optional<double> seconds_to_reach(const LearningCurve& curve, Measure measure, double target) {
  const double rounding = std::isfinite(target) ? 1e-9 * std::abs(target) : 0;
  for (const CurvePoint& point : curve) {
    const std::optional<double> value = value_of(point, measure);
    if (!value) continue;
    if (less_is_better(measure) ? *value <= target + rounding : *value >= target - rounding) return point.seconds;
  }
  return {};
}

std::vector<Race> race(const std::vector<LearningCurve>& curves, Measure measure) {
  std::vector<Race> races(curves.size());
  for (std::size_t i = 0; i < curves.size(); ++i) {
    for (std::size_t j = 0; j < curves.size(); ++j) {
      const std::optional<double> end = j == i ? std::nullopt : value_of(curves[j].back(), measure);
      std::optional<double>& best = races[i].target;
      if (end && (!best || (less_is_better(measure) ? *end < *best : *end > *best))) best = end;
    }
    if (races[i].target) races[i].seconds = seconds_to_reach(curves[i], measure, *races[i].target);
  }
  return races;
}

}  // namespace gsc
