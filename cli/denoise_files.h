#pragma once
// Which files belong to which picture where gsc denoise has several.

#include <memory>
#include <vector>

#include "options/options.h"
#include "output_folder.h"

namespace gsc::cli {

/// The settings of each picture, with names of its own. Where an option names a folder (it is one, or ends in '/'), a
/// picture's file in it is named as the picture, with the extension that fits: house.png, house.tif (std), house.h5,
/// house.html, house.json. With several pictures every option that names a file must name a folder. Throws UsageError.
std::vector<Settings> settings_of_each(const Settings& settings);

/// Makes the folders that are missing. Throws UsageError if an output cannot be written, would replace an input, or is
/// given for two results. Comes before the long work, on the root only.
std::vector<std::unique_ptr<OutputFolder>> prepare_outputs(const Settings& all, const std::vector<Settings>& each);

}  // namespace gsc::cli
