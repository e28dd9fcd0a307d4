// Version 5 is a list of tagged elements, each a variable, perhaps as a zlib stream; numbers are column by column:
//
//   file      128 bytes: text, version, byte order | element | element ...
//   element   tag (type, size) | content;  type 14: a variable, 15: a packed element of type 14
//   variable  flags and class | dimensions | name | numbers | imaginary parts;  each an element itself
//   structure flags and class | dimensions | name | length of a field's name | names of all fields | a variable for
//   each
//
// It is read here and not with matio, which hangs or crashes on damaged files. A variable that is not asked for is
// skipped by its size.

#include "io/mat.h"

#include <gsc/file_kind.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <string_view>

#include "io/elements.h"
#include "io/file_error.h"
#include "io/inflate.h"
#include "io/mapped_file.h"
#include "io/mat_variable.h"

namespace gsc {
namespace {

using Bytes = std::span<const std::byte>;

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

/// The letters of a short text (a name, say); others do not matter here.
std::string parse_text(Cursor cursor) {
  constexpr std::size_t kLongest = 1 << 12;
  enum : std::uint32_t { kInt8 = 1, kUint8 = 2, kUint16 = 4, kUtf8 = 16 };
  if (cursor.at_end()) return "";
  const Element letters = cursor.next(true, true);
  if (letters.content.size() > kLongest) return "";
  const bool wide = letters.type == kUint16;
  if (!wide && letters.type != kInt8 && letters.type != kUint8 && letters.type != kUtf8) return "";
  std::string text;
  for (const std::byte value : letters.content)
    if (!wide || value != std::byte{0}) text += static_cast<char>(value);
  return text;
}

/// Reads the head of a variable and leaves the cursor at its numbers.
MatVariable parse_head(Cursor& cursor, bool swapped, const std::string& where) {
  constexpr std::array<const char*, 18> kClasses = {
      "unknown", "cell array", "structure", "object", "text",   "sparse matrix", "double", "single",   "int8",
      "uint8",   "int16",      "uint16",    "int32",  "uint32", "int64",         "uint64", "function", "object"};
  constexpr std::uint32_t kStructure = 2;
  constexpr std::uint32_t kText = 4;
  constexpr std::uint32_t kFirstNumeric = 6;
  constexpr std::uint32_t kLastNumeric = 15;
  constexpr std::uint32_t kComplex = 0x0800;
  MatVariable variable;
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
  const bool one = variable.shape == std::vector<std::uint64_t>{1, 1};
  variable.structure = kind == kStructure && one;
  if (kind == kText) variable.text = parse_text(cursor);
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

std::vector<MatVariable> list_variables(const std::shared_ptr<const MappedFile>& mapped, bool swapped,
                                        const std::string& file) {
  constexpr std::size_t kFileHeader = 128;
  constexpr std::size_t kHead = 1 << 14;  // flags, dimensions and name fit easily
  constexpr std::size_t kMost = 100000;
  std::vector<MatVariable> variables;
  std::vector<std::byte> head;
  for (Cursor cursor(mapped->bytes().subspan(kFileHeader), swapped, file); !cursor.at_end();) {
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
    MatVariable variable = parse_head(inside, swapped, file);
    variable.content = element.content;
    variable.packed = packed;
    variable.owner = mapped;
    // Nameless elements hold what functions and objects refer to, not variables.
    if (!variable.name.empty()) variables.push_back(std::move(variable));
    if (variables.size() > kMost) damaged(file);
  }
  return variables;
}

/// The same variable with its content as it was before it was packed.
MatVariable unpacked(MatVariable variable, bool swapped, const std::string& where) {
  if (!variable.packed) return variable;
  std::array<std::byte, 8> tag{};
  const auto made = inflate_into(variable.content, tag);
  if (!made || *made != tag.size()) damaged(where);
  const std::uint64_t size = Cursor(tag, swapped, where).number(4);
  if (size > most_inflated(variable.content.size())) damaged(where);
  auto bytes = std::make_shared<std::vector<std::byte>>(size + tag.size());
  const auto all = inflate_into(variable.content, *bytes);
  if (!all || *all != bytes->size()) damaged(where);
  variable.content = Bytes(*bytes).subspan(tag.size());
  variable.packed = false;
  variable.owner = std::move(bytes);
  return variable;
}

std::vector<MatVariable> list_fields(const MatVariable& of, bool swapped, const std::string& file) {
  constexpr std::size_t kMost = 10000;
  const std::string where = fmt::format("{}:{}", file, of.name);
  const MatVariable structure = unpacked(of, swapped, where);
  Cursor cursor(structure.content, swapped, where);
  parse_head(cursor, swapped, where);
  const Element length = cursor.next(true);
  const Element names = cursor.next(true);
  const std::size_t width = Cursor(length.content, swapped, where).number(0);
  if (width == 0 || names.content.size() % width != 0 || names.content.size() / width > kMost) damaged(where);
  std::vector<MatVariable> fields;
  for (std::size_t at = 0; at < names.content.size(); at += width) {
    const std::string_view padded(reinterpret_cast<const char*>(names.content.data()) + at, width);
    const Element element = cursor.next(true);
    if (element.type != kMatrixElement) damaged(where);
    MatVariable field;
    field.kind = "empty";
    if (!element.content.empty()) {
      Cursor inside(element.content, swapped, where);
      field = parse_head(inside, swapped, where);
    }
    field.name = fmt::format("{}.{}", of.name, padded.substr(0, padded.find('\0')));
    field.content = element.content;
    field.owner = structure.owner;
    fields.push_back(std::move(field));
  }
  return fields;
}

std::unique_ptr<Data> open_version5(const std::shared_ptr<const MappedFile>& mapped, bool swapped,
                                    const std::string& file, const std::string& wanted) {
  const auto fields_of = [&](const MatVariable& structure) { return list_fields(structure, swapped, file); };
  MatVariable variable = choose_table(list_variables(mapped, swapped, file), wanted, file, fields_of);
  const std::string name = fmt::format("{}:{}", file, variable.name);
  const std::uint64_t rows = variable.shape[0];
  const std::uint64_t cols = variable.shape[1];
  if (rows == 0 || cols == 0) fail(name, "holds no numbers (its size is {})", shape_text(variable.shape));
  variable = unpacked(std::move(variable), swapped, name);
  Cursor cursor(variable.content, swapped, name);
  parse_head(cursor, swapped, name);
  const Element numbers = cursor.next(true);
  const auto type = element_type(numbers.type, swapped);
  if (!type) damaged(name);
  const auto needed = table_bytes(rows, cols, static_cast<std::uint64_t>(type->size));
  if (!needed || *needed != numbers.content.size())
    fail(name, "promises {} numbers of {} bytes but holds {} bytes; the file is damaged, so save it again from MATLAB",
         shape_text(variable.shape), type->size, numbers.content.size());
  return std::make_unique<ArrayData>(std::move(variable.owner), numbers.content.data(),
                                     ArrayData::Layout{static_cast<Index>(rows), static_cast<Index>(cols), *type, true},
                                     name);
}

}  // namespace

std::unique_ptr<Data> open_mat(const std::filesystem::path& path, const std::string& variable) {
  const auto file = std::make_shared<const MappedFile>(path);
  const std::string name = path.string();
  const Bytes bytes = file->bytes();
  const RecognisedFile found = recognise(bytes.first(std::min<std::size_t>(bytes.size(), 520)));
  if (found.kind == FileKind::empty) fail(name, "is empty; save it again from MATLAB");
  if (found.kind != FileKind::matlab && found.kind != FileKind::unknown && found.kind != FileKind::text)
    fail(name, "is not a MATLAB file but {}; give the file the extension of its format", found.words);
  if (bytes.size() < 128)
    fail(name, "is too short for a MATLAB file{}; copy or save it again",
         found.kind == FileKind::text ? " (it is text)" : "");
  const auto at = [&](std::size_t i) { return std::to_integer<unsigned>(bytes[i]); };
  // The mark is 'MI' in the writer's byte order.
  const bool little = at(126) == 'I' && at(127) == 'M';
  const bool big = at(126) == 'M' && at(127) == 'I';
  if (!little && !big)
    fail(name, "is not a MATLAB file of version 5 or 7.3; older ones can be saved again with save -v7 in MATLAB");
  const unsigned version = little ? at(125) : at(124);
  if (version == 2) return open_mat73(path, variable);
  if (version != 1) fail(name, "is of unknown MATLAB file version {}; save it with -v7", version);
  return open_version5(file, big == (std::endian::native == std::endian::little), name, variable);
}

}  // namespace gsc
