#pragma once
// What the runtime's files need of a stream beyond its public face.

#include <kaio/runtime/error.hpp>
#include <kaio/runtime/stream.hpp>

#include <string_view>

#include "runtime/base/text.hpp"
#include "runtime/context.hpp"

namespace kaio::runtime::detail {

class stream_access {
 public:
  static const context_ref& owner(const stream& s) noexcept { return s.context_; }
  static backend::native_stream native(const stream& s) noexcept { return s.native_; }
  // Whether the stream runs nothing.
  static bool is_loading(const stream& s) noexcept { return s.kind_ == stream::kind::loading; }
};

[[noreturn]] inline void throw_null_stream(std::string_view operation) {
  throw invalid_argument(text(
      "kaio: ", operation,
      " on a null stream; it was default-constructed or moved from: use gpu.stream() or gpu.create_stream()"));
}

// The device of a stream. Throws invalid_argument: the stream is null.
inline context& device_of(const stream& s, std::string_view operation) {
  const context_ref& owner = stream_access::owner(s);
  if (!owner) [[unlikely]]
    throw_null_stream(operation);
  return *owner.get();
}

}  // namespace kaio::runtime::detail
