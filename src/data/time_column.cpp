#include <gsc/recording.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace gsc {
namespace {

constexpr Index kBlockRows = 1024;

/// What the name of a column says.
struct Meaning {
  bool time = false;     ///< it is the time
  bool counter = false;  ///< it numbers the samples
  double unit = 1;       ///< seconds of its unit
};

/// "Time (ms)", "time_ms", "t [s]", "Sample"; but not T3, an electrode. Words are runs of letters and digits.
Meaning meaning_of(std::string_view name) {
  std::vector<std::string> words;
  bool within = false;
  for (char c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool letter =
        (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c & 0x80) != 0;  // also of characters beyond ASCII
    if (letter && !within) words.emplace_back();
    if (letter) words.back() += c;
    within = letter;
  }
  const auto one_of = [](const std::string& word, std::initializer_list<std::string_view> list) {
    return std::find(list.begin(), list.end(), word) != list.end();
  };
  Meaning meaning;
  if (words.empty() || words.size() > 2) return meaning;
  if (words.size() == 1) meaning.counter = one_of(words[0], {"sample", "samples", "index"});
  meaning.time = meaning.counter || one_of(words[0], {"time", "times", "timestamp", "t", "seconds", "secs", "sec"});
  const std::string& unit = words.back();
  const bool milli = one_of(unit, {"ms", "msec", "milliseconds"}),
             micro = one_of(unit, {"us", "\u00b5s", "\u03bcs", "usec", "microseconds"});
  if (words.size() == 2 && !milli && !micro && !one_of(unit, {"s", "sec", "secs", "seconds"})) return {};
  meaning.unit = milli ? 1e-3 : micro ? 1e-6 : 1;
  return meaning;
}

/// By how much the first column rises from row to row, if by the same everywhere; else 0.
double even_step(const Data& table) {
  constexpr Index kFewest = 8;
  constexpr double kTolerance = 0.1;  // of a step: what rounding in text and in floats leaves of a time
  const Index rows = table.rows();
  if (rows < kFewest) return 0;
  Matrix end(1, table.cols());
  table.read(rows - 1, end);
  const double last = end(0, 0);
  table.read(0, end);
  const double first = end(0, 0), step = (last - first) / static_cast<double>(rows - 1);
  if (!std::isfinite(step) || !(step > 0)) return 0;
  Matrix block;
  for (Index begin = 0; begin < rows; begin += kBlockRows) {
    block.resize(std::min(kBlockRows, rows - begin), table.cols());
    table.read(begin, block);
    for (Index i = 0; i < block.rows(); ++i) {
      const double expected = first + static_cast<double>(begin + i) * step;
      if (!(std::abs(block(i, 0) - expected) <= kTolerance * step)) return 0;
    }
  }
  return step;
}

/// A rate that is whole but for the rounding of the time is whole.
double rounded(double rate) {
  const double whole = std::round(rate);
  return whole > 0 && std::abs(rate - whole) < 1e-6 * whole ? whole : rate;
}

class WithoutFirstColumn final : public Data {
 public:
  explicit WithoutFirstColumn(std::shared_ptr<const Data> table) : table_(std::move(table)) {}
  Index rows() const override { return table_->rows(); }
  Index cols() const override { return table_->cols() - 1; }
  void read(Index first, Eigen::Ref<Matrix> block) const override {
    Matrix whole(block.rows(), table_->cols());
    table_->read(first, whole);
    block = whole.rightCols(cols());
  }
  std::string name() const override { return table_->name(); }
  std::vector<std::string> column_names() const override {
    std::vector<std::string> names = table_->column_names();
    if (!names.empty()) names.erase(names.begin());
    return names;
  }
  bool root_only() const override { return table_->root_only(); }
  bool random_access() const override { return table_->random_access(); }

 private:
  std::shared_ptr<const Data> table_;
};

}  // namespace

std::optional<TimeColumn> find_time(const Data& table) {
  if (table.cols() < 2 || table.rows() < 1) return {};
  const std::vector<std::string> names = table.column_names();
  TimeColumn column;
  if (!names.empty()) column.name = names.front();
  const Meaning meaning = meaning_of(column.name);
  column.step = even_step(table);
  if (column.step == 0 && !meaning.time) return {};
  // Whole numbers one after the other number the samples, unless the name says that they are seconds.
  const bool counts = meaning.counter || (!meaning.time && column.step == 1);
  if (column.step > 0 && !counts) column.rate = rounded(1 / (column.step * meaning.unit));
  return column;
}

std::unique_ptr<Data> without_first_column(std::shared_ptr<const Data> table) {
  return std::make_unique<WithoutFirstColumn>(std::move(table));
}

}  // namespace gsc
