#include "tasks/compare/learning_curve.h"

#include <gsc/metrics.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <map>

#include "tasks/denoise/reconstruct.h"

namespace gsc {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Models by iteration. Only parameters: the rest of a FitState may be as large as the data.
using KeptModels = std::map<int, Model>;

void keep(KeptModels& models, const FitState& state) {
  const int iteration = state.history.back().iteration;
  if (is_judged(iteration)) models[iteration] = state.model;
}

/// Whether the time is up; not before the first iteration is done, so that there is something to judge.
class TimeLimit {
 public:
  explicit TimeLimit(double seconds) : seconds_(seconds) {}
  void on_iteration(const FitState& state) { begun_ = begun_ || state.history.back().iteration > 0; }
  bool is_up() {
    up_ = up_ || (seconds_ > 0 && begun_ && seconds_since(start_) > seconds_);
    return up_;
  }

 private:
  double seconds_;
  Clock::time_point start_ = Clock::now();
  bool begun_ = false, up_ = false;
};

class KeepingObserver final : public Observer {
 public:
  KeepingObserver(KeptModels& models, bool keeps, TimeLimit& limit, Observer* inner)
      : models_(models), keeps_(keeps), limit_(limit), inner_(inner) {}
  void on_iteration(const FitState& state) override {
    limit_.on_iteration(state);
    if (keeps_) keep(models_, state);
    if (inner_ != nullptr) inner_->on_iteration(state);
  }
  void on_note(const std::string& note) override {
    if (inner_ != nullptr) inner_->on_note(note);
  }
  bool stop_requested() override {
    stopped_ = stopped_ || (inner_ != nullptr && inner_->stop_requested());
    return stopped_ || limit_.is_up();
  }
  /// By the one who watches, and not by the clock.
  bool stopped() const { return stopped_; }

 private:
  KeptModels& models_;
  bool keeps_, stopped_ = false;
  TimeLimit& limit_;
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

FitCourse fit_with_curve(const Data& data, const FitOptions& options, const Judge& judge, Observer* observer,
                         const CourseOptions& course) {
  KeptModels models;
  TimeLimit limit(course.seconds);
  KeepingObserver watch(models, static_cast<bool>(judge), limit, observer);
  FitResult result = fit(data, options, &watch);
  const bool out_of_time = result.reason == StopReason::interrupted && !watch.stopped();
  if (out_of_time) result.reason = StopReason::iterations;
  LearningCurve curve = curve_of(result.state.history);
  if (judge && result.reason != StopReason::interrupted) {
    judge_kept(curve, models, judge);
    curve.back().quality = judge(result.model());
  }
  return {std::move(result), std::move(curve), out_of_time};
}

namespace {

/// Of so many models that are kept the last ones of equal steps, so few that there is time for them.
void thin_out(KeptModels& models, std::size_t most) {
  const std::size_t count = models.size();
  std::size_t i = 0;
  std::erase_if(models, [&](const auto&) {
    ++i;  // the i-th of count stays where it begins a new one of `most` steps
    return i * most / count == (i - 1) * most / count;
  });
}

/// A part from the middle, of the same shape, with this share of the pixels but at least `least` on a side.
Picture middle_of(const Picture& picture, double share, Index least) {
  const auto side = [&](Index whole) {
    const auto asked = static_cast<Index>(std::lround(std::sqrt(share) * static_cast<double>(whole)));
    return std::min(whole, std::max(asked, least));
  };
  const Index height = side(picture.height()), width = side(picture.width());
  Picture part;
  part.depth = picture.depth;
  for (const Matrix& channel : picture.channels)
    part.channels.emplace_back(
        channel.block((picture.height() - height) / 2, (picture.width() - width) / 2, height, width));
  return part;
}

/// Judges the models of earlier iterations in the time there is for it: all on the whole picture, or else few on a part
/// of it, each as well as the last one.
class PictureJudge {
 public:
  PictureJudge(const Picture& noisy, const Picture& clean, const ModelPlan& plan, double seconds, double seconds_each)
      : noisy_(noisy), clean_(clean), plan_(plan), share_(seconds / seconds_each) {}

