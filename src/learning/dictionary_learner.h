#pragma once
// Learning a dictionary by turns: the codes of all data points given the atoms, better atoms given the codes. What
// methods of this kind have in common is here; how atoms are made better is a class of its own for each.
//
// The model that comes out has atoms of unit norm in W, the noise that was told or estimated, and for the rest what the
// codes show: pi is the share of data points that use an atom, mu and slab are mean and variance of its coefficients
// there. So EM can start from it.

#include "inference/coder.h"
#include "learning/learner.h"

namespace gsc {

/// The data in memory, less the intercept.
struct TrainingRows {
  Matrix X;         ///< N x D, zero where a value is missing
  Matrix observed;  ///< N x D, 1 or 0; empty if nothing is missing
};

class DictionaryLearner : public Learner {
 public:
  DictionaryLearner(Share& share, const FitOptions& options, Beginning beginning, StopRequest stop);
  const Model& model() const override { return model_; }
  Evaluation begin(int row) override;
  Evaluation iterate(int row) override;
  /// All follows from the model.
  void save(MethodState& state) const override { (void)state; }

  /// What every method of this kind asks of the options.
  static void check(const FitOptions& options);

 protected:
  /// Better atoms W (D x H) for the codes, which are its to change. `row`: of the history, to draw random numbers.
  virtual void improve(Matrix& W, Coded& coded, int row, Rescues& rescues) = 0;
  /// What the codes are worth; unless a method says otherwise, the sum of squared errors.
  virtual double objective(const Coded& coded) const { return coded.squared_error.sum(); }

  const TrainingRows& rows() const { return rows_; }
  const FitOptions& options() const { return options_; }
  /// Throws Interrupted if the user has had enough.
  void ask_to_go_on() const;
  /// A generator for what is drawn in this row of the history, whatever was drawn before.
  Random random_of(int row) const;

 private:
  Coded coded_by(const Model& model) const;
  Evaluation judged(const Rescues& rescues) const;

  const FitOptions& options_;
  Model model_;
  StopRequest stop_;
  TrainingRows rows_;
  Coded coded_;  // by model_
};

/// Columns of unit norm; those without any direction get a random one.
void normalise_atoms(Matrix& W, Random& random);

/// How many data points use each atom.
Vector users_of(const Codes& codes);

/// pi, mu and slab as the codes have them.
void describe_codes(const Codes& codes, Model& model);

}  // namespace gsc
