#pragma once
// A row for each method: the one place that names them all. Whoever wants something of a method asks its row, or, where
// a method must not be known, its traits (gsc/methods.h).

#include <gsc/methods.h>
#include <gsc/missing.h>

#include "dictionary/coder.h"
#include "inference/inference_option_list.h"
#include "learning/learner.h"

namespace gsc {

/// Groups of options, a bit each.
using OptionGroups = unsigned;
template <class... Groups>
constexpr OptionGroups groups(Groups... several) {
  return (... | (1U << static_cast<unsigned>(several)));
}

struct MethodRow {
  Method method;
  MethodTraits traits;
  /// It reads, beside those of all.
  OptionGroups options;
  /// posterior_text()
  std::string (*text)(const InferenceOptions& options);
  /// Infers, on the processor.
  std::unique_ptr<Engine> (*make_engine)(const Data& data, const InferenceOptions& options);
  std::unique_ptr<Learner> (*make_learner)(Share& share, const FitOptions& options, Beginning beginning,
                                           StopRequest stop);
  /// Throws UsageError for options that learning does not have.
  void (*check)(const FitOptions& options);
  /// impute(), with deviations as they follow from the posterior.
  Imputed (*impute)(const Model& model, const Data& data, const InferenceOptions& options, const ImputeOptions& what,
                    Index first, Index count, const StopRequest& stop);
  /// Of point estimates: the way they code.
  CoderMaker (*make_coder)(const Model& model, const InferenceOptions& options) = nullptr;
};

const MethodRow& row_of(Method method);

}  // namespace gsc
