#pragma once
// Overlapping patches of groups added up: references are worked on in bands of rows by several threads, and the sums of
// the bands are added to the picture's in the order of the bands, whoever made them. So the result does not depend on
// threads.

#include <gsc/inference.h>
#include <omp.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "math/failure.h"
#include "math/numeric_scope.h"
#include "tasks/picture/parallel_rows.h"
#include "tasks/picture/planes.h"

namespace gsc {

/// Rows of references that are worked on together.
inline constexpr Index kBandRows = 4;

/// Weighted sums of filtered patches over some rows of the picture.
struct BandSums {
  BandSums(Index planes, Index first_row, Index rows, Index width, bool with_variances = false)
      : first(first_row),
        sums(planes, rows, width),
        weights(planes, rows, width),
        variances(with_variances ? planes : 0, rows, width) {}
  Index first;  ///< row of the picture
  Planes sums, weights, variances;
};

/// What all bands have summed up.
struct PictureSums {
  PictureSums(Index planes, Index height, Index width, bool with_variances = false, int threads = 1) {
    for (auto* matrices : {&sums, &weights, &variances})
      if (with_variances || matrices != &variances)
        for (Index p = 0; p < planes; ++p) matrices->push_back(zeros(height, width, threads));
  }

  void add(const BandSums& band) {
    add(band.sums, band.first, sums);
    add(band.weights, band.first, weights);
    add(band.variances, band.first, variances);
  }

  std::vector<Matrix> sums, weights, variances;

 private:
  static void add(const Planes& from, Index first, std::vector<Matrix>& to) {
    for (std::size_t p = 0; p < to.size(); ++p)
      for (Index r = 0; r < from.height(); ++r) {
        const float* values = from.row(static_cast<Index>(p), r);
        for (Index c = 0; c < from.width(); ++c) to[p](first + r, c) += static_cast<double>(values[c]);
      }
  }
};

/// Where references with patches of so many pixels are along a side of the picture: 0, step, 2 step, ..., and the last
/// one that fits. No further apart than a patch is wide, or pixels between them would be in none.
std::vector<Index> reference_places(Index side, Index patch, Index step);

/// Rows of a band of references, and the rows of the picture that their groups may touch.
struct Band {
  std::size_t begin, end;
  Index top, bottom;
};
Band band_of(const std::vector<Index>& rows, Index band, Index reach, Index patch, Index height);

/// total += filter(band, scratch) for begin <= band < end, on several threads; `scratch` is made by each of them. Calls
/// stop_at(bands done) now and then; throws Interrupted("interrupted while " + doing) if that returns true.
template <class MakeScratch, class Filter>
void add_bands(Index begin, Index end, int threads, const MakeScratch& make_scratch, const Filter& filter,
               PictureSums& total, const std::function<bool(Index)>& stop_at, const char* doing) {
  Failure failure;
#pragma omp parallel num_threads(threads)
  {
    const FloatingPointScope floating_point;
    std::optional<decltype(make_scratch())> scratch;
    failure.guard([&] { scratch.emplace(make_scratch()); });
#pragma omp for ordered schedule(dynamic, 1)
    for (Index band = begin; band < end; ++band) {
      std::optional<BandSums> sums;
      failure.guard([&] {
        sums = filter(band, *scratch);
        if (omp_get_thread_num() == 0 && stop_at && stop_at(band - begin))
          throw Interrupted(std::string("interrupted while ") + doing);
      });
#pragma omp ordered
      if (sums) total.add(*sums);
    }
  }
  failure.rethrow();
}

/// The same size and depth, all zero.
Picture blank(const Picture& like, int threads = 1);

/// The count-th value of every pixel goes into the mean and, unless null, the variance of all so far (Welford 1962).
void average_in(const Matrix& value, double count, Matrix& mean, Matrix* variance, int threads = 1);

}  // namespace gsc
