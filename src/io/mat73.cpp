// Version 7.3 is HDF5 with the dimensions turned round. A structure is a group, its fields are what is in it; the class
// of everything stands in an attribute.

#include <algorithm>

#include "io/file_error.h"
#include "io/hdf5.h"
#include "io/mat.h"
#include "io/mat_variable.h"

namespace gsc {
namespace {

/// "EEG.data" -> "/EEG/data".
std::string path_of(const std::string& name) {
  std::string path = "/" + name;
  std::replace(path.begin(), path.end(), '.', '/');
  return path;
}

std::string class_of(const hdf5::File& file, const hdf5::Handle& object) {
  return hdf5::has_attribute(object.get(), "MATLAB_class") ? hdf5::read_text(file, object.get(), "MATLAB_class") : "";
}

/// Letters are stored as numbers of 16 bits.
std::string read_letters(const std::shared_ptr<const hdf5::File>& file, const std::string& path) try {
  constexpr Index kLongest = 1 << 12;
  const hdf5::Table table(file, path);
  if (table.rows() * table.cols() > kLongest) return "";
  std::string text;
  const Matrix letters = table.read_all();
  for (const double letter : letters.reshaped<Eigen::RowMajor>())
    text += letter >= 0x20 && letter < 0x7f ? static_cast<char>(letter) : '?';
  return text;
} catch (const Error&) {
  return "";  // somebody else's text must not keep us from the numbers
}

MatVariable parse_dataset(const std::shared_ptr<const hdf5::File>& file, const hdf5::Handle& object,
                          const std::string& path) {
  const hdf5::Description found = hdf5::describe(*file, path);
  MatVariable variable;
  variable.kind = class_of(*file, object);
  const bool plain = variable.kind != "cell" && variable.kind != "char";
  variable.shape.assign(found.shape.rbegin(), found.shape.rend());
  const bool empty = hdf5::has_attribute(object.get(), "MATLAB_empty");
  variable.table = found.table && found.shape.size() == 2 && plain && !empty;
  if (variable.kind == "char" && found.table && !empty) variable.text = read_letters(file, path);
  // Fields of an array of structures are lists of references to the values of each.
  if (variable.kind.empty())
    variable.kind = found.numeric ? "matrix" : "list of " + found.text;
  else if (!found.numeric && plain)
    variable.kind = "complex " + variable.kind;
  if (empty) variable.kind = "empty " + variable.kind;
  return variable;
}

/// What is in a group. `of`: the name of the structure, or nothing for the whole file.
std::vector<MatVariable> list_group(const std::shared_ptr<const hdf5::File>& file, const std::string& of) {
  std::vector<MatVariable> variables;
  for (const std::string& child : hdf5::children(*file, path_of(of))) {
    if (child.starts_with('#')) continue;  // where MATLAB keeps the contents of cells and objects
    const std::string name = of.empty() ? child : of + "." + child;
    const hdf5::Handle object = hdf5::open_object(*file, path_of(name));
    if (!object) continue;
    MatVariable variable;
    if (hdf5::H5Iget_type(object.get()) == H5I_DATASET) {
      variable = parse_dataset(file, object, path_of(name));
    } else {
      const bool sparse = hdf5::has_attribute(object.get(), "MATLAB_sparse");
      variable.kind = sparse ? "sparse matrix" : "structure";
      variable.structure = !sparse;
    }
    variable.name = name;
    variables.push_back(std::move(variable));
  }
  return variables;
}

}  // namespace

std::unique_ptr<Data> open_mat73(const std::filesystem::path& path, const std::string& wanted) {
  const auto guard = hdf5::lock();
  const auto file = std::make_shared<const hdf5::File>(hdf5::open_file(path));
  const auto fields_of = [&](const MatVariable& structure) { return list_group(file, structure.name); };
  const MatVariable variable = choose_table(list_group(file, ""), wanted, file->name, fields_of);
  const hdf5::Table table(file, path_of(variable.name));
  if (table.rows() == 0 || table.cols() == 0) fail(table.name(), "holds no numbers");
  // Numbers lie column by column, so rows are only to be had from the whole.
  return std::make_unique<MatrixData>(table.read_all().transpose(), fmt::format("{}:{}", file->name, variable.name));
}

}  // namespace gsc
