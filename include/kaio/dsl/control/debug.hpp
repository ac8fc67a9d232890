#pragma once
// Looking into a running kernel. device_print writes a line as printf does; its format is checked against the types of
// its arguments while the kernel is compiled. If its condition is false, device_assert stops the kernel and reports the
// message, the C++ file and line, and the thread.
//
//   device_print(t, "x[%u] = %f\n", i, x[i]);
//   device_assert(t, i < n, "the index is inside");
//
// Printed text appears when the host waits for the stream. The device keeps it in a buffer of 1 MB; a full buffer loses
// its oldest text. kernel_options{.assertions = false} leaves assertions out.

#include <kaio/dsl/control/print_format.hpp>
#include <kaio/dsl/control/thread.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kaio::dsl {

namespace detail {

// The generic address of an array of the kernel.
constexpr value generic_address(tracer& t, modifier space, std::uint32_t array) {
  const form convert{opcode::cvta, in_order(space), ptx::type::u64, ptx::type::none, ptx::type::u64};
  return t.pure(convert, t.array_address(array, ptx::type::u64));
}
constexpr value generic_text(tracer& t, std::string_view text) {
  return generic_address(t, modifier::global, t.text_array(text));
}

// An argument after C's promotion: integers to at least 32 bits, floats to f64.
struct promoted {
  ptx::type type = ptx::type::none;
  value id = 0;
};
template <class A>
constexpr promoted promote(tracer& t, const A& argument) {
  constexpr ptx::type type = ptx_type<printed_type<A>>;
  const value v = lower(t, operand_node<printed_type<A>>(argument));
  if constexpr (ptx::is_floating(type)) return {ptx::type::f64, t.cast(ptx::type::f64, type, v)};
  return {tracer::register_type(type), v};
}

// Stores the arguments in memory of the thread, each at its own alignment; returns their generic address.
constexpr value store_arguments(tracer& t, const promoted* arguments, unsigned count) {
  std::uint32_t bytes = 0;
  for (unsigned k = 0; k < count; ++k) {
    const std::uint32_t size = ptx::size_of(arguments[k].type);
    bytes = ptx::aligned(bytes, size) + size;
  }
  const std::uint32_t buffer = t.argument_buffer(ptx::aligned(bytes, 8) / 8);
  std::uint32_t offset = 0;
  for (unsigned k = 0; k < count; ++k) {
    const std::uint32_t size = ptx::size_of(arguments[k].type);
    offset = ptx::aligned(offset, size);
    t.store({opcode::st, in_order(modifier::local)}, arguments[k].type, {0, offset, buffer}, arguments[k].id);
    offset += size;
  }
  return generic_address(t, modifier::local, buffer);
}

}  // namespace detail

// printf, for the threads that reach it. The lines of different threads come in any order. Conversions:
//   %d %i         i8 to i32; i64 with l or ll       %e %f %g %a %E %G %A   every float
//   %u %x %X %o   u8 to u32; u64 with l or ll       %c  8 bits, i32         %p  u64
template <class... A>
constexpr void device_print(const thread& t, print_format<std::type_identity_t<A>...> format,
                            const A&... arguments) {
  tracer& trace = t.trace();
  trace.statement(format.line(), format.file());
  if (format.fault() != nullptr) trace.fail(format.fault());
  if (trace.probing()) return see_operands(trace, arguments...);
  detail::promoted values[sizeof...(A) + 1] = {};
  unsigned count = 0;
  ((values[count++] = detail::promote(trace, arguments)), ...);
  const value text = detail::generic_text(trace, format.text());
  const value from =
      count == 0 ? trace.constant(ptx::type::u64, 0) : detail::store_arguments(trace, values, count);
  trace.begin(opcode::call_vprintf, 0, ptx::type::none);
  trace.use(text);
  trace.use(from);
}

// Stops the kernel with an error if the condition is false in a thread that reaches it.
template <device C, std::size_t N>
constexpr void device_assert(const thread& t, const C& condition, const char (&message)[N],
                             std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  static_assert(std::is_same_v<element<C>, bool>, "kaio: device_assert takes a condition; write x != 0");
  using enum ptx::type;
  tracer& trace = t.trace();
  trace.statement(line, file);
  if (!trace.assertions) return;
  const value holds = lower(trace, condition.node());
  if (trace.probing()) return;
  if (trace.is_constant(holds) && trace.bits_of(holds) != 0) return;
  const std::uint32_t after = trace.new_label();
  trace.branch_if(trace.in_register(holds), false, after);
  trace.enter_scope();
  const value text = detail::generic_text(trace, {message, N - 1});
  const value source = detail::generic_text(trace, file);
  const value function = detail::generic_text(trace, trace.kernel_name);
  trace.begin(opcode::call_assertfail, 0, none);
  trace.use(text);
  trace.use(source);
  trace.use(trace.constant(u32, line));
  trace.use(function);
  trace.use(trace.constant(u64, 1));  // bytes of a character
  trace.leave_scope();
  trace.place(after);
}

}  // namespace kaio::dsl
