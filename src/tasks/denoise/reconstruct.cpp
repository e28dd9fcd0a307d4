#include "tasks/denoise/reconstruct.h"

#include <gsc/backend/engine.h>
#include <gsc/nonlocal.h>
#include <gsc/team.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "dictionary/coder.h"
#include "inference/patch_mosaic.h"
#include "math/failure.h"
#include "math/numeric_scope.h"
#include "tasks/groups/patch_neighbours.h"
#include "tasks/picture/parallel_rows.h"
#include "tasks/picture/patches.h"

namespace gsc {
namespace {

constexpr Index kBlock = 8192;          // patches that are reconstructed before they are averaged
constexpr Index kSome = 64;             // of them whose means are added up side by side
constexpr double kMostBandBytes = 5e7;  // posteriors of a band where there are no further rounds

/// As reconstruct(), for methods that give codes alone. Every patch i of the noisy picture y becomes D z_i plus its mean, with its code z_i
/// (of a dictionary that was learned online by orthogonal matching pursuit, whatever it was learned by);
/// a pixel becomes, over the patches it is in,
///
///   (w y + sum_i x_i) / (w + count)        w = plan.noisy_weight
Reconstruction reconstruct_from_codes(const Picture& noisy, const Model& model, const ModelPlan& plan,
                                      const std::function<bool(double)>& stop_at) {
  const PatchData data(noisy, grid_positions(noisy.height(), noisy.width(), plan.patch, plan.stride),
                       plan.remove_mean());
  InferenceOptions options = plan.fit.inference;
  options.coding = plan.coding;
  const CoderMaker coder = make_coder(model, options);
  const CentredRows rows = centred_rows(data, model, options.missing);
  const Matrix atoms = model.W.transpose();
  PatchAverager averager(data.positions(), data.channels(), false);
  double done = 0;
  const auto stop = [&] { return stop_at && stop_at(done); };
  Matrix patches, means;
  for (Index first = 0; first < data.rows(); first += kBlock) {
    const Index count = std::min(kBlock, data.rows() - first);
    const Coded coded = code_rows(coder, rows, first, count, model.latents(), options, stop);
    patches.resize(count, data.cols());
    data.read(first, patches, means);
    parallel_rows(count, data.cols(), options.threads, [&](Index i) {
      patches.row(i).setZero();
      if (model.intercept.size() > 0) patches.row(i) = model.intercept.transpose();
      for (Codes::InnerIterator entry(coded.codes, i); entry; ++entry)
        patches.row(i) += entry.value() * atoms.row(entry.row());
    });
    add_means(patches, means);
    averager.add_block(first, patches, Vector::Ones(count));
    done = static_cast<double>(first + count) / static_cast<double>(data.rows());
    if (stop()) throw Interrupted("interrupted while denoising");
  }
  Reconstruction result{averager.result(noisy.depth), {}};
  const Matrix& counts = averager.weights();
  for (std::size_t c = 0; c < noisy.channels.size(); ++c) {
    Matrix& pixels = result.picture.channels[c];
    pixels = ((plan.noisy_weight * noisy.channels[c].array() + counts.array() * pixels.array()) /
              (plan.noisy_weight + counts.array()))
                 .matrix();
  }
  return result;
}

/// One over its expected squared error, as the model sees it.
double patch_weight(double mean_variance, double floor, PatchWeights kind) {
  return kind == PatchWeights::equal ? 1 : 1 / (mean_variance + floor);
}

/// The model with which patches are inferred. Averaging overlapping patches takes more noise out of the result, so each
/// of them may keep some.
Model model_for_inference(const Model& model, const ModelPlan& plan) {
  Model result = model;
  if (plan.inference_noise > 0)
    result.noise = Noise::scalar(plan.inference_noise * plan.inference_noise, model.dimensions());
  return result;
}

/// One reconstruction at work.
class Reconstructor {
 public:
  Reconstructor(const Picture& noisy, const Model& model, const ModelPlan& plan,
                const std::function<bool(double)>& stop_at, double most_bytes)
      : noisy_(noisy),
        model_(model_for_inference(model, plan)),
        plan_(plan),
        stop_at_(stop_at),
        most_bytes_(most_bytes),
        data_(noisy, grid_positions(noisy.height(), noisy.width(), plan.patch, plan.stride), plan.remove_mean()),
        engine_(make_engine(data_, plan.fit.inference)),
        W_(model_.W.transpose().cast<float>()),
        W_squared_(W_.cwiseAbs2()) {
    const double pixels = static_cast<double>(plan.patch * plan.patch), noise = model_.noise.mean_variance();
    mean_variance_ = plan.remove_mean() ? noise / pixels : 0;
    weight_floor_ = plan.weight_floor * noise / pixels;
  }

  Reconstruction run() {
    if (!engine_->has_sparse()) return dense();
    passes_ = plan_.nonlocal_rounds + 1;
    engine_->expect(passes_);
    Reconstruction result = sparse_pass(0);
    for (int round = 1; round <= plan_.nonlocal_rounds; ++round) {
      neighbours_.push_back(look_for_neighbours(result.picture));
      result = sparse_pass(round);
    }
    return result;
  }

