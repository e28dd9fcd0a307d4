#pragma once
// Options of methods that learn a dictionary: columns of W of unit norm (atoms), of which every data point takes a few.
// They give codes, which are point estimates, in place of a posterior (docs/methods.md).

#include <gsc/export.h>
#include <gsc/types.h>

#include <string_view>

namespace gsc {

enum class AtomUpdate { exact, approximate };
/// lasso: 1/2 |x - D a|^2 + lambda |a|_1 is smallest. bounded: |a|_1 is smallest of all codes with a squared error of
/// at most D (error_gain sigma)^2. omp: atoms are added one by one until that error is reached.
enum class Coding { lasso, bounded, omp };

/// How a data point is coded given the dictionary, in learning and afterwards (InferenceOptions::coding).
struct CodingOptions {
  /// online: what a code is. (ksvd has omp, feature_sign lasso.)
  Coding coding = Coding::lasso;
  /// online and feature_sign: the weight of |a|_1 in the units of the data; 0: 1.2 / sqrt(D), and at most 0.3, of the
  /// length of each data point, with D the number of its observed entries.
  double lambda = 0;
  /// ksvd, online: atoms are added until the squared error of a data point is at most D (error_gain sigma)^2, with D
  /// the number of its observed entries.
  double error_gain = 1.15;
  /// ksvd, online: so many atoms for every data point, whatever the error; 0: as many as error_gain asks for, up to
  /// max_active.
  Index atoms_per_point = 0;
};

/// How the dictionary is learned (FitOptions::dictionary).
struct DictionaryOptions {
  /// ksvd: an atom and its coefficients are the best rank-one approximation of what the others leave, or one step of
  /// alternating least squares towards it.
  AtomUpdate atom_update = AtomUpdate::exact;
  /// online: the part of what it remembers that is left after each batch; 1: nothing is forgotten; 0: the schedule of
  /// its authors, under which batches count by their number.
  double decay = 0;
};

GSC_EXPORT std::string_view to_string(AtomUpdate update);
GSC_EXPORT std::string_view to_string(Coding coding);

}  // namespace gsc
