#pragma once
// Values as bytes and back, for ranks of one program on machines of one kind.

#include <gsc/export.h>
#include <gsc/team.h>

#include <string>
#include <type_traits>

namespace gsc {

class GSC_EXPORT Packer {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T> Packer& operator<<(const T& value) { return append(&value, sizeof value); }
  template <class T>
  requires std::is_trivially_copyable_v<T> Packer& operator<<(const std::vector<T>& values) {
    *this << values.size();
    return append(values.data(), values.size() * sizeof(T));
  }
  Packer& operator<<(const std::string& text) {
    *this << text.size();
    return append(text.data(), text.size());
  }
  Packer& operator<<(const Matrix& matrix) {
    *this << matrix.rows() << matrix.cols();
    return append(matrix.data(), static_cast<std::size_t>(matrix.size()) * sizeof(double));
  }
  Packer& operator<<(const Vector& vector) {
    *this << vector.size();
    return append(vector.data(), static_cast<std::size_t>(vector.size()) * sizeof(double));
  }
  Bytes take() { return std::move(bytes_); }

 private:
  Packer& append(const void* data, std::size_t size);
  Bytes bytes_;
};

class GSC_EXPORT Unpacker {
 public:
  explicit Unpacker(const Bytes& bytes) : bytes_(bytes) {}
  template <class T>
  requires std::is_trivially_copyable_v<T> Unpacker& operator>>(T& value) { return extract(&value, sizeof value); }
  template <class T>
  requires std::is_trivially_copyable_v<T> Unpacker& operator>>(std::vector<T>& values) {
    values.resize(next<std::size_t>());
    return extract(values.data(), values.size() * sizeof(T));
  }
  Unpacker& operator>>(std::string& text) {
    text.resize(next<std::size_t>());
    return extract(text.data(), text.size());
  }
  Unpacker& operator>>(Matrix& matrix) {
    const auto rows = next<Index>(), cols = next<Index>();
    matrix.resize(rows, cols);
    return extract(matrix.data(), static_cast<std::size_t>(matrix.size()) * sizeof(double));
  }
  Unpacker& operator>>(Vector& vector) {
    vector.resize(next<Index>());
    return extract(vector.data(), static_cast<std::size_t>(vector.size()) * sizeof(double));
  }
  template <class T>
  T next() {
    T value{};
    *this >> value;
    return value;
  }

 private:
  Unpacker& extract(void* data, std::size_t size);
  const Bytes& bytes_;
  std::size_t position_ = 0;
};

/// What make() gives on the root, on all ranks; if it throws there, all throw. Alone, nothing is packed.
template <class Make>
auto from_root(Team& team, const Make& make) {
  if (team.alone()) return make();
  Packer packer;
  all_or_none(team, [&] {
    if (team.root()) packer << make();
  });
  const Bytes bytes = team.broadcast(packer.take(), 0);
  return Unpacker(bytes).next<decltype(make())>();
}

/// outgoing[r] goes to rank r; returns what came from each rank.
template <class T>
GSC_EXPORT std::vector<std::vector<T>> exchange_lists(Team& team, const std::vector<std::vector<T>>& outgoing) {
  std::vector<Bytes> bytes;
  for (const auto& values : outgoing) bytes.push_back((Packer() << values).take());
  std::vector<std::vector<T>> incoming;
  for (const Bytes& from : team.exchange(std::move(bytes))) incoming.push_back(Unpacker(from).next<std::vector<T>>());
  return incoming;
}

}  // namespace gsc
