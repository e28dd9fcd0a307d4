// M-steps after small batches.

#include <gsc/fit.h>
#include <gsc/fit_piece.h>
#include <gtest/gtest.h>

#include <cmath>

#include "expect_error.h"
#include "learning/m_step_parts.h"
#include "stepwise_support.h"
#include "truncated/stepwise.h"

namespace gsc::test {
namespace {

class SomeTypes : public ::testing::TestWithParam<ModelKnobs> {};
INSTANTIATE_TEST_SUITE_P(Types, SomeTypes, ::testing::ValuesIn(every_type(6, 5)),
                         [](const auto& test) { return type_name(test.param); });

TEST_P(SomeTypes, GetsFurtherInFewerPasses) {
  const MatrixData data = data_for(GetParam(), 3000);
  const double full = fit(data, options_for(GetParam(), 0, 7)).last().free_energy;
  const FitResult stepwise = fit(data, options_for(GetParam(), 200, 7));
  EXPECT_GT(stepwise.last().free_energy, full);
  for (const IterationReport& row : stepwise.state.history) {
    EXPECT_EQ(row.estimated, row.iteration <= 4) << row.iteration;
    EXPECT_FALSE(row.dip) << row.iteration;
  }
  // The last rows are full EM: what they report is what the model has.
  const double exactly = e_step(stepwise.model(), data, options_for(GetParam(), 0, 0).inference).free_energy;
  EXPECT_NEAR(stepwise.last().free_energy / exactly, 1, 1e-12);
  // The estimate of the last pass is not far from what the parameters after it are worth.
  EXPECT_NEAR(stepwise.state.history[4].free_energy / stepwise.state.history[5].free_energy, 1, 0.02);
}

TEST_P(SomeTypes, AllDataAsOnePieceIsAPass) {
  const MatrixData data = data_for(GetParam(), 500);
  FitOptions options = options_for(GetParam(), 64, 3);
  options.polish = 0;
  PiecewiseState state;
  for (int passes = 1; passes <= 3; ++passes) {
    options.iterations = passes;
    const FitResult pass = fit(data, options);
    const IterationReport report = fit_piece(state, data, options);
    // The sums are those of as many data points, up to rounding, from the second piece on.
    EXPECT_NEAR(report.free_energy / pass.last().free_energy, 1, passes == 1 ? 0 : 1e-9);
    EXPECT_LE((state.model.W - pass.model().W).cwiseAbs().maxCoeff(), passes == 1 ? 0 : 1e-8);
    EXPECT_EQ(report.iteration, passes);
  }
  EXPECT_EQ(state.points, 1500);
}

TEST_P(SomeTypes, GoesOnWithTheSameBits) {
  const MatrixData data = data_for(GetParam(), 500);
  const FitOptions options = options_for(GetParam(), 64, 8);
  for (const int row : {0, 3, 5, 6, 7}) {
    Keeper keeper(row);
    const FitResult whole = fit(data, options, &keeper);
    const FitResult both = resume(data, options, keeper.kept);
    EXPECT_TRUE(both.model() == whole.model()) << row;
    EXPECT_EQ(both.last().free_energy, whole.last().free_energy) << row;
  }
}

TEST_P(SomeTypes, GoesOnWithTheSameBitsAfterPassesBringNothing) {
  const MatrixData data = data_for(GetParam(), 500);
  FitOptions options = options_for(GetParam(), 64, 40);
  options.tolerance = 0.01;
  for (const int polish : {0, 1, 2, 5}) {
    options.polish = polish;
    Keeper none(-1);
    const FitResult whole = fit(data, options, &none);
    const auto& history = whole.state.history;
    const auto full = std::count_if(history.begin(), history.end(), [](const auto& row) { return !row.estimated; });
    EXPECT_EQ(whole.reason, StopReason::converged) << polish;
    ASSERT_LT(whole.last().iteration, 40) << "passes were to bring nothing earlier";
    EXPECT_EQ(full, polish) << "and full EM changes less than a hundredth, too";
    for (int row = 0; row <= whole.last().iteration; ++row) {
      Keeper keeper(row);
      fit(data, options, &keeper);
      const FitResult both = resume(data, options, keeper.kept);
      EXPECT_TRUE(both.model() == whole.model()) << polish << ' ' << row;
      EXPECT_EQ(both.reason, whole.reason) << polish << ' ' << row;
      ASSERT_EQ(both.state.history.size(), history.size()) << polish << ' ' << row;
      for (std::size_t i = 0; i < history.size(); ++i)
        EXPECT_EQ(both.state.history[i].free_energy, history[i].free_energy) << polish << ' ' << row << ' ' << i;
    }
  }
}

/// Asks to stop when so many questions after a row have been answered with no.
class Stopper final : public Watcher {
 public:
  Stopper(int row, int questions) : row_(row), questions_(questions) {}
  void on_iteration(const FitState& state) override { reached_ = state.history.back().iteration >= row_; }
  bool stop_requested() override { return reached_ && questions_-- <= 0; }

