#pragma once
// Sparse codes as what a checkpoint can hold, a dense column per data point: (atom, coefficient), (atom, coefficient),
// ... and atom -1 where a code has ended.

#include <gsc/types.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "dictionary/coder.h"

namespace gsc {

inline Matrix packed(const Codes& codes) {
  Index longest = 0;
  for (Index n = 0; n < codes.cols(); ++n) longest = std::max<Index>(longest, codes.col(n).nonZeros());
  Matrix columns = Matrix::Constant(2 * std::max<Index>(longest, 1), codes.cols(), -1);
  for (Index n = 0; n < codes.cols(); ++n) {
    Index row = 0;
    for (Codes::InnerIterator entry(codes, n); entry; ++entry) {
      columns(row++, n) = static_cast<double>(entry.row());
      columns(row++, n) = entry.value();
    }
  }
  return columns;
}

inline Codes unpacked(const Matrix& columns, Index latents) {
  Codes codes(latents, columns.cols());
  for (Index n = 0; n < columns.cols(); ++n) {
    codes.startVec(n);
    double last = -1;
    for (Index row = 0; row + 1 < columns.rows() && columns(row, n) != -1; row += 2) {
      const double atom = columns(row, n);
      if (!(atom > last && atom < static_cast<double>(latents) && atom == std::floor(atom)))
        throw Error("the checkpoint's code of data point " + std::to_string(n) + " has an atom " +
                    std::to_string(atom) + ", of " + std::to_string(latents) +
                    " in ascending order; it is damaged or of another model");
      codes.insertBack(static_cast<Index>(atom), n) = columns(row + 1, n);
      last = atom;
    }
  }
  codes.finalize();
  return codes;
}

}  // namespace gsc
