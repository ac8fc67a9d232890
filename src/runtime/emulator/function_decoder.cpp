#include "runtime/emulator/function_decoder.hpp"

#include "runtime/emulator/control_flow.hpp"
#include "runtime/emulator/form.hpp"
#include "runtime/emulator/requirements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace kaio::runtime::emulator {
namespace {

constexpr u32 unplaced_label = std::numeric_limits<u32>::max();

constexpr u64 align_up(u64 value, u64 alignment) { return (value + alignment - 1) / alignment * alignment; }

u32 alignment_of(const syntax::declaration& d) {
  return std::max(d.alignment, ptx::size_of(d.type) * d.vector);
}

u64 bytes_of(const syntax::declaration& d) { return d.elements * d.vector * ptx::size_of(d.type); }

const std::unordered_map<std::string_view, decode_function>& opcodes() {
  static const auto table = [] {
    std::unordered_map<std::string_view, decode_function> all;
    for (const auto& family :
         {arithmetic_opcodes(), floating_opcodes(), bit_opcodes(), compare_opcodes(), convert_opcodes(),
          memory_opcodes(), atomic_opcodes(), cache_opcodes(), call_opcodes(), control_opcodes(),
          warp_opcodes(), cluster_opcodes(), mma_opcodes(), matrix_opcodes(), wgmma_opcodes(),
          async_opcodes(), video_opcodes()})
      for (const opcode_row& row : family) all.emplace(row.opcode, row.decode);
    return all;
  }();
  return table;
}

}  // namespace

void function_decoder::fail(const place& at, std::string reason) {
  throw ptx_error(at.line, at.column, std::move(reason));
}

void function_decoder::require(std::string_view feature, std::string_view called, const place& at) const {
  const requirement* row = find_requirement(feature);
  if (row == nullptr) return;
  if (module_.text.version < row->version)
    fail(at, fmt::format("'{}' needs PTX ISA {}.{}; the module is .version {}.{}", called, row->version.major,
                         row->version.minor, module_.text.version.major, module_.text.version.minor));
  if (module_.text.target.sm < row->sm)
    fail(at, fmt::format("'{}' needs .target sm_{}; the module is for sm_{}", called, row->sm,
                         module_.text.target.sm));
}

function_decoder::function_decoder(const module_symbols& module, const syntax::function& text)
    : module_(module), text_(text), here_(text.at) {}

entry function_decoder::decode() {
  entry_.name = std::string(text_.name);
  entry_.line = text_.at.line;
  if (text_.maximum_threads.given) entry_.maximum_threads = text_.maximum_threads.extent;
  if (text_.required_threads.given) entry_.required_threads = text_.required_threads.extent;
  if (text_.required_cluster.given) {
    entry_.required_cluster = text_.required_cluster.extent;
    entry_.explicit_cluster = true;
  }

  always_row_ = allocate_row(0, text_.at);
  const u32 always = all_lanes;
  std::memcpy(entry_.initial.data() + always_row_, &always, sizeof always);
  entry_.carry = allocate_row(0, text_.at);
  trash_row_ = allocate_row(16, text_.at);

  scopes_.push_back({});
  parameters();
  collect_labels();
  statements();
  resolve_branches();
  limits();
  order_blocks(entry_.code);
  return std::move(entry_);
}

// ---- declarations ----

void function_decoder::parameters() {
  u64 offset = 0;
  for (const syntax::declaration& d : text_.parameters) {
    offset = align_up(offset, alignment_of(d));
    const u64 bytes = bytes_of(d);
    const u64 most = module_.text.version < ptx::isa_version{8, 1} ? 4096 : 32764;
    if (bytes > most || offset + bytes > most)
      fail(d.at, fmt::format("the parameters of '{}' take more than {} bytes", text_.name, most));
    if (!scopes_[0].names.emplace(d.name, symbol{symbol_kind::param, d.type, true, offset, bytes}).second)
      fail(d.at, fmt::format("'{}' is declared twice", d.name));
    entry_.parameters.push_back({std::string(d.name), offset, bytes, alignment_of(d)});
    offset += bytes;
  }
  entry_.parameter_bytes = static_cast<u32>(offset);
}

