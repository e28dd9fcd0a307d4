// What is known of each method, for those who treat methods differently. A new one is a row here.

#include <gsc/inference.h>

namespace gsc {
namespace {

struct Facts {
  std::string_view word;            // for users
  std::string_view objective;       // what learning makes better, in files
  std::string_view objective_text;  // and for people
  bool minimised;                   // less is better
  bool spike_and_slab;              // the posterior of that model
  bool point_estimate;              // codes alone
  bool needs_noise_level;           // must be told
};

Facts facts(Method method) {
  switch (method) {
    case Method::truncated:
      return {"truncated", "free_energy", "free energy", false, true, false, false};
    case Method::exact:
      return {"exact", "free_energy", "free energy", false, true, false, false};
    case Method::factored:
      return {"factored", "free_energy", "free energy", false, true, false, false};
    case Method::ksvd:
      return {"ksvd", "squared_error", "squared error", true, false, true, true};
    case Method::online:
      return {"online", "lasso_objective", "lasso objective", true, false, true, true};
    case Method::feature_sign:
      return {"feature-sign", "lasso_objective", "lasso objective", true, false, true, true};
    case Method::beta_process:
      return {"beta-process", "log_joint", "log joint", false, false, false, false};
    case Method::beta_variational:
      return {"beta-variational", "bound", "bound", false, false, false, false};
  }
  return {};
}

}  // namespace

std::string_view to_string(Method method) { return facts(method).word; }
std::string_view objective_name(Method method) { return facts(method).objective; }
std::string_view objective_text(Method method) { return facts(method).objective_text; }
bool minimised(Method method) { return facts(method).minimised; }
bool better(Method method, double one, double other) { return minimised(method) ? one < other : one > other; }
bool spike_and_slab(Method method) { return facts(method).spike_and_slab; }
bool point_estimate(Method method) { return facts(method).point_estimate; }
bool needs_noise_level(Method method) { return facts(method).needs_noise_level; }
bool mean_objective(Method method) { return method == Method::online || method == Method::feature_sign; }
bool codes_by_lambda(const InferenceOptions& options) {
  return options.method == Method::feature_sign ||
         (options.method == Method::online && options.coding.coding == Coding::lasso);
}

void PosteriorRequest::validate(Method method) const {
  if (!point_estimate(method)) return;
  const auto refuse = [&](const char* what) {
    throw UsageError(std::string(what) + " asked for, but the " + std::string(to_string(method)) +
                     " method gives codes and no posterior; leave it out, or learn with the truncated method");
  };
  if (variance) refuse("variances are");
  if (states > 0) refuse("the most probable states are");
  if (candidates) refuse("candidates are");
}

std::string_view to_string(AtomUpdate update) { return update == AtomUpdate::exact ? "exact" : "approximate"; }

std::string_view to_string(Coding coding) {
  switch (coding) {
    case Coding::lasso:
      return "lasso";
    case Coding::bounded:
      return "bounded";
    case Coding::omp:
      return "omp";
  }
  return "";
}

}  // namespace gsc
