#include "cuda/device_pass.h"

#include <Eigen/Cholesky>
#include <algorithm>

#include "data/finite.h"
#include "data/row_list.h"
#include "inference/parallel_blocks.h"

namespace gsc::cuda {
namespace {

std::vector<double> list(const Vector& values) { return {values.data(), values.data() + values.size()}; }

}  // namespace

DevicePass::DevicePass(Queue& queue, const Data& data, const InferenceOptions& options, Limits limits)
    : queue_(queue), data_(data), options_(options), limits_(limits) {
  constexpr Index kLook = 4096;
  Matrix rows(std::min(kLook, data.rows()), data.cols());
  data.read(0, rows);
  require_finite(data, 0, rows);
  origin_ = data.rows() > 0 ? Vector(rows.colwise().mean().transpose()) : Vector(Vector::Zero(data.cols()));
  origin_on_device_ = Array<double>(queue, static_cast<std::size_t>(origin_.size()));
  origin_on_device_.upload(list(origin_));
}

Truncation DevicePass::truncation(Index latents) const {
  const bool exact = options_.method == Method::exact;
  const InferenceOptions all = options_.resolved(latents);
  return {static_cast<int>(exact ? latents : all.candidates), static_cast<int>(exact ? latents : all.max_active),
          options_.selection == Selection::conditional};
}

template <>
DevicePass::Part<float>& DevicePass::part<float>() {
  return single_;
}
template <>
DevicePass::Part<double>& DevicePass::part<double>() {
  return double_;
}

/// Rows of any data, less the origin, to the device. At most a block.
template <class Real>
void DevicePass::bring(Expectation<Real>& to, const Data& rows, Index first, Index count, Index at,
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
    Eigen::Map<Table<Real>>(staging + (row - first) * D, here, D) = block.cast<Real>();
  });
  to.bring(at, count);
}

/// The device's part in this precision, with the data if that fits, and the model.
template <class Real>
Expectation<Real>& DevicePass::ready(const DeviceModel& model) {
  Part<Real>& part = this->part<Real>();
  const Index N = data_.rows(), D = data_.cols();
  const Truncation truncation = this->truncation(model.latents());
  if (!part.expectation) {
    const auto bytes = static_cast<std::size_t>(N * D) * sizeof(Real);
    const Expectation<Real> none(queue_, static_cast<int>(D), 0, limits_.block_rows);
    const std::size_t other = none.bytes(model.latents(), truncation.candidates), free = queue_.memory().free;
    const std::size_t most =
        limits_.resident_bytes > 0 ? limits_.resident_bytes : free / 10 * 9 - std::min(free / 10 * 9, other);
    part.resident = bytes <= most;
    part.expectation.emplace(queue_, static_cast<int>(D), part.resident ? N : 0, limits_.block_rows);
  }
  Expectation<Real>& expectation = *part.expectation;
  if (part.version != model.version()) expectation.set_model(model, truncation);
  part.version = model.version();
  if (part.resident && !part.loaded) {
    const Index step = expectation.block_rows(model.latents());
    for (Index first = 0; first < N; first += step)
      bring(expectation, data_, first, std::min(step, N - first), first, {});
    part.loaded = true;
  }
  return expectation;
}

/// A pass over the data whose sums are on the device then.
template <class Real>
Expectation<Real>& DevicePass::pass(const DeviceModel& model, const Pass& pass) {
  Expectation<Real>& expectation = ready<Real>(model);
  const RowList listed(data_, pass.rows.value_or(std::span<const Index>()));
  const Data& data = pass.rows ? static_cast<const Data&>(listed) : data_;
  const Index count = data.rows(), step = expectation.block_rows(model.latents());
  expectation.begin({model.full_noise(), options_.mean_products}, count, part<Real>().resident && !pass.rows);
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

RowNumbers DevicePass::sum(const DeviceModel& model, const Pass& pass, const double* rescues, DeviceSums& sums) {
  const auto count = static_cast<double>(pass.rows ? static_cast<Index>(pass.rows->size()) : data_.rows());
  const auto take = [&](const Totals& totals) {
    sums.take(totals, model, origin(), count, rescues);
    return sums.numbers();
  };
  if (options_.precision == Precision::double_precision) return take(this->pass<double>(model, pass).totals());
  Expectation<float>& single = this->pass<float>(model, pass);
  RowNumbers numbers = take(single.totals());
  if (numbers.undone == 0) return numbers;
  std::vector<Index> rows;
  for (const long n : single.undone()) rows.push_back(pass.rows ? (*pass.rows)[static_cast<std::size_t>(n)] : n);
  single.add_posteriors(this->pass<double>(model, {.rows = rows, .stop = pass.stop}).totals());
  return take(single.totals());
}

void DevicePass::run(const DeviceModel& model) {
  if (options_.precision == Precision::double_precision)
    pass<double>(model, {});
  else
    pass<float>(model, {});
}

/// False if some data points need more than this precision.
template <class Real>
bool DevicePass::give(const DeviceModel& model, const Noise& noise, const Vector& intercept, Index first, Index count,
                      BlockOutput& output, const StopRequest& stop) {
  Expectation<Real>& expectation = ready<Real>(model);
  const Index D = data_.cols(), step = expectation.block_rows(model.latents());
  const Vector delta = intercept.size() > 0 ? Vector(origin_ - intercept) : origin_;
  // y'Py with P = L^-T L^-1: squares of Y L^-T.
  if (noise.type() == NoiseType::full) {
    const Matrix inverse = noise.solve(Matrix::Identity(D, D));
    const Matrix root = inverse.llt().matrixL();
    expectation.set_weights({root.data(), root.data() + root.size()}, list(root.transpose() * delta),
                            std::vector<double>(static_cast<std::size_t>(D), 1.0));
  } else {
    Vector weight = Vector::Constant(D, 1 / noise.values()(0, 0));
    if (noise.type() == NoiseType::diagonal) weight = noise.values().col(0).cwiseInverse();
    expectation.set_weights({}, list(delta), list(weight));
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

void DevicePass::points(const DeviceModel& model, const Noise& noise, const Vector& intercept, Index first, Index count,
                        BlockOutput& output, const StopRequest& stop) {
  if (options_.precision == Precision::double_precision ||
      !give<float>(model, noise, intercept, first, count, output, stop))
    give<double>(model, noise, intercept, first, count, output, stop);
}

}  // namespace gsc::cuda