// Labels may be used before they stand, and where dynamic shared memory begins is known only when all static
// shared variables are, so both are gathered before any instruction is decoded.
void function_decoder::collect_labels() {
  const auto use = [&](const auto& self, const syntax::operand& o) -> void {
    if (o.kind == syntax::operand_kind::name) {
      const auto found = module_.shared.find(o.name);
      if (found != module_.shared.end() && !module_shared_.contains(o.name))
        module_shared_.emplace(o.name, place_shared(*found->second));
    }
    for (const syntax::operand& e : o.elements) self(self, e);
  };
  int current = 0;
  for (const syntax::statement& s : text_.body) {
    here_ = s.at;
    switch (s.kind) {
      case syntax::statement_kind::open:
        scope_of_open_.push_back(static_cast<u32>(scopes_.size()));
        scopes_.push_back({});
        scopes_.back().parent = current;
        current = static_cast<int>(scopes_.size()) - 1;
        break;
      case syntax::statement_kind::close: current = scopes_[static_cast<std::size_t>(current)].parent; break;
      case syntax::statement_kind::label:
        if (!scopes_[static_cast<std::size_t>(current)]
                 .labels.emplace(s.label, static_cast<u32>(label_index_.size()))
                 .second)
          fail(s.at, fmt::format("label '{}' stands twice", s.label));
        label_index_.push_back(unplaced_label);
        break;
      case syntax::statement_kind::declaration: {
        const syntax::declaration& d = text_.declarations[s.index];
        // The name is put in its scope when its statement is reached; the place is taken now.
        if (d.space == syntax::state_space::shared) declared_shared_.emplace(&d, place_shared(d));
        break;
      }
      case syntax::statement_kind::instruction:
        for (const syntax::operand& o : text_.instructions[s.index].operands) use(use, o);
        break;
    }
  }
  entry_.shared_bytes = static_cast<u32>(shared_bytes_);
  entry_.dynamic_shared_offset = static_cast<u32>(align_up(shared_bytes_, dynamic_alignment_));
  for (auto& [name, s] : module_shared_)
    if (s.bytes == 0) s.value = entry_.dynamic_shared_offset;
  for (auto& [d, s] : declared_shared_)
    if (s.bytes == 0) s.value = entry_.dynamic_shared_offset;
}

symbol function_decoder::place_shared(const syntax::declaration& d) {
  if (d.link == syntax::linkage::external) {
    dynamic_alignment_ = std::max(dynamic_alignment_, alignment_of(d));
    return {symbol_kind::shared, d.type, true, 0, 0};
  }
  if (d.unsized)
    fail(d.at, fmt::format("'{}' has no size; only .extern .shared arrays may be without", d.name));
  const u64 offset = align_up(shared_bytes_, alignment_of(d));
  shared_bytes_ = offset + bytes_of(d);
  if (shared_bytes_ > module_.device.static_shared_per_block)
    fail(d.at,
         fmt::format("'{}' needs more than {} bytes of static shared memory at '{}'; declare the array as "
                     ".extern .shared and pass its size at the launch",
                     text_.name, module_.device.static_shared_per_block, d.name));
  entry_.shared.push_back({std::string(d.name), offset, bytes_of(d), alignment_of(d)});
  return {symbol_kind::shared, d.type, true, offset, bytes_of(d)};
}

void function_decoder::declare(const syntax::declaration& d) {
  scope& in = scopes_[static_cast<std::size_t>(current_)];
  const symbol* const known =
      in.names.contains(d.name) || in.ranges.empty() ? nullptr : find_in_ranges(in, d.name);
  if (in.names.contains(d.name) || in.ranges.contains(d.name) || known != nullptr)
    fail(d.at, fmt::format("'{}' is declared twice", d.name));
  switch (d.space) {
    case syntax::state_space::reg:
      if (d.vector != 1) fail(d.at, "vector registers are not supported by the emulator");
      if (d.type == ptx::type::b128) require(".b128", ".b128", d.at);
      if (d.count != 0)
        in.ranges.emplace(d.name, std::pair{d.type, d.count});
      else
        in.names.emplace(d.name, symbol{symbol_kind::reg, d.type, false, 0, ptx::size_of(d.type)});
      return;
    case syntax::state_space::shared: in.names.emplace(d.name, declared_shared_.at(&d)); return;
    case syntax::state_space::local: {
      if (d.unsized) fail(d.at, fmt::format("'{}' has no size", d.name));
      const u64 offset = align_up(local_bytes_, alignment_of(d));
      local_bytes_ = offset + bytes_of(d);
      if (local_bytes_ > module_.device.local_per_thread)
        fail(d.at, fmt::format("'{}' needs more than {} bytes of local memory", text_.name,
                               module_.device.local_per_thread));
      in.names.emplace(d.name, symbol{symbol_kind::local, d.type, true, offset, bytes_of(d)});
      entry_.local.push_back({std::string(d.name), offset, bytes_of(d), alignment_of(d)});
      return;
    }
    case syntax::state_space::param: {
      const unsigned bytes = ptx::size_of(d.type);
      if (d.is_array || d.vector != 1 || bytes < 4 || bytes > 8)
        fail(d.at, fmt::format("'{}': arguments of calls have 32 or 64 bits in the emulator", d.name));
      symbol s{symbol_kind::call_param, d.type, true, allocate_row(bytes, d.at), bytes};
      in.names.emplace(d.name, s);
      return;
    }
    default:
      fail(d.at, fmt::format("'{}': declare .global and .const variables outside of functions", d.name));
  }
}

