#include "driver_emulator/module/inflate.hpp"

#include "host/system/library.hpp"

namespace kaio::driver_emulator {
namespace {

// A cursor that cannot leave the block.
class block {
 public:
  explicit block(std::span<const std::byte> from) : rest_(from) {}

  bool empty() const { return rest_.empty(); }
  std::optional<std::size_t> byte() {
    if (rest_.empty()) return std::nullopt;
    const auto value = std::to_integer<std::size_t>(rest_.front());
    rest_ = rest_.subspan(1);
    return value;
  }
  std::optional<std::size_t> two_bytes() {
    const std::optional<std::size_t> low = byte(), high = byte();
    return low && high ? std::optional(*low | *high << 8) : std::nullopt;
  }
  // A length: four bits of a token. If all four are set, bytes follow that are added, up to the first that is not 255.
  std::optional<std::size_t> length(std::size_t bits) {
    if (bits != 15) return bits;
    for (std::size_t all = bits;;) {
      const std::optional<std::size_t> more = byte();
      if (!more) return std::nullopt;
      all += *more;
      if (*more != 255) return all;
    }
  }
  std::optional<std::span<const std::byte>> take(std::size_t count) {
    if (count > rest_.size()) return std::nullopt;
    const std::span<const std::byte> taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

 private:
  std::span<const std::byte> rest_;
};

constexpr std::size_t most_expansion = 255;  // an LZ4 block never grows by more
constexpr std::size_t shortest_match = 4;

// From the system's library, which stays open: programs that end may still call the driver. Null: there is none.
using decompress_function = std::size_t (*)(void*, std::size_t, const void*, std::size_t);
decompress_function zstandard() {
  static const auto function = [] {
#if defined(_WIN32)
    constexpr const char* name = "libzstd.dll";
#else
    constexpr const char* name = "libzstd.so.1";
#endif
    std::string reason;
    void* const library = host::open_library(name, reason);
    return reinterpret_cast<decompress_function>(
        library == nullptr ? nullptr : host::find_symbol(library, "ZSTD_decompress"));
  }();
  return function;
}

}  // namespace

std::optional<std::string> inflate_lz4(std::span<const std::byte> from, std::size_t plain) {
  if (plain / most_expansion > from.size()) return std::nullopt;
  std::string to;
  to.reserve(plain);
  for (block b(from); !b.empty();) {
    const std::size_t token = b.byte().value_or(0);
    const std::optional<std::size_t> literals = b.length(token >> 4);
    if (!literals || *literals > plain - to.size()) return std::nullopt;
    const std::optional<std::span<const std::byte>> text = b.take(*literals);
    if (!text) return std::nullopt;
    to.append(reinterpret_cast<const char*>(text->data()), text->size());
    if (b.empty()) break;  // the last sequence is literals alone
    const std::optional<std::size_t> back = b.two_bytes(), repeated = b.length(token & 15);
    if (!back || !repeated || *back == 0 || *back > to.size()) return std::nullopt;
    if (*repeated + shortest_match > plain - to.size()) return std::nullopt;
    // A match may overlap what it makes: its bytes are copied one by one.
    for (std::size_t i = 0; i < *repeated + shortest_match; ++i) to.push_back(to[to.size() - *back]);
  }
  if (to.size() != plain) return std::nullopt;
  return to;
}

bool has_zstandard() { return zstandard() != nullptr; }

std::optional<std::string> inflate_zstandard(std::span<const std::byte> from, std::size_t plain) {
  const decompress_function decompress = zstandard();
  if (decompress == nullptr) return std::nullopt;
  std::string to(plain, '\0');
  if (decompress(to.data(), to.size(), from.data(), from.size()) != plain) return std::nullopt;
  return to;
}

}  // namespace kaio::driver_emulator
