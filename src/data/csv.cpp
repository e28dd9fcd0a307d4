#include "data/csv.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "data/elements.h"
#include "data/file_error.h"
#include "data/file_kind.h"
#include "data/mapped_file.h"

namespace gsc {
namespace {

enum class Parsed { number, empty, text, too_large };

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Also every byte of a character beyond ASCII.
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0; }

std::string_view without_quotes(std::string_view field) {
  field = trim(field);
  if (field.size() >= 2 && (field.front() == '"' || field.front() == '\'') && field.back() == field.front())
    field = trim(field.substr(1, field.size() - 2));
  return field;
}

Parsed parse(std::string_view field, double& value) {
  field = without_quotes(field);
  if (field.empty()) return Parsed::empty;
  if (field.front() == '+' && field.size() > 1 && field[1] != '-') field.remove_prefix(1);
  const char* const end = field.data() + field.size();
  const auto [stop, error] = std::from_chars(field.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) return Parsed::text;
  if (error == std::errc::result_out_of_range) {
    if (field.find("e-") == field.npos && field.find("E-") == field.npos) return Parsed::too_large;
    value = 0;  // closer to zero than any double
  }
  return Parsed::number;
}

class Parser {
 public:
  Parser(std::string_view text, std::string name, bool tabs)
      : text_(text), name_(std::move(name)), separator_(tabs ? '\t' : ','), tabs_(tabs) {}

  /// Appends all rows to `values`; returns how many columns they have.
  std::size_t parse_all(std::vector<double>& values) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
    if (text_.starts_with("\xFF\xFE") || text_.starts_with("\xFE\xFF")) fail(name_, "is UTF-16 text; save it as UTF-8");
    bool first = true;
    while (!text_.empty()) {
      const std::size_t end = std::min(text_.find('\n'), text_.size());
      const std::string_view line = text_.substr(0, end);
      text_.remove_prefix(std::min(end + 1, text_.size()));
      ++line_;
      const std::string_view content = trim(line);
      if (content.empty() || content.front() == '#') continue;
      if (first) {
        first = false;
        // A semicolon wins: where it separates, commas are decimal, and the message about those is the better one.
        if (!tabs_ && content.find(';') != content.npos) separator_ = ';';
        if (is_header(line)) {
          for_each_field(line, [&](std::string_view field) {
            names_.emplace_back(without_quotes(field));
            return true;
          });
          continue;
        }
      }
      parse_row(line, values);
    }
    if (columns_ == 0) fail(name_, "holds no rows of numbers; one row of numbers per line is expected");
    return columns_;
  }

  /// Of the columns, as the header has them; none if there is no header, or one that does not fit the rows.
  std::vector<std::string> names() const { return names_.size() == columns_ ? names_ : std::vector<std::string>{}; }

 private:
  /// Calls visit(field) for every field; stops early where it returns false.
  template <class Visit>
  void for_each_field(std::string_view line, Visit visit) const {
    while (true) {
      const std::size_t end = line.find(separator_);
      if (!visit(line.substr(0, end)) || end == line.npos) return;
      line.remove_prefix(end + 1);
    }
  }

  /// Words but no numbers. "1,5" or "1 2" are neither: somebody's numbers in a form that must not go unnoticed.
  bool is_header(std::string_view line) const {
    bool words = false;
    bool numbers = false;
    for_each_field(line, [&](std::string_view field) {
      double value = 0;
      const Parsed parsed = parse(field, value);
      words = words || (parsed == Parsed::text && std::any_of(field.begin(), field.end(), is_letter));
      numbers = parsed == Parsed::number || parsed == Parsed::too_large;
      return !numbers;
    });
    return words && !numbers;
  }

  void parse_row(std::string_view line, std::vector<double>& values) {
    std::size_t column = 0;
    for_each_field(line, [&](std::string_view field) {
      ++column;
      double value = 0;
      const Parsed parsed = parse(field, value);
      if (parsed != Parsed::number) refuse(parsed, field, column);
      values.push_back(value);
      return true;
    });
    if (columns_ == 0) columns_ = column;
    if (column != columns_)
      fail(here(), "expected {} columns, found {}; every row needs the same number", columns_, column);
  }

  std::string here() const { return fmt::format("{}:{}", name_, line_); }

  [[noreturn]] void refuse(Parsed parsed, std::string_view field, std::size_t column) const {
    if (parsed == Parsed::empty) fail(here(), "column {} is empty; every row needs a number in every column", column);
    if (parsed == Parsed::too_large)
      fail(here(), "column {}: {} is beyond the largest double, 1.8e308", column, in_quotes(trim(field)));
    const char* const separator = tabs_ ? "tabs" : separator_ == ',' ? "commas" : "semicolons";
    fail(here(), "column {}: {} is not a number (columns are separated by {}, decimals written with a point)", column,
         in_quotes(trim(field)), separator);
  }

  std::string_view text_;
  std::string name_;
  std::vector<std::string> names_;
  char separator_;
  bool tabs_;
  std::size_t line_ = 0;
  std::size_t columns_ = 0;
};

}  // namespace

std::unique_ptr<Data> open_csv(const std::filesystem::path& path, bool tabs) {
  return parse_csv(MappedFile(path).bytes(), tabs, path.string());
}

std::unique_ptr<Data> parse_csv(std::span<const std::byte> bytes_of_text, bool tabs, const std::string& name) {
  const RecognisedFile found = recognise(bytes_of_text.first(std::min<std::size_t>(bytes_of_text.size(), 520)));
  if (found.kind == FileKind::empty) fail(name, "is empty; one row of numbers per line is expected");
  if (found.kind != FileKind::text && found.kind != FileKind::unknown)
    fail(name, "is not a table in text but {}; give the file the extension of its format", found.words);
  const std::string_view text(reinterpret_cast<const char*>(bytes_of_text.data()), bytes_of_text.size());
  auto values = std::make_shared<std::vector<double>>();
  Parser parser(text, name, tabs);
  const std::size_t columns = parser.parse_all(*values);
  const auto* const bytes = reinterpret_cast<const std::byte*>(values->data());
  ArrayData::Layout layout;
  layout.rows = static_cast<Index>(values->size() / columns);
  layout.cols = static_cast<Index>(columns);
  return std::make_unique<ArrayData>(std::move(values), bytes, layout, name, parser.names());
}

}  // namespace gsc
