#include <fmt/format.h>
#include <gsc/files.h>
#include <gsc/words.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <string_view>
#include <vector>

#include "commands.h"
#include "devices.h"
#include "learning_report.h"
#include "metrics.h"
#include "open_table.h"
#include "options/shape.h"
#include "pages/help.h"
#include "progress.h"
#include "recording.h"

namespace gsc::cli {
namespace {

/// The basis functions as small pictures of characters, the most often used first; darker is a larger |W|, of colours
/// the largest.
std::string basis_text(const Model& model, const Shape& shape) {
  constexpr std::string_view kShades = " .:+*#";
  constexpr Index kWidth = 78;
  std::vector<Index> order(static_cast<std::size_t>(model.latents()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return model.pi[a] > model.pi[b]; });

  const Index cell = std::max<Index>(2 * shape.cols, 8) + 2;  // two characters a pixel look square
  const auto per_line = static_cast<std::size_t>(std::max<Index>(1, kWidth / cell));
  std::string text;
  for (std::size_t first = 0; first < order.size(); first += per_line) {
    const std::size_t end = std::min(order.size(), first + per_line);
    for (std::size_t i = first; i < end; ++i)
      text += fmt::format("{:<{}}", fmt::format("pi {:.3f}", model.pi[order[i]]), cell);
    text += '\n';
    for (Index row = 0; row < shape.rows; ++row) {
      for (std::size_t i = first; i < end; ++i) {
        const auto column = model.W.col(order[i]);
        const double largest = std::max(column.cwiseAbs().maxCoeff(), 1e-300);
        std::string pixels;
        for (Index x = 0; x < shape.cols; ++x) {
          const auto values = column.segment((row * shape.cols + x) * shape.channels, shape.channels);
          const double shade = values.cwiseAbs().maxCoeff() / largest * static_cast<double>(kShades.size() - 1);
          pixels.append(2, kShades[static_cast<std::size_t>(std::lround(shade))]);
        }
        text += fmt::format("{:<{}}", pixels, cell);
      }
      text += '\n';
    }
  }
  return text;
}

/// Smallest, quartiles and largest of some numbers.
std::array<double, 5> five_numbers(Vector values) {
  std::sort(values.data(), values.data() + values.size());
  std::array<double, 5> result{};
  for (std::size_t q = 0; q < 5; ++q)
    result[q] = values(static_cast<Index>(std::lround(static_cast<double>(q * (values.size() - 1)) / 4)));
  return result;
}

Json training_json(const ModelFile& file) {
  const std::vector<IterationReport>& history = file.state.history;
  if (history.empty()) return nullptr;
  const std::string objective(objective_name(file.method()));
  const auto row_json = [&](const IterationReport& row) {
    return Json{{"iteration", row.iteration},     {objective, row.free_energy},           {"noise_std", row.noise_std},
                {"mean_active", row.mean_active}, {"latents_in_use", row.latents_in_use}, {"estimated", row.estimated}};
  };
  double seconds = 0;
  for (const IterationReport& row : history) seconds += row.seconds;
  Json json{{"iterations", history.back().iteration},
            {"seconds", seconds},
            {"first", row_json(history.front())},
            {"last", row_json(history.back())},
            {"last_relative_change", nullptr},
            {"converged", nullptr},
            {"rescues", rescues_json(file.state.rescues)}};
  add_chains(json, file.state.method);
  if (history.size() > 1) {
    const double now = history.back().free_energy, before = history[history.size() - 2].free_energy;
    const double change = (now - before) / std::abs(now);
    json["last_relative_change"] = change;
    // Draws go up and down for ever.
    if (file.options && !traits(file.method()).draws) json["converged"] = std::abs(change) < file.options->tolerance;
  }
  return json;
}

Json model_json(const std::string& path, const ModelFile& file) {
  const Model& model = file.state.model;
  Json json{{"file", path},
            {"kind", "model"},
            {"method", file.options || !file.state.history.empty() ? Json(to_string(file.method())) : Json()},
            {"bytes", std::filesystem::file_size(path)},
            {"version", file.version},
            {"dimensions", model.dimensions()},
            {"latents", model.latents()}};
  if (file.recording)
    json["recording"] = {{"window", file.recording->window},
                         {"hop", file.recording->hop},
                         {"channels", file.recording->channels},
                         {"names", file.recording->names},
                         {"rate", file.recording->rate > 0 ? Json(file.recording->rate) : Json()},
                         {"text", recording_text(*file.recording)}};
  json["noise"] = {{"type", to_string(model.noise.type())}, {"std", std::sqrt(model.noise.mean_variance())}};
  json["slab"] = {{"type", to_string(model.slab.type())},
                  {"std_five_numbers", five_numbers(model.slab.variances().cwiseSqrt())}};
  json["pi"] = {{"sum", model.pi.sum()}, {"five_numbers", five_numbers(model.pi)}};
  json["amplitude_five_numbers"] = five_numbers(model.mu);
  json["training"] = training_json(file);
  json["options"] = nullptr;
  if (file.options) {
    json["options"] = file_options_json(file);
    json["options"]["seed"] = file.options->seed;
  }
  return json;
}

std::string numbers(const Json& values) {
  std::vector<std::string> texts;
  for (const Json& value : values) texts.push_back(fmt::format("{:.4g}", value.get<double>()));
  return fmt::format("{}", fmt::join(texts, "  "));
}

std::string model_text(const Json& j) {
  std::string text = fmt::format("{}: a model, {} bytes, written by gsc {}\n", j["file"].get<std::string>(),
                                 j["bytes"].get<std::size_t>(), j["version"].get<std::string>());
  const auto add = [&](const char* name, const std::string& value) {
    text += fmt::format("  {:<17} {}", name, wrapped(value, 20));
  };
  add("dimensions", j["dimensions"].dump());
  if (j.contains("recording")) add("recording", j["recording"]["text"].get<std::string>());
  add("latents", j["latents"].dump());
  if (!j["method"].is_null()) add("learned by", j["method"].get<std::string>());
  add("noise", fmt::format("{}, standard deviation {:.4g}", j["noise"]["type"].get<std::string>(),
                           j["noise"]["std"].get<double>()));
  add("", "smallest, quartiles and largest over the latents:");
  add("how often active",
      fmt::format("{}   (together {:.3g} at a time)", numbers(j["pi"]["five_numbers"]), j["pi"]["sum"].get<double>()));
  add("mean amplitude", numbers(j["amplitude_five_numbers"]));
  add("amplitude std",
      fmt::format("{}   ({} slab)", numbers(j["slab"]["std_five_numbers"]), j["slab"]["type"].get<std::string>()));
  if (const Json& training = j["training"]; !training.is_null()) {
    const Json &first = training["first"], &last = training["last"];
    const Method method = parse<Method>(j["method"].get<std::string>(), "method");
    add("learned in",
        fmt::format("{} iterations, {}{}", last["iteration"].dump(), duration_text(training["seconds"].get<double>()),
                    training["converged"].is_null() ? ""
                    : training["converged"] == true ? ", converged"
                                                    : ", not yet converged"));
    const auto energy = [&](const Json& row) {
      return fmt::format("{}{:.9g}", row["estimated"] == true ? "about " : "",
                         row[std::string(objective_name(method))].get<double>());
    };
    add(std::string(objective_text(method)).c_str(),
        fmt::format("{} at the start, {} at the end", energy(first), energy(last)));
    add("active latents", fmt::format("{:.3g} per data point, {} of {} in use", last["mean_active"].get<double>(),
                                      last["latents_in_use"].dump(), j["latents"].dump()));
    if (training.contains("noise_std_deviation"))
      add("noise deviation", fmt::format("{:.2g} of the draws", training["noise_std_deviation"].get<double>()));
    if (training.contains("r_hat_noise_std"))
      add("chains", fmt::format("R-hat {:.3g} of the noise, {:.3g} of the log joint (1: they agree)",
                                training["r_hat_noise_std"].get<double>(), training["r_hat_log_joint"].get<double>()));
    for (const auto& [name, count] : training["rescues"].items())
      if (count != 0) add("rescues", fmt::format("{} {}", name, count.dump()));
  }
  if (const Json& options = j["options"]; !options.is_null()) {
    std::vector<std::string> words;
    for (const auto& [name, value] : options.items())
      if (!value.is_null())
        words.push_back(fmt::format("{} {}", name, value.is_string() ? value.get<std::string>() : value.dump()));
    add("options", fmt::format("{}", fmt::join(words, ", ")));
  }
  return text;
}

Json data_json(const Data& data) {
  constexpr Index kBlockRows = 1024;
  double least = std::numeric_limits<double>::infinity(), most = -least, sum = 0;
  Index finite = 0;
  Json first_bad;
  Matrix block;
  for (Index first = 0; first < data.rows(); first += kBlockRows) {
    block.resize(std::min(kBlockRows, data.rows() - first), data.cols());
    data.read(first, block);
    for (Index i = 0; i < block.rows(); ++i)
      for (Index d = 0; d < block.cols(); ++d) {
        const double value = block(i, d);
        if (!std::isfinite(value)) {
          if (first_bad.is_null()) first_bad = {{"row", first + i}, {"column", d}};
          continue;
        }
        ++finite;
        sum += value;
        least = std::min(least, value);
        most = std::max(most, value);
      }
  }
  Json json{{"file", data.name()}, {"kind", "data"}, {"rows", data.rows()}, {"columns", data.cols()}};
  json["min"] = finite > 0 ? Json(least) : Json();
  json["mean"] = finite > 0 ? Json(sum / static_cast<double>(finite)) : Json();
  json["max"] = finite > 0 ? Json(most) : Json();
  json["not_finite"] = data.rows() * data.cols() - finite;
  json["first_not_finite"] = first_bad;
  return json;
}

std::string data_text(const Json& j) {
  std::string text = fmt::format("{}: a table, {} rows (data points) x {} columns (dimensions)\n",
                                 j["file"].get<std::string>(), j["rows"].dump(), j["columns"].dump());
  if (!j["min"].is_null())
    text += fmt::format("  min {:.6g}, mean {:.6g}, max {:.6g}\n", j["min"].get<double>(), j["mean"].get<double>(),
                        j["max"].get<double>());
  if (j["not_finite"] != 0)
    text += fmt::format("  {} values are NaN or infinite, the first in row {}, column {} (from 0)\n",
                        j["not_finite"].dump(), j["first_not_finite"]["row"].dump(),
                        j["first_not_finite"]["column"].dump());
  if (j["columns"] > j["rows"])
    text +=
        "  more columns than rows, yet rows are data points; if the columns are, add --transpose to gsc fit and gsc "
        "infer\n";
  return text;
}

/// A model if it is one, else a table of numbers.
Json describe(const Settings& settings) {
  const std::string& location = settings.model;
  const FileKind kind = recognise(std::filesystem::path(location)).kind;
  const bool may_be_model = kind == FileKind::hdf5 || kind == FileKind::unknown;
  if (!is_hdf5_extension(lower_extension(location)) || !may_be_model || !std::filesystem::exists(location))
    return data_json(*open_table(location, settings, "info"));
  std::string not_a_model;
  try {
    return model_json(location, load_model(location));
  } catch (const Error& error) {
    not_a_model = error.what();
  }
  try {
    return data_json(*open_data(location));
  } catch (const Error& error) {
    const std::string not_a_table = error.what();
    throw Error(not_a_model == not_a_table ? not_a_model
                                           : fmt::format("{}. As a table of numbers: {}", not_a_model, not_a_table));
  }
}

}  // namespace

int run_info(const CommandLine& line) {
  if (line.settings.devices) {
    if (!line.settings.model.empty())
      throw UsageError("devices tells about this machine, not about " + line.settings.model + "; give one of the two");
    const Json devices = devices_json();
    fmt::print("{}", line.settings.json ? devices.dump(2) + "\n" : devices_text(devices));
    return kDone;
  }
  if (line.settings.model.empty())
    throw UsageError(
        "FILE is missing (a model file, or a table of numbers; - is a table from standard input); see gsc info --help");
  const Json json = describe(line.settings);
  if (line.settings.show_basis.rows > 0 && json["kind"] != "model")
    throw UsageError(fmt::format("show-basis is for models, and {} is a table of numbers; leave it out",
                                 json["file"].get<std::string>()));
  const std::string text = json["kind"] == "model" ? model_text(json) : data_text(json);
  fmt::print("{}", line.settings.json ? json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n" : text);
  if (const Shape& shape = line.settings.show_basis; shape.rows > 0) {
    const Model model = load_model(line.settings.model).state.model;
    check_shape("show-basis", shape, model.dimensions(), "the model " + line.settings.model);
    fmt::print("\n{}", basis_text(model, shape));
  }
  return kDone;
}

}  // namespace gsc::cli
