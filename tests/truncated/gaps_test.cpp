// Missing values in the E-step, against brute force by the definition: of each data point the missing rows of W, b and
// Sigma are dropped, and what is left is inferred as ever.

#include <gsc/missing.h>
#include <gsc/nonlocal.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "expect_error.h"
#include "inference_check.h"
#include "random_model.h"

namespace gsc::test {
namespace {

using oracle::Real;
using oracle::State;
using oracle::States;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Every data point with gaps of its own: this part of the entries, some points complete, one without any entry.
Matrix with_gaps(Matrix data, double part, std::uint64_t seed) {
  Random random(seed);
  std::uniform_real_distribution<double> uniform;
  for (Index n = 0; n < data.rows(); ++n) {
    if (n % 5 == 3) continue;
    for (double& value : data.row(n))
      if (uniform(random) < part) value = kNan;
  }
  return data;
}

bool nothing_observed(const Matrix& data, Index n) { return data.row(n).array().isNaN().all(); }

/// No noise of full covariance: there a missing entry has no noise of its own.
std::vector<ModelKnobs> types_with_gaps(Index dimensions, Index latents, bool full_slab = true) {
  std::vector<ModelKnobs> all = every_type(dimensions, latents);
  std::erase_if(all, [&](const ModelKnobs& knobs) {
    return knobs.noise == NoiseType::full || (!full_slab && knobs.slab == SlabType::full);
  });
  return all;
}

/// Moments of a data point on the observed entries and these states; the prior if there are none.
oracle::Moments moments_of(const Model& model, const Matrix& data, Index n, const States& states) {
  const std::vector<Index> seen = oracle::observed_dimensions(data, n);
  const oracle::Vector y = oracle::Vector(oracle::point(data, n)(seen));
  const oracle::Oracle observed(oracle::Parameters(model).observed(seen));
  return observed.moments(y, seen.empty() ? oracle::all_states(model.latents()) : states);
}

template <class Expected, class Got>
void expect_near(const Expected& expected, const Got& got, Real tolerance, const char* what) {
  ASSERT_EQ(expected.rows(), got.rows()) << what;
  ASSERT_EQ(expected.cols(), got.cols()) << what;
  const Real scale = 1 + (expected.size() == 0 ? Real{0} : Real{expected.cwiseAbs().maxCoeff()});
  for (Index r = 0; r < expected.rows(); ++r)
    for (Index c = 0; c < expected.cols(); ++c)
      ASSERT_LE(std::abs(static_cast<Real>(got(r, c)) - expected(r, c)), tolerance * scale)
          << what << " at " << r << ", " << c << ": " << static_cast<double>(expected(r, c)) << " expected, "
          << got(r, c) << " found";
}

/// The sums over the data points that miss an entry, in both forms.
void expect_missing_sums(const Model& model, const Matrix& data, InferenceOptions options, const Posterior& posterior,
                         Real tolerance) {
  const Index H = model.latents(), D = model.dimensions();
  const oracle::Matrix W = oracle::Parameters(model).W;
  oracle::Vector counts = oracle::Vector::Zero(D);
  oracle::Matrix m = oracle::Matrix::Zero(D, H), WZ = m, ZZ = oracle::Matrix::Zero(H * (H + 1) / 2, D);
  for (Index n = 0; n < data.rows(); ++n) {
    const oracle::Moments of = moments_of(
        model, data, n, oracle::truncated_states(H, gsc::test::candidates_of(posterior, n), posterior.max_active));
    for (Index d = 0; d < D; ++d) {
      if (!std::isnan(data(n, d))) continue;
      counts[d] += 1;
      m.row(d) += of.m.transpose();
      WZ.row(d) += W.row(d) * of.zz;
      Index pair = 0;
      for (Index i = 0; i < H; ++i)
        for (Index j = i; j < H; ++j) ZZ(pair++, d) += of.zz(i, j);
    }
  }
  for (const Index memory : {1024, 0}) {
    options.gap_memory = memory;
    const Statistics got = e_step(model, MatrixData(data), options);
    expect_near(counts, got.missing, 0, "missing");
    expect_near(m, got.missing_m, tolerance, "missing_m");
    if (memory > 0) expect_near(ZZ, got.missing_ZZ, tolerance, "missing_ZZ");
    if (memory == 0) expect_near(WZ, got.missing_WZ, tolerance, "missing_WZ");
    EXPECT_EQ((memory > 0 ? got.missing_WZ : got.missing_ZZ).size(), 0);
  }
}

/// All of Posterior and Statistics.
void expect_brute_force_with_gaps(const Model& model, const Matrix& data, InferenceOptions options, Real tolerance) {
  const Index H = model.latents(), D = model.dimensions();
  options.missing = Missing::nan;
  const MatrixData table(data);
  const Posterior got = infer(model, table, options, {.variance = true, .states = 6, .candidates = true});
  oracle::Sums sums(D, H);
  oracle::Vector YY = oracle::Vector::Zero(D);
  for (Index n = 0; n < data.rows(); ++n) {
    SCOPED_TRACE(::testing::Message() << "data point " << n);
    const States states = oracle::truncated_states(H, gsc::test::candidates_of(got, n), got.max_active);
    const oracle::Moments expected = moments_of(model, data, n, states);
    expect_near(oracle::Vector(oracle::Vector::Constant(1, expected.log_sum)), got.log_likelihood.segment(n, 1),
                tolerance, "log likelihood");
    expect_near(expected.s, got.probability.row(n).transpose(), tolerance, "probability");
    expect_near(expected.m, got.mean.row(n).transpose(), tolerance, "mean");
    expect_near(expected.variance, got.variance.row(n).transpose(), 10 * tolerance, "variance");
    const States& all = nothing_observed(data, n) ? oracle::all_states(H) : states;
    for (Index k = 0; k < 6; ++k) {
      State state = 0;
      for (Index i = 0; i < got.max_active; ++i)
        if (const Index h = got.states(n, k * got.max_active + i); h >= 0) state |= State{1} << h;
      const auto at = std::find(all.begin(), all.end(), state) - all.begin();
      ASSERT_LT(at, static_cast<Index>(all.size()));
      ASSERT_NEAR(got.state_weights(n, k), static_cast<double>(expected.weight[static_cast<std::size_t>(at)]),
                  static_cast<double>(tolerance));
    }
    oracle::Vector y = oracle::point(data, n) - oracle::Parameters(model).b;
    for (Real& value : y)
      if (std::isnan(value)) value = 0;
    sums.add(y, expected);
    YY += y.cwiseAbs2();
    if (::testing::Test::HasFatalFailure()) return;
  }
  const Statistics statistics = e_step(model, table, options);
  EXPECT_EQ(statistics.count, static_cast<double>(data.rows()));
  EXPECT_NEAR(statistics.free_energy, static_cast<double>(sums.free_energy),
              static_cast<double>(tolerance * (1 + std::abs(sums.free_energy))));
  expect_near(sums.s, statistics.s, tolerance, "s");
  expect_near(sums.m, statistics.m, tolerance, "m");
  expect_near(sums.YZ, statistics.YZ, tolerance, "YZ");
  expect_near(sums.ZZ, statistics.ZZ, tolerance, "ZZ");
  expect_near(YY, statistics.YY.col(0), tolerance, "YY");
  if (model.intercept.size() > 0) expect_near(sums.y, statistics.y, tolerance, "y");
  expect_missing_sums(model, data, options, got, tolerance);
  if (model.slab.type() == SlabType::diagonal) return;
  expect_near(sums.lambda, statistics.lambda, tolerance, "lambda");
  expect_near(sums.T, statistics.T, 10 * tolerance, "T");
  expect_near(sums.SS, statistics.SS, tolerance, "SS");
}

class GapTypes : public ::testing::TestWithParam<ModelKnobs> {};
INSTANTIATE_TEST_SUITE_P(Types, GapTypes, ::testing::ValuesIn(types_with_gaps(5, 6)),
                         [](const auto& test) { return type_name(test.param); });

TEST_P(GapTypes, EqualBruteForceOnTheObservedEntries) {
  const Model model = random_model(GetParam(), 11);
  for (const double part : {0.2, 0.7}) {
    Matrix data = with_gaps(random_data(model, 67, 12), part, 13);
    data.row(20).setConstant(kNan);
    for (const int threads : {1, 3}) {
      expect_brute_force_with_gaps(model, data, exact(threads), 1e-10);
      for (const Selection selection : {Selection::singleton, Selection::conditional}) {
        SCOPED_TRACE(::testing::Message() << "missing " << part << ", " << to_string(selection));
        InferenceOptions options = truncated(4, 3, selection, threads);
        expect_brute_force_with_gaps(model, data, options, 1e-10);
        if (HasFailure()) return;
      }
    }
    InferenceOptions single = truncated(4, 3);
    single.precision = Precision::single_precision;
    expect_brute_force_with_gaps(model, data, single, 2e-4);
  }
}

/// Whether the candidates are those that the observed entries alone ask for.
TEST_P(GapTypes, CandidatesAreTheBestOnTheObservedEntries) {
  const Model model = random_model(GetParam(), 21);
  const Matrix data = with_gaps(random_data(model, 80, 22), 0.5, 23);
  for (const Selection selection : {Selection::singleton, Selection::conditional}) {
    InferenceOptions options = truncated(4, 2, selection);
    options.missing = Missing::nan;
    const Posterior got = infer(model, MatrixData(data), options, {.candidates = true});
    for (Index n = 0; n < data.rows(); ++n) {
      const std::vector<Index> seen = oracle::observed_dimensions(data, n);
      if (seen.empty()) continue;
      oracle::Parameters uncorrelated = oracle::Parameters(model).observed(seen);  // candidates are scored so
      uncorrelated.Psi = oracle::Matrix(uncorrelated.Psi.diagonal().asDiagonal());
      const oracle::Oracle observed(uncorrelated);
      EXPECT_TRUE(are_best_candidates(observed, oracle::Vector(oracle::point(data, n)(seen)),
                                      gsc::test::candidates_of(got, n), selection))
          << "data point " << n << ", " << to_string(selection);
    }
  }
}

/// Whatever stands under the mask.
TEST(Gaps, ValuesThatAreMissingCannotMatter) {
  ModelKnobs knobs;
  knobs.dimensions = 9;
  knobs.latents = 20;
  knobs.intercept = true;
  const Model model = random_model(knobs, 41);
  const Matrix complete = random_data(model, 300, 42), gaps = with_gaps(complete, 0.4, 43);
  const Matrix mask = gaps.unaryExpr([](double value) { return std::isnan(value) ? 1.0 : 0.0; });
  const MatrixData mask_table(mask, "mask.npy");
  InferenceOptions options = truncated(6, 3, Selection::conditional);
  options.missing = Missing::nan;
  const Statistics expected = e_step(model, MatrixData(gaps), options);
  Random random(44);
  for (const double under : {1e300, 0.0, -7.5}) {
    Matrix values = complete;
    for (Index i = 0; i < values.size(); ++i)
      if (mask.data()[i] != 0) values.data()[i] = under != 0 ? under : 1e3 * std::normal_distribution<double>()(random);
    const MatrixData data(values);
    EXPECT_TRUE(same_bits(expected, e_step(model, MaskedData(data, mask_table), options)));
    if (under == 0) continue;
    EXPECT_TRUE(same_bits(expected, e_step(model, MaskedData(data, under), options))) << "marked by the value itself";
  }
}

TEST(Gaps, NothingMissingIsNoMask) {
  for (const ModelKnobs& knobs : types_with_gaps(6, 9)) {
    SCOPED_TRACE(::testing::Message() << knobs);
    const Model model = random_model(knobs, 51);
    const MatrixData data(random_data(model, 500, 52)), mask(Matrix::Zero(500, 6));
    InferenceOptions options = truncated(5, 3, Selection::conditional, 2);
    const Statistics expected = e_step(model, data, options);
    options.missing = Missing::nan;
    EXPECT_LT(relative_difference(expected, e_step(model, MaskedData(data, mask), options)), 1e-12);
    // The same numbers by the way that rows with gaps go: each has one more dimension, which nobody observed.
    ModelKnobs wider_knobs = knobs;
    wider_knobs.dimensions = 7;
    Model wider = random_model(wider_knobs, 53);
    wider.W.topRows(6) = model.W;
    wider.pi = model.pi;
    wider.mu = model.mu;
    wider.slab = model.slab;
    if (model.intercept.size() > 0) wider.intercept.head(6) = model.intercept;
    if (knobs.noise == NoiseType::diagonal) {
      Vector variances = wider.noise.values().col(0);
      variances.head(6) = model.noise.values().col(0);
      wider.noise = Noise::diagonal(variances);
    }
    Matrix values(500, 7);
    values << data.values(), Vector::Constant(500, kNan);
    const Statistics got = e_step(wider, MatrixData(values), options);
    EXPECT_NEAR(got.free_energy, expected.free_energy, 1e-9 * std::abs(expected.free_energy));
    EXPECT_LT((got.ZZ - expected.ZZ).cwiseAbs().maxCoeff(), 1e-9 * expected.ZZ.cwiseAbs().maxCoeff());
    EXPECT_EQ(got.YZ.row(6).cwiseAbs().maxCoeff(), 0);
  }
}

/// Where many miss the same entries, work is shared; so it is compared with what each of them alone gets.
TEST(Gaps, SharedMasksGiveTheSame) {
  for (const ModelKnobs& knobs : types_with_gaps(7, 18)) {
    SCOPED_TRACE(::testing::Message() << knobs);
    const Model model = random_model(knobs, 81);
    Matrix values = random_data(model, 400, 82);
    for (Index n = 0; n < 400; ++n)
      if (n % 4 != 3)  // two masks, and complete rows
        for (Index d = 0; d < 7; ++d)
          if (((n % 4 == 0 ? 0x25 : 0x52) >> d & 1) != 0) values(n, d) = kNan;
    InferenceOptions options = truncated(7, 3, Selection::conditional, 2);
    options.missing = Missing::nan;
    const Posterior together = infer(model, MatrixData(values), options, {.variance = true, .candidates = true});
    Statistics sum(model);
    for (Index n = 0; n < 400; ++n) {
      const MatrixData one(values.middleRows(n, 1));
      const Posterior alone = infer(model, one, options, {.variance = true, .candidates = true});
      ASSERT_EQ(alone.candidates.row(0), together.candidates.row(n)) << n;
      ASSERT_NEAR(alone.log_likelihood[0], together.log_likelihood[n], 1e-9) << n;
      ASSERT_LT((alone.mean.row(0) - together.mean.row(n)).cwiseAbs().maxCoeff(), 1e-9) << n;
      ASSERT_LT((alone.variance.row(0) - together.variance.row(n)).cwiseAbs().maxCoeff(), 1e-9) << n;
      const Statistics its = e_step(model, one, options);
      if (n == 0)
        sum = its;
      else
        sum += its;
    }
    EXPECT_LT(relative_difference(sum, e_step(model, MatrixData(values), options)), 1e-9);
  }
}

/// Broad slabs, next to no noise, and hardly anything observed: the diagonals of J span nine orders of magnitude.
TEST(Gaps, LittleIsObservedOfMuchThatIsKnown) {
  ModelKnobs knobs;
  knobs.dimensions = 6;
  knobs.latents = 5;
  knobs.noise_std = 1e-2;
  knobs.slab_variance = 1e5;
  const Model model = random_model(knobs, 61);
  const Matrix data = with_gaps(random_data(model, 60, 62, 1e-3), 0.8, 63);
  expect_brute_force_with_gaps(model, data, exact(), 1e-5);
}

TEST(Gaps, RefusalsSayWhatToDo) {
  ModelKnobs knobs;
  knobs.noise = NoiseType::full;
  const Model full = random_model(knobs, 71);
  knobs.noise = NoiseType::scalar;
  const Model model = random_model(knobs, 72);
  Matrix values = random_data(model, 20, 73);
  values(7, 2) = kNan;
  const MatrixData data(values, "table.npy");
  InferenceOptions options = truncated(3, 2);
  const std::function<void()> plain = [&] { e_step(model, data, options); };
  expect_error<Error>(plain, {"table.npy", "row 7, column 2", "NaN", "set missing to nan"});
  options.missing = Missing::nan;
  e_step(model, data, options);
  expect_error<UsageError>([&] { e_step(full, data, options); }, {"noise is full", "scalar or diagonal"});
  values(3, 1) = HUGE_VAL;
  expect_error<Error>([&] { e_step(model, MatrixData(values, "t.npy"), options); },
                      {"t.npy", "row 3, column 1", "infinite"});
  expect_error<Error>([&] { MaskedData(data, MatrixData(Matrix::Zero(20, 5), "m.npy")); },
                      {"m.npy", "20 rows and 5 columns", "20 and 4", "anything but 0 where it is missing"});
}

class SparseGaps : public ::testing::TestWithParam<ModelKnobs> {};
INSTANTIATE_TEST_SUITE_P(Types, SparseGaps, ::testing::ValuesIn(types_with_gaps(5, 7, false)),
                         [](const auto& test) { return type_name(test.param); });

/// The ten data points that follow, itself first.
class Following final : public Neighbours {
 public:
  explicit Following(Index rows) : rows_(rows) {}
  Index most() const override { return 10; }
  Index of(Index n, std::uint32_t* rows) const override {
    for (Index i = 0; i < most(); ++i) rows[i] = static_cast<std::uint32_t>((n + i) % rows_);
    return most();
  }

