// Hostile images: whatever a file or a sized image holds, the driver reads no byte after it, follows no pointer
// in it, and answers with the result of a broken image.

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "driver_emulator/fat_binary.hpp"
#include "driver_emulator/support.hpp"
#include "host/system/memory.hpp"
#include "host/system/process.hpp"

using namespace driver_emulator_test;

namespace {

const std::string text = ptx(".visible .entry empty()\n{\n  ret;\n}\n");

// Bytes whose last one is the last before addresses that may not be read. One at a time exists.
class fenced {
 public:
  explicit fenced(std::string_view bytes) : size_(bytes.size()), data_(end() - size_) {
    REQUIRE(size_ <= room);
    std::memcpy(data_, bytes.data(), size_);
  }
  char* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t room = 65536;
  static char* end() {
    static kaio::host::shared_memory memory;
    static char* const begin = [] {
      auto* const at = static_cast<char*>(kaio::host::reserve_addresses(2 * room, room));
      REQUIRE(at != nullptr);
      REQUIRE(memory.show(at, memory.take(room), 0, room));
      return at;
    }();
    return begin + room;
  }
  std::size_t size_;
  char* data_;
};

// The bytes as an image with its length.
CUresult link_result(std::string_view bytes) {
  const fenced image(bytes);
  CUlinkState link = nullptr;
  MUST(cuLinkCreate_v2(0, nullptr, nullptr, &link));
  const CUresult result = cuLinkAddData_v2(link, CU_JIT_INPUT_FATBINARY, image.data(), image.size(), "image",
                                           0, nullptr, nullptr);
  MUST(cuLinkDestroy(link));
  return result;
}

struct file {
  std::string path;
  explicit file(std::string_view contents)
      : path((std::filesystem::temp_directory_path() /
              ("kaio_image_" + std::to_string(kaio::host::process_number())))
                 .string()) {
    std::ofstream(path, std::ios::binary) << contents;
  }
  ~file() { std::filesystem::remove(path); }
  file(const file&) = delete;
  file& operator=(const file&) = delete;
};

// Through each of the functions that read a file.
void check_file(std::string_view contents, CUresult expected) {
  const file f(contents);
  CUmodule m = nullptr;
  CHECK(cuModuleLoad(&m, f.path.c_str()) == expected);
  if (m != nullptr) MUST(cuModuleUnload(m));
  CUlibrary l = nullptr;
  CHECK(cuLibraryLoadFromFile(&l, f.path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0) == expected);
  if (l != nullptr) MUST(cuLibraryUnload(l));
  CUlinkState link = nullptr;
  MUST(cuLinkCreate_v2(0, nullptr, nullptr, &link));
  CHECK(cuLinkAddFile_v2(link, CU_JIT_INPUT_FATBINARY, f.path.c_str(), 0, nullptr, nullptr) == expected);
  MUST(cuLinkDestroy(link));
}

struct wrapper {
  std::uint32_t magic = wrapper_magic, version = 1;
  const void* image = nullptr;
  const void* more = nullptr;
};

std::string_view bytes_of(const wrapper& w) { return {reinterpret_cast<const char*>(&w), sizeof w}; }

}  // namespace

TEST_CASE("a fat binary is loaded from a file, plain and compressed") {
  const session s;
  check_file(fat_binary({{1, 80, text}}), CUDA_SUCCESS);
  check_file(fat_binary({lz4_member(80, text)}), CUDA_SUCCESS);
  check_file(fat_binary({{1, 80, text}}) + "what follows is not read", CUDA_SUCCESS);
  check_file(text, CUDA_SUCCESS);
  check_file(text + std::string(8, '\0') + "\x01\x02", CUDA_SUCCESS);
}

TEST_CASE("a wrapper holds a pointer, and is no file") {
  const session s;
  const std::string fat = fat_binary({{1, 80, text}});
  wrapper w;
  w.image = reinterpret_cast<const void*>(std::uintptr_t{0x4141414141414141});
  check_file(bytes_of(w), CUDA_ERROR_INVALID_IMAGE);
  check_file(bytes_of(w).substr(0, 4), CUDA_ERROR_INVALID_IMAGE);
  w.image = fat.data();  // a good address is one that the file cannot know
  check_file(bytes_of(w), CUDA_ERROR_INVALID_IMAGE);
  CHECK(link_result(bytes_of(w)) == CUDA_ERROR_INVALID_IMAGE);
  CHECK(link_result(fat) == CUDA_SUCCESS);

  // In memory it is one level deep.
  CUmodule m = nullptr;
  MUST(cuModuleLoadData(&m, &w));
  MUST(cuModuleUnload(m));
  w.image = &w;
  REFUSED(cuModuleLoadFatBinary(&m, &w), CUDA_ERROR_INVALID_IMAGE);
  w.image = text.c_str();
  REFUSED(cuModuleLoadData(&m, &w), CUDA_ERROR_INVALID_IMAGE);
  w.image = nullptr;
  REFUSED(cuModuleLoadData(&m, &w), CUDA_ERROR_INVALID_IMAGE);
}

