// Decodes loads, stores and address conversions.

#include "emulator/decode/decode_async.hpp"
#include "emulator/decode/instruction_decoder.hpp"

#include <fmt/format.h>

namespace kaio::emulator {
namespace memory_decoding {
namespace {

using enum ptx::type;

// .weak, .volatile, .relaxed.scope ... of a load or a store. True if other threads may race with it.
bool memory_order(instruction_decoder& f, std::string_view strongest) {
  const bool mmio = f.accept(".mmio");
  const int order = f.accept_one({".weak", ".volatile", ".relaxed", strongest});
  const int scope = f.accept_one({".cta", ".gpu", ".sys", ".cluster"});
  const bool scoped = order == 2 || order == 3;
  if (mmio) {
    f.require("ld.mmio", f.name());
    if (order < 2 || scope != 2)
      f.fail(fmt::format("'{}': .mmio goes with .relaxed.sys or {}.sys", f.name(), strongest));
    if (order == 3) f.require("ld.mmio.acquire", f.name());
    if (f.out.space != state_space::global && f.out.space != state_space::generic)
      f.fail(fmt::format("'{}': .mmio is for global memory", f.name()));
    for (const syntax::modifier& m : f.text.modifiers)
      if (m.text.starts_with(".v") && m.text.size() == 3)
        f.fail(m.at, fmt::format("'{}': .mmio moves one element", f.name()));
  }
  if (scoped && scope < 0) f.fail(fmt::format("'{}' needs a scope: one of .cta, .gpu, .sys", f.name()));
  if (!scoped && scope >= 0) f.fail(fmt::format("'{}': a scope needs .relaxed or {}", f.name(), strongest));
  if (scoped) f.require("ld.relaxed", f.name());
  if (scope == 3) f.require("scope.cluster", ".cluster");
  const bool shared_with_others = f.out.space == state_space::global || f.out.space == state_space::shared ||
                                  f.out.space == state_space::generic;
  const bool own = order == 1 && f.out.space == state_space::local;  // no other thread sees it
  if (own) f.require("ld.volatile.local", f.name());
  if (order > 0 && !shared_with_others && !own)
    f.fail(fmt::format("'{}': this memory is seen by one thread only, and has no order", f.name()));
  if (order == 1 && !own) f.out.order = memory_order::is_volatile, f.out.scope = memory_scope::sys;
  if (order == 2) f.out.order = memory_order::relaxed;
  if (order == 3) f.out.order = strongest == ".acquire" ? memory_order::acquire : memory_order::release;
  if (scoped) f.out.scope = scope_of(scope);
  f.out.flags.ordered = order > 0 && !own;
  f.out.flags.weak = order == 0;
  return order == 1;
}

// Cache hints have no effect here. True if a policy follows the operands.
bool cache_hints(instruction_decoder& f, std::initializer_list<std::string_view> operators, bool is_volatile,
                 bool loads) {
  const int cache = f.accept_one(operators);
  const int eviction = f.accept_one({".L1::evict_normal", ".L1::evict_unchanged", ".L1::evict_first",
                                     ".L1::evict_last", ".L1::no_allocate"});
  const int prefetch = loads ? f.accept_one({".L2::64B", ".L2::128B", ".L2::256B"}) : -1;
  const bool policy = f.accept(".L2::cache_hint");
  if (f.accept_one({".L2::evict_normal", ".L2::evict_first", ".L2::evict_last"}) >= 0) {
    f.require("ld.32 bytes", "a priority in the L2 cache");
    if (f.out.count * ptx::size_of(f.type(0)) != 32)
      f.fail(fmt::format("'{}': a priority in the L2 cache goes with a vector of 32 bytes", f.name()));
  }
  if (cache >= 0 && f.out.flags.ordered)
    f.fail(fmt::format("'{}': a cache operator is for weak accesses only", f.name()));
  if (eviction >= 0 && (cache >= 0 || is_volatile))
    f.fail(fmt::format("'{}': a priority goes neither with a cache operator nor with .volatile", f.name()));
  if (policy && is_volatile) f.fail(fmt::format("'{}': .volatile has no cache policy", f.name()));
  if ((eviction >= 0 || prefetch >= 0 || policy) && f.out.space != state_space::global &&
      f.out.space != state_space::generic)
    f.fail(fmt::format("'{}': cache hints are for global memory", f.name()));
  if (eviction >= 0 || prefetch >= 0) f.require("ld.eviction", "a cache hint");
  if (prefetch == 2) f.require("ld.256B", ".L2::256B");
  if (policy) f.require("cache_hint", ".L2::cache_hint");
  return policy;
}

// Rejects a space of parameters that only ld and st know.
void no_function_parameters(instruction_decoder& f) {
  for (const syntax::modifier& m : f.text.modifiers)
    if (m.text == ".param::func")
      f.fail(m.at, fmt::format("'{}' does not take '.param::func'", f.text.opcode));
}

// The address and the value, then a policy if there is one.
void access_operands(instruction_decoder& f, bool policy) {
  if (!policy) return f.arity(2);
  f.arity(3);
  f.source_row(f.operand(2), b64, false, nullptr);
}

// Vectors have at most 16 bytes; four 64-bit or eight 32-bit elements are for global memory only.
void vector_size(instruction_decoder& f) {
  const int v = f.accept_one({".v2", ".v4", ".v8"});
  f.out.count = static_cast<std::uint8_t>(v < 0 ? 1u : 2u << v);
  const unsigned bytes = f.out.count * ptx::size_of(f.type(0));
  if (bytes <= 16) return;
  const bool global = f.out.space == state_space::global || f.out.space == state_space::generic;
  if (bytes > 32 || f.type(0) == b128 || !global || f.text.opcode == "ldu")
    f.fail(fmt::format("'{}' moves more than 16 bytes", f.name()));
  f.require("ld.32 bytes", f.name());
}

// One element may be in braces too.
void check_vector(instruction_decoder& f, const syntax::operand& o) {
  const bool is_vector = o.kind == syntax::operand_kind::vector;
  const std::size_t have = is_vector ? o.elements.size() : 1;
  if ((is_vector || f.out.count == 1) && have == f.out.count) return;
  f.fail(o.at, f.out.count == 1
                   ? fmt::format("'{}' moves one element; write .v2 or .v4 for a vector", f.name())
                   : fmt::format("'{}' moves {} elements, not {}", f.name(), f.out.count, have));
}

const syntax::operand& element_of(const syntax::operand& o, std::size_t k) {
  return o.kind == syntax::operand_kind::vector ? o.elements[k] : o;
}

void memory_types(instruction_decoder& f) {
  f.types(1);
  f.allow(f.type(0), {b8, b16, b32, b64, b128, u8, u16, u32, u64, s8, s16, s32, s64, f32, f64});
  if (f.type(0) == b128) f.require(".b128");
}

void load_destinations(instruction_decoder& f) {
  const syntax::operand& to = f.operand(0);
  check_vector(f, to);
  for (std::size_t i = 0; i < f.out.count; ++i) {
    const syntax::operand& e = element_of(to, i);
    std::uint8_t width = 0;
    if (e.kind == syntax::operand_kind::sink) {
      f.out.to[i] = f.function.trash_row();
      continue;
    }
    f.out.to[i] = f.destination_row(e, f.type(0), true, &width);
    if (f.out.to_bytes != 0 && f.out.to_bytes != width)
      f.fail(e.at, fmt::format("the registers of '{}' differ in width", f.name()));
    f.out.to_bytes = width;
  }
  if (f.out.to_bytes == 0) f.fail(to.at, fmt::format("'{}' loads nothing", f.name()));
}

// ldu: a load from memory that no thread writes while the kernel runs.
void decode_ldu(instruction_decoder& f) {
  memory_types(f);
  f.out.space = f.space_modifier();
  if (f.out.space != state_space::global && f.out.space != state_space::generic)
    f.fail(fmt::format("'{}': ldu reads global memory", f.name()));
  vector_size(f);
  if (f.out.count == 8) f.fail(fmt::format("'{}': ldu has vectors of 2 and 4 elements", f.name()));
  f.arity(2);
  f.address(1);
  load_destinations(f);
  f.out.flags.read_only = true;
  f.emit(operation::ld);
}

void decode_ld(instruction_decoder& f) {
  memory_types(f);
  f.out.space = f.space_modifier();
  const bool is_volatile = memory_order(f, ".acquire");
  vector_size(f);
  const bool read_only = f.accept(".nc");
  f.out.flags.read_only = read_only;
  if (read_only) {
    f.require(".nc");
    if (f.out.space != state_space::global || f.out.flags.ordered || f.out.flags.weak)
      f.fail(fmt::format("'{}': .nc is for weak loads from .global", f.name()));
  }
  const bool policy = read_only ? cache_hints(f, {".ca", ".cg", ".cs"}, is_volatile, true)
                                : cache_hints(f, {".ca", ".cg", ".cs", ".lu", ".cv"}, is_volatile, true);
  access_operands(f, policy);
  if (f.out.space == state_space::param && is_frame_parameter(f, 1, access_kind::read))
    f.out.space = state_space::local;
  f.address(1);
  load_destinations(f);
  // The load may wait for another block's store.
  if (f.out.flags.ordered && (f.out.space == state_space::global || f.out.space == state_space::generic))
    f.function.result().blocks_communicate = true;
  f.emit(operation::ld);
}

void decode_st(instruction_decoder& f) {
  if (starts_with(f, {".async"})) return decode_async_store(f);
  if (f.accept(".bulk")) {
    f.require("st.bulk", f.name());
    f.fail(fmt::format("'{}' is not supported by the emulator", f.name()));
  }
  memory_types(f);
  f.out.space = f.space_modifier();
  const bool is_volatile = memory_order(f, ".release");
  if (f.out.space == state_space::param && is_frame_parameter(f, 0, access_kind::write))
    f.out.space = state_space::local;
  if (f.out.space == state_space::constant || f.out.space == state_space::param)
    f.fail(fmt::format("'{}': {} memory is read-only", f.name(),
                       f.out.space == state_space::param ? "parameter" : "constant"));
  vector_size(f);
  access_operands(f, cache_hints(f, {".wb", ".cg", ".cs", ".wt"}, is_volatile, false));
  f.address(0);
  const syntax::operand& from = f.operand(1);
  check_vector(f, from);
  for (std::size_t i = 0; i < f.out.count; ++i) {
    const syntax::operand& e = element_of(from, i);
    std::uint8_t width = 0;
    f.out.to[i] = f.source_row(e, f.type(0), true, &width);
    // A constant in a list takes the width of its wider registers.
    if (e.kind != syntax::operand_kind::name) continue;
    if (f.out.to_bytes != 0 && f.out.to_bytes != width)
      f.fail(e.at, fmt::format("the registers of '{}' differ in width", f.name()));
    f.out.to_bytes = width;
  }
  const unsigned own = ptx::size_of(f.type(0));
  if (f.out.to_bytes == 0) f.out.to_bytes = static_cast<std::uint8_t>(own);
  if (f.out.to_bytes != own)
    for (std::size_t i = 0; i < f.out.count; ++i) {
      const syntax::operand& e = element_of(from, i);
      if (e.kind == syntax::operand_kind::integer)
        f.out.to[i] = f.function.constant_row(f.out.to_bytes, e.bits);
      if (e.kind == syntax::operand_kind::real)
        f.fail(e.at, fmt::format("a floating-point constant among wider registers in '{}'", f.name()));
    }
  f.emit(operation::st);
}

void decode_cvta(instruction_decoder& f) {
  f.types(1);
  f.allow(f.type(0), {u32, u64});
  if (f.type(0) == u32) f.fail(fmt::format("'{}': generic addresses have 64 bits", f.name()));
  const bool to = f.accept(".to");
  if (to && f.text.modifiers.front().text != ".to")
    f.fail(fmt::format("'{}': '.to' must directly follow 'cvta'", f.name()));
  f.out.space = f.space_modifier();
  no_function_parameters(f);
  if (f.out.space == state_space::generic) f.fail(fmt::format("'{}' needs a state space", f.name()));
  if (f.out.space == state_space::param) f.require("cvta.param", f.name());
  f.arity(2);
  f.destination(0, 0, u64);
  const syntax::operand& from = f.operand(1);
  const symbol* s =
      from.kind == syntax::operand_kind::name && from.member.empty() ? f.function.find(from.name) : nullptr;
  if (s != nullptr && s->kind != symbol_kind::reg) {
    if (to) f.fail(from.at, fmt::format("'{}' takes a generic address, not a symbol", f.name()));
    state_space home = state_space::global;
    switch (s->kind) {
      case symbol_kind::shared: home = state_space::shared; break;
      case symbol_kind::local: home = state_space::local; break;
      case symbol_kind::param: home = state_space::param; break;
      case symbol_kind::call_param:
        if (s->role != parameter_role::input)
          f.fail(from.at, fmt::format("the parameter '{}' has no address", from.name));
        home = f.out.space;
        f.out.space = state_space::local;
        break;
      case symbol_kind::function:
      case symbol_kind::vector_reg:
        f.fail(from.at, fmt::format("'{}' takes the address of a variable here", f.name()));
      default: home = f.function.module().decoded->variables[s->value].space; break;
    }
    if (home != f.out.space && s->kind != symbol_kind::call_param)
      f.fail(from.at, fmt::format("'{}' is in another state space", from.name));
    f.out.from[0] = f.function.symbol_row(*s, from.offset, 8);
  } else {
    f.source(0, 1, u64);
  }
  f.emit(to ? operation::from_generic : operation::to_generic);
}

void decode_isspacep(instruction_decoder& f) {
  f.out.space = f.space_modifier();
  no_function_parameters(f);
  if (f.out.space == state_space::generic) f.fail(fmt::format("'{}' needs a state space", f.name()));
  if (f.out.space == state_space::param) f.require("isspacep.param", f.name());
  f.arity(2);
  f.out.to[0] = f.predicate_row(f.operand(0), false);
  const syntax::operand& from = f.operand(1);
  const symbol* s = from.kind == syntax::operand_kind::name ? f.function.find(from.name) : nullptr;
  f.word_source(0, 1, s != nullptr && ptx::size_of(s->type) == 4 ? u32 : u64);
  f.emit(operation::isspacep);
}

constexpr opcode_row rows[] = {
    {"ld", decode_ld},     {"ldu", decode_ldu},           {"st", decode_st},
    {"cvta", decode_cvta}, {"isspacep", decode_isspacep},
};

}  // namespace
}  // namespace memory_decoding

std::span<const opcode_row> memory_opcodes() { return memory_decoding::rows; }

}  // namespace kaio::emulator