  /// Fills in the curve, whose last point has been judged. Returns the share of the pixels that were looked at.
  double judge(LearningCurve& curve, KeptModels& models, const Model& last, const std::function<bool(double)>& go_on) {
    constexpr std::size_t kFew = 6;
    constexpr Index kLeastPatches = 4;  // on a side
    models.erase(curve.back().iteration);
    if (static_cast<double>(models.size()) <= share_) {
      judge_kept(curve, models, [&](const Model& model) { return psnr_of(model, noisy_, clean_, go_on); });
      return 1;
    }
    if (models.size() > kFew) thin_out(models, kFew);
    const double share = share_ / static_cast<double>(models.size() + 1);
    const Picture noisy = middle_of(noisy_, share, kLeastPatches * plan_.patch);
    const Picture clean = middle_of(clean_, share, kLeastPatches * plan_.patch);
    const double more = *curve.back().quality - psnr_of(last, noisy, clean, go_on);
    judge_kept(curve, models, [&](const Model& model) { return more + psnr_of(model, noisy, clean, go_on); });
    return static_cast<double>(noisy.channels[0].size()) / static_cast<double>(noisy_.channels[0].size());
  }

 private:
  double psnr_of(const Model& model, const Picture& noisy, const Picture& clean,
                 const std::function<bool(double)>& go_on) const {
    return psnr(clean, reconstruct(noisy, model, plan_, go_on).picture, clean_.peak());
  }

  const Picture &noisy_, &clean_;
  const ModelPlan& plan_;
  double share_;  // how many whole pictures there is time for
};

}  // namespace

DenoisingCourse denoise_with_curve(const Picture& noisy, const std::optional<Picture>& clean, const ModelPlan& plan,
                                   double noise, const CourseOptions& options, const DenoiseObserver& observer) {
  KeptModels models;
  DenoisingCourse course;
  DenoisePlan alone;
  alone.noise.std = noise;
  alone.models = {plan};
  alone.groups.threads = plan.fit.inference.threads;
  TimeLimit limit(options.seconds);
  bool cut = false;
  alone.out_of_time = [&] { return cut = limit.is_up(); };
  course.denoised = denoise_as_planned(noisy, alone, [&](const DenoiseProgress& now) {
    if (now.state != nullptr) limit.on_iteration(*now.state);
    if (clean && options.judge_on_the_way && now.state != nullptr) keep(models, *now.state);
    return !observer || observer(now);
  });
  const Denoised::Learned& learned = course.denoised.learned.front();
  course.out_of_time = cut && learned.fit.reason == StopReason::iterations;
  course.curve = curve_of(learned.fit.state.history);
  if (!clean) return course;

  course.curve.back().quality = psnr(*clean, course.denoised.picture, clean->peak());
  if (!options.judge_on_the_way) return course;
  const DenoiseProgress judging{.fraction = 1, .model = 1, .models = 1, .state = nullptr};
  const auto go_on = [&](double) { return !observer || observer(judging); };
  const auto start = Clock::now();
  ModelPlan judged = plan;
  if (plan.usual_lambda) judged.coding.lambda = learned.options.inference.coding.lambda;
  PictureJudge judge(noisy, *clean, judged, options.most_judging * course.curve.back().seconds,
                     learned.seconds_inferring);
  course.judged_part = judge.judge(course.curve, models, learned.fit.model(), go_on);
  course.seconds_judging = seconds_since(start);
  return course;
}

std::optional<double> value_of(const CurvePoint& point, Measure measure) {
  return measure == Measure::free_energy ? point.free_energy : point.quality;
}

namespace {

/// The first time at which the curve is as good as `target`, up to rounding.
std::optional<double> first_time(const LearningCurve& curve, Measure measure, double target, bool less_is_better) {
  const double rounding = std::isfinite(target) ? 1e-9 * std::abs(target) : 0;
  for (const CurvePoint& point : curve) {
    const std::optional<double> value = value_of(point, measure);
    if (!value) continue;
    if (less_is_better ? *value <= target + rounding : *value >= target - rounding) return point.seconds;
  }
  return {};
}

std::vector<Race> race(const std::vector<LearningCurve>& curves, Measure measure, bool less_is_better) {
  std::vector<Race> races(curves.size());
  for (std::size_t i = 0; i < curves.size(); ++i) {
    for (std::size_t j = 0; j < curves.size(); ++j) {
      const std::optional<double> end = j == i ? std::nullopt : value_of(curves[j].back(), measure);
      std::optional<double>& best = races[i].target;
      if (end && (!best || (less_is_better ? *end < *best : *end > *best))) best = end;
    }
    if (races[i].target) races[i].seconds = first_time(curves[i], measure, *races[i].target, less_is_better);
  }
  return races;
}

}  // namespace

std::vector<Race> race(const std::vector<LearningCurve>& curves, Measure measure) {
  return race(curves, measure, less_is_better(measure));
}

std::vector<Race> race_to_the_least(const std::vector<LearningCurve>& curves) {
  return race(curves, Measure::free_energy, true);
}

}  // namespace gsc
