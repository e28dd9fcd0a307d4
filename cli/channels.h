#pragma once
// The signals that gsc separate works on: channels x samples, from a table or from sound.

#include <gsc/types.h>

#include <string>
#include <vector>

#include "options/options.h"

namespace gsc::cli {

struct Channels {
  Matrix values;                   ///< channels x samples, only those that --offset and --samples leave
  int sound_rate = 0;              ///< samples a second of sound; 0: not sound
  double rate = 0;                 ///< samples a second; 0: nobody said
  std::vector<std::string> names;  ///< of the channels; empty: nobody said
  std::string name;                ///< what messages call it
  std::vector<std::string> notes;  ///< what was guessed, in words
};

/// One table, one sound file with several channels, or several mono sound files of equal rate and length.
/// `settings.recording.channels_in` gets what was found.
Channels read_channels(const std::vector<std::string>& files, Settings& settings);

}  // namespace gsc::cli
