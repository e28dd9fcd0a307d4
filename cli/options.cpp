#include "options.h"

#include <algorithm>

#include "option_values.h"

namespace gsc::cli {
namespace {

constexpr const char *kFiles = "Files", *kModel = "Model", *kInference = "Inference", *kLearning = "Learning",
                     *kWrite = "What to write", *kRun = "Run";

template <class T>
struct Inner {
  using Type = T;
};
template <class T>
struct Inner<std::optional<T>> {
  using Type = T;
};

/// A row of the table in the making.
struct Row : Option {
  Row argument() {
    positional = true;
    return *this;
  }
  Row needed(std::string short_name = "") {
    required = true;
    letter = std::move(short_name);
    return *this;
  }
  Row left_out(std::string text) {
    if_left_out = std::move(text);
    return *this;
  }
  Row as_learned() {
    from_model = true;
    return *this;
  }
};

/// `members` lead from Settings to the field; everything else follows from the field's type.
template <class... Members>
Row row(std::string name, std::string value, unsigned commands, std::string group, std::string help,
        Members... members) {
  const auto field = [members...](auto& settings) -> auto& { return (settings.*....*members); };
  using Value = typename Inner<std::remove_reference_t<decltype(field(std::declval<Settings&>()))>>::Type;
  Row result;
  if constexpr (std::is_enum_v<Value>) value = joined_words<Value>("|");
  result.name = name;
  result.value = std::move(value);
  result.commands = commands;
  result.group = std::move(group);
  result.help = std::move(help);
  result.set = [name, field](Settings& settings, const std::string& text) {
    field(settings) = parse_value<Value>(name, text);
  };
  result.get = [field](const Settings& settings) { return value_json(field(settings)); };
  return result;
}

// Arguments of a command are taken in the order of their rows.
std::vector<Option> make_table() {
  using S = Settings;
  using F = FitOptions;
  using I = InferenceOptions;
  const auto fit = &S::fit;
  const auto inference = &F::inference;
  const unsigned both = kFit | kInfer;
  return {
      row("model", "MODEL", kInfer, kFiles, "model file written by gsc fit", &S::model).argument().needed(),
      row("model", "MODEL", kSample, kFiles, "model file to draw from; or use --generator", &S::model).argument(),
      row("file", "FILE", kInfo, kFiles, "a model file, or a table of numbers", &S::model).argument().needed(),
      row("data", "DATA", both, kFiles,
          "one data point per row: .npy, .csv, .tsv, file.npz:name, file.mat:name, file.h5:/path", &S::data)
          .argument()
          .needed(),
      row("output", "MODEL.h5", kFit, kFiles, "where the learned model goes", &S::output).needed("o"),
      row("output", "OUT", kInfer, kFiles, "where the posterior goes: .npz or .h5", &S::output).needed("o"),
      row("output", "OUT", kSample, kFiles, "where the data goes: .npy, .npz, .csv, .tsv or .h5", &S::output)
          .needed("o"),
      row("checkpoint", "FILE.h5", kFit, kFiles, "save the state of learning here now and then, and on Ctrl-C",
          &S::checkpoint),
      row("checkpoint-every", "K", kFit, kFiles, "iterations between two checkpoints", &S::checkpoint_every),
      row("resume", "FILE.h5", kFit, kFiles,
          "go on from a checkpoint (or model) with its options; --iterations is the new total", &S::resume),
      row("metrics", "FILE.json", both, kFiles, "write figures about the run as JSON; - is standard output",
          &S::metrics),
      row("config", "FILE.toml", both | kSample, kFiles, "read options from a file; the command line wins", &S::config),

      row("generator", "", kSample, kModel, "artificial data instead of a model's", &S::generator)
          .left_out("draw from MODEL"),
      row("latents", "N", kFit, kModel, "how many basis functions to learn", fit, &F::latents),
      row("latents", "N", kSample, kModel, "with --generator: how many basis functions (even for bars)", fit,
          &F::latents)
          .left_out("10"),
      row("noise", "", kFit, kModel, "noise of the data: one variance, one per dimension, or a covariance", fit,
          &F::noise),
      row("slab", "", kFit, kModel, "amplitudes of the latents: independent, or with a covariance", fit, &F::slab),
      row("init", "random|data|MODEL.h5", kFit, kModel, "start from random numbers, from data points, or from a model",
          &S::init),
      row("noise-std", "S", kSample, kModel, "with --generator: standard deviation of the noise", &S::noise_std)
          .left_out("bars: 1.414, others: 1"),
      row("perturbation", "P", kSample, kModel,
          "laplace, cauchy: how far the basis is from orthogonal, as a standard deviation", &S::perturbation),

      row("candidates", "N", both, kInference, "latents per data point that may be active together", fit, inference,
          &I::candidates)
          .left_out("10, or all if fewer")
          .as_learned(),
      row("max-active", "N", both, kInference, "most latents active at once", fit, inference, &I::max_active)
          .left_out("5, or all candidates if fewer")
          .as_learned(),
      row("selection", "", both, kInference, "candidates are the best alone, or half of them the best given the others",
          fit, inference, &I::selection)
          .as_learned(),
      row("method", "", both, kInference,
          fmt::format("states considered: those of the candidates, or all (up to {} latents)", kMaxExactLatents), fit,
          inference, &I::method)
          .as_learned(),
      row("precision", "", both, kInference, "of the sums over states; single is faster", fit, inference, &I::precision)
          .as_learned(),

      row("iterations", "N", kFit, kLearning, "most EM iterations", fit, &F::iterations),
      row("tolerance", "T", kFit, kLearning,
          "stop when the free energy changes by less than this part of itself; 0: never", fit, &F::tolerance),
      row("noise-update", "", kFit, kLearning, "paper: the printed formula, which over-estimates the noise", fit,
          &F::noise_update),
      row("slab-update", "", kFit, kLearning, "paper: the printed formula for a full slab", fit, &F::slab_update),

      row("count", "N", kSample, kWrite, "how many data points to draw", &S::count).needed("n"),
      row("with-latents", "", kSample, kWrite, "also write spikes and slabs; laplace, cauchy: the mixing matrix",
          &S::with_latents),
      row("save-model", "MODEL.h5", kSample, kWrite, "write the model the data was drawn from (bars)", &S::save_model),
      row("variance", "", kInfer, kWrite, "also write posterior variances", &S::variance),
      row("states", "K", kInfer, kWrite, "also write the K most probable states of each data point", &S::states),
      row("with-candidates", "", kInfer, kWrite, "also write which latents were candidates", &S::with_candidates),
      row("json", "", kInfo, kWrite, "print JSON", &S::json),
      row("show-basis", "ROWSxCOLS", kInfo, kWrite, "also draw the basis functions of a model as pictures of that size",
          &S::show_basis),

      row("seed", "N", kFit | kSample, kRun, "same seed, options and threads: same result", fit, &F::seed),
      row("threads", "N", both, kRun, "processor cores to use", fit, inference, &I::threads)
          .left_out("OMP_NUM_THREADS, else all physical cores"),
      row("quiet", "", both | kSample, kRun, "print nothing but errors", &S::quiet),
  };
}

}  // namespace

std::string_view to_string(Generator generator) {
  switch (generator) {
    case Generator::bars:
      return "bars";
    case Generator::laplace:
      return "laplace";
    case Generator::cauchy:
      return "cauchy";
  }
  return "";
}

std::string Option::default_text(Command command) const {
  if (required) return "required";
  if (from_model && command == kInfer) return "as the model was learned";
  if (!if_left_out.empty()) return if_left_out;
  if (is_switch()) return "";
  const Json usual = get(Settings{});
  if (usual.is_number_float()) return fmt::format("{:g}", usual.get<double>());
  return usual.is_string() ? usual.get<std::string>() : usual.dump();
}

const std::vector<Option>& option_table() {
  static const std::vector<Option> table = make_table();
  return table;
}

std::vector<const Option*> options_of(Command command) {
  std::vector<const Option*> options;
  for (const Option& option : option_table())
    if (option.commands & command) options.push_back(&option);
  return options;
}

Json options_json(Command command, const Settings& settings) {
  Json json = Json::object();
  for (const Option* option : options_of(command)) {
    if (option->group != kModel && option->group != kInference && option->group != kLearning) continue;
    std::string key = option->name;
    std::replace(key.begin(), key.end(), '-', '_');
    json[key] = option->get(settings);
  }
  return json;
}

}  // namespace gsc::cli
