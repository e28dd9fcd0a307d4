#pragma once
// How much memory code asks for at once: damaged files may declare any size, and a reader must not believe them.

#include <cstddef>

namespace gsc::test {

/// The largest allocation of C++ code in this program since the last call. The C libraries have their own, for which
/// the readers check sizes before they call them.
std::size_t take_largest_allocation();

}  // namespace gsc::test
