#include "missing.h"

#include <fmt/format.h>
#include <gsc/missing.h>

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

/// A table with NaN for what is missing, and what that is made of.
class Marked final : public Data {
 public:
  Marked(std::unique_ptr<Data> data, double value) : data_(std::move(data)), masked_(*data_, value) {}
  Marked(std::unique_ptr<Data> data, std::unique_ptr<Data> mask)
      : data_(std::move(data)), mask_(std::move(mask)), masked_(*data_, *mask_) {}
  Index rows() const override { return masked_.rows(); }
  Index cols() const override { return masked_.cols(); }
  void read(Index first, Eigen::Ref<Matrix> block) const override { masked_.read(first, block); }
  std::string name() const override { return masked_.name(); }
  bool random_access() const override { return masked_.random_access(); }
  std::vector<std::string> column_names() const override { return masked_.column_names(); }
  bool root_only() const override { return masked_.root_only(); }

 private:
  std::unique_ptr<Data> data_, mask_;
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
  if (settings.fit.inference.missing == Missing::error) return;
  if (input.recording)
    throw UsageError(
        "missing is nan, but windows are cut of a recording, which must be whole; cut them yourself and give a table "
        "with a window in each row");
  if (const std::optional<double> value = value_in(settings.missing))
    input.data = std::make_unique<Marked>(std::move(input.data), *value);
  if (!settings.mask.empty())
    input.data = std::make_unique<Marked>(std::move(input.data), open_table(settings.mask, settings, command, team));
}

}  // namespace gsc::cli