 private:
  /// Where the engine computes, if that can be.
  std::unique_ptr<PatchNeighbours> look_for_neighbours(const Picture& pilot) {
    PatchDevice* there = engine_->on_device() ? engine_->patches() : nullptr;
    return std::make_unique<PatchNeighbours>(pilot, plan_.patch, plan_.reach, plan_.neighbours, there,
                                             plan_.fit.inference.threads);
  }

  void report(double share_of_pass) {
    done_ = (static_cast<double>(pass_) + share_of_pass) / static_cast<double>(passes_);
    if (stop_at_ && stop_at_(done_)) throw Interrupted("interrupted while denoising");
  }
  /// Within a band nothing new is done.
  StopRequest stop() const {
    return [this] { return stop_at_ && stop_at_(done_); };
  }

  /// Calls infer(first patch, how many, their own priors) for rows begin .. end-1 of the grid of patches in this round,
  /// which looks `reach` rows further than those.
  template <class Infer>
  auto with_priors(int round, Index begin, Index end, const Infer& infer) {
    const Index columns = grid_columns(), first = begin * columns, count = (end - begin) * columns;
    if (round == 0) return infer(first, count, nullptr);
    const auto own = [&](const SparsePosterior& before) {
      const OwnPriors priors{before, *neighbours_[static_cast<std::size_t>(round - 1)], {}};
      return infer(first, count, &priors);
    };
    if (before_ && before_round_ == round - 1) return own(*before_);
    return own(posterior(round - 1, std::max<Index>(0, begin - plan_.reach), std::min(grid_rows(), end + plan_.reach)));
  }

  SparsePosterior posterior(int round, Index begin, Index end) {
    return with_priors(round, begin, end, [&](Index first, Index count, const OwnPriors* own) {
      return engine_->infer_sparse(model_, first, count, own, stop());
    });
  }

  PatchAverager empty() const { return {data_.positions(), data_.channels(), true, plan_.fit.inference.threads}; }

  /// Where the engine puts patches back by itself, if it does.
  PatchMosaic* mosaic() {
    return engine_->mosaic(model_, {plan_.weights == PatchWeights::equal, weight_floor_, mean_variance_});
  }

  Reconstruction sparse_pass(int round) {
    pass_ = round;
    PatchAverager averager = empty();
    Team& team = *plan_.fit.sharing.team;
    all_or_none(team, [&] {
      PatchMosaic* there = mosaic();
      add_bands(round, averager, there);
      if (there != nullptr) there->give(averager.sums());
    });
    averager.add_up(team);
    return results_of(averager);
  }

  /// This process's share of the picture, put together by `there` unless null.
  void add_bands(int round, PatchAverager& averager, PatchMosaic* there) {
    done_ = static_cast<double>(pass_) / static_cast<double>(passes_);
    const Team& team = *plan_.fit.sharing.team;
    const Index rows = grid_rows(), mine = rows * team.rank() / team.size(),
                end = rows * (team.rank() + 1) / team.size();
    const double row_bytes =
        static_cast<double>(grid_columns() * (plan_.fit.inference.candidates * 14 + 8)) * (round > 0 ? 2 : 1);
    // Bands that no later round looks at cost nothing when they are small.
    const double most_bytes = plan_.nonlocal_rounds > 0 ? most_bytes_ : std::min(most_bytes_, kMostBandBytes);
    const Index band = std::max<Index>(1, static_cast<Index>(most_bytes / row_bytes) - Index{2} * round * plan_.reach);
    const bool whole = round < plan_.nonlocal_rounds && team.alone() && band >= rows;
    for (Index begin = mine; begin < end; begin += band) {
      const Index last = std::min(end, begin + band);
      SparsePosterior part;
      if (there == nullptr) {
        part = posterior(round, begin, last);
        add(part, averager);
      } else {
        with_priors(round, begin, last, [&](Index first, Index count, const OwnPriors* own) {
          there->add(first, count, own, whole ? &part : nullptr, stop());
        });
      }
      clamped_ += static_cast<double>(part.clamped_pivots);
      report(static_cast<double>(last - mine) / static_cast<double>(end - mine));
      if (whole) {
        before_ = std::move(part);
        before_round_ = round;
      }
    }
  }

  Reconstruction results_of(const PatchAverager& averager) const {
    const int threads = plan_.fit.inference.threads;
    double clamped = clamped_;
    plan_.fit.sharing.team->sum(&clamped, 1);
    return {averager.result(noisy_.depth, threads), averager.std_result(threads), std::llround(clamped)};
  }

