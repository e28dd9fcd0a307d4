#include "io/npy.h"

#include <gsc/file_kind.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "io/file_error.h"
#include "io/mapped_file.h"

namespace gsc {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMagic = "\x93NUMPY"sv;

struct Header {
  std::string type;  // NumPy's dtype text, such as "<f8"
  bool column_major = false;
  std::vector<std::uint64_t> shape;
};

/// Reads the dictionary, a Python literal of fixed keys: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
class DictionaryParser {
 public:
  DictionaryParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Header parse() {
    Header header;
    bool type = false;
    bool order = false;
    bool shape = false;
    expect('{');
    while (!skip('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !type) {
        if (peek() == '[') fail(name_, "holds records, not numbers; save the columns as one plain array");
        header.type = string();
        type = true;
      } else if (key == "fortran_order" && !order) {
        header.column_major = boolean();
        order = true;
      } else if (key == "shape" && !shape) {
        header.shape = tuple();
        shape = true;
      } else {
        broken();
      }
      if (!skip(',') && peek() != '}') broken();
    }
    if (!type || !order || !shape) broken();
    return header;
  }

 private:
  [[noreturn]] void broken() const {
    fail(name_, "the .npy header is damaged near {}; write the file again", in_quotes(text_.substr(position_)));
  }
  char peek() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n')) ++position_;
    return position_ < text_.size() ? text_[position_] : '\0';
  }
  bool skip(char c) {
    if (peek() != c) return false;
    ++position_;
    return true;
  }
  void expect(char c) {
    if (!skip(c)) broken();
  }
  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') broken();
    const std::size_t end = text_.find(quote, position_ + 1);
    if (end == std::string_view::npos) broken();
    std::string result(text_.substr(position_ + 1, end - position_ - 1));
    position_ = end + 1;
    return result;
  }
  bool boolean() {
    peek();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(position_, word.size()) != word) continue;
      position_ += word.size();
      return value;
    }
    broken();
  }
  std::vector<std::uint64_t> tuple() {
    std::vector<std::uint64_t> values;
    expect('(');
    while (!skip(')')) {
      peek();
      std::uint64_t value = 0;
      const char* const begin = text_.data() + position_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
      if (error != std::errc()) broken();
      position_ += static_cast<std::size_t>(end - begin);
      skip('L');  // Python 2 wrote long integers so
      values.push_back(value);
      if (!skip(',') && peek() != ')') broken();
    }
    return values;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t position_ = 0;
};

ElementType element_type(const std::string& text, const std::string& name) {
  using Kind = ElementType::Kind;
  const auto refuse = [&] {
    fail(name,
         "holds values of type {}; only bool, integer and floating-point numbers can be read, so convert with "
         "array.astype('f8')",
         in_quotes(text));
  };
  // An optional byte order, one letter, a width of one digit.
  const std::size_t letter = text.find_first_not_of("<>=|") == 0 ? 0 : 1;
  if (text.size() != letter + 2) refuse();
  const bool little = std::endian::native == std::endian::little;
  ElementType type;
  type.size = text[letter + 1] - '0';
  type.swapped = (letter == 1) && ((text[0] == '<' && !little) || (text[0] == '>' && little));
  bool known = type.size == 1 || type.size == 2 || type.size == 4 || type.size == 8;
  switch (text[letter]) {
    case 'b':
      type.kind = Kind::boolean;
      known = type.size == 1;
      break;
    case 'i':
      type.kind = Kind::signed_integer;
      break;
    case 'u':
      type.kind = Kind::unsigned_integer;
      break;
    case 'f':
      type.kind = Kind::floating;
      known = known && type.size != 1;
      break;
    default:
      known = false;
  }
  if (!known) refuse();
  return type;
}

