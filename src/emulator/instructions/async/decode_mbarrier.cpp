// Decodes mbarriers (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier").

#include "emulator/decode/decode_async.hpp"

#include <fmt/format.h>

#include <utility>

namespace kaio::emulator {
namespace {

enum class sharing { block, cluster };

// The space of the mbarrier: generic, or shared memory.
void barrier_space(instruction_decoder& f, sharing allowed) {
  const int space = f.accept_one({".shared", ".shared::cta", ".shared::cluster"});
  f.out.space = space < 0 ? state_space::generic : state_space::shared;
  f.out.flags.cluster = space == 2;
  if (space == 1) f.require("shared::cta", ".shared::cta");
  if (space != 2) return;
  if (allowed == sharing::block)
    f.fail(fmt::format("'{}' works on an mbarrier of the thread's own block only", f.name()));
  f.require("mbarrier.cluster", f.name());
}

// .release.cta and the like: order and scope, or neither.
void order_and_scope(instruction_decoder& f, std::string_view strong) {
  const int order = strong.empty() ? f.accept_one({".relaxed"}) : f.accept_one({".relaxed", strong});
  const int scope = f.accept_one({".cta", ".cluster"});
  if ((order < 0) != (scope < 0))
    f.fail(fmt::format("'{}' needs {}", f.name(),
                       order < 0 ? "an order for its scope" : "a scope: .cta or .cluster"));
  const memory_order full = strong == ".acquire" ? memory_order::acquire : memory_order::release;
  f.out.order = strong.empty() || order == 0 ? memory_order::relaxed : full;
  f.out.scope = scope == 1 ? memory_scope::cluster : memory_scope::cta;
  if (order >= 0) f.require("mbarrier.order", f.name());
  if (order == 0 && !strong.empty()) f.require("mbarrier.relaxed", f.name());
  if (scope == 1) f.require("mbarrier.cluster", f.name());
}

void bits_type(instruction_decoder& f) {
  f.types(1);
  f.allow(f.type(0), {ptx::type::b64});
}

void finish(instruction_decoder& f, mbarrier_form form) {
  f.out.form = static_cast<u8>(form);
  f.emit(operation::mbarrier);
}

void decode_init(instruction_decoder& f) {
  f.require("mbarrier");
  barrier_space(f, sharing::block);
  bits_type(f);
  f.arity(2);
  f.address(0);
  f.source(1, 1, ptx::type::u32);
  finish(f, mbarrier_form::init);
}

void decode_inval(instruction_decoder& f) {
  f.require("mbarrier");
  barrier_space(f, sharing::block);
  bits_type(f);
  f.arity(1);
  f.address(0);
  finish(f, mbarrier_form::inval);
}

// state, [address] {, count}
void decode_arrival(instruction_decoder& f, bool drops) {
  f.require("mbarrier");
  const bool expects = f.text.modifiers.size() > 1 && f.text.modifiers[1].text == ".expect_tx";
  if (expects) f.accept(".expect_tx");
  const bool no_complete = f.accept(".noComplete");
  if (expects) f.require("mbarrier.expect_tx", f.name());
  barrier_space(f, sharing::cluster);
  order_and_scope(f, ".release");
  bits_type(f);
  if (no_complete) {
    if (expects || f.out.flags.cluster || f.out.scope == memory_scope::cluster ||
        f.out.order == memory_order::relaxed)
      f.fail(
          fmt::format("'{}': .noComplete goes with .release.cta and an mbarrier of the own block", f.name()));
    f.arity(3);
  } else {
    f.arity(expects ? 3 : 2, 3);
    if (f.operands() == 3 && !expects)
      f.require("mbarrier.arrive.count", fmt::format("{} with a count", f.name()));
  }
  if (f.operand(0).kind == syntax::operand_kind::sink) {
    if (!drops) f.require("mbarrier.sink", f.name());
    f.out.to[0] = f.function.trash_row();
  } else {
    if (f.out.flags.cluster)
      f.fail(f.operand(0).at,
             fmt::format("'{}' has no state of another block's mbarrier; write '_'", f.name()));
    f.destination(0, 0, ptx::type::b64);
    f.out.flags.has_second = true;  // the state is needed
  }
  f.address(1);
  f.out.from[1] = f.operands() == 3 ? f.source_row(f.operand(2), ptx::type::u32, false, nullptr)
                                    : f.function.constant_row(4, 1);
  using enum mbarrier_form;
  finish(f, expects       ? (drops ? drop_expect_tx : arrive_expect_tx)
            : no_complete ? (drops ? drop_no_complete : arrive_no_complete)
                          : (drops ? drop : arrive));
}

void decode_transaction(instruction_decoder& f, mbarrier_form form) {
  f.require("mbarrier.expect_tx", f.name());
  barrier_space(f, sharing::cluster);
  order_and_scope(f, "");
  bits_type(f);
  f.arity(2);
  f.address(0);
  f.source(1, 1, ptx::type::u32);
  finish(f, form);
}

void decode_test(instruction_decoder& f, bool tries) {
  f.require(tries ? "mbarrier.try_wait" : "mbarrier", f.name());
  const bool parity = f.text.modifiers.size() > 1 && f.text.modifiers[1].text == ".parity";
  if (parity) {
    f.accept(".parity");
    f.require("mbarrier.parity", f.name());
  }
  barrier_space(f, sharing::block);
  order_and_scope(f, ".acquire");
  bits_type(f);
  f.arity(3, tries ? 4 : 3);
  if (f.operand(0).kind == syntax::operand_kind::sink)
    f.fail(f.operand(0).at, fmt::format("'{}' needs a predicate for its outcome", f.name()));
  f.out.to[0] = f.predicate_row(f.operand(0));
  f.address(1);
  f.source(1, 2, parity ? ptx::type::u32 : ptx::type::b64);
  if (f.operands() == 4) f.source(2, 3, ptx::type::u32);  // the time limit, which is only a hint
  f.function.result().may_spin = true;
  using enum mbarrier_form;
  finish(f, tries ? (parity ? try_wait_parity : try_wait) : (parity ? test_wait_parity : test_wait));
}

void decode_pending_count(instruction_decoder& f) {
  f.require("mbarrier");
  bits_type(f);
  f.arity(2);
  f.destination(0, 0, ptx::type::u32);
  f.source(1, 1, ptx::type::b64);
  finish(f, mbarrier_form::pending_count);
}

void decode_mbarrier(instruction_decoder& f) {
  if (starts_with(f, {".init"})) return decode_init(f);
  if (starts_with(f, {".inval"})) return decode_inval(f);
  if (starts_with(f, {".arrive"})) return decode_arrival(f, false);
  if (starts_with(f, {".arrive_drop"})) return decode_arrival(f, true);
  if (starts_with(f, {".expect_tx"})) return decode_transaction(f, mbarrier_form::expect_tx);
  if (starts_with(f, {".complete_tx"})) return decode_transaction(f, mbarrier_form::complete_tx);
  if (starts_with(f, {".test_wait"})) return decode_test(f, false);
  if (starts_with(f, {".try_wait"})) return decode_test(f, true);
  if (starts_with(f, {".pending_count"})) return decode_pending_count(f);
  f.fail(
      fmt::format("'{}' needs an operation directly after 'mbarrier', such as .init or .arrive", f.name()));
}

constexpr opcode_row mbarrier_rows[] = {{"mbarrier", decode_mbarrier}};

}  // namespace

void decode_mbarrier_arrive_of_copies(instruction_decoder& f) {
  f.require("cp.async.mbarrier.arrive");
  const bool uncounted = f.accept(".noinc");
  barrier_space(f, sharing::block);
  bits_type(f);
  f.arity(1);
  f.address(0);
  f.out.form = static_cast<u8>(uncounted ? copy_group_form::arrive_noinc : copy_group_form::arrive);
  f.emit(operation::cp_async_group);
}

std::span<const opcode_row> mbarrier_opcodes() { return mbarrier_rows; }

}  // namespace kaio::emulator
