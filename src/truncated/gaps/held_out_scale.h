#pragma once
// How much too small deviations of imputed values are, by observed values that are taken for missing.
//
// They must be as hard to predict as what is missing. So a row that has more values than another one, drawn at random,
// loses as many, those first that the other has not; a row with fewer loses one. And each value that was set aside
// weighs as much as there are missing values in rows of which so much is observed.

#include <gsc/missing.h>

#include <functional>

namespace gsc {

struct HeldOutScale {
  double scale = 1;  ///< at least 1: with it two deviations hold 95 % of the values
  Index values = 0;  ///< how many were set aside; 0: there are too few to tell
};

/// From up to 1500 rows, spread over the data, which `impute` fills. The same for the same data.
HeldOutScale held_out_scale(const Data& data, const std::function<Imputed(const Data&)>& impute);

}  // namespace gsc