/// A table, or with `picture` an array that may have bands.
NpyPicture parse(std::shared_ptr<const void> owner, std::span<const std::byte> bytes, const std::string& name,
                 bool picture) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.empty()) fail(name, "is empty; write the array again with numpy.save");
  if (!text.starts_with(kMagic)) {
    const std::string words = recognise(bytes.first(std::min<std::size_t>(bytes.size(), 520))).words;
    fail(name, "is not a .npy array but {}; give the file the extension of its format, or write it with numpy.save",
         words.empty() ? "something else (it does not start with NumPy's mark)" : words);
  }
  const auto cut = [&] { fail(name, "ends within the .npy header; the file was cut off, so copy or write it again"); };
  if (text.size() < 10) cut();
  const int version = static_cast<unsigned char>(text[6]);
  if (version < 1 || version > 3) fail(name, "is .npy version {}; versions 1 to 3 can be read", version);
  const std::size_t width = version == 1 ? 2 : 4;  // of the header's length, little-endian
  if (text.size() < 8 + width) cut();
  std::size_t length = 0;
  for (std::size_t i = width; i-- > 0;) length = length << 8 | static_cast<unsigned char>(text[8 + i]);
  const std::size_t start = 8 + width;
  if (text.size() - start < length) cut();

  const Header header = DictionaryParser(text.substr(start, length), name).parse();
  const ElementType type = element_type(header.type, name);
  if (!picture && header.shape.size() > 2)
    fail(name, "has {} dimensions ({}); a table has at most 2, so reshape it with one data point per row",
         header.shape.size(), shape_text(header.shape));
  if (picture && header.shape.size() != 2 && header.shape.size() != 3)
    fail(name, "has {} dimensions ({}); a picture has 2, height and width, or 3 with its bands last",
         header.shape.size(), shape_text(header.shape));
  if (header.shape.size() == 3 && header.column_major)
    fail(name, "lies in Fortran's order; write it with numpy.ascontiguousarray(array) first");
  const std::uint64_t rows = header.shape.empty() ? 1 : header.shape[0];
  std::uint64_t cols = header.shape.size() < 2 ? 1 : header.shape[1];
  const std::uint64_t bands = header.shape.size() == 3 ? header.shape[2] : 1;
  if (!table_bytes(cols, bands, 1)) fail(name, "promises {} numbers, which is too many", shape_text(header.shape));
  cols *= bands;
  const auto needed = table_bytes(rows, cols, static_cast<std::uint64_t>(type.size));
  const std::size_t there = text.size() - start - length;
  if (!needed || *needed > there)
    fail(name,
         "promises {} numbers of {} bytes but only {} bytes follow; the file was cut off, so copy or write it "
         "again",
         shape_text(header.shape), type.size, there);
  if (*needed == 0) fail(name, "holds no numbers (its shape is {})", shape_text(header.shape));
  return {std::make_unique<ArrayData>(
              std::move(owner), bytes.data() + start + length,
              ArrayData::Layout{static_cast<Index>(rows), static_cast<Index>(cols), type, header.column_major}, name),
          static_cast<Index>(bands), header.type.substr(header.type.find_first_not_of("<>=|"))};
}

}  // namespace

std::unique_ptr<Data> parse_npy(std::shared_ptr<const void> owner, std::span<const std::byte> bytes,
                                const std::string& name) {
  return parse(std::move(owner), bytes, name, false).values;
}

NpyPicture open_npy_picture(const std::filesystem::path& path, const std::string& name) {
  auto file = std::make_shared<const MappedFile>(path);
  const auto bytes = file->bytes();
  return parse(std::move(file), bytes, name, true);
}

std::unique_ptr<Data> open_npy(const std::filesystem::path& path, const std::string& name) {
  auto file = std::make_shared<const MappedFile>(path);
  const auto bytes = file->bytes();
  return parse_npy(std::move(file), bytes, name);
}

std::string npy_header(std::string_view type, const std::vector<Index>& shape) {
  std::string dictionary = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                       std::endian::native == std::endian::little ? '<' : '>', type,
                                       fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  // NumPy pads so that the numbers start at a multiple of 64; shapes are short, so version 1 always suffices.
  constexpr std::size_t kBefore = 10;
  while ((kBefore + dictionary.size() + 1) % 64 != 0) dictionary += ' ';
  dictionary += '\n';
  std::string header(kMagic);
  header += '\1';
  header += '\0';
  header += static_cast<char>(dictionary.size() & 0xff);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

}  // namespace gsc
