// K-SVD: the update of atoms by its mathematics, learning as a whole, and what it refuses.

#include <gsc/option_list.h>
#include <gsc/restarts.h>
#include <gtest/gtest.h>

#include <Eigen/SVD>

#include <cmath>
#include <limits>
#include <numeric>

#include "dictionary/ksvd_learner.h"
#include "dictionary_support.h"
#include "distributed/thread_team.h"
#include "expect_error.h"
#include "learning/noise_estimate.h"
#include "math/eigen_pairs.h"
#include "math/leading_eigenvector.h"

namespace gsc::test {
namespace {

/// Atoms that do not fit, codes with a support of their own, and data with or without gaps.
struct Updating {
  explicit Updating(bool gaps, std::uint64_t seed = 5) : random(seed) {
    const Matrix truth = random_atoms(12, 10, random);
    rows.X = sparse_data(truth, 300, 3, 0.1, random);
    if (gaps) {
      rows.observed = (standard_normal(300, 12, random).array() > -0.7).cast<double>();
      rows.X = rows.X.cwiseProduct(rows.observed);
    }
    atoms = random_atoms(12, 10, random).transpose();
    std::vector<Eigen::Triplet<double>> entries;
    std::normal_distribution<double> normal;
    for (int n = 0; n < 300; ++n)
      for (int k = 0; k < 3; ++k) entries.emplace_back((n + 3 * k) % 10, n, normal(random));
    codes = Codes(10, 300);
    codes.setFromTriplets(entries.begin(), entries.end());
  }

  /// From the definition.
  double squared_error() const {
    Matrix residual = rows.X - Matrix(codes.transpose()) * atoms;
    if (rows.observed.size() > 0) residual = residual.cwiseProduct(rows.observed);
    return residual.squaredNorm();
  }

