#pragma once
// The one description of the options of learning. From it follow the attributes of a model file, what may not differ
// when learning goes on, the limits that validate() checks, the rows of the program's options with their help, the list
// that <gsc/option_list.h> gives to bindings, and what becomes of LearningChoices. A new field of FitOptions and of
// LearningChoices is one call of visit() here (fields_test.cpp counts them).

#include <gsc/learning_choices.h>

#include "inference/inference_option_list.h"

namespace gsc {

/// Of the factored method.
template <class Visit, class... Options>
void visit_factored_options(const Visit& visit, Options&... options) {
  visit({.name = "basis_prior",
         .value = "",
         .help = "of basis functions: none, independent normal entries, or smooth (gp)",
         .methods = kOfFactored},
        options.basis_prior...);
  visit({.name = "length_scale",
         .value = "L",
         .help = "of gp: how far smoothness reaches, in pixels or samples",
         .smallest = 0,
         .remedy = "it must be positive, or zero to have it learned",
         .methods = kOfFactored},
        options.length_scale...);
  visit({.name = "shared_prior",
         .value = "true|false",
         .help = "one pi and one slab variance for all latents, slab mean zero",
         .methods = kOfFactored},
        options.shared_prior...);
  visit({.name = "sweep_order", .value = "", .help = "in which order latents are updated", .methods = kOfFactored},
        options.order...);
}

/// Of learning a dictionary.
template <class Visit, class... Options>
void visit_dictionary_options(const Visit& visit, Options&... options) {
  visit({.name = "atom_update",
         .value = "",
         .help = "an atom and its coefficients: the best approximation of what the others leave, or a step towards it",
         .methods = kOfKsvd},
        options.atom_update...);
  visit({.name = "decay",
         .value = "B",
         .help = "what is left after each batch of the sums that the dictionary is learned from; 1: all; 0: less of "
                 "early ones, as its authors have it",
         .smallest = 0,
         .largest = 1,
         .remedy = "it must lie between 0 and 1",
         .methods = kOfOnline},
        options.decay...);
}

/// Of the Beta process.
template <class Visit, class... Options>
void visit_beta_process_options(const Visit& visit, Options&... options) {
  visit({.name = "usage_prior",
         .value = "",
         .help = "how often latents may be on: as in the authors' program, Beta(1, N/8), or paper, Beta(1/H, 1 - 1/H)",
         .methods = kOfBetaProcess},
        options.usage_prior...);
  visit({.name = "chains",
         .value = "N",
         .help = "sampling: chains side by side; the model is that of the best",
         .smallest = 1,
         .largest = 1000,
         .remedy = "it must lie between 1 and 1000",
         .methods = kOfGibbs},
        options.chains...);
  visit({.name = "burn_in",
         .value = "N",
         .help = "sampling: sweeps before draws are averaged",
         .smallest = 0,
         .largest = std::numeric_limits<int>::max(),
         .remedy = "it must not be negative",
         .methods = kOfGibbs},
        options.burn_in...);
}

/// Calls visit(OptionInfo, field) for each option. Two fields are none: inference.mean_products, which fit() sets, and
/// sharing.team. Of several FitOptions or LearningChoices it gets the fields of all.
template <class Visit, class... Options>
void visit_options(const Visit& visit, Options&... options) {
  visit(kLatentsOption, options.latents...);
  visit_inference_options(visit, options.inference...);
  visit({.name = "noise",
         .value = "",
         .help = "noise of the data: one variance, one per dimension, or a covariance",
         .methods = kOfSpikeAndSlab},
        options.noise...);
  visit({.name = "slab",
         .value = "",
         .help = "amplitudes of the latents: independent, or with a covariance",
         .methods = kOfSpikeAndSlab},
        options.slab...);
  visit({.name = "init", .value = "", .help = "start from random numbers or from data points"}, options.init...);
  visit({.name = "intercept",
         .value = "",
         .help = "what the data is around when all latents are off: learned, the mean of the data, or zero"},
        options.intercept...);
  visit({.name = "sigma",
         .value = "S",
         .help = "standard deviation of the noise, if it is known: then it is not learned; dictionaries must be told",
         .smallest = 0,
         .remedy = "give the standard deviation in the units of the data, or 0 to have it learned",
         .zero = "a noise level is positive. Leave it out where it is not known",
         .attribute = "known_noise"},
        options.sigma...);
  visit({.name = "noise_update",
         .value = "",
         .help = "paper: the printed formula, which over-estimates the noise",
         .methods = kOfSpikeAndSlab},
        options.noise_update...);
  visit({.name = "slab_update",
         .value = "",
         .help = "paper: the printed formula for a full slab",
         .methods = kOfSpikeAndSlab},
        options.slab_update...);
  visit({.name = "iterations",
         .value = "N",
         .help = "most EM iterations",
         .smallest = 0,
         .largest = std::numeric_limits<int>::max(),
         .remedy = "it must not be negative",
         .on_resume = OnResume::change},
        options.iterations...);
  visit({.name = "batch",
         .value = "N",
         .help = "stepwise EM: new parameters after every N data points in shuffled order; 0: after all of them; "
                 "online: a dictionary after every N, 0: 512",
         .smallest = 0,
         .largest = 1e15,
         .remedy = "give how many data points a batch has, or 0 for full EM",
         .methods = kOfSpikeAndSlab | kOfOnline},
        options.batch...);
  visit({.name = "polish",
         .value = "K",
         .help = "with batch: the last K iterations are full EM, so that the free energy is exact",
         .smallest = 0,
         .largest = std::numeric_limits<int>::max(),
         .remedy = "it must not be negative",
         .methods = kOfSpikeAndSlab},
        options.polish...);
  visit(
      {.name = "tolerance",
       .value = "T",
       .help =
           "stop when the free energy, or what the method has in its place, changes by less than this part of itself; "
           "0: never",
       .smallest = 0,
       .remedy = "it must be zero or a small positive number",
       .on_resume = OnResume::change},
      options.tolerance...);
  visit({.name = "seed", .value = "N", .help = "same seed, options and threads: same result", .smallest = 0},
        options.seed...);
  visit(
      {.name = "shape",
       .value = "ROWSxCOLS[xCHANNELS]",
       .help = "how the columns of the data lie, as 8x8 or 8x8x3: neighbours for a gp prior, and pictures in the page"},
      options.shape...);
  visit_factored_options(visit, options.factored...);
  visit_dictionary_options(visit, options.dictionary...);
  visit_beta_process_options(visit, options.beta_process...);
  visit({.name = "partition",
         .value = "",
         .help = "local, global: cluster data points by their candidates before every E-step, in each process or over "
                 "all",
         .on_resume = OnResume::forget},
        options.sharing.partition...);
  visit({.name = "alpha",
         .value = "P",
         .help = "global: cut clusters larger than all but the top P percent of them, to balance the load",
         .smallest = 0,
         .largest = 100,
         .remedy = "it must be a percentage, 0 to 100",
         .on_resume = OnResume::forget},
        options.sharing.alpha...);
}

template <class Options, class Visit>
void for_each_option(Options& options, const Visit& visit) {
  visit_options(visit, options);
}

/// The preset with the choices put on top, whatever they are.
GSC_EXPORT FitOptions put_on(const LearningChoices& choices, FitOptions preset);

/// Throws UsageError naming the first choice that is not of the method, or is 0 where that means "left out".
GSC_EXPORT void refuse_choices_of_others(const LearningChoices& choices, Method method);

/// Throws UsageError naming the first option that has another value than its default but is not of the method.
void refuse_options_of_others(const FitOptions& options);

}  // namespace gsc