 private:
  int row_, questions_;
  bool reached_ = false;
};

TEST(Stepwise, GoesOnWithTheSameBitsAfterAnInterruption) {
  const ModelKnobs knobs{.dimensions = 5, .latents = 4};
  const MatrixData data = data_for(knobs, 500);
  const FitOptions options = options_for(knobs, 64, 6);
  const FitResult whole = fit(data, options);
  for (int row = 0; row < 6; ++row) {
    Stopper stopper(row, 0);
    const FitResult half = fit(data, options, &stopper);
    ASSERT_EQ(half.reason, StopReason::interrupted);
    ASSERT_EQ(half.last().iteration, row);
    const FitResult both = resume(data, options, half.state);
    EXPECT_TRUE(both.model() == whole.model()) << row;
  }
}

TEST(Stepwise, DependsOnTheSeedAlone) {
  const ModelKnobs knobs{.dimensions = 5, .latents = 4};
  const MatrixData data = data_for(knobs, 700);
  FitOptions options = options_for(knobs, 50, 6);
  const FitResult one = fit(data, options), again = fit(data, options);
  EXPECT_TRUE(one.model() == again.model());
  options.seed = 2;
  EXPECT_FALSE(fit(data, options, nullptr, one.model()).model() ==
               fit(data, options_for(knobs, 50, 6), nullptr, one.model()).model());
}

TEST(Stepwise, SameBitsWithSeveralThreads) {
  const ModelKnobs knobs{.dimensions = 5, .latents = 4};
  const MatrixData data = data_for(knobs, 3000);
  FitOptions options = options_for(knobs, 1000, 6);
  const FitResult alone = fit(data, options);
  options.inference.threads = 2;
  Keeper keeper(2);
  const FitResult one = fit(data, options), again = fit(data, options, &keeper);
  EXPECT_TRUE(one.model() == again.model());
  EXPECT_TRUE(resume(data, options, keeper.kept).model() == one.model());
  // The same batches, whose sums are joined from other parts.
  EXPECT_NEAR(one.last().free_energy / alone.last().free_energy, 1, 1e-9);
}

/// Remembers how often it was asked for rows.
class SlowRows final : public Data {
 public:
  SlowRows(Matrix values, bool random_access) : values_(std::move(values)), random_access_(random_access) {}
  Index rows() const override { return values_.rows(); }
  Index cols() const override { return values_.cols(); }
  void read(Index first, Eigen::Ref<Matrix> block) const override {
    ++reads;
    block = values_.middleRows(first, block.rows());
  }
  bool random_access() const override { return random_access_; }
  mutable int reads = 0;

