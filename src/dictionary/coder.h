#pragma once
// Sparse codes of data points under a dictionary: what infer(), denoise() and impute() ask for where a method has no
// posterior, and what its learning starts every iteration with. A method's way to code is a class that implements
// Coder; going over the data, threads and missing values are here.

#include <gsc/export.h>
#include <gsc/missing.h>

#include <Eigen/SparseCore>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace gsc {

/// H x N, a column per data point.
using Codes = Eigen::SparseMatrix<double>;

/// The code of one data point.
struct Code {
  std::vector<int> latents;    ///< ascending
  std::vector<double> values;  ///< their coefficients
  double squared_error = 0;    ///< over the observed entries
  double penalty = 0;          ///< lambda |a|_1, of the lasso; |a|_1 where its error is given
};

/// Codes one block of data points after the other, with work space of its own: one for each thread.
class GSC_EXPORT Coder {
 public:
  virtual ~Coder() = default;
  /// The codes of the first codes.size() rows of X, which are data points less the intercept, with zeros where
  /// `observed` (of the same shape, or empty: all is observed) has 0. What `codes` hold before is
  /// where a method may start that wants a start.
  virtual void code(const Matrix& X, const Matrix& observed, std::span<Code> codes) = 0;
};

/// Makes the coders of all threads, which share what it has derived from the model.
using CoderMaker = std::function<std::unique_ptr<Coder>()>;
/// The method's own, for this dictionary. Model and options need not outlive it.
GSC_EXPORT CoderMaker make_coder(const Model& model, const InferenceOptions& options);

/// Fills block and mask with rows first, first + 1, ...: data points less the intercept, zeros and a 0 in the mask
/// where a value is missing; the mask is empty where none is.
using CentredRows = std::function<void(Index first, Index rows, Matrix& block, Matrix& observed)>;
/// Those of data under a model. Throws Error for what is no number, unless NaN is a missing value.
GSC_EXPORT CentredRows centred_rows(const Data& data, const Model& model, Missing missing);

struct Coded {
  Codes codes;           ///< a column for each of the rows
  Vector squared_error;  ///< of each
  Vector penalty;        ///< of each
};

/// The codes of rows first .. first+count-1 on all threads: the same bits for any number of them. `start`: codes of
/// these rows to start from, or null.
GSC_EXPORT Coded code_rows(const CoderMaker& coder, const CentredRows& rows, Index first, Index count, Index latents,
                           const InferenceOptions& options, const StopRequest& stop, const Codes* start = nullptr);

/// impute() from codes: b + W z without deviations.
Imputed impute_by_codes(const Model& model, const Data& data, const InferenceOptions& options,
                        const ImputeOptions& what, Index first, Index count, const StopRequest& stop);

}  // namespace gsc
