#include "missing.h"

#include <fmt/format.h>
#include <gsc/missing.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "open_table.h"

namespace gsc::cli {
namespace {

/// The number that --missing is, if it is one.
std::optional<double> value_in(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

bool any_missing(const Data& data) {
  constexpr Index kRows = 1024;
  Matrix block;
  for (Index first = 0; first < data.rows(); first += kRows) {
    block.resize(std::min(kRows, data.rows() - first), data.cols());
    data.read(first, block);
    if (block.hasNaN()) return true;
  }
  return false;
}

/// A table with NaN for what is missing, and what that is made of.
class Marked final : public Data {
 public:
  Marked(std::shared_ptr<const Data> data, double value) : data_(std::move(data)), masked_(*data_, value) {}
  Marked(std::shared_ptr<const Data> data, std::unique_ptr<Data> mask)
      : data_(std::move(data)), mask_(std::move(mask)), masked_(*data_, *mask_) {}
  Index rows() const override { return masked_.rows(); }
  Index cols() const override { return masked_.cols(); }
  void read(Index first, Eigen::Ref<Matrix> block) const override { masked_.read(first, block); }
  std::string name() const override { return masked_.name(); }
  bool random_access() const override { return masked_.random_access(); }
  std::vector<std::string> column_names() const override { return masked_.column_names(); }
  bool root_only() const override { return masked_.root_only(); }

 private:
  std::shared_ptr<const Data> data_;
  std::unique_ptr<Data> mask_;
  MaskedData masked_;
};

}  // namespace

void choose_missing(const CommandLine& line, Settings& settings) {
  Missing& missing = settings.fit.inference.missing;
  if (line.given("missing") && settings.missing != "error" && settings.missing != "nan" && !value_in(settings.missing))
    throw UsageError(fmt::format("missing is '{}'; give error, nan, or the number that stands for missing values",
                                 settings.missing));
  if (line.given("mask") || (line.given("missing") && settings.missing != "error"))
    missing = Missing::nan;
  else if (line.given("missing"))
    missing = Missing::error;
  if (!line.given("missing")) settings.missing = to_string(missing);
}

void mark_missing(const Settings& settings, const std::string& command, Team& team, Input& input) {
  if (settings.fit.inference.missing == Missing::error || input.recording) return;
  if (const std::optional<double> value = value_in(settings.missing))
    input.data = std::make_unique<Marked>(std::move(input.data), *value);
  input.data = without_masked(std::move(input.data), settings, command, team);
}

std::shared_ptr<const Data> without_value(std::shared_ptr<const Data> data, const Settings& settings) {
  const std::optional<double> value = value_in(settings.missing);
  if (!value) return data;
  return std::make_shared<const Marked>(std::move(data), *value);
}

std::unique_ptr<Data> without_masked(std::unique_ptr<Data> data, const Settings& settings, const std::string& command,
                                     Team& team) {
  if (settings.mask.empty()) return data;
  return std::make_unique<Marked>(std::move(data), open_table(settings.mask, settings, command, team));
}

void note_nothing_missing(const Settings& settings, const Team& team, Input& input) {
  const bool by_value = value_in(settings.missing).has_value(), by_mask = !settings.mask.empty();
  if (settings.fit.inference.missing == Missing::error || !team.root() || !(by_value || by_mask)) return;
  if (any_missing(*input.data)) return;
  const std::string value = by_value ? fmt::format("no value in it is {}", settings.missing) : "";
  const std::string mask = by_mask ? fmt::format("{} is 0 everywhere", settings.mask) : "";
  input.notes.push_back(fmt::format("nothing is missing of {}: {}{}{}", input.data->name(), mask,
                                    by_value && by_mask ? ", and " : "", value));
}

}  // namespace gsc::cli
