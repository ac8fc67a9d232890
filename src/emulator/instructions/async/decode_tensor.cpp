// Decodes tensor copies, and instructions that change tensor maps (PTX ISA, "cp.async.bulk.tensor",
// "cp.reduce.async.bulk.tensor", "cp.async.bulk.prefetch.tensor", "tensormap.replace",
// "tensormap.cp_fenceproxy").

#include "emulator/decode/decode_async.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace kaio::emulator {
namespace {

using ptx::type;

u32 dimensions_of(instruction_decoder& f) {
  return static_cast<u32>(f.need_one({".1d", ".2d", ".3d", ".4d", ".5d"}, "a number of dimensions") + 1);
}

// Rejects modifiers that only newer targets have.
void refuse_newer(instruction_decoder& f) {
  for (const syntax::modifier& m : f.text.modifiers) {
    const bool newer =
        m.text.starts_with(".tile::") || m.text.starts_with(".im2col::") || m.text.starts_with(".cta_group");
    if (!newer) continue;
    f.require("cp.async.bulk.tensor on sm_100", m.text == ".cta_group::1" ? ".cta_group" : m.text);
    f.fail(m.at, fmt::format("'{}' is not supported by the emulator", m.text));
  }
}

// True for im2col.
bool load_mode(instruction_decoder& f, u32 dimensions, std::string_view im2col) {
  refuse_newer(f);
  const bool unrolls = f.accept_one({".tile", im2col}) == 1;
  if (unrolls && dimensions < 3)
    f.fail(fmt::format("'{}': {} needs at least 3 dimensions", f.name(), im2col));
  return unrolls;
}

// A generic address, the first of several elements in brackets.
address_operand generic_place(instruction_decoder& f, const syntax::operand& o, const syntax::operand& base) {
  address_operand place;
  place.offset = static_cast<s64>(o.offset);
  place.site = f.function.result().sites++;
  place.bytes = 8;
  if (base.kind != syntax::operand_kind::name || base.negated || !base.member.empty())
    f.fail(base.at, "the address of a tensor map is a register or a variable");
  const symbol* s = f.function.find(base.name);
  if (s != nullptr && s->kind == symbol_kind::variable) {
    place.row = f.function.address_row(static_cast<u32>(s->value), 0, true);
  } else if (s != nullptr && s->kind == symbol_kind::reg) {
    place.row = f.source_row(base, type::u64, false, nullptr);
  } else {
    f.fail(base.at,
           fmt::format("'{}': the address of a tensor map is generic; take it with cvta", base.name));
  }
  return place;
}

// [map, {coordinates}]
address_operand map_and_coordinates(instruction_decoder& f, std::size_t operand_index, u32 dimensions) {
  const syntax::operand& o = f.operand(operand_index);
  if (o.kind != syntax::operand_kind::address || o.elements.size() != 2 ||
      o.elements[1].kind != syntax::operand_kind::vector)
    f.fail(o.at, fmt::format("'{}' takes a tensor map and coordinates here: [map, {{x, ...}}]", f.name()));
  if (o.has_offset) f.fail(o.at, "the address of a tensor map has no offset here");
  const address_operand map = generic_place(f, o, o.elements[0]);
  const auto& coordinates = o.elements[1].elements;
  if (coordinates.size() != dimensions)
    f.fail(o.elements[1].at,
           fmt::format("'{}' takes {} coordinates, not {}", f.name(), dimensions, coordinates.size()));
  for (const syntax::operand& x : coordinates) f.list_row(f.source_row(x, type::s32, false, nullptr));
  return map;
}

void im2col_offsets(instruction_decoder& f, std::size_t operand_index, u32 dimensions) {
  const syntax::operand& o = f.operand(operand_index);
  if (o.kind != syntax::operand_kind::vector || o.elements.size() != dimensions - 2)
    f.fail(o.at, fmt::format("'{}' takes {} im2col offset{} in braces here", f.name(), dimensions - 2,
                             dimensions == 3 ? "" : "s"));
  for (const syntax::operand& x : o.elements) f.list_row(f.source_row(x, type::u16, false, nullptr));
}

// [to], [map, coordinates], [mbarrier] {, offsets} {, mask} {, policy}
void load(instruction_decoder& f, u32 dimensions, bool to_cluster) {
  need_mbarrier_completion(f);
  transfer_operands transfer;
  transfer.dimensions = static_cast<std::uint8_t>(dimensions);
  transfer.im2col = load_mode(f, dimensions, ".im2col");
  if (!to_cluster) f.require("cp.async.bulk.shared::cta", f.name());
  transfer.multicast = to_cluster && f.accept(".multicast::cluster");
  const std::size_t policy = cache_policy(f);
  const std::size_t offsets = transfer.im2col ? 1 : 0;
  f.arity(3 + offsets + (transfer.multicast ? 1 : 0) + policy);
  transfer.from = map_and_coordinates(f, 1, dimensions);
  if (transfer.im2col) im2col_offsets(f, 3, dimensions);
  transfer.barrier = address_operand_of(f, 2, state_space::shared, to_cluster);
  transfer.to = address_operand_of(f, 0, state_space::shared, to_cluster);
  if (transfer.multicast) f.source(2, 3 + offsets, type::u16);
  set_transfer(f, transfer);
  f.emit(operation::tensor_copy);
}

// [map, coordinates], [from] {, policy}
void store(instruction_decoder& f, u32 dimensions, transfer_operands transfer) {
  if (!f.accept(".bulk_group"))
    f.fail(fmt::format("'{}' needs the completion mechanism .bulk_group", f.name()));
  transfer.dimensions = static_cast<std::uint8_t>(dimensions);
  transfer.im2col = load_mode(f, dimensions, ".im2col_no_offs");
  const std::size_t policy = cache_policy(f);
  f.arity(2 + policy);
  transfer.to = map_and_coordinates(f, 0, dimensions);
  transfer.from = address_operand_of(f, 1, state_space::shared);
  set_transfer(f, transfer);
  f.emit(operation::tensor_copy);
}

// ---- tensor maps ----

struct field_row {
  std::string_view modifier;
  tensormap_form form;
  u64 most;  // greatest constant
};

constexpr u64 any = ~u64{0};
constexpr field_row fields[] = {
    {".global_address", tensormap_form::global_address, any},
    {".rank", tensormap_form::rank, any},
    {".box_dim", tensormap_form::box_dim, any},
    {".global_dim", tensormap_form::global_dim, any},
    {".global_stride", tensormap_form::global_stride, any},
    {".element_stride", tensormap_form::element_stride, any},
    {".elemtype", tensormap_form::elemtype, 12},
    {".interleave_layout", tensormap_form::interleave_layout, 2},
    {".swizzle_mode", tensormap_form::swizzle_mode, 3},
    {".fill_mode", tensormap_form::fill_mode, 1},
};

void replace(instruction_decoder& f) {
  f.require("tensormap.replace");
  require_specific(f, "tensormap.replace");
  if (!f.accept(".tile")) f.fail(fmt::format("'{}' needs the mode .tile", f.name()));
  if (f.accept(".swizzle_atomicity")) {
    f.require("cp.async.bulk.tensor on sm_100", ".swizzle_atomicity");
    f.fail(fmt::format("'{}' is not supported by the emulator", f.name()));
  }
  const field_row* field = nullptr;
  for (const field_row& row : fields)
    if (f.accept(row.modifier)) {
      if (field != nullptr) f.fail(fmt::format("'{}' names two fields", f.name()));
      field = &row;
    }
  if (field == nullptr) f.fail(fmt::format("'{}' needs a field, such as .global_address", f.name()));
  if (!f.accept(".b1024")) f.fail(fmt::format("'{}' needs .b1024", f.name()));
  const int space = f.accept_one({".global", ".shared::cta"});
  f.out.space = space < 0 ? state_space::generic : space == 0 ? state_space::global : state_space::shared;
  const bool wide =
      field->form == tensormap_form::global_address || field->form == tensormap_form::global_stride;
  f.types(1);
  if (f.type(0) != (wide ? type::b64 : type::b32))
    f.fail(
        fmt::format("'{}': the value of {} has type {}", f.name(), field->modifier, wide ? ".b64" : ".b32"));
  const bool has_ordinal =
      field->form >= tensormap_form::box_dim && field->form <= tensormap_form::element_stride;
  f.arity(has_ordinal ? 3 : 2);
  if (has_ordinal) f.out.count = static_cast<std::uint8_t>(constant_of(f, 1, 0, 4));
  f.address(0);
  const std::size_t value = has_ordinal ? 2 : 1;
  if (field->most != any) constant_of(f, value, 0, field->most);
  f.source(1, value, f.type(0));
  f.out.form = static_cast<std::uint8_t>(field->form);
  f.emit(operation::tensormap);
}

void copy_fence(instruction_decoder& f) {
  f.require("tensormap.cp_fenceproxy");
  if (two_spaces(f) != "global.shared::cta")
    f.fail(fmt::format("'{}' copies from .shared::cta to .global", f.name()));
  if (!f.accept(".tensormap::generic") || !f.accept(".release"))
    f.fail(fmt::format("'{}' needs .tensormap::generic.release", f.name()));
  f.out.order = memory_order::release;
  const int scope = f.need_one({".cta", ".gpu", ".sys", ".cluster"}, "a scope");
  if (!f.accept(".sync") || !f.accept(".aligned"))
    f.fail(fmt::format("'{}' needs .sync and .aligned", f.name()));
  f.arity(3);
  if (constant_of(f, 2, 0, any) != 128) f.fail(f.operand(2).at, "the size of a tensor map is 128");
  transfer_operands transfer;
  transfer.from = address_operand_of(f, 1, state_space::shared);
  transfer.to = address_operand_of(f, 0, state_space::global);
  set_transfer(f, transfer);
  f.out.scope = scope_of(scope);
  f.out.form = static_cast<std::uint8_t>(tensormap_form::cp_fenceproxy);
  f.emit(operation::tensormap);
}

void decode_tensormap(instruction_decoder& f) {
  if (starts_with(f, {".replace"})) return replace(f);
  if (starts_with(f, {".cp_fenceproxy"})) return copy_fence(f);
  f.fail(fmt::format("'{}' is not an instruction of PTX", f.name()));
}

constexpr opcode_row tensormap_rows[] = {{"tensormap", decode_tensormap}};

}  // namespace

