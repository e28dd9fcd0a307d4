#pragma once
// Every option of the program, declared once. Flags, the config file, help, the table in docs/cli.md and the
// "options" of the metrics all come from option_table().

#include <gsc/denoise.h>
#include <gsc/inpaint.h>
#include <gsc/separate.h>
#include <gsc/streams.h>

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace gsc::cli {

using Json = nlohmann::ordered_json;

/// Bits, so that an option can say which commands have it.
enum Command : unsigned {
  kFit = 1,
  kInfer = 2,
  kSample = 4,
  kInfo = 8,
  kDenoise = 16,
  kSeparate = 32,
  kReport = 64,
  kCompare = 128,
  kReproduce = 256,
  kInpaint = 512
};

enum class Generator { bars, laplace, cauchy };
std::string_view to_string(Generator generator);
enum class ChannelsIn { rows, columns };
std::string_view to_string(ChannelsIn channels_in);
/// What `--mix` may be beside a number.
enum class Mixing { orthogonal };
std::string_view to_string(Mixing mixing);

/// How a recording is read (recording.h).
struct RecordingSettings {
  std::optional<Index> window, hop;       ///< none: rows are data points; hop none: as window
  std::optional<double> rate;             ///< none: as the file says
  std::optional<ChannelsIn> channels_in;  ///< of a table; none: guessed
  bool keep_time = false;                 ///< a column that is the time counts as a channel
};

/// What only gsc separate has.
struct SeparateSettings {
  std::vector<std::string> files;  ///< the mixture: a table, or sound files
  Index offset = 0;                ///< samples left out at the beginning
  std::optional<Index> samples;    ///< none: all that follow
  bool normalise = false;
  Whiten whiten = Whiten::automatic;
  bool csv = false;  ///< also write text
  int restarts = 10;
  std::string method;  ///< a Method's word, or fastica; empty: separate() chooses
  /// random, or fastica; of fastica random, or a file with a mixing matrix. Empty: fastica, of which random.
  std::string init;
  FasticaOptions fastica;
  std::string sources;  ///< an experiment: known sources, to be mixed here
  std::string mix;      ///< "orthogonal", or a perturbation
  double add_noise = 0;
  std::uint64_t mix_seed = 1;
};

/// What only gsc denoise has.
struct DenoiseSettings {
  std::vector<std::string> pictures;
  std::string picture;  ///< the one in work
  std::string clean;    ///< the truth, to compare with
  std::optional<double> add_noise;
  bool clip = false;
  std::uint64_t noise_seed = 1;
  std::string keep_noisy, std;  ///< pictures to write
  std::optional<PixelDepth> depth;
  DenoiseOptions options;  ///< but for what is of learning
};

/// What only gsc inpaint has.
struct InpaintSettings {
  std::string picture;
  std::string mask;     ///< a picture of the same size: what is not black is missing
  std::string missing;  ///< a number, or "nan"
  bool invert_mask = false;
  std::string clean;              ///< the truth, to compare with
  std::string learn_from;         ///< a model file for the first guess
  std::optional<double> observe;  ///< an experiment: only this share of the values is kept
  bool whole_pixels = false;
  std::uint64_t mask_seed = 1;
  std::string keep_damaged, std;  ///< pictures to write
  bool keep_observed = false, denoise_observed = false;
  std::optional<PixelDepth> depth;
  InpaintOptions options;  ///< seed and threads are those of the program
};

/// What only gsc compare has. Its other options are those of fit and denoise.
struct CompareSettings {
  std::string input;  ///< a picture, or a table as open_data() takes it
  std::string methods = "truncated,factored";
  std::string truth;  ///< the basis that generated the table
};

/// What only gsc reproduce has.
struct ReproduceSettings {
  std::string name;  ///< of an experiment, or all, or list
  std::string data;  ///< folder of the benchmark data
  bool quick = false;
  std::optional<int> trials;
};

/// What the user asked for, with the defaults in place.
struct Settings {
  // Files. Empty: not asked for.
  std::string data;    ///< a table of numbers, as open_data() takes it, or "-"
  std::string model;   ///< a model to use; for info any file
  std::string output;  ///< where the result goes; "-": standard output, for some
  std::optional<StreamFormat> input_format, output_format;
  bool transpose = false;         ///< data points are the columns of `data`
  std::string missing = "error";  ///< error, nan, or a number
  std::string mask;               ///< a table, anything but 0 where a value of `data` is missing
  std::string config;
  std::string metrics;  ///< "-": standard output
  std::string checkpoint;
  std::string resume;
  std::string save_model;
  std::string report;

  LearningChoices learning;   ///< what is given of the options of learning
  FitOptions fit;             ///< these on top of what the command takes for the rest
  std::string init = "data";  ///< random, data or a model file
  int checkpoint_every = 10;
  int restarts = 1;

  bool variance = false;
  Index states = 0;
  bool with_candidates = false;
  std::string impute, impute_std;
  bool denoise_observed = false;

  Index count = 0;
  std::optional<Generator> generator;
  std::optional<double> noise_std;
  double perturbation = 0;
  bool with_latents = false;

  RecordingSettings recording;
  SeparateSettings separate;
  DenoiseSettings denoise;
  InpaintSettings inpaint;
  CompareSettings compare;
  ReproduceSettings reproduce;

  bool json = false, devices = false;
  Shape show_basis;  ///< of the pictures that are drawn; else that of the data points, fit.shape
  bool quiet = false;
};

struct FieldType;  // option_row.h

/// A field of Settings: of what type it is, and where.
struct FieldPlace {
  const FieldType* type = nullptr;
  void* (*in)(Settings&) = nullptr;
  const void* (*of)(const Settings&) = nullptr;
};

struct Option {
  std::string name;   ///< --name on the command line, name in the config file
  std::string value;  ///< what stands for the value in help; empty for a switch
  unsigned commands = 0;
  std::string group;         ///< heading in help
  std::string help;          ///< one line
  FieldPlace field;          ///< where the value goes, unless it is
  bool of_learning = false;  ///< in Settings::learning, under the same name
  std::string letter;        ///< short form, as in -o
  bool positional = false;   ///< an argument, given without its name
  bool several = false;      ///< may be given more than once, and all count
  bool required = false;
  std::string if_left_out;              ///< where the default is not just a value
  bool from_model = false;              ///< infer takes it from the model file if left out
  bool from_picture = false;            ///< denoise finds it out if left out
  std::vector<std::string> extensions;  ///< of the files that completion offers; none: all of them

  /// Takes the last of the texts, or all if the option takes several. Throws UsageError if one is not a value of the
  /// option's type.
  void set(Settings& settings, const std::vector<std::string>& texts) const;
  Json get(const Settings& settings) const;
  bool is_switch() const { return value.empty(); }
  /// As the library calls it, and files and JSON: with _ for -.
  std::string key() const;
  /// Whether these texts say `auto`: as if the option were left out, also of a config file. Names of files say nothing.
  bool left_alone(const std::vector<std::string>& texts) const;
  /// What happens when the option is not given, for help; may be empty.
  std::string default_text(Command command) const;
};

const std::vector<Option>& option_table();

/// The rows of the table that `command` has.
std::vector<const Option*> options_of(Command command);

/// The settings of a run as "name": value, without the files; names as in the config file.
Json options_json(Command command, const Settings& settings);

}  // namespace gsc::cli
