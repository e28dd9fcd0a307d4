#include "io/csv.h"

#include <gsc/file_kind.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string_view>
#include <vector>

#include "io/elements.h"
#include "io/file_error.h"
#include "io/mapped_file.h"

namespace gsc {
namespace {

enum class Parsed { number, missing, text, too_large };

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

/// What programs write for a value that is not there: pandas nothing, R NA, databases null.
bool is_missing(std::string_view field) {
  constexpr std::array<std::string_view, 7> kSigns = {"", "NA", "N/A", "n/a", "<NA>", "null", "NULL"};
  return std::find(kSigns.begin(), kSigns.end(), field) != kSigns.end();
}

/// A missing value is NaN.
Parsed parse(std::string_view field, double& value) {
  field = without_quotes(field);
  if (is_missing(field)) {
    value = std::numeric_limits<double>::quiet_NaN();
    return Parsed::missing;
  }
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
      if ((content.empty() && !separates_missing(line)) || content.starts_with('#')) continue;
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
    drop_empty_end(values);
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

  /// Of a .tsv a row of which everything is missing is as blank as an empty line, but for the number of tabs.
  bool separates_missing(std::string_view line) const {
    return tabs_ && columns_ > 1 &&
           static_cast<std::size_t>(std::count(line.begin(), line.end(), '\t')) + 1 == columns_;
  }

  /// Where every row ends with a separator there is no last column, unless the header has a name for it.
  void drop_empty_end(std::vector<double>& values) {
    const bool named = names_.size() == columns_ && !names_.back().empty();
    if (columns_ < 2 || !every_end_empty_ || named) return;
    for (std::size_t row = 0; row * columns_ < values.size(); ++row)
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(row * columns_), columns_ - 1,
                  values.begin() + static_cast<std::ptrdiff_t>(row * (columns_ - 1)));
    values.resize(values.size() / columns_ * (columns_ - 1));
    if (names_.size() == columns_) names_.pop_back();
    --columns_;
  }

  void parse_row(std::string_view line, std::vector<double>& values) {
    std::size_t column = 0;
    bool end_empty = false;
    for_each_field(line, [&](std::string_view field) {
      ++column;
      double value = 0;
      const Parsed parsed = parse(field, value);
      if (parsed != Parsed::number && parsed != Parsed::missing) refuse(parsed, field, column);
      values.push_back(value);
      end_empty = trim(field).empty();
      return true;
    });
    if (columns_ == 0) columns_ = column;
    every_end_empty_ = every_end_empty_ && end_empty;
    if (column != columns_)
      fail(here(), "expected {} columns, found {}; every row needs the same number", columns_, column);
  }

  std::string here() const { return fmt::format("{}:{}", name_, line_); }

  [[noreturn]] void refuse(Parsed parsed, std::string_view field, std::size_t column) const {
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
  bool every_end_empty_ = true;
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
