// What mpi_test.cpp lets mpirun start: a team whose ranks meet, or fail in the way that the argument says.

#include <gsc/mpi.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "distributed/packing.h"

namespace gsc {
namespace {

void check(bool holds, const std::string& what) {
  if (!holds) throw Error("wrong: " + what);
}

/// `size` bytes that tell who made them.
Bytes pattern(int size, int seed) {
  Bytes bytes(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(i * 7 + i / 251 + 31U * unsigned(seed));
  return bytes;
}

void check_sum(Team& team) {
  const int ranks = team.size();
  team.sum(nullptr, 0);
  for (const Index count : {Index{1}, Index{5}, Index{100003}}) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = team.rank() + static_cast<double>(i);
    team.sum(values.data(), count);
    for (std::size_t i = 0; i < values.size(); ++i)
      check(values[i] == ranks * (ranks - 1) / 2.0 + ranks * static_cast<double>(i), "sum");
  }
  // Rounding depends on the order of the summands, but not on the rank.
  std::vector<double> thirds(1000);
  for (std::size_t i = 0; i < thirds.size(); ++i) thirds[i] = 1.0 / (3.0 + team.rank() + static_cast<double>(i));
  team.sum(thirds.data(), static_cast<Index>(thirds.size()));
  const Bytes mine = (Packer() << thirds).take();
  for (const Bytes& other : team.gather(mine)) check(other == mine, "all ranks have the same bits");
}

void check_letters(Team& team) {
  const int ranks = team.size(), me = team.rank();
  for (int from = 0; from < ranks; ++from)
    for (const int size : {0, 1, 3000001}) {
      const Bytes bytes = team.broadcast(me == from ? pattern(size, from) : pattern(11, 99), from);
      check(bytes == pattern(size, from), "broadcast");
    }
  for (const int size : {0, 1000}) {  // the root has nothing, the others have more and more
    const std::vector<Bytes> all = team.gather(pattern(size * me, me));
    check(static_cast<int>(all.size()) == ranks, "number of letters gathered");
    for (int r = 0; r < ranks; ++r) check(all[static_cast<std::size_t>(r)] == pattern(size * r, r), "gather");
  }
  const auto letter = [&](int from, int to) { return pattern((from * ranks + to) % 5 * 70001, 10 * from + to); };
  for (int repeat = 0; repeat < 2; ++repeat) {
    std::vector<Bytes> outgoing;
    for (int to = 0; to < ranks; ++to) outgoing.push_back(letter(me, to));
    const std::vector<Bytes> incoming = team.exchange(std::move(outgoing));
    for (int from = 0; from < ranks; ++from)
      check(incoming[static_cast<std::size_t>(from)] == letter(from, me), "exchange");
  }
  const std::vector<Bytes> nothing = team.exchange(std::vector<Bytes>(static_cast<std::size_t>(ranks)));
  check(std::all_of(nothing.begin(), nothing.end(), [](const Bytes& bytes) { return bytes.empty(); }), "empty letters");
}

void check_memory(Team& team) {
  const auto size_of = [](int rank) { return Index{10000} * rank; };  // the root has none
  const auto memory = team.share(size_of(team.rank())), other = team.share(3);
  double* mine = memory->of(team.rank());
  for (int round = 1; round <= 3; ++round) {
    for (Index i = 0; i < size_of(team.rank()); ++i) mine[i] = round * 1000000.0 * team.rank() + static_cast<double>(i);
    std::fill_n(other->of(team.rank()), 3, round + team.rank() / 8.0);
    memory->publish();
    other->publish();
    for (int r = 0; r < team.size(); ++r) {
      if (team.node(r) != team.node(team.rank())) continue;
      const double* theirs = memory->of(r);
      for (Index i = 0; i < size_of(r); ++i)
        check(theirs[i] == round * 1000000.0 * r + static_cast<double>(i), "shared memory");
      check(other->of(r)[2] == round + r / 8.0, "second shared memory");
    }
    memory->publish();  // all have read
    other->publish();
  }
}

void check_together(Team& team) {
  all_or_none(team, [] {});
  try {
    all_or_none(team, [&] {
      if (team.rank() == team.size() - 1) throw UsageError("the last one");
    });
  } catch (const UsageError& error) {
    check(std::string(error.what()) == "the last one", "message of a failure that was agreed on");
    return;
  }
  throw Error("wrong: a rank went on alone");
}

void run(const std::string& mode, MpiTeam& team) {
  double value = 1;
  if (mode == "throw-one") {
    if (team.rank() == 1) throw Error("rank 1 gives up");
    team.sum(&value, 1);
  } else if (mode == "throw-all") {
    throw Error("rank " + std::to_string(team.rank()) + " gives up");
  } else if (mode == "kill") {
    if (team.rank() == 1) raise(SIGKILL);
    team.sum(&value, 1);
  } else if (mode == "collectives") {
    check_sum(team);
    check_letters(team);
    check_memory(team);
    check_together(team);
  } else if (mode == "threads") {
    std::printf("%d threads\n", team.threads());
  } else {
    throw Error("unknown mode " + mode);
  }
}

}  // namespace
}  // namespace gsc

int main(int argc, char** argv) {
  gsc::MpiTeam team;
  int code = 0;
  std::string message;
  try {
    gsc::run(argc > 1 ? argv[1] : "", team);
  } catch (const std::exception& error) {
    code = 1;
    message = error.what();
  }
  return team.finish(code, message);
}
