#pragma once

#include <cmath>

namespace gsc {

/// d/dx log Gamma(x) for x > 0: psi(x) = psi(x + 1) - 1/x up to 10, then the asymptotic series, good to 1e-15.
inline double digamma(double x) {
  double sum = 0;
  for (; x < 10; x += 1) sum -= 1 / x;
  const double y = 1 / (x * x);
  const double series =
      y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y * (1.0 / 132 - y * (691.0 / 32760))))));
  return sum + std::log(x) - 0.5 / x - series;
}

}  // namespace gsc
