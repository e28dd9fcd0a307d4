#include <gsc/inference.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "inference/inference_option_list.h"
#include "inference/limits.h"

namespace gsc {

double state_count(Index candidates, Index max_active) {
  double states = 1, layer = 1;
  for (Index k = 1; k <= max_active; ++k) {
    layer *= static_cast<double>(candidates - k + 1) / static_cast<double>(k);
    states += layer;
  }
  return states;
}

StateSpace state_space(const InferenceOptions& options, Index latents) {
  if (!traits(options.method).has_candidates) return {latents, latents};
  const InferenceOptions all = options.resolved(latents);
  return {all.candidates, all.max_active};
}

bool over_all_states(const InferenceOptions& options, Index latents) {
  return traits(options.method).has_states && state_space(options, latents).max_active == latents;
}

Device::Device(std::string text) : kind(Kind::added), name(std::move(text)) {
  if (name == "cpu") kind = Kind::cpu;
  if (name == "auto") kind = Kind::automatic;
  if (name == "cuda") kind = Kind::cuda;
  constexpr std::string_view kNumbered = "cuda:";
  if (!name.starts_with(kNumbered)) return;
  int number = -1;
  const char* end = name.data() + name.size();
  const auto [last, error] = std::from_chars(name.data() + kNumbered.size(), end, number);
  if (error != std::errc() || last != end || number < 0) return;  // a name that nobody has added
  kind = Kind::cuda;
  index = number;
}

InferenceOptions InferenceOptions::resolved(Index latents) const {
  InferenceOptions all = *this;
  if (!spike_and_slab(method)) return all;
  const bool limited = traits(method).has_candidates;  // the other methods do not read them
  if (candidates == 0) all.candidates = limited ? std::min(kUsualCandidates, latents) : kUsualCandidates;
  if (max_active == 0) all.max_active = limited ? std::min(kUsualMaxActive, all.candidates) : kUsualMaxActive;
  return all;
}

void InferenceOptions::validate(Index latents) const {
  check_range(kLatentsOption, latents);
  visit_inference_options(
      [&](const OptionInfo& option, const auto& value) {
        if (option.read_by(method)) check_range(option, value);
      },
      *this);
  const MethodTraits& its = traits(method);
  if (!its.infers_no_gaps.empty() && missing == Missing::nan)
    throw UsageError("missing is nan, but method is " + std::string(its.word) + ", which " +
                     std::string(its.infers_no_gaps));
  if (!its.spike_and_slab) {
    if (max_active < 0) throw UsageError("max_active is " + std::to_string(max_active) + "; it must not be negative");
    if (coding.atoms_per_point > latents)
      throw UsageError("atoms_per_point is " + std::to_string(coding.atoms_per_point) +
                       "; it must not exceed latents (" + std::to_string(latents) + ")");
    if (device.kind != Device::Kind::cpu && device.kind != Device::Kind::automatic)
      throw UsageError("device is '" + device.name + "', but the " + std::string(its.word) +
                       " method computes on the cpu");
    return;
  }
  if (!its.has_states) return;
  if (!its.has_candidates) {
    if (latents > kMaxExactLatents)
      throw UsageError("method is exact with " + std::to_string(latents) + " latents, that is 2^" +
                       std::to_string(latents) + " states per data point; exact goes up to " +
                       std::to_string(kMaxExactLatents) + " latents, use the truncated method beyond");
    return;
  }
  if (candidates < 0 || candidates > latents)
    throw UsageError("candidates is " + std::to_string(candidates) + "; it must lie between 1 and latents (" +
                     std::to_string(latents) + ")");
  const Index most = resolved(latents).candidates;
  if (max_active < 0 || max_active > most)
    throw UsageError("max_active is " + std::to_string(max_active) + "; it must lie between 1 and candidates (" +
                     std::to_string(most) + ")");
  if (candidates > kMaxCandidates)
    throw UsageError("candidates is " + std::to_string(candidates) + "; more than " + std::to_string(kMaxCandidates) +
                     " are not supported");
  constexpr double kMaxStates = 1 << 22;
  if (state_count(most, resolved(latents).max_active) > kMaxStates)
    throw UsageError("candidates " + std::to_string(most) + " with max_active " + std::to_string(max_active) +
                     " make more than 4 million states per data point; lower one of them");
}

void PosteriorRequest::validate(Method method) const {
  if (!point_estimate(method)) return;
  const auto refuse = [&](const char* what) {
    throw UsageError(std::string(what) + " asked for, but the " + std::string(to_string(method)) +
                     " method gives codes and no posterior; leave it out, or learn with the truncated method");
  };
  if (variance) refuse("variances are");
  if (states > 0) refuse("the most probable states are");
  if (candidates) refuse("candidates are");
}

std::string_view to_string(Selection selection) {
  return selection == Selection::singleton ? "singleton" : "conditional";
}

std::string_view to_string(Precision precision) {
  return precision == Precision::double_precision ? "double" : "single";
}

std::string_view to_string(Missing missing) { return missing == Missing::error ? "error" : "nan"; }

}  // namespace gsc
