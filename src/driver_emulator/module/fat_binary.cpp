#include "driver_emulator/module/fat_binary.hpp"

#include "driver_emulator/module/inflate.hpp"
#include "emulator/parse/parse_budget.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace kaio::driver_emulator {
namespace {

constexpr std::uint32_t fat_magic = 0xba55ed50;
constexpr std::uint64_t most_text_bytes = emulator::parse_budget{}.bytes;

// The headers of a fat binary and of each of its members.
struct fat_header {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes;  // after the header
};
struct member_header {
  std::uint16_t kind, version;
  std::uint32_t header_bytes;
  std::uint64_t bytes;  // after the header, padding included
  std::uint32_t compressed_bytes;
  std::uint32_t options;
  std::uint16_t minor, major;
  std::uint32_t sm;
  std::uint64_t name;
  std::uint64_t flags;
  std::uint64_t reserved;
  std::uint64_t plain_bytes;
};
static_assert(sizeof(fat_header) == fat_header_bytes && sizeof(member_header) == 64);
constexpr std::uint16_t kind_ptx = 1;
constexpr std::uint64_t flag_lz4 = 0x2000, flag_zstandard = 0x8000;

[[noreturn]] void malformed(const char* why) { throw image_error(image_fault::malformed, why); }
[[noreturn]] void not_for_this_device(const char* why) {
  throw image_error(image_fault::not_for_this_device, why);
}

template <class Header>
Header header_of(image_bytes from) {
  if (from.size() < sizeof(Header)) malformed("it ends within a header");
  Header h;
  std::memcpy(&h, from.data(), sizeof h);
  return h;
}

struct member {
  member_header header;
  image_bytes payload;
};

// Takes the first member off the bytes that are left.
member take_member(image_bytes& left) {
  const auto h = header_of<member_header>(left);
  if (h.header_bytes < sizeof h || h.header_bytes > left.size()) malformed("the header of a member is wrong");
  if (h.bytes > left.size() - h.header_bytes) malformed("a member is longer than the rest of the image");
  if (h.compressed_bytes > h.bytes) malformed("the compressed bytes of a member are more than its bytes");
  const image_bytes payload = left.subspan(h.header_bytes, h.bytes);
  left = left.subspan(h.header_bytes + h.bytes);
  return {h, payload};
}

std::string text_of(const member& m) {
  const member_header& h = m.header;
  std::optional<std::string> text;
  if ((h.flags & (flag_zstandard | flag_lz4)) != 0) {
    if (h.plain_bytes > most_text_bytes) malformed("a compressed text is longer than any that is parsed");
    const image_bytes compressed = m.payload.first(h.compressed_bytes);
    const bool by_zstandard = (h.flags & flag_zstandard) != 0;
    if (by_zstandard && !has_zstandard())
      not_for_this_device(
          "its PTX is compressed, and libzstd.so.1 is not installed; install it, or compile with nvcc --no-compress");
    text =
        by_zstandard ? inflate_zstandard(compressed, h.plain_bytes) : inflate_lz4(compressed, h.plain_bytes);
  } else {
    text.emplace(reinterpret_cast<const char*>(m.payload.data()), m.payload.size());
  }
  if (!text) malformed("a compressed text is damaged");
  text->resize(std::min(text->find('\0'), text->size()));
  if (text->empty()) malformed("its text is empty");
  return *std::move(text);
}

}  // namespace

bool is_fat_binary(image_bytes image) {
  std::uint32_t magic = 0;
  if (image.size() < sizeof magic) return false;
  std::memcpy(&magic, image.data(), sizeof magic);
  return magic == fat_magic;
}

std::size_t bytes_of_fat_binary(image_bytes header) {
  const auto h = header_of<fat_header>(header);
  if (h.magic != fat_magic || h.header_bytes < sizeof h) malformed("it does not begin as a fat binary");
  if (h.bytes > most_image_bytes - h.header_bytes) malformed("it is longer than an image may be");
  return h.header_bytes + static_cast<std::size_t>(h.bytes);
}

std::string ptx_of_fat_binary(image_bytes image, unsigned newest_sm) {
  const std::size_t whole = bytes_of_fat_binary(image);
  if (whole > image.size()) malformed("it ends before the length that its header states");
  image_bytes left = image.first(whole).subspan(header_of<fat_header>(image).header_bytes);
  std::optional<member> best;
  bool machine_code = false;
  while (left.size() >= sizeof(member_header)) {
    const member m = take_member(left);
    if (m.header.kind != kind_ptx)
      machine_code = true;
    else if (m.header.sm <= newest_sm && (!best || m.header.sm > best->header.sm))
      best = m;
  }
  if (best) return text_of(*best);
  not_for_this_device(
      machine_code
          ? "it holds machine code of a GPU and no PTX for this device; compile with nvcc -gencode arch=compute_NN,code=compute_NN"
          : "it holds no PTX for this device");
}

}  // namespace kaio::driver_emulator