void decode_tensor_copy(instruction_decoder& f) {
  f.require("cp.async.bulk", f.name());
  const u32 dimensions = dimensions_of(f);
  const std::string spaces = two_spaces(f);
  if (spaces == "shared::cluster.global") return load(f, dimensions, true);
  if (spaces == "shared::cta.global") return load(f, dimensions, false);
  if (spaces == "global.shared::cta") return store(f, dimensions, {});
  f.fail(fmt::format("'{}': there is no tensor copy from .{} to .{}", f.name(),
                     spaces.substr(spaces.find('.') + 1), spaces.substr(0, spaces.find('.'))));
}

void decode_tensor_reduction(instruction_decoder& f) {
  f.require("cp.async.bulk", f.name());
  const u32 dimensions = dimensions_of(f);
  if (two_spaces(f) != "global.shared::cta")
    f.fail(fmt::format("'{}': tensor reductions go from .shared::cta to .global", f.name()));
  constexpr atomic_form forms[] = {atomic_form::add, atomic_form::min,  atomic_form::max, atomic_form::inc,
                                   atomic_form::dec, atomic_form::and_, atomic_form::or_, atomic_form::xor_};
  transfer_operands transfer;
  transfer.reduces = true;
  transfer.reduction =
      forms[f.need_one({".add", ".min", ".max", ".inc", ".dec", ".and", ".or", ".xor"}, "an operation")];
  f.out.order = memory_order::relaxed;
  f.out.scope = memory_scope::gpu;
  f.function.result().blocks_communicate = true;  // the order of reductions may show
  store(f, dimensions, transfer);
}

