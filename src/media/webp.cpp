#include <webp/decode.h>
#include <webp/encode.h>
#include <webp/mux.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "io/file_error.h"
#include "media/codec.h"
#include "media/metadata.h"

namespace gsc::media {
namespace {

using Mux = std::unique_ptr<WebPMux, decltype(&WebPMuxDelete)>;

const char* words_for(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY:
      throw std::bad_alloc();
    case VP8_STATUS_BITSTREAM_ERROR:
      return "the coded pixels make no sense";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return "it uses features that libwebp does not know";
    default:
      return "libwebp cannot make sense of it";
  }
}

void require_decoded(const PictureBytes& file, VP8StatusCode status) {
  if (status == VP8_STATUS_NOT_ENOUGH_DATA) fail_cut_short(file);
  if (status != VP8_STATUS_OK) fail_damaged(file, words_for(status));
}

PictureMetadata metadata_of(const PictureBytes& file) {
  PictureMetadata metadata;
  const WebPData data{reinterpret_cast<const std::uint8_t*>(file.bytes.data()), file.size()};
  const Mux mux(WebPMuxCreate(&data, 0), &WebPMuxDelete);
  if (!mux) return metadata;  // the plainest files have nothing beside their pixels
  WebPData chunk;
  if (WebPMuxGetChunk(mux.get(), "ICCP", &chunk) == WEBP_MUX_OK) metadata.icc = copy_bytes(chunk.bytes, chunk.size);
  if (WebPMuxGetChunk(mux.get(), "EXIF", &chunk) == WEBP_MUX_OK) {
    constexpr std::size_t kPrefix = 6;  // of JPEG; some programs write it here, too
    const bool prefix = chunk.size >= kPrefix && std::memcmp(chunk.bytes, "Exif\0", kPrefix) == 0;
    metadata.exif = copy_bytes(chunk.bytes + (prefix ? kPrefix : 0), chunk.size - (prefix ? kPrefix : 0));
  }
  return metadata;
}

/// WebP has no grey pictures; those that are none the less shall be worked on as such.
Samples without_equal_colours(Samples samples) {
  const auto* value = reinterpret_cast<const std::uint8_t*>(samples.bytes.get());
  const Index pixels = samples.width * samples.height, step = samples.channels;
  for (Index i = 0; i < pixels; ++i)
    if (value[i * step] != value[i * step + 1] || value[i * step] != value[i * step + 2]) return samples;
  Samples grey(samples.width, samples.height, step - 2, samples.kind);
  auto* target = reinterpret_cast<std::uint8_t*>(grey.bytes.get());
  for (Index i = 0; i < pixels; ++i) {
    *target++ = value[i * step];
    if (step == 4) *target++ = value[i * step + 3];
  }
  return grey;
}

/// libwebp's picture and the bytes it makes.
struct Writer {
  Writer() {
    if (!WebPPictureInit(&picture) || !WebPConfigInit(&config)) throw std::bad_alloc();
    WebPMemoryWriterInit(&memory);
    picture.writer = WebPMemoryWrite;
    picture.custom_ptr = &memory;
  }
  ~Writer() {
    WebPPictureFree(&picture);
    WebPMemoryWriterClear(&memory);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  WebPPicture picture;
  WebPConfig config;
  WebPMemoryWriter memory;
};

std::vector<std::byte> with_metadata(const WebPMemoryWriter& memory, const PictureMetadata& metadata,
                                     const std::string& name) {
  if (metadata.icc.empty() && metadata.exif.empty()) return copy_bytes(memory.mem, memory.size);
  const Mux mux(WebPMuxNew(), &WebPMuxDelete);
  if (!mux) throw std::bad_alloc();
  const WebPData image{memory.mem, memory.size};
  WebPMuxError status = WebPMuxSetImage(mux.get(), &image, 0);
  const auto add = [&](const char* chunk, const std::vector<std::byte>& bytes) {
    const WebPData data{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
    if (!bytes.empty() && status == WEBP_MUX_OK) status = WebPMuxSetChunk(mux.get(), chunk, &data, 0);
  };
  add("ICCP", metadata.icc);
  add("EXIF", metadata.exif);
  WebPData whole{};
  if (status == WEBP_MUX_OK) status = WebPMuxAssemble(mux.get(), &whole);
  const std::unique_ptr<const std::uint8_t, void (*)(const std::uint8_t*)> owner(
      whole.bytes, [](const std::uint8_t* bytes) { WebPFree(const_cast<std::uint8_t*>(bytes)); });
  if (status != WEBP_MUX_OK) fail(name, "cannot be written as WebP: libwebpmux says {}", static_cast<int>(status));
  return copy_bytes(whole.bytes, whole.size);
}

}  // namespace

Decoded decode_webp(const PictureBytes& file) {
  // RIFF, length of what follows, WEBP, ...
  file.require(8, file.little_endian(4, 4));
  WebPDecoderConfig config;
  if (!WebPInitDecoderConfig(&config)) throw std::bad_alloc();
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(file.bytes.data());
  require_decoded(file, WebPGetFeatures(bytes, file.size(), &config.input));
  if (config.input.has_animation != 0) fail(file.name, "is an animation; take single frames of it first");
  require_plausible_size(file, static_cast<std::uint64_t>(config.input.width),
                         static_cast<std::uint64_t>(config.input.height));
  Samples samples(config.input.width, config.input.height, config.input.has_alpha != 0 ? 4 : 3, SampleKind::bits8);
  config.output.colorspace = samples.channels == 4 ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = reinterpret_cast<std::uint8_t*>(samples.bytes.get());
  config.output.u.RGBA.stride = static_cast<int>(samples.row_bytes());
  config.output.u.RGBA.size = samples.size();
  const VP8StatusCode status = WebPDecode(bytes, file.size(), &config);
  WebPFreeDecBuffer(&config.output);
  require_decoded(file, status);
  return {without_equal_colours(std::move(samples)), metadata_of(file)};
}

std::vector<std::byte> encode_webp(const Samples& samples, const PictureMetadata& metadata, const std::string& name) {
  Writer writer;
  writer.config.lossless = 1;
  writer.config.exact = 1;  // colours stay also where nobody sees them
  writer.picture.use_argb = 1;
  writer.picture.width = static_cast<int>(samples.width);
  writer.picture.height = static_cast<int>(samples.height);
  const auto* pixels = reinterpret_cast<const std::uint8_t*>(samples.bytes.get());
  const int stride = static_cast<int>(samples.row_bytes());
  const int taken = samples.channels == 4 ? WebPPictureImportRGBA(&writer.picture, pixels, stride)
                                          : WebPPictureImportRGB(&writer.picture, pixels, stride);
  if (taken == 0) throw std::bad_alloc();
  if (!WebPEncode(&writer.config, &writer.picture)) {
    if (writer.picture.error_code == VP8_ENC_ERROR_OUT_OF_MEMORY) throw std::bad_alloc();
    fail(name, "cannot be written as WebP: libwebp says {}", static_cast<int>(writer.picture.error_code));
  }
  return with_metadata(writer.memory, metadata, name);
}

}  // namespace gsc::media