TEST_CASE("headers that promise more than there is are refused") {
  const session s;
  const std::uint64_t million = 1 << 20, most = ~std::uint64_t{0};
  const std::string member = member_bytes({1, 70, text});
  check_file(fat_header(million, 65535), CUDA_ERROR_INVALID_IMAGE);  // nothing is left after the header
  check_file(fat_header(million) + member, CUDA_ERROR_INVALID_IMAGE);
  check_file(fat_header(most), CUDA_ERROR_INVALID_IMAGE);
  check_file(fat_header(0, 8), CUDA_ERROR_INVALID_IMAGE);
  check_file(fat_header(0), CUDA_ERROR_NO_BINARY_FOR_GPU);
  check_file("", CUDA_ERROR_INVALID_IMAGE);
  for (const std::uint64_t bytes : {million, most, most - 63, std::uint64_t{1} << 63}) {
    std::string lying = member;
    std::memcpy(lying.data() + 8, &bytes, sizeof bytes);
    check_file(fat_header(lying.size()) + lying, CUDA_ERROR_INVALID_IMAGE);
  }
  for (const std::uint32_t bytes : {0u, 63u, 1u << 20, ~0u})
    check_file(fat_binary({{1, 70, text, plain_text, 0, bytes}}), CUDA_ERROR_INVALID_IMAGE);
  std::string compressed = fat_binary({lz4_member(70, text)});
  compressed[16 + 16 + 3] = '\x7f';  // of the length of the compressed bytes
  check_file(compressed, CUDA_ERROR_INVALID_IMAGE);
}

TEST_CASE("a compressed member makes as many bytes as its header states, from its own") {
  const session s;
  const auto load = [](const std::string& block, std::uint64_t plain, std::uint64_t how = lz4) {
    return link_result(fat_binary({{1, 70, block, how, plain}}));
  };
  const std::string whole = lz4_block("abcdefgh", 8, 40, "end");
  CHECK(load(whole, 51) == CUDA_SUCCESS);
  CHECK(load(whole, 50) == CUDA_ERROR_INVALID_IMAGE);
  CHECK(load(whole, 52) == CUDA_ERROR_INVALID_IMAGE);
  CHECK(load(whole, 0) == CUDA_ERROR_INVALID_IMAGE);
  CHECK(load(lz4_block("abcdefgh", 9, 40, "end"), 51) == CUDA_ERROR_INVALID_IMAGE);  // before the beginning
  CHECK(load(lz4_block("abcdefgh", 0, 40, "end"), 51) == CUDA_ERROR_INVALID_IMAGE);
  CHECK(load(std::string(4096, '\xff'), 1 << 20) == CUDA_ERROR_INVALID_IMAGE);  // lengths that never end
  CHECK(load("\xf0", 15) == CUDA_ERROR_INVALID_IMAGE);
  CHECK(load(whole, std::uint64_t{1} << 29) == CUDA_ERROR_INVALID_IMAGE);  // and no such memory is taken
  CHECK(load(whole, ~std::uint64_t{0}) == CUDA_ERROR_INVALID_IMAGE);
  CHECK(load(whole, 51, zstandard) != CUDA_SUCCESS);
  CHECK(load(whole, std::uint64_t{1} << 29, zstandard) == CUDA_ERROR_INVALID_IMAGE);
}

TEST_CASE("no byte after a cut or changed image is read") {
  const session s;
  for (const std::string& whole : {fat_binary({{1, 75, text},
                                               {2, 90,
                                                "\x7f"
                                                "ELF"}}),
                                   fat_binary({lz4_member(70, text)})}) {
    for (std::size_t size = 4; size < whole.size(); ++size)
      CHECK(link_result(std::string_view(whole).substr(0, size)) == CUDA_ERROR_INVALID_IMAGE);
    std::mt19937 random(14);
    for (int i = 0; i < 200; ++i) {
      std::string changed = whole;
      for (std::size_t n = random() % 3 + 1; n > 0; --n) {
        const std::size_t at = random() % (random() % 2 == 0 ? std::size_t{96} : changed.size());
        changed[at] = static_cast<char>(random() % 2 == 0 ? random() : changed[at] ^ 1 << random() % 8);
      }
      const CUresult result = link_result(changed);
      const bool expected = result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_IMAGE ||
                            result == CUDA_ERROR_NO_BINARY_FOR_GPU;
      CHECK(expected);
    }
  }
}

TEST_CASE("what is no file of code is refused") {
  const session s;
  CUmodule m = nullptr;
  REFUSED(cuModuleLoad(&m, "/nonexistent/kernel.fatbin"), CUDA_ERROR_FILE_NOT_FOUND);
  REFUSED(cuModuleLoad(&m, std::filesystem::temp_directory_path().string().c_str()),
          CUDA_ERROR_FILE_NOT_FOUND);
  REFUSED(cuModuleLoad(&m, nullptr), CUDA_ERROR_INVALID_VALUE);
#if !defined(_WIN32)
  REFUSED(cuModuleLoad(&m, "/dev/null"), CUDA_ERROR_INVALID_IMAGE);
#endif
  check_file(
      "\x7f"
      "ELF\x02\x01\x01",
      CUDA_ERROR_NO_BINARY_FOR_GPU);
  check_file(std::string(64, '\x01'), CUDA_ERROR_INVALID_IMAGE);
  CHECK(m == nullptr);
}
