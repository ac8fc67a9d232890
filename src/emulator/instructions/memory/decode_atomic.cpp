// Decodes atomic operations and reductions in memory.

#include "emulator/decode/decode_async.hpp"
#include "emulator/decode/instruction_decoder.hpp"

#include <fmt/format.h>

namespace kaio::emulator {
namespace atomic_decoding {
namespace {

using enum ptx::type;

struct atomic_operation {
  std::string_view modifier;
  atomic_form form;
  std::initializer_list<ptx::type> types;
};

const atomic_operation& atomic_modifier(instruction_decoder& f, bool reduction) {
  static const atomic_operation table[] = {
      {".add", atomic_form::add, {u32, s32, u64, f32, f64, f16, f16x2, bf16, bf16x2}},
      {".min", atomic_form::min, {u32, s32, u64, s64, f16, f16x2, bf16, bf16x2}},
      {".max", atomic_form::max, {u32, s32, u64, s64, f16, f16x2, bf16, bf16x2}},
      {".and", atomic_form::and_, {b32, b64}},
      {".or", atomic_form::or_, {b32, b64}},
      {".xor", atomic_form::xor_, {b32, b64}},
      {".inc", atomic_form::inc, {u32}},
      {".dec", atomic_form::dec, {u32}},
      {".exch", atomic_form::exch, {b32, b64, b128}},
      {".cas", atomic_form::cas, {b16, b32, b64, b128}},
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

bool half_type(ptx::type t) { return t == f16 || t == f16x2 || t == bf16 || t == bf16x2; }

// The register type of an element: halves are in untyped registers; .f16 and .f16x2 also have their own.
ptx::type register_type(instruction_decoder& f, const syntax::operand& o) {
  const ptx::type t = f.type(0);
  if (!half_type(t)) return t;
  f.bits_register(o, ptx::bits_of(t), t == f16 || t == f16x2 ? t : ptx::type::none);
  return ptx::bits_of(t);
}

void half_requirements(instruction_decoder& f, atomic_form op) {
  if (!f.accept(".noftz")) f.fail(fmt::format("'{}': {} needs .noftz", f.name(), ptx::suffix(f.type(0))));
  if (op != atomic_form::add && f.out.count == 1)
    f.fail(fmt::format("'{}': minima and maxima of halves are for vectors only", f.name()));
  const bool brain = f.type(0) == bf16 || f.type(0) == bf16x2;
  f.require(brain ? "atom.bf16" : f.type(0) == f16 ? "atom.f16" : "atom.f16x2", f.name());
}

void vector_modifier(instruction_decoder& f, atomic_form op) {
  const int v = f.accept_one({".v2", ".v4", ".v8"});
  if (v < 0) return;
  f.out.count = static_cast<std::uint8_t>(2u << v);
  f.require("atom.vector", f.name());
  const bool single = f.type(0) == f32 && op == atomic_form::add;
  if (!single && !half_type(f.type(0)))
    f.fail(fmt::format("'{}': vectors are for sums of .f32, and for halves", f.name()));
  if (f.out.count * ptx::size_of(f.type(0)) > 16)
    f.fail(fmt::format("'{}' updates more than 16 bytes", f.name()));
  if (f.out.space == state_space::shared)
    f.fail(fmt::format("'{}': vectors are for global memory", f.name()));
}

void check_vector(instruction_decoder& f, const syntax::operand& o) {
  const bool is_vector = o.kind == syntax::operand_kind::vector;
  if (is_vector != (f.out.count > 1) || (is_vector && o.elements.size() != f.out.count))
    f.fail(o.at, fmt::format("'{}' takes {} element{} here", f.name(), unsigned{f.out.count},
                             f.out.count == 1 ? "" : "s in braces"));
}

// True if the old value is used.
bool results(instruction_decoder& f) {
  const syntax::operand& to = f.operand(0);
  if (to.kind == syntax::operand_kind::sink) return false;
  check_vector(f, to);
  for (std::size_t i = 0; i < f.out.count; ++i) {
    const syntax::operand& e = f.out.count == 1 ? to : to.elements[i];
    f.out.to[i] = e.kind == syntax::operand_kind::sink
                      ? f.function.trash_row()
                      : f.destination_row(e, register_type(f, e), false, nullptr);
  }
  return true;
}

void operands(instruction_decoder& f, std::size_t first, bool compares) {
  if (compares) {
    f.source(1, first, f.type(0));
    f.source(2, first + 1, f.type(0));
    return;
  }
  const syntax::operand& from = f.operand(first);
  check_vector(f, from);
  for (std::size_t i = 0; i < f.out.count; ++i) {
    const syntax::operand& e = f.out.count == 1 ? from : from.elements[i];
    f.out.from[1 + i] = f.source_row(e, register_type(f, e), false, nullptr);
  }
}

// A cache policy may follow the operands; it has no effect here.
std::size_t policy(instruction_decoder& f, atomic_form op) {
  if (!f.accept(".L2::cache_hint")) return 0;
  f.require("cache_hint", ".L2::cache_hint");
  if (f.out.space == state_space::shared || op == atomic_form::cas)
    f.fail(fmt::format("'{}' has no cache policy", f.name()));
  f.source_row(f.operand(f.operands() - 1), b64, false, nullptr);
  return 1;
}

void order_and_scope(instruction_decoder& f, bool reduction) {
  const int order = reduction ? f.accept_one({".relaxed", ".release"})
                              : f.accept_one({".relaxed", ".release", ".acquire", ".acq_rel"});
  constexpr memory_order orders[] = {memory_order::relaxed, memory_order::release, memory_order::acquire,
                                     memory_order::acq_rel};
  if (order >= 0) f.require("scope", f.name());
  f.out.order = order < 0 ? memory_order::relaxed : orders[order];
  const int scope = f.accept_one({".cta", ".gpu", ".sys", ".cluster"});
  f.out.scope = scope < 0 ? memory_scope::gpu : scope_of(scope);
  if (f.out.scope == memory_scope::cluster) f.require("scope.cluster", ".cluster");
}

void atomic(instruction_decoder& f, bool reduction) {
  if (reduction && starts_with(f, {".async"})) return decode_async_reduction(f);
  const atomic_operation& op = atomic_modifier(f, reduction);
  f.types(1);
  f.allow(f.type(0), op.types);
  if (op.form == atomic_form::add && f.type(0) == f64) f.require("atom.add.f64", f.name());
  if (f.type(0) == b128) f.require("atom.b128", f.name());
  if (f.type(0) == b16) f.require("atom.cas.b16", f.name());
  order_and_scope(f, reduction);
  f.out.space = f.space_modifier();
  if (f.out.space != state_space::global && f.out.space != state_space::shared &&
      f.out.space != state_space::generic)
    f.fail(fmt::format("'{}': atomics are for global and shared memory", f.name()));
  vector_modifier(f, op.form);
  if (half_type(f.type(0))) half_requirements(f, op.form);
  const bool compares = op.form == atomic_form::cas;
  const std::size_t first = reduction ? 0 : 1;
  f.arity(2, 5);
  f.arity(first + 2 + (compares ? 1 : 0) + policy(f, op.form));
  f.out.form = static_cast<std::uint8_t>(op.form);
  f.address(first);
  operands(f, first + 1, compares);
  f.out.to.fill(f.function.trash_row());
  f.out.to_bytes = static_cast<std::uint8_t>(ptx::size_of(f.type(0)));
  const bool result = !reduction && results(f);
  if (f.out.space != state_space::shared) {
    const bool order_shows = ptx::is_floating(f.type(0)) || op.form >= atomic_form::exch || result;
    if (order_shows)
      f.function.result().blocks_communicate = true;
    else
      f.function.note_reduction(f.out.form);
  }
  f.emit(reduction ? operation::red : operation::atom);
}

void decode_atom(instruction_decoder& f) { atomic(f, false); }
void decode_red(instruction_decoder& f) { atomic(f, true); }

constexpr opcode_row rows[] = {{"atom", decode_atom}, {"red", decode_red}};

}  // namespace
}  // namespace atomic_decoding

std::span<const opcode_row> atomic_opcodes() { return atomic_decoding::rows; }

}  // namespace kaio::emulator
