#include "cuda/device_engine.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "cuda/tree_kernel.h"
#include "data/finite.h"
#include "data/row_list.h"
#include "inference/parallel_blocks.h"
#include "math/numeric_scope.h"

namespace gsc::cuda {
namespace {

using Eigen::Map;

Map<const Vector> vector(const std::vector<double>& values) {
  return {values.data(), static_cast<Index>(values.size())};
}
Map<const Matrix> matrix(const std::vector<double>& values, Index columns) {
  return {values.data(), static_cast<Index>(values.size()) / columns, columns};
}
std::vector<double> list(const Vector& values) { return {values.data(), values.data() + values.size()}; }

ModelView view(const PreparedModel& prepared) {
  ModelView view{};
  view.dimensions = static_cast<int>(prepared.dimensions);
  view.latents = static_cast<int>(prepared.latents);
  view.candidates = prepared.candidates;
  view.max_active = prepared.max_active;
  view.conditional = prepared.selection == Selection::conditional;
  view.projection = prepared.projection.data();
  view.projection_wide = prepared.projection.cols();
  view.eta_offset = prepared.eta_offset.data();
  view.a = prepared.a.data();
  view.score_offset = prepared.score_offset.data();
  view.J = prepared.J.data();
  view.J_wide = prepared.J.cols();
  return view;
}

void add(std::vector<double>& to, const std::vector<double>& from) {
  std::transform(to.begin(), to.end(), from.begin(), to.begin(), std::plus<>());
}

/// What the posteriors of some data points, done apart, add to the sums. The data's own sums have them already.
void add_posteriors(HostSums& to, const HostSums& from) {
  to.log_sum += from.log_sum;
  to.clamped += from.clamped;
  for (auto member : {&HostSums::s, &HostSums::m, &HostSums::zz_single, &HostSums::ZZ, &HostSums::YZ, &HostSums::MM})
    add(to.*member, from.*member);
}

/// sum_n y'Py = trace(P YY)
double weighted_square(const Noise& noise, const Matrix& YY) {
  if (noise.type() == NoiseType::full) return noise.solve(YY).trace();
  return noise.type() == NoiseType::scalar ? YY.sum() / noise.values()(0, 0) : YY.cwiseQuotient(noise.values()).sum();
}

/// Back to the user's units, and from sums about the origin to sums about the intercept, y - b = Y + delta:
///   sum y z' = sum Y z' + delta m'      sum y y' = sum Y Y' + delta Y' + Y delta' + N delta delta'
Statistics unscaled(const Model& model, const PreparedModel& prepared, const HostSums& sums, const Vector& delta,
                    double count) {
  const Index D = prepared.dimensions, H = prepared.latents;
  const auto t = prepared.scale.asDiagonal();
  Statistics statistics(model);
  statistics.count = count;
  statistics.s = vector(sums.s);
  statistics.m = t * vector(sums.m);
  Matrix ZZ = matrix(sums.ZZ, H);
  ZZ.diagonal() += vector(sums.zz_single);
  statistics.ZZ = t * ZZ * t;
  statistics.YZ = matrix(sums.YZ, H) * t;
  statistics.YZ += delta * statistics.m.transpose();
  const auto Y = vector(sums.y);
  if (model.noise.type() == NoiseType::full) {
    statistics.YY = matrix(sums.YY, D);
    statistics.YY += delta * Y.transpose() + Y * delta.transpose() + count * delta * delta.transpose();
    statistics.YY = (0.5 * (statistics.YY + statistics.YY.transpose())).eval();
  } else {
    statistics.YY = vector(sums.yy) + 2 * delta.cwiseProduct(Y) + count * delta.cwiseAbs2();
  }
  if (statistics.y.size() > 0) statistics.y = Y + count * delta;
  if (!sums.MM.empty()) statistics.MM = t * matrix(sums.MM, H) * t;
  statistics.clamped_pivots = std::llround(sums.clamped);
  statistics.free_energy = sums.log_sum + count * prepared.constant - 0.5 * weighted_square(model.noise, statistics.YY);
  return statistics;
}

}  // namespace

DeviceEngine::DeviceEngine(const Data& data, const InferenceOptions& options, int device, Limits limits)
    : data_(data), options_(options), limits_(limits), host_(data, options), queue_(device) {
  check_options(options);
  const NumericScope scope;
  constexpr Index kLook = 4096;
  Matrix rows(std::min(kLook, data.rows()), data.cols());
  data.read(0, rows);
  require_finite(data, 0, rows);
  origin_ = data.rows() > 0 ? Vector(rows.colwise().mean().transpose()) : Vector(Vector::Zero(data.cols()));
}

void DeviceEngine::check_options(const InferenceOptions& options) {
  if (options.method == Method::factored)
    throw UsageError("device is '" + options.device + "', but the factored method computes on the cpu");
  if (options.method == Method::truncated && options.candidates > kMaxCandidates)
    throw UsageError("candidates is " + std::to_string(options.candidates) + ", but device '" + options.device +
                     "' goes up to " + std::to_string(kMaxCandidates) + "; lower it, or set device to cpu");
}

namespace {
constexpr Index kMostLatents = 8192;
}

bool DeviceEngine::has(const Model& model, const InferenceOptions& options) {
  const Index together = options.method == Method::exact ? model.latents() : options.candidates;
  return options.method != Method::factored && model.slab.type() == SlabType::diagonal && together <= kMaxCandidates &&
         model.latents() <= kMostLatents;
}

void DeviceEngine::check(const Model& model) const {
  require_fit(model, data_, options_);
  if (has(model, options_)) return;
  const std::string here = "device is '" + options_.device + "', but ";
  if (model.slab.type() == SlabType::full)
    throw UsageError(here + "slab is full, which is computed on the cpu; set slab to diagonal, or device to cpu");
  if (options_.method == Method::exact)
    throw UsageError(here + "method is exact with " + std::to_string(model.latents()) +
                     " latents; there it goes up to " + std::to_string(kMaxCandidates) + ", set device to cpu");
  throw UsageError(here + "there are " + std::to_string(model.latents()) + " latents; there it goes up to " +
                   std::to_string(kMostLatents) + ", set device to cpu");
}

const PreparedModel& DeviceEngine::prepared(const Model& model) {
  return prepared_.of(model, [&] {
    single_.has_model = double_.has_model = false;
    return PreparedModel(model, options_);
  });
}

Vector DeviceEngine::delta(const Model& model) const {
  return model.intercept.size() > 0 ? Vector(origin_ - model.intercept) : origin_;
}

template <>
DeviceEngine::Part<float>& DeviceEngine::part<float>() {
  return single_;
}
template <>
DeviceEngine::Part<double>& DeviceEngine::part<double>() {
  return double_;
}

/// Rows of any data, less the origin, to the device. At most a block.
template <class Real>
void DeviceEngine::bring(Expectation<Real>& to, const Data& rows, Index first, Index count, Index at,
                         const StopRequest& stop) {
  const Index D = data_.cols();
  Real* staging = to.staging();
  constexpr double kWork = 0.5;  // nanoseconds a number
  const BlockPlan plan(first, count, D, kWork * static_cast<double>(D), thread_count(options_.threads));
  parallel_blocks(plan, stop, [&](int, Index row, Index here) {
    Matrix block(here, D);
    rows.read(row, block);
    require_finite(rows, row, block);
    block.rowwise() -= origin_.transpose();
    Map<Table<Real>>(staging + (row - first) * D, here, D) = block.cast<Real>();
  });
  to.bring(at, count);
}

/// The device's part in this precision, with the data if that fits, and the model.
template <class Real>
Expectation<Real>& DeviceEngine::ready(const Model& model, Index latents) {
  Part<Real>& part = this->part<Real>();
  const PreparedModel& prepared = this->prepared(model);
  const Index N = data_.rows(), D = data_.cols();
  if (!part.expectation) {
    const auto bytes = static_cast<std::size_t>(N * D) * sizeof(Real);
    const Expectation<Real> none(queue_, static_cast<int>(D), 0, limits_.block_rows);
    const std::size_t other = none.bytes(static_cast<int>(latents), prepared.candidates);
    const std::size_t free = queue_.memory().free;
    const std::size_t most =
        limits_.resident_bytes > 0 ? limits_.resident_bytes : free / 10 * 9 - std::min(free / 10 * 9, other);
    part.resident = bytes <= most;
    part.expectation.emplace(queue_, static_cast<int>(D), part.resident ? N : 0, limits_.block_rows);
  }
  Expectation<Real>& expectation = *part.expectation;
  if (!part.has_model) expectation.set_model(view(prepared), list(delta(model)));
  part.has_model = true;
  if (part.resident && !part.loaded) {
    const Index step = expectation.block_rows(static_cast<int>(latents));
    for (Index first = 0; first < N; first += step)
      bring(expectation, data_, first, std::min(step, N - first), first, {});
    part.loaded = true;
  }
  return expectation;
}

/// A pass over the data whose sums are on the device then.
template <class Real>
Expectation<Real>& DeviceEngine::pass(const Model& model, const Pass& pass) {
  Expectation<Real>& expectation = ready<Real>(model, model.latents());
  const RowList listed(data_, pass.rows.value_or(std::span<const Index>()));
  const Data& data = pass.rows ? static_cast<const Data&>(listed) : data_;
  const Index count = data.rows(), step = expectation.block_rows(static_cast<int>(model.latents()));
  expectation.begin({model.noise.type() == NoiseType::full, options_.mean_products}, count,
                    part<Real>().resident && !pass.rows);
  for (Index first = 0; first < count; first += step) {
    if (pass.stop && pass.stop()) throw Interrupted("interrupted");
    const Index here = std::min(step, count - first);
    if (!part<Real>().resident) {
      bring(expectation, data, first, here, 0, {});
      expectation.add_brought(here);
    } else if (pass.rows) {
      const std::vector<std::int64_t> rows(pass.rows->begin() + first, pass.rows->begin() + first + here);
      expectation.add_listed(rows.data(), here);
    } else {
      expectation.add_resident(first, here);
    }
  }
  return expectation;
}

Statistics DeviceEngine::e_step(const Model& model, const Pass& pass) {
  const NumericScope scope;
  check(model);
  if (pass.keys != nullptr)
    throw UsageError("device is '" + options_.device +
                     "', which keeps a copy of the data, but partition sorts the rows; set partition to uniform");
  const Index count = pass.rows ? static_cast<Index>(pass.rows->size()) : data_.rows();
  Statistics none(model);
  if (options_.mean_products) none.MM = Matrix::Zero(model.latents(), model.latents());
  if (count == 0) return none;

  HostSums sums;
  if (options_.precision == Precision::double_precision) {
    sums = this->pass<double>(model, pass).sums();
  } else {
    sums = this->pass<float>(model, pass).sums();
    if (sums.undone > 0) {
      std::vector<Index> rows;
      for (const long n : single_.expectation->undone())
        rows.push_back(pass.rows ? (*pass.rows)[static_cast<std::size_t>(n)] : n);
      add_posteriors(sums, this->pass<double>(model, {.rows = rows, .stop = pass.stop}).sums());
    }
  }
  return unscaled(model, prepared(model), sums, delta(model), static_cast<double>(count));
}

double DeviceEngine::pass_seconds(const Model& model) {
  queue_.wait();
  const auto start = std::chrono::steady_clock::now();
  if (options_.precision == Precision::double_precision)
    pass<double>(model, {});
  else
    pass<float>(model, {});
  queue_.wait();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Point by point. False if some data points need more than this precision.
template <class Real>
bool DeviceEngine::give(const Model& model, Index first, Index count, BlockOutput& output, const StopRequest& stop) {
  Expectation<Real>& expectation = ready<Real>(model, model.latents());
  const PreparedModel& prepared = this->prepared(model);
  const Index D = prepared.dimensions, step = expectation.block_rows(static_cast<int>(model.latents()));
  // y'Py with P = L^-T L^-1: squares of Y L^-T.
  if (model.noise.type() == NoiseType::full) {
    const Matrix inverse = model.noise.solve(Matrix::Identity(D, D));
    const Matrix root = inverse.llt().matrixL();
    expectation.set_weights({root.data(), root.data() + root.size()}, list(root.transpose() * delta(model)),
                            std::vector<double>(static_cast<std::size_t>(D), 1.0));
  } else {
    Vector weight = Vector::Constant(D, 1 / model.noise.values()(0, 0));
    if (model.noise.type() == NoiseType::diagonal) weight = model.noise.values().col(0).cwiseInverse();
    expectation.set_weights({}, list(delta(model)), list(weight));
  }
  expectation.begin_points(count);
  for (Index row = 0; row < count; row += step) {
    if (stop && stop()) throw Interrupted("interrupted");
    const Index here = std::min(step, count - row);
    if (part<Real>().resident) {
      expectation.add_resident(first + row, here, &output);
    } else {
      bring(expectation, data_, first + row, here, 0, {});
      expectation.add_brought(here, &output);
    }
  }
  return std::none_of(output.log_sums, output.log_sums + count,
                      [](double log_sum) { return log_sum == std::numeric_limits<double>::infinity(); });
}

Posterior DeviceEngine::infer(const Model& model, const PosteriorRequest& request, Index first, Index count,
                              const StopRequest& stop) {
  const NumericScope scope;
  check(model);
  if (request.states > 0) return host_.infer(model, request, first, count, stop);
  const PreparedModel& prepared = this->prepared(model);
  const Index H = prepared.latents, K = prepared.candidates;
  Posterior result;
  result.max_active = prepared.max_active;
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
  if (request.candidates) output.candidates = candidates.data();
  if (options_.precision == Precision::double_precision || !give<float>(model, first, count, output, stop))
    give<double>(model, first, count, output, stop);

  result.log_likelihood.array() += prepared.constant - 0.5 * squares.array();
  result.mean = result.mean * prepared.scale.asDiagonal();
  if (request.variance)
    result.variance =
        (result.variance * prepared.scale.cwiseAbs2().asDiagonal() - result.mean.cwiseAbs2()).cwiseMax(0.0);
  if (request.candidates) {
    result.candidates = candidates.cast<std::int32_t>();
    for (Index n = 0; n < count; ++n) {
      std::int32_t* row = result.candidates.row(n).data();
      std::sort(row, row + K);
    }
  }
  return result;
}

SparsePosterior DeviceEngine::infer_sparse(const Model& model, Index first, Index count, const OwnPriors* own,
                                           const StopRequest& stop) {
  if (own != nullptr) return host_.infer_sparse(model, first, count, own, stop);
  const NumericScope scope;
  check(model);
  if (options_.method != Method::truncated) return Engine::infer_sparse(model, first, count, own, stop);
  const PreparedModel& prepared = this->prepared(model);
  const Index K = prepared.candidates, moments_of_point = moment_count(prepared.candidates);
  SparsePosterior result;
  result.latents = prepared.latents;
  result.first = first;
  result.candidates.resize(count, K);
  for (Table<float>* table : {&result.probability, &result.mean, &result.second_moment}) table->resize(count, K);
  result.log_likelihood.resize(count);
  Vector squares(count);
  Table<std::uint16_t> candidates(count, K);
  Matrix moments(count, moments_of_point);
  BlockOutput output;
  output.candidates_alone = true;
  output.log_sums = result.log_likelihood.data();
  output.squares = squares.data();
  output.candidates = candidates.data();
  output.moments = moments.data();
  if (options_.precision == Precision::double_precision || !give<float>(model, first, count, output, stop))
    give<double>(model, first, count, output, stop);

  result.log_likelihood.array() += prepared.constant - 0.5 * squares.array();
  const Index packed = K * (K + 1) / 2;
  for (Index n = 0; n < count; ++n)
    for (Index i = 0; i < K; ++i) {
      const Index position = K - 1 - i;
      const std::uint16_t latent = candidates(n, position);
      const double t = prepared.scale[latent];
      result.candidates(n, i) = latent;
      result.probability(n, i) = static_cast<float>(moments(n, packed + K + position));
      result.mean(n, i) = static_cast<float>(t * moments(n, packed + position));
      result.second_moment(n, i) =
          static_cast<float>(t * t * moments(n, triangle(static_cast<int>(position), static_cast<int>(position))));
    }
  return result;
}

}  // namespace gsc::cuda
