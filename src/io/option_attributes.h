#pragma once
// Options as model files hold them.

#include "learning/fit_option_list.h"

namespace gsc {

/// Calls visit(name, field, OptionInfo) for each attribute of /options: an option is one, a shape three.
template <class Options, class Visit>
void for_each_attribute(Options& options, const Visit& visit) {
  for_each_option(options, [&](const OptionInfo& option, auto& value) {
    if (option.on_resume == OnResume::forget) return;
    if (!option.read_by(options.inference.method)) return;
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Shape>) {
      visit("shape_rows", value.rows, option);
      visit("shape_cols", value.cols, option);
      visit("shape_channels", value.channels, option);
    } else {
      visit(option.in_files(), value, option);
    }
  });
}

/// Files hold the numbers that were used, not that they were left out.
inline FitOptions resolved_options(FitOptions options) {
  options.inference = options.inference.resolved(options.latents);
  return options;
}

}  // namespace gsc