// ---- symbols and rows ----

u32 function_decoder::allocate_row(unsigned bytes_of_lane, const place& at) {
  const std::size_t alignment = bytes_of_lane == 0 ? 4 : 64;
  const std::size_t row = align_up(entry_.initial.size(), alignment);
  const std::size_t bytes = bytes_of_lane == 0 ? 4 : bytes_of_lane * warp_lanes;
  if (row + bytes > module_.budget.file_bytes)
    fail(at, fmt::format("'{}' uses more registers than the emulator's {} bytes for a warp", text_.name,
                         module_.budget.file_bytes));
  entry_.initial.resize(row + bytes);
  return static_cast<u32>(row);
}

void function_decoder::place_register(symbol& s, std::string_view name, const place& at) {
  s.value = allocate_row(s.type == ptx::type::pred ? 0 : ptx::size_of(s.type), at);
  s.placed = true;
  register_of_row_.emplace(static_cast<u32>(s.value), entry_.registers++);
  entry_.register_rows.push_back(static_cast<u32>(s.value));
  entry_.register_names.emplace_back(name);
}

void function_decoder::note_uses(instruction& i, const std::vector<u32>& reads,
                                 const std::vector<u32>& writes) {
  i.uses = static_cast<u32>(entry_.uses.size());
  const auto note = [&](const std::vector<u32>& rows) {
    u16 count = 0;
    for (const u32 row : rows) {
      const auto found = register_of_row_.find(row);
      if (found == register_of_row_.end()) continue;
      entry_.uses.push_back(found->second);
      ++count;
    }
    return count;
  };
  i.reads = note(reads);
  i.writes = note(writes);
}

// %r12 belongs to %r<13>, or to %r1<3>. The register gets a name of its own when it is first used.
const symbol* function_decoder::find_in_ranges(scope& in, std::string_view name) {
  u64 number = 0, scale = 1;
  for (std::size_t cut = name.size(); cut > 1; scale *= 10) {
    const char digit = name[--cut];
    if (digit < '0' || digit > '9' || name.size() - cut > 9) break;
    number += static_cast<u64>(digit - '0') * scale;
    if (digit == '0' && cut + 1 != name.size()) continue;  // no leading zeros
    const auto range = in.ranges.find(name.substr(0, cut));
    if (range == in.ranges.end() || number >= range->second.second) continue;
    const ptx::type type = range->second.first;
    symbol& s =
        in.names.emplace(name, symbol{symbol_kind::reg, type, false, 0, ptx::size_of(type)}).first->second;
    place_register(s, name, here_);
    return &s;
  }
  return nullptr;
}

const symbol* function_decoder::find(std::string_view name) {
  for (int i = current_; i >= 0; i = scopes_[static_cast<std::size_t>(i)].parent) {
    scope& in = scopes_[static_cast<std::size_t>(i)];
    if (const auto found = in.names.find(name); found != in.names.end()) {
      if (!found->second.placed) place_register(found->second, name, here_);
      return &found->second;
    }
    if (in.ranges.empty()) continue;
    if (const symbol* s = find_in_ranges(in, name)) return s;
  }
  if (const auto found = module_shared_.find(name); found != module_shared_.end()) return &found->second;
  if (const auto found = module_.variables.find(name); found != module_.variables.end()) {
    symbol& s = scopes_[0].names[name];
    s = {symbol_kind::variable, ptx::type::none, true, found->second, 0};
    return &s;
  }
  return nullptr;
}

