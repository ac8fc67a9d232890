#pragma once
// A random program as data: a generator makes it, an interpreter of the host runs it, the language traces it,
// and a listing shows it. All threads of one block run it; threads meet at its exchanges alone.
//
//   const program p = generate(seed, number);
//   const contents want = run_on_host(p, make_inputs(p));

#include "tests/random/host.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace kaio::tests::random {

enum class element : std::uint8_t { i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, boolean };
inline constexpr std::uint32_t numbers = 12;  // those before boolean

constexpr bool is_signed(element t) { return t <= element::i64; }
constexpr bool is_integer(element t) { return t <= element::u64; }
constexpr bool is_floating(element t) { return t >= element::f16 && t <= element::f64; }

// Calls f with std::type_identity of a number's type.
template <class F>
decltype(auto) with_type(element t, F&& f) {
  switch (t) {
    case element::i8: return f(std::type_identity<kaio::i8>{});
    case element::i16: return f(std::type_identity<kaio::i16>{});
    case element::i32: return f(std::type_identity<kaio::i32>{});
    case element::i64: return f(std::type_identity<kaio::i64>{});
    case element::u8: return f(std::type_identity<kaio::u8>{});
    case element::u16: return f(std::type_identity<kaio::u16>{});
    case element::u32: return f(std::type_identity<kaio::u32>{});
    case element::u64: return f(std::type_identity<kaio::u64>{});
    case element::f16: return f(std::type_identity<kaio::f16>{});
    case element::bf16: return f(std::type_identity<kaio::bf16>{});
    case element::f32: return f(std::type_identity<kaio::f32>{});
    default: return f(std::type_identity<kaio::f64>{});
  }
}

inline std::size_t size_of(element t) {
  return with_type(t, []<class T>(std::type_identity<T>) { return sizeof(T); });
}

// The operation of an expression on its operands a, b, c, ... Those from `product_plus` on are one expression
// of the language, which may contract; operands of all others are values.
enum class op : std::uint8_t {
  literal,
  read,            // of the name
  convert,         // a, of another type; NaN becomes 1 where this is an integer
  from_condition,  // a, a condition
  add,
  sub,
  mul,
  quotient,
  remainder,
  bit_and,
  bit_or,
  bit_xor,
  minimum,
  maximum,
  mul_hi,
  add_sat,
  sub_sat,
  shift_left,      // by b & 63, a u32
  shift_right,     // by b & 63, a u32
  shift_left_by,   // by the number
  shift_right_by,  // by the number
  rotate_left,     // by the number
  neg,
  abs,
  sqrt,
  bit_not,
  brev,
  select,         // a, a condition, ? b : c
  product_plus,   // a * b + c
  plus_product,   // c + a * b
  product_minus,  // a * b - c
  minus_product,  // c - a * b
  two_products,   // a * b + c * d
  polynomial,     // (a * b + c) * d + e
  lesser,         // select(a < b, c + d, b)
  clamped,        // min(max(a, b), c)
  masked,         // (a & b) ^ c
  shifted_sum,    // (a << number) + b
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  both,
  either,
  negation,
};

struct expression {
  op what = op::literal;
  element type = element::u32;
  std::vector<expression> operands = {};
  std::uint32_t name = 0;
  std::int64_t whole = 0;  // of a literal, or the number of the operation
  double real = 0;         // of a floating literal
};

enum class action : std::uint8_t {
  bind,     // val name = a
  declare,  // var name = a
  assign,   // name = a
  add_to,
  sub_from,
  mul_by,
  or_with,
  shift_by,   // name >>= a, a u32
  store,      // output[thread + slot * threads] = a
  when,       // a; body, and where there is one, otherwise(): rest
  range,      // name counts from a to b by c in body
  rounds,     // the same, of all threads together: the body may hold exchanges
  loop,       // body, until it is left
  leave,      // break_if(a), of the loop that is `number` loops around the innermost
  skip,       // continue_if(a), of that loop
  call,       // val name = a function: parameters from all operands but the last; body; returns the last
  shuffle,    // val name = shfl_xor(source, number)
  rearrange,  // val name = what thread (number * i + 3) % threads has, by shared memory
  reduce,     // val name = the sum of the block, or where floating, the maximum
};

// A function's parameter: a val that holds the argument, or a var& to the caller's var, its operand.
struct parameter {
  std::uint32_t name = 0;
  element type = element::u32;
  bool is_var = false;
};

struct statement {
  action what = action::bind;
  element type = element::u32;
  std::uint32_t name = 0;
  std::vector<expression> operands = {};
  std::vector<statement> body = {};
  std::vector<statement> rest = {};
  std::uint32_t source = 0;                // of an exchange: a name
  std::uint32_t number = 0;                // store: the slot; leave, skip, exchanges: above
  std::uint32_t output = 0;                // store
  std::uint32_t copies = 1;                // range: unroll(copies); 0: unroll(); no_unroll: no_unroll()
  std::vector<parameter> parameters = {};  // call
};
inline constexpr std::uint32_t no_unroll = 0xffffffff;

inline constexpr std::uint32_t buffers = 3;  // of inputs, and of outputs

struct program {
  std::uint64_t seed = 0;
  std::uint32_t number = 0;
  bool contract = true;
  std::uint16_t target = 70;
  element inputs[buffers] = {};  // name k is the thread's element of input k
  element outputs[buffers] = {};
  std::uint32_t slots[buffers] = {};  // of `threads` elements, in each output
  std::uint32_t names = 0;
  std::vector<statement> body = {};

  std::string name() const { return "random_" + std::to_string(number); }
  // Whether a * b + c in one expression is one fma.
  bool fuses(element t) const { return is_floating(t) && contract && (t != element::bf16 || target >= 80); }
};

// The bytes of each buffer.
using contents = std::vector<std::vector<std::byte>>;

program generate(std::uint64_t seed, std::uint32_t number);
std::string listing(const program& p);

contents make_inputs(const program& p);
contents poisoned_outputs(const program& p);
contents run_on_host(const program& p, const contents& inputs);

// The first element that differs, or nothing.
std::string difference(const program& p, const contents& got, const contents& want);

}  // namespace kaio::tests::random
