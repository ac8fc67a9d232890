// Decodes instructions that change no result of a kernel, except discard: prefetches into caches, priorities,
// policies, the order of accesses (fences), and events for performance monitors.

#include "emulator/decode/decode_async.hpp"
#include "emulator/decode/instruction_decoder.hpp"

#include <fmt/format.h>

#include <bit>

namespace kaio::emulator {
namespace cache_decoding {
namespace {

using enum ptx::type;

void space_of(instruction_decoder& f, std::initializer_list<state_space> allowed) {
  f.out.space = f.space_modifier();
  for (const state_space s : allowed)
    if (f.out.space == s) return;
  f.fail(fmt::format("'{}' does not work on this state space", f.name()));
}

void decode_prefetch(instruction_decoder& f) {
  if (f.accept(".tensormap")) {
    f.require("prefetch.tensormap", f.name());
    space_of(f, {state_space::generic, state_space::constant, state_space::param});
    f.arity(1);
    f.address(0);
    f.emit(operation::prefetch);
    return;
  }
  space_of(f, {state_space::generic, state_space::global, state_space::local});
  if (f.need_one({".L1", ".L2", ".L2::evict_last", ".L2::evict_normal"}, "a level") >= 2) {
    f.require("prefetch.eviction", f.name());
    if (f.out.space == state_space::local) f.fail(fmt::format("'{}' is for global memory", f.name()));
  }
  f.arity(1);
  f.address(0);
  f.emit(operation::prefetch);
}

void decode_prefetchu(instruction_decoder& f) {
  f.need_one({".L1"}, "a level");
  f.arity(1);
  f.address(0);
  f.emit(operation::prefetch);
}

// Checks the size after the address, which is fixed.
void line_of(instruction_decoder& f) {
  f.arity(2);
  f.address(0);
  const syntax::operand& size = f.operand(1);
  if (size.kind != syntax::operand_kind::integer || size.bits != 128)
    f.fail(size.at, fmt::format("the size of '{}' is 128", f.text.opcode));
}

void decode_applypriority(instruction_decoder& f) {
  f.require("applypriority");
  space_of(f, {state_space::generic, state_space::global});
  f.need_one({".L2::evict_normal"}, "a priority");
  line_of(f);
  f.emit(operation::prefetch);
}

void decode_discard(instruction_decoder& f) {
  f.require("discard");
  space_of(f, {state_space::generic, state_space::global});
  f.need_one({".L2"}, "a level");
  line_of(f);
  f.emit(operation::discard);
}

// The priority of a cache policy, and the priority of the remaining accesses if given.
void priorities(instruction_decoder& f) {
  const std::vector<std::string_view> given =
      f.accept_all({".L2::evict_last", ".L2::evict_normal", ".L2::evict_first", ".L2::evict_unchanged"});
  const bool good =
      given.size() == 1 ||
      (given.size() == 2 && (given[1] == ".L2::evict_first" || given[1] == ".L2::evict_unchanged"));
  if (!good)
    f.fail(fmt::format(
        "'{}' needs a priority, and may have .L2::evict_first or .L2::evict_unchanged for the rest",
        f.name()));
}

// The fraction of the accesses that the policy applies to.
void fraction(instruction_decoder& f, const syntax::operand& o) {
  f.source_row(o, f32, false, nullptr);
  if (o.kind != syntax::operand_kind::real) return;
  const double value = o.real_bytes == 8 ? std::bit_cast<double>(o.bits)
                                         : std::bit_cast<float>(static_cast<std::uint32_t>(o.bits));
  if (!(value > 0 && value <= 1))
    f.fail(o.at, fmt::format("the fraction of '{}' is above 0 and at most 1", f.text.opcode));
}

void decode_createpolicy(instruction_decoder& f) {
  f.require("createpolicy");
  const int kind = f.need_one({".fractional", ".range", ".cvt"}, "a kind");
  f.types(1);
  f.allow(f.type(0), {b64});
  if (kind == 2) {
    f.need_one({".L2"}, "a level");
    f.arity(2);
    if (f.operand(1).kind == syntax::operand_kind::real)
      f.fail(f.operand(1).at, fmt::format("'{}' takes an integer here", f.name()));
    f.source_row(f.operand(1), b64, false, nullptr);
  } else {
    if (kind == 1) space_of(f, {state_space::generic, state_space::global});
    priorities(f);
    if (kind == 0) {
      f.arity(1, 2);
      if (f.operands() == 2) fraction(f, f.operand(1));
    } else {
      f.arity(4);
      f.address(1);
      f.source_row(f.operand(2), b32, false, nullptr);
      f.source_row(f.operand(3), b32, false, nullptr);
    }
  }
  f.destination(0, 0, b64);
  f.emit(operation::create_policy);
}

void decode_membar(instruction_decoder& f) {
  if (decode_proxy_fence(f)) return;
  constexpr memory_scope levels[] = {memory_scope::cta, memory_scope::gpu, memory_scope::sys};
  f.out.scope = levels[f.need_one({".cta", ".gl", ".sys"}, "a level")];
  f.out.order = memory_order::sc;
  f.arity(0);
  f.emit(operation::fence);
}

void decode_fence(instruction_decoder& f) {
  f.require("fence");
  if (decode_proxy_fence(f)) return;
  constexpr memory_order orders[] = {memory_order::sc, memory_order::acq_rel, memory_order::acquire,
                                     memory_order::release};
  const int order = f.accept_one({".sc", ".acq_rel", ".acquire", ".release"});
  f.out.order = order < 0 ? memory_order::acq_rel : orders[order];
  f.out.scope = scope_of(f.need_one({".cta", ".gpu", ".sys", ".cluster"}, "a scope"));
  if (f.out.scope == memory_scope::cluster) f.require("scope.cluster", ".cluster");
  f.arity(0);
  f.emit(operation::fence);
}

void decode_pmevent(instruction_decoder& f) {
  const std::uint64_t most = f.accept(".mask") ? 0xffff : 15;
  f.arity(1);
  const syntax::operand& event = f.operand(0);
  if (event.kind != syntax::operand_kind::integer || event.bits > most)
    f.fail(event.at, fmt::format("'{}' takes a constant from 0 to {}", f.name(), most));
  f.emit(operation::pmevent);
}

constexpr opcode_row rows[] = {
    {"prefetch", decode_prefetch},
    {"prefetchu", decode_prefetchu},
    {"applypriority", decode_applypriority},
    {"discard", decode_discard},
    {"createpolicy", decode_createpolicy},
    {"membar", decode_membar},
    {"fence", decode_fence},
    {"pmevent", decode_pmevent},
};

}  // namespace
}  // namespace cache_decoding

std::span<const opcode_row> cache_opcodes() { return cache_decoding::rows; }

}  // namespace kaio::emulator
