#pragma once
// An instruction of PTX without a function in the language, given by its text. It is the last resort: functions of the
// language are checked further, and use other instructions if an architecture lacks one.
//
//   inline constexpr auto fns = ptx_op<"fns.b32", u32(u32, u32, i32), ptx_effect::pure,
//                                      ptx_since{.target = {70}, .version = {6, 0}}>;
//   val third = fns(mask, 0u, 3);
//
//   inline constexpr auto discard = ptx_op<"discard.global.L2 [$0], 128", void(ptx_global), ptx_effect::memory,
//                                          ptx_since{.target = {80}, .version = {7, 4}}>;
//   discard(t, x[i]);
//
// If it is pure and has one result, it is an expression, like an operator. Otherwise it is a statement: it takes the
// thread first, and is recorded where it is called.

#include <kaio/dsl/inline_ptx/operand.hpp>
#include <kaio/dsl/inline_ptx/signature.hpp>
#include <kaio/dsl/inline_ptx/text.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::dsl {

namespace detail {

// Records an instruction here; its results go to `results`.
constexpr void record_text(tracer& t, std::uint32_t text, ptx_effect effect, const ptx::type* types,
                           std::uint32_t result_count, value* results, const text_source* sources,
                           std::uint32_t source_count) {
  t.begin(effect == ptx_effect::pure ? opcode::text_pure : opcode::text, text, ptx::type::none);
  if (result_count != 1) t.add({operand_kind::pack, ptx::type::none, result_count, 0});
  for (std::uint32_t k = 0; k < result_count; ++k) results[k] = t.define(text_register(types[k]));
  for (std::uint32_t k = 0; k < source_count; ++k) {
    if (sources[k].is_address)
      t.add_address(sources[k].at);
    else
      t.use(sources[k].id);
  }
  for (std::uint32_t k = 0; k < result_count; ++k)
    if (is_widened(types[k])) results[k] = t.reinterpret(types[k], results[k]);
  if (effect == ptx_effect::barrier) t.barrier_passed(t.loop_depth());
}

// The value of a pure one with one result. With 1 to 4 operands, an equal instruction recorded before is shared.
constexpr value pure_text(tracer& t, std::uint32_t text, ptx::type type, const value* sources,
                          std::uint32_t source_count) {
  value result = 0;
  if (source_count >= 1 && source_count <= 4) {
    const form f{opcode::text_pure, text, ptx::type::none, ptx::type::none, text_register(type)};
    result = t.pure(f, sources[0], source_count > 1 ? sources[1] : 0, source_count > 2 ? sources[2] : 0,
                    source_count > 3 ? sources[3] : 0);
    return is_widened(type) ? t.reinterpret(type, result) : result;
  }
  text_source list[max_text_operands] = {};
  for (std::uint32_t k = 0; k < source_count; ++k) list[k].id = sources[k];
  record_text(t, text, ptx_effect::pure, &type, 1, &result, list, source_count);
  return result;
}

// The expression of a ptx_op.
template <class Operation, class T, class Nodes>
struct text_node : no_host_bool {
  using device_type = T;
  static constexpr bool bound = Nodes::bound;
  static constexpr bool reads_memory = Nodes::reads_memory;
  static constexpr bool is_product = false;
  static constexpr unsigned loads = Nodes::loads;
  Nodes nodes;

  constexpr const text_node& node() const { return *this; }
  constexpr tracer* context() const { return nodes.context(); }
  constexpr void load(tracer& t) const { nodes.load(t); }
  constexpr std::uint64_t hash() const { return nodes.hash() * hash_factor + Operation::number; }
  constexpr value lower(tracer& t) const { return Operation::lower_expression(t, nodes); }
};

// The thread, and the line of the call that passes it.
class text_place {
 public:
  template <is_thread Thread>
  constexpr text_place(const Thread& t, std::uint32_t line = __builtin_LINE(),
                       const char* file = __builtin_FILE())
      : trace_(&t.trace()), line_(line), file_(file) {}
  constexpr tracer& enter() const {
    trace_->statement(line_, file_);
    return *trace_;
  }

