#pragma once
// What options of learning there are, for programs that offer them to their users under other names than C++'s: a
// language binding, a form, a settings file.

#include <gsc/export.h>
#include <gsc/learning_choices.h>

#include <string>
#include <string_view>
#include <vector>

namespace gsc {

enum class OptionKind { integer, real, word, boolean, text, shape };

struct OptionDescription {
  std::string name;                    ///< as in model files: "max_active"
  OptionKind kind = OptionKind::real;  ///< shape: Shape, rows 0 if it is left out
  std::vector<std::string> words;      ///< of kind word: what can be chosen
  std::string usual;                   ///< the default, as text; 0x0x1 for a shape
  double smallest = 0, largest = 0;    ///< of numbers
  std::string help;                    ///< one line
  std::string value;                   ///< what stands for the value in help: "N"; empty for words
  std::string attribute;               ///< its name in model files; empty: it is of one run only and in none
  /// Those that read it; empty: all. Others refuse another value than the default, and their model files do not have
  /// it.
  std::vector<Method> methods;
};

/// The fields of FitOptions and of what it holds, but for those that are no choice of a user (the team of processes).
GSC_EXPORT std::vector<OptionDescription> fit_option_list();

/// The value of an option as text, numbers so that no bit is lost; and the option set from such a text. Both throw
/// UsageError: for a name that is none, which is told what there is, and for text that does not fit the kind. Ranges
/// are FitOptions::validate()'s to check.
GSC_EXPORT std::string option_text(const FitOptions& options, std::string_view name);
GSC_EXPORT void set_option(FitOptions& options, std::string_view name, const std::string& text);
GSC_EXPORT void set_option(LearningChoices& choices, std::string_view name, const std::string& text);

/// The shape that a text as 8x8 or 8x8x3 means. Throws UsageError, which calls it `name`, where it means none.
GSC_EXPORT Shape read_shape(std::string_view name, std::string_view text);

/// The options with this method, and with defaults where they are of other methods alone.
GSC_EXPORT FitOptions options_for(FitOptions options, Method method);

}  // namespace gsc
