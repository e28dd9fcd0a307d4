#include "io/inflate.h"

#define ZLIB_CONST  // input is const
#include <zlib.h>

#include <algorithm>
#include <limits>

namespace gsc {

std::optional<std::size_t> inflate_into(std::span<const std::byte> in, std::span<std::byte> out) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return {};
  // zlib counts in 32 bits, so both sides are handed over in pieces.
  constexpr std::size_t kPiece = std::numeric_limits<uInt>::max();
  std::size_t taken = 0;
  std::size_t made = 0;
  int status = Z_OK;
  while (status == Z_OK && made < out.size()) {
    const std::size_t input = std::min(kPiece, in.size() - taken);
    const std::size_t room = std::min(kPiece, out.size() - made);
    stream.next_in = reinterpret_cast<const Bytef*>(in.data() + taken);
    stream.avail_in = static_cast<uInt>(input);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + made);
    stream.avail_out = static_cast<uInt>(room);
    status = ::inflate(&stream, Z_NO_FLUSH);
    taken += input - stream.avail_in;
    made += room - stream.avail_out;
  }
  if (status == Z_OK) {  // `out` is full: a last step without room for output looks at the checksum, if it is next
    stream.next_in = reinterpret_cast<const Bytef*>(in.data() + taken);
    stream.avail_in = static_cast<uInt>(std::min(kPiece, in.size() - taken));
    stream.avail_out = 0;
    status = ::inflate(&stream, Z_NO_FLUSH);
  }
  inflateEnd(&stream);
  // Z_BUF_ERROR: the stream ended early. What it gave counts; whether that is enough only the caller knows.
  if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) return {};
  return made;
}

}  // namespace gsc
