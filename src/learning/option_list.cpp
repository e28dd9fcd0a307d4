#include "learning/fit_option_list.h"
#include "learning/option_text.h"

namespace gsc {
namespace {

/// Calls found(field) for the option of this name.
template <class Options, class Found>
void find_option(Options& options, std::string_view name, const Found& found) {
  std::string names;
  bool there = false;
  for_each_option(options, [&](const OptionInfo& option, auto& value) {
    names += std::string(names.empty() ? "" : ", ") + option.name;
    if (option.name != name) return;
    there = true;
    found(value);
  });
  if (!there) throw UsageError("there is no option '" + std::string(name) + "'; the options are " + names);
}

/// Their words: "truncated, exact".
std::string methods_text(MethodSet methods) {
  std::string text;
  for (const Method method : kValues<Method>)
    if (methods & set_of(method)) text += (text.empty() ? "" : ", ") + std::string(to_string(method));
  return text;
}

template <class Value>
[[noreturn]] void refuse_of_others(const OptionInfo& option, const Value& value, Method method) {
  throw UsageError(std::string(option.name) + " is " + text_of(value) + ", but method is " +
                   std::string(to_string(method)) + "; " + option.name + " is for " + methods_text(option.methods));
}

}  // namespace

Shape read_shape(std::string_view name, std::string_view text) {
  std::vector<Index> extents;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    constexpr Index kMost = std::numeric_limits<std::int32_t>::max();  // so that no product of two is out of range
    Index& extent = extents.emplace_back(0);
    const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, extent);
    if (error != std::errc() || stop != text.data() + end || extent < 1 || extent > kMost) extents.resize(4);
    begin = end + 1;
  }
  if (extents.size() < 2 || extents.size() > 3)
    refuse_text(name, text, "give rows x columns, as 8x8, or rows x columns x channels, as 8x8x3");
  return {extents[0], extents[1], extents.size() > 2 ? extents[2] : 1};
}

std::string option_text(const FitOptions& options, std::string_view name) {
  std::string text;
  find_option(options, name, [&](const auto& value) { text = text_of(value); });
  return text;
}

void set_option(FitOptions& options, std::string_view name, const std::string& text) {
  find_option(options, name, [&](auto& value) { read_value(name, text, value); });
}

void set_option(LearningChoices& choices, std::string_view name, const std::string& text) {
  find_option(choices, name, [&](auto& value) { read_value(name, text, value); });
}

bool is_set(const LearningChoices& choices, std::string_view name) {
  bool set = false;
  find_option(choices, name, [&](const auto& value) { set = value.has_value(); });
  return set;
}

FitOptions put_on(const LearningChoices& choices, FitOptions preset) {
  visit_options(
      [](const OptionInfo&, auto& value, const auto& choice) {
        if (choice) value = *choice;
      },
      preset, choices);
  return preset;
}

LearningChoices choices_for(LearningChoices choices, Method method) {
  choices.inference.method = method;
  visit_options(
      [&](const OptionInfo& option, auto& choice) {
        if (!option.read_by(method)) choice.reset();
      },
      choices);
  auto& coding = choices.inference.coding;
  if (traits(method).draws) choices.tolerance.reset();
  if (codes_by_lambda(put_on(choices, {}).inference)) {
    choices.sigma.reset();
    coding.error_gain.reset();
    coding.atoms_per_point.reset();
  } else {
    coding.lambda.reset();
  }
  return choices;
}

FitOptions options_for(FitOptions options, Method method) {
  options.inference.method = method;
  const FitOptions defaults;
  visit_options(
      [&](const OptionInfo& option, auto& value, const auto& usual) {
        if (!option.read_by(method)) value = usual;
      },
      options, defaults);
  return options;
}

void refuse_choices_of_others(const LearningChoices& choices, Method method) {
  visit_options(
      [&]<class Value>(const OptionInfo& option, const std::optional<Value>& choice) {
        if (!choice) return;
        if (!option.read_by(method)) refuse_of_others(option, *choice, method);
        if constexpr (std::is_arithmetic_v<Value>)
          if (option.zero != nullptr && !(*choice > 0))
            throw UsageError(std::string(option.name) + " is " + text_of(*choice) + "; " + option.zero);
        check_range(option, *choice);
      },
      choices);
  const Partition partition = choices.sharing.partition.value_or(Partition::uniform);
  if (choices.sharing.alpha && partition != Partition::global)
    throw UsageError("alpha is " + number_text(*choices.sharing.alpha) + ", but partition is " +
                     std::string(to_string(partition)) + "; alpha is for global");
}

FitOptions apply(const LearningChoices& choices, FitOptions preset) {
  FitOptions options = put_on(choices, std::move(preset));
  const InferenceOptions& inference = options.inference;
  refuse_choices_of_others(choices, inference.method);
  const bool by_lasso = codes_by_lambda(inference) && !traits(inference.method).coding;
  const auto refuse_use = [&](const char* name, double value, const std::string& why) {
    throw UsageError(std::string(name) + " is " + number_text(value) + ", but method is " +
                     std::string(to_string(inference.method)) + why);
  };
  if (choices.sigma && codes_by_lambda(inference))
    refuse_use("sigma", *choices.sigma,
               by_lasso
                   ? " and coding is lasso, whose codes follow from lambda and not from the noise; leave it out, or "
                     "choose bounded or omp as coding"
                   : ", whose codes follow from lambda and not from the noise; leave it out");
  const auto& coding = choices.inference.coding;
  const char* const by_lambda =
      " and coding is lasso, which ends by lambda; leave it out, or choose bounded or omp as coding";
  if (by_lasso && coding.error_gain) refuse_use("error_gain", *coding.error_gain, by_lambda);
  if (by_lasso && coding.atoms_per_point)
    refuse_use("atoms_per_point", static_cast<double>(*coding.atoms_per_point), by_lambda);
  if (choices.tolerance.value_or(0) > 0 && traits(inference.method).draws)
    refuse_use("tolerance", *choices.tolerance,
               ", whose draws go up and down for ever; leave it out, and choose iterations and burn_in");
  return options;
}

void refuse_options_of_others(const FitOptions& options) {
  const Method method = options.inference.method;
  const FitOptions defaults;
  visit_options(
      [&](const OptionInfo& option, const auto& value, const auto& usual) {
        if (!option.read_by(method) && !(value == usual)) refuse_of_others(option, value, method);
      },
      options, defaults);
}

std::vector<OptionDescription> fit_option_list() {
  std::vector<OptionDescription> list;
  const FitOptions usual;
  for_each_option(usual,
                  [&](const OptionInfo& option, const auto& value) { list.push_back(description_of(option, value)); });
  return list;
}

}  // namespace gsc
