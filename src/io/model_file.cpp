// Models and checkpoints as HDF5. Python has a second reader and writer of the same layout, python/gsc/io.py: what changes
// here changes there.
//
//   /            format_version, kind, version; kind is "gsc model", and "gsc model: METHOD" for methods that
//                have another model than spike-and-slab
//   /parameters  W (D x H), pi, mu (H), slab (H or H x H), noise (1, D or D x D); `type` tells slab and noise apart;
//                W_variance (D x H) and intercept (D) if the model has them
//   /options     one attribute per option, words as on the command line; absent if the model was not learned.
//                missing_sign and missing_mask, if a number or a mask said what is missing of the table
//   /history     one vector per column, a value per iteration; rescues as attributes
//   /method      what the method carries on beside the parameters: numbers/NAME, arrays/NAME, and in checkpoints only
//                columns/NAME, with a column per data point. Before 0.2.0 slab_acceleration was in /history, and the
//                factored method's were in /factored
//   /recording   window, hop, channels, names and rate, if the data points are windows (recording_group.h)
//
// Only `kind` and the parameters must be there. An attribute or a column that is absent has its default: the file was
// written before there was such a thing. What is not known is passed over; whoever adds something that older programs
// must not pass over raises kFormatVersion.

#include <gsc/file_kind.h>
#include <gsc/model_file.h>
#include <gsc/rescues.h>
#include <gsc/version.h>
#include <gsc/words.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "io/atomic_file.h"
#include "io/file_error.h"
#include "io/hdf5.h"
#include "io/option_attributes.h"
#include "io/recording_group.h"

