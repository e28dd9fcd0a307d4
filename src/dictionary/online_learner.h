#pragma once
// Online dictionary learning (Mairal, Bach, Ponce, Sapiro 2009; docs/methods.md): codes for a batch of data points
// under the dictionary as it stands, which go into A and B (online_dictionary.h), and a step of the dictionary; then
// the next batch. An iteration is a pass over the data, in an order of its own.
//
// The objective of a row, a mean over data points,
//
//   lasso: 1/2 |x - D a|^2 + lambda |a|_1        bounded: |a|_1        omp: 1/2 |x - D a|^2
//
// is an estimate: each batch's under the dictionary of its time.
//
// Where entries are missing a code is that of the entries that are there (active_set.h), and what is missing takes the
// value that the code gives it, x^ = D a, before it goes into B. As |x - D a|^2 over all entries with x^ in it is never
// less than that over the observed ones, and the same at the present D, the step lowers a bound of what is wanted. So
// one A will do for all dimensions, where exact sums would take one for each.
//
// Every 16th batch, counted over all passes, and with the first of every pass but the first, atoms that are useless
// (online_dictionary.h) become data points that the batch explains worst, and the batch is coded anew.

#include "dictionary/coder.h"
#include "dictionary/online_dictionary.h"
#include "learning/learner.h"

namespace gsc {

class OnlineLearner final : public Learner {
 public:
  OnlineLearner(Share& share, const FitOptions& options, Beginning beginning, StopRequest stop);
  Model model() const override { return model_; }
  Evaluation begin(int row) override;
  Evaluation iterate(int row) override;
  /// When a pass has brought less than this part of the objective.
  bool converged(const std::vector<IterationReport>& history, double tolerance) const override;
  void save(MethodState& state) const override;

  static void check(const FitOptions& options);

 private:
  struct Batch {
    Matrix X, observed;
    Coded coded;
  };
  std::vector<Index> order(int row) const;
  void read_rows(std::span<const Index> rows, const Model& model, Batch& batch) const;
  void code(std::span<const Index> rows, const Model& model, Batch& batch) const;

  const Data& data_;
  const FitOptions& options_;
  Model model_;
  StopRequest stop_;
  Index batch_;
  OnlineDictionary dictionary_;
  double batches_seen_ = 0;
};

}  // namespace gsc
