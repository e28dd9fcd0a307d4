// Version 5 is a list of tagged elements, each a variable, perhaps as a zlib stream; numbers are column by column:
//
//   file      128 bytes: text, version, byte order | element | element ...
//   element   tag (type, size) | content;  type 14: a variable, 15: a packed element of type 14
//   variable  flags and class | dimensions | name | numbers | imaginary parts;  each an element itself
//
// It is read here and not with matio, which hangs or crashes on damaged files. A variable that is not asked for is
// skipped by its size, so nothing nested (cells, structures) is ever looked into. Version 7.3 is HDF5 with the
// dimensions turned round.

#include "data/mat.h"

#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "data/elements.h"
#include "data/file_error.h"
#include "data/hdf5.h"
#include "data/inflate.h"
#include "data/mapped_file.h"

namespace gsc {
namespace {

using Bytes = std::span<const std::byte>;

/// A variable as far as its head tells; enough to choose one.
struct Variable {
  std::string name;
  std::string kind;                  // in words: "double", "cell array", ...
  std::vector<std::uint64_t> shape;  // as MATLAB has it
  bool table = false;                // a real numeric matrix
  Bytes content;                     // version 5: the element's content, packed if `packed`
  bool packed = false;
};

std::string describe(const Variable& variable) {
  return fmt::format("{} ({}{}{})", variable.name, variable.shape.empty() ? "" : shape_text(variable.shape),
                     variable.shape.empty() ? "" : " ", variable.kind);
}

/// The variable that is asked for, or the only matrix.
const Variable& choose(const std::vector<Variable>& variables, const std::string& wanted, const std::string& file) {
  std::vector<std::string> all;
  const Variable* chosen = nullptr;
  int matrices = 0;
  for (const Variable& variable : variables) {
    all.push_back(describe(variable));
    matrices += variable.table ? 1 : 0;
    const bool fits = wanted.empty() ? variable.table || variables.size() == 1 : variable.name == wanted;
    if (fits && chosen == nullptr) chosen = &variable;
  }
  if (chosen == nullptr && wanted.empty()) fail(file, "holds no real numeric matrix; there are: {}", list_text(all));
  if (chosen == nullptr) fail(file, "holds no variable {}; there are: {}", in_quotes(wanted), list_text(all));
  if (wanted.empty() && matrices > 1)
    fail(file, "holds {} matrices, so say which, as in {}:{}; there are: {}", matrices, file, chosen->name,
         list_text(all));
  const std::string where = fmt::format("{}:{}", file, chosen->name);
  if (chosen->shape.size() > 2)
    fail(where, "has {} dimensions ({}); a table has 2, so save reshape({}, n, []) in MATLAB", chosen->shape.size(),
         shape_text(chosen->shape), chosen->name);
  if (!chosen->table)
    fail(where,
         "is {} {}; only full matrices of real numbers can be read, so save it as one with full(), real() or "
         "double() in MATLAB",
         chosen->kind.find_first_of("aeiou") == 0 ? "an" : "a", chosen->kind);
  return *chosen;
}

[[noreturn]] void damaged(const std::string& where) {
  fail(where, "the file is damaged or cut off; save it again from MATLAB");
}

enum : std::uint32_t { kMatrixElement = 14, kPackedElement = 15 };

struct Element {
  std::uint32_t type = 0;
  Bytes content;
};

/// Walks over elements without ever leaving `bytes`.
class Cursor {
 public:
  Cursor(Bytes bytes, bool swapped, const std::string& where) : bytes_(bytes), swapped_(swapped), where_(where) {}

  bool at_end() const { return bytes_.empty(); }
  std::uint32_t number(std::size_t offset) const {
    if (bytes_.size() < offset + 4) damaged(where_);
    std::uint32_t value = 0;
    std::memcpy(&value, bytes_.data() + offset, 4);
    return swapped_ ? __builtin_bswap32(value) : value;
  }
  /// The next element. Small ones keep type and size in one word and up to four bytes in the next.
  /// `partial`: content may be cut off, because only its beginning has been unpacked.
  Element next(bool padded, bool partial = false) {
    const std::uint32_t word = number(0);
    if (word >> 16 != 0) {
      const std::uint32_t size = word >> 16;
      if (size > 4 || bytes_.size() < 8) damaged(where_);
      const Element element{word & 0xffffU, bytes_.subspan(4, size)};
      bytes_ = bytes_.subspan(8);
      return element;
    }
    const std::size_t size = number(4);
    if (!partial && bytes_.size() - 8 < size) damaged(where_);
    const Element element{word, bytes_.subspan(8, std::min(size, bytes_.size() - 8))};
    const std::size_t whole = 8 + (padded ? (size + 7) / 8 * 8 : size);
    bytes_ = bytes_.subspan(std::min(whole, bytes_.size()));  // the last one may lack its padding
    return element;
  }

