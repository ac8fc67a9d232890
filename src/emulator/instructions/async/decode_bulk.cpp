// Decodes bulk copies, reductions and prefetches, and single-value stores and reductions that an mbarrier
// counts: st.async, red.async (PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk",
// "cp.reduce.async.bulk", "st.async", "red.async").

#include "emulator/decode/decode_async.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace kaio::emulator {
namespace {

using ptx::type;

// A number of bytes: a multiple of 16.
void byte_count(instruction_decoder& f, std::size_t operand_index) {
  const syntax::operand& o = f.operand(operand_index);
  if (o.kind == syntax::operand_kind::integer && o.bits % 16 != 0)
    f.fail(o.at, fmt::format("'{}' moves a multiple of 16 bytes, not {}", f.name(), o.bits));
  f.source(1, operand_index, type::u32);
}

void need_bulk_group(instruction_decoder& f) {
  if (!f.accept(".bulk_group"))
    f.fail(fmt::format("'{}' needs the completion mechanism .bulk_group", f.name()));
}

void bulk_group(instruction_decoder& f, bulk_group_form form) {
  f.require("cp.async.bulk");
  if (form == bulk_group_form::commit) {
    f.arity(0);
  } else {
    if (f.accept(".read")) form = bulk_group_form::wait_read;
    f.arity(1);
    f.out.immediate = static_cast<s64>(static_cast<u32>(constant_of(f, 0, 0, ~u64{0})));
  }
  f.out.form = static_cast<std::uint8_t>(form);
  f.emit(operation::bulk_group);
}

void prefetch(instruction_decoder& f) {
  f.require("cp.async.bulk", f.name());
  f.need_one({".L2"}, "a level");
  if (!f.accept(".global")) f.fail(fmt::format("'{}' needs .global", f.name()));
  const std::size_t policy = cache_policy(f);
  f.arity(2 + policy);
  transfer_operands transfer;
  transfer.prefetches = true;
  transfer.from = address_operand_of(f, 0, state_space::global);
  set_transfer(f, transfer);
  byte_count(f, 1);
  f.emit(operation::bulk);
}

// Into shared memory: [to], [from], size, [mbarrier] {, mask} {, policy}
void to_shared(instruction_decoder& f, transfer_operands transfer, bool from_global, bool to_cluster,
               bool hints) {
  need_mbarrier_completion(f);
  const bool multicast = to_cluster && from_global && f.accept(".multicast::cluster");
  const std::size_t policy = hints ? cache_policy(f) : 0;
  f.arity(4 + (multicast ? 1 : 0) + policy);
  transfer.multicast = multicast;
  transfer.from = address_operand_of(f, 1, from_global ? state_space::global : state_space::shared);
  transfer.barrier = address_operand_of(f, 3, state_space::shared, to_cluster);
  transfer.to = address_operand_of(f, 0, state_space::shared, to_cluster);
  byte_count(f, 2);
  if (multicast) f.source(2, 4, type::u16);
  set_transfer(f, transfer);
  f.emit(operation::bulk);
}

// Into global memory: [to], [from], size {, policy}
void to_global(instruction_decoder& f, transfer_operands transfer) {
  need_bulk_group(f);
  if (f.accept(".cp_mask")) {
    f.require("cp.async.bulk.cp_mask", ".cp_mask");
    f.fail(fmt::format("'{}': .cp_mask is not supported by the emulator", f.name()));
  }
  const std::size_t policy = cache_policy(f);
  f.arity(3 + policy);
  transfer.from = address_operand_of(f, 1, state_space::shared);
  transfer.to = address_operand_of(f, 0, state_space::global);
  byte_count(f, 2);
  set_transfer(f, transfer);
  f.emit(operation::bulk);
}

struct reduction_row {
  std::string_view modifier;
  atomic_form form;
  std::initializer_list<type> global, shared, single;  // in global memory, in shared memory, for red.async
};

const reduction_row& reduction_of(instruction_decoder& f) {
  static const reduction_row table[] = {
      {".add",
       atomic_form::add,
       {type::u32, type::s32, type::u64, type::f32, type::f64, type::f16, type::bf16},
       {type::u32, type::s32, type::u64},
       {type::u32, type::s32, type::u64, type::s64}},
      {".min",
       atomic_form::min,
       {type::u32, type::s32, type::u64, type::s64, type::f16, type::bf16},
       {type::u32, type::s32},
       {type::u32, type::s32}},
      {".max",
       atomic_form::max,
       {type::u32, type::s32, type::u64, type::s64, type::f16, type::bf16},
       {type::u32, type::s32},
       {type::u32, type::s32}},
      {".inc", atomic_form::inc, {type::u32}, {type::u32}, {type::u32}},
      {".dec", atomic_form::dec, {type::u32}, {type::u32}, {type::u32}},
      {".and", atomic_form::and_, {type::b32, type::b64}, {type::b32}, {type::b32}},
      {".or", atomic_form::or_, {type::b32, type::b64}, {type::b32}, {type::b32}},
      {".xor", atomic_form::xor_, {type::b32, type::b64}, {type::b32}, {type::b32}},
  };
  const reduction_row* found = nullptr;
  for (const reduction_row& row : table) {
    if (!f.accept(row.modifier)) continue;
    if (found != nullptr) f.fail(fmt::format("'{}' names two operations", f.name()));
    found = &row;
  }
  if (found == nullptr) f.fail(fmt::format("'{}' needs an operation, such as .add", f.name()));
  return *found;
}

void allow_for(instruction_decoder& f, const reduction_row& row, std::initializer_list<type> types) {
  if (std::find(types.begin(), types.end(), f.type(0)) == types.end())
    f.fail(fmt::format("'{}': there is no reduction {} of type {} here", f.name(), row.modifier,
                       ptx::suffix(f.type(0))));
}

// .shared::cluster, or generic addresses, for the value's place and the mbarrier's.
bool shared_or_generic(instruction_decoder& f, bool own_block) {
  const int space =
      own_block ? f.accept_one({".shared::cluster", ".shared::cta"}) : f.accept_one({".shared::cluster"});
  if (f.accept(".global") || f.accept(".release")) {
    f.require("st.async.global", f.name());
    f.fail(fmt::format("'{}' is not supported by the emulator", f.name()));
  }
  return space >= 0;
}

}  // namespace

