// Structs whose fields are listed once: whatever follows a list must reach every field.

#include <gsc/option_list.h>
#include <gsc/rescues.h>
#include <gtest/gtest.h>

#include <cmath>

#include "expect_error.h"
#include "inference/statistics_fields.h"
#include "option_support.h"
#include "random_model.h"

namespace gsc::test {
namespace {

TEST(Fields, StatisticsAddUpInEveryNumber) {
  for (const ModelKnobs& knobs : every_type(5, 3)) {
    SCOPED_TRACE(::testing::Message() << knobs);
    const Model model = random_model(knobs, 1);
    Statistics statistics(model), other(model);
    int numbers = 0;
    for_each_number(statistics, [&](auto& value) { value = ++numbers; });
    int i = 0;
    for_each_number(other, [&](auto& value) { value = 1000 * ++i; });
    statistics += other;
    i = 0;
    for_each_number(statistics, [&](auto& value) { EXPECT_EQ(value, 1001 * ++i); });
    // count, free_energy, clamped_pivots; s and m; YZ; the upper triangle of ZZ; YY; lambda, T and SS.
    const bool full_noise = model.noise.type() == NoiseType::full, full_slab = model.slab.type() == SlabType::full;
    EXPECT_EQ(numbers,
              3 + 3 + 3 + 5 * 3 + 6 + (full_noise ? 15 : 5) + (knobs.intercept ? 5 : 0) + (full_slab ? 3 + 6 + 6 : 0));
  }
}

TEST(Fields, RescuesAddUp) {
  Rescues sum{1, 2, 3, 4, 5, 6};
  sum += {10, 20, 30, 40, 50, 60};
  EXPECT_EQ(sum.total(), 231);
  EXPECT_EQ(sum.unused_latents, 11);
  EXPECT_EQ(sum.floored_pi, 22);
  EXPECT_EQ(sum.floored_slab, 33);
  EXPECT_EQ(sum.floored_noise, 44);
  EXPECT_EQ(sum.slab_fallbacks, 55);
  EXPECT_EQ(sum.clamped_pivots, 66);
}

/// Becomes whatever a field needs.
struct Anything {
  template <class Field>
  operator Field() const;  // NOLINT(google-explicit-constructor)
};

/// How many fields a struct without constructors has: so many values, and no more, can stand in its braces.
template <class Struct, class... Values>
constexpr std::size_t field_count() {
  if constexpr (requires { Struct{Values()..., Anything()}; })
    return field_count<Struct, Values..., Anything>();
  else
    return sizeof...(Values);
}

TEST(Fields, EveryOptionIsListed) {
  // Structs within count as their fields, a shape as one; inference.mean_products and sharing.team are no
  // options.
  const std::size_t fields = field_count<FitOptions>() - 5 + (field_count<InferenceOptions>() - 2) +
                             field_count<FactoredOptions>() + field_count<DictionaryOptions>() +
                             field_count<CodingOptions>() + field_count<BetaProcessOptions>() +
                             (field_count<SharingOptions>() - 1);
  EXPECT_EQ(fit_option_list().size(), fields) << "a field is missing in src/learning/fit_option_list.h";
  EXPECT_EQ(field_count<Shape>(), 3U) << "see for_each_attribute() of the model file";
}

/// A field that is missing in LearningChoices does not compile in visit_options(); this finds one too many.
TEST(Fields, EveryOptionCanBeChosen) {
  const LearningChoices choices;
  const std::size_t fields = field_count<LearningChoices>() - 5 + (field_count<decltype(choices.inference)>() - 1) +
                             field_count<decltype(choices.inference.coding)>() +
                             field_count<decltype(choices.factored)>() + field_count<decltype(choices.dictionary)>() +
                             field_count<decltype(choices.beta_process)>() + field_count<decltype(choices.sharing)>();
  EXPECT_EQ(fit_option_list().size(), fields) << "a field of LearningChoices is no option";
}

TEST(Choices, ArePutOnAPreset) {
  for (const OptionDescription& option : fit_option_list()) {
    SCOPED_TRACE(option.name);
    FitOptions preset;
    if (!option.methods.empty()) preset.inference.method = option.methods.front();
    if (option.name == "alpha") preset.sharing.partition = Partition::global;  // which it is of
    const FitOptions other = changed(preset, option.name);
    LearningChoices choices;
    EXPECT_FALSE(is_set(choices, option.name));
    EXPECT_EQ(texts_of(apply(choices, preset)), texts_of(preset));
    if (option.name == "alpha") choices.sharing.partition = Partition::global;
    set_option(choices, option.name, option_text(other, option.name));
    EXPECT_TRUE(is_set(choices, option.name));
    if (option.name == "tolerance") preset.inference.method = Method::truncated;
    EXPECT_EQ(texts_of(apply(choices, preset)), texts_of(changed(preset, option.name)));
  }
}

TEST(Choices, OfOtherMethodsAreRefused) {
  for (const OptionDescription& option : fit_option_list())
    for (const Method method : kValues<Method>) {
      SCOPED_TRACE(option.name + " of " + std::string(to_string(method)));
      if (option.name == "method") continue;
      FitOptions preset;
      preset.inference.method = method;
      LearningChoices choices;
      set_option(choices, option.name, option_text(changed({}, option.name), option.name));
      const bool read = option.methods.empty() ||
                        std::find(option.methods.begin(), option.methods.end(), method) != option.methods.end();
      if (option.name != "tolerance" && option.name != "sigma" && method != Method::online) {
        EXPECT_EQ(is_set(choices_for(choices, method), option.name), read);
      }
      if (!read) {
        const std::string text = option_text(apply(choices_for(choices, option.methods.front()), {}), option.name);
        expect_error<UsageError>([&] { apply(choices, preset); },
                                 {option.name + " is " + text + ", but method is " + std::string(to_string(method)) +
                                  "; " + option.name + " is for " + std::string(to_string(option.methods.front()))});
      }
    }
}

TEST(Choices, ThatChangeNothingAreRefused) {
  const auto refused = [](const char* name, const char* text, Method method, const std::string& message) {
    FitOptions preset;
    preset.inference.method = method;
    LearningChoices choices;
    set_option(choices, name, text);
    expect_error<UsageError>([&] { apply(choices, preset); }, {message});
  };
  refused("candidates", "0", Method::truncated, "candidates is 0; it must be at least 1");
  refused("max_active", "0", Method::ksvd, "max_active is 0; it must be at least 1");
  refused("sigma", "0", Method::truncated, "sigma is 0; a noise level is positive");
  refused("sigma", "-2", Method::ksvd, "sigma is -2; a noise level is positive");
  refused("sigma", "2", Method::feature_sign, "sigma is 2, but method is feature-sign, whose codes follow from lambda");
  refused("sigma", "2", Method::online, "sigma is 2, but method is online and coding is lasso");
  refused("tolerance", "0.1", Method::beta_process, "tolerance is 0.1, but method is beta-process, whose draws");
}

TEST(Choices, OfOnlineFollowFromTheCoding) {
  LearningChoices choices;
  choices.inference.coding = {.coding = {}, .lambda = 3.0, .error_gain = 1.3, .atoms_per_point = {}};
  const auto lasso = choices_for(choices, Method::online).inference.coding;
  EXPECT_TRUE(lasso.lambda && !lasso.error_gain);
  choices.inference.coding.coding = Coding::omp;
  const auto pursuit = choices_for(choices, Method::online).inference.coding;
  EXPECT_TRUE(!pursuit.lambda && pursuit.error_gain);
}

TEST(Fields, OptionsAreDescribed) {
  const std::vector<std::string> usual = texts_of({});
  std::size_t i = 0;
  for (const OptionDescription& option : fit_option_list()) {
    SCOPED_TRACE(option.name);
    EXPECT_FALSE(option.help.empty());
    EXPECT_EQ(option.words.empty(), option.kind != OptionKind::word);
    EXPECT_LT(option.smallest, option.largest);
    const std::vector<std::string> other = texts_of(changed({}, option.name));
    for (std::size_t j = 0; j < usual.size(); ++j) EXPECT_EQ(usual[j] == other[j], j != i) << usual[j];
    if (option.kind == OptionKind::integer || option.kind == OptionKind::word) {
      EXPECT_EQ(option.name + " " + option.usual, usual[i]);
    }
    ++i;
  }
}

TEST(Fields, OptionsAreSetFromText) {
  for (const OptionDescription& option : fit_option_list()) {
    SCOPED_TRACE(option.name);
    const FitOptions other = changed({}, option.name);
    FitOptions options;
    EXPECT_EQ(option_text(options, option.name), option.usual);
    set_option(options, option.name, option_text(other, option.name));
    EXPECT_EQ(texts_of(options), texts_of(other));
    if (option.kind != OptionKind::text)
      expect_error<UsageError>([&] { set_option(options, option.name, "nonsense"); },
                               {option.name + " is 'nonsense'; "});
    EXPECT_EQ(texts_of(options), texts_of(other));
  }
  FitOptions options;
  set_option(options, "tolerance", "0.1");
  EXPECT_EQ(options.tolerance, 0.1);
  expect_error<UsageError>([&] { set_option(options, "latents", "4.5"); }, {"latents is '4.5'", "whole number"});
  expect_error<UsageError>([&] { set_option(options, "tolerance", "inf"); }, {"tolerance is 'inf'"});
  expect_error<UsageError>([&] { set_option(options, "noise", "pink"); }, {"scalar, diagonal, full"});
  expect_error<UsageError>([&] { set_option(options, "colour", "1"); }, {"'colour'", "latents, method, "});
}

TEST(Fields, LimitsOfOptionsAreChecked) {
  for (const Method method : kValues<Method>) {
    FitOptions usual;
    usual.latents = 10;
    usual.inference.method = method;
    usual.validate();
    for (const OptionDescription& listed : fit_option_list()) {
      SCOPED_TRACE(listed.name);
      for (const bool below : {true, false}) {
        FitOptions options = usual;
        bool limited = false;
        for_each_option(options, [&]<class Value>(const OptionInfo& option, Value& value) {
          if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>) {
            if (option.name != listed.name || option.remedy == nullptr) return;
            if (!option.read_by(method)) return;
            const double limit = below ? option.smallest : option.largest;
            const double beyond = below ? limit - 1 : 2 * limit;
            if (std::is_integral_v<Value> && beyond > 1e9) return;
            limited = true;
            value = static_cast<Value>(beyond);
          }
        });
        if (limited) expect_error<UsageError>([&] { options.validate(); }, {listed.name + " is ", "; "});
      }
    }
  }
}

}  // namespace
}  // namespace gsc::test
