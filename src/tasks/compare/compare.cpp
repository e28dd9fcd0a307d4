#include "tasks/compare/compare.h"

#include <gsc/metrics.h>
#include <gsc/option_list.h>

#include <algorithm>
#include <chrono>

#include "math/number_text.h"
#include "tasks/denoise/plan.h"
#include "tasks/separate/fastica_separation.h"

namespace gsc {
namespace {

/// Passes on what fit() tells about one of the methods.
class MethodObserver final : public Observer {
 public:
  MethodObserver(const MethodRun& run, CompareObserver& observer) : run_(run), observer_(observer) {}
  void on_iteration(const FitState& state) override { observer_.on_iteration(run_, state); }
  void on_note(const std::string& note) override { observer_.on_note(run_, note); }
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

/// Stops where the comparison is to stop.
class StopAlone final : public Observer {
 public:
  explicit StopAlone(CompareObserver& observer) : observer_(observer) {}
  bool stop_requested() override { return observer_.stop_requested(); }

 private:
  CompareObserver& observer_;
};

/// Runs of 1, 2, 3, 5, ... iterations from the same start, each timed as a whole: there is nothing to keep on the way.
FasticaCourse fastica_course(const Data& data, const FitOptions& options, const Matrix& truth, double seconds,
                             CompareObserver& observer) {
  Matrix table(data.rows(), data.cols());
  data.read(0, table);
  const Matrix mixture = table.transpose();
  StopAlone watch(observer);
  SeparateOptions separating;
  separating.method = SeparateMethod::fastica;
  separating.fit.latents = truth.cols();
  separating.fit.seed = options.seed;
  separating.fit.inference.threads = options.inference.threads;
  const int most = std::min(options.iterations, separating.fastica.iterations);
  FasticaCourse course;
  separating.fastica.iterations = 1;
  separate_by_fastica(mixture, separating, &watch);  // threads wake up, memory is fetched
  for (int i = 1; i <= most && !course.converged; ++i) {
    if (!is_judged(i) && i != most) continue;
    separating.fastica.iterations = i;
    const auto start = std::chrono::steady_clock::now();
    const Separation found = separate_by_fastica(mixture, separating, &watch);
    const double now = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (found.fit.reason == StopReason::interrupted) throw Interrupted("interrupted while separating");
    course.converged = found.fastica->converged;
    const double before = course.curve.empty() ? 0 : course.curve.back().seconds;
    course.curve.push_back({found.fastica->iterations, std::max(now, before), 0, {}});
    try {
      course.curve.back().quality = amari_index(found.mixing, truth);
    } catch (const Error&) {  // a singular one has none
    }
    course.out_of_time = seconds > 0 && now > seconds && !course.converged;
    if (course.out_of_time) break;
  }
  return course;
}

/// What a method refuses of the data (a lambda that leaves no code, more atoms than data points) shows in its start: so
/// it is known before others have learned for an hour. Those of the spike-and-slab model take any data.
void try_starts(const Data& data, const std::vector<MethodRun>& runs, CompareObserver& observer) {
  StopAlone watch(observer);
  for (const MethodRun& run : runs) {
    if (spike_and_slab(run.method())) continue;
    FitOptions start = run.options;
    start.iterations = 0;
    if (fit(data, start, &watch).reason == StopReason::interrupted) throw Interrupted("interrupted before learning");
  }
}

/// Whether the noise level is for others to say.
bool is_told(const InferenceOptions& inference) {
  return needs_noise_level(inference.method) && !codes_by_lambda(inference);
}

/// By quality all against all; by their objectives nobody, unless they have the same one.
void let_them_race(Comparison& comparison) {
  const bool by_objective = comparison.measure == Measure::free_energy;
  if (by_objective && !comparison.same_objective()) return;
  std::vector<LearningCurve> curves;
  for (const MethodRun& run : comparison.runs) curves.push_back(run.curve);
  if (comparison.fastica) curves.push_back(comparison.fastica->curve);
  const bool least = by_objective && minimised(comparison.runs.front().method());
  const std::vector<Race> races = least ? race_to_the_least(curves) : race(curves, comparison.measure);
  if (comparison.fastica) comparison.fastica->race = races.back();
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
    comparison.runs[i].race = races[i];
    if (!comparison.judged_on_the_way) comparison.runs[i].race.seconds.reset();
  }
}

}  // namespace

std::string objective_of(const MethodRun& run) {
  const CodingOptions& coding = run.options.inference.coding;
  if (run.method() == Method::online && coding.coding != Coding::lasso)
    return coding.coding == Coding::bounded ? "sum of |codes|" : "half squared error";
  std::string text(objective_text(run.method()));
  const bool lasso = run.method() == Method::online || run.method() == Method::feature_sign;
  return lasso && coding.lambda > 0 ? text + ", lambda " + number_text(coding.lambda, 4) : text;
}

bool Comparison::overran(const LearningCurve& curve) const {
  constexpr double kClearly = 1.2;
  return seconds > 0 && curve.back().seconds > kClearly * seconds;
}

bool Comparison::same_objective() const {
  return std::all_of(runs.begin(), runs.end(),
                     [&](const MethodRun& run) { return objective_of(run) == objective_of(runs.front()); });
}

Comparison compare_on_table(const Data& data, const FitOptions& options, const std::vector<Method>& methods,
                            const std::optional<Matrix>& truth, CompareObserver& observer, double seconds,
                            bool fastica) {
  if (fastica && !truth)
    throw UsageError(
        "methods names fastica, which has no objective to compare: give the mixing matrix with truth, or leave it out");
  if (fastica && options.iterations < 1) throw UsageError("iterations is 0, but fastica needs one at least");
  Comparison result;
  result.seconds = seconds;
  result.measure = truth ? Measure::amari : Measure::free_energy;
  for (const Method method : methods) {
    MethodRun& run = result.runs.emplace_back();
    run.options = options_for(options, method);
    if (!is_told(run.options.inference)) run.options.known_noise = 0;
    if (is_told(run.options.inference))
      run.noise = run.options.known_noise > 0 ? "told" : "estimated";
    else if (!needs_noise_level(method))
      run.noise = "learned";
    run.options.validate();
  }
  if (methods.size() > 1) try_starts(data, result.runs, observer);
  observer.on_plan(result);
  if (fastica) result.fastica = fastica_course(data, options, *truth, seconds, observer);
  for (MethodRun& run : result.runs) {
    MethodObserver watch(run, observer);
    FitCourse course = fit_with_curve(data, run.options, amari_judge(truth), &watch, {.seconds = seconds});
    if (course.fit.reason == StopReason::interrupted) throw Interrupted("interrupted while learning");
    run.fit = std::move(course.fit);
    run.curve = std::move(course.curve);
    run.out_of_time = course.out_of_time;
  }
  let_them_race(result);
  return result;
}

Comparison compare_on_picture(const Picture& noisy, const std::optional<Picture>& clean, const DenoiseOptions& options,
                              const std::vector<Method>& methods, bool judge_on_the_way, CompareObserver& observer,
                              double seconds) {
  Comparison result;
  result.seconds = seconds;
  result.measure = clean ? Measure::psnr : Measure::free_energy;
  result.judged_on_the_way = judge_on_the_way || !clean;
  const NoiseLevel noise = noise_level(noisy, options);
  std::vector<ModelPlan> plans;
  for (const Method method : methods) {
    DenoiseOptions of_method = options;
    of_method.method = method;
    of_method.models = 1;
    // On equal terms: what all methods can do.
    if (spike_and_slab(method)) of_method.noise = NoiseSource::learned;
    of_method.batch = 0;
    of_method.nonlocal = of_method.groups = 0;
    if (!needs_noise_level(method)) of_method.sigma.reset();
    FitOptions read;
    read.inference.coding = options.coding;
    read.inference.max_active = options.max_active.value_or(0);
    read.dictionary = options.dictionary;
    read = options_for(read, method);
    of_method.coding = read.inference.coding;
    if (method == Method::online) {  // whatever it learns by, pictures are coded to an error in the end
      of_method.coding.error_gain = options.coding.error_gain;
      of_method.coding.atoms_per_point = options.coding.atoms_per_point;
    }
    of_method.dictionary = read.dictionary;
    if (read.inference.max_active == 0) of_method.max_active.reset();
    if (!spike_and_slab(method)) of_method.candidates.reset();
    of_method.validate();
    plans.push_back(plan_denoising(noisy, of_method, noise).models.front());
    // Samples before half of the iterations do not count, but nobody knows how many there will be.
    if (seconds > 0 && !options.burn_in) plans.back().fit.beta_process.burn_in = FitOptions().beta_process.burn_in;
    result.patch = plans.back().patch;
    MethodRun& run = result.runs.emplace_back();
    run.options = plans.back().fit;
    // Also where they learn by a lasso: lambda follows from it, or patches are coded by it in the end.
    run.noise = !needs_noise_level(method) ? "learned" : options.sigma ? "told" : "measured";
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
    DenoisingCourse course = denoise_with_curve(
        noisy, clean, plans[i], noise.std,
        {.judge_on_the_way = judge_on_the_way, .most_judging = kMostJudging, .seconds = seconds}, watch);
    run.options = course.denoised.learned.front().options;  // a lambda that would leave no code is lowered
    run.fit = std::move(course.denoised.learned.front().fit);
    run.curve = std::move(course.curve);
    run.out_of_time = course.out_of_time;
    run.seconds_judging = course.seconds_judging;
    run.judged_part = course.judged_part;
    run.picture = std::move(course.denoised.picture);
    run.seconds_inferring = course.denoised.learned.front().seconds_inferring;
    if (clean) run.score = score_of(*clean, noisy, run.picture);
  }
  let_them_race(result);
  return result;
}

}  // namespace gsc