 private:
  Matrix values_;
  bool random_access_;
};

TEST(Stepwise, ReadsNeighboursTogetherWhereRowsAreSlow) {
  const ModelKnobs knobs{.dimensions = 5, .latents = 4};
  const Matrix values = random_data(random_model(knobs, 1), 2000, 2);
  FitOptions options = options_for(knobs, 200, 2);
  options.polish = 0;
  const SlowRows fast(values, true), slow(values, false);
  const FitResult one = fit(fast, options), other = fit(slow, options);
  EXPECT_GT(fast.reads, 3000);
  EXPECT_LT(slow.reads, 500) << "runs of 50 rows, two passes, and few more";
  EXPECT_NEAR(one.last().free_energy / other.last().free_energy, 1, 0.05);
}

TEST(Stepwise, StopsWhenPassesBringNothing) {
  const ModelKnobs knobs{.dimensions = 4, .latents = 2};
  const MatrixData data = data_for(knobs, 4000);
  FitOptions options = options_for(knobs, 500, 300);
  options.tolerance = 1e-4;
  const FitResult result = fit(data, options);
  EXPECT_EQ(result.reason, StopReason::converged);
  EXPECT_LT(result.last().iteration, 100);
  EXPECT_FALSE(result.last().estimated);
}

TEST(Stepwise, SumsMoveWithTheIntercept) {
  for (const NoiseType noise : {NoiseType::diagonal, NoiseType::full}) {
    const ModelKnobs knobs{.dimensions = 4, .latents = 3, .noise = noise, .intercept = true};
    const Model model = random_model(knobs, 1);
    Model moved = model;
    moved.intercept += Vector::LinSpaced(4, -1, 2);
    const Matrix values = random_data(model, 50, 2);
    InferenceOptions exact;
    exact.method = Method::exact;
    Statistics sums = e_step(model, MatrixData(values), exact);
    // The same posterior with the intercept elsewhere: that of data which moved along.
    Matrix shifted = values;
    shifted.rowwise() += (moved.intercept - model.intercept).transpose();
    const Statistics there = e_step(moved, MatrixData(shifted), exact);
    EXPECT_LT((there.YZ - sums.YZ).cwiseAbs().maxCoeff(), 1e-9);
    move_intercept(sums, moved.intercept - model.intercept);
    // By hand, for the data that stayed.
    const Posterior posterior = infer(model, MatrixData(values), exact);
    Matrix about = values;
    about.rowwise() -= moved.intercept.transpose();
    EXPECT_LT((about.transpose() * posterior.mean - sums.YZ).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_LT((about.colwise().sum().transpose() - sums.y).cwiseAbs().maxCoeff(), 1e-9);
    const Matrix YY = about.transpose() * about;
    EXPECT_LT(((noise == NoiseType::full ? YY : Matrix(YY.diagonal())) - sums.YY).cwiseAbs().maxCoeff(), 1e-9);
  }
}

TEST(Stepwise, RefusesWhatCannotBe) {
  const MatrixData data = data_for({.dimensions = 4, .latents = 3}, 100);
  FitOptions options = options_for({.dimensions = 4, .latents = 3}, 10, 3);
  options.inference.method = Method::factored;
  expect_error<UsageError>([&] { fit(data, options); }, {"batch is 10", "factored"});
  options.inference.method = Method::truncated;
  options.sharing.partition = Partition::local;
  expect_error<UsageError>([&] { fit(data, options); }, {"batch is 10", "partition is local"});
  options.sharing.partition = Partition::uniform;
  options.batch = -1;
  expect_error<UsageError>([&] { fit(data, options); }, {"batch is -1"});
}

TEST(Pieces, OfAnySizeLeadToTheSameModel) {
  const ModelKnobs knobs{.dimensions = 6, .latents = 5};
  const Matrix all = data_for(knobs, 6000).values();
  const FitOptions options = options_for(knobs, 100, 10);
  PiecewiseState state;
  const std::vector<Index> sizes = {300, 100, 1, 599};
  Index first = 0;
  for (std::size_t i = 0; first + 599 <= all.rows(); ++i) {
    const Index size = sizes[i % sizes.size()];
    fit_piece(state, MatrixData(all.middleRows(first, size)), options);
    first += size;
  }
  const MatrixData whole(all.topRows(first));
  const double learned = e_step(state.model, whole, options.inference).free_energy;
  FitOptions one_pass = options_for(knobs, 100, 1);
  one_pass.polish = 0;
  const double in_one = e_step(fit(whole, one_pass).model(), whole, options.inference).free_energy;
  EXPECT_NEAR(learned / in_one, 1, 0.05);
}

TEST(Pieces, LeaveTheStateWhereTheyFail) {
  const ModelKnobs knobs{.dimensions = 6, .latents = 5};
  const MatrixData data = data_for(knobs, 500);
  FitOptions options = options_for(knobs, 100, 10);
  PiecewiseState state;
  fit_piece(state, data, options);
  const Model before = state.model;
  EXPECT_THROW(fit_piece(state, data, options, [] { return true; }), Interrupted);
  expect_error<Error>([&] { fit_piece(state, MatrixData(Matrix::Random(50, 7)), options); }, {"7 columns", "had 6"});
  options.inference.method = Method::factored;
  options.batch = 0;
  expect_error<UsageError>([&] { fit_piece(state, data, options); }, {"factored", "choose truncated or exact"});
  EXPECT_TRUE(state.model == before);
  EXPECT_EQ(state.pieces, 1);
}

TEST(Intercept, IsTheMeanWhereItIsNotLearned) {
  const ModelKnobs knobs{.dimensions = 4, .latents = 3, .intercept = true};
  const MatrixData data = data_for(knobs, 200);
  FitOptions options = options_for(knobs, 0, 5);
  options.intercept = Intercept::mean;
  const Vector mean = data.values().colwise().mean();
  EXPECT_LT((fit(data, options).model().intercept - mean).cwiseAbs().maxCoeff(), 1e-12);
  options.intercept = Intercept::none;
  EXPECT_EQ(fit(data, options).model().intercept.size(), 0);
  options.intercept = Intercept::learned;
  const double learned = fit(data, options).last().free_energy;
  options.intercept = Intercept::mean;
  EXPECT_GT(learned, fit(data, options).last().free_energy);
}

TEST(Intercept, OfAStartWithoutOneIsWhatItsLatentsLeave) {
  const ModelKnobs knobs{.dimensions = 4, .latents = 3};
  Model model = random_model(knobs, 1);
  model.mu = Vector::Constant(3, 5);  // a level that the latents explain
  const MatrixData data(random_data(model, 2000, 2));
  FitOptions options = options_for(knobs, 0, 0);
  options.inference.method = Method::exact;
  const double without = fit(data, options, nullptr, model).last().free_energy;
  options.intercept = Intercept::learned;
  const FitResult with = fit(data, options, nullptr, model);
  EXPECT_LT(with.model().intercept.cwiseAbs().maxCoeff(), 0.05 * model.W.cwiseAbs().maxCoeff() * 5);
  EXPECT_NEAR(with.last().free_energy / without, 1, 0.01);
}

TEST(Intercept, FarFromZeroChangesNothing) {
  const ModelKnobs knobs{.dimensions = 4, .latents = 3, .intercept = true};
  const Matrix values = random_data(random_model(knobs, 1), 200, 2);
  const FitOptions options = options_for(knobs, 0, 10);
  const FitResult here = fit(MatrixData(values), options);
  const FitResult far = fit(MatrixData(Matrix(values.array() + 1e6)), options);
  EXPECT_NEAR(far.last().free_energy / here.last().free_energy, 1, 1e-6);
  EXPECT_LT((far.model().W - here.model().W).cwiseAbs().maxCoeff(), 1e-4);
}

TEST(Intercept, ALevelWithoutOneIsSaid) {
  class Notes final : public Watcher {
   public:
    void on_note(const std::string& note) override { notes.push_back(note); }
    std::vector<std::string> notes;
  };
  const ModelKnobs knobs{.dimensions = 4, .latents = 3};
  const Matrix values = random_data(random_model(knobs, 1), 200, 2).array() + 100;
  FitOptions options = options_for(knobs, 0, 1);
  Notes none, learned;
  fit(MatrixData(values), options, &none);
  ASSERT_EQ(none.notes.size(), 1U);
  expect_says(none.notes[0], {"standard deviations from zero", "intercept"});
  options.intercept = Intercept::learned;
  fit(MatrixData(values), options, &learned);
  EXPECT_TRUE(learned.notes.empty());
}

TEST(Intercept, PaperNoiseHasNone) {
  FitOptions options;
  options.noise_update = Update::paper;
  expect_error<UsageError>([&] { options.validate(); }, {"intercept is learned", "noise_update is paper"});
  options.intercept = Intercept::mean;
  EXPECT_NO_THROW(options.validate());
}

}  // namespace
}  // namespace gsc::test
