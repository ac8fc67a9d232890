#pragma once
// How a kernel that breaks a rule stops the compiler. A rule about types is a static_assert whose text starts
// with `kaio:`. A rule about values is found while the kernel is traced, in a constant expression, and calls
// kernel_error: a call of it is not a constant, so the compiler stops, shows the message as its argument, and
// names the lines of the kernel that led there.

namespace kaio::dsl {

[[noreturn]] inline void this_kernel_cannot_be_compiled() { __builtin_trap(); }

constexpr void kernel_error(const char* message) {
  if (message != nullptr) this_kernel_cannot_be_compiled();
}

template <class...>
inline constexpr bool never = false;

}  // namespace kaio::dsl
