#pragma once
// How a row of the option table is written, and what it needs to know about the type of the field it sets.
//
// The table has more than a hundred rows. Whatever the compiler makes for one row it makes a hundred times, so a row is
// plain data: words that stay where they are, and a pointer to what all fields of its type share. (With strings and two
// std::function in each row, and all rows alive until the list is whole, the table took 27 s to compile.)

#include <string_view>

#include "options/option_values.h"

namespace gsc::cli {

/// Texts <-> values of one type of field, for those who have forgotten which.
struct FieldType {
  std::string words;     ///< "one|other" of an enumeration
  bool several = false;  ///< a list, which takes all that is given
  bool is_text = false;  ///< any word, such as the name of a file
  void (*set)(void* field, const std::string& name, const std::vector<std::string>& texts) = nullptr;
  Json (*get)(const void* field) = nullptr;
};

template <class T>
struct ValueOf {
  using Type = T;
  static constexpr bool kSeveral = false;
};
template <class T>
struct ValueOf<std::optional<T>> : ValueOf<T> {};
template <class T>
struct ValueOf<std::vector<T>> : ValueOf<T> {
  static constexpr bool kSeveral = true;
};

template <class T>
const FieldType& field_type() {
  using Value = typename ValueOf<T>::Type;
  static const FieldType type = [] {
    FieldType made;
    if constexpr (std::is_enum_v<Value>) made.words = gsc::words<Value>("|");
    made.several = ValueOf<T>::kSeveral;
    made.is_text = std::is_same_v<Value, std::string>;
    made.set = [](void* place, const std::string& name, const std::vector<std::string>& texts) {
      T& field = *static_cast<T*>(place);
      if constexpr (ValueOf<T>::kSeveral) {
        field.clear();
        for (const std::string& text : texts) field.push_back(parse_value<Value>(name, text));
      } else {
        field = parse_value<Value>(name, texts.back());
      }
    };
    made.get = [](const void* place) { return value_json(*static_cast<const T*>(place)); };
    return made;
  }();
  return type;
}

/// A row of the table in the making.
struct Row {
  std::string_view name, value;
  unsigned commands = 0;
  std::string_view group, help;
  FieldPlace field = {};
  bool of_learning = false;

  std::string_view letter = {}, if_left_out = {}, extensions = {}, more_extensions = {};
  bool positional = false, required = false, from_model = false, from_picture = false;

  Row argument() {
    positional = true;
    return *this;
  }
  Row needed(std::string_view short_name = "") {
    required = true;
    letter = short_name;
    return *this;
  }
  Row short_form(std::string_view short_name) {
    letter = short_name;
    return *this;
  }
  Row says(std::string_view text) {
    help = text;
    return *this;
  }
  Row left_out(std::string_view text) {
    if_left_out = text;
    return *this;
  }
  Row as_learned() {
    from_model = true;
    return *this;
  }
  Row chosen_by_picture() {
    from_picture = true;
    return *this;
  }
  /// For completion, where VALUE does not end in an extension: those of the files it is likely to be, "png tif".
  Row files(std::string_view likely, std::string_view also = "") {
    extensions = likely;
    more_extensions = also;
    return *this;
  }
};

/// The field to which `members` lead from Settings.
template <auto... Members>
FieldPlace at() {
  using Field = std::decay_t<decltype((std::declval<Settings&>().*....*Members))>;
  return {&field_type<Field>(), [](Settings& settings) -> void* { return &(settings.*....*Members); },
          [](const Settings& settings) -> const void* { return &(settings.*....*Members); }};
}

/// A row for a field of Settings.
Row row(std::string_view name, std::string_view value, unsigned commands, std::string_view group, std::string_view help,
        const FieldPlace& field);

/// A row for an option of learning; the library says what it takes and means. says() replaces the latter.
Row listed(std::string_view name, unsigned commands, std::string_view group);

/// The table that rows make; they and their words need not outlive the call.
struct Rows {
  Rows(std::initializer_list<Row> rows);
  std::vector<Option> options;
};

}  // namespace gsc::cli
