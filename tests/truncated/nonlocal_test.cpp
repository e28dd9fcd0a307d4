// Posteriors on the candidates alone, under the model's prior and under one of its own for every data point.

#include <gsc/backend/engine.h>
#include <gsc/nonlocal.h>
#include <gtest/gtest.h>

#include <cmath>

#include "expect_error.h"
#include "inference_check.h"
#include "oracle.h"
#include "random_model.h"

namespace gsc::test {
namespace {

using oracle::Oracle;
using oracle::Real;
using oracle::State;
using Lists = std::vector<std::vector<std::uint32_t>>;

class ListedNeighbours final : public Neighbours {
 public:
  explicit ListedNeighbours(Lists lists) : lists_(std::move(lists)) {}
  Index most() const override {
    std::size_t most = 0;
    for (const auto& list : lists_) most = std::max(most, list.size());
    return static_cast<Index>(most);
  }
  Index of(Index n, std::uint32_t* rows) const override {
    const auto& list = lists_[static_cast<std::size_t>(n)];
    std::copy(list.begin(), list.end(), rows);
    return static_cast<Index>(list.size());
  }
  const std::vector<std::uint32_t>& list(Index n) const { return lists_[static_cast<std::size_t>(n)]; }

 private:
  Lists lists_;
};

/// Up to `most` random rows for each, none for some, sometimes the same one twice.
ListedNeighbours random_neighbours(Index rows, Index most, std::uint64_t seed) {
  Random random(seed);
  Lists lists(static_cast<std::size_t>(rows));
  for (auto& list : lists) {
    list.resize(random() % static_cast<std::uint64_t>(most + 1));
    for (auto& row : list) row = static_cast<std::uint32_t>(random() % static_cast<std::uint64_t>(rows));
  }
  return ListedNeighbours(lists);
}

Model with_prior(Model model, const Prior& prior) {
  model.pi = prior.pi;
  model.mu = prior.mu;
  model.slab = Slab::diagonal(prior.variance);
  return model;
}

std::vector<Index> candidates_of(const SparsePosterior& posterior, Index n) {
  const auto row = posterior.candidates.row(n);
  return {row.begin(), row.end()};
}

/// The subsets of the candidates with at most max_active members.
oracle::States states_of(const std::vector<Index>& candidates, Index latents, Index max_active) {
  State mask = 0;
  for (const Index h : candidates) mask |= State{1} << h;
  oracle::States states = oracle::truncated_states(latents, candidates, max_active);
  std::erase_if(states, [&](State state) { return (state & ~mask) != 0; });
  return states;
}

/// Data point n of `got` against brute force. Moments come as floats, so they are never better than 1e-7.
void expect_point(const Model& model, const Matrix& data, const SparsePosterior& got, Index n, Index max_active,
                  double tolerance) {
  const Oracle oracle(model);
  const std::vector<Index> candidates = candidates_of(got, n);
  const oracle::Moments expected =
      oracle.moments(oracle::point(data, n), states_of(candidates, model.latents(), max_active));
  const double log_sum = static_cast<double>(expected.log_sum);
  ASSERT_NEAR(got.log_likelihood[n], log_sum, tolerance * (1 + std::abs(log_sum))) << "data point " << n;
  const Real moments = std::max(tolerance, 2e-7);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Index h = candidates[i], at = static_cast<Index>(i);
    const auto expect = [&](Real value, const Table<float>& table, Real scale, const char* what) {
      ASSERT_LE(std::abs(static_cast<Real>(table(n, at)) - value), moments * (1 + scale))
          << what << " of latent " << h << ", data point " << n << ": " << static_cast<double>(value) << " expected, "
          << table(n, at) << " found";
    };
    expect(expected.s[h], got.probability, 0, "probability");
    expect(expected.m[h], got.mean, std::abs(expected.m[h]), "mean");
    expect(expected.zz(h, h), got.second_moment, expected.zz(h, h), "second moment");
    if (testing::Test::HasFatalFailure()) return;
  }
}

/// The three noise types, without and with intercept.
std::vector<ModelKnobs> diagonal_slabs(Index dimensions, Index latents) {
  std::vector<ModelKnobs> all = every_type(dimensions, latents);
  std::erase_if(all, [](const ModelKnobs& knobs) { return knobs.slab == SlabType::full; });
  return all;
}

class NonLocal : public ::testing::TestWithParam<ModelKnobs> {};
INSTANTIATE_TEST_SUITE_P(Types, NonLocal, ::testing::ValuesIn(diagonal_slabs(5, 7)),
                         [](const auto& test) { return type_name(test.param); });

TEST_P(NonLocal, EqualsBruteForceUnderTheOwnPrior) {
  const Model model = random_model(GetParam(), 21);
  const Matrix values = random_data(model, 83, 22);
  const MatrixData data(values);
  const ListedNeighbours neighbours = random_neighbours(83, 12, 23);
  for (const Precision precision : {Precision::double_precision, Precision::single_precision}) {
    const double tolerance = precision == Precision::double_precision ? 1e-10 : 1e-4;
    for (const auto& [candidates, max_active] : {std::pair<Index, Index>{7, 7}, {7, 3}, {4, 3}, {4, 4}, {1, 1}}) {
      for (const Selection selection : {Selection::singleton, Selection::conditional}) {
        SCOPED_TRACE(::testing::Message() << to_string(precision) << ", H'=" << candidates << ", gamma=" << max_active
                                          << ", " << to_string(selection));
        InferenceOptions options = truncated(candidates, max_active, selection);
        options.precision = precision;
        const SparsePosterior before = infer_sparse(model, data, options);
        const NonLocalOptions nonlocal{.pseudo_counts = 1.5};
        const SparsePosterior after = infer_nonlocal(model, data, options, before, neighbours, nonlocal);
        for (Index n = 0; n < data.rows(); ++n) {
          expect_point(model, values, before, n, max_active, tolerance);
          const Model own = with_prior(model, own_prior(model, before, neighbours.list(n), nonlocal));
          expect_point(own, values, after, n, max_active, tolerance);
          if (HasFailure()) return;
        }
      }
    }
  }
}

/// Candidates are listed in the order they were picked in: each is the best, given those before it (given none, in the
/// first half or for Selection::singleton), by the joint density without the model's prior odds, as everywhere, but
/// with those that the neighbours add. Near ties may go either way.
TEST_P(NonLocal, CandidatesAreTheBestUnderTheOwnPrior) {
  const Model model = random_model(GetParam(), 31);
  const Matrix values = random_data(model, 50, 32);
  const MatrixData data(values);
  const ListedNeighbours neighbours = random_neighbours(50, 20, 33);
  int otherwise = 0;
  for (const Selection selection : {Selection::singleton, Selection::conditional}) {
    const InferenceOptions options = truncated(4, 2, selection);
    const SparsePosterior before = infer_sparse(model, data, options);
    const SparsePosterior after = infer_nonlocal(model, data, options, before, neighbours);
    for (Index n = 0; n < data.rows(); ++n) {
      const Oracle oracle(with_prior(model, own_prior(model, before, neighbours.list(n))));
      const oracle::Vector y = oracle::point(values, n);
      const std::vector<Index> picks = candidates_of(after, n);
      State picked = 0, given = 0;
      for (std::size_t i = 0; i < picks.size(); ++i) {
        if (selection == Selection::conditional && i >= 2) given = picked;
        const auto score_of = [&](Index h) {
          const Real odds = static_cast<Real>(model.pi[h]) / (1 - static_cast<Real>(model.pi[h]));
          return oracle.log_joint(y, given | State{1} << h) - std::log(odds);
        };
        const Real score = score_of(picks[i]);
        for (Index h = 0; h < 7; ++h) {
          if ((picked >> h & 1) != 0) continue;
          ASSERT_LE(score_of(h), score + 1e-3L) << "data point " << n << ", " << to_string(selection) << ", pick " << i;
        }
        picked |= State{1} << picks[i];
      }
      std::vector<Index> now = picks, then = candidates_of(before, n);
      std::sort(now.begin(), now.end());
      std::sort(then.begin(), then.end());
      otherwise += now != then;
    }
  }
  EXPECT_GT(otherwise, 20) << "too seldom does the prior change the candidates for this to tell";
}

TEST_P(NonLocal, FirstPassHasTheCandidatesOfInfer) {
  const Model model = random_model(GetParam(), 41);
  const MatrixData data(random_data(model, 100, 42));
  for (const Selection selection : {Selection::singleton, Selection::conditional}) {
    const InferenceOptions options = truncated(4, 2, selection);
    const SparsePosterior sparse = infer_sparse(model, data, options);
    const Posterior dense = infer(model, data, options, {.variance = false, .states = 0, .candidates = true});
    for (Index n = 0; n < data.rows(); ++n) {
      std::vector<Index> candidates = candidates_of(sparse, n);
      std::sort(candidates.begin(), candidates.end());
      ASSERT_EQ(candidates, test::candidates_of(dense, n));
    }
    // Fewer states: the singletons of other latents are missing.
    EXPECT_TRUE((sparse.log_likelihood.array() < dense.log_likelihood.array() + 1e-9).all());
  }
}

TEST_P(NonLocal, ManyPseudoCountsLeaveTheModelsPrior) {
  const Model model = random_model(GetParam(), 51);
  const MatrixData data(random_data(model, 90, 52));
  const ListedNeighbours neighbours = random_neighbours(90, 12, 53);
  for (const Selection selection : {Selection::singleton, Selection::conditional}) {
    const InferenceOptions options = truncated(4, 3, selection);
    const SparsePosterior shared = infer_sparse(model, data, options);
    const SparsePosterior own = infer_nonlocal(model, data, options, shared, neighbours, {.pseudo_counts = 1e10});
    EXPECT_EQ(own.candidates, shared.candidates);
    EXPECT_LT((own.log_likelihood - shared.log_likelihood).cwiseAbs().maxCoeff(), 1e-6);
    EXPECT_LT((own.mean - shared.mean).cwiseAbs().maxCoeff(), 1e-5F);
    EXPECT_LT((own.probability - shared.probability).cwiseAbs().maxCoeff(), 1e-5F);
    EXPECT_LT((own.second_moment - shared.second_moment).cwiseAbs().maxCoeff(), 1e-5F);
    const SparsePosterior few = infer_nonlocal(model, data, options, shared, neighbours, {.pseudo_counts = 1});
    EXPECT_GT((few.mean - shared.mean).cwiseAbs().maxCoeff(), 0.1F);
  }
}

void expect_same(const SparsePosterior& whole, const SparsePosterior& part) {
  const Index first = part.first - whole.first, count = part.rows();
  EXPECT_EQ(whole.latents, part.latents);
  EXPECT_TRUE(whole.candidates.middleRows(first, count) == part.candidates);
  EXPECT_TRUE(whole.probability.middleRows(first, count) == part.probability);
  EXPECT_TRUE(whole.mean.middleRows(first, count) == part.mean);
  EXPECT_TRUE(whole.second_moment.middleRows(first, count) == part.second_moment);
  EXPECT_TRUE(whole.log_likelihood.segment(first, count) == part.log_likelihood);
}

SparsePosterior window(const SparsePosterior& whole, Index first, Index count) {
  SparsePosterior part;
  part.latents = whole.latents;
  part.first = first;
  part.candidates = whole.candidates.middleRows(first, count);
  part.probability = whole.probability.middleRows(first, count);
  part.mean = whole.mean.middleRows(first, count);
  part.second_moment = whole.second_moment.middleRows(first, count);
  part.log_likelihood = whole.log_likelihood.segment(first, count);
  return part;
}

TEST_P(NonLocal, ThreadsAndTilesGiveTheSameBits) {
  ModelKnobs knobs = GetParam();
  knobs.dimensions = 9;
  knobs.latents = 33;
  knobs.pi_low = 0.02;
  knobs.pi_high = 0.2;
  const Model model = random_model(knobs, 61);
  const Index rows = 3000, reach = 40;
  const MatrixData data(random_data(model, rows, 62));
  Random random(63);
  Lists lists(static_cast<std::size_t>(rows));
  for (Index n = 0; n < rows; ++n)
    for (Index i = 0; i < 10; ++i)
      lists[static_cast<std::size_t>(n)].push_back(static_cast<std::uint32_t>(
          std::clamp<Index>(n - reach + static_cast<Index>(random() % (2 * reach + 1)), 0, rows - 1)));
  const ListedNeighbours neighbours(lists);
  for (const Selection selection : {Selection::singleton, Selection::conditional}) {
    for (const Precision precision : {Precision::double_precision, Precision::single_precision}) {
      SCOPED_TRACE(::testing::Message() << to_string(selection) << ", " << to_string(precision));
      InferenceOptions options = truncated(8, 4, selection);
      options.precision = precision;
      const SparsePosterior before = infer_sparse(model, data, options);
      const SparsePosterior after = infer_nonlocal(model, data, options, before, neighbours);
      options.threads = 4;
      expect_same(before, infer_sparse(model, data, options));
      expect_same(after, infer_nonlocal(model, data, options, before, neighbours));
      const std::unique_ptr<Engine> engine = make_engine(data, options);
      for (const auto& [first, count] : {std::pair<Index, Index>{0, 7}, {700, 1000}, {2999, 1}, {500, 100}}) {
        expect_same(before, engine->infer_sparse(model, first, count, nullptr, {}));
        const Index begin = std::max<Index>(0, first - reach), end = std::min(rows, first + count + reach);
        const SparsePosterior near = window(before, begin, end - begin);
        const OwnPriors own{near, neighbours, {}};
        expect_same(after, engine->infer_sparse(model, first, count, &own, {}));
        expect_same(after, infer_nonlocal(model, data, options, near, neighbours, {}, first, count));
      }
    }
  }
}

/// Data points far from the origin have log weights that float cannot tell apart.
TEST(OwnPriors, LargeDataIsDoneInDouble) {
  ModelKnobs knobs;
  knobs.dimensions = 5;
  knobs.latents = 6;
  const Model model = random_model(knobs, 71);
  Matrix values = random_data(model, 40, 72);
  for (const Index n : {3, 4, 20}) values.row(n) *= 1000;
  const MatrixData data(values);
  InferenceOptions options = truncated(6, 4);
  options.precision = Precision::single_precision;
  const SparsePosterior got = infer_sparse(model, data, options);
  for (const Index n : {3, 4, 20}) expect_point(model, values, got, n, 4, 1e-9);
  expect_point(model, values, got, 5, 4, 1e-4);
}

TEST(OwnPriors, AreWhatTheFormulaSays) {
  Model model;
  model.W = Matrix::Identity(3, 3);
  model.pi = (Vector(3) << 0.1, 0.2, 0.3).finished();
  model.mu = (Vector(3) << 1, 0, -1).finished();
  model.slab = Slab::diagonal((Vector(3) << 1, 2, 3).finished());
  model.noise = Noise::scalar(1, 3);
  SparsePosterior before;
  before.latents = 3;
  before.first = 10;
  before.candidates = (Table<std::uint16_t>(2, 2) << 0, 1, 1, 2).finished();
  before.probability = (Table<float>(2, 2) << 0.5F, 1, 0.25F, 0).finished();
  before.mean = (Table<float>(2, 2) << 1, 4, 0.5F, 0).finished();
  before.second_moment = (Table<float>(2, 2) << 3, 16, 2, 0).finished();
  before.log_likelihood = Vector::Zero(2);
  const std::vector<std::uint32_t> rows{10, 11, 10};  // the first twice
  const Prior got = own_prior(model, before, rows, {.pseudo_counts = 2});
  // Sums: <s> 1, 2.25, 0;  <s.z> 2, 8.5, 0;  <(s.z)^2> 6, 34, 0.  k + K = 5.
  EXPECT_NEAR(got.pi[0], (2 * 0.1 + 1) / 5, 1e-15);
  EXPECT_NEAR(got.pi[1], (2 * 0.2 + 2.25) / 5, 1e-15);
  EXPECT_NEAR(got.pi[2], 2 * 0.3 / 5, 1e-15);
  EXPECT_NEAR(got.mu[0], 4.0 / 3, 1e-15);
  EXPECT_NEAR(got.mu[1], 8.5 / 4.25, 1e-15);
  EXPECT_EQ(got.mu[2], -1);
  EXPECT_NEAR(got.variance[0], (2 * 2 + 6) / 3.0 - 16.0 / 9, 1e-14);
  EXPECT_NEAR(got.variance[1], (2 * 2 + 34) / 4.25 - 4, 1e-14);
  EXPECT_NEAR(got.variance[2], 3, 1e-14);

  // The bounds: always active, never active, and always of one amplitude.
  before.candidates << 0, 1, 0, 1;
  before.probability << 1, 0, 1, 0;
  before.mean << 1, 0, 1, 0;
  before.second_moment << 1, 0, 1, 0;
  model.pi[1] = 1e-7;
  const std::vector<std::uint32_t> many(40000, 10);
  const Prior bounded = own_prior(model, before, many, {.pseudo_counts = 2});
  EXPECT_EQ(bounded.pi[0], 0.999);
  EXPECT_EQ(bounded.pi[1], 1e-7);
  EXPECT_NEAR(bounded.variance[0], 1e-3, 1e-6);
}

/// Points of a group have the same causes, with amplitudes alike. The own prior learns them, and W <s.z> is nearer to
/// what was there before the noise.
TEST(OwnPriors, KnowWhatTheGroupHasInCommon) {
  ModelKnobs knobs;
  knobs.dimensions = 16;
  knobs.latents = 48;
  knobs.pi_low = knobs.pi_high = 0.06;
  knobs.noise_std = 1;
  Model model = random_model(knobs, 81);
  model.mu.setZero();
  const Index groups = 60, size = 20, rows = groups * size;
  Random random(82);
  std::normal_distribution<double> normal;
  Matrix codes = Matrix::Zero(rows, 48);
  Lists lists(static_cast<std::size_t>(rows));
  for (Index g = 0; g < groups; ++g)
    for (Index cause = 0; cause < 3; ++cause) {
      const auto h = static_cast<Index>(random() % 48);
      const double level = normal(random);
      for (Index n = g * size; n < (g + 1) * size; ++n) codes(n, h) = level + 0.3 * normal(random);
    }
  for (Index n = 0; n < rows; ++n)
    for (Index i = 0; i < size; ++i)
      lists[static_cast<std::size_t>(n)].push_back(static_cast<std::uint32_t>(n / size * size + i));
  const Matrix clean = codes * model.W.transpose();
  const MatrixData data(clean + normal_matrix(rows, 16, random));
  const ListedNeighbours neighbours(lists);

  const auto error = [&](const SparsePosterior& posterior) {
    Matrix means = Matrix::Zero(rows, 48);
    for (Index n = 0; n < rows; ++n)
      for (Index j = 0; j < posterior.candidates.cols(); ++j)
        means(n, posterior.candidates(n, j)) = static_cast<double>(posterior.mean(n, j));
    return (means * model.W.transpose() - clean).squaredNorm() / static_cast<double>(clean.size());
  };
  for (const Selection selection : {Selection::singleton, Selection::conditional}) {
    const InferenceOptions options = truncated(8, 4, selection);
    const SparsePosterior first = infer_sparse(model, data, options);
    const SparsePosterior second = infer_nonlocal(model, data, options, first, neighbours);
    const SparsePosterior third = infer_nonlocal(model, data, options, second, neighbours);
    const double shared = error(first), once = error(second), twice = error(third);
    std::printf("  mean squared error, %s: %.4f, with own priors %.4f, once more %.4f\n",
                std::string(to_string(selection)).c_str(), shared, once, twice);
    EXPECT_LT(once, 0.8 * shared);
    EXPECT_LT(twice, once);
    EXPECT_GT(second.log_likelihood.mean(), first.log_likelihood.mean() + 0.5);
  }
}

TEST(OwnPriors, RefusalsSayWhatToDo) {
  ModelKnobs knobs;
  const Model model = random_model(knobs, 91);
  const MatrixData data(random_data(model, 20, 92));
  const InferenceOptions options = truncated(3, 2);
  const SparsePosterior before = infer_sparse(model, data, options);
  const ListedNeighbours neighbours = random_neighbours(20, 5, 93);
  const auto round = [&](const Model& of, const InferenceOptions& with, const SparsePosterior& given,
                         const NonLocalOptions& nonlocal = {}) {
    return [&, given, with, nonlocal] { infer_nonlocal(of, data, with, given, neighbours, nonlocal); };
  };

  InferenceOptions other = options;
  other.method = Method::factored;
  expect_error<UsageError>([&] { infer_sparse(model, data, other); }, {"method to truncated", "device to cpu"});
  other.method = Method::exact;
  expect_error<UsageError>([&] { infer_sparse(model, data, other); }, {"method is exact", "set method to truncated"});
  expect_error<UsageError>(round(model, other, before), {"method is exact"});
  knobs.slab = SlabType::full;
  const Model full = random_model(knobs, 94);
  expect_error<UsageError>([&] { infer_sparse(full, data, options); }, {"slab is full", "slab diagonal"});

  for (const double counts : {0.0, -1.0, std::nan(""), HUGE_VAL})
    expect_error<UsageError>(round(model, options, before, {.pseudo_counts = counts}),
                             {"pseudo_counts is ", "between 1e-6 and"});

  SparsePosterior wrong = before;
  wrong.latents = 5;
  expect_error<UsageError>(round(model, options, wrong), {"`before`", "of 5 latents", "the model has 4"});
  wrong = before;
  wrong.mean.conservativeResize(20, 2);
  expect_error<UsageError>(round(model, options, wrong), {"`before`", "different shapes", "infer_sparse()"});
  wrong = before;
  wrong.candidates(7, 1) = 4;
  expect_error<UsageError>(round(model, options, wrong), {"`before`", "candidate 4 of 4 latents"});
  wrong = window(before, 5, 10);
  expect_error<UsageError>(round(model, options, wrong), {"neighbours", "rows 5 to 14", "larger window"});
  const std::vector<std::uint32_t> far{20};
  expect_error<UsageError>([&] { own_prior(model, before, far); }, {"row 20", "rows 0 to 19"});
  expect_error<UsageError>([&] { infer_sparse(model, data, options, 15, 6); }, {"rows 15 to 21", "of 20"});
  expect_error<Interrupted>([&] { infer_sparse(model, data, options, 0, -1, [] { return true; }); }, {"interrupted"});
}

/// An engine that has only what it must have.
class PlainEngine final : public Engine {
 public:
  Statistics e_step(const Model& model, const Pass&) override { return Statistics(model); }
  Posterior infer(const Model&, const PosteriorRequest&, Index, Index, const StopRequest&) override { return {}; }
};

TEST(OwnPriors, OtherDevicesNeedNotHaveThem) {
  add_engine("plain", [](const Data&, const InferenceOptions&) { return std::make_unique<PlainEngine>(); });
  const Model model = random_model({}, 95);
  const MatrixData data(random_data(model, 20, 96));
  InferenceOptions options = truncated(3, 2);
  options.device = "plain";
  expect_error<UsageError>([&] { infer_sparse(model, data, options); }, {"this device", "device to cpu"});
}

}  // namespace
}  // namespace gsc::test
