#pragma once
// What a MATLAB file holds, as far as it is needed to choose a table: the same for versions 5 and 7.3.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gsc {

/// A variable, or a field of a structure, as far as its head tells.
struct MatVariable {
  std::string name;                  ///< "x", or with those of its structures, "EEG.data"
  std::string kind;                  ///< in words: "double", "cell array", ...
  std::vector<std::uint64_t> shape;  ///< as MATLAB has it
  bool table = false;                ///< a real numeric matrix
  bool structure = false;            ///< one structure (not an array of them)
  std::string text;                  ///< what a short text says

  // Version 5 only: the element's content, packed if `packed`, and what keeps it in memory.
  std::span<const std::byte> content = {};
  bool packed = false;
  std::shared_ptr<const void> owner = {};
};

/// The fields of one structure, named with it.
using MatFields = std::function<std::vector<MatVariable>(const MatVariable&)>;

/// The table that is asked for: "x", "EEG.data" or "/EEG/data"; empty: the only one there is. Throws Error that tells
/// what could be asked for.
MatVariable choose_table(const std::vector<MatVariable>& variables, const std::string& wanted, const std::string& file,
                         const MatFields& fields_of);

}  // namespace gsc