 private:
  tracer* trace_;
  std::uint32_t line_;
  const char* file_;
};

template <class... P>
constexpr std::uint64_t address_bits(std::uint32_t first) {
  std::uint64_t bits = 0;
  ((bits |= std::uint64_t{is_ptx_address<P>} << first++), ...);
  return bits;
}

}  // namespace detail

template <fixed_string Text, class Signature, ptx_effect Effect, ptx_since Since>
class ptx_operation {
  static_assert(
      never<Signature>,
      "kaio: the second argument of ptx_op is the type of a function: u32(u32, u32) has one result and two operands");
};

template <fixed_string Text, class R, class... P, ptx_effect Effect, ptx_since Since>
class ptx_operation<Text, R(P...), Effect, Since> {
  using results = detail::ptx_result_types<R>;
  static constexpr std::uint32_t source_count = sizeof...(P);
  static constexpr detail::text_operands operands{results::count, results::count + source_count,
                                                  detail::address_bits<P...>(results::count)};
  static constexpr bool has_global = (std::is_same_v<P, ptx_global> || ...);
  static constexpr bool has_shared = (std::is_same_v<P, ptx_shared> || ...);
  static constexpr detail::text_fault fault =
      detail::find_text_fault(Text.view(), operands, has_global, has_shared);

  static_assert(
      !fault.form,
      "kaio: the text of a ptx_op is one instruction without its semicolon, braces around it or a guard");
  static_assert(!fault.branches, "kaio: a ptx_op cannot branch; write t.when(condition), a loop or break_if");
  static_assert(!fault.is_wgmma,
                "kaio: wgmma is no ptx_op: it writes its registers later; write wgmma_batch(t, ...)");
  static_assert(!fault.is_too_long,
                "kaio: a ptx_op has at most 512 characters and 32 operands with its results");
  static_assert(
      !fault.results,
      "kaio: a ptx_op with several results names its operands, as match.all.sync.b32 $0|$1, $2, $3 does");
  static_assert(
      !fault.number,
      "kaio: the text of a ptx_op names an operand that its signature does not have; $0 is the first result; without results, the first operand");
  static_assert(!fault.unused,
                "kaio: the text of a ptx_op does not name all results and operands: $0, $1, ...");
  static_assert(!fault.brackets, "kaio: an address is in brackets in the text of a ptx_op: [$1]");
  static_assert(
      !fault.space,
      "kaio: a ptx_global is for an instruction with .global in its name, a ptx_shared for one with .shared");
  static_assert(
      results::are_numbers && ((detail::is_ptx_number<P> || detail::is_ptx_address<P>)&&...),
      "kaio: a ptx_op takes and gives bool and numbers of 16, 32 and 64 bits, and takes ptx_global and ptx_shared; for 8 bits write u16 or u32");

  static constexpr bool is_pure = Effect == ptx_effect::pure;
  static_assert(!is_pure || results::count != 0,
                "kaio: a pure ptx_op has a result; one that does something is ptx_effect::memory or barrier");
  static_assert(!is_pure || operands.addresses == 0,
                "kaio: a ptx_op that takes an address is not pure; write ptx_effect::memory");

  static constexpr ptx::text_facts known = ptx::facts_of_text(Text.view());
  static_assert(
      !is_pure || !known.impure,
      "kaio: this instruction is not pure: it depends on memory, other lanes or a clock, or changes them; write ptx_effect::memory");
  static constexpr bool is_stated = Since.target.sm != 0 || Since.version.major != 0;
  static_assert(
      is_stated || known.known,
      "kaio: the catalogue does not know this mnemonic or one of its suffixes; check the spelling, or state what has it first: ptx_since{.target = {80}, .version = {7, 0}}");
  static constexpr ptx::text_needs needs =
      is_stated ? ptx::text_needs{Since.target.sm, Since.version, Since.target.arch_specific}
                : ptx::text_needs(known);

