#pragma once
// Methods side by side on the same data or picture, with the same options and seed: how good each is in the end, and
// how soon it was as good as the others.

#include <gsc/denoise.h>

#include <optional>
#include <string>
#include <vector>

#include "tasks/compare/learning_curve.h"
#include "tasks/compare/scores.h"

namespace gsc {

/// One method at work.
struct MethodRun {
  FitOptions options;
  FitResult fit;
  LearningCurve curve;
  Race race;                 ///< against the other methods
  bool out_of_time = false;  ///< what ended learning; else fit.reason
  std::string noise;         ///< where the noise level is from: told, measured, estimated, learned; empty: has none

  // Of a picture only.
  Picture picture;  ///< denoised
  std::optional<double> seconds_inferring;
  std::optional<PictureScore> score;
  double seconds_judging = 0, judged_part = 1;  ///< of models of earlier iterations (learning_curve.h)

  Method method() const { return options.inference.method; }
};

/// FastICA beside the methods that learn a model: it has a mixing matrix, and nothing that could be called an
/// objective.
struct FasticaCourse {
  LearningCurve curve;  ///< quality alone counts
  Race race;
  bool converged = false, out_of_time = false;
};

/// What the method makes better, in words. Values are comparable where the words are the same: those of online learning
/// depend on its coding, and of the lasso on its weight.
std::string objective_of(const MethodRun& run);

struct Comparison {
  Measure measure = Measure::free_energy;
  bool judged_on_the_way = true;  ///< else the quality is known at the end only, and nobody knows who was sooner
  std::vector<MethodRun> runs;
  std::optional<FasticaCourse> fastica;
  Index patch = 0;     ///< pixels on a side of a basis function of a picture
  double seconds = 0;  ///< for each method to learn; 0: as many iterations for each

  /// Whether learning took clearly longer than the seconds for it, as of a method whose first iteration does.
  bool overran(const LearningCurve& curve) const;
  /// Whether all methods make the same thing better, so that their values of it can be compared.
  bool same_objective() const;
};

/// Of the seconds of learning what judging models of earlier iterations of a picture may take.
inline constexpr double kMostJudging = 0.1;

/// Watches. Every method may be left alone.
class CompareObserver {
 public:
  virtual ~CompareObserver() = default;
  /// All methods can do it; learning begins.
  virtual void on_plan(const Comparison& comparison) { (void)comparison; }
  virtual void on_iteration(const MethodRun& run, const FitState& state) { (void)run, (void)state; }
  /// What the user should know of this method's options or data, before its first iteration.
  virtual void on_note(const MethodRun& run, const std::string& note) { (void)run, (void)note; }
  /// Now and then after learning: while the picture is denoised, or models of earlier iterations are judged.
  virtual void on_denoising(const MethodRun& run, bool judging) { (void)run, (void)judging; }
  /// Asked between blocks of data; true ends the comparison with Interrupted.
  virtual bool stop_requested() { return false; }
};

/// On a table. `truth`: the square basis that generated the data; methods are then judged by the Amari index, which
/// costs next to nothing, so all along. `seconds`: for each method to learn, where that ends before its iterations do.
/// options.known_noise is told to the methods that must be told; the others learn it. `fastica`: on the columns as
/// channels, too, where the truth is known. Throws UsageError before any work if one of
/// the methods cannot do it.
Comparison compare_on_table(const Data& data, const FitOptions& options, const std::vector<Method>& methods,
                            const std::optional<Matrix>& truth, CompareObserver& observer, double seconds = 0,
                            bool fastica = false);

/// On a picture, one model per method; judged by the PSNR if `clean` is known. Models on the way are judged only if
/// asked for (`judge_on_the_way`), in at most kMostJudging of the time of learning. Methods that must be told the noise
/// are told options.sigma, or else what is measured; the others learn it.
Comparison compare_on_picture(const Picture& noisy, const std::optional<Picture>& clean, const DenoiseOptions& options,
                              const std::vector<Method>& methods, bool judge_on_the_way, CompareObserver& observer,
                              double seconds = 0);

}  // namespace gsc
