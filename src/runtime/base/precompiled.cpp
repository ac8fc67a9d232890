#include "runtime/base/precompiled.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string_view>
#include <tuple>

#include "host/constant_mutex.hpp"

#if defined(KAIO_HAS_ZLIB)
#include <zlib.h>
#endif

namespace kaio::runtime {

namespace {

// No function of this file needs an object that is constructed or destroyed.
constinit host::constant_mutex changing;
constinit precompiled_kernels* first = nullptr;

constexpr std::string_view magic = "kaiocode";
constexpr std::uint32_t layout = 1;
constexpr std::size_t header_bytes = 16;

struct entry {
  ptx::text_hash hash;
  std::uint32_t sm, specific;
  std::uint64_t offset, stored, size;
};
static_assert(sizeof(entry) == 48);

// The entries of one list of kernels, read within its bytes.
class code_list {
 public:
  explicit code_list(const precompiled_kernels& kernels)
      : begin_(kernels.begin), bytes_(static_cast<std::size_t>(kernels.end - kernels.begin)) {
    std::uint32_t numbers[2];
    if (bytes_ < header_bytes || std::memcmp(begin_, magic.data(), magic.size()) != 0) return;
    std::memcpy(numbers, begin_ + magic.size(), sizeof numbers);
    if (numbers[0] == layout && numbers[1] <= (bytes_ - header_bytes) / sizeof(entry)) count_ = numbers[1];
  }

  std::size_t count() const noexcept { return count_; }
  entry at(std::size_t i) const noexcept {
    entry e;
    std::memcpy(&e, begin_ + header_bytes + i * sizeof e, sizeof e);
    return e;
  }
  // The first entry that is not before this hash.
  std::size_t lower_bound(const ptx::text_hash& hash) const noexcept {
    std::size_t low = 0, high = count_;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      const ptx::text_hash there = at(middle).hash;
      if (std::tie(there.low, there.high) < std::tie(hash.low, hash.high))
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  // Its stored bytes; null where they are not within the list.
  const unsigned char* stored(const entry& e) const noexcept {
    return e.offset <= bytes_ && e.stored <= bytes_ - e.offset ? begin_ + e.offset : nullptr;
  }

 private:
  const unsigned char* begin_;
  std::size_t bytes_;
  std::size_t count_ = 0;
};

// Source: CUDA C++ Programming Guide, "Binary Compatibility".
bool runs(const entry& e, ptx::target device) noexcept {
  if (e.specific != 0) return device.arch_specific && e.sm == device.sm;
  return e.sm / 10 == device.sm / 10 && e.sm <= device.sm;
}

// Calls f(list, entry) with the best entry of all lists, if there is one. It holds the mutex, so that no library
// with a list is unmapped meanwhile.
template <class F>
void with_best(const ptx::text_hash& text, ptx::target device, const F& f) {
  const std::scoped_lock lock(changing);
  std::optional<entry> best;
  const precompiled_kernels* holder = nullptr;
  for (const precompiled_kernels* kernels = first; kernels != nullptr; kernels = kernels->next) {
    const code_list list(*kernels);
    for (std::size_t i = list.lower_bound(text); i < list.count(); ++i) {
      const entry e = list.at(i);
      if (!(e.hash == text)) break;
      if (!runs(e, device)) continue;
      if (!best || std::tie(e.specific, e.sm) > std::tie(best->specific, best->sm)) {
        best = e;
        holder = kernels;
      }
    }
  }
  if (best) f(code_list(*holder), *best);
}

// The code as the driver takes it; empty: it cannot be read.
std::string unpacked(const unsigned char* stored, const entry& e) {
  constexpr std::uint64_t most = std::uint64_t{1} << 28;
  if (stored == nullptr || e.size > most) return {};
  if (e.stored == e.size) return {reinterpret_cast<const char*>(stored), static_cast<std::size_t>(e.size)};
#if defined(KAIO_HAS_ZLIB)
  std::string image(static_cast<std::size_t>(e.size), '\0');
  auto length = static_cast<uLongf>(image.size());
  const int result =
      uncompress(reinterpret_cast<Bytef*>(image.data()), &length, stored, static_cast<uLong>(e.stored));
  if (result == Z_OK && length == image.size()) return image;
#endif
  return {};
}

}  // namespace

void add_precompiled(precompiled_kernels& kernels) noexcept {
  const std::scoped_lock lock(changing);
  kernels.next = first;
  first = &kernels;
}

void remove_precompiled(precompiled_kernels& kernels) noexcept {
  const std::scoped_lock lock(changing);
  for (precompiled_kernels** place = &first; *place != nullptr; place = &(*place)->next) {
    if (*place != &kernels) continue;
    *place = kernels.next;
    break;
  }
  kernels.next = nullptr;
}

std::optional<machine_code> find_precompiled(const ptx::text_hash& text, ptx::target device) {
  std::optional<machine_code> found;
  with_best(text, device, [&](const code_list& list, const entry& e) {
    std::string image = unpacked(list.stored(e), e);
    if (!image.empty()) found = {std::move(image), {static_cast<std::uint16_t>(e.sm), e.specific != 0}};
  });
  return found;
}

bool has_precompiled(const ptx::text_hash& text, ptx::target device) noexcept {
  bool found = false;
  with_best(text, device, [&](const code_list&, const entry&) { found = true; });
  return found;
}

}  // namespace kaio::runtime
