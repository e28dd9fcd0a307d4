#include "options/options.h"

#include <gsc/option_list.h>
#include <gsc/picture_files.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "options/rows.h"

namespace gsc::cli {
namespace {

/// What `text` says of each picture format, one after the other.
template <class Text>
std::string pictures(const Text& text, const std::string& between, const std::string& before_last) {
  const std::vector<PictureFormat>& formats = picture_formats();
  std::string list;
  for (std::size_t i = 0; i < formats.size(); ++i)
    list += (i == 0 ? "" : i + 1 < formats.size() ? between : before_last) + text(formats[i]);
  return list;
}

const char* heading_of(const OptionDescription& option) {
  const auto all = [&](auto&& is) {
    return !option.methods.empty() && std::all_of(option.methods.begin(), option.methods.end(), is);
  };
  if (all([](Method method) { return traits(method).basis_variance && spike_and_slab(method); })) return kFactored;
  if (all(point_estimate)) return kDictionary;
  return all([](Method method) { return !spike_and_slab(method) && !point_estimate(method); }) ? kBeta : kLearning;
}

/// Options of learning that no row speaks of are those of gsc fit as the library has them.
std::vector<Option> rows_of_the_rest(const std::vector<Option>& table) {
  std::vector<Option> rest;
  for (const OptionDescription& option : fit_option_list()) {
    std::string name = option.name;
    std::replace(name.begin(), name.end(), '_', '-');
    if (std::none_of(table.begin(), table.end(),
                     [&](const Option& row) { return row.name == name && (row.commands & kFit) != 0; }))
      rest.push_back(Rows{listed(name, kFit, heading_of(option))}.options.front());
  }
  return rest;
}

std::vector<Option> make_table() {
  std::vector<Option> table;
  for (Rows rows : {learning_rows(), denoise_rows(), inpaint_rows(), separate_rows(), other_rows()})
    table.insert(table.end(), std::make_move_iterator(rows.options.begin()),
                 std::make_move_iterator(rows.options.end()));
  for (Option& option : rows_of_the_rest(table)) table.push_back(std::move(option));
  // Help has each heading once.
  static constexpr std::array kHeadings{kFiles,      kModel, kInference, kLearning, kFactored, kFastica,
                                        kDictionary, kBeta,  kPictures,  kSignals,  kWrite,    kRun};
  const auto place = [](const Option& option) { return std::find(kHeadings.begin(), kHeadings.end(), option.group); };
  std::stable_sort(table.begin(), table.end(),
                   [&](const Option& one, const Option& other) { return place(one) < place(other); });
  return table;
}

/// What a command takes for options of learning that are left out.
const FitOptions& usual_options(Command command) {
  static const FitOptions of_tables, of_pictures = DenoiseOptions().usual();
  return command == kDenoise ? of_pictures : of_tables;
}

const OptionDescription& description(const Option& option) {
  static const std::vector<OptionDescription> list = fit_option_list();
  return *std::find_if(list.begin(), list.end(), [&](const auto& listed) { return listed.name == option.key(); });
}

Json value_of(const FitOptions& options, const Option& option) {
  const std::string text = option_text(options, option.key());
  switch (description(option).kind) {
    case OptionKind::integer:
    case OptionKind::boolean:
      return Json::parse(text);
    case OptionKind::real:
      return parse_value<double>(option.name, text);
    case OptionKind::shape:
      return value_json(options.shape);
    case OptionKind::word:
    case OptionKind::text:
      break;
  }
  return text;
}

/// Of gsc compare, where it is one of fit and of denoise.
std::string default_of_both(const Option& of_picture) {
  const std::vector<const Option*> options = options_of(kFit);
  const auto of_table = std::find_if(options.begin(), options.end(),
                                     [&](const Option* option) { return option->name == of_picture.name; });
  const std::string usual = (*of_table)->default_text(kFit), pictures = of_picture.default_text(kDenoise);
  return usual == pictures ? usual : fmt::format("{}; pictures: {}", usual, pictures);
}

}  // namespace

std::string picture_extension_words() {
  const auto words = [](const PictureFormat& format) {
    std::string all;
    for (const std::string& extension : format.extensions) all += (all.empty() ? "" : " ") + extension.substr(1);
    return all;
  };
  return pictures(words, " ", " ");
}

std::string picture_names() {
  return pictures([](const PictureFormat& format) { return format.name; }, ", ", " or ");
}

std::string picture_extensions_text(const std::string& before_last) {
  return pictures([](const PictureFormat& format) { return format.extensions.front(); }, ", ", before_last);
}

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

std::string_view to_string(ChannelsIn channels_in) { return channels_in == ChannelsIn::rows ? "rows" : "columns"; }

std::string_view to_string(Mixing /*mixing*/) { return "orthogonal"; }

std::string Option::key() const {
  std::string key = name;
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

void Option::set(Settings& settings, const std::vector<std::string>& texts) const {
  if (of_learning)
    set_option(settings.learning, key(), texts.back());
  else
    field.type->set(field.in(settings), name, texts);
}

bool Option::left_alone(const std::vector<std::string>& texts) const {
  if (texts.back() != "auto" || required || several || is_switch()) return false;
  return of_learning ? description(*this).kind != OptionKind::text : !field.type->is_text;
}

Json Option::get(const Settings& settings) const {
  if (!of_learning) return field.type->get(field.of(settings));
  if (from_picture && !is_set(settings.learning, key())) return {};
  return value_of(settings.fit, *this);
}

std::string Option::default_text(Command command) const {
  if (required) return "required";
  if (from_model && command == kInfer) return "as the model was learned";
  if (command == kCompare && (commands & kDenoise) && of_learning) return default_of_both(*this);
  if (!if_left_out.empty()) return if_left_out;
  if (is_switch()) return "";
  const Json usual = of_learning ? value_of(usual_options(command), *this) : get({});
  if (usual.is_null()) return "";
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

namespace {

/// Options that this method cannot have are not worth telling; those of the spike-and-slab model are told together.
bool concerns(const Option& option, Method method) {
  if (!option.of_learning) return true;
  const std::vector<Method>& methods = description(option).methods;
  return methods.empty() || std::any_of(methods.begin(), methods.end(), [&](Method other) {
           return other == method || (spike_and_slab(other) && spike_and_slab(method));
         });
}

}  // namespace

Json options_json(Command command, const Settings& settings) {
  Json json = Json::object();
  for (const Option* option : options_of(command)) {
    if (option->group == kFiles || option->group == kWrite || option->group == kRun) continue;
    if (concerns(*option, settings.fit.inference.method)) json[option->key()] = option->get(settings);
  }
  return json;
}

}  // namespace gsc::cli
