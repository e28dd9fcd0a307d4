#include <gsc/recording.h>

#include <algorithm>
#include <cmath>

namespace gsc {

std::string Recording::channel_name(Index channel) const {
  const auto place = static_cast<std::size_t>(channel);
  return place < names.size() && !names[place].empty() ? names[place] : "channel " + std::to_string(channel + 1);
}

WindowData::WindowData(std::shared_ptr<const Data> samples, Index window, Index hop, bool gaps)
    : samples_(std::move(samples)), window_(window), hop_(hop), gaps_(gaps) {
  if (window < 1) throw UsageError("window is " + std::to_string(window) + "; it must be at least 1 sample");
  if (hop < 1)
    throw UsageError("hop is " + std::to_string(hop) + "; windows must start at least 1 sample apart (hop " +
                     std::to_string(window) + " lays them end to end)");
  if (samples_->rows() < window)
    throw Error(name() + ": window is " + std::to_string(window) + " samples, but the recording has only " +
                std::to_string(samples_->rows()) + "; choose a shorter window");
  rows_ = (samples_->rows() - window) / hop + 1;
}

void WindowData::read(Index first, Eigen::Ref<Matrix> block) const {
  const Index count = block.rows(), channels = samples_->cols();
  if (count == 0) return;
  if (hop_ >= window_) {
    // A row of the block is the window as it lies in the recording, so each is read straight to its place.
    for (Index i = 0; i < count; ++i)
      samples_->read(start(first + i), Eigen::Map<Matrix>(block.row(i).data(), window_, channels));
  } else {
    // Windows share samples: these are read once.
    Matrix stretch((count - 1) * hop_ + window_, channels);
    samples_->read(start(first), stretch);
    for (Index i = 0; i < count; ++i)
      std::copy_n(stretch.data() + i * hop_ * channels, window_ * channels, block.row(i).data());
  }
  require_finite(first, block);
}

void WindowData::require_finite(Index first, const Eigen::Ref<const Matrix>& block) const {
  if (block.allFinite()) return;
  for (Index i = 0; i < block.rows(); ++i)
    for (Index d = 0; d < block.cols(); ++d)
      if (!std::isfinite(block(i, d)) && !(gaps_ && std::isnan(block(i, d))))
        throw Error(name() + ": sample " + std::to_string(start(first + i) + d / channels()) + " of " +
                    Recording{.names = samples_->column_names()}.channel_name(d % channels()) +
                    " (samples from 0) is " +
                    (std::isnan(block(i, d)) ? "NaN; remove or replace such values first, or set missing to nan"
                                             : "infinite; remove or replace such values first"));
}

}  // namespace gsc
