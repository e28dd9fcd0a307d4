#pragma once
// Options of methods that learn a dictionary: columns of W of unit norm (atoms), of which every data point takes a few.
// They give codes, which are point estimates, in place of a posterior (docs/methods.md).

#include <gsc/types.h>

#include <string_view>

namespace gsc {
#pragma GCC visibility push(default)  // this is what a shared library shows

enum class AtomUpdate { exact, approximate };

/// How a data point is coded given the dictionary, in learning and afterwards (InferenceOptions::coding).
struct CodingOptions {
  /// ksvd: atoms are added until the squared error of a data point is at most D (error_gain sigma)^2, with D the number
  /// of its observed entries.
  double error_gain = 1.15;
  /// ksvd: so many atoms for every data point, whatever the error; 0: as many as error_gain asks for, up to max_active.
  Index atoms_per_point = 0;
};

/// How the dictionary is learned (FitOptions::dictionary).
struct DictionaryOptions {
  /// ksvd: an atom and its coefficients are the best rank-one approximation of what the others leave, or one step of
  /// alternating least squares towards it.
  AtomUpdate atom_update = AtomUpdate::exact;
};

std::string_view to_string(AtomUpdate update);

#pragma GCC visibility pop
}  // namespace gsc
