#pragma once
// What options of learning there are, for programs that offer them to their users under other names than C++'s: a
// language binding, a form, a settings file.

#include <gsc/fit.h>

#include <string>
#include <vector>

namespace gsc {
#pragma GCC visibility push(default)  // this is what a shared library shows

enum class OptionKind { integer, real, word, boolean, text, shape };

struct OptionDescription {
  std::string name;                    ///< as in model files: "max_active"
  OptionKind kind = OptionKind::real;  ///< shape: FactoredOptions::Shape, rows 0 if it is left out
  std::vector<std::string> words;      ///< of kind word: what can be chosen
  std::string usual;                   ///< the default, as text; 0x0x1 for a shape
  double smallest = 0, largest = 0;    ///< of numbers
  std::string help;                    ///< one line
};

/// The fields of FitOptions and of what it holds, but for those that are no choice of a user (the team of processes).
std::vector<OptionDescription> fit_option_list();

#pragma GCC visibility pop
}  // namespace gsc
