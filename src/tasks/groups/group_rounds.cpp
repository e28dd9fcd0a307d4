#include "tasks/groups/group_rounds.h"

#include "tasks/groups/group_bands.h"

namespace gsc {

void average_in(Picture& mean, const Picture& value, int count, int threads) {
  for (std::size_t c = 0; c < mean.channels.size(); ++c)
    average_in(value.channels[c], count, mean.channels[c], nullptr, threads);
}

void filter_in_rounds(const Picture& noisy, double noise, const GroupOptions& options, int rounds, Picture& result,
                      const std::function<void()>& begin_round, const std::function<bool(double)>& go_on,
                      Picture* disagreement) {
  Picture pilot;  // where it is not the result so far
  for (int round = 1; round <= rounds; ++round) {
    if (begin_round) begin_round();
    const bool averaged = rounds > 3 && round > 2;
    Picture filtered = filter_groups(noisy, averaged && round > 3 ? pilot : result, noise, options, go_on,
                                     round == rounds ? disagreement : nullptr);
    if (averaged) {
      average_in(result, filtered, round - 1, options.threads);
      pilot = std::move(filtered);
    } else {
      result = std::move(filtered);
    }
  }
}

}  // namespace gsc