  Random random;
  TrainingRows rows;
  Matrix atoms;
  Codes codes;
};

TEST(LeadingEigenvector, IsTheLastOfAll) {
  Random random(2);
  for (const Index D : {Index{1}, Index{2}, Index{5}, Index{40}})
    for (int trial = 0; trial < 5; ++trial) {
      SCOPED_TRACE(D);
      const Matrix E = standard_normal(D + 20, D, random);
      const Matrix A = E.transpose() * E;
      const Vector v = leading_eigenvector(A, standard_normal(D, 1, random));
      EXPECT_NEAR(v.norm(), 1, 1e-12);
      EXPECT_NEAR(std::abs(v.dot(eigen_pairs(A).vectors.col(D - 1))), 1, 1e-10);
    }
  // Where all are equal any will do; where the start is one already it stays.
  EXPECT_NEAR(leading_eigenvector(Matrix::Identity(30, 30), standard_normal(30, 1, random)).norm(), 1, 1e-12);
  Matrix diagonal = Matrix::Zero(3, 3);
  diagonal.diagonal() << 1, 5, 2;
  EXPECT_EQ(std::abs(leading_eigenvector(diagonal, Vector::Unit(3, 1))[1]), 1);
}

TEST(Ksvd, TheSquaredErrorNeverRisesAtFixedSupports) {
  for (const bool gaps : {false, true})
    for (const AtomUpdate how : {AtomUpdate::exact, AtomUpdate::approximate}) {
      SCOPED_TRACE(::testing::Message() << (gaps ? "gaps, " : "") << to_string(how));
      Updating problem(gaps);
      AtomUpdates updates(problem.rows, problem.atoms, problem.codes);
      double before = problem.squared_error();
      const double first = before;
      for (int round = 0; round < 3; ++round)
        for (Index k = 0; k < 10; ++k) {
          updates.update(k, how);
          const double after = problem.squared_error();
          EXPECT_LE(after, before * (1 + 1e-12));
          EXPECT_NEAR(updates.squared_errors().sum(), after, 1e-9 * after);
          EXPECT_NEAR(problem.atoms.row(k).norm(), 1, 1e-12);
          before = after;
        }
      EXPECT_LT(before, 0.7 * first);
      EXPECT_EQ(problem.codes.nonZeros(), 900);
    }
}

/// E of an atom's users, from the definition.
Eigen::MatrixXd left_for(const Updating& problem, Index atom, std::vector<Index>& users) {
  const Matrix codes = problem.codes.transpose();
  users.clear();
  for (Index n = 0; n < codes.rows(); ++n)
    if (codes(n, atom) != 0) users.push_back(n);
  Eigen::MatrixXd E(static_cast<Index>(users.size()), problem.atoms.cols());
  for (Index i = 0; i < E.rows(); ++i) {
    const Index n = users[static_cast<std::size_t>(i)];
    E.row(i) = problem.rows.X.row(n) - codes.row(n) * problem.atoms + codes(n, atom) * problem.atoms.row(atom);
  }
  return E;
}

TEST(Ksvd, TheExactUpdateIsTheFirstSingularPair) {
  Updating problem(false);
  // Also an atom with fewer users than dimensions.
  for (Index n = 30; n < 300; ++n)
    for (Codes::InnerIterator entry(problem.codes, n); entry; ++entry)
      if (entry.row() == 4) entry.valueRef() = 0;
  problem.codes.prune(0.0);
  std::vector<Index> users;
  for (const Index atom : {Index{2}, Index{4}}) {
    SCOPED_TRACE(atom);
    const Eigen::MatrixXd E = left_for(problem, atom, users);
    const Eigen::BDCSVD<Eigen::MatrixXd> svd(E, Eigen::ComputeThinU | Eigen::ComputeThinV);
    AtomUpdates updates(problem.rows, problem.atoms, problem.codes);
    updates.update(atom, AtomUpdate::exact);
    const Eigen::VectorXd v = svd.matrixV().col(0);
    EXPECT_NEAR(std::abs(problem.atoms.row(atom).dot(v.transpose())), 1, 1e-10);
    Vector coefficients(E.rows());
    for (Index i = 0; i < E.rows(); ++i)
      coefficients[i] = problem.codes.coeff(atom, users[static_cast<std::size_t>(i)]);
    EXPECT_NEAR(coefficients.norm(), svd.singularValues()[0], 1e-9);
  }
  EXPECT_LT(users.size(), 12U);
}

TEST(Ksvd, WithGapsTheExactUpdateCannotBeImproved) {
  Updating problem(true);
  AtomUpdates updates(problem.rows, problem.atoms, problem.codes);
  for (int round = 0; round < 5; ++round) updates.update(3, AtomUpdate::exact);
  const double best = problem.squared_error();
  // The gradient by differences, in the atom and in a coefficient.
  constexpr double h = 1e-5;
  const auto slope = [&](double& value) {
    const double old = value;
    value = old + h;
    const double up = problem.squared_error();
    value = old - h;
    const double down = problem.squared_error();
    value = old;
    return (up - down) / (2 * h);
  };
  for (Index d = 0; d < 12; ++d) EXPECT_NEAR(slope(problem.atoms(3, d)), 0, 1e-4 * best);
  for (Codes::InnerIterator entry(problem.codes, 3); entry; ++entry)
    if (entry.row() == 3) {
      EXPECT_NEAR(slope(entry.valueRef()), 0, 1e-6 * best);
    }
}

class KsvdFit : public ::testing::Test {
 protected:
  KsvdFit() : truth_(random_atoms(16, 20, random_)), data_(sparse_data(truth_, 1500, 3, 0.05, random_)) {}

  Index found(const Matrix& W) const {
    return ((W.transpose() * truth_).cwiseAbs().colwise().maxCoeff().array() > 0.98).count();
  }

