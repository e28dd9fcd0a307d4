#pragma once
// Settings that are words: a word that nobody knows is an error, never another method.

#include "experiment.h"

#include <gsc/denoise.h>
#include <gsc/separate.h>

namespace gsc::experiments {

/// The setting `name` as a value of its enumeration. Throws an Error that lists the words there are.
template <class Enum>
Enum word(const Json& settings, const char* name) {
  return parse<Enum>(settings.at(name).get_ref<const std::string&>(), name);
}

}  // namespace gsc::experiments
