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

/// However it is spelt.
bool is_nan(const std::string& text) {
  return text.size() == 3 &&
         std::equal(text.begin(), text.end(), "nan", [](char a, char b) { return (a | 0x20) == b; });
}

/// What a NaN is where a number stands for missing values. Those that a mask makes come before.
Missing beside_value(const Settings& settings) { return settings.mask.empty() ? Missing::error : Missing::nan; }

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
  Marked(std::shared_ptr<const Data> data, double value, Missing nan)
      : data_(std::move(data)), masked_(*data_, value, nan) {}
  Marked(std::shared_ptr<const Data> data, std::unique_ptr<Data> mask, Missing nan)
      : data_(std::move(data)), mask_(std::move(mask)), masked_(*data_, *mask_, nan) {}
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

void choose_missing(const CommandLine& line, Settings& settings, const ModelFile* learned) {
  Missing& missing = settings.fit.inference.missing;
  std::string& sign = settings.missing;
  if (!line.given("missing")) {
    const bool gaps = learned != nullptr && missing == Missing::nan;
    const bool by_mask_alone = gaps && learned->missing.mask && learned->missing.value.empty();
    sign = gaps && !learned->missing.value.empty() ? learned->missing.value : to_string(missing);
    // A mask hides what is missing; a NaN beside it is a mistake, unless the model was learned with NaN.
    if (line.given("mask") && (!gaps || by_mask_alone)) sign = "error";
  }
  if (is_nan(sign)) sign = "nan";
  if (sign != "error" && sign != "nan" && !value_in(sign))
    throw UsageError(
        fmt::format("missing is '{}'; give error, nan, or the number that stands for missing values", sign));
  missing = line.given("mask") || sign != "error" ? Missing::nan : Missing::error;
}

MissingSigns missing_signs(const Settings& settings) {
  const bool masked = !settings.mask.empty();
  if (settings.fit.inference.missing == Missing::error) return {};
  if (settings.missing == "error" || (settings.missing == "nan" && !masked)) return {"", masked};
  return {settings.missing, masked};
}

void mark_missing(const Settings& settings, const std::string& command, Team& team, Input& input) {
  if (settings.fit.inference.missing == Missing::error || input.recording) return;
  input.data = without_masked(std::move(input.data), settings, command, team);
  if (const std::optional<double> value = value_in(settings.missing))
    input.data = std::make_unique<Marked>(std::move(input.data), *value, beside_value(settings));
}

std::shared_ptr<const Data> without_value(std::shared_ptr<const Data> data, const Settings& settings) {
  const std::optional<double> value = value_in(settings.missing);
  if (!value) return data;
  return std::make_shared<const Marked>(std::move(data), *value, beside_value(settings));
}

std::unique_ptr<Data> without_masked(std::unique_ptr<Data> data, const Settings& settings, const std::string& command,
                                     Team& team) {
  if (settings.mask.empty()) return data;
  return std::make_unique<Marked>(std::move(data), open_table(settings.mask, settings, command, team),
                                  settings.missing == "nan" ? Missing::nan : Missing::error);
}

void note_missing(const CommandLine& line, const Settings& settings, const ModelFile* learned, const Team& team,
                  Input& input) {
  if (settings.fit.inference.missing == Missing::error || !team.root()) return;
  const bool by_value = value_in(settings.missing).has_value(), by_mask = !settings.mask.empty();
  const bool silent = learned != nullptr && !line.given("missing") && !by_mask;
  if (silent && learned->missing.mask)
    input.notes.push_back(
        "the model was learned with a mask of what is missing, and now there is none: what it hid "
        "counts as observed; give it with --mask FILE");
  if (!by_value && !by_mask && !silent) return;
  if (any_missing(*input.data)) return;
  const std::string value = by_value ? fmt::format("no value in it is {}", settings.missing) : "";
  const std::string mask = by_mask ? fmt::format("{} is 0 everywhere", settings.mask) : "";
  const std::string nan = by_value || by_mask ? "" : "no value in it is NaN, and the model was learned with gaps";
  input.notes.push_back(fmt::format("nothing is missing of {}: {}{}{}{}", input.data->name(), mask,
                                    by_value && by_mask ? ", and " : "", value, nan));
}

}  // namespace gsc::cli