  Random random_{11};
  Matrix truth_;
  MatrixData data_;
};

TEST_F(KsvdFit, FindsTheAtomsThatMadeTheData) {
  FitOptions options = ksvd_options(20, 0.05);
  options.iterations = 40;
  options.inference.coding.atoms_per_point = 3;
  for (const AtomUpdate how : {AtomUpdate::exact, AtomUpdate::approximate}) {
    options.dictionary.atom_update = how;
    const FitResult result = fit(data_, options);
    EXPECT_GE(found(result.model().W), 18) << to_string(how);
    EXPECT_LT(result.last().free_energy, result.state.history.front().free_energy / 4);
  }
}

TEST_F(KsvdFit, TheModelTellsWhatTheCodesShow) {
  const FitOptions options = ksvd_options(20, 0.05);
  const FitResult result = fit(data_, options);
  const Model& model = result.model();
  model.validate();
  EXPECT_LT((model.W.colwise().norm().array() - 1).abs().maxCoeff(), 1e-12);
  EXPECT_EQ(model.noise.mean_variance(), 0.05 * 0.05);
  const Matrix codes = infer(model, data_, options.inference).mean;
  const double N = static_cast<double>(data_.rows());
  const double error = (data_.values() - codes * model.W.transpose()).squaredNorm();
  EXPECT_NEAR(result.last().free_energy, error, 1e-8 * error);
  EXPECT_NEAR(result.last().mean_active, static_cast<double>((codes.array() != 0).count()) / N, 1e-12);
  for (Index h = 0; h < 20; ++h) {
    const double users = static_cast<double>((codes.col(h).array() != 0).count());
    ASSERT_GT(users, 1);
    EXPECT_NEAR(model.pi[h], users / N, 1e-12);
    EXPECT_NEAR(model.mu[h], codes.col(h).sum() / users, 1e-9);
    EXPECT_NEAR(model.slab.variances()[h], codes.col(h).squaredNorm() / users - std::pow(codes.col(h).sum() / users, 2),
                1e-9);
  }
  // It can start EM.
  FitOptions em;
  em.latents = 20;
  em.iterations = 2;
  em.intercept = Intercept::none;
  const FitResult after = fit(data_, em, nullptr, model);
  EXPECT_GT(after.last().free_energy, after.state.history.front().free_energy);
}

TEST_F(KsvdFit, GoesOnWithTheSameBitsOnAnyNumberOfThreads) {
  FitOptions options = ksvd_options(20, 0.05);
  options.iterations = 6;
  options.inference.threads = 3;
  const FitResult whole = fit(data_, options);
  options.iterations = 2;
  FitResult half = fit(data_, options);
  options.iterations = 6;
  options.inference.threads = 1;
  const FitResult both = resume(data_, options, half.state);
  EXPECT_TRUE(both.model() == whole.model());
  ASSERT_EQ(both.state.history.size(), 7U);
  for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(both.state.history[i].free_energy, whole.state.history[i].free_energy);
}

TEST_F(KsvdFit, LearnsFromWhatIsObserved) {
  Matrix table = data_.values();
  for (Index n = 0; n < table.rows(); ++n) table(n, (n * 7) % 16) = std::numeric_limits<double>::quiet_NaN();
  FitOptions options = ksvd_options(20, 0.05);
  options.iterations = 40;
  options.inference.coding.atoms_per_point = 3;
  options.inference.missing = Missing::nan;
  const FitResult result = fit(MatrixData(table), options);
  EXPECT_GE(found(result.model().W), 15);
}

TEST_F(KsvdFit, UselessAtomsBecomeDataPoints) {
  FitOptions options = ksvd_options(20, 0.05);
  options.iterations = 1;
  Model start = dictionary_model(truth_, 0.05);
  start.W.col(7) = start.W.col(3);  // a copy, of which nobody uses one
  const FitResult result = fit(data_, options, nullptr, start);
  EXPECT_GE(result.state.rescues.replaced_atoms, 1);
  const Matrix gram = result.model().W.transpose() * result.model().W - Matrix::Identity(20, 20);
  EXPECT_LE(gram.cwiseAbs().maxCoeff(), 0.99);
}

struct Notes final : Watcher {
  void on_note(const std::string& note) override { notes += note + "\n"; }
  bool stop_requested() override { return --left < 0; }
  std::string notes;
  int left = std::numeric_limits<int>::max();
};

TEST_F(KsvdFit, SaysWhichNoiseLevelItTakesWhereItIsNotTold) {
  FitOptions options = ksvd_options(20, 0);
  options.iterations = 0;
  Notes notes;
  const FitResult result = fit(data_, options, &notes);
  EXPECT_NE(notes.notes.find("ksvd method must be told the noise level"), std::string::npos) << notes.notes;
  // Here BLAS may sum on several threads, in learning it does not.
  const double estimated = noise_of_table(data_, summarize(data_));
  EXPECT_NEAR(std::sqrt(result.model().noise.mean_variance()), estimated, 1e-10 * estimated);
  // Structure in half the dimensions leaves the others to the noise.
  Matrix flat = 0.2 * standard_normal(4000, 16, random_);
  flat.leftCols(8) += 5 * standard_normal(4000, 8, random_);
  const MatrixData known(flat);
  EXPECT_NEAR(noise_of_table(known, summarize(known)), 0.2, 0.01);
}

TEST_F(KsvdFit, StopsWhereItIsAskedTo) {
  FitOptions options = ksvd_options(20, 0.05);
  options.iterations = 1000;
  Notes stopping;
  stopping.left = 40;
  const FitResult result = fit(data_, options, &stopping);
  EXPECT_EQ(result.reason, StopReason::interrupted);
  ASSERT_FALSE(result.state.history.empty());
  options.iterations = result.last().iteration;
  EXPECT_TRUE(fit(data_, options).model() == result.model());
}

TEST_F(KsvdFit, TheBestOfSeveralStartsHasTheLeastError) {
  FitOptions options = ksvd_options(20, 0.05);
  options.inference.coding.atoms_per_point = 2;
  const Restarts starts = fit_restarts(data_, options, 4);
  EXPECT_EQ(*std::min_element(starts.free_energies.begin(), starts.free_energies.end()),
            starts.best.last().free_energy);
}

TEST_F(KsvdFit, RefusesWhatItDoesNotHave) {
  const auto refused = [&](auto change, Parts words) {
    FitOptions options = ksvd_options(20, 0.05);
    change(options);
    expect_error<UsageError>([&] { fit(data_, options); }, words);
  };
  refused([](FitOptions& o) { o.inference.candidates = 5; }, {"candidates is 5", "method is ksvd", "truncated"});
  refused([](FitOptions& o) { o.slab = SlabType::full; }, {"slab is full", "ksvd"});
  refused([](FitOptions& o) { o.noise = NoiseType::diagonal; }, {"noise is diagonal", "ksvd"});
  refused([](FitOptions& o) { o.batch = 100; }, {"batch is 100", "ksvd"});
  refused([](FitOptions& o) { o.factored.basis_prior = BasisPrior::gp; }, {"basis_prior is gp", "is for factored"});
  refused([](FitOptions& o) { o.inference.precision = Precision::single_precision; }, {"precision is single", "ksvd"});
  refused([](FitOptions& o) { o.sigma = -1; }, {"sigma is -1"});
  refused([](FitOptions& o) { o.inference.coding.error_gain = 0; }, {"error_gain is 0"});
  refused([](FitOptions& o) { o.inference.max_active = -1; }, {"max_active is -1"});
  refused([](FitOptions& o) { o.inference.coding.atoms_per_point = 21; }, {"atoms_per_point is 21", "latents (20)"});
  refused([](FitOptions& o) { o.latents = 1501; }, {"latents is 1501", "1500 data points"});
  FitOptions truncated;
  truncated.inference.coding.error_gain = 2;
  expect_error<UsageError>([&] { truncated.validate(); }, {"error_gain is 2", "method is truncated", "is for ksvd"});
  EXPECT_EQ(options_for(truncated, Method::truncated).inference.coding.error_gain, 1.15);
  run_ranks(2, 1, [&](Team& team) {
    FitOptions options = ksvd_options(20, 0.05);
    options.sharing.team = &team;
    expect_error<UsageError>([&] { fit(data_, options); }, {"method is ksvd", "one process"});
  });
}

}  // namespace
}  // namespace gsc::test
