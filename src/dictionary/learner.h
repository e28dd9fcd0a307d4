#pragma once
// Learning a dictionary by turns: the codes of all data points given the atoms, better atoms given the codes. What
// methods of this kind have in common is here; how atoms are made better is a class of its own for each.
//
// The model that comes out has atoms of unit norm in W, the noise that was told or estimated, and for the rest what the
// codes show: pi is the share of data points that use an atom, mu and slab are mean and variance of its coefficients
// there. So EM can start from it.

#include "dictionary/coder.h"
#include "learning/learner.h"

namespace gsc {

/// The data in memory, less the intercept.
struct TrainingRows {
  Matrix X;         ///< N x D, zero where a value is missing
  Matrix observed;  ///< N x D, 1 or 0; empty if nothing is missing
};

/// Where the search for codes begins.
enum class CodesFrom { nothing, last_iteration };

class DictionaryLearner : public Learner {
 public:
  DictionaryLearner(Share& share, const FitOptions& options, Beginning beginning, StopRequest stop,
                    CodesFrom codes_from = CodesFrom::nothing);
  Model model() const override { return model_; }
  Evaluation begin(int row) override;
  Evaluation iterate(int row) override;
  /// All follows from the model, and where codes begin with those of the iteration before, from these.
  void save(MethodState& state) const override;

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
  Coded coded_by(const Model& model, const Codes& start) const;
  /// Describes the codes in the model, too.
  Evaluation judged(const Rescues& rescues);

  const FitOptions& options_;
  Model model_;
  StopRequest stop_;
  TrainingRows rows_;
  CodesFrom codes_from_;
  Codes start_;  // from which the search for those of the last row began; empty: from nothing
  Coded coded_;  // by model_
};

/// The model to start from with atoms of unit norm. Throws UsageError for more atoms than data points.
Model start_dictionary(const Data& data, const FitOptions& options, Model model);
/// A generator for what is drawn in this row of the history, whatever was drawn before.
Random random_of_row(std::uint64_t seed, int row);

/// Columns of unit norm; those without any direction get a random one.
void normalise_atoms(Matrix& W, Random& random);

/// What codes show of their atoms, added up.
struct CodeMoments {
  explicit CodeMoments(Index latents);
  void add(const Codes& codes);
  /// pi, mu and slab of the model.
  void describe(Model& model) const;

  double points = 0;
  Vector users;         ///< data points that use an atom
  Vector sum, squares;  ///< of its coefficients there
};

}  // namespace gsc