u32 function_decoder::label(std::string_view name, const place& at) {
  for (int i = current_; i >= 0; i = scopes_[static_cast<std::size_t>(i)].parent) {
    const scope& in = scopes_[static_cast<std::size_t>(i)];
    if (const auto found = in.labels.find(name); found != in.labels.end()) return found->second;
  }
  fail(at, fmt::format("there is no label '{}'", name));
}

u32 function_decoder::constant_row(unsigned bytes, u64 low, u64 high) {
  const auto key = std::pair{bytes, std::pair{low, high}};
  if (const auto found = constants_.find(key); found != constants_.end()) return found->second;
  const u32 row = allocate_row(bytes, here_);
  std::byte value[16];
  std::memcpy(value, &low, 8);
  std::memcpy(value + 8, &high, 8);
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    std::memcpy(entry_.initial.data() + row + lane * bytes, value, bytes);
  constants_.emplace(key, row);
  return row;
}

u32 function_decoder::predicate_constant_row(bool value) {
  if (value) return always_row_;
  const auto key = std::pair{0u, std::pair{u64{0}, u64{0}}};
  if (const auto found = constants_.find(key); found != constants_.end()) return found->second;
  const u32 row = allocate_row(0, here_);
  constants_.emplace(key, row);
  return row;
}

u32 function_decoder::special_row_of(special_form which, unsigned bytes) {
  const auto key = std::pair{which, bytes};
  if (const auto found = specials_.find(key); found != specials_.end()) return found->second;
  const u32 row = allocate_row(bytes, here_);
  specials_.emplace(key, row);
  entry_.specials.push_back({which, row, bytes});
  return row;
}

u32 function_decoder::address_row(u32 variable, u64 addend, bool generic) {
  const auto key = std::pair{variable, std::pair{addend, generic}};
  if (const auto found = addresses_.find(key); found != addresses_.end()) return found->second;
  const u32 row = allocate_row(8, here_);
  addresses_.emplace(key, row);
  entry_.relocations.push_back({row, variable, addend, generic});
  return row;
}

void function_decoder::note_reduction(u32 kind) {
  reductions_ |= 1u << kind;
  if (std::popcount(reductions_) > 1) entry_.blocks_communicate = true;
}

// ---- statements ----

void function_decoder::statements() {
  for (const syntax::statement& s : text_.body) {
    here_ = s.at;
    switch (s.kind) {
      case syntax::statement_kind::open: current_ = static_cast<int>(scope_of_open_[opened_++]); break;
      case syntax::statement_kind::close:
        current_ = scopes_[static_cast<std::size_t>(current_)].parent;
        break;
      case syntax::statement_kind::label:
        label_index_[label(s.label, s.at)] = static_cast<u32>(entry_.code.size());
        break;
      case syntax::statement_kind::declaration: declare(text_.declarations[s.index]); break;
      case syntax::statement_kind::instruction: {
        const syntax::instruction& i = text_.instructions[s.index];
        const auto found = opcodes().find(i.opcode);
        if (found == opcodes().end())
          fail(i.at, is_known_instruction(i.opcode)
                         ? fmt::format("instruction '{}' is not supported by the emulator", i.opcode)
                         : fmt::format("'{}' is not an instruction of PTX", i.opcode));
        form f(*this, i);
        found->second(f);
        break;
      }
    }
  }
}

void function_decoder::resolve_branches() {
  instruction end;
  end.op = operation::exit;
  end.line = text_.body.empty() ? text_.at.line : text_.body.back().at.line;
  entry_.code.push_back(end);
  for (instruction& i : entry_.code)
    if (i.op == operation::bra) i.immediate = label_index_[static_cast<std::size_t>(i.immediate)];
}

void function_decoder::limits() {
  entry_.local_bytes = static_cast<u32>(align_up(local_bytes_, 16));
  const auto too_many = [&](const ptx::dim3& d, std::string_view directive) {
    if (d.count() > module_.device.threads_per_block)
      fail(text_.at, fmt::format("'{}' asks for {} {} threads; a block has at most {}", text_.name, directive,
                                 d.count(), module_.device.threads_per_block));
  };
  too_many(entry_.maximum_threads, ".maxntid");
  too_many(entry_.required_threads, ".reqntid");
}

}  // namespace kaio::runtime::emulator
