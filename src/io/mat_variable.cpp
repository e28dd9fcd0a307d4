#include "io/mat_variable.h"

#include <algorithm>

#include "io/file_error.h"

namespace gsc {
namespace {

std::string describe(const MatVariable& variable) {
  return fmt::format("{} ({}{}{})", variable.name, variable.shape.empty() ? "" : shape_text(variable.shape),
                     variable.shape.empty() ? "" : " ", variable.kind);
}

/// As a double, because the product of a damaged file's extents may be anything.
double elements(const MatVariable& variable) {
  double count = 1;
  for (const std::uint64_t extent : variable.shape) count *= static_cast<double>(extent);
  return count;
}

/// Tables among fields, and in the structures among them. A damaged file may lead round in circles, so what is looked
/// into is counted.
void collect_tables(const std::vector<MatVariable>& fields, const MatFields& fields_of, int depth, int& structures,
                    std::vector<MatVariable>& tables) {
  constexpr int kDeepest = 8;
  constexpr int kMostStructures = 1000;
  for (const MatVariable& field : fields) {
    if (field.table) tables.push_back(field);
    if (field.structure && depth < kDeepest && ++structures <= kMostStructures)
      collect_tables(fields_of(field), fields_of, depth + 1, structures, tables);
  }
}

/// The same, the largest first: data before rates and counts.
std::vector<MatVariable> readable(const std::vector<MatVariable>& fields, const MatFields& fields_of) {
  std::vector<MatVariable> tables;
  int structures = 0;
  collect_tables(fields, fields_of, 0, structures, tables);
  std::stable_sort(tables.begin(), tables.end(),
                   [](const MatVariable& a, const MatVariable& b) { return elements(a) > elements(b); });
  return tables;
}

std::string list(const std::vector<MatVariable>& variables) {
  std::vector<std::string> all;
  all.reserve(variables.size());
  for (const MatVariable& variable : variables) all.push_back(describe(variable));
  return list_text(all);
}

/// Variables and, as they cannot be read themselves, what is in the structures among them.
[[noreturn]] void not_there(const std::string& name, const std::vector<MatVariable>& level, const std::string& file,
                            const MatFields& fields_of) {
  if (name.find('.') != std::string::npos)
    fail(file, "holds no field {}; fields that can be read: {}", in_quotes(name), list(readable(level, fields_of)));
  std::vector<MatVariable> inside;
  for (const MatVariable& variable : readable(level, fields_of))
    if (variable.name.find('.') != std::string::npos) inside.push_back(variable);
  fail(file, "holds no variable {}; there are: {}{}{}", in_quotes(name), list(level),
       inside.empty() ? "" : "; fields that can be read: ", inside.empty() ? "" : list(inside));
}

[[noreturn]] void refuse(const MatVariable& variable, const std::string& file, const MatFields& fields_of) {
  const std::string where = fmt::format("{}:{}", file, variable.name);
  if (variable.structure) {
    const std::vector<MatVariable> tables = readable(fields_of(variable), fields_of);
    if (tables.empty()) fail(where, "is a structure, and none of its fields is a full matrix of real numbers");
    fail(where, "is a structure, so name a field, as in {}:{}; fields that can be read: {}", file, tables.front().name,
         list(tables));
  }
  if (variable.kind == "structure")
    fail(where, "is an array of {} structures; save one of them in MATLAB, as in one = {}(1)",
         shape_text(variable.shape), variable.name);
  // EEGLAB may keep the numbers in a file of their own, and its name where they would be.
  if (variable.text.ends_with(".fdt"))
    fail(where,
         "is the name of another file that has the numbers, {}; save the dataset as one file in EEGLAB: "
         "pop_saveset(EEG, 'filename', 'one.set', 'savemode', 'onefile')",
         in_quotes(variable.text));
  if (variable.shape.size() > 2)
    fail(where, "has {} dimensions ({}); a table has 2, so save reshape({}, n, []) in MATLAB", variable.shape.size(),
         shape_text(variable.shape), variable.name);
  fail(where,
       "is {} {}; only full matrices of real numbers can be read, so save it as one with full(), real() or double() in "
       "MATLAB",
       variable.kind.find_first_of("aeiou") == 0 ? "an" : "a", variable.kind);
}

MatVariable choose_only(const std::vector<MatVariable>& variables, const std::string& file,
                        const MatFields& fields_of) {
  std::vector<MatVariable> tables;
  std::copy_if(variables.begin(), variables.end(), std::back_inserter(tables), [](const auto& v) { return v.table; });
  if (tables.size() == 1) return tables.front();
  if (tables.size() > 1)
    fail(file, "holds {} matrices, so say which, as in {}:{}; there are: {}", tables.size(), file, tables.front().name,
         list(variables));
  if (variables.size() == 1 && !variables.front().structure) refuse(variables.front(), file, fields_of);
  const std::vector<MatVariable> inside = readable(variables, fields_of);
  if (inside.empty()) fail(file, "holds no real numeric matrix; there are: {}", list(variables));
  if (inside.size() > 1)
    fail(file, "holds its matrices in structures, so name a field, as in {}:{}; fields that can be read: {}", file,
         inside.front().name, list(inside));
  return inside.front();
}

}  // namespace

MatVariable choose_table(const std::vector<MatVariable>& variables, const std::string& wanted, const std::string& file,
                         const MatFields& fields_of) {
  if (wanted.empty()) return choose_only(variables, file, fields_of);
  // HDF5's way to write it means the same.
  std::string path = wanted.substr(wanted.front() == '/' ? 1 : 0);
  std::replace(path.begin(), path.end(), '/', '.');

  std::vector<MatVariable> level = variables;
  for (std::size_t end = path.find('.');; end = path.find('.', end + 1)) {
    const std::string name = path.substr(0, end);
    const auto found = std::find_if(level.begin(), level.end(), [&](const auto& v) { return v.name == name; });
    if (found == level.end()) not_there(name, level, file, fields_of);
    if (end == std::string::npos) {
      if (!found->table) refuse(*found, file, fields_of);
      return *found;
    }
    if (!found->structure) {
      if (found->kind == "structure") refuse(*found, file, fields_of);
      fail(file, "{} is not a structure, so it has no field {}", describe(*found), in_quotes(path.substr(end + 1)));
    }
    level = fields_of(*found);
  }
}

}  // namespace gsc