namespace gsc {
namespace {

using namespace hdf5;  // also for the names of HDF5

constexpr std::int64_t kFormatVersion = 2;  // 2: may have an intercept

/// Calls visit(name, pointer to the member of IterationReport) for each column of the history.
template <class Visit>
void for_each_column(Method method, Visit visit) {
  visit("iteration", &IterationReport::iteration);
  visit(std::string(objective_name(method)), &IterationReport::free_energy);
  visit("noise_std", &IterationReport::noise_std);
  visit("mean_active", &IterationReport::mean_active);
  visit("latents_in_use", &IterationReport::latents_in_use);
  visit("seconds", &IterationReport::seconds);
  visit("dip", &IterationReport::dip);
  visit("estimated", &IterationReport::estimated);
  visit("rescues", &IterationReport::rescues);
}

// Writing.

void write_options(hdf5::Image& image, const FitOptions& options, const MissingSigns& missing) {
  const Handle group = image.create_group("/options");
  for_each_attribute(options, [&](const char* name, const auto& value, const OptionInfo&) {
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_enum_v<Value>)
      hdf5::write_text(group.get(), name, to_string(value));
    else if constexpr (std::is_convertible_v<Value, std::string>)
      hdf5::write_text(group.get(), name, std::string(value));
    else if constexpr (std::is_same_v<Value, double>)
      hdf5::write_real(group.get(), name, value);
    else if constexpr (std::is_unsigned_v<Value>)
      hdf5::write_unsigned(group.get(), name, value);
    else
      hdf5::write_integer(group.get(), name, value);
  });
  if (!missing.value.empty()) hdf5::write_text(group.get(), "missing_sign", missing.value);
  if (missing.mask) hdf5::write_unsigned(group.get(), "missing_mask", 1);
}

void write_parameters(hdf5::Image& image, const Model& model) {
  const auto write = [&](const std::string& name, std::initializer_list<Index> shape, const double* values) {
    return image.create_dataset("/parameters/" + name, std::span(shape.begin(), shape.size()), H5T_IEEE_F64LE,
                                H5T_NATIVE_DOUBLE, values);
  };
  write("W", {model.W.rows(), model.W.cols()}, model.W.data());
  if (model.W_variance.size() > 0)
    write("W_variance", {model.W_variance.rows(), model.W_variance.cols()}, model.W_variance.data());
  if (model.intercept.size() > 0) write("intercept", {model.intercept.size()}, model.intercept.data());
  write("pi", {model.pi.size()}, model.pi.data());
  write("mu", {model.mu.size()}, model.mu.data());
  const auto write_typed = [&](const char* name, const Matrix& values, bool full, std::string_view type) {
    const Handle dataset =
        full ? write(name, {values.rows(), values.cols()}, values.data()) : write(name, {values.rows()}, values.data());
    hdf5::write_text(dataset.get(), "type", type);
  };
  write_typed("slab", model.slab.values(), model.slab.type() == SlabType::full, to_string(model.slab.type()));
  write_typed("noise", model.noise.values(), model.noise.type() == NoiseType::full, to_string(model.noise.type()));
}

void write_history(hdf5::Image& image, const FitState& state, Method method) {
  const Handle group = image.create_group("/history");
  for_each_rescue(
      [&](auto member, const char* name, auto) { hdf5::write_integer(group.get(), name, state.rescues.*member); });
  const Index rows = static_cast<Index>(state.history.size());
  for_each_column(method, [&](const std::string& name, auto column) {
    using Value = std::decay_t<decltype(IterationReport{}.*column)>;
    constexpr bool real = std::is_same_v<Value, double>;
    std::vector<std::conditional_t<real, double, std::int64_t>> values;
    for (const IterationReport& row : state.history) values.push_back(row.*column);
    image.create_dataset("/history/" + name, std::span(&rows, 1), real ? H5T_IEEE_F64LE : H5T_STD_I64LE,
                         real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64, values.data());
  });
}

void write_method(hdf5::Image& image, const MethodState& state, bool with_columns) {
  const auto write = [&](const std::string& path, std::span<const Index> shape, const double* values) {
    image.create_dataset(path, shape, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values);
  };
  const auto write_all = [&](const std::string& group, const std::map<std::string, Matrix>& matrices) {
    for (const auto& [name, values] : matrices)
      if (values.size() > 0) write(group + name, std::array{values.rows(), values.cols()}, values.data());
  };
  for (const auto& [name, value] : state.numbers) write("/method/numbers/" + name, std::array<Index, 1>{1}, &value);
  write_all("/method/arrays/", state.arrays);
  if (with_columns) write_all("/method/columns/", state.columns);
}

// Reading.

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path)
      : file_(std::make_shared<const hdf5::File>(hdf5::open_file(path))) {}

  ModelFile read() {
    const Handle root = open("/");
    if (!hdf5::has_attribute(root.get(), "kind") || !hdf5::is_model_kind(hdf5::read_text(*file_, root.get(), "kind")))
      fail(file_->name, "is HDF5 but not a gsc model (its attribute 'kind' is not '{}')", hdf5::kModelKind);
    std::int64_t format = 1;
    read_attribute(root, "format_version", format);
    read_attribute(root, "version", version_);
    if (format > kFormatVersion)
      fail(file_->name, "is a model of format version {}, {}, but this is gsc {}, which reads up to {}; update gsc",
           format, written_by(), GSC_VERSION, kFormatVersion);
    if (format < 1) fail(file_->name, "attribute 'format_version' is {}; expected 1", format);
    ModelFile result;
    result.version = version_;
    result.state.model = read_model();
    if (hdf5::open_object(*file_, "/options")) {
      result.options = read_options();
      read_attribute(open("/options"), "missing_sign", result.missing.value);
      read_attribute(open("/options"), "missing_mask", result.missing.mask);
    }
    read_history(result.state, result.method());
    read_method(result.state.method);
    result.recording = read_recording(*file_, result.state.model.dimensions());
    return result;
  }

 private:
  Handle open(const std::string& path) const {
    Handle object = hdf5::open_object(*file_, path);
    if (!object) fail(file_->name, "{} is missing; the file is damaged or not a gsc model", path);
    return object;
  }

  /// The dataset `path`, whose shape must be `expected`; a negative extent takes any.
  Matrix read_array(const std::string& path, std::initializer_list<Index> expected) const {
    static_cast<void>(open(path));
    const hdf5::Table table(file_, path);
    bool fits = table.shape().size() == expected.size();
    for (std::size_t i = 0; fits && i < expected.size(); ++i)
      fits = expected.begin()[i] < 0 || static_cast<hsize_t>(expected.begin()[i]) == table.shape()[i];
    if (!fits) {
      std::vector<std::string> words;
      for (const Index extent : expected) words.push_back(extent < 0 ? "any" : std::to_string(extent));
      fail(file_->name, "{} has shape {}; expected {}", path, shape_text(table.shape()), shape_text(words));
    }
    return table.read_all();
  }

  std::string written_by() const {
    return "written by gsc " + (version_.empty() ? std::string("of an unknown version") : version_);
  }

  /// Leaves the value alone, that is at its default, if there is no such attribute.
  template <class Value>
  void read_attribute(const Handle& object, const char* name, Value& value) const {
    if (!hdf5::has_attribute(object.get(), name)) return;
    if constexpr (std::is_convertible_v<Value, std::string>)
      value = hdf5::read_text(*file_, object.get(), name);
    else if constexpr (std::is_same_v<Value, double>)
      value = hdf5::read_real(*file_, object.get(), name);
    else if constexpr (std::is_same_v<Value, bool>)
      value = hdf5::read_unsigned(*file_, object.get(), name) != 0;
    else if constexpr (std::is_unsigned_v<Value>)
      value = hdf5::read_unsigned(*file_, object.get(), name);
    else
      value = narrow<Value>(hdf5::read_integer(*file_, object.get(), name), fmt::format("attribute '{}'", name));
  }

  /// The same for a word. `what` names the member in messages.
  template <class Enum>
  void read_word(const Handle& object, const char* name, const std::string& what, Enum& value) const {
    std::string word(to_string(value));
    read_attribute(object, name, word);
    const std::optional<Enum> known = find_word<Enum>(word);
    if (!known)
      fail(file_->name, "{} is {}; this is gsc {}, which knows: {}. The file was {}: if that is newer, update gsc",
           what, in_quotes(word), GSC_VERSION, words<Enum>(), written_by());
    value = *known;
  }

  /// The type of noise or slab; where it is not told, the shape tells it.
  template <class Enum>
  Enum read_type(const std::string& path, Enum of_one, Enum of_vector, Enum of_matrix) const {
    const Handle dataset = open(path);
    const hdf5::Table table(file_, path);
    Enum type = table.shape().size() == 2 ? of_matrix : table.rows() == 1 ? of_one : of_vector;
    read_word(dataset, "type", "the type of " + path, type);
    return type;
  }

  Model read_model() const {
    Model model;
    model.W = read_array("/parameters/W", {-1, -1});
    const Index D = model.W.rows();
    const Index H = model.W.cols();
    if (hdf5::open_object(*file_, "/parameters/W_variance"))
      model.W_variance = read_array("/parameters/W_variance", {D, H});
    if (hdf5::open_object(*file_, "/parameters/intercept"))
      model.intercept = read_array("/parameters/intercept", {D}).col(0);
    model.pi = read_array("/parameters/pi", {H}).col(0);
    model.mu = read_array("/parameters/mu", {H}).col(0);
    const std::string slab = "/parameters/slab";
    const std::string noise = "/parameters/noise";
    const SlabType slab_type = read_type(slab, SlabType::diagonal, SlabType::diagonal, SlabType::full);
    const NoiseType noise_type = read_type(noise, NoiseType::scalar, NoiseType::diagonal, NoiseType::full);
    try {
      model.slab = slab_type == SlabType::full ? Slab::full(read_array(slab, {H, H}))
                                               : Slab::diagonal(read_array(slab, {H}).col(0));
      model.noise = noise_type == NoiseType::full       ? Noise::full(read_array(noise, {D, D}))
                    : noise_type == NoiseType::diagonal ? Noise::diagonal(read_array(noise, {D}).col(0))
                                                        : Noise::scalar(read_array(noise, {1})(0, 0), D);
      model.validate();
    } catch (const Error& error) {
      if (std::string_view(error.what()).starts_with(file_->name)) throw;
      fail(file_->name, "{}", error.what());
    }
    return model;
  }

  /// A number of the history or the options as `Value`; doubles hold every count exactly that can occur.
  template <class Value, class Number>
  Value narrow(Number number, const std::string& what) const {
    if constexpr (std::is_same_v<Value, double>) {
      return number;
    } else {
      constexpr double kExact = 9007199254740992.0;  // 2^53
      const auto real = static_cast<double>(number);
      constexpr auto kLargest = static_cast<double>(std::numeric_limits<Value>::max());
      if (!(std::abs(real) <= std::min(kExact, kLargest)) || real != std::floor(real))
        fail(file_->name, "{} is {}; expected an integer of at most {}", what, number,
             std::numeric_limits<Value>::max());
      return static_cast<Value>(number);
    }
  }

  void read_history(FitState& state, Method method) const {
    const Handle group = hdf5::open_object(*file_, "/history");
    if (!group) return;
    for_each_rescue([&](auto member, const char* name, auto) {
      if (hdf5::has_attribute(group.get(), name)) state.rescues.*member = hdf5::read_integer(*file_, group.get(), name);
    });
    Index rows = -1;  // known from the first column that is there
    for_each_column(method, [&](const std::string& name, auto column) {
      using Value = std::decay_t<decltype(IterationReport{}.*column)>;
      const std::string path = "/history/" + name;
      if (!hdf5::open_object(*file_, path)) return;
      const Matrix values = read_array(path, {rows});
      if (rows < 0) {
        rows = values.rows();
        state.history.resize(static_cast<std::size_t>(rows));
        // Rows are counted from 0 unless the column says otherwise.
        for (Index i = 0; i < rows; ++i) state.history[static_cast<std::size_t>(i)].iteration = static_cast<int>(i);
      }
      for (Index i = 0; i < rows; ++i)
        state.history[static_cast<std::size_t>(i)].*column = narrow<Value>(values(i, 0), path);
    });
  }

  void read_method(MethodState& state) const {
    for (const std::string& name : hdf5::children(*file_, "/method/numbers"))
      state.numbers[name] = read_array("/method/numbers/" + name, {1})(0, 0);
    for (const std::string& name : hdf5::children(*file_, "/method/arrays"))
      state.arrays[name] = read_array("/method/arrays/" + name, {-1, -1});
    for (const std::string& name : hdf5::children(*file_, "/method/columns"))
      state.columns[name] = read_array("/method/columns/" + name, {-1, -1});
    read_method_before_0_2(state);
  }

  void read_method_before_0_2(MethodState& state) const {
    const auto number = [&](const Handle& group, const char* name) {
      if (hdf5::has_attribute(group.get(), name)) read_attribute(group, name, state.numbers[name]);
    };
    if (const Handle history = hdf5::open_object(*file_, "/history")) number(history, "slab_acceleration");
    const Handle factored = hdf5::open_object(*file_, "/factored");
    if (!factored) return;
    number(factored, "basis_divergence");
    number(factored, "length_scale");
    if (hdf5::open_object(*file_, "/factored/codes")) state.columns["codes"] = read_array("/factored/codes", {-1, -1});
  }

  FitOptions read_options() const {
    FitOptions options;
    options.intercept = Intercept::none;  // before 0.2.0 there was none
    const Handle group = open("/options");
    for_each_attribute(options, [&](const char* name, auto& value, const OptionInfo&) {
      if constexpr (std::is_enum_v<std::decay_t<decltype(value)>>)
        read_word(group, name, fmt::format("option '{}'", name), value);
      else
        read_attribute(group, name, value);
    });
    return options;
  }

  std::shared_ptr<const hdf5::File> file_;
  std::string version_;  // of the gsc that wrote it, if it says so
};

}  // namespace

