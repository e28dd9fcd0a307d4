#include "cuda/device_pass.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <atomic>
#include <limits>

#include "cuda/queue/device_error.h"
#include "data/finite.h"
#include "data/row_list.h"
#include "inference/limits.h"
#include "inference/parallel_blocks.h"

namespace gsc::cuda {
namespace {

std::vector<double> list(const Vector& values) { return {values.data(), values.data() + values.size()}; }

/// Near the data's mean: that of runs of rows all over it.
Vector middle_of(const Data& data) {
  constexpr Index kRuns = 16, kRun = 256;
  Vector sum = Vector::Zero(data.cols());
  Index count = 0;
  for (Index run = 0; run < kRuns; ++run) {
    const Index first = data.rows() * run / kRuns, end = data.rows() * (run + 1) / kRuns;
    Matrix rows(std::min(kRun, end - first), data.cols());
    if (rows.rows() == 0) continue;
    data.read(first, rows);
    require_finite(data, first, rows);
    sum += rows.colwise().sum().transpose();
    count += rows.rows();
  }
  return count > 0 ? Vector(sum / static_cast<double>(count)) : sum;
}

/// Pixels that are not finite are left to what names them.
bool all_finite(const PatchLayout& layout, int threads) {
  const BlockPlan plan(0, layout.height, layout.width, static_cast<double>(layout.width), threads);
  std::atomic<bool> finite = true;
  parallel_blocks(plan, {}, [&](int, Index row, Index count) {
    for (const double* channel : layout.channels) {
      const Eigen::Map<const Eigen::ArrayXd> values(channel + row * layout.width, count * layout.width);
      if (!values.isFinite().all()) finite = false;
    }
  });
  return finite;
}

}  // namespace

DevicePass::DevicePass(Queue& queue, const Data& data, const InferenceOptions& options, Limits limits)
    : queue_(queue), data_(data), options_(options), limits_(limits) {
  origin_ = middle_of(data);
  origin_on_device_ = Array<double>(queue, static_cast<std::size_t>(origin_.size()));
  origin_on_device_.upload(list(origin_));
}

Truncation DevicePass::truncation(Index latents) const {
  const StateSpace states = state_space(options_, latents);
  return {static_cast<int>(states.candidates), static_cast<int>(states.max_active),
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

std::size_t DevicePass::free_bytes() const {
  return limits_.free_bytes > 0 ? limits_.free_bytes : queue_.memory().free;
}

/// Beside the data.
template <class Real>
std::size_t DevicePass::work_bytes(Index latents) {
  const Expectation<Real> none(queue_, static_cast<int>(data_.cols()), 0, limits_.block_rows);
  return none.bytes(static_cast<int>(latents), truncation(latents).candidates);
}

bool DevicePass::has_room(std::size_t bytes, Index latents) {
  std::size_t others = 0;
  if (!single_.expectation && !double_.expectation)
    others =
        options_.precision == Precision::double_precision ? work_bytes<double>(latents) : work_bytes<float>(latents);
  return bytes + others <= free_bytes() / 10 * 9;
}

DevicePicture* DevicePass::picture(Index latents) {
  if (looked_for_picture_) return picture_ ? &*picture_ : nullptr;
  looked_for_picture_ = true;
  const auto* patches = data_.patches();
  if (patches == nullptr) return nullptr;
  const PatchLayout layout = patches->layout();
  const Index values = layout.height * layout.width * static_cast<Index>(layout.channels.size());
  if (data_.rows() * data_.cols() < values || !has_room(static_cast<std::size_t>(values) * sizeof(double), latents) ||
      !all_finite(layout, thread_count(options_.threads)))
    return nullptr;
  try {
    picture_.emplace(queue_, layout);
  } catch (const DeviceError&) {
    return nullptr;
  }
  return &*picture_;
}

template <class Real>
void DevicePass::bring(Expectation<Real>& to, const Data& rows, Index first, Index count, Index at,
                       const StopRequest& stop) {
  const Index D = data_.cols();
  if (&rows == &data_ && picture_) {
    if (stop && stop()) throw Interrupted("interrupted");
    picture_->cut(first, count, origin_on_device_.data(), to.place(at));
    return;
  }
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

/// The device's part in this precision, with the data if that fits, and the model. Of data points that float leaves
/// undone, only these are brought, unless they are many.
template <class Real>
Expectation<Real>& DevicePass::ready(const DeviceModel& model, Index points, const StopRequest& stop) {
  Part<Real>& part = this->part<Real>();
  const bool for_few =
      sizeof(Real) == sizeof(double) && options_.precision == Precision::single_precision && points < data_.rows() / 8;
  if (part.for_few && !for_few) {
    part.expectation.reset();
    part.loaded = false;
  }
  const Index N = data_.rows(), D = data_.cols();
  const Truncation truncation = this->truncation(model.latents());
  if (!part.expectation) {
    picture(model.latents());  // before the rest of the memory is taken
    const auto bytes = static_cast<std::size_t>(N * D) * sizeof(Real);
    const std::size_t others = work_bytes<Real>(model.latents()), free = free_bytes() / 10 * 9;
    const std::size_t most = limits_.resident_bytes > 0 ? limits_.resident_bytes : free - std::min(free, others);
    part.for_few = for_few;
    part.version = 0;
    part.resident = bytes <= most && !for_few;
    part.expectation.emplace(queue_, static_cast<int>(D), part.resident ? N : 0, limits_.block_rows);
  }
  Expectation<Real>& expectation = *part.expectation;
  if (part.version != model.version()) {
    part.version = 0;  // should it throw
    expectation.set_model(model, truncation);
    part.version = model.version();
  }
  if (part.resident && !part.loaded) {
    const Index step = expectation.block_rows(model.latents());
    for (Index first = 0; first < N; first += step)
      bring(expectation, data_, first, std::min(step, N - first), first, stop);
    part.loaded = true;
  }
  return expectation;
}

/// A pass over the data whose sums are on the device then.
template <class Real>
Expectation<Real>& DevicePass::pass(const DeviceModel& model, const Pass& pass) {
  const RowList listed(data_, pass.rows.value_or(std::span<const Index>()));
  const Data& data = pass.rows ? static_cast<const Data&>(listed) : data_;
  Expectation<Real>& expectation = ready<Real>(model, data.rows(), pass.stop);
  const Index count = data.rows(), step = expectation.block_rows(model.latents());
  expectation.begin({model.full_noise(), options_.mean_products}, count, part<Real>().resident && !pass.rows);
  for (Index first = 0; first < count; first += step) {
    if (pass.stop && pass.stop()) throw Interrupted("interrupted");
    const Index here = std::min(step, count - first);
    if (!part<Real>().resident) {
      bring(expectation, data, first, here, 0, pass.stop);
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
  // Log sums that are no number count as on the CPU, which says so where it learns.
  const auto last = [](RowNumbers numbers, double undone) {
    if (undone > 0) numbers.free_energy = std::numeric_limits<double>::quiet_NaN();
    return numbers;
  };
  if (options_.precision == Precision::double_precision) {
    const RowNumbers numbers = take(this->pass<double>(model, pass).totals());
    return last(numbers, numbers.undone);
  }
  Expectation<float>& single = this->pass<float>(model, pass);
  RowNumbers numbers = take(single.totals());
  if (numbers.undone == 0) return numbers;
  std::vector<Index> rows;
  for (const long n : single.undone()) rows.push_back(pass.rows ? (*pass.rows)[static_cast<std::size_t>(n)] : n);
  single.add_posteriors(this->pass<double>(model, {.rows = rows, .stop = pass.stop}).totals());
  const RowNumbers both = take(single.totals());
  return last(both, both.undone - numbers.undone);  // those of float are still counted
}

void DevicePass::run(const DeviceModel& model) {
  if (options_.precision == Precision::double_precision)
    pass<double>(model, {});
  else
    pass<float>(model, {});
}

/// The data points that this precision has left undone. Those nearer to each other than a block are one run, as what is
/// done once more between them costs less than a run.
std::vector<DevicePass::Run> DevicePass::undone_runs(const double* log_sums, Index count) {
  constexpr Index kNear = 4096;
  std::vector<Run> runs;
  for (Index n = 0; n < count; ++n) {
    if (log_sums[n] != std::numeric_limits<double>::infinity()) continue;
    if (runs.empty() || n >= runs.back().end + kNear) runs.push_back({n, n});
    runs.back().end = n + 1;
  }
  return runs;
}

/// The posteriors of these runs.
template <class Real>
void DevicePass::give(const DeviceModel& model, const Noise& noise, const Vector& intercept, Index first, Index count,
                      const std::vector<Run>& runs, BlockOutput& output, const StopRequest& stop,
                      const SparsePosterior* before) {
  Index points = 0;
  for (const Run& run : runs) points += run.end - run.begin;
  Expectation<Real>& expectation = ready<Real>(model, points, stop);
  if (output.own != nullptr)
    expectation.set_before(before->rows(), static_cast<int>(before->candidates.cols()), before->candidates.data(),
                           before->probability.data(), before->mean.data(), before->second_moment.data());
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
  for (const Run& run : runs) {
    expectation.go_to(run.begin);
    for (Index row = run.begin; row < run.end; row += step) {
      if (stop && stop()) throw Interrupted("interrupted");
      const Index here = std::min(step, run.end - row);
      if (part<Real>().resident) {
        expectation.add_resident(first + row, here, &output);
      } else {
        bring(expectation, data_, first + row, here, 0, stop);
        expectation.add_brought(here, &output);
      }
    }
  }
}

void DevicePass::points(const DeviceModel& model, const Noise& noise, const Vector& intercept, Index first, Index count,
                        BlockOutput& output, const StopRequest& stop, const SparsePosterior* before) {
  std::vector<Run> runs = {{0, count}};
  if (options_.precision == Precision::single_precision) {
    give<float>(model, noise, intercept, first, count, runs, output, stop, before);
    runs = undone_runs(output.log_sums, count);
  }
  if (runs.empty()) return;
  give<double>(model, noise, intercept, first, count, runs, output, stop, before);
  // What double cannot tell either is no number, as on the CPU.
  std::replace(output.log_sums, output.log_sums + count, std::numeric_limits<double>::infinity(),
               std::numeric_limits<double>::quiet_NaN());
}

}  // namespace gsc::cuda
