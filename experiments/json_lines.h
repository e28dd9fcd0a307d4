#pragma once
// Results as text: every run on a line of its own, so that a file can be read, searched and compared line by line.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace gsc::experiments {

/// A list of objects has a line for each; an object that holds such a list has a line for each member; all else, and
/// whatever is inside a line, stays on one line. Ends with a line break.
std::string lines_of(const nlohmann::ordered_json& json);

}  // namespace gsc::experiments
