#pragma once
// How a kernel that breaks a rule stops the compiler. A rule about types is a static_assert whose text starts
// with `kaio:`. A rule about values is found while the kernel is traced, in a constant expression, and calls
// kernel_error: it is no constexpr function, so the compiler stops, shows the message and names the lines of
// the kernel that led there.

namespace kaio::dsl {

[[noreturn]] inline void kernel_error(const char*) { __builtin_trap(); }

template <class...>
inline constexpr bool never = false;

}  // namespace kaio::dsl