 private:
  Bytes bytes_;
  bool swapped_;
  const std::string& where_;
};

/// Reads the head of a variable and leaves the cursor at its numbers.
Variable parse_head(Cursor& cursor, bool swapped, const std::string& where) {
  constexpr std::array<const char*, 18> kClasses = {
      "unknown", "cell array", "structure", "object", "text",   "sparse matrix", "double", "single",   "int8",
      "uint8",   "int16",      "uint16",    "int32",  "uint32", "int64",         "uint64", "function", "object"};
  constexpr std::uint32_t kFirstNumeric = 6;
  constexpr std::uint32_t kLastNumeric = 15;
  constexpr std::uint32_t kComplex = 0x0800;
  Variable variable;
  const Element flags = cursor.next(true);
  const std::uint32_t word = Cursor(flags.content, swapped, where).number(0);
  const std::uint32_t kind = word & 0xffU;
  if (kind >= kClasses.size()) damaged(where);
  const bool numeric = kind >= kFirstNumeric && kind <= kLastNumeric;
  const bool complex = numeric && (word & kComplex) != 0;
  variable.kind = fmt::format("{}{}", complex ? "complex " : "", kClasses[kind]);
  if (kind == 16 || kind == 17) return variable;  // function handles and objects have another layout and no shape

  const Element dimensions = cursor.next(true);
  if (dimensions.content.size() % 4 != 0) damaged(where);
  const Cursor extents(dimensions.content, swapped, where);
  for (std::size_t i = 0; i < dimensions.content.size(); i += 4) {
    const std::uint32_t extent = extents.number(i);
    if (extent > 0x7fffffffU) damaged(where);
    variable.shape.push_back(extent);
  }
  const Element name = cursor.next(true);
  variable.name.assign(reinterpret_cast<const char*>(name.content.data()), name.content.size());
  variable.table = numeric && !complex && variable.shape.size() == 2;
  return variable;
}

std::optional<ElementType> element_type(std::uint32_t type, bool swapped) {
  using Kind = ElementType::Kind;
  switch (type) {
    case 1:
      return ElementType{Kind::signed_integer, 1, swapped};
    case 2:
      return ElementType{Kind::unsigned_integer, 1, swapped};
    case 3:
      return ElementType{Kind::signed_integer, 2, swapped};
    case 4:
      return ElementType{Kind::unsigned_integer, 2, swapped};
    case 5:
      return ElementType{Kind::signed_integer, 4, swapped};
    case 6:
      return ElementType{Kind::unsigned_integer, 4, swapped};
    case 7:
      return ElementType{Kind::floating, 4, swapped};
    case 9:
      return ElementType{Kind::floating, 8, swapped};
    case 12:
      return ElementType{Kind::signed_integer, 8, swapped};
    case 13:
      return ElementType{Kind::unsigned_integer, 8, swapped};
    default:
      return {};
  }
}

std::vector<Variable> list_variables(Bytes elements, bool swapped, const std::string& file) {
  constexpr std::size_t kHead = 1 << 14;  // flags, dimensions and name fit easily
  constexpr std::size_t kMost = 100000;
  std::vector<Variable> variables;
  std::vector<std::byte> head;
  for (Cursor cursor(elements, swapped, file); !cursor.at_end();) {
    const Element element = cursor.next(false);
    if (element.type != kMatrixElement && element.type != kPackedElement) damaged(file);
    const bool packed = element.type == kPackedElement;
    Bytes content = element.content;
    if (packed) {
      head.resize(kHead);
      const auto made = inflate_into(content, head);
      if (!made) damaged(file);
      Cursor inner(Bytes(head).first(*made), swapped, file);
      const Element matrix = inner.next(false, true);
      if (matrix.type != kMatrixElement) damaged(file);
      content = matrix.content;
    }
    if (content.empty()) continue;  // what MATLAB writes for an empty slot
    Cursor inside(content, swapped, file);
    Variable variable = parse_head(inside, swapped, file);
    variable.content = element.content;
    variable.packed = packed;
    // Nameless elements hold what functions and objects refer to, not variables.
    if (!variable.name.empty()) variables.push_back(std::move(variable));
    if (variables.size() > kMost) damaged(file);
  }
  return variables;
}

std::unique_ptr<Data> open_version5(std::shared_ptr<const MappedFile> mapped, bool swapped, const std::string& file,
                                    const std::string& wanted) {
  constexpr std::size_t kFileHeader = 128;
  const std::vector<Variable> variables = list_variables(mapped->bytes().subspan(kFileHeader), swapped, file);
  const Variable& variable = choose(variables, wanted, file);
  const std::string name = fmt::format("{}:{}", file, variable.name);

  std::shared_ptr<const void> owner = mapped;
  Bytes content = variable.content;
  if (variable.packed) {
    std::array<std::byte, 8> tag{};
    const auto made = inflate_into(content, tag);
    if (!made || *made != tag.size()) damaged(name);
    const std::uint64_t size = Cursor(tag, swapped, name).number(4);
    if (size > most_inflated(content.size())) damaged(name);
    auto unpacked = std::make_shared<std::vector<std::byte>>(size + tag.size());
    const auto all = inflate_into(content, *unpacked);
    if (!all || *all != unpacked->size()) damaged(name);
    content = Bytes(*unpacked).subspan(tag.size());
    owner = std::move(unpacked);
  }
  Cursor cursor(content, swapped, name);
  parse_head(cursor, swapped, name);
  const std::uint64_t rows = variable.shape[0];
  const std::uint64_t cols = variable.shape[1];
  if (rows == 0 || cols == 0) fail(name, "holds no numbers (its size is {})", shape_text(variable.shape));
  const Element numbers = cursor.next(true);
  const auto type = element_type(numbers.type, swapped);
  if (!type) damaged(name);
  const auto needed = table_bytes(rows, cols, static_cast<std::uint64_t>(type->size));
  if (!needed || *needed != numbers.content.size())
    fail(name, "promises {} numbers of {} bytes but holds {} bytes; the file is damaged, so save it again from MATLAB",
         shape_text(variable.shape), type->size, numbers.content.size());
  return std::make_unique<ArrayData>(std::move(owner), numbers.content.data(),
                                     ArrayData::Layout{static_cast<Index>(rows), static_cast<Index>(cols), *type, true},
                                     name);
}

std::unique_ptr<Data> open_version73(const std::filesystem::path& path, const std::string& wanted) {
  const auto guard = hdf5::lock();
  const auto file = std::make_shared<const hdf5::File>(hdf5::open_file(path));
  std::vector<Variable> variables;
  for (const std::string& name : hdf5::children(*file, "/")) {
    if (name.starts_with('#')) continue;  // where MATLAB keeps the contents of cells and objects
    const hdf5::Handle object = hdf5::open_object(*file, "/" + name);
    if (!object) continue;
    Variable variable;
    variable.name = name;
    const hdf5::Description found = hdf5::describe(*file, "/" + name);
    const bool group = H5Iget_type(object.get()) != H5I_DATASET;
    if (group) {
      variable.kind = hdf5::has_attribute(object.get(), "MATLAB_sparse") ? "sparse matrix" : "structure";
    } else {
      variable.kind = hdf5::has_attribute(object.get(), "MATLAB_class")
                          ? hdf5::read_text(*file, object.get(), "MATLAB_class")
                          : "matrix";
      variable.shape.assign(found.shape.rbegin(), found.shape.rend());
      if (!found.numeric && variable.kind != "cell" && variable.kind != "char")
        variable.kind = "complex " + variable.kind;
      variable.table = found.table && found.shape.size() == 2 && variable.kind != "char" && variable.kind != "cell" &&
                       !hdf5::has_attribute(object.get(), "MATLAB_empty");
      if (hdf5::has_attribute(object.get(), "MATLAB_empty")) variable.kind = "empty " + variable.kind;
    }
    variables.push_back(std::move(variable));
  }
  const Variable& variable = choose(variables, wanted, file->name);
  const hdf5::Table table(file, "/" + variable.name);
  if (table.rows() == 0 || table.cols() == 0) fail(table.name(), "holds no numbers");
  // Numbers lie column by column, so rows are only to be had from the whole.
  return std::make_unique<MatrixData>(table.read_all().transpose(), fmt::format("{}:{}", file->name, variable.name));
}

}  // namespace

std::unique_ptr<Data> open_mat(const std::filesystem::path& path, const std::string& variable) {
  const auto file = std::make_shared<const MappedFile>(path);
  const std::string name = path.string();
  const Bytes bytes = file->bytes();
  if (bytes.size() < 128) fail(name, "is too short for a MATLAB file");
  const auto at = [&](std::size_t i) { return std::to_integer<unsigned>(bytes[i]); };
  // The mark is 'MI' in the writer's byte order.
  const bool little = at(126) == 'I' && at(127) == 'M';
  const bool big = at(126) == 'M' && at(127) == 'I';
  if (!little && !big)
    fail(name, "is not a MATLAB file of version 5 or 7.3; older ones can be saved again with save -v7 in MATLAB");
  const unsigned version = little ? at(125) : at(124);
  if (version == 2) return open_version73(path, variable);
  if (version != 1) fail(name, "is of unknown MATLAB file version {}; save it with -v7", version);
  return open_version5(file, big == (std::endian::native == std::endian::little), name, variable);
}

}  // namespace gsc
