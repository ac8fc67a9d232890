#pragma once
// Machine code for kernels, laid out as cmake/precompile.py does it. Tests put other bytes in its place.

#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/precompiled.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace kaio::tests {

struct precompiled_entry {
  ptx::text_hash text;
  std::uint32_t sm = 90, specific = 0;
  std::string stored;
  std::uint64_t size = 0;  // unpacked; 0: as stored
};

// Entries in ascending order of their hashes.
inline std::string precompiled_bytes(const std::vector<precompiled_entry>& entries) {
  std::string table = "kaiocode", data;
  const auto put = [&table](auto number) {
    table.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  put(std::uint32_t{1});
  put(static_cast<std::uint32_t>(entries.size()));
  const std::size_t begin = 16 + 48 * entries.size();
  for (const precompiled_entry& e : entries) {
    put(e.text.low);
    put(e.text.high);
    put(e.sm);
    put(e.specific);
    put(std::uint64_t{begin + data.size()});
    put(std::uint64_t{e.stored.size()});
    put(std::uint64_t{e.size == 0 ? e.stored.size() : e.size});
    data += e.stored;
  }
  return table + data;
}

// Adds a list while it lives.
class precompiled_scope {
 public:
  explicit precompiled_scope(std::string bytes) : bytes_(std::move(bytes)) {
    const auto* const begin = reinterpret_cast<const unsigned char*>(bytes_.data());
    kernels_ = {begin, begin + bytes_.size()};
    runtime::add_precompiled(kernels_);
  }
  explicit precompiled_scope(const std::vector<precompiled_entry>& entries)
      : precompiled_scope(precompiled_bytes(entries)) {}
  precompiled_scope(const precompiled_scope&) = delete;
  precompiled_scope& operator=(const precompiled_scope&) = delete;
  ~precompiled_scope() { runtime::remove_precompiled(kernels_); }

 private:
  std::string bytes_;
  runtime::precompiled_kernels kernels_;
};

}  // namespace kaio::tests
