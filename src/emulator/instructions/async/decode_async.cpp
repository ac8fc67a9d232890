// Decodes cp.async and its groups, and code shared by the families of asynchronous instructions.

#include "emulator/decode/decode_async.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "host/lasting.hpp"

namespace kaio::emulator {

bool starts_with(instruction_decoder& f, std::initializer_list<std::string_view> words) {
  if (f.text.modifiers.size() < words.size()) return false;
  const bool equal = std::equal(words.begin(), words.end(), f.text.modifiers.begin(),
                                [](std::string_view word, const auto& m) { return word == m.text; });
  if (!equal) return false;
  for (const std::string_view word : words) f.accept(word);
  return true;
}

std::string two_spaces(instruction_decoder& f) {
  std::string result;
  std::size_t count = 0;
  for (const syntax::modifier& m : f.text.modifiers) {
    if (m.text != ".global" && !m.text.starts_with(".shared")) continue;
    f.accept(m.text);
    result += count++ == 0 ? m.text.substr(1) : m.text;
  }
  if (count != 2)
    f.fail(fmt::format("'{}' needs the state spaces of its destination and its source", f.name()));
  return result;
}

address_operand address_operand_of(instruction_decoder& f, std::size_t operand_index, state_space space,
                                   bool cluster) {
  f.out.space = space;
  f.out.flags.cluster = cluster;
  f.address(operand_index);
  return {f.out.immediate, f.out.from[0], f.out.site, f.out.from_bytes, space, cluster};
}

void set_transfer(instruction_decoder& f, const transfer_operands& transfer) {
  auto& transfers = f.function.result().transfers;
  f.out.detail = static_cast<u32>(transfers.size());
  transfers.push_back(transfer);
}

void require_specific(instruction_decoder& f, std::string_view called) {
  const syntax::module& m = f.function.module().text;
  if (m.target.arch_specific || m.family_specific) return;
  f.fail(fmt::format("'{}' needs an architecture-specific .target such as sm_90a or sm_100f", called));
}

std::size_t cache_policy(instruction_decoder& f) {
  if (!f.accept(".L2::cache_hint")) return 0;
  f.require("cache_hint", ".L2::cache_hint");
  if (f.operands() == 0) f.fail(fmt::format("'{}' needs a cache policy", f.name()));
  f.source_row(f.operand(f.operands() - 1), ptx::type::b64, false, nullptr);
  return 1;
}

u64 constant_of(instruction_decoder& f, std::size_t operand_index, u64 least, u64 most) {
  const syntax::operand& o = f.operand(operand_index);
  if (o.kind != syntax::operand_kind::integer)
    f.fail(o.at, fmt::format("'{}' takes a constant here", f.name()));
  if (o.bits < least || o.bits > most)
    f.fail(o.at, fmt::format("'{}' takes a constant from {} to {} here, not {}", f.name(), least, most,
                             static_cast<s64>(o.bits)));
  return o.bits;
}

void need_mbarrier_completion(instruction_decoder& f) {
  if (!f.accept(".mbarrier::complete_tx::bytes"))
    f.fail(fmt::format("'{}' needs the completion mechanism .mbarrier::complete_tx::bytes", f.name()));
}

namespace {

void copy_group(instruction_decoder& f) {
  f.require("cp.async");
  if (f.accept(".wait_group")) {
    f.out.form = static_cast<u8>(copy_group_form::wait);
    f.arity(1);
    f.out.immediate = static_cast<s64>(static_cast<u32>(constant_of(f, 0, 0, ~u64{0})));
  } else {
    const bool commits = f.accept(".commit_group");
    if (!commits) f.accept(".wait_all");
    f.out.form = static_cast<u8>(commits ? copy_group_form::commit : copy_group_form::wait_all);
    f.arity(0);
  }
  f.emit(operation::cp_async_group);
}

// [to], [from], size {, source size or predicate to ignore the source} {, policy}
void thread_copy(instruction_decoder& f) {
  f.require("cp.async");
  const bool bypasses = f.need_one({".ca", ".cg"}, "a cache operator") == 1;
  const std::string spaces = two_spaces(f);
  if (spaces != "shared.global" && spaces != "shared::cta.global")
    f.fail(fmt::format("'{}' copies from .global to .shared", f.name()));
  const int prefetch = f.accept_one({".L2::64B", ".L2::128B", ".L2::256B"});
  if (prefetch >= 0) f.require("cp.async.prefetch", f.name());
  const std::size_t policy = cache_policy(f);
  f.arity(3 + policy, 4 + policy);
  const u64 bytes = constant_of(f, 2, 4, 16);
  if (bypasses && bytes != 16) f.fail(f.operand(2).at, "cp.async.cg copies 16 bytes");
  if (bytes != 4 && bytes != 8 && bytes != 16) f.fail(f.operand(2).at, "cp.async copies 4, 8 or 16 bytes");
  f.out.count = static_cast<u8>(bytes);
  transfer_operands transfer;
  transfer.from = address_operand_of(f, 1, state_space::global);
  transfer.to = address_operand_of(f, 0, state_space::shared);
  set_transfer(f, transfer);
  f.out.from[1] = f.function.constant_row(4, bytes);
  f.out.from[2] = f.function.predicate_constant_row(false);
  if (f.operands() == 4 + policy) {
    const syntax::operand& o = f.operand(3);
    const symbol* s =
        o.kind == syntax::operand_kind::name && o.member.empty() ? f.function.find(o.name) : nullptr;
    if (s != nullptr && s->type == ptx::type::pred) {
      f.require("cp.async.ignore_src", f.name());
      bool negated = false;
      f.out.from[2] = f.condition_row(o, negated);
      f.out.flags.negated = negated;
    } else {
      if (o.kind == syntax::operand_kind::integer) constant_of(f, 3, 0, bytes);
      f.out.from[1] = f.source_row(o, ptx::type::b32, false, nullptr);
    }
  }
  f.emit(operation::cp_async);
}

void decode_cp(instruction_decoder& f) {
  if (starts_with(f, {".reduce", ".async", ".bulk", ".tensor"})) return decode_tensor_reduction(f);
  if (starts_with(f, {".reduce", ".async", ".bulk"})) return decode_bulk_reduction(f);
  if (starts_with(f, {".async", ".bulk", ".tensor"})) return decode_tensor_copy(f);
  if (starts_with(f, {".async", ".bulk", ".prefetch", ".tensor"})) return decode_tensor_prefetch(f);
  if (starts_with(f, {".async", ".bulk"})) return decode_bulk(f);
  if (starts_with(f, {".async", ".mbarrier", ".arrive"})) return decode_mbarrier_arrive_of_copies(f);
  if (!starts_with(f, {".async"})) f.fail(fmt::format("'{}' is not an instruction of PTX", f.name()));
  if (!f.text.modifiers.empty()) {
    const std::string_view second = f.text.modifiers.size() < 2 ? "" : f.text.modifiers[1].text;
    if (second == ".commit_group" || second == ".wait_group" || second == ".wait_all") return copy_group(f);
  }
  thread_copy(f);
}

void decode_griddepcontrol(instruction_decoder& f) {
  f.require("griddepcontrol");
  f.out.form = static_cast<u8>(f.need_one({".launch_dependents", ".wait"}, "an action"));
  f.arity(0);
  f.emit(operation::griddepcontrol);
}

void decode_setmaxnreg(instruction_decoder& f) {
  f.require("setmaxnreg");
  require_specific(f, "setmaxnreg");
  const bool increases = starts_with(f, {".inc"});
  if (!increases && !starts_with(f, {".dec"}))
    f.fail(fmt::format("'{}' needs .inc or .dec directly after 'setmaxnreg'", f.name()));
  f.out.form = increases ? 0 : 1;
  if (!f.accept(".sync") || !f.accept(".aligned"))
    f.fail(fmt::format("'{}' needs .sync and .aligned", f.name()));
  f.types(1);
  f.allow(f.type(0), {ptx::type::u32});
  f.arity(1);
  const u64 count = constant_of(f, 0, 24, 256);
  if (count % 8 != 0)
    f.fail(f.operand(0).at, fmt::format("the register count {} is not a multiple of 8", count));
  f.out.immediate = static_cast<s64>(count);
  f.emit(operation::setmaxnreg);
}

void decode_multimem(instruction_decoder& f) {
  f.require("multimem");
  f.fail(fmt::format("'{}' is not supported: the emulator has one device, and no memory that several share",
                     f.name()));
}

void decode_newer(instruction_decoder& f) {
  f.require("clusterlaunchcontrol");
  f.fail(fmt::format("'{}' is not supported by the emulator", f.name()));
}

}  // namespace

std::span<const opcode_row> mbarrier_opcodes();
std::span<const opcode_row> tensormap_opcodes();

std::span<const opcode_row> async_opcodes() {
  static const auto& rows = *[] {
    auto* const all = host::make_lasting<std::vector<opcode_row>>(
        std::initializer_list<opcode_row>{{"cp", decode_cp},
                                          {"griddepcontrol", decode_griddepcontrol},
                                          {"setmaxnreg", decode_setmaxnreg},
                                          {"multimem", decode_multimem},
                                          {"clusterlaunchcontrol", decode_newer}});
    for (const auto& family : {mbarrier_opcodes(), tensormap_opcodes()})
      all->insert(all->end(), family.begin(), family.end());
    return all;
  }();
  return rows;
}

}  // namespace kaio::emulator
