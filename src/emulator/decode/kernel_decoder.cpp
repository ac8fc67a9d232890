#include "emulator/decode/kernel_decoder.hpp"

#include "emulator/decode/function_decoder.hpp"
#include "emulator/program/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

namespace kaio::emulator {
namespace {

symbol shared_symbol(const syntax::declaration& d, u64 offset, u64 bytes) {
  symbol s{symbol_kind::shared, d.type, true, offset, bytes};
  s.element_bytes = ptx::size_of(d.type) * d.vector;
  return s;
}

}  // namespace

u32 alignment_of(const syntax::declaration& d) {
  return std::max({d.alignment, ptx::size_of(d.type) * d.vector, 1u});
}

u32 row_bytes_of(ptx::type type) { return type == ptx::type::pred ? 0 : ptx::size_of(type); }

u64 bytes_of(const syntax::declaration& d) { return d.elements * d.vector * ptx::size_of(d.type); }

frame_slot place_in_frame(const syntax::declaration& d, u64& at, u64& signature, bool is_result) {
  if (d.vector != 1 && d.space != syntax::state_space::reg)
    function_decoder::fail(d.at, "a vector is a parameter of a function in .reg only");
  const u64 offset = align_up(at, alignment_of(d));
  at = offset + bytes_of(d);
  signature = (signature ^ (offset << 24 ^ bytes_of(d) << 1 ^ (is_result ? 1 : 0))) * 0xff51afd7ed558ccdull;
  return {static_cast<u32>(offset), static_cast<u32>(bytes_of(d))};
}

kernel_decoder::kernel_decoder(module_symbols& m, u32 root)
    : module(m), root_(root), text_(*m.functions.functions[root].defined) {
  header();
  if (text_.is_entry)
    reached_ = module.graph->from(root_);
  else
    reached_.order = {root_};
}

void kernel_decoder::add_function(u32 number) {
  index_.emplace(number, static_cast<u32>(result.functions.size()));
  callable& c = result.functions.emplace_back();
  c.name = module.functions.functions[number].defined->name;
  c.number = number;
}

void kernel_decoder::header() {
  result.name = std::string(text_.name);
  result.line = text_.at.line;
  if (text_.maximum_threads.given) result.maximum_threads = text_.maximum_threads.extent;
  if (text_.required_threads.given) result.required_threads = text_.required_threads.extent;
  result.explicit_cluster = text_.explicit_cluster;
  if (text_.required_cluster.given && text_.required_cluster.extent.count() != 0) {
    result.required_cluster = text_.required_cluster.extent;
    result.explicit_cluster = true;
  }
  always_row = allocate_row(0, text_.at);
  const u32 always = all_lanes;
  std::memcpy(result.initial.data() + always_row, &always, sizeof always);
  result.carry = allocate_row(0, text_.at);
  trash_row = allocate_row(16, text_.at);
}

// ---- shared and local memory ----

symbol kernel_decoder::place_shared(const syntax::declaration& d) {
  if (d.link == syntax::linkage::external && d.unsized) {
    dynamic_alignment_ = std::max(dynamic_alignment_, alignment_of(d));
    return shared_symbol(d, 0, 0);
  }
  if (d.unsized)
    function_decoder::fail(
        d.at, fmt::format("'{}' has no size; only .extern .shared arrays may be without", d.name));
  const u64 offset = align_up(shared_bytes_, alignment_of(d));
  shared_bytes_ = offset + bytes_of(d);
  if (shared_bytes_ > module.device.static_shared_per_block)
    function_decoder::fail(
        d.at,
        fmt::format(
            "'{}' needs more than {} bytes of static shared memory at '{}'; declare the array as .extern .shared and pass its size at the launch",
            text_.name, module.device.static_shared_per_block, d.name));
  result.shared.push_back({std::string(d.name), offset, bytes_of(d), alignment_of(d)});
  return shared_symbol(d, offset, bytes_of(d));
}

void kernel_decoder::use_module_shared(std::string_view name) {
  const auto found = module.shared.find(name);
  if (found != module.shared.end() && !module_shared_.contains(name))
    module_shared_.emplace(name, place_shared(*found->second));
}

const symbol* kernel_decoder::module_shared(std::string_view name) const {
  const auto found = module_shared_.find(name);
  return found == module_shared_.end() ? nullptr : &found->second;
}

const symbol* kernel_decoder::module_local(std::string_view name) const {
  const auto found = module_local_.find(name);
  return found == module_local_.end() ? nullptr : &found->second;
}

void kernel_decoder::lay_out_shared() {
  result.shared_bytes = static_cast<u32>(shared_bytes_);
  result.dynamic_shared_offset = static_cast<u32>(align_up(shared_bytes_, dynamic_alignment_));
  for (auto& [name, s] : module_shared_)
    if (s.bytes == 0) s.value = result.dynamic_shared_offset;
  for (auto& [d, s] : declared_shared_)
    if (s.bytes == 0) s.value = result.dynamic_shared_offset;
}

// ---- rows ----

u32 kernel_decoder::allocate_row(unsigned bytes_of_lane, const place& at) {
  const std::size_t alignment = bytes_of_lane == 0 ? 4 : 64;
  const std::size_t row = align_up(result.initial.size(), alignment);
  const std::size_t bytes = bytes_of_lane == 0 ? 4 : bytes_of_lane * warp_lanes;
  if (row + bytes > module.budget.file_bytes)
    function_decoder::fail(at, fmt::format("'{}' uses more registers than the emulator's {} bytes for a warp",
                                           text_.name, module.budget.file_bytes));
  result.initial.resize(row + bytes);
  return static_cast<u32>(row);
}

void kernel_decoder::place_register(symbol& s, std::string_view name, const place& at) {
  s.value = allocate_row(row_bytes_of(s.type), at);
  s.placed = true;
  register_of_row_.emplace(static_cast<u32>(s.value), result.registers++);
  result.register_rows.push_back(static_cast<u32>(s.value));
  result.register_names.emplace_back(name);
}

void kernel_decoder::note_uses(instruction& i, const std::vector<u32>& reads,
                               const std::vector<u32>& writes) {
  i.uses = static_cast<u32>(result.uses.size());
  const auto note = [&](const std::vector<u32>& rows) {
    u16 count = 0;
    for (const u32 row : rows) {
      const auto found = register_of_row_.find(row);
      if (found == register_of_row_.end()) continue;
      result.uses.push_back(found->second);
      ++count;
    }
    return count;
  };
  i.reads = note(reads);
  i.writes = note(writes);
}

u32 kernel_decoder::constant_row(unsigned bytes, u64 low, u64 high, const place& at) {
  const auto key = std::pair{bytes, std::pair{low, high}};
  if (const auto found = constants_.find(key); found != constants_.end()) return found->second;
  const u32 row = allocate_row(bytes, at);
  std::byte value[16];
  std::memcpy(value, &low, 8);
  std::memcpy(value + 8, &high, 8);
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    std::memcpy(result.initial.data() + row + lane * bytes, value, bytes);
  constants_.emplace(key, row);
  return row;
}

u32 kernel_decoder::predicate_constant_row(bool value, const place& at) {
  if (value) return always_row;
  const auto key = std::pair{0u, std::pair{u64{0}, u64{0}}};
  if (const auto found = constants_.find(key); found != constants_.end()) return found->second;
  const u32 row = allocate_row(0, at);
  constants_.emplace(key, row);
  return row;
}

u32 kernel_decoder::special_row_of(special_form which, unsigned bytes, const place& at) {
  const auto key = std::pair{which, bytes};
  if (const auto found = specials_.find(key); found != specials_.end()) return found->second;
  const u32 row = allocate_row(bytes, at);
  specials_.emplace(key, row);
  result.specials.push_back({which, row, bytes});
  return row;
}

u32 kernel_decoder::address_row(u32 variable, u64 addend, bool generic, const place& at) {
  const auto key = std::pair{variable, std::pair{addend, generic}};
  if (const auto found = addresses_.find(key); found != addresses_.end()) return found->second;
  const u32 row = allocate_row(8, at);
  addresses_.emplace(key, row);
  result.relocations.push_back({row, variable, addend, generic});
  return row;
}

namespace {

known_address address_in(const symbol& s) {
  known_address a;
  a.space = s.kind == symbol_kind::shared ? state_space::shared : state_space::local;
  a.offset = s.value;
  a.bytes = s.bytes;
  return a;
}

}  // namespace

u32 kernel_decoder::known_address_row(const symbol& s, u64 addend, unsigned bytes, const place& at) {
  known_address a = address_in(s);
  const std::array<u64, 5> key{static_cast<u64>(a.space), a.offset, a.bytes, addend, bytes};
  if (const auto found = known_rows_.find(key); found != known_rows_.end()) return found->second;
  const u64 value = s.value + addend;
  a.row = allocate_row(bytes, at);
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    std::memcpy(result.initial.data() + a.row + lane * bytes, &value, bytes);
  known_rows_.emplace(key, a.row);
  result.known_addresses.push_back(a);
  return a.row;
}

void kernel_decoder::note_access(const symbol& s, u32 site) {
  if (s.bytes == 0) return;
  known_address a = address_in(s);
  a.site = site;
  result.known_addresses.push_back(a);
}

// ---- queries of function decoders ----

void kernel_decoder::note_reduction(u32 kind) {
  reductions_ |= 1u << kind;
  if (std::popcount(reductions_) > 1) result.blocks_communicate = true;
}

void kernel_decoder::count_instruction(const place& at) {
  if (++module.instructions > module.budget.instructions)
    function_decoder::fail(
        at,
        fmt::format(
            "the kernels of the module, each with the functions that it reaches, have more than {} instructions",
            module.budget.instructions));
}

bool kernel_decoder::may_return_to(u32 caller, u32 callee) const {
  const auto a = reached_.circle.find(caller), b = reached_.circle.find(callee);
  return a != reached_.circle.end() && b != reached_.circle.end() && a->second == b->second;
}

bool kernel_decoder::pointers_may_return_to(u32 caller) const {
  const auto a = reached_.circle.find(caller);
  return a != reached_.circle.end() && a->second == reached_.pointer_circle;
}

u32 kernel_decoder::index_of(u32 function) const {
  const auto found = index_.find(function);
  return found == index_.end() ? no_function : found->second;
}

}  // namespace kaio::emulator
