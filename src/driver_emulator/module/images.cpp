#include "driver_emulator/module/images.hpp"

#include "driver_emulator/module/linked_text.hpp"
#include "driver_emulator/state/entry.hpp"
#include "host/system/files.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace kaio::driver_emulator {
namespace {

constexpr std::uint32_t wrapper_magic = 0x466243b1;
constexpr std::size_t magic_bytes = 4;
constexpr std::string_view machine_code =
    "\x7f"
    "ELF";

// What nvcc links into a program for each fat binary. After separate compilation `image` is what the device linker
// made, machine code alone, and `parts` are the fat binaries of the single files up to a null.
struct fat_wrapper {
  std::uint32_t magic, version;
  const std::byte* image;
  const std::byte* const* parts;
};
constexpr std::uint32_t version_with_parts = 2;

[[noreturn]] void refuse_image(const image_error& e) {
  if (e.fault() == image_fault::malformed) refuse(CUDA_ERROR_INVALID_IMAGE);
  std::fprintf(stderr, "kaio: the image cannot be run by the emulator: %s\n", e.what());
  refuse(CUDA_ERROR_NO_BINARY_FOR_GPU);
}

std::string checked_text(std::string_view text) {
  const auto is_text = [](char c) {
    return c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v' ||
           static_cast<unsigned char>(c) >= ' ';
  };
  require(!text.empty() && std::all_of(text.begin(), text.end(), is_text), CUDA_ERROR_INVALID_IMAGE);
  return std::string(text);
}

std::string_view text_in(image_bytes image) {
  const std::string_view all(reinterpret_cast<const char*>(image.data()), image.size());
  return all.substr(0, all.find('\0'));
}

bool is_wrapper(image_bytes image) {
  return image.size() >= magic_bytes && std::memcmp(image.data(), &wrapper_magic, magic_bytes) == 0;
}

// The first four bytes in memory, or fewer: a text may end in any of them with a zero. No container has a zero there.
image_bytes magic_in_memory(const std::byte* at) {
  return {at, strnlen(reinterpret_cast<const char*>(at), magic_bytes)};
}

// An image that begins in memory at `at`.
image_bytes bytes_in_memory(const std::byte* at) {
  const image_bytes magic = magic_in_memory(at);
  if (is_fat_binary(magic)) return {at, bytes_of_fat_binary({at, fat_header_bytes})};
  if (text_in(magic) == machine_code) return magic;
  return {at, strnlen(reinterpret_cast<const char*>(at), most_image_bytes)};
}

fat_wrapper wrapper_in_memory(const std::byte* at) {
  fat_wrapper w{};
  std::memcpy(&w, at, sizeof w);
  require(w.image != nullptr && is_fat_binary(magic_in_memory(w.image)), CUDA_ERROR_INVALID_IMAGE);
  return w;
}

// Kernels that launch kernels call these functions of the device runtime, which is machine code alone.
bool launches_kernels(const std::string& text) {
  return text.find("cudaLaunchDevice") != std::string::npos || text.find("cudaCDP2") != std::string::npos;
}

// The PTX of separately compiled files, linked. A part without PTX for the device is left out: the others may do
// without it, as without the device runtime, which nvcc links always.
std::string ptx_of_parts(const std::byte* const* parts, unsigned newest_sm) {
  std::vector<std::string> texts;
  for (; *parts != nullptr; ++parts) {
    try {
      texts.push_back(ptx_of_fat_binary(bytes_in_memory(*parts), newest_sm));
    } catch (const image_error& e) {
      if (e.fault() == image_fault::malformed) throw;
    }
  }
  if (texts.empty())
    throw image_error(
        image_fault::not_for_this_device,
        "it was compiled separately, and no file has PTX for this device; compile with nvcc -gencode "
        "arch=compute_NN,code=compute_NN");
  if (std::any_of(texts.begin(), texts.end(), launches_kernels))
    throw image_error(
        image_fault::not_for_this_device,
        "its kernels launch kernels (dynamic parallelism), which the emulator does not support");
  return linked_text(texts);
}

}  // namespace

std::string ptx_of_image(image_bytes image, unsigned newest_sm) {
  try {
    require(!is_wrapper(image), CUDA_ERROR_INVALID_IMAGE);
    if (is_fat_binary(image)) return ptx_of_fat_binary(image, newest_sm);
    if (text_in(image).starts_with(machine_code))
      throw image_error(
          image_fault::not_for_this_device,
          "it is machine code of a GPU; compile with nvcc -ptx, or NVRTC for compute_NN and take nvrtcGetPTX");
    return checked_text(text_in(image));
  } catch (const image_error& e) {
    refuse_image(e);
  }
}

std::string ptx_of_memory(const void* image, unsigned newest_sm) {
  linked_image linked = ptx_of_linked_image(image, newest_sm);
  if (linked.refusal.empty()) return std::move(linked.ptx);
  refuse_image(image_error(image_fault::not_for_this_device, linked.refusal.c_str()));
}

linked_image ptx_of_linked_image(const void* image, unsigned newest_sm) {
  const auto* at = static_cast<const std::byte*>(image);
  const bool wrapped = is_wrapper(magic_in_memory(at));
  try {
    if (!wrapped) return {ptx_of_image(bytes_in_memory(at), newest_sm), {}};
    const fat_wrapper w = wrapper_in_memory(at);
    if (w.version == version_with_parts && w.parts != nullptr && *w.parts != nullptr)
      return {ptx_of_parts(w.parts, newest_sm), {}};
    return {ptx_of_fat_binary(bytes_in_memory(w.image), newest_sm), {}};
  } catch (const image_error& e) {
    if (e.fault() == image_fault::not_for_this_device) return {{}, e.what()};
    refuse_image(e);
  }
}

std::string ptx_of_file(const char* path, unsigned newest_sm) {
  const std::string contents = read_image(path);
  return ptx_of_image(std::as_bytes(std::span(contents)), newest_sm);
}

std::string read_image(const char* path) {
  struct close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, close> file(host::open_to_read(path));
  require(file != nullptr, CUDA_ERROR_FILE_NOT_FOUND);
  std::string contents;
  std::array<char, 65536> piece;
  while (const std::size_t count = std::fread(piece.data(), 1, piece.size(), file.get())) {
    require(count <= most_image_bytes - contents.size(), CUDA_ERROR_INVALID_IMAGE);
    contents.append(piece.data(), count);
  }
  require(std::ferror(file.get()) == 0, CUDA_ERROR_FILE_NOT_FOUND);
  require(!contents.empty(), CUDA_ERROR_INVALID_IMAGE);
  return contents;
}

}  // namespace kaio::driver_emulator