  static constexpr bool is_expression = is_pure && results::count == 1;

  // The number of the operation, for probes.
  static constexpr std::uint64_t number = detail::number_of_text(Text.view());

  template <class Operation, class T, class Nodes>
  friend struct detail::text_node;

  static constexpr std::uint32_t text(tracer& t) {
    return t.instruction_text(detail::completed_text<Text, operands>.view(), needs);
  }

  template <class Nodes>
  static constexpr value lower_expression(tracer& t, const Nodes& nodes) {
    value sources[source_count + 1] = {};
    nodes.template lower<P...>(t, sources);
    return detail::pure_text(t, text(t), ptx_type<R>, sources, source_count);
  }

  static constexpr R give(tracer& t, const value* ids)
    requires(results::count > 1)
  {
    return R(t, ids);
  }
  static constexpr auto give(tracer& t, const value* ids)
    requires(results::count == 1)
  {
    return val<R>(t, ids[0]);
  }
  static constexpr void give(tracer&, const value*)
    requires(results::count == 0)
  {}

 public:
  // An expression.
  template <class... A>
    requires is_expression
  constexpr auto operator()(const A&... arguments) const {
    static_assert(
        !(is_thread<A> || ...),
        "kaio: a pure ptx_op with one result is an expression, which takes its operands alone, without t");
    static_assert((is_thread<A> || ...) || sizeof...(A) == source_count,
                  "kaio: a ptx_op takes the operands that its signature has");
    if constexpr (sizeof...(A) == source_count && !(is_thread<A> || ...)) {
      (detail::require_text_operand<P, A>(), ...);
      const auto nodes = detail::make_text_nodes(operand_node<P>(arguments)...);
      return detail::text_node<ptx_operation, R, std::remove_const_t<decltype(nodes)>>{{}, nodes};
    } else {
      return literal<R>{};
    }
  }

  // A statement.
  template <class... A>
    requires(!is_expression)
  constexpr auto operator()(const detail::text_place& at, const A&... arguments) const {
    static_assert(sizeof...(A) == source_count, "kaio: a ptx_op takes the operands that its signature has");
    tracer& t = at.enter();
    value ids[results::count + 1] = {};
    if constexpr (sizeof...(A) == source_count) {
      if (t.probing()) {
        see_operands(t, arguments...);
        t.see(number);
        for (value& id : ids) id = t.new_identity();
      } else {
        const detail::text_source sources[source_count + 1] = {detail::text_source_of<P>(t, arguments)...};
        detail::record_text(t, text(t), Effect, results::list, results::count, ids, sources, source_count);
      }
    }
    return give(t, ids);
  }
  template <class First, class... A>
    requires(!is_expression && !is_thread<First>)
  constexpr void operator()(const First&, const A&...) const {
    static_assert(never<First>,
                  "kaio: this ptx_op is a statement, which takes the thread first: op(t, a, b)");
  }
};

//   Text       the mnemonic with its suffixes; then the operands $0, $1, ..., results first, unless listed in order
//   Signature  their types R(P...), in that order; R is void, a number, or ptx_results<...>
//   Since      the first target and version that have it, if the catalogue does not know it
// The type of the constant is deduced, so that compilers name the line of a wrong one.
template <fixed_string Text, class Signature, ptx_effect Effect, ptx_since Since = ptx_since{}>
inline constexpr auto ptx_op = ptx_operation<Text, Signature, Effect, Since>{};

}  // namespace kaio::dsl

namespace kaio {
using dsl::ptx_effect;
using dsl::ptx_global;
using dsl::ptx_op;
using dsl::ptx_results;
using dsl::ptx_shared;
using dsl::ptx_since;
}  // namespace kaio
