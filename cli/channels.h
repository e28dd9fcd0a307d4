#pragma once
// The signals that gsc separate works on: channels x samples, from a table or from sound.

#include <gsc/types.h>

#include <string>
#include <vector>

#include "options.h"

namespace gsc::cli {

struct Channels {
  Matrix values;     ///< channels x samples, only those that --offset and --samples leave
  int rate = 0;      ///< samples a second; 0: not sound
  std::string name;  ///< what messages call it
  std::string note;  ///< what was guessed, in words; may be empty
};

/// One table, one sound file with several channels, or several mono sound files of equal rate and length.
/// `whole` tells how a table is to be opened.
Channels read_channels(const std::vector<std::string>& files, SeparateSettings& settings, const Settings& whole);

}  // namespace gsc::cli
