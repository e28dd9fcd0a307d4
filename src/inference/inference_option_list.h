#pragma once
// What an option is called, takes and means, and the options of inference: the first part of the list in
// learning/fit_option_list.h.

#include <gsc/inference.h>

#include <limits>
#include <string>

#include "inference/limits.h"
#include "math/number_text.h"

namespace gsc {

/// What becomes of an option when learning goes on from a file.
enum class OnResume {
  keep,    ///< it is in the file, and another value is refused
  change,  ///< it is in the file, and may be another
  forget   ///< it is not in the file
};

/// Some of the methods, a bit each.
using MethodSet = unsigned;
constexpr MethodSet set_of(Method method) { return 1U << static_cast<unsigned>(method); }
inline constexpr MethodSet kAllMethods = ~0U, kOfFactored = set_of(Method::factored), kOfKsvd = set_of(Method::ksvd),
                           kOfOnline = set_of(Method::online), kOfFeatureSign = set_of(Method::feature_sign);
inline constexpr MethodSet kOfGibbs = set_of(Method::beta_process),
                           kOfBetaProcess = kOfGibbs | set_of(Method::beta_variational);
/// Those of the spike-and-slab model.
inline constexpr MethodSet kOfSpikeAndSlab = set_of(Method::truncated) | set_of(Method::exact) | kOfFactored;

struct OptionInfo {
  const char* name;   ///< in files, JSON and messages; the program writes - for _
  const char* value;  ///< what stands for the value in help; empty for words, which are known from their type
  const char* help;   ///< one line
  double smallest = -std::numeric_limits<double>::max();
  double largest = std::numeric_limits<double>::max();
  /// What validate() says of a number beyond these; none: it depends on other options, and validate() has lines of its
  /// own.
  const char* remedy = nullptr;
  OnResume on_resume = OnResume::keep;
  MethodSet methods = kAllMethods;  ///< those that read it
  /// Where 0 stands for what is left out: what is said to whom chooses 0, or less.
  const char* zero = nullptr;
  const char* attribute = nullptr;  ///< its name in model files, where that is another
  const char* in_files() const { return attribute != nullptr ? attribute : name; }
  bool read_by(Method method) const { return (methods & set_of(method)) != 0; }
};

inline constexpr int kMaxThreads = 4096;

/// FitOptions::latents, which also limits what inference takes.
inline constexpr OptionInfo kLatentsOption{.name = "latents",
                                           .value = "N",
                                           .help = "how many basis functions to learn",
                                           .smallest = 1,
                                           .largest = kMaxLatents,
                                           .remedy = "it must lie between 1 and 65535"};

/// Of coding by a dictionary.
template <class Visit, class... Options>
void visit_coding_options(const Visit& visit, Options&... options) {
  visit({.name = "coding",
         .value = "",
         .help = "the lasso, the smallest codes with an error of error_gain times the noise, or orthogonal matching "
                 "pursuit to that error",
         .methods = kOfOnline},
        options.coding...);
  visit({.name = "lambda",
         .value = "L",
         .help = "of the lasso: the weight of the sum of absolute coefficients; 0: 1.2 / sqrt(D), at most 0.3, of the "
                 "length of each data point",
         .smallest = 0,
         .remedy = "it must be positive, or zero to have it follow from the data",
         .methods = kOfOnline | kOfFeatureSign},
        options.lambda...);
  visit({.name = "error_gain",
         .value = "C",
         .help = "atoms are added until a data point is explained to C times the noise",
         .smallest = 1e-3,
         .largest = 1e3,
         .remedy = "it must lie between 0.001 and 1000",
         .methods = kOfKsvd | kOfOnline},
        options.error_gain...);
  visit({.name = "atoms_per_point",
         .value = "N",
         .help = "so many atoms for every data point, whatever the error (bounded codes: at most so many); 0: "
                 "until the error is small enough",
         .smallest = 0,
         .largest = kMaxLatents,
         .remedy = "give how many atoms, or 0",
         .methods = kOfKsvd | kOfOnline},
        options.atoms_per_point...);
}

/// Calls visit(OptionInfo, fields...) for each option of inference, as visit_options().
template <class Visit, class... Options>
void visit_inference_options(const Visit& visit, Options&... options) {
  static_assert(kMaxExactLatents == 20 && kMaxThreads == 4096 && kMaxLatents == 65535, "the texts here name them");
  visit({.name = "method",
         .value = "",
         .help = "the posterior: on the states of the candidates, on all states (up to 20 latents), or with latents "
                 "independent of each other; or a dictionary: K-SVD, online, or by feature-sign search; or the Beta "
                 "process, by sampling or variational Bayes"},
        options.method...);
  visit({.name = "candidates",
         .value = "N",
         .help = "latents per data point that may be active together",
         .smallest = 0,
         .largest = kMaxCandidates,
         .methods = kOfSpikeAndSlab,
         .zero = "it must be at least 1 (leave it out for the usual 10)"},
        options.candidates...);
  visit({.name = "max_active",
         .value = "N",
         .help = "most latents active at once",
         .smallest = 0,
         .largest = kMaxCandidates,
         .methods = kAllMethods & ~kOfBetaProcess & ~kOfFeatureSign,
         .zero = "it must be at least 1 (leave it out for the usual number)"},
        options.max_active...);
  visit({.name = "selection",
         .value = "",
         .help = "candidates are the best alone, or half of them the best given the others",
         .methods = kOfSpikeAndSlab},
        options.selection...);
  visit({.name = "missing", .value = "", .help = "what NaN in the data is: an error, or a missing value"},
        options.missing...);
  visit({.name = "gap_memory",
         .value = "MB",
         .help = "for what learning W keeps of missing values; with too little it takes more iterations",
         .smallest = 0,
         .largest = 1 << 30,
         .remedy = "give megabytes, 0 to 1073741824",
         .on_resume = OnResume::keep,
         .methods = kOfSpikeAndSlab},
        options.gap_memory...);
  visit({.name = "precision",
         .value = "",
         .help = "of the sums over states; single is faster",
         .methods = kOfSpikeAndSlab},
        options.precision...);
  visit({.name = "threads",
         .value = "N",
         .help = "processor cores to use",
         .smallest = 0,
         .largest = kMaxThreads,
         .remedy = "give a number up to 4096, or 0 to let the program choose",
         .on_resume = OnResume::change},
        options.threads...);
  visit({.name = "device",
         .value = "NAME",
         .help = "what computes: cpu, cuda, cuda:K or auto",
         .on_resume = OnResume::forget},
        options.device...);
  visit_coding_options(visit, options.coding...);
  visit({.name = "draws",
         .value = "N",
         .help = "beta-process: draws of each code that are averaged, after as many that are not",
         .smallest = 1,
         .largest = 1e6,
         .remedy = "it must lie between 1 and a million",
         .methods = kOfGibbs},
        options.draws...);
}

/// Throws UsageError if `value` is a number beyond the option's limits.
template <class Value>
void check_range(const OptionInfo& option, const Value& value) {
  if constexpr (std::is_arithmetic_v<Value>) {
    const auto number = static_cast<double>(value);
    if (option.remedy == nullptr || (number >= option.smallest && number <= option.largest)) return;
    const std::string text = std::is_integral_v<Value> ? std::to_string(value) : number_text(number);
    throw UsageError(std::string(option.name) + " is " + text + "; " + option.remedy);
  }
}

}  // namespace gsc