void save_model(const std::filesystem::path& path, const ModelFile& file, bool checkpoint) {
  AtomicFile target(path);
  hdf5::Image image;
  // As low as can be, so that older programs read what they can.
  hdf5::write_integer(image.root(), "format_version", file.state.model.intercept.size() > 0 ? 2 : 1);
  const Method method = file.method();
  hdf5::write_text(image.root(), "kind",
                   spike_and_slab(method) ? std::string(hdf5::kModelKind)
                                          : fmt::format("{}: {}", hdf5::kModelKind, to_string(method)));
  hdf5::write_text(image.root(), "version", GSC_VERSION);
  write_parameters(image, file.state.model);
  if (file.options) write_options(image, resolved_options(*file.options), file.missing);
  write_history(image, file.state, method);
  write_method(image, file.state.method, checkpoint);
  if (file.recording) write_recording(image, *file.recording);
  image.with_bytes([&](std::span<const std::byte> bytes) { target.write(bytes); });
  target.commit();
}

ModelFile load_model(const std::filesystem::path& path) {
  const auto guard = hdf5::lock();
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    fail(path.string(), "there is no such model file; is the name spelt right?");
  if (std::filesystem::is_directory(path, error)) fail(path.string(), "is a folder; expected a model file");
  const RecognisedFile found = recognise(path);
  if (found.kind == FileKind::empty) fail(path.string(), "is empty, not a model file; write or copy it again");
  if (found.kind != FileKind::hdf5 && found.kind != FileKind::unknown)
    fail(path.string(), "is not a model file: by its first bytes it is {}; models are what gsc fit writes (.h5)",
         found.words);
  return Reader(path).read();
}

}  // namespace gsc
