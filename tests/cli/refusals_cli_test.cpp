// One refusal: an option that is not of the method is refused by the library, and the program says the same of its own
// name for it. python/tests/test_refusals.py asks Python.

#include <gtest/gtest.h>

#include "option_support.h"
#include "run_program.h"

namespace gsc::test {
namespace {

/// What the library says, or nothing.
std::string library_says(const std::string& option, const std::string& text, Method method) {
  FitOptions preset;
  preset.inference.method = method;
  LearningChoices choices;
  set_option(choices, option, text);
  try {
    apply(choices, preset);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::string with_words_replaced(std::string text, const std::string& word, const std::string& other) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + other.size()))
    text.replace(at, word.size(), other);
  return text;
}

std::string flag_of_option(std::string option) {
  std::replace(option.begin(), option.end(), '_', '-');
  return "--" + option;
}

TEST(Refusals, OfTheProgramAreTheLibrarys) {
  const TempFolder folder;
  int refused = 0;
  for (const OptionDescription& option : fit_option_list()) {
    if (option.methods.empty()) continue;
    const std::string text = option_text(changed({}, option.name), option.name);
    for (const Method method : kValues<Method>) {
      const std::string word(to_string(method));
      SCOPED_TRACE(option.name + " of " + word);
      const std::string says = library_says(option.name, text, method);
      if (says.empty()) continue;
      ++refused;
      const bool read = std::find(option.methods.begin(), option.methods.end(), method) != option.methods.end();
      const std::string why = read ? " and coding is " : "; " + option.name + " is for ";  // codes end by one of two
      EXPECT_EQ(says.find(option.name + " is " + text + ", but method is " + word + why), 0u) << says;
      const ProgramResult result = run_program(folder.path(), {"fit", "x.npy", "-o", "m.h5", "--method", word,
                                                               flag_of_option(option.name), text, "--quiet"});
      EXPECT_EQ(result.code, 2);
      std::string of_the_program = says;
      for (const std::string& name : {option.name, std::string("method")})
        of_the_program = with_words_replaced(of_the_program, name + " is ", flag_of_option(name) + " is ");
      of_the_program = with_words_replaced(of_the_program, "and coding is ", "and --coding is ");
      EXPECT_EQ(result.err, "gsc fit: " + of_the_program + "\n");
    }
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace gsc::test
