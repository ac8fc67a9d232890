#pragma once
// How a kernel that breaks a rule stops the compiler. A rule about types is a static_assert whose text starts
// with `kaio:`. A rule about values is checked while the kernel is traced. tracer::fail keeps the message and
// the line as data, and the trace ends; kernel/report.hpp makes a static_assert of them. Without a tracer,
// kernel_error ends the constant expression: a call of it is no constant, so the compiler stops. It shows the
// message as the argument, and names the lines of the kernel that led there.

#include <kaio/ptx/standard.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::dsl {

// The first rule that a kernel breaks.
struct kernel_fault {
  const char* message = nullptr;  // null: none is broken
  const char* file = nullptr;
  std::uint32_t line = 0;  // 0: unknown
};

[[noreturn]] inline void this_kernel_cannot_be_compiled() { __builtin_trap(); }

// The handler of a broken rule if a kernel is traced while a program runs; called with the message.
inline void (*broken_rule)(const char* message) = nullptr;

constexpr void kernel_error(const char* message) {
  if (message == nullptr) return;
  if (!std::is_constant_evaluated() && broken_rule != nullptr) broken_rule(message);
  this_kernel_cannot_be_compiled();
}

template <class...>
inline constexpr bool never = false;

}  // namespace kaio::dsl
