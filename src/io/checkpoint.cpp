// When a checkpoint is written, and whether a run may go on from it.

#include <fmt/format.h>
#include <gsc/model_file.h>
#include <gsc/words.h>

#include <algorithm>

#include "io/option_attributes.h"

namespace gsc {

std::vector<std::string> differing_options(const FitOptions& checkpoint, const FitOptions& now) {
  // Both runs' options as words. Methods do not have the same.
  using Words = std::vector<std::pair<std::string_view, std::string>>;
  const auto words = [](const FitOptions& options) {
    Words result;
    for_each_attribute(options, [&](std::string_view name, const auto& value, const OptionInfo& option) {
      if (option.on_resume == OnResume::change) return;
      if (option.attribute != nullptr) name = option.name;
      if constexpr (std::is_enum_v<std::decay_t<decltype(value)>>)
        result.emplace_back(name, to_string(value));
      else
        result.emplace_back(name, fmt::format("{}", value));
    });
    return result;
  };
  const Words before = words(resolved_options(checkpoint));
  const Words after = words(resolved_options(now));
  std::vector<std::string> differing;
  for (const auto& [name, value] : before) {
    const auto found = std::find_if(after.begin(), after.end(), [&](const auto& word) { return word.first == name; });
    if (found != after.end() && found->second != value)
      differing.push_back(fmt::format("{} (checkpoint {}, now {})", name, value, found->second));
  }
  return differing;
}

bool Checkpoint::due(const FitState& state) const {
  if (every_ < 1 || state.history.empty()) return false;
  // Row 0 describes the starting point, which costs nothing to make again.
  const int iteration = state.history.back().iteration;
  return iteration > 0 && iteration % every_ == 0;
}

void Checkpoint::on_iteration(const FitState& state) {
  if (due(state)) save(state);
}

void Checkpoint::save(const FitState& state) const {
  save_model(path_, {state, options_, {}, recording_, missing_}, true);
}

}  // namespace gsc
