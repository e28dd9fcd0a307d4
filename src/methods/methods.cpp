#include "methods/methods.h"

#include <array>

#include "beta_process/engine.h"
#include "beta_process/learner.h"
#include "beta_process/variational_learner.h"
#include "dictionary/engine.h"
#include "dictionary/feature_sign_learner.h"
#include "dictionary/ksvd_learner.h"
#include "dictionary/lasso_coder.h"
#include "dictionary/matching_pursuit.h"
#include "dictionary/online_learner.h"
#include "factored/engine.h"
#include "factored/learner.h"
#include "math/number_text.h"
#include "truncated/cpu_engine.h"
#include "truncated/em_learner.h"

namespace gsc {
namespace {

constexpr Objective kFreeEnergy{.name = "free_energy", .text = "free energy"};
constexpr Objective kLasso{.name = "lasso_objective", .text = "lasso objective", .minimised = true, .mean = true};

template <class Kind>
std::unique_ptr<Engine> engine(const Data& data, const InferenceOptions& options) {
  return std::make_unique<Kind>(data, options);
}

template <class Kind>
std::unique_ptr<Learner> learner(Share& share, const FitOptions& options, Beginning beginning, StopRequest stop) {
  return std::make_unique<Kind>(share, options, std::move(beginning), std::move(stop));
}

using Asked = const InferenceOptions&;
using Of = OptionGroup;

constexpr std::array kRows{
    MethodRow{.method = Method::truncated,
              .traits = {.word = "truncated",
                         .objective = kFreeEnergy,
                         .spike_and_slab = true,
                         .has_states = true,
                         .has_candidates = true,
                         .full_noise = true,
                         .on_devices = true},
              .options = groups(Of::spike_and_slab, Of::max_active, Of::batch),
              .text =
                  [](Asked asked) {
                    return std::to_string(asked.candidates) + " candidates, at most " +
                           std::to_string(asked.max_active) + " active";
                  },
              .make_engine = engine<CpuEngine>,
              .make_learner = learner<EmLearner>,
              .check = EmLearner::check,
              .impute = impute_on_candidates},
    MethodRow{.method = Method::exact,
              .traits = {.word = "exact",
                         .objective = kFreeEnergy,
                         .spike_and_slab = true,
                         .has_states = true,
                         .full_noise = true,
                         .on_devices = true},
              .options = groups(Of::spike_and_slab, Of::max_active, Of::batch),
              .text = [](Asked) -> std::string { return "all states"; },
              .make_engine = engine<CpuEngine>,
              .make_learner = learner<EmLearner>,
              .check = EmLearner::check,
              .impute = impute_on_candidates},
    MethodRow{.method = Method::factored,
              .traits = {.word = "factored", .objective = kFreeEnergy, .spike_and_slab = true, .basis_variance = true},
              .options = groups(Of::spike_and_slab, Of::max_active, Of::batch, Of::factored),
              .text = [](Asked) -> std::string { return "factored posterior"; },
              .make_engine = engine<FactoredEngine>,
              .make_learner = learner<FactoredLearner>,
              .check = FactoredLearner::check,
              .impute = impute_factored},
    MethodRow{.method = Method::ksvd,
              .traits = {.word = "ksvd",
                         .objective = {.name = "squared_error", .text = "squared error", .minimised = true},
                         .point_estimate = true,
                         .coding = Coding::omp,
                         .needs_noise_level = true,
                         .picture_patches = 65000,
                         .picture_iterations = 10},
              .options = groups(Of::max_active, Of::error, Of::atom_update),
              .text =
                  [](Asked asked) {
                    return asked.coding.atoms_per_point > 0
                               ? "K-SVD, " + std::to_string(asked.coding.atoms_per_point) + " atoms each"
                               : "K-SVD, explained to " + number_text(asked.coding.error_gain, 6) + " times the noise";
                  },
              .make_engine = engine<DictionaryEngine>,
              .make_learner = learner<KsvdLearner>,
              .check = KsvdLearner::check,
              .impute = impute_by_codes,
              .make_coder = omp_coder},
    MethodRow{
        .method = Method::online,
        .traits = {.word = "online",
                   .objective = kLasso,
                   .point_estimate = true,
                   .needs_noise_level = true,
                   .picture_patches = 65000,
                   .picture_iterations = 2},
        .options = groups(Of::max_active, Of::batch, Of::online, Of::lambda, Of::error),
        .text = [](Asked asked) { return "online dictionary, coding " + std::string(to_string(asked.coding.coding)); },
        .make_engine = engine<DictionaryEngine>,
        .make_learner = learner<OnlineLearner>,
        .check = OnlineLearner::check,
        .impute = impute_by_codes,
        .make_coder =
            [](const Model& model, Asked asked) {
              return asked.coding.coding == Coding::omp ? omp_coder(model, asked)
                                                        : lasso_coder(model, asked, LassoSearch::lars);
            }},
    MethodRow{.method = Method::feature_sign,
              .traits = {.word = "feature-sign",
                         .objective = kLasso,
                         .point_estimate = true,
                         .coding = Coding::lasso,
                         .needs_noise_level = true,
                         .learns_from_gaps = false,
                         .picture_patches = 20000,
                         .picture_iterations = 20},
              .options = groups(Of::lambda),
              .text = [](Asked) -> std::string { return "dictionary by feature-sign search"; },
              .make_engine = engine<DictionaryEngine>,
              .make_learner = learner<FeatureSignLearner>,
              .check = FeatureSignLearner::check,
              .impute = impute_by_codes,
              .make_coder = [](const Model& model,
                               Asked asked) { return lasso_coder(model, asked, LassoSearch::feature_sign); }},
    MethodRow{
        .method = Method::beta_process,
        .traits = {.word = "beta-process", .objective = {.name = "log_joint", .text = "log joint"}, .draws = true},
        .options = groups(Of::beta_process, Of::draws),
        .text = [](Asked) -> std::string { return "Beta process, by Gibbs sampling"; },
        .make_engine = engine<BetaProcessEngine>,
        .make_learner = learner<BetaProcessLearner>,
        .check = BetaProcessLearner::check,
        .impute = impute_by_draws},
    MethodRow{.method = Method::beta_variational,
              .traits = {.word = "beta-variational",
                         .objective = {.name = "bound", .text = "bound"},
                         .learns_from_gaps = false,
                         .infers_no_gaps = "needs complete data; use the beta-process method"},
              .options = groups(Of::beta_process),
              .text = [](Asked) -> std::string { return "Beta process, by variational Bayes"; },
              .make_engine = engine<FactoredEngine>,
              .make_learner = learner<BetaVariationalLearner>,
              .check = BetaVariationalLearner::check,
              .impute = impute_factored}};

constexpr std::array kMethods = [] {
  std::array<Method, kRows.size()> methods{};
  for (std::size_t i = 0; i < kRows.size(); ++i) methods[i] = kRows[i].method;
  return methods;
}();

constexpr bool are_in_order() {
  for (std::size_t i = 0; i < kMethods.size(); ++i)
    if (kMethods[i] != static_cast<Method>(i)) return false;
  return true;
}
static_assert(are_in_order(), "rows stand in the order of the enumeration");

}  // namespace

const MethodRow& row_of(Method method) { return kRows.at(static_cast<std::size_t>(method)); }
const MethodTraits& traits(Method method) { return row_of(method).traits; }
std::span<const Method> all_methods() { return kMethods; }
bool reads(Method method, OptionGroup group) {
  return group == OptionGroup::all || (row_of(method).options & groups(group)) != 0;
}

Method method_of_states(Index latents, Index exact_up_to) {
  return latents <= exact_up_to ? Method::exact : Method::truncated;
}

std::string_view to_string(Method method) { return traits(method).word; }
std::string posterior_text(const InferenceOptions& options) { return row_of(options.method).text(options); }

bool codes_by_lambda(const InferenceOptions& options) {
  const MethodTraits& its = traits(options.method);
  return its.point_estimate && its.coding.value_or(options.coding.coding) == Coding::lasso;
}

CoderMaker make_coder(const Model& model, const InferenceOptions& options) {
  return row_of(options.method).make_coder(model, options);
}

std::unique_ptr<Learner> make_learner(Share& share, const FitOptions& options, Beginning beginning, StopRequest stop) {
  return row_of(options.inference.method).make_learner(share, options, std::move(beginning), std::move(stop));
}

void check_method(const FitOptions& options) { row_of(options.inference.method).check(options); }

}  // namespace gsc
