#include "driver_emulator/module/images.hpp"

#include "driver_emulator/state/entry.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <vector>

namespace kaio::driver_emulator {
namespace {

constexpr std::uint32_t wrapper_magic = 0x466243b1, fat_magic = 0xba55ed50;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;  // of one image; more is no image

// What is at the beginning of a fat binary, and of each of its members.
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
  std::uint64_t name[1];
  std::uint64_t flags;
  std::uint64_t reserved;
  std::uint64_t plain_bytes;
};
constexpr std::uint16_t kind_ptx = 1;
constexpr std::uint64_t flag_lz4 = 0x2000, flag_zstandard = 0x8000;

template <class Header>
Header read_header(const unsigned char* from) {
  Header h;
  std::memcpy(&h, from, sizeof h);
  return h;
}

[[noreturn]] void refuse_image(const char* why) {
  std::fprintf(stderr, "kaio: the image cannot be run by the emulator: %s\n", why);
  refuse(CUDA_ERROR_NO_BINARY_FOR_GPU);
}

// The LZ4 block format. Empty: the bytes are not such a block.
std::string inflate_lz4(const unsigned char* from, std::size_t bytes, std::size_t plain) {
  std::string to;
  to.reserve(plain);
  const unsigned char* const end = from + bytes;
  const auto length = [&](std::size_t start) {
    std::size_t all = start;
    if (start != 15) return all;
    while (from != end) {
      const unsigned char more = *from++;
      all += more;
      if (more != 255) break;
    }
    return all;
  };
  while (from != end && to.size() < plain) {
    const unsigned char token = *from++;
    const std::size_t literals = length(token >> 4);
    if (literals > static_cast<std::size_t>(end - from)) return {};
    to.append(reinterpret_cast<const char*>(from), literals);
    from += literals;
    if (to.size() >= plain || end - from < 2) break;
    const std::size_t back = from[0] | (static_cast<std::size_t>(from[1]) << 8);
    from += 2;
    const std::size_t repeated = length(token & 15) + 4;
    if (back == 0 || back > to.size() || repeated > most_bytes) return {};
    for (std::size_t i = 0; i < repeated; ++i) to.push_back(to[to.size() - back]);
  }
  return to.size() == plain ? to : std::string{};
}

// Zstandard is left to its own library, where there is one.
std::string inflate_zstandard(const unsigned char* from, std::size_t bytes, std::size_t plain) {
  using decompress = std::size_t (*)(void*, std::size_t, const void*, std::size_t);
  static void* const zstandard = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
  const auto call =
      zstandard != nullptr ? reinterpret_cast<decompress>(dlsym(zstandard, "ZSTD_decompress")) : nullptr;
  if (call == nullptr)
    refuse_image(
        "its PTX is compressed, and libzstd.so.1 is not installed; install it, or compile with nvcc --no-compress");
  std::string to(plain, '\0');
  return call(to.data(), to.size(), from, bytes) == plain ? to : std::string{};
}

std::string text_of(const member_header& h, const unsigned char* payload) {
  require(h.plain_bytes <= most_bytes && h.bytes <= most_bytes, CUDA_ERROR_INVALID_IMAGE);
  std::string text;
  if ((h.flags & flag_zstandard) != 0)
    text = inflate_zstandard(payload, h.compressed_bytes, h.plain_bytes);
  else if ((h.flags & flag_lz4) != 0)
    text = inflate_lz4(payload, h.compressed_bytes, h.plain_bytes);
  else
    text.assign(reinterpret_cast<const char*>(payload), h.bytes);
  require(!text.empty(), CUDA_ERROR_INVALID_IMAGE);
  text.resize(std::strlen(text.c_str()));
  return text;
}

// The members of a fat binary follow each other.
std::string ptx_of_fat_binary(const unsigned char* image, unsigned newest_sm) {
  const auto header = read_header<fat_header>(image);
  require(header.header_bytes >= sizeof header && header.bytes <= most_bytes, CUDA_ERROR_INVALID_IMAGE);
  const unsigned char* at = image + header.header_bytes;
  std::uint64_t left = header.bytes;
  const unsigned char* best = nullptr;
  member_header chosen{};
  bool machine_code = false;
  while (left >= sizeof(member_header)) {
    const auto member = read_header<member_header>(at);
    const std::uint64_t whole = member.header_bytes + member.bytes;
    require(member.header_bytes >= sizeof member && member.bytes <= left && whole <= left,
            CUDA_ERROR_INVALID_IMAGE);
    require(member.compressed_bytes <= member.bytes, CUDA_ERROR_INVALID_IMAGE);
    if (member.kind != kind_ptx) {
      machine_code = true;
    } else if (member.sm <= newest_sm && (best == nullptr || member.sm > chosen.sm)) {
      best = at + member.header_bytes;
      chosen = member;
    }
    at += whole;
    left -= whole;
  }
  if (best != nullptr) return text_of(chosen, best);
  refuse_image(
      machine_code
          ? "it holds machine code of a GPU and no PTX for this device; compile with nvcc -gencode arch=compute_NN,code=compute_NN"
          : "it holds no PTX for this device");
}

}  // namespace

std::string ptx_of_image(const void* image, unsigned newest_sm) {
  const auto* bytes = static_cast<const unsigned char*>(image);
  // Text ends in a zero, so that no byte after it is read.
  if (std::memchr(bytes, 0, 4) == nullptr) {
    const auto magic = read_header<std::uint32_t>(bytes);
    if (magic == wrapper_magic) {
      const void* inside = nullptr;
      std::memcpy(&inside, bytes + 8, sizeof inside);
      require(inside != nullptr, CUDA_ERROR_INVALID_IMAGE);
      return ptx_of_image(inside, newest_sm);
    }
    if (magic == fat_magic) return ptx_of_fat_binary(bytes, newest_sm);
    if (std::memcmp(bytes,
                    "\x7f"
                    "ELF",
                    4) == 0)
      refuse_image("it is machine code of a GPU; compile with nvcc -ptx");
  }
  std::string text(static_cast<const char*>(image));
  const auto is_text = [](char c) {
    return c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v' ||
           static_cast<unsigned char>(c) >= ' ';
  };
  require(!text.empty() && std::all_of(text.begin(), text.end(), is_text), CUDA_ERROR_INVALID_IMAGE);
  return text;
}

std::string read_image(const char* file) {
  std::ifstream in(file, std::ios::binary);
  require(in.good(), CUDA_ERROR_FILE_NOT_FOUND);
  std::string contents{std::istreambuf_iterator<char>(in), {}};
  require(!in.bad(), CUDA_ERROR_FILE_NOT_FOUND);
  require(!contents.empty(), CUDA_ERROR_INVALID_IMAGE);
  return contents;
}

}  // namespace kaio::driver_emulator
