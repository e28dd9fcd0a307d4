#pragma once
// The table of options in the making: a file of rows for each group of commands, which are put together in options.cpp.
// Arguments of a command are taken in the order of their rows.

#include <string>

#include "options/option_row.h"

namespace gsc::cli {

Rows learning_rows();
Rows denoise_rows();
Rows inpaint_rows();
Rows separate_rows();
Rows other_rows();

// Headings in help, in the order in which they appear there.
inline constexpr const char *kFiles = "Files", *kModel = "Model", *kInference = "Inference", *kLearning = "Learning",
                            *kFactored = "Factored method", *kFastica = "FastICA", *kDictionary = "Dictionaries",
                            *kBeta = "Beta process", *kPictures = "Pictures", *kSignals = "Signals",
                            *kWrite = "What to write", *kRun = "Run";

// Extensions of files that completion offers.
inline constexpr const char *kTables = "npy npz csv tsv mat set h5",
                            *kSounds = "wav flac ogg oga opus aif aiff au snd caf w64 rf64 mp3";

/// Of all picture formats: "png jpg ..."; "PNG, ... or TIFF"; ".png, ... or .tif".
std::string picture_extension_words();
std::string picture_names();
std::string picture_extensions_text(const std::string& before_last);

}  // namespace gsc::cli
