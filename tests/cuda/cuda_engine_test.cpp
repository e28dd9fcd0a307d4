// The device's engine, on the emulation of cuda/queue/warp.h or (gsc_gpu_tests) on a GPU: against brute force, and against
// the engine of the CPU.

#include <gsc/backend/engine.h>
#include <gsc/fit.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>

#include "cuda/auto_engine.h"
#include "cuda/queue/device_error.h"
#include "cuda_support.h"
#include "expect_error.h"
#include "oracle.h"

namespace gsc::test {
namespace {

using cuda::Limits;

/// In single precision the device has the data itself in float, so brute force, which does not, is held against sums
/// and means with the tolerance of float.
void expect_as_on_the_cpu_in_single(const Model& model, const Matrix& values, const InferenceOptions& options) {
  const MatrixData data(values);
  EXPECT_LT(relative_difference(e_step(model, data, on_device(in_single(options))), e_step(model, data, options)),
            1e-5);
  const Posterior got = infer(model, data, on_device(in_single(options)), {.variance = true});
  const Posterior expected = infer(model, data, options, {.variance = true});
  EXPECT_LT((got.mean - expected.mean).cwiseAbs().maxCoeff(), 1e-4);
  EXPECT_LT((got.probability - expected.probability).cwiseAbs().maxCoeff(), 1e-4);
  EXPECT_LT((got.variance - expected.variance).cwiseAbs().maxCoeff(), 1e-3);
  EXPECT_LT((got.log_likelihood - expected.log_likelihood).cwiseAbs().maxCoeff(), 1e-3);
}

/// Data like patches of a picture: a bright sky in the first rows, a level far from zero, noise of 25. What float loses
/// is held against the same sums in double, one quantity at a time.
TEST_F(OnADevice, LosesLittleInSingleOnPatches) {
  Random random(3);
  Model model = random_model({.dimensions = 16, .latents = 40, .intercept = true, .pi_low = 0.02, .pi_high = 0.2}, 5);
  model.W *= 20;
  model.W.col(0).setConstant(40);  // a level that most patches have
  model.pi[0] = 0.9;
  model.intercept.setConstant(90);
  model.noise = Noise::scalar(625, 16);
  Matrix values = sample(model, 1200, random).data;
  values.topRows(400).array() += 90;
  const MatrixData data(values);
  const InferenceOptions options = truncated(7, 4);
  const Statistics expected = e_step(model, data, options), got = e_step(model, data, on_device(in_single(options)));
  const auto lost = [](const Matrix& a, const Matrix& b) { return (a - b).norm() / b.norm(); };
  // A log sum has a rounding or so of float, 6e-8 of it. In the emulation roots, powers of two and logarithms are right
  // to the last bit, and over 1200 data points the errors cancel (below 1e-8). A GPU's own are wrong by up to two units
  // in the last place, the same way for like arguments, so less cancels: 1.1e-8 on an H200, when exponentials were
  // wrong by 2 + 1.17 |x| of them. Half a rounding holds for both; a sum in float or an offset that is lost would be a
  // thousand times as much.
  EXPECT_LT(std::abs(got.free_energy / expected.free_energy - 1), 3e-8);
  EXPECT_LT(lost(got.s, expected.s), 1e-6);
  EXPECT_LT(lost(got.m, expected.m), 1e-6);
  EXPECT_LT(lost(got.ZZ, expected.ZZ), 1e-6);
  EXPECT_LT(lost(got.YZ, expected.YZ), 1e-6);
  EXPECT_LT(lost(got.YY, expected.YY), 1e-7);
  EXPECT_LT(lost(got.y, expected.y), 1e-7);
  Rescues rescues;
  const Model in_double = m_step(model, expected, {}, rescues), in_float = m_step(model, got, {}, rescues);
  EXPECT_LT(lost(in_float.W, in_double.W), 1e-6);
}

/// Every number of candidates takes another way through the tree: see the table of cuda/kernels/tree_kernel.h.
TEST_F(OnADevice, TreesOfAllSizesEqualBruteForce) {
  for (Index H : {1, 2, 3, 5, 6, 8, 10, 11, 12}) {
    SCOPED_TRACE(::testing::Message() << H << " candidates");
    const Model model =
        random_model({.dimensions = 4, .latents = H, .intercept = H % 2 == 0}, 10 + static_cast<unsigned>(H));
    const oracle::Oracle oracle(model);
    const Matrix data = random_data(model, H > 10 ? 2 : 5, 3);
    for (Index active : {H, std::max<Index>(1, H / 2), Index{1}}) {
      SCOPED_TRACE(::testing::Message() << "at most " << active << " active");
      expect_brute_force(model, oracle, data, on_device(truncated(H, active)));
      expect_as_on_the_cpu_in_single(model, data, truncated(H, active));
    }
  }
}

TEST_F(OnADevice, EqualsBruteForceForAllNoises) {
  for (const ModelKnobs& knobs : diagonal_slabs(5, 7)) {
    SCOPED_TRACE(::testing::Message() << knobs);
    const Model model = random_model(knobs, 1);
    const oracle::Oracle oracle(model);
    const Matrix data = random_data(model, 12, 2);
    for (const Selection selection : {Selection::singleton, Selection::conditional}) {
      expect_brute_force(model, oracle, data, on_device(truncated(4, 3, selection)));
      expect_as_on_the_cpu_in_single(model, data, truncated(4, 3, selection));
    }
    expect_brute_force(model, oracle, data, on_device(exact()));
  }
}

TEST_F(OnADevice, ChoosesTheBestCandidates) {
  const Model model = random_model({.dimensions = 6, .latents = 9, .pi_high = 0.4}, 5);
  const oracle::Oracle oracle(model);
  const Matrix values = random_data(model, 40, 6);
  const MatrixData data(values);
  for (const Selection selection : {Selection::singleton, Selection::conditional}) {
    const Posterior got = infer(model, data, on_device(truncated(5, 3, selection)), {.candidates = true});
    for (Index n = 0; n < values.rows(); ++n)
      EXPECT_TRUE(are_best_candidates(oracle, oracle::point(values, n), candidates_of(got, n), selection)) << n;
  }
}

struct Size {
  Index rows, dimensions, latents, candidates, max_active;
};

/// Latents in registers (up to 64, 256, 512) and in memory; more data points than one tile of any kernel.
TEST_F(OnADevice, SumsAreThoseOfTheCpu) {
  for (const Size& size :
       {Size{1500, 9, 40, 6, 3}, Size{300, 12, 200, 10, 8}, Size{70, 8, 300, 5, 3}, Size{40, 8, 600, 12, 4}}) {
    for (const Selection selection : {Selection::singleton, Selection::conditional}) {
      for (const NoiseType noise : {NoiseType::scalar, NoiseType::full}) {
        if (noise == NoiseType::full && size.rows > 500) continue;
        SCOPED_TRACE(::testing::Message() << size.latents << " latents, " << to_string(selection));
        const Model model = random_model({.dimensions = size.dimensions,
                                          .latents = size.latents,
                                          .noise = noise,
                                          .intercept = noise == NoiseType::full,
                                          .pi_low = 0.01,
                                          .pi_high = 0.05,
                                          .noise_std = 2},
                                         7);
        const MatrixData data(random_data(model, size.rows, 8));
        InferenceOptions options = truncated(size.candidates, size.max_active, selection);
        options.mean_products = noise == NoiseType::scalar;
        const Statistics expected = e_step(model, data, options), got = e_step(model, data, on_device(options));
        EXPECT_LT(relative_difference(got, expected), 1e-11);
        const Statistics single = e_step(model, data, on_device(in_single(options)));
        EXPECT_LT(relative_difference(single, e_step(model, data, in_single(options))), 1e-5);
        EXPECT_EQ(single.count, expected.count);
      }
    }
  }
}

TEST_F(OnADevice, GivesTheSameBitsAgain) {
  const Model model = random_model({.dimensions = 9, .latents = 40, .pi_high = 0.3}, 7);
  const MatrixData data(random_data(model, 1500, 8));
  for (const InferenceOptions& options : {on_device(truncated(6, 3)), on_device(in_single(truncated(6, 3)))}) {
    const std::unique_ptr<Engine> engine = make_engine(data, options);
    const Statistics once = engine->e_step(model, {});
    EXPECT_TRUE(same_bits(engine->e_step(model, {}), once));
    EXPECT_TRUE(same_bits(e_step(model, data, options), once));
  }
}

/// Data that does not fit comes in blocks; so do rows from a list.
TEST_F(OnADevice, DataLargerThanItsMemoryIsBroughtInBlocks) {
  const Model model = random_model({.dimensions = 6, .latents = 12, .intercept = true, .pi_high = 0.4}, 3);
  const Matrix values = random_data(model, 260, 4);
  const MatrixData data(values);
  const std::vector<Index> rows = {7,  8,  9,  3,  259, 0,  3,  100, 11, 12, 13, 14, 70, 71, 72, 73, 74, 75, 76, 77,
                                   78, 79, 80, 81, 82,  83, 84, 85,  86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96};
  const MatrixData chosen(Matrix(values(rows, Eigen::all)));
  const InferenceOptions options = truncated(5, 3);
  const Statistics all = e_step(model, data, options), some = e_step(model, chosen, options);
  const Posterior points = infer(model, data, options, {.variance = true}, 20, 150);
  for (const Limits& limits : {Limits{}, Limits{.block_rows = 32}, Limits{.resident_bytes = 1, .block_rows = 32}}) {
    SCOPED_TRACE(::testing::Message() << limits.resident_bytes << ", " << limits.block_rows);
    limits_of_tests = limits;
    const std::unique_ptr<Engine> engine = make_engine(data, on_device(options));
    EXPECT_LT(relative_difference(engine->e_step(model, {}), all), 1e-11);
    EXPECT_LT(relative_difference(engine->e_step(model, {.rows = rows}), some), 1e-11);
    const Statistics none = engine->e_step(model, {.rows = std::span<const Index>()});
    EXPECT_EQ(none.count, 0);
    EXPECT_EQ(none.ZZ, Matrix(Matrix::Zero(12, 12)));
    const Posterior got = engine->infer(model, {.variance = true}, 20, 150, {});
    EXPECT_LT((got.mean - points.mean).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_LT((got.variance - points.variance).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_LT((got.log_likelihood - points.log_likelihood).cwiseAbs().maxCoeff(), 1e-9);
  }
}

/// In single, too, with the same bits as where it fits; what single leaves undone is brought once more.
TEST_F(OnADevice, DataInSingleIsBroughtInBlocks) {
  const Model model = random_model({.dimensions = 6, .latents = 12, .intercept = true, .pi_high = 0.4}, 3);
  Matrix values = random_data(model, 260, 4);
  for (const Index row : {8, 31, 32, 200}) values.row(row) *= 300;
  const MatrixData data(values);
  const std::vector<Index> rows = {259, 8, 9, 3, 0, 200, 3, 100};
  const InferenceOptions options = truncated(5, 3);
  const Statistics all = e_step(model, data, options);
  const Posterior points = infer(model, data, options, {.variance = true}, 20, 190);
  limits_of_tests = {.block_rows = 32};
  const std::unique_ptr<Engine> there = make_engine(data, on_device(in_single(options)));
  limits_of_tests = {.resident_bytes = 1, .block_rows = 32};
  const std::unique_ptr<Engine> brought = make_engine(data, on_device(in_single(options)));
  const Statistics got = brought->e_step(model, {});
  EXPECT_TRUE(same_bits(got, there->e_step(model, {})));
  EXPECT_TRUE(same_bits(brought->e_step(model, {.rows = rows}), there->e_step(model, {.rows = rows})));
  EXPECT_LT(relative_difference(got, all), 1e-4);
  const Posterior one = brought->infer(model, {.variance = true}, 20, 190, {});
  EXPECT_EQ(one.mean, there->infer(model, {.variance = true}, 20, 190, {}).mean);
  const auto off = (one.log_likelihood.array() / points.log_likelihood.array() - 1).abs().eval();
  EXPECT_LT(off.maxCoeff(), 1e-4);
  EXPECT_LT(off[180], 1e-9) << "row 200 is done in double";
}

/// Data that counts the rows that are read of it, and asks to stop beyond so many.
class Interrupting final : public Data {
 public:
  Interrupting(const Data& data, Index patience) : data_(data), patience_(patience) {}
  Index rows() const override { return data_.rows(); }
  Index cols() const override { return data_.cols(); }
  void read(Index first, Eigen::Ref<Matrix> block) const override {
    read_ += block.rows();
    data_.read(first, block);
  }
  StopRequest stop() const {
    return [this] { return read_ > patience_; };
  }
  Index rows_read() const { return read_; }

 private:
  const Data& data_;
  Index patience_;
  mutable std::atomic<Index> read_ = 0;
};

/// Whether data comes once or in each pass, a stop while it comes is heard, and the next pass is right.
TEST_F(OnADevice, StopsWhileDataComes) {
  const Model model = random_model({.dimensions = 6, .latents = 12, .pi_high = 0.4}, 3);
  const MatrixData data(random_data(model, 9000, 4));
  InferenceOptions options = on_device(truncated(2, 2));
  options.threads = 1;
  for (const Limits& limits : {Limits{}, Limits{.resident_bytes = 1}}) {
    SCOPED_TRACE(limits.resident_bytes);
    limits_of_tests = limits;
    const Interrupting slow(data, 5000);  // more than the origin takes
    const std::unique_ptr<Engine> engine = make_engine(slow, options);
    EXPECT_THROW(engine->e_step(model, {.stop = slow.stop()}), Interrupted);
    EXPECT_LT(slow.rows_read(), 9000);
    EXPECT_THROW(engine->infer(model, {}, 0, 9000, slow.stop()), Interrupted);
    EXPECT_LT(slow.rows_read(), 9000);
    EXPECT_TRUE(same_bits(engine->e_step(model, {}), e_step(model, data, options)));

    const Interrupting again(data, 5000);
    const auto make_gpu = [&](const InferenceOptions& there) {
      return std::make_unique<cuda::DeviceEngine>(again, there, 0, limits);
    };
    cuda::AutoEngine automatic(again, options, make_gpu, {}, [](const cuda::Work&) { return true; });
    EXPECT_THROW(automatic.e_step(model, {.stop = again.stop()}), Interrupted);
    EXPECT_LT(again.rows_read(), 9000);
  }
}

TEST_F(OnADevice, WhatSingleCannotTellApartIsDoneInDouble) {
  const Model model = random_model({.dimensions = 6, .latents = 10, .noise_std = 0.01}, 3);
  Matrix values = random_data(model, 100, 4);
  values.row(17) *= 50;  // log weights of a million
  const MatrixData data(values);
  const Statistics expected = e_step(model, data, truncated(5, 3));
  const Statistics got = e_step(model, data, on_device(in_single(truncated(5, 3))));
  EXPECT_NEAR(got.free_energy / expected.free_energy, 1, 1e-5);
  EXPECT_NEAR(got.s.sum() / expected.s.sum(), 1, 1e-5);
  const Posterior points = infer(model, data, on_device(in_single(truncated(5, 3))));
  EXPECT_TRUE(points.log_likelihood.allFinite());
  EXPECT_NEAR(points.log_likelihood[17] / infer(model, data, truncated(5, 3)).log_likelihood[17], 1, 1e-9);
}

/// Only those that single left undone are done once more, wherever they lie and wherever the request begins; many of
/// them bring all data there in double.
TEST_F(OnADevice, WhatIsDoneInDoubleIsOnlyWhatMustBe) {
  const Model model = random_model({.dimensions = 6, .latents = 10, .noise_std = 0.01}, 3);
  Matrix values = random_data(model, 9000, 4);
  for (const Index row : {3, 4, 17, 4500, 8990}) values.row(row) *= 50;
  const MatrixData data(values);
  const InferenceOptions options = truncated(2, 2);
  const auto expect_near = [&](const Data& all, Index first, Index count) {
    const Posterior expected = infer(model, all, options, {.variance = true}, first, count);
    const Posterior got = infer(model, all, on_device(in_single(options)), {.variance = true}, first, count);
    EXPECT_LT((got.log_likelihood.array() / expected.log_likelihood.array() - 1).abs().maxCoeff(), 1e-3);
    EXPECT_LT((got.probability - expected.probability).rowwise().norm().maxCoeff(), 0.1);
  };
  expect_near(data, 0, 9000);
  expect_near(data, 4, 8990);
  const std::unique_ptr<Engine> engine = make_engine(data, on_device(in_single(options)));
  const Statistics few = engine->e_step(model, {});
  EXPECT_NEAR(few.free_energy / e_step(model, data, options).free_energy, 1, 1e-4);
  const Model certain = random_model({.dimensions = 6, .latents = 10, .noise_std = 1e-4}, 3);  // then nearly all
  const Statistics many = engine->e_step(certain, {}), expected = e_step(certain, data, options);
  EXPECT_NEAR(many.free_energy / expected.free_energy, 1, 1e-4);
  EXPECT_LT(relative_difference(engine->e_step(model, {}), few), 1e-6);
}

/// Beyond 1024 latents scores are in shared memory, with 12 candidates in memory of the GPU, as there are too many.
TEST_F(OnADevice, ManyLatents) {
  const Model model = random_model({.dimensions = 5, .latents = 1056, .pi_high = 0.01}, 3);
  const MatrixData data(random_data(model, 24, 4));
  for (const Index candidates : {6, 12}) {
    const InferenceOptions options = truncated(candidates, 2);
    EXPECT_LT(relative_difference(e_step(model, data, on_device(options)), e_step(model, data, options)), 1e-9);
  }
  FitOptions options;
  options.latents = 1056;
  options.iterations = 1;
  options.inference = truncated(4, 2);
  options.init = Init::random;
  const FitResult expected = fit(data, options, nullptr, model);
  options.inference = on_device(options.inference);
  const FitResult got = fit(data, options, nullptr, model);
  EXPECT_NEAR(got.state.history.back().free_energy / expected.state.history.back().free_energy, 1, 1e-6);
}

/// Tables of the sizes of large fits, with few data points.
TEST_F(OnADevice, ThousandsOfLatentsOrDimensions) {
  const Model many = random_model({.dimensions = 4, .latents = 4096, .pi_high = 0.003}, 3);
  const MatrixData few(random_data(many, 3, 4));
  const InferenceOptions options = truncated(4, 2, Selection::conditional);
  const Posterior points = infer(many, few, options), got = infer(many, few, on_device(options));
  EXPECT_LT((got.mean - points.mean).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((got.log_likelihood - points.log_likelihood).cwiseAbs().maxCoeff(), 1e-9);
  const Model wide = random_model({.dimensions = 1024, .latents = 8}, 3);
  const MatrixData data(random_data(wide, 40, 4));
  const Statistics expected = e_step(wide, data, truncated(4, 2));
  EXPECT_LT(relative_difference(e_step(wide, data, on_device(truncated(4, 2))), expected), 1e-9);
}

TEST_F(OnADevice, PosteriorsOnTheCandidatesAlone) {
  const Model model = random_model({.dimensions = 6, .latents = 30, .noise = NoiseType::full, .pi_high = 0.3}, 3);
  const MatrixData data(random_data(model, 90, 4));
  const InferenceOptions options = truncated(6, 4, Selection::conditional);
  const SparsePosterior expected = infer_sparse(model, data, options, 10, 70);
  for (const bool single : {false, true}) {
    const SparsePosterior got = infer_sparse(model, data, on_device(single ? in_single(options) : options), 10, 70);
    const double allowed = single ? 1e-4 : 1e-6;
    EXPECT_EQ(got.candidates, expected.candidates);
    EXPECT_EQ(got.first, 10);
    EXPECT_EQ(got.latents, 30);
    EXPECT_LT((got.probability - expected.probability).cwiseAbs().maxCoeff(), allowed);
    EXPECT_LT((got.mean - expected.mean).cwiseAbs().maxCoeff(), allowed * 10);
    EXPECT_LT((got.second_moment - expected.second_moment).cwiseAbs().maxCoeff(), allowed * 100);
    EXPECT_LT((got.log_likelihood - expected.log_likelihood).cwiseAbs().maxCoeff(), allowed * 100);
  }
}

/// The rows around each, and itself.
struct Around final : Neighbours {
  explicit Around(Index end) : rows(end) {}
  Index rows;
  Index most() const override { return 7; }
  Index of(Index n, std::uint32_t* list) const override {
    Index found = 0;
    for (Index other = std::max<Index>(0, n - 3); other < std::min(rows, n + 3 + n % 2); ++other)
      list[found++] = static_cast<std::uint32_t>(other);
    return found;
  }
};

TEST_F(OnADevice, OwnPriorsAreThoseOfTheCpu) {
  for (const ModelKnobs& knobs : diagonal_slabs(6, 30))
    for (const Selection selection : {Selection::singleton, Selection::conditional})
      for (const bool all : {false, true}) {
        SCOPED_TRACE(::testing::Message() << knobs << ", " << to_string(selection) << (all ? ", all latents" : ""));
        ModelKnobs mine = knobs;
        if (all) mine.latents = 6;
        const Model model = random_model(mine, 3);
        const MatrixData data(random_data(model, 90, 4));
        const InferenceOptions options = truncated(6, 4, selection);
        const SparsePosterior before = infer_sparse(model, data, options, 5, 80);
        const Around around(85);
        const SparsePosterior expected = infer_nonlocal(model, data, options, before, around, {}, 10, 70);
        limits_of_tests.block_rows = 32;
        for (const bool single : {false, true}) {
          const InferenceOptions there = on_device(single ? in_single(options) : options);
          const SparsePosterior got = infer_nonlocal(model, data, there, before, around, {}, 10, 70);
          // Scores of candidates under priors of their own are coarse logarithms on the CPU: near ties may differ.
          Index same = 0;
          for (Index n = 0; n < 70; ++n) {
            if (got.candidates.row(n) != expected.candidates.row(n)) continue;
            ++same;
            const double allowed = single ? 2e-4 : 1e-6;
            EXPECT_LT((got.probability.row(n) - expected.probability.row(n)).cwiseAbs().maxCoeff(), allowed);
            EXPECT_LT((got.mean.row(n) - expected.mean.row(n)).cwiseAbs().maxCoeff(), allowed * 10);
            EXPECT_LT((got.second_moment.row(n) - expected.second_moment.row(n)).cwiseAbs().maxCoeff(), allowed * 100);
            EXPECT_NEAR(got.log_likelihood[n], expected.log_likelihood[n], allowed * 10);
          }
          EXPECT_GE(same, 66);
        }
      }
}

TEST_F(OnADevice, LearnsAsOnTheCpu) {
  const Model truth = random_model({.dimensions = 6, .latents = 8, .pi_high = 0.4}, 3);
  const MatrixData data(random_data(truth, 200, 4));
  for (const Index batch : {0, 50}) {
    FitOptions options;
    options.latents = 8;
    options.inference = truncated(5, 3);
    options.iterations = 4;
    options.batch = batch;
    options.tolerance = 0;
    const FitResult expected = fit(data, options);
    options.inference.device = "device";
    const FitResult got = fit(data, options);
    ASSERT_EQ(got.state.history.size(), expected.state.history.size());
    for (std::size_t t = 0; t < got.state.history.size(); ++t)
      EXPECT_NEAR(got.state.history[t].free_energy / expected.state.history[t].free_energy, 1, 1e-9) << t;
  }
}

TEST(DeviceQueue, MultipliesAndSolves) {
  cuda::Queue queue(0);
  Random random(5);
  const Matrix A = normal_matrix(40, 9, random), B = normal_matrix(40, 7, random), right = normal_matrix(3, 9, random);
  const auto on_device = [&](const Matrix& values) {
    cuda::Array<double> array(queue, static_cast<std::size_t>(values.size()));
    array.upload(values.data(), static_cast<std::size_t>(values.size()));
    return array;
  };
  const auto back = [](const cuda::Array<double>& array, Index columns) {
    const std::vector<double> values = array.download();
    return Matrix(Eigen::Map<const Matrix>(values.data(), static_cast<Index>(values.size()) / columns, columns));
  };
  const cuda::Array<double> a = on_device(A), b = on_device(B), c = on_device(Matrix::Zero(18, 7));
  // In two pieces of 20 rows.
  queue.multiply({true, 9, 7, 20, a.data(), 9, b.data(), 7, c.data(), 7, 2, 180, 140, 63});
  const Matrix pieces = back(c, 7);
  EXPECT_LT((pieces.topRows(9) + pieces.bottomRows(9) - A.transpose() * B).cwiseAbs().maxCoeff(), 1e-12);

  const Matrix square = A.transpose() * A;
  const cuda::Array<double> factor = on_device(square), solution = on_device(right);
  EXPECT_TRUE(queue.solve_positive_definite(factor.data(), 9, solution.data(), 3));
  EXPECT_LT((back(solution, 9) * square - right).cwiseAbs().maxCoeff(), 1e-9);
  const cuda::Array<double> indefinite = on_device(square - 1e3 * Matrix::Identity(9, 9));
  EXPECT_FALSE(queue.solve_positive_definite(indefinite.data(), 9, solution.data(), 3));
}

TEST(DeviceQueue, SaysWhatMemoryItLacks) {
  cuda::Queue queue(0);
  expect_error<cuda::DeviceError>(
      [&] { cuda::Array<double>(queue, std::size_t{1} << 40U); },
      {"the GPU is out of memory: 8388608 MB more are needed", "are free", "set device to cpu"});
}

/// Tests of denoising add the emulated one by that name: ctest has a process for each test.
TEST(Devices, AreNamedWhereTheyAreMissing) {
  const std::vector<std::string> all = devices();
  if (std::find(all.begin(), all.end(), "cuda") != all.end()) GTEST_SKIP() << "another test of this process added it";
  const Model model = random_model({.dimensions = 6, .latents = 8}, 3);
  const MatrixData data(random_data(model, 20, 4));
  InferenceOptions options = truncated(5, 3);
  const Statistics expected = e_step(model, data, options);
  for (const char* device : {"cuda", "cuda:1"}) {
    options.device = device;
    expect_error<UsageError>([&] { e_step(model, data, options); },
                             {"device is '" + options.device.name + "'", "cmake --preset cuda", "set device to cpu"});
  }
  options.device = "cudas";
  expect_error<UsageError>([&] { e_step(model, data, options); }, {"device is 'cudas'; here are: auto, cpu"});
  options.device = "auto";
  EXPECT_TRUE(same_bits(e_step(model, data, options), expected));
}

/// `auto` takes the device where the work is worth it, and the CPU where that cannot be woken.
TEST_F(OnADevice, AutoFallsBackToTheCpu) {
  const Model model = random_model({.dimensions = 3, .latents = 12}, 3);
  const MatrixData much(random_data(model, 25000, 4)), little(random_data(model, 100, 4));
  InferenceOptions options = exact();  // 4096 states each
  options.threads = 1;
  const auto device_of = [&](const Data& data, const cuda::AutoEngine::MakeGpu& make_gpu) {
    cuda::AutoEngine engine(data, options, make_gpu);
    engine.expect(20);
    EXPECT_FALSE(engine.on_device());
    const bool resident = engine.resident(model, {}) != nullptr;
    EXPECT_EQ(resident, engine.on_device());
    return engine.on_device();
  };
  int asked = 0;
  const auto works = [&](const Data& data) {
    return [&](const InferenceOptions& there) {
      ++asked;
      return std::make_unique<cuda::DeviceEngine>(data, there, 0);
    };
  };
  const auto none = [](const InferenceOptions&) { return std::unique_ptr<cuda::DeviceEngine>(); };
  const auto fails = [](const InferenceOptions&) -> std::unique_ptr<cuda::DeviceEngine> {
    throw cuda::out_of_memory(1, {});
  };
  EXPECT_TRUE(device_of(much, works(much)));
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(device_of(little, works(little)));  // not worth waking it
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(device_of(much, none));
  EXPECT_FALSE(device_of(much, fails));
}

TEST_F(OnADevice, RefusesByName) {
  const Model model = random_model({.dimensions = 6, .latents = 20, .slab = SlabType::full}, 3);
  Matrix values = random_data(model, 20, 4);
  const MatrixData data(values);
  expect_error<UsageError>([&] { e_step(model, data, on_device(truncated(5, 3))); },
                           {"device is 'device'", "slab is full", "set slab to diagonal, or device to cpu"});
  expect_error<UsageError>([&] { e_step(model, data, on_device(truncated(13, 3))); },
                           {"candidates is 13", "device 'device' goes up to 12"});
  const Model diagonal = random_model({.dimensions = 6, .latents = 20}, 3);
  expect_error<UsageError>([&] { e_step(diagonal, data, on_device(exact())); }, {"exact with 20 latents", "up to 12"});
  InferenceOptions gaps = on_device(truncated(5, 3));
  gaps.missing = Missing::nan;
  expect_error<UsageError>([&] { e_step(diagonal, data, gaps); }, {"device is 'device'", "missing is nan"});
  values(11, 2) = std::numeric_limits<double>::quiet_NaN();
  expect_error<Error>([&] { e_step(diagonal, MatrixData(values), on_device(truncated(5, 3))); },
                      {"row 11", "column 2", "NaN"});
  // By its row in the data, also where a list brings it.
  const std::vector<Index> rows = {3, 11, 7};
  const MatrixData with_nan(values);
  limits_of_tests.resident_bytes = 1;
  for (const InferenceOptions& options : {truncated(5, 3), on_device(truncated(5, 3))})
    expect_error<Error>([&] { make_engine(with_nan, options)->e_step(diagonal, {.rows = rows}); },
                        {"row 11", "column 2", "NaN"});
}

}  // namespace
}  // namespace gsc::test
