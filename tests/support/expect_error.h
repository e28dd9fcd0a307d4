#pragma once
// What a refusal must say. A test that expects an exception names the parts of its message that tell what is wrong (the
// file, the option, the value) and what to do about it, so that another failure is not taken for the one expected.

#include <cxxabi.h>
#include <gsc/types.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>

namespace gsc::test {

inline std::string name_of(const std::type_info& type) {
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(type.name(), nullptr, nullptr, nullptr),
                                                    std::free);
  return name ? name.get() : type.name();
}

/// The message of what `action` throws; a test failure and "" unless that is an `Expected`. A class derived from it
/// will not do: the program ends with another code after a UsageError than after an Error. Failures are shown at the
/// line of the call.
template <class Expected = Error>
std::string error_of(const std::function<void()>& action, const char* file = __builtin_FILE(),
                     int line = __builtin_LINE()) {
  try {
    action();
  } catch (const std::exception& error) {
    if (typeid(error) == typeid(Expected)) return error.what();
    ADD_FAILURE_AT(file, line) << name_of(typeid(Expected)) << " is expected, " << name_of(typeid(error))
                               << " was thrown: " << error.what();
    return "";
  }
  ADD_FAILURE_AT(file, line) << name_of(typeid(Expected)) << " is expected, nothing was thrown";
  return "";
}

using Parts = std::initializer_list<std::string_view>;

inline void expect_says(const std::string& message, Parts parts, const char* file = __builtin_FILE(),
                        int line = __builtin_LINE()) {
  if (parts.size() == 0) ADD_FAILURE_AT(file, line) << "nothing to look for in: " << message;
  for (const std::string_view part : parts)
    if (part.empty() || message.find(part) == std::string::npos)
      ADD_FAILURE_AT(file, line) << "the message does not say '" << part << "': " << message;
}

inline void expect_says(const std::string& message, std::string_view part, const char* file = __builtin_FILE(),
                        int line = __builtin_LINE()) {
  expect_says(message, {part}, file, line);
}

/// `action` throws an `Expected` that says each of these.
template <class Expected>
void expect_error(const std::function<void()>& action, Parts parts, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  expect_says(error_of<Expected>(action, file, line), parts, file, line);
}

}  // namespace gsc::test
