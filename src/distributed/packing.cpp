#include "distributed/packing.h"

#include <cstring>
#include <string>

namespace gsc {

Packer& Packer::append(const void* data, std::size_t size) {
  const std::size_t end = bytes_.size();
  bytes_.resize(end + size);
  if (size > 0) std::memcpy(bytes_.data() + end, data, size);
  return *this;
}

Unpacker& Unpacker::extract(void* data, std::size_t size) {
  const std::size_t left = bytes_.size() - position_;
  if (size > left)
    throw Error("ranks exchanged fewer bytes than they should have (" + std::to_string(size - left) +
                " bytes are missing); do all of them run the same version of gsc?");
  if (size > 0) std::memcpy(data, bytes_.data() + position_, size);
  position_ += size;
  return *this;
}

}  // namespace gsc
