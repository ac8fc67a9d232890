// Decodes the instructions with which blocks of a cluster cooperate (PTX ISA, "Parallel Synchronization and
// Communication Instructions": barrier.cluster; "Data Movement and Conversion Instructions": mapa,
// getctarank).

#include "emulator/decode/instruction_decoder.hpp"

#include <fmt/format.h>

namespace kaio::emulator {
namespace cluster_decoding {
namespace {

using enum ptx::type;

// An address of shared memory: generic, or within .shared::cluster; a register, or a variable.
void shared_address(instruction_decoder& f, std::size_t operand_index, ptx::type type, bool generic) {
  const syntax::operand& o = f.operand(operand_index);
  const symbol* s =
      o.kind == syntax::operand_kind::name && o.member.empty() ? f.function.find(o.name) : nullptr;
  if (s == nullptr || s->kind == symbol_kind::reg) {
    f.source(0, operand_index, type);
    return;
  }
  if (s->kind != symbol_kind::shared || generic)
    f.fail(o.at, fmt::format("'{}' takes {} here, not '{}'", f.name(),
                             generic ? "a generic address" : "an address of shared memory", o.name));
  f.out.from_bytes = static_cast<std::uint8_t>(ptx::size_of(type));
  f.out.from[0] = f.function.constant_row(f.out.from_bytes, s->value + o.offset);
}

void decode_mapa(instruction_decoder& f) {
  f.require("mapa", f.name());
  f.types(1);
  f.allow(f.type(0), {u32, u64});
  const bool shared = f.accept(".shared::cluster");
  if (!shared && f.type(0) == u32) f.fail(fmt::format("'{}': generic addresses have 64 bits", f.name()));
  f.out.space = shared ? state_space::shared : state_space::generic;
  f.arity(3);
  f.destination(0, 0, f.type(0));
  shared_address(f, 1, f.type(0), !shared);
  f.source(1, 2, u32);
  f.emit(operation::mapa);
}

void decode_getctarank(instruction_decoder& f) {
  f.require("mapa", f.name());
  f.types(1);
  f.allow(f.type(0), {u32, u64});
  const bool shared = f.accept(".shared::cluster");
  if (!shared && f.type(0) == u32) f.fail(fmt::format("'{}': generic addresses have 64 bits", f.name()));
  f.out.space = shared ? state_space::shared : state_space::generic;
  f.arity(2);
  f.destination(0, 0, u32);
  shared_address(f, 1, f.type(0), !shared);
  f.emit(operation::getctarank);
}

constexpr opcode_row rows[] = {{"mapa", decode_mapa}, {"getctarank", decode_getctarank}};

}  // namespace
}  // namespace cluster_decoding

void decode_cluster_barrier(instruction_decoder& f) {
  f.require("barrier.cluster", f.name());
  f.accept(".cluster");
  const bool arrives = f.need_one({".arrive", ".wait"}, "an operation") == 0;
  const int order = f.accept_one({".release", ".relaxed", ".acquire"});
  if ((arrives && order == 2) || (!arrives && order >= 0 && order != 2))
    f.fail(fmt::format("'{}': an arrival has .release or .relaxed, a wait .acquire", f.name()));
  if (order == 1) f.require("barrier.cluster.relaxed", f.name());
  f.out.order =
      arrives ? (order == 1 ? memory_order::relaxed : memory_order::release) : memory_order::acquire;
  f.out.scope = memory_scope::cluster;
  f.accept(".aligned");
  f.arity(0);
  f.emit(arrives ? operation::cluster_arrive : operation::cluster_wait);
}

std::span<const opcode_row> cluster_opcodes() { return cluster_decoding::rows; }

}  // namespace kaio::emulator