  /// x = W <s.z> + mean, Var(x_d) = sum_h W_dh^2 Var(s_h z_h): the covariances between latents are left out.
  void add(const SparsePosterior& posterior, PatchAverager& averager) {
    const Index D = data_.cols(), candidates = posterior.candidates.cols();
    const int threads = thread_count(plan_.fit.inference.threads);
    const Index channels = data_.channels();
    Matrix patches, variances, means;
    Vector weights;
    for (Index begin = 0; begin < posterior.rows(); begin += kBlock) {
      const Index count = std::min(kBlock, posterior.rows() - begin);
      patches.resize(count, D);
      variances.resize(count, D);
      means.resize(count, channels);
      weights.resize(count);
      Failure failure;
#pragma omp parallel num_threads(threads)
      {
        const FloatingPointScope floating_point;
        Eigen::RowVectorXf mean(D), variance(D);
        const auto fill_row = [&](Index i) {
          mean.setZero();
          variance.setZero();
          for (Index c = 0; c < candidates; ++c) {
            const Index h = posterior.candidates(begin + i, c);
            const float m = posterior.mean(begin + i, c);
            mean += m * W_.row(h);
            variance += std::max(0.0f, posterior.second_moment(begin + i, c) - m * m) * W_squared_.row(h);
          }
          patches.row(i) = mean.cast<double>();
          if (model_.intercept.size() > 0) patches.row(i) += model_.intercept.transpose();
          for (Index d = 0; d < D; d += channels) patches.row(i).segment(d, channels) += means.row(i);
          variances.row(i) = variance.cast<double>().array() + mean_variance_;
          weights[i] = patch_weight(variances.row(i).mean(), weight_floor_, plan_.weights);
        };
#pragma omp for schedule(static)
        for (Index some = 0; some < count; some += kSome)
          failure.guard([&] {
            const Index end = std::min(count, some + kSome);
            data_.read_means(posterior.first + begin + some, end - some, means.row(some).data());
            for (Index i = some; i < end; ++i) fill_row(i);
          });
      }
      failure.rethrow();
      averager.add_block(posterior.first + begin, patches, weights, variances, threads);
    }
  }

  /// With posteriors of all latents, for methods and engines that have no others.
  Reconstruction dense() {
    PatchAverager averager = empty();
    const Matrix W_transposed = model_.W.transpose(), W_squared = W_transposed.cwiseAbs2();
    Matrix block, means;
    const auto add_block = [&](Index first) {
      const Index count = std::min(kBlock, data_.rows() - first);
      const Posterior posterior =
          engine_->infer(model_, {.variance = true, .states = 0, .candidates = false}, first, count, {});
      clamped_ += static_cast<double>(posterior.clamped_pivots);
      Matrix patches = posterior.mean * W_transposed;
      if (model_.intercept.size() > 0) patches.rowwise() += model_.intercept.transpose();
      if (plan_.remove_mean()) {
        block.resize(count, data_.cols());
        data_.read(first, block, means);
        add_means(patches, means);
      }
      Matrix variances = ((posterior.variance * W_squared).array() + mean_variance_).matrix();
      if (model_.W_variance.size() > 0)
        variances += (posterior.variance + posterior.mean.cwiseAbs2()) * model_.W_variance.transpose();
      Vector weights(count);
      for (Index i = 0; i < count; ++i)
        weights[i] = patch_weight(variances.row(i).mean(), weight_floor_, plan_.weights);
      averager.add_block(first, patches, weights, variances, thread_count(plan_.fit.inference.threads));
    };
    Team& team = *plan_.fit.sharing.team;
    const Index blocks = (data_.rows() + kBlock - 1) / kBlock;
    const Index begin = blocks * team.rank() / team.size(), end = blocks * (team.rank() + 1) / team.size();
    all_or_none(team, [&] {
      for (Index b = begin; b < end; ++b) {
        add_block(b * kBlock);
        report(static_cast<double>(b + 1 - begin) / static_cast<double>(end - begin));
      }
    });
    averager.add_up(team);
    return results_of(averager);
  }

  Index grid_columns() const { return data_.positions().grid_cols(); }
  Index grid_rows() const { return data_.rows() / grid_columns(); }

  const Picture& noisy_;
  const Model model_;
  const ModelPlan& plan_;
  const std::function<bool(double)>& stop_at_;
  double most_bytes_;
  PatchData data_;
  std::unique_ptr<Engine> engine_;
  Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> W_, W_squared_;  // H x D
  double mean_variance_, weight_floor_;
  std::vector<std::unique_ptr<PatchNeighbours>> neighbours_;  // of each round
  std::optional<SparsePosterior> before_;                     // of all patches, after round before_round_
  int before_round_ = -1, pass_ = 0, passes_ = 1;
  double done_ = 0;     ///< of all passes
  double clamped_ = 0;  ///< data points, of this process
};

}  // namespace

Reconstruction reconstruct(const Picture& noisy, const Model& model, const ModelPlan& plan,
                           const std::function<bool(double)>& stop_at) {
  return reconstruct_in_bands(noisy, model, plan, stop_at, kMostPosteriorBytes);
}

Reconstruction reconstruct_in_bands(const Picture& noisy, const Model& model, const ModelPlan& plan,
                                    const std::function<bool(double)>& stop_at, double most_bytes) {
  const NumericScope scope;
  if (point_estimate(plan.fit.inference.method)) return reconstruct_from_codes(noisy, model, plan, stop_at);
  return Reconstructor(noisy, model, plan, stop_at, most_bytes).run();
}

}  // namespace gsc
