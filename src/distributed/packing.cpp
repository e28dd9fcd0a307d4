#include "distributed/packing.h"

#include <cstring>

namespace gsc {

Packer& Packer::append(const void* data, std::size_t size) {
  const std::size_t end = bytes_.size();
  bytes_.resize(end + size);
  if (size > 0) std::memcpy(bytes_.data() + end, data, size);
  return *this;
}

Unpacker& Unpacker::extract(void* data, std::size_t size) {
  if (size > bytes_.size() - position_) throw Error("ranks exchanged fewer bytes than they should have");
  if (size > 0) std::memcpy(data, bytes_.data() + position_, size);
  position_ += size;
  return *this;
}

}  // namespace gsc
