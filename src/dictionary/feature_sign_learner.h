#pragma once
// Efficient sparse coding (Lee, Battle, Raina, Ng 2006; docs/methods.md): the codes of all data points by feature-sign
// search (dictionary/feature_sign.h), from those of the iteration before, and the best basis for them by the Lagrange
// dual (lagrange_dual.h). Both lower
//
//   mean over data points of  1/2 |x - D a|^2 + lambda |a|_1        with |d_j| <= 1
//
// or leave it as it is. Atoms that no data point uses stay as they are (and are counted).

#include "dictionary/learner.h"

namespace gsc {

class FeatureSignLearner final : public DictionaryLearner {
 public:
  FeatureSignLearner(Share& share, const FitOptions& options, Beginning beginning, StopRequest stop);
  Evaluation begin(int row) override;

  static void check(const FitOptions& options);

 private:
  void improve(Matrix& W, Coded& coded, int row, Rescues& rescues) override;
  double objective(const Coded& coded) const override;
};

}  // namespace gsc