void decode_bulk(instruction_decoder& f) {
  if (f.accept(".commit_group")) return bulk_group(f, bulk_group_form::commit);
  if (f.accept(".wait_group")) return bulk_group(f, bulk_group_form::wait);
  if (f.accept(".prefetch")) return prefetch(f);
  f.require("cp.async.bulk", f.name());
  const std::string spaces = two_spaces(f);
  if (spaces == "shared::cluster.global") return to_shared(f, {}, true, true, true);
  if (spaces == "shared::cta.global") {
    f.require("cp.async.bulk.shared::cta", f.name());
    return to_shared(f, {}, true, false, true);
  }
  if (spaces == "shared::cluster.shared::cta") return to_shared(f, {}, false, true, false);
  if (spaces == "global.shared::cta") return to_global(f, {});
  f.fail(fmt::format("'{}': there is no bulk copy from .{} to .{}", f.name(),
                     spaces.substr(spaces.find('.') + 1), spaces.substr(0, spaces.find('.'))));
}

void decode_bulk_reduction(instruction_decoder& f) {
  f.require("cp.async.bulk", f.name());
  const std::string spaces = two_spaces(f);
  const bool shared = spaces == "shared::cluster.shared::cta";
  if (!shared && spaces != "global.shared::cta")
    f.fail(fmt::format("'{}': reductions go from .shared::cta to .shared::cluster or to .global", f.name()));
  const reduction_row& row = reduction_of(f);
  f.types(1);
  allow_for(f, row, shared ? row.shared : row.global);
  const bool half = f.type(0) == type::f16 || f.type(0) == type::bf16;
  if (half && row.form == atomic_form::add && !f.accept(".noftz"))
    f.fail(fmt::format("'{}': sums of {} need .noftz", f.name(), ptx::suffix(f.type(0))));
  transfer_operands transfer;
  transfer.reduces = true;
  transfer.reduction = row.form;
  f.out.order = memory_order::relaxed;
  f.out.scope = shared ? memory_scope::cluster : memory_scope::gpu;
  if (shared) return to_shared(f, transfer, false, true, false);
  f.function.result().blocks_communicate = true;  // the order of reductions may show
  to_global(f, transfer);
}

void decode_async_store(instruction_decoder& f) {
  f.require("st.async", f.name());
  f.accept(".weak");
  const bool shared = shared_or_generic(f, true);
  need_mbarrier_completion(f);
  f.types(1);
  f.allow(f.type(0),
          {type::b32, type::b64, type::u32, type::u64, type::s32, type::s64, type::f32, type::f64});
  const int v = f.accept_one({".v2", ".v4"});
  f.out.count = static_cast<std::uint8_t>(v < 0 ? 1u : 2u << v);
  if (f.out.count * ptx::size_of(f.type(0)) > 16)
    f.fail(fmt::format("'{}' stores more than 16 bytes", f.name()));
  f.arity(3);
  const state_space space = shared ? state_space::shared : state_space::generic;
  transfer_operands transfer;
  transfer.barrier = address_operand_of(f, 2, space, true);
  transfer.to = address_operand_of(f, 0, space, true);
  set_transfer(f, transfer);
  const syntax::operand& from = f.operand(1);
  const bool is_vector = from.kind == syntax::operand_kind::vector;
  if ((f.out.count > 1 && !is_vector) || (is_vector && from.elements.size() != f.out.count))
    f.fail(from.at, fmt::format("'{}' takes {} element{} here", f.name(), unsigned{f.out.count},
                                f.out.count == 1 ? "" : "s in braces"));
  for (std::size_t k = 0; k < f.out.count; ++k)
    f.out.to[k] = f.source_row(is_vector ? from.elements[k] : from, f.type(0), false, nullptr);
  f.out.to_bytes = static_cast<std::uint8_t>(ptx::size_of(f.type(0)));
  f.emit(operation::async_store);
}

void decode_async_reduction(instruction_decoder& f) {
  f.require("red.async", f.name());
  const bool shared = shared_or_generic(f, false);
  if (!f.accept(".relaxed") || !f.accept(".cluster"))
    f.fail(fmt::format("'{}' needs .relaxed and .cluster", f.name()));
  f.out.order = memory_order::relaxed;
  f.out.scope = memory_scope::cluster;
  need_mbarrier_completion(f);
  const reduction_row& row = reduction_of(f);
  f.types(1);
  allow_for(f, row, row.single);
  f.arity(3);
  const state_space space = shared ? state_space::shared : state_space::generic;
  transfer_operands transfer;
  transfer.reduces = true;
  transfer.reduction = row.form;
  transfer.barrier = address_operand_of(f, 2, space, true);
  transfer.to = address_operand_of(f, 0, space, true);
  set_transfer(f, transfer);
  f.out.form = static_cast<std::uint8_t>(row.form);
  f.out.to[0] = f.source_row(f.operand(1), f.type(0), false, nullptr);
  f.out.to_bytes = static_cast<std::uint8_t>(ptx::size_of(f.type(0)));
  f.emit(operation::async_reduce);
}

}  // namespace kaio::emulator
