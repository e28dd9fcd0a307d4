#pragma once
// Recordings of several channels as data: every data point is a window of consecutive samples.

#include <gsc/data.h>
#include <gsc/export.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gsc {

class Team;  // <gsc/team.h>

/// What the dimensions of a model of windows are. Dimension s * channels + c is sample s of channel c: the values of a
/// sample stand together, which is the shape window x 1 x channels.
struct GSC_EXPORT Recording {
  Index window = 0;                ///< samples of a data point, N
  Index hop = 0;                   ///< samples from the beginning of one window to that of the next
  Index channels = 0;              ///< C
  std::vector<std::string> names;  ///< of the channels; empty: nobody said
  double rate = 0;                 ///< samples a second; 0: nobody said

  Index dimensions() const { return window * channels; }
  /// What to call a channel: its name, or "channel 3" (from 1).
  std::string channel_name(Index channel) const;
};

/// The windows of a recording, one per row, cut out when they are asked for: nothing of their size is kept.
class GSC_EXPORT WindowData final : public Data {
 public:
  /// `samples` has a row for every sample and a column for every channel. Throws UsageError for a window or hop of 0,
  /// Error for a window longer than the recording. A window that is not complete at the end is left out. `gaps`: NaN is
  /// a sample that is missing (InferenceOptions::missing).
  WindowData(std::shared_ptr<const Data> samples, Index window, Index hop, bool gaps = false);

  Index rows() const override { return rows_; }
  Index cols() const override { return window_ * samples_->cols(); }
  /// Throws Error where a sample is not finite, nor missing, naming it and its channel.
  void read(Index first, Eigen::Ref<Matrix> block) const override;
  std::string name() const override { return samples_->name(); }
  bool root_only() const override { return samples_->root_only(); }
  bool random_access() const override { return samples_->random_access(); }

  Index window() const { return window_; }
  Index hop() const { return hop_; }
  Index channels() const { return samples_->cols(); }
  Index samples() const { return samples_->rows(); }
  /// The first sample of a window.
  Index start(Index row) const { return row * hop_; }
  /// Samples after the last window, too few for another.
  Index left_over() const { return samples_->rows() - start(rows_ - 1) - window_; }

 private:
  void require_finite(Index first, const Eigen::Ref<const Matrix>& block) const;

  std::shared_ptr<const Data> samples_;
  Index window_, hop_, rows_ = 0;
  bool gaps_;
};

/// That the first column of a table is no channel but the time.
struct TimeColumn {
  std::string name;  ///< as the header has it; may be empty
  double step = 0;   ///< by which it rises from row to row, in its own units; 0: it is not even, only its name tells
  double rate = 0;   ///< samples a second; 0: not known, as the column counts samples or is not even
};

/// Whether the first of several columns is the time: it rises evenly (each value within a tenth of a step of where it
/// should be; eight rows at least), or is called time, t, seconds, sample or the like. Reads no further than to the
/// first row that speaks against it.
GSC_EXPORT std::optional<TimeColumn> find_time(const Data& table);

/// The same on all ranks of a team, of a table that only the root may be able to read.
GSC_EXPORT std::optional<TimeColumn> find_time(const Data& table, Team& team);

/// A table without its first column.
GSC_EXPORT std::unique_ptr<Data> without_first_column(std::shared_ptr<const Data> table);

}  // namespace gsc