void decode_tensor_prefetch(instruction_decoder& f) {
  f.require("cp.async.bulk", f.name());
  const u32 dimensions = dimensions_of(f);
  f.need_one({".L2"}, "a level");
  if (!f.accept(".global")) f.fail(fmt::format("'{}' needs .global", f.name()));
  transfer_operands transfer;
  transfer.prefetches = true;
  transfer.dimensions = static_cast<std::uint8_t>(dimensions);
  transfer.im2col = load_mode(f, dimensions, ".im2col");
  const std::size_t policy = cache_policy(f);
  f.arity(1 + (transfer.im2col ? 1 : 0) + policy);
  transfer.from = map_and_coordinates(f, 0, dimensions);
  if (transfer.im2col) im2col_offsets(f, 1, dimensions);
  set_transfer(f, transfer);
  f.emit(operation::tensor_copy);
}

// fence.proxy.async, fence.proxy.alias, fence.proxy.tensormap::generic, fence.mbarrier_init, and fences
// restricted to a cluster's shared memory.
bool decode_proxy_fence(instruction_decoder& f) {
  const auto finish = [&](proxy_form form) {
    f.out.form = static_cast<std::uint8_t>(form);
    f.emit(operation::proxy_fence);
    return true;
  };
  const auto order_and_scope = [&](std::initializer_list<std::string_view> scopes) {
    f.out.order =
        f.need_one({".acquire", ".release"}, "an order") == 0 ? memory_order::acquire : memory_order::release;
    const int scope = f.need_one(scopes, "a scope");
    f.out.scope = scopes.size() == 1 ? memory_scope::cluster : scope_of(scope);
  };
  // .acquire requires the cluster's shared memory, .release the block's.
  const auto restriction = [&] {
    order_and_scope({".cluster"});
    const bool acquires = f.out.order == memory_order::acquire;
    if (!f.accept(acquires ? ".sync_restrict::shared::cluster" : ".sync_restrict::shared::cta"))
      f.fail(fmt::format(
          "'{}': .acquire goes with .sync_restrict::shared::cluster, .release with .sync_restrict::shared::cta",
          f.name()));
    f.out.space = state_space::shared;
    f.require("fence.sync_restrict", f.name());
    f.arity(0);
  };
  const bool any_kind = f.text.opcode == "fence";
  if (!any_kind && !starts_with(f, {".proxy", ".alias"}) && !starts_with(f, {".proxy", ".async"}))
    return false;
  if (starts_with(f, {".proxy", ".alias"})) {
    f.require("fence.proxy.alias", f.name());
    f.arity(0);
    return finish(proxy_form::alias);
  }
  if (starts_with(f, {".mbarrier_init"})) {
    f.require("fence.mbarrier_init", f.name());
    if (!f.accept(".release") || !f.accept(".cluster"))
      f.fail(fmt::format("'{}' needs .release.cluster", f.name()));
    f.out.order = memory_order::release;
    f.out.scope = memory_scope::cluster;
    f.arity(0);
    return finish(proxy_form::mbarrier_init);
  }
  if (starts_with(f, {".proxy", ".async"})) {
    f.require("fence.proxy.async", f.name());
    const int space = any_kind ? f.accept_one({".global", ".shared::cta", ".shared::cluster"}) : -1;
    f.out.space = space < 0 ? state_space::generic : space == 0 ? state_space::global : state_space::shared;
    f.out.flags.cluster = space == 2;
    f.arity(0);
    return finish(proxy_form::async);
  }
  if (starts_with(f, {".proxy", ".tensormap::generic"})) {
    f.require("fence.proxy.tensormap", f.name());
    order_and_scope({".cta", ".gpu", ".sys", ".cluster"});
    const bool acquires = f.out.order == memory_order::acquire;
    f.arity(acquires ? 2 : 0);
    if (acquires) {
      f.address(0);
      if (constant_of(f, 1, 0, any) != 128) f.fail(f.operand(1).at, "the size of a tensor map is 128");
    }
    return finish(proxy_form::tensormap);
  }
  if (starts_with(f, {".proxy", ".async::generic"})) {
    restriction();
    return finish(proxy_form::async_restricted);
  }
  if (!f.text.modifiers.empty() && f.text.modifiers[0].text == ".proxy")
    f.fail(
        fmt::format("'{}' names no proxy: .async, .alias, .tensormap::generic or .async::generic", f.name()));
  for (const syntax::modifier& m : f.text.modifiers) {
    if (!m.text.starts_with(".sync_restrict")) continue;
    restriction();
    return finish(proxy_form::restricted);
  }
  return false;
}

std::span<const opcode_row> tensormap_opcodes() { return tensormap_rows; }

}  // namespace kaio::emulator