 private:
  Index rows_;
};

void expect_sparse(const Model& model, const Matrix& data, const SparsePosterior& got, Index n, Index max_active,
                   double tolerance) {
  std::vector<Index> candidates;
  State allowed = 0;
  for (const auto h : got.candidates.row(n)) {
    candidates.push_back(h);
    allowed |= State{1} << h;
  }
  States states = oracle::truncated_states(model.latents(), candidates, max_active);
  std::erase_if(states, [&](State state) { return (state & ~allowed) != 0; });
  const oracle::Moments expected = moments_of(model, data, n, states);
  ASSERT_NEAR(got.log_likelihood[n], static_cast<double>(expected.log_sum),
              tolerance * (1 + std::abs(static_cast<double>(expected.log_sum))))
      << n;
  const Real moments = std::max(tolerance, 3e-7);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Index h = candidates[i], at = static_cast<Index>(i);
    ASSERT_LE(std::abs(static_cast<Real>(got.probability(n, at)) - expected.s[h]), moments) << n;
    ASSERT_LE(std::abs(static_cast<Real>(got.mean(n, at)) - expected.m[h]), moments * (1 + std::abs(expected.m[h])))
        << n;
    ASSERT_LE(std::abs(static_cast<Real>(got.second_moment(n, at)) - expected.zz(h, h)),
              moments * (1 + expected.zz(h, h)))
        << n;
  }
}

TEST_P(SparseGaps, EqualBruteForceWithAndWithoutOwnPriors) {
  const Model model = random_model(GetParam(), 31);
  Matrix data = with_gaps(random_data(model, 150, 32), 0.5, 33);
  data.row(40).setConstant(kNan);
  const MatrixData table(data);
  const Following neighbours(data.rows());
  for (const Precision precision : {Precision::double_precision, Precision::single_precision}) {
    const double tolerance = precision == Precision::double_precision ? 1e-10 : 2e-4;
    for (const auto& [candidates, max_active] : {std::pair<Index, Index>{7, 3}, {4, 3}, {1, 1}}) {
      for (const Selection selection : {Selection::singleton, Selection::conditional}) {
        SCOPED_TRACE(::testing::Message()
                     << to_string(precision) << ", H'=" << candidates << ", " << to_string(selection));
        InferenceOptions options = truncated(candidates, max_active, selection);
        options.precision = precision;
        options.missing = Missing::nan;
        const SparsePosterior before = infer_sparse(model, table, options);
        const SparsePosterior after = infer_nonlocal(model, table, options, before, neighbours);
        for (Index n = 0; n < data.rows(); ++n) {
          expect_sparse(model, data, before, n, max_active, tolerance);
          std::vector<std::uint32_t> rows(10);
          neighbours.of(n, rows.data());
          const Prior prior = own_prior(model, before, rows);
          Model own = model;
          own.pi = prior.pi;
          own.mu = prior.mu;
          own.slab = Slab::diagonal(prior.variance);
          expect_sparse(own, data, after, n, max_active, tolerance);
          if (HasFatalFailure()) return;
        }
        // A window has the same bits.
        const SparsePosterior part = infer_sparse(model, table, options, 35, 70);
        EXPECT_TRUE((part.log_likelihood.array() == before.log_likelihood.segment(35, 70).array()).all());
        EXPECT_TRUE((part.mean.array() == before.mean.middleRows(35, 70).array()).all());
      }
    }
  }
}

}  // namespace
}  // namespace gsc::test
