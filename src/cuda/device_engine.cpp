#include "cuda/device_engine.h"

#include <gsc/stopwatch.h>

#include <algorithm>
#include <cmath>

#include "cuda/host_model.h"
#include "cuda/kernels/tree_kernel.h"
#include "cuda/queue/device_error.h"
#include "inference/checks.h"
#include "inference/limits.h"
#include "inference/parallel_blocks.h"
#include "math/numeric_scope.h"
#include "truncated/own_priors/neighbour_sums.h"

namespace gsc::cuda {

DeviceEngine::DeviceEngine(const Data& data, const InferenceOptions& options, int device, Limits limits)
    : data_(data),
      options_(options),
      device_(device),
      host_(data, options),
      queue_(device),
      limits_(limits),
      pass_(queue_, data, options_, limits),
      sums_(queue_),
      no_rescues_(queue_, kRescueCounts) {
  check_options(options);
  no_rescues_.zero();
}

void DeviceEngine::check_options(const InferenceOptions& options) {
  if (!traits(options.method).on_devices)
    throw UsageError("device is '" + options.device.name + "', but the " + std::string(to_string(options.method)) +
                     " method computes on the cpu");
  if (traits(options.method).has_candidates && options.candidates > kMaxCandidates)
    throw UsageError("candidates is " + std::to_string(options.candidates) + ", but device '" + options.device.name +
                     "' goes up to " + std::to_string(kMaxCandidates) + "; lower it, or set device to cpu");
  if (options.missing == Missing::nan)
    throw UsageError("device is '" + options.device.name +
                     "', but missing is nan, and missing values are computed with on the cpu; set device to cpu");
}

namespace {
constexpr Index kMostLatents = 8192;
}

bool DeviceEngine::has(const Model& model, const InferenceOptions& options) {
  return traits(options.method).on_devices && options.missing == Missing::error &&
         model.slab.type() == SlabType::diagonal &&
         state_space(options, model.latents()).candidates <= kMaxCandidates && model.latents() <= kMostLatents;
}

/// Kernels keep rows of H sums in shared memory, of which GPUs have different amounts.
void DeviceEngine::check_room(const Model& model, bool own_priors) const {
  const std::size_t block = limits_.block_bytes > 0 ? limits_.block_bytes : queue_.scratch_limit(1);
  const long most = most_latents(block, own_priors);
  if (model.latents() <= most) return;
  throw DeviceError("device is '" + options_.device.name + "', but there are " + std::to_string(model.latents()) +
                        " latents, and the shared memory of this GPU, " + std::to_string(block >> 10U) +
                        " KB a block, has room for " + std::to_string(most) +
                        (own_priors ? " under priors of their own" : ""),
                    "lower latents, or set device to cpu");
}

void DeviceEngine::check(const Model& model, bool own_priors) const {
  require_fit(model, data_, options_);
  if (has(model, options_)) return check_room(model, own_priors);
  const std::string here = "device is '" + options_.device.name + "', but ";
  if (model.slab.type() == SlabType::full)
    throw UsageError(here + "slab is full, which is computed on the cpu; set slab to diagonal, or device to cpu");
  if (!traits(options_.method).has_candidates && model.latents() > kMaxCandidates)
    throw UsageError(here + "method is exact with " + std::to_string(model.latents()) +
                     " latents; there it goes up to " + std::to_string(kMaxCandidates) + ", set device to cpu");
  throw UsageError(here + "there are " + std::to_string(model.latents()) + " latents; there it goes up to " +
                   std::to_string(kMostLatents) + ", set device to cpu");
}

const DeviceModel& DeviceEngine::on_device(const Model& model) {
  return model_.of(model, [&] {
    DeviceModel made(queue_);
    made.set(to_host_model(model));
    made.prepare(pass_.origin());
    return made;
  });
}

Statistics DeviceEngine::e_step(const Model& model, const Pass& pass) {
  const NumericScope scope;
  check(model);
  const Index count = pass.rows ? static_cast<Index>(pass.rows->size()) : data_.rows();
  Statistics none(model);
  if (options_.mean_products) none.MM = Matrix::Zero(model.latents(), model.latents());
  if (count == 0) return none;
  const RowNumbers numbers = pass_.sum(on_device(model), pass, no_rescues_.data(), sums_);
  Statistics statistics = to_statistics(sums_, model, options_.mean_products);
  statistics.count = static_cast<double>(count);
  statistics.free_energy = numbers.free_energy;
  statistics.clamped_pivots = std::llround(numbers.clamped);
  return statistics;
}

std::unique_ptr<ResidentEm> DeviceEngine::resident(const Model& model, const MStepOptions& options) {
  check(model);
  return DeviceLearning::has(options) ? std::make_unique<DeviceLearning>(queue_, pass_, options) : nullptr;
}

PatchDevice* DeviceEngine::patches() {
  if (!patches_) patches_.emplace(device_);
  return &*patches_;
}

double DeviceEngine::pass_seconds(const Model& model) {
  queue_.wait();
  const Stopwatch watch;
  pass_.run(on_device(model));
  queue_.wait();
  return watch.seconds();
}

Posterior DeviceEngine::infer(const Model& model, const PosteriorRequest& request, Index first, Index count,
                              const StopRequest& stop) {
  const NumericScope scope;
  check(model);
  if (request.states > 0) return host_.infer(model, request, first, count, stop);
  const DeviceModel& there = on_device(model);
  const Truncation truncation = pass_.truncation(model.latents());
  const Index H = model.latents(), K = truncation.candidates;
  Posterior result;
  result.max_active = truncation.max_active;
  result.mean.resize(count, H);
  result.probability.resize(count, H);
  result.log_likelihood.resize(count);
  if (request.variance) result.variance.resize(count, H);
  Vector squares(count);
  Table<std::uint16_t> candidates(request.candidates ? count : 0, K);
  BlockOutput output;
  output.mean = result.mean.data();
  output.probability = result.probability.data();
  if (request.variance) output.second_moment = result.variance.data();
  output.log_sums = result.log_likelihood.data();
  output.squares = squares.data();
  output.clamped = &result.clamped_pivots;
  if (request.candidates) output.candidates = candidates.data();
  output.each_row = [&](long rows, const std::function<void(long)>& body) {
    constexpr double kWork = 0.5;  // nanoseconds a number
    const BlockPlan plan(0, rows, H, kWork * static_cast<double>(H), thread_count(options_.threads));
    parallel_blocks(plan, {}, [&](int, Index begin, Index here) {
      for (Index n = begin; n < begin + here; ++n) body(n);
    });
  };
  pass_.points(there, model.noise, model.intercept, first, count, output, stop);

  const std::vector<double> scales = there.scale_on_host();
  const Eigen::Map<const Vector> scale(scales.data(), H);
  result.log_likelihood.array() += there.constant_on_host() - 0.5 * squares.array();
  result.mean = result.mean * scale.asDiagonal();
  if (request.variance)
    result.variance = (result.variance * scale.cwiseAbs2().asDiagonal() - result.mean.cwiseAbs2()).cwiseMax(0.0);
  if (request.candidates) {
    result.candidates = candidates.cast<std::int32_t>();
    for (Index n = 0; n < count; ++n) {
      std::int32_t* row = result.candidates.row(n).data();
      std::sort(row, row + K);
    }
  }
  return result;
}

namespace {

/// The neighbours of rows first .. first+count-1, by their places in own.before.
OwnLists lists_of(const Model& model, const OwnPriors& own, Index first, Index count, int threads,
                  const StopRequest& stop) {
  own.options.validate();
  require_before(model, own.before);
  OwnLists lists;
  lists.pseudo_counts = own.options.pseudo_counts;
  const Index most = own.neighbours.most();
  lists.most = static_cast<int>(most);
  lists.rows.resize(static_cast<std::size_t>(count * most));
  lists.neighbours.resize(static_cast<std::size_t>(count));
  lists.log_off.resize(static_cast<std::size_t>(count));
  const bool known = own.neighbours.of_rows(first, count, lists.rows.data(), lists.neighbours.data());
  // Nanoseconds a data point: to look for patches that are alike, or to see where they are.
  const double work = known ? 100 : 5e4;
  parallel_blocks(BlockPlan(first, count, most, work, threads), stop, [&](int, Index begin, Index rows) {
    for (Index n = begin; n < begin + rows; ++n) {
      std::uint32_t* list = lists.rows.data() + (n - first) * most;
      std::int32_t& found = lists.neighbours[static_cast<std::size_t>(n - first)];
      if (!known) found = static_cast<std::int32_t>(own.neighbours.of(n, list));
      for (Index i = 0; i < found; ++i) list[i] = static_cast<std::uint32_t>(row_in(own.before, list[i]));
    }
  });
  return lists;
}

}  // namespace

void DeviceEngine::infer_candidates(const Model& model, Index first, Index count, const OwnPriors* own,
                                    SparsePosterior* result, Mosaic* mosaic, const StopRequest& stop) {
  check(model, own != nullptr);
  const DeviceModel& there = on_device(model);
  Vector log_sums(count), squares(result != nullptr ? count : 0);
  SparseOutput sparse{};
  BlockOutput output;
  output.candidates_alone = true;
  output.log_sums = log_sums.data();
  output.mosaic = mosaic;
  output.first = first;
  if (result != nullptr) {
    const Index K = pass_.truncation(model.latents()).candidates;
    result->latents = model.latents();
    result->first = first;
    result->candidates.resize(count, K);
    for (Table<float>* table : {&result->probability, &result->mean, &result->second_moment}) table->resize(count, K);
    sparse = {result->candidates.data(), result->probability.data(), result->mean.data(), result->second_moment.data()};
    output.sparse = &sparse;
    output.squares = squares.data();
    output.clamped = &result->clamped_pivots;
  }
  OwnLists lists;
  if (own != nullptr) {
    lists = lists_of(model, *own, first, count, thread_count(options_.threads), stop);
    output.own = &lists;
  }
  pass_.points(there, model.noise, model.intercept, first, count, output, stop,
               own != nullptr ? &own->before : nullptr);
  if (result == nullptr) return;
  result->log_likelihood = log_sums.array() + there.constant_on_host() - 0.5 * squares.array();
  if (own != nullptr)  // the constant has sum_h log(1 - pi_h) of the model's prior
    result->log_likelihood.array() +=
        Eigen::Map<const Vector>(lists.log_off.data(), count).array() - (-model.pi.array()).log1p().sum();
}

SparsePosterior DeviceEngine::infer_sparse(const Model& model, Index first, Index count, const OwnPriors* own,
                                           const StopRequest& stop) {
  const NumericScope scope;
  if (!traits(options_.method).has_candidates) return Engine::infer_sparse(model, first, count, own, stop);
  SparsePosterior result;
  infer_candidates(model, first, count, own, &result, nullptr, stop);
  return result;
}

class DeviceEngine::DeviceMosaic final : public PatchMosaic {
 public:
  DeviceMosaic(DeviceEngine& engine, const DevicePicture& picture, const Model& model, const PatchWeighting& weighting)
      : engine_(engine),
        model_(model),
        there_(engine.queue_, picture, weighting, W_of(model), intercept_of(model),
               static_cast<long>(engine.data_.rows()), engine.limits_.patches) {}
  void add(Index first, Index count, const OwnPriors* own, SparsePosterior* keep, const StopRequest& stop) override {
    const NumericScope scope;
    engine_.infer_candidates(model_, first, count, own, keep, &there_, stop);
  }
  void give(const PatchSums& to) override { there_.give(to); }

 private:
  static std::vector<float> W_of(const Model& model) {
    const Table<float> W = model.W.transpose().cast<float>();
    return {W.data(), W.data() + W.size()};
  }
  static std::vector<double> intercept_of(const Model& model) {
    return {model.intercept.data(), model.intercept.data() + model.intercept.size()};
  }

  DeviceEngine& engine_;
  const Model& model_;
  Mosaic there_;
};

DeviceEngine::~DeviceEngine() = default;

PatchMosaic* DeviceEngine::mosaic(const Model& model, const PatchWeighting& weighting) {
  mosaic_.reset();
  const DevicePicture* picture = pass_.picture(model.latents());
  if (!traits(options_.method).has_candidates || picture == nullptr || picture->listed() ||
      !pass_.has_room(Mosaic::bytes(*picture, data_.rows()), model.latents()))
    return nullptr;
  try {
    mosaic_ = std::make_unique<DeviceMosaic>(*this, *picture, model, weighting);
  } catch (const DeviceError&) {  // others have taken the room
    return nullptr;
  }
  return mosaic_.get();
}

}  // namespace gsc::cuda
