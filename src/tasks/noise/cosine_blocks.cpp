#include "tasks/noise/cosine_blocks.h"

#include <numbers>

#include "tasks/picture/parallel_rows.h"

namespace gsc {
namespace {

constexpr Index kMostBlocks = Index{1} << 18;  ///< of larger pictures a part is looked at: 50 MB, 2 s in colour
/// Products with so many columns are too small for Eigen to wake threads of its own, which wait for each other longer
/// than they work, and are as many as there are cores whatever the caller asks for.
constexpr Index kPiece = 768;
constexpr Index kMostRinged = Index{1} << 15;  ///< of these, told by rings

/// Row u: sqrt(2 / n) cos(pi (i + 1/2) u / n), and sqrt(1 / n) for u = 0.
Matrix cosine_basis(Index n) {
  Matrix basis(n, n);
  for (Index u = 0; u < n; ++u)
    for (Index i = 0; i < n; ++i) {
      const auto angle = (static_cast<double>(i) + 0.5) * static_cast<double>(u) / static_cast<double>(n);
      basis(u, i) = std::sqrt((u == 0 ? 1.0 : 2.0) / static_cast<double>(n)) * std::cos(std::numbers::pi * angle);
    }
  return basis;
}

/// Columns first, for all blocks of one row of them; then rows.
void add_row_of_blocks(const Matrix& strip, const Matrix& basis, Index first, Index columns, Index channel,
                       CosineBlocks& blocks) {
  const Index n = blocks.size;
  const double share = 1 / static_cast<double>(blocks.channels);
  Matrix down(n, strip.cols());
  for (Index x = 0; x < strip.cols(); x += kPiece) {
    const Index count = std::min(kPiece, strip.cols() - x);
    down.middleCols(x, count).noalias() = basis * strip.middleCols(x, count);
  }
  const auto first_ringed = std::lower_bound(blocks.ringed.begin(), blocks.ringed.end(), first);
  const Index ringed = first_ringed - blocks.ringed.begin();
  const bool has_rings = first_ringed != blocks.ringed.end() && *first_ringed == first;
  Matrix windows(columns, n), coefficients(columns, n);
  Index fine = 0;
  for (Index u = 0; u < n; ++u) {
    for (Index k = 0; k < columns; ++k) windows.row(k) = down.row(u).segment(k * blocks.stride, n);
    for (Index k = 0; k < columns; k += kPiece) {
      const Index count = std::min(kPiece, columns - k);
      coefficients.middleRows(k, count).noalias() = windows.middleRows(k, count) * basis.transpose();
    }
    if (u == 0) blocks.means.col(channel).segment(first, columns) = coefficients.col(0) / static_cast<double>(n);
    const Index coarse = std::max<Index>(2 - u, 0), above = n + 1 - u;  // v of the first coarse and fine one
    for (Index k = 0; k < columns; ++k) {
      const auto row = coefficients.row(k);
      blocks.coarse[first + k] += share * row.segment(coarse, std::min(above, n) - coarse).squaredNorm();
      for (Index v = above; v < n; ++v) blocks.fine(first + k, fine + v - above) += share * row[v] * row[v];
    }
    for (Index k = 0; has_rings && k < columns; k += blocks.sparse)
      for (Index v = coarse; v < n; ++v)
        blocks.rings(ringed + k / blocks.sparse, u + v - 2) += std::pow(coefficients(k, v), 2);
    fine += std::max<Index>(n - above, 0);
  }
}

}  // namespace

CosineBlocks cosine_blocks(const Picture& picture, int threads) {
  const Index n = std::clamp(std::min(picture.height(), picture.width()) / 2, kSmallestBlock, kLargestBlock);
  const Index down = picture.height() - n + 1, across = picture.width() - n + 1;
  Index stride = 1;
  while (((down - 1) / stride + 1) * ((across - 1) / stride + 1) > kMostBlocks) ++stride;
  if (stride > 2) stride |= 1;  // odd, so that blocks do not all lie alike on the 8 x 8 grid of a JPEG file
  const Index rows = (down - 1) / stride + 1, columns = (across - 1) / stride + 1;
  const auto channels = static_cast<Index>(picture.channels.size());
  CosineBlocks blocks{n,
                      stride,
                      channels,
                      Matrix(rows * columns, channels),
                      Vector::Zero(rows * columns),
                      Matrix::Zero(rows * columns, (n - 1) * (n - 2) / 2),
                      1,
                      {},
                      {}};
  const auto sparsely = [&](Index count) { return (count - 1) / blocks.sparse + 1; };
  while (sparsely(rows) * sparsely(columns) > kMostRinged) ++blocks.sparse;
  for (Index i = 0; i < rows; i += blocks.sparse)
    for (Index k = 0; k < columns; k += blocks.sparse) blocks.ringed.push_back(i * columns + k);
  blocks.rings = Matrix::Zero(std::ssize(blocks.ringed), 2 * n - 3);
  const Matrix basis = cosine_basis(n);
  parallel_rows(rows, columns * n * n, threads, [&](Index i) {
    for (Index c = 0; c < channels; ++c)
      add_row_of_blocks(picture.channels[static_cast<std::size_t>(c)].middleRows(i * stride, n), basis, i * columns,
                        columns, c, blocks);
  });
  return blocks;
}

}  // namespace gsc
