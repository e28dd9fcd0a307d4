#pragma once

#include <gsc/picture.h>

namespace gsc::test {

/// Edges and slopes: what can be learned from little.
inline Picture checks(Index height, Index width) {
  Picture picture;
  picture.channels.push_back(Matrix::NullaryExpr(height, width, [](Index y, Index x) {
    return (x / 6 + y / 10) % 2 == 0 ? 60.0 : 190.0 - static_cast<double>(x);
  }));
  return picture;
}

}  // namespace gsc::test
