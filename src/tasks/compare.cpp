#include "tasks/compare.h"

#include <gsc/metrics.h>
#include <gsc/option_list.h>

#include "tasks/denoise_plan.h"

namespace gsc {
namespace {

/// Passes on what fit() tells about one of the methods.
class MethodObserver final : public Observer {
 public:
  MethodObserver(const MethodRun& run, CompareObserver& observer) : run_(run), observer_(observer) {}
  void on_iteration(const FitState& state) override { observer_.on_iteration(run_, state); }
  bool stop_requested() override { return observer_.stop_requested(); }

 private:
  const MethodRun& run_;
  CompareObserver& observer_;
};

Judge amari_judge(const std::optional<Matrix>& truth) {
  if (!truth) return {};
  return [&](const Model& model) -> std::optional<double> {
    try {
      return amari_index(model.W, *truth);
    } catch (const Error&) {  // a singular W has none
      return {};
    }
  };
}

void let_them_race(Comparison& comparison) {
  std::vector<LearningCurve> curves;
  for (const MethodRun& run : comparison.runs) curves.push_back(run.curve);
  const std::vector<Race> races = race(curves, comparison.measure);
  for (std::size_t i = 0; i < races.size(); ++i) {
    comparison.runs[i].race = races[i];
    if (!comparison.judged_on_the_way) comparison.runs[i].race.seconds.reset();
  }
}

}  // namespace

Comparison compare_on_table(const Data& data, const FitOptions& options, const std::vector<Method>& methods,
                            const std::optional<Matrix>& truth, CompareObserver& observer) {
  Comparison result;
  result.measure = truth ? Measure::amari : Measure::free_energy;
  for (const Method method : methods) {
    MethodRun& run = result.runs.emplace_back();
    run.options = options_for(options, method);
    run.options.validate();
  }
  observer.on_plan(result);
  for (MethodRun& run : result.runs) {
    MethodObserver watch(run, observer);
    FitCourse course = fit_with_curve(data, run.options, amari_judge(truth), &watch);
    if (course.fit.reason == StopReason::interrupted) throw Interrupted("interrupted while learning");
    run.fit = std::move(course.fit);
    run.curve = std::move(course.curve);
  }
  let_them_race(result);
  return result;
}

Comparison compare_on_picture(const Picture& noisy, const std::optional<Picture>& clean, const DenoiseOptions& options,
                              const std::vector<Method>& methods, bool judge_on_the_way, CompareObserver& observer) {
  Comparison result;
  result.measure = clean ? Measure::psnr : Measure::free_energy;
  result.judged_on_the_way = judge_on_the_way || !clean;
  const double noise = estimate_noise(noisy);
  std::vector<ModelPlan> plans;
  for (const Method method : methods) {
    DenoiseOptions of_method = options;
    of_method.method = method;
    of_method.models = 1;
    // On equal terms: what all methods can do.
    if (spike_and_slab(method)) of_method.noise = NoiseSource::learned;
    of_method.batch = 0;
    of_method.nonlocal = of_method.groups = 0;
    of_method.validate();
    plans.push_back(plan_denoising(noisy, of_method, {.std = noise}).models.front());
    result.patch = plans.back().patch;
    result.runs.emplace_back().options = plans.back().fit;
  }
  observer.on_plan(result);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    MethodRun& run = result.runs[i];
    const auto watch = [&](const DenoiseProgress& now) {
      if (now.state != nullptr)
        observer.on_iteration(run, *now.state);
      else if (!now.asking)
        observer.on_denoising(run, now.model >= now.models);
      return !observer.stop_requested();
    };
    DenoisingCourse course = denoise_with_curve(noisy, clean, plans[i], noise, judge_on_the_way, watch);
    run.fit = std::move(course.denoised.learned.front().fit);
    run.curve = std::move(course.curve);
    run.picture = std::move(course.denoised.picture);
    run.seconds_inferring = course.denoised.learned.front().seconds_inferring;
    if (clean) run.score = score_of(*clean, noisy, run.picture);
  }
  let_them_race(result);
  return result;
}

}  // namespace gsc
