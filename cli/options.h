#pragma once
// Every option of the program, declared once. Flags, the config file, help, the table in docs/cli.md and the
// "options" of the metrics all come from option_table().

#include <gsc/fit.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace gsc::cli {

using Json = nlohmann::ordered_json;

/// Bits, so that an option can say which commands have it.
enum Command : unsigned { kFit = 1, kInfer = 2, kSample = 4, kInfo = 8 };

enum class Generator { bars, laplace, cauchy };
std::string_view to_string(Generator generator);

/// What the user asked for, with the defaults in place.
struct Settings {
  // Files. Empty: not asked for.
  std::string data;    ///< a table of numbers, as open_data() takes it
  std::string model;   ///< a model to use; for info any file
  std::string output;  ///< where the result goes
  std::string config;
  std::string metrics;  ///< "-": standard output
  std::string checkpoint;
  std::string resume;
  std::string save_model;

  FitOptions fit;             ///< infer uses fit.inference; sample fit.seed and fit.latents
  std::string init = "data";  ///< random, data or a model file
  int checkpoint_every = 10;

  bool variance = false;
  Index states = 0;
  bool with_candidates = false;

  Index count = 0;
  std::optional<Generator> generator;
  std::optional<double> noise_std;
  double perturbation = 0;
  bool with_latents = false;

  bool json = false;
  std::string show_basis;  ///< "8x8"
  bool quiet = false;
};

struct Option {
  std::string name;   ///< --name on the command line, name in the config file
  std::string value;  ///< what stands for the value in help; empty for a switch
  unsigned commands = 0;
  std::string group;  ///< heading in help
  std::string help;   ///< one line
  /// Throws UsageError if the text is not a value of the option's type.
  std::function<void(Settings&, const std::string&)> set;
  std::function<Json(const Settings&)> get;

  std::string letter;       ///< short form, as in -o
  bool positional = false;  ///< an argument, given without its name
  bool required = false;
  std::string if_left_out;  ///< where the default is not just a value
  bool from_model = false;  ///< infer takes it from the model file if left out

  bool is_switch() const { return value.empty(); }
  /// What happens when the option is not given, for help; may be empty.
  std::string default_text(Command command) const;
};

const std::vector<Option>& option_table();

/// The rows of the table that `command` has.
std::vector<const Option*> options_of(Command command);

/// The settings of a run as "name": value, without the files; names as in the config file.
Json options_json(Command command, const Settings& settings);

}  // namespace gsc::cli
