#pragma once
// What can be found wrong before the long work begins, and what is set right.

#include <gsc/inference.h>

#include <string>
#include <vector>

#include "options/command_line.h"

namespace gsc::cli {

/// A file to be written, unless the path is empty. `option` is what messages call it.
struct OutputFile {
  std::string option, path;
  std::vector<std::string> extensions = {};  ///< with dot; none: any, and "-" is standard output
};
inline const std::vector<std::string> kModelFiles = {".h5", ".hdf5"}, kPages = {".html", ".htm"};

/// Throws UsageError unless the file can be created and has one of its extensions.
void check_output(const OutputFile& output);

/// The same for each; also if two are one file, or one would replace an input (which may name an array inside the file,
/// as in file.h5:/x).
void check_outputs(const std::vector<OutputFile>& outputs, const std::vector<std::string>& inputs);

/// Throws Error unless the data has as many columns as the model has dimensions.
void check_dimensions(const Data& data, const Model& model, const std::string& model_name);

/// Resolves candidates and max_active where they are left out. Returns what the user should know about it, or
/// nothing.
std::string clip_truncation(const LearningChoices& chosen, InferenceOptions& options, Index latents);

}  // namespace gsc::cli
