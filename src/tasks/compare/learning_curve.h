#pragma once
// Methods against the clock: how good the model was in the course of learning, and when one method got as far as
// another.

#include <gsc/denoise.h>

#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "tasks/denoise/plan.h"

namespace gsc {

struct CurvePoint {
  int iteration = 0;
  double seconds = 0;  ///< of learning until here; judging the models does not count
  double free_energy = 0;
  std::optional<double> quality;  ///< where is_judged(iteration), and at the end
};
/// A point per iteration.
using LearningCurve = std::vector<CurvePoint>;

/// 0, 1, 2, 3, and 5, 7 and their doubles 10, 14, 20, 28, ...: often enough where learning is fast.
bool is_judged(int iteration);

/// What a course costs beside what learning takes by itself.
struct CourseOptions {
  bool judge_on_the_way = false;  ///< pictures: also models of earlier iterations, not just the last
  /// Pictures: seconds for judging those, as a part of the seconds of learning. Where that is too little for all of
  /// them, fewer are judged, and on a part of the picture.
  double most_judging = std::numeric_limits<double>::infinity();
  double seconds = 0;  ///< learning ends after so many, but not before its first iteration; 0: as the options say
};

/// How good a model is; none where that is not defined.
using Judge = std::function<std::optional<double>(const Model&)>;

struct FitCourse {
  FitResult fit;
  LearningCurve curve;
  bool out_of_time = false;  ///< CourseOptions::seconds ended it, at the last complete iteration
};
/// As fit(); the models are kept on the way and judged afterwards (not if the fit was interrupted).
FitCourse fit_with_curve(const Data& data, const FitOptions& options, const Judge& judge = {},
                         Observer* observer = nullptr, const CourseOptions& course = {});

struct DenoisingCourse {
  Denoised denoised;
  LearningCurve curve;
  bool out_of_time = false;
  double seconds_judging = 0;  ///< models of earlier iterations
  double judged_part = 1;      ///< of the picture, on which those were judged
};
/// As denoise() with one model; the quality is the PSNR of the picture that a model gives, if `clean` is known: that of
/// the last model, and of those before it if asked for. Judged on a part of the picture, quality is the PSNR there plus
/// what the last model has more on the whole. While these are judged the observer gets model 1, one beyond the last.
/// `noise` is what the plan was made for.
DenoisingCourse denoise_with_curve(const Picture& noisy, const std::optional<Picture>& clean, const ModelPlan& plan,
                                   double noise, const CourseOptions& options, const DenoiseObserver& observer = {});

/// What methods are compared by: the free energy (or what a method has in its place), or the quality as a PSNR (more is
/// better) or an Amari index (less is).
enum class Measure { free_energy, psnr, amari };

std::optional<double> value_of(const CurvePoint& point, Measure measure);

/// How a curve does against others.
struct Race {
  std::optional<double> target;   ///< the best value with which another ends
  std::optional<double> seconds;  ///< until this one is as good; none: never
};
std::vector<Race> race(const std::vector<LearningCurve>& curves, Measure measure);
/// The same where less of the objective is better, as of methods that minimise one.
std::vector<Race> race_to_the_least(const std::vector<LearningCurve>& curves);

}  // namespace gsc
