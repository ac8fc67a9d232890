// Decodes loads, stores, atomics, address conversions and fences.

#include "runtime/emulator/form.hpp"

#include <fmt/format.h>

namespace kaio::runtime::emulator {
namespace {

using enum ptx::type;

// .weak, .volatile, .relaxed.scope ... of a load or a store. True if other threads may race with it.
bool memory_order(form& f, std::string_view strongest) {
  const int order = f.accept_one({".weak", ".volatile", ".relaxed", strongest, ".mmio"});
  const int scope = f.accept_one({".cta", ".gpu", ".sys", ".cluster"});
  const bool scoped = order == 2 || order == 3;
  if (order == 4) f.fail(fmt::format("'{}': .mmio is not supported by the emulator", f.name()));
  if (scoped && scope < 0) f.fail(fmt::format("'{}' needs a scope: one of .cta, .gpu, .sys", f.name()));
  if (!scoped && scope >= 0) f.fail(fmt::format("'{}': a scope needs .relaxed or {}", f.name(), strongest));
  if (scoped) f.require("ld.relaxed", f.name());
  if (scope == 3) f.require("scope.cluster", ".cluster");
  return order > 0;
}

// What only says where data should be cached has no effect here.
void cache_hints(form& f, std::initializer_list<std::string_view> operators) {
  const int cache = f.accept_one(operators);
  const int eviction = f.accept_one({".L1::evict_normal", ".L1::evict_unchanged", ".L1::evict_first",
                                     ".L1::evict_last", ".L1::no_allocate"});
  const int second = f.accept_one({".L2::evict_normal", ".L2::evict_first", ".L2::evict_last"});
  const int prefetch = f.accept_one({".L2::64B", ".L2::128B", ".L2::256B"});
  if (f.accept(".L2::cache_hint"))
    f.fail(fmt::format("'{}': cache policies are not supported by the emulator", f.name()));
  if (f.accept(".unified")) f.fail(fmt::format("'{}': .unified is not supported by the emulator", f.name()));
  if (cache >= 0 && f.out.flags.ordered)
    f.fail(fmt::format("'{}': a cache operator is for weak accesses only", f.name()));
  if (eviction >= 0 || second >= 0 || prefetch >= 0) f.require("ld.eviction", "a cache hint");
}

void vector_size(form& f) {
  const int v = f.accept_one({".v2", ".v4", ".v8"});
  f.out.count = v < 0 ? 1 : v == 0 ? 2 : v == 1 ? 4 : 8;
  if (f.out.count * ptx::size_of(f.type(0)) > 16)
    f.fail(fmt::format("'{}' moves more than 16 bytes, which needs .target sm_100", f.name()));
}

void check_vector(form& f, const syntax::operand& o) {
  const bool is_vector = o.kind == syntax::operand_kind::vector;
  const std::size_t have = is_vector ? o.elements.size() : 1;
  if (is_vector == (f.out.count > 1) && have == f.out.count) return;
  f.fail(o.at, f.out.count == 1
                   ? fmt::format("'{}' moves one element; write .v2 or .v4 for a vector", f.name())
                   : fmt::format("'{}' moves {} elements, not {}", f.name(), f.out.count, have));
}

void memory_types(form& f) {
  f.types(1);
  f.allow(f.type(0), {b8, b16, b32, b64, b128, u8, u16, u32, u64, s8, s16, s32, s64, f32, f64});
  if (f.type(0) == b128) f.require(".b128");
}

void decode_ld(form& f) {
  memory_types(f);
  f.out.flags.ordered = memory_order(f, ".acquire");
  f.out.space = f.space_modifier();
  vector_size(f);
  const bool read_only = f.accept(".nc");
  if (read_only) {
    f.require(".nc");
    if (f.out.space != state_space::global || f.out.flags.ordered)
      f.fail(fmt::format("'{}': .nc is for weak loads from .global", f.name()));
  }
  cache_hints(f, {".ca", ".cg", ".cs", ".lu", ".cv"});
  f.arity(2);
  f.address(1);
  const syntax::operand& to = f.operand(0);
  check_vector(f, to);
  for (std::size_t i = 0; i < f.out.count; ++i) {
    const syntax::operand& e = f.out.count == 1 ? to : to.elements[i];
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
  if (f.out.to_bytes == 0) f.out.to_bytes = static_cast<std::uint8_t>(ptx::size_of(f.type(0)));
  // Another block's store may be waited for.
  if (f.out.flags.ordered && (f.out.space == state_space::global || f.out.space == state_space::generic))
    f.function.result().blocks_communicate = true;
  f.emit(operation::ld);
}

void decode_st(form& f) {
  if (f.accept(".async") || f.accept(".bulk"))
    f.fail(fmt::format("'{}' is not supported by the emulator", f.name()));
  memory_types(f);
  f.out.flags.ordered = memory_order(f, ".release");
  f.out.space = f.space_modifier();
  if (f.out.space == state_space::constant || f.out.space == state_space::param)
    f.fail(fmt::format("'{}': {} memory is read-only", f.name(),
                       f.out.space == state_space::param ? "parameter" : "constant"));
  vector_size(f);
  cache_hints(f, {".wb", ".cg", ".cs", ".wt"});
  f.arity(2);
  f.address(0);
  const syntax::operand& from = f.operand(1);
  check_vector(f, from);
  for (std::size_t i = 0; i < f.out.count; ++i) {
    const syntax::operand& e = f.out.count == 1 ? from : from.elements[i];
    std::uint8_t width = 0;
    f.out.to[i] = f.source_row(e, f.type(0), true, &width);
    // A constant may stand beside wider registers: it takes their width.
    if (e.kind != syntax::operand_kind::name) continue;
    if (f.out.to_bytes != 0 && f.out.to_bytes != width)
      f.fail(e.at, fmt::format("the registers of '{}' differ in width", f.name()));
    f.out.to_bytes = width;
  }
  const unsigned own = ptx::size_of(f.type(0));
  if (f.out.to_bytes == 0) f.out.to_bytes = static_cast<std::uint8_t>(own);
  if (f.out.to_bytes != own)
    for (std::size_t i = 0; i < f.out.count; ++i) {
      const syntax::operand& e = f.out.count == 1 ? from : from.elements[i];
      if (e.kind == syntax::operand_kind::integer)
        f.out.to[i] = f.function.constant_row(f.out.to_bytes, e.bits);
      if (e.kind == syntax::operand_kind::real)
        f.fail(e.at, fmt::format("a floating-point constant beside wider registers in '{}'", f.name()));
    }
  f.emit(operation::st);
}

struct atomic_operation {
  std::string_view modifier;
  atomic_form form;
  std::initializer_list<ptx::type> types;
};

const atomic_operation& atomic_modifier(form& f, bool reduction) {
  static const atomic_operation table[] = {
      {".add", atomic_form::add, {u32, s32, u64, f32, f64}},
      {".min", atomic_form::min, {u32, s32, u64, s64}},
      {".max", atomic_form::max, {u32, s32, u64, s64}},
      {".and", atomic_form::and_, {b32, b64}},
      {".or", atomic_form::or_, {b32, b64}},
      {".xor", atomic_form::xor_, {b32, b64}},
      {".inc", atomic_form::inc, {u32}},
      {".dec", atomic_form::dec, {u32}},
      {".exch", atomic_form::exch, {b32, b64}},
      {".cas", atomic_form::cas, {b16, b32, b64}},
  };
  const atomic_operation* found = nullptr;
  for (const atomic_operation& row : table) {
    if (reduction && row.form == atomic_form::exch) break;
    if (!f.accept(row.modifier)) continue;
    if (found != nullptr) f.fail(fmt::format("'{}' names two operations", f.name()));
    found = &row;
  }
  if (found == nullptr) f.fail(fmt::format("'{}' needs an operation, such as .add", f.name()));
  return *found;
}

void atomic(form& f, bool reduction) {
  if (f.accept(".async")) f.fail(fmt::format("'{}' is not supported by the emulator", f.name()));
  const atomic_operation& op = atomic_modifier(f, reduction);
  f.types(1);
  for (ptx::type half : {f16, f16x2, bf16, bf16x2, b128})
    if (f.type(0) == half)
      f.fail(fmt::format("'{}': {} is not supported by the emulator", f.name(), ptx::suffix(half)));
  f.allow(f.type(0), op.types);
  if (op.form == atomic_form::add && f.type(0) == f64) f.require("atom.add.f64", f.name());
  if (f.accept_one({".relaxed", ".acquire", ".release", ".acq_rel"}) >= 0) f.require("scope", f.name());
  if (f.accept_one({".cta", ".gpu", ".sys", ".cluster"}) == 3) f.require("scope.cluster", ".cluster");
  f.out.space = f.space_modifier();
  if (f.out.space != state_space::global && f.out.space != state_space::shared &&
      f.out.space != state_space::generic)
    f.fail(fmt::format("'{}': atomics are for global and shared memory", f.name()));
  if (f.accept(".L2::cache_hint"))
    f.fail(fmt::format("'{}': cache policies are not supported by the emulator", f.name()));
  if (f.accept_one({".v2", ".v4", ".v8"}) >= 0)
    f.fail(fmt::format("'{}': vector atomics are not supported by the emulator", f.name()));
  const std::size_t first = reduction ? 0 : 1;
  f.arity(first + 2 + (op.form == atomic_form::cas ? 1 : 0));
  f.out.form = static_cast<std::uint8_t>(op.form);
  f.address(first);
  f.source(1, first + 1, f.type(0));
  if (op.form == atomic_form::cas) f.source(2, first + 2, f.type(0));
  f.out.to[0] = f.function.trash_row();
  f.out.to_bytes = static_cast<std::uint8_t>(ptx::size_of(f.type(0)));
  const bool result = !reduction && f.operand(0).kind != syntax::operand_kind::sink;
  if (result) f.destination(0, 0, f.type(0));
  if (f.out.space != state_space::shared) {
    const bool order_shows = ptx::is_floating(f.type(0)) || op.form >= atomic_form::exch || result;
    if (order_shows)
      f.function.result().blocks_communicate = true;
    else
      f.function.note_reduction(f.out.form);
  }
  f.emit(reduction ? operation::red : operation::atom);
}

void decode_atom(form& f) { atomic(f, false); }
void decode_red(form& f) { atomic(f, true); }

void decode_cvta(form& f) {
  f.types(1);
  f.allow(f.type(0), {u32, u64});
  if (f.type(0) == u32) f.fail(fmt::format("'{}': generic addresses have 64 bits", f.name()));
  const bool to = f.accept(".to");
  f.out.space = f.space_modifier();
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
      default: home = f.function.module().decoded->variables[s->value].space; break;
    }
    if (home != f.out.space) f.fail(from.at, fmt::format("'{}' is in another state space", from.name));
    f.out.from[0] = s->kind == symbol_kind::variable
                        ? f.function.address_row(static_cast<std::uint32_t>(s->value), from.offset, false)
                        : f.function.constant_row(8, s->value + from.offset);
  } else {
    f.source(0, 1, u64);
  }
  f.emit(to ? operation::from_generic : operation::to_generic);
}

void decode_isspacep(form& f) {
  f.out.space = f.space_modifier();
  if (f.out.space == state_space::generic) f.fail(fmt::format("'{}' needs a state space", f.name()));
  if (f.out.space == state_space::param) f.require("isspacep.param", f.name());
  f.arity(2);
  f.out.to[0] = f.predicate_row(f.operand(0));
  const syntax::operand& from = f.operand(1);
  const symbol* s = from.kind == syntax::operand_kind::name ? f.function.find(from.name) : nullptr;
  f.source(0, 1, s != nullptr && ptx::size_of(s->type) == 4 ? u32 : u64);
  f.emit(operation::isspacep);
}

void decode_prefetch(form& f) {
  f.out.space = f.space_modifier();
  if (f.accept(".tensormap")) f.fail(fmt::format("'{}' is not supported by the emulator", f.name()));
  f.need_one({".L1", ".L2", ".L2::evict_last", ".L2::evict_normal"}, "a level");
  f.arity(1);
  f.address(0);
  f.emit(operation::prefetch);
}

void decode_prefetchu(form& f) {
  f.need_one({".L1"}, "a level");
  f.arity(1);
  f.address(0);
  f.emit(operation::prefetch);
}

void decode_membar(form& f) {
  f.need_one({".cta", ".gl", ".sys"}, "a level");
  f.arity(0);
  f.emit(operation::fence);
}

void decode_fence(form& f) {
  f.require("fence");
  for (const syntax::modifier& m : f.text.modifiers)
    if (m.text.starts_with(".proxy") || m.text == ".mbarrier_init")
      f.fail(m.at, fmt::format("'{}' is not supported by the emulator", f.name()));
  f.accept_one({".sc", ".acq_rel", ".acquire", ".release"});
  if (f.need_one({".cta", ".gpu", ".sys", ".cluster"}, "a scope") == 3)
    f.require("scope.cluster", ".cluster");
  f.arity(0);
  f.emit(operation::fence);
}

constexpr opcode_row rows[] = {
    {"ld", decode_ld},
    {"st", decode_st},
    {"atom", decode_atom},
    {"red", decode_red},
    {"cvta", decode_cvta},
    {"isspacep", decode_isspacep},
    {"prefetch", decode_prefetch},
    {"prefetchu", decode_prefetchu},
    {"membar", decode_membar},
    {"fence", decode_fence},
};

}  // namespace

std::span<const opcode_row> memory_opcodes() { return rows; }

}  // namespace kaio::runtime::emulator
