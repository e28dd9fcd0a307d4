#pragma once
// A picture as data points and back: patches are taken out where they are asked for, and reconstructed ones averaged.
//
//   patch at (row, col):  values (r, c, k) = channel k at (row + r, col + c), in the order r, c, k (k fastest)

#include <gsc/data.h>
#include <gsc/picture.h>
#include <gsc/team.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "inference/patch_mosaic.h"

namespace gsc {

/// Where patches lie in a picture: a grid, which takes no memory, or a list of 8 bytes a patch.
class PatchPositions {
 public:
  struct Corner {
    Index row, col;
  };
  Index size() const { return random_ ? static_cast<Index>(list_.size()) : grid_rows_ * grid_cols_; }
  /// The top left pixel of patch i; on a grid patches are counted row by row.
  Corner operator[](Index i) const {
    if (random_) return {list_[static_cast<std::size_t>(i)].row, list_[static_cast<std::size_t>(i)].col};
    return {std::min(i / grid_cols_ * stride_, last_row_), std::min(i % grid_cols_ * stride_, last_col_)};
  }
  Index patch() const { return patch_; }
  Index grid_cols() const { return grid_cols_; }  ///< patches of a row of the grid
  bool is_grid() const { return !random_; }
  Index stride() const { return stride_; }
  /// Row and column of each, if they are a list.
  std::vector<std::uint32_t> corners() const;
  Index height() const { return last_row_ + patch_; }  ///< of the picture
  Index width() const { return last_col_ + patch_; }

 private:
  friend PatchPositions grid_positions(Index, Index, Index, Index);
  friend PatchPositions random_positions(Index, Index, Index, Index, Random&);
  struct SmallCorner {
    std::uint32_t row, col;
  };

  Index patch_ = 0, stride_ = 1, last_row_ = 0, last_col_ = 0, grid_rows_ = 0, grid_cols_ = 0;
  bool random_ = false;
  std::vector<SmallCorner> list_;
};

/// Patches of patch x patch pixels every `stride` pixels, and at the far edges where the stride misses them, so that
/// every pixel is in one. Throws UsageError for a stride that is not in 1..patch, Error for a picture smaller than a
/// patch.
PatchPositions grid_positions(Index height, Index width, Index patch, Index stride);

/// `count` different positions (all, if there are no more) out of those of stride 1, in random order.
PatchPositions random_positions(Index height, Index width, Index patch, Index count, Random& random);

/// The patches of a picture as data points. Refers to the picture, which must stay.
class PatchData final : public Data, public PatchSource {
 public:
  /// With remove_mean, each patch has the mean of its pixels taken out, channel by channel.
  PatchData(const Picture& picture, PatchPositions positions, bool remove_mean, std::string name = "picture");

  Index rows() const override { return positions_.size(); }
  Index cols() const override { return positions_.patch() * positions_.patch() * channels(); }
  void read(Index first, Eigen::Ref<Matrix> block) const override;
  std::string name() const override { return name_; }
  const PatchSource* patches() const override { return this; }
  PatchLayout layout() const override;

  /// The same, and the means (rows of the block x channels) that were taken out; zeros if none were.
  void read(Index first, Eigen::Ref<Matrix> block, Matrix& means) const;

  /// What is taken out of patches first .. first+count-1: their means, bit by bit (count x channels).
  void read_means(Index first, Index count, double* means) const;

  Index channels() const { return static_cast<Index>(picture_->channels.size()); }
  const PatchPositions& positions() const { return positions_; }

 private:
  void read_patch(Index i, double* values, double* means) const;
  void means_along(const Matrix& channel, Index i, Index count, double* means) const;

  const Picture* picture_;
  PatchPositions positions_;
  bool remove_mean_;
  std::string name_;
};

/// Puts means (patches x channels) back into patches that were read without them.
void add_means(Eigen::Ref<Matrix> patches, const Matrix& means);

/// Collects reconstructed patches x_i with weights w_i. A pixel becomes
///
///   mean = sum_i w_i x_i / sum_i w_i        over the patches i it is in,
///   std  = sqrt( sum_i w_i v_i / sum_i w_i )    with their posterior variances v_i.
///
/// The patches overlap, so their errors are not independent and do not average out. This std is that of the mean or
/// more, however they are correlated: var(sum w x / sum w) <= (sum w sqrt(v) / sum w)^2 <= sum w v / sum w.
/// Not for use by several threads at once: one thread adds blocks, in an order that does not depend on timing. Within a
/// block several threads may help, each with some columns of the picture (blocks have few rows), so that no bit depends
/// on them.
class PatchAverager {
 public:
  PatchAverager(PatchPositions positions, Index channels, bool with_variances, int threads = 1);

  /// Patch i of the positions, its values in the order of PatchData; variances are ignored unless asked for above.
  void add(Index i, const double* values, double weight, const double* variances = nullptr);
  /// Patches first, first + 1, ..., one per row.
  void add_block(Index first, const Eigen::Ref<const Matrix>& patches, const Eigen::Ref<const Vector>& weights,
                 const Eigen::Ref<const Matrix>& variances = Matrix(), int threads = 1);

  /// Where others may put what they have collected, with variances, in place of what is there.
  PatchSums sums();
  /// Adds what the other ranks of a team have collected.
  void add_up(Team& team);

  /// Every pixel must have been in a patch of positive weight. Values are neither rounded nor clipped to the depth.
  Picture result(PixelDepth depth, int threads = 1) const;
  Picture std_result(int threads = 1) const;  ///< of depth real32
  /// The sum of weights at each pixel.
  const Matrix& weights() const { return weights_; }

 private:
  /// Columns left .. right-1 of the picture.
  struct Strip {
    Index left, right;
  };
  /// What of patch i lies in the strip.
  void add_within(Index i, const double* values, double weight, const double* variances, Strip strip);
  /// Of patches begin .. end-1, which lie in one row of the grid, the first and the last (and one) that reach into the
  /// strip.
  std::pair<Index, Index> reaching_into(Index begin, Index end, Strip strip) const;

  PatchPositions positions_;
  std::vector<Matrix> sums_, variances_;  // one per channel
  Matrix weights_;
};

}  // namespace gsc
