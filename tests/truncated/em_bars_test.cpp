// Learning on the paper's bars (section 5.1): does truncation keep the posterior mass, and are the bars found?

#include <gsc/fit.h>
#include <gsc/generate.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "effort.h"
#include "inference_check.h"

namespace gsc::test {
namespace {

struct Runs {
  FitResult best;    ///< of highest free energy
  FitResult first;   ///< what a single start would have given
  int complete = 0;  ///< starts that found every bar
};

/// Generating columns for which some learned column points the same or the opposite way.
Index bars_found(const Matrix& generating, const Matrix& learned) {
  const Matrix cosine = generating.colwise().normalized().transpose() * learned.colwise().normalized();
  Index found = 0;
  for (Index h = 0; h < generating.cols(); ++h) found += cosine.row(h).cwiseAbs().maxCoeff() > 0.95;
  return found;
}

Runs learn(const Model& generating, const Data& data, const InferenceOptions& inference, int count) {
  Runs starts;
  for (int start = 1; start <= count; ++start) {
    FitOptions options;
    options.latents = generating.latents();
    options.inference = inference;
    options.init = Init::random;
    options.iterations = 50;
    options.tolerance = 0;
    options.seed = static_cast<std::uint64_t>(start);
    FitResult result = fit(data, options);
    starts.complete += bars_found(generating.W, result.model().W) == generating.latents();
    if (start == 1) starts.first = result;
    if (start == 1 || result.last().free_energy > starts.best.last().free_energy) starts.best = std::move(result);
  }
  return starts;
}

/// eq. EqnQValues, averaged over the data.
double mean_q(const Model& model, const Data& data, const InferenceOptions& inference) {
  const Vector some = infer(model, data, inference).log_likelihood;
  const Vector all = infer(model, data, exact()).log_likelihood;
  EXPECT_LE((some - all).maxCoeff(), 1e-9) << "a part cannot be more than the whole";
  return (some - all).array().exp().mean();
}

struct Truncation {
  Index candidates, max_active;
};

// The paper reports mean Q above 0.99 for these settings. That cannot be: at the generating parameters a data point
// with more than gamma bars has nearly all its mass outside K_n whatever the candidates, and with two bars on average 3
// % of the points have more than four, 12 % more than three. (Brute force in long double agrees: 0.97 for every subset
// of at most four.) So Q is held against what the truncation allows: the share of points with at most gamma bars, and
// the value at the generating parameters.
TEST(Bars, TruncationKeepsThePosteriorMass) {
  if (kSanitized) GTEST_SKIP() << "judges what is learned: in the plain build";
  for (Index latents : {10, 12}) {
    Random random(2014);
    const Model generating = bars_model(latents, random);
    const Sample drawn = sample(generating, 1000, random);
    const MatrixData data(drawn.data);
    const Vector active = drawn.spikes.rowwise().sum();
    for (const Truncation& t : {Truncation{4, 4}, Truncation{5, 4}, Truncation{5, 3}}) {
      const double within = (active.array() <= static_cast<double>(t.max_active)).cast<double>().mean();
      double singleton_q = 0;
      for (Selection selection : {Selection::singleton, Selection::conditional}) {
        SCOPED_TRACE(::testing::Message() << "H=" << latents << " H'=" << t.candidates << " gamma=" << t.max_active);
        const InferenceOptions inference = truncated(t.candidates, t.max_active, selection);
        const Runs starts = learn(generating, data, inference, 5);
        const double q = mean_q(starts.best.model(), data, inference);
        const double generating_q = mean_q(generating, data, inference);
        std::cout << "H=" << latents << " H'=" << t.candidates << " gamma=" << t.max_active
                  << (selection == Selection::singleton ? " singleton  " : " conditional") << "  Q " << q
                  << ", first start " << mean_q(starts.first.model(), data, inference) << ", generating parameters "
                  << generating_q << ", points within gamma " << within << ", noise variance "
                  << starts.best.model().noise.mean_variance() << '\n';
        EXPECT_GT(q, generating_q - 0.01);
        if (selection == Selection::conditional) {
          EXPECT_GT(q, within - 0.05);
          EXPECT_GT(q, singleton_q) << "the conditional selection keeps more";
        }
        singleton_q = q;
      }
    }
  }
}

TEST(Bars, AreFound) {
  if (kSanitized) GTEST_SKIP() << "judges what is learned: in the plain build";
  for (const Truncation& t : {Truncation{4, 4}, Truncation{5, 4}, Truncation{5, 5}}) {
    int complete = 0;
    int complete_starts = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      Random random(seed);
      const Model generating = bars_model(10, random);
      const MatrixData data(sample(generating, 1000, random).data);
      const Runs starts = learn(generating, data, truncated(t.candidates, t.max_active), 5);
      complete += bars_found(generating.W, starts.best.model().W) == 10;
      complete_starts += starts.complete;
    }
    std::cout << "H'=" << t.candidates << " gamma=" << t.max_active << ": all ten bars in " << complete
              << " of 10 data sets; in " << complete_starts << " of 50 single starts\n";
    // Local optima differ with rounding, so with the processor: one less is granted where nine was measured.
    EXPECT_GE(complete, t.candidates == 4 ? 9 : 8);
    EXPECT_GE(complete_starts, 25);
  }
}

}  // namespace
}  // namespace gsc::test
