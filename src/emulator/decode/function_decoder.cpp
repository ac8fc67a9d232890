#include "emulator/decode/function_decoder.hpp"

#include "emulator/decode/control_flow.hpp"
#include "emulator/program/requirements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace kaio::emulator {
namespace {

constexpr u32 unplaced_label = std::numeric_limits<u32>::max();

// The index of the element that `.x` or `.r` names; 4 for anything else.
u32 element_of(std::string_view member) {
  constexpr std::string_view coordinates = "xyzw", colours = "rgba";
  if (member.size() != 2) return 4;
  const std::size_t at = std::min(coordinates.find(member[1]), colours.find(member[1]));
  return at == std::string_view::npos ? 4 : static_cast<u32>(at);
}

}  // namespace

void function_decoder::fail(const place& at, std::string reason) {
  throw ptx_error(at.line, at.column, std::move(reason));
}

void function_decoder::require(std::string_view feature, std::string_view called, const place& at) const {
  const requirement* row = find_requirement(feature);
  if (row == nullptr) return;
  const syntax::module& m = module().text;
  if (m.version < row->version)
    fail(at, fmt::format("'{}' needs PTX ISA {}.{}; the module is .version {}.{}", called, row->version.major,
                         row->version.minor, m.version.major, m.version.minor));
  if (m.target.sm < row->sm)
    fail(at, fmt::format("'{}' needs .target sm_{}; the module is for sm_{}", called, row->sm, m.target.sm));
}

function_decoder::function_decoder(kernel_decoder& kernel, const syntax::function& text, u32 number,
                                   bool is_root)
    : kernel_(kernel), text_(text), number_(number), is_root_(is_root), here_(text.at) {
  if (!is_root) index_ = kernel.index_of(number);
  scopes_.push_back({});
}

// ---- before any instruction is decoded ----

// Labels may be used before their definition. Dynamic shared memory begins after all static shared variables
// of all functions. The frames of called functions begin after all local variables.
void function_decoder::collect() {
  if (text_.is_entry)
    kernel_parameters();
  else
    frame_parameters();
  const auto use = [&](const auto& self, const syntax::operand& o) -> void {
    if (o.kind == syntax::operand_kind::name) kernel_.use_module_shared(o.name);
    for (const syntax::operand& e : o.elements) self(self, e);
  };
  // Local variables come last, so an access past the last one is outside the frame.
  for (const syntax::state_space space : {syntax::state_space::param, syntax::state_space::local})
    for (const syntax::declaration& d : text_.declarations)
      if (d.space == space) frame_variable(d);
  if (is_root_)
    for (const syntax::declaration* d : module().local) {
      frame_variable(*d);
      symbol s = local_symbol(*d);
      s.absolute = true;
      kernel_.place_module_local(d->name, s);
    }
  int current = 0;
  for (const syntax::statement& s : text_.body) {
    here_ = s.at;
    scope& in = scopes_[static_cast<std::size_t>(current)];
    switch (s.kind) {
      case syntax::statement_kind::open:
        scope_of_open_.push_back(static_cast<u32>(scopes_.size()));
        scopes_.push_back({});
        scopes_.back().parent = current;
        current = static_cast<int>(scopes_.size()) - 1;
        break;
      case syntax::statement_kind::close: current = in.parent; break;
      case syntax::statement_kind::label:
        if (!in.labels.emplace(s.label, static_cast<u32>(label_index_.size())).second)
          fail(s.at, fmt::format("label '{}' is defined twice", s.label));
        label_index_.push_back(unplaced_label);
        break;
      case syntax::statement_kind::targets: break;
      case syntax::statement_kind::declaration: {
        const syntax::declaration& d = text_.declarations[s.index];
        // Reserves the place now; the name enters its scope at its statement.
        if (d.space == syntax::state_space::shared) kernel_.declare_shared(d);
        break;
      }
      case syntax::statement_kind::instruction: {
        const syntax::instruction& i = text_.instructions[s.index];
        for (const syntax::operand& o : i.operands) use(use, o);
        allocates_ = allocates_ || i.opcode == "alloca";
        break;
      }
    }
  }
}

void function_decoder::kernel_parameters() {
  entry& to = kernel_.result;
  u64 offset = 0;
  for (const syntax::declaration& d : text_.parameters) {
    offset = align_up(offset, alignment_of(d));
    const u64 bytes = bytes_of(d);
    const u64 most = module().text.version < ptx::isa_version{8, 1} ? 4096 : 32764;
    if (bytes > most || offset + bytes > most)
      fail(d.at, fmt::format("the parameters of '{}' take more than {} bytes", text_.name, most));
    symbol s{symbol_kind::param, d.type, true, offset, bytes};
    s.element_bytes = ptx::size_of(d.type) * d.vector;
    if (!scopes_[0].names.emplace(d.name, s).second)
      fail(d.at, fmt::format("'{}' is declared twice", d.name));
    to.parameters.push_back({std::string(d.name), offset, bytes, alignment_of(d)});
    offset += bytes;
  }
  to.parameter_bytes = static_cast<u32>(offset);
}

// A frame begins with the function's results, then its parameters: a call through a pointer finds them from
// the types alone (place_in_frame).
void function_decoder::frame_parameters() {
  u64 at = 0;
  u64 signature = 0;
  callable none;
  callable& c = is_root_ ? none : kernel_.result.functions[index_];
  const auto place = [&](const syntax::declaration& d, parameter_role role) {
    const frame_slot slot = place_in_frame(d, at, signature, role == parameter_role::result);
    if (at > module().device.local_per_thread)
      fail(d.at, fmt::format("the parameters of '{}' take more than {} bytes", text_.name,
                             module().device.local_per_thread));
    kernel_.frame_alignment = std::max(kernel_.frame_alignment, alignment_of(d));
    symbol s{symbol_kind::call_param, d.type, true, slot.offset, slot.bytes};
    s.alignment = alignment_of(d);
    s.element_bytes = ptx::size_of(d.type) * d.vector;
    s.role = role;
    if (d.space == syntax::state_space::reg) {
      s = register_symbol(d);
      auto& list = role == parameter_role::result ? c.results : c.parameters;
      const u32 bytes = slot.bytes / d.vector;
      for (u32 k = 0; k < d.vector; ++k) {
        symbol element = s;
        element.kind = symbol_kind::reg;
        std::string_view name = d.name;
        if (d.vector != 1) name = element_names_.emplace_back(fmt::format("{}.{}", d.name, "xyzw"[k]));
        place_register(element, name);
        list.push_back(
            {static_cast<u32>(element.value), row_bytes_of(d.type), 0, slot.offset + k * bytes, bytes});
        if (d.vector == 1)
          s = element;
        else
          scopes_[0].names.emplace(name, element);
      }
    }
    if (!scopes_[0].names.emplace(d.name, s).second)
      fail(d.at, fmt::format("'{}' is declared twice", d.name));
  };
  for (const syntax::declaration& d : text_.results) place(d, parameter_role::result);
  for (const syntax::declaration& d : text_.parameters) place(d, parameter_role::input);
  c.signature = signature;
  frame_bytes_ = std::max<u64>(at, 16);
}

void function_decoder::frame_variable(const syntax::declaration& d) {
  if (d.unsized) fail(d.at, fmt::format("'{}' has no size", d.name));
  const u64 offset = align_up(frame_bytes_, alignment_of(d));
  frame_bytes_ = offset + bytes_of(d);
  if (frame_bytes_ > module().device.local_per_thread)
    fail(d.at, fmt::format("'{}' needs more than {} bytes of local memory", text_.name,
                           module().device.local_per_thread));
  kernel_.frame_alignment = std::max(kernel_.frame_alignment, alignment_of(d));
  frame_places_.emplace(&d, offset);
  if (is_root_ && d.space == syntax::state_space::local)
    kernel_.result.local.push_back({std::string(d.name), offset, bytes_of(d), alignment_of(d)});
}

// ---- declarations ----

symbol function_decoder::register_symbol(const syntax::declaration& d) const {
  if (d.type == ptx::type::b128) require(".b128", ".b128", d.at);
  symbol s{d.vector == 1 ? symbol_kind::reg : symbol_kind::vector_reg, d.type, false, 0,
           ptx::size_of(d.type)};
  s.count = d.vector;
  s.placed = d.vector != 1;  // only its elements have rows
  return s;
}

symbol function_decoder::local_symbol(const syntax::declaration& d) const {
  symbol s{symbol_kind::local, d.type, true, frame_places_.at(&d), bytes_of(d)};
  s.element_bytes = ptx::size_of(d.type) * d.vector;
  return s;
}

void function_decoder::declare_name(const syntax::declaration& d, symbol s) {
  scope& in = scopes_[static_cast<std::size_t>(current_)];
  // As in ptxas, a and a<2> do not meet: the range names a0 and a1 alone, and hides an a0 declared before.
  if (d.is_range) {
    if (!in.ranges.emplace(d.name, &d).second) fail(d.at, fmt::format("'{}<>' is declared twice", d.name));
    if (!in.names.empty())
      for (u64 k = 0; k < d.count; ++k) in.names.erase(fmt::format("{}{}", d.name, k));
    return;
  }
  const bool taken = in.names.contains(d.name) || in.labels.contains(d.name) ||
                     (!in.ranges.empty() && find_in_ranges(in, d.name) != nullptr);
  if (taken) fail(d.at, fmt::format("'{}' is declared twice", d.name));
  in.names.emplace(d.name, s);
}

void function_decoder::declare(const syntax::declaration& d) {
  switch (d.space) {
    case syntax::state_space::reg: return declare_name(d, register_symbol(d));
    case syntax::state_space::shared: return declare_name(d, kernel_.declared_shared(d));
    case syntax::state_space::local: return declare_name(d, local_symbol(d));
    case syntax::state_space::param: {
      symbol s{symbol_kind::call_param, d.type, true, frame_places_.at(&d), bytes_of(d)};
      s.alignment = alignment_of(d);
      s.element_bytes = ptx::size_of(d.type) * d.vector;
      return declare_name(d, s);
    }
    default: {
      symbol s{symbol_kind::variable, ptx::type::none, true, module().scoped.at(&d), bytes_of(d)};
      s.element_bytes = ptx::size_of(d.type) * d.vector;
      return declare_name(d, s);
    }
  }
}

void function_decoder::place_register(symbol& s, std::string_view name) {
  kernel_.place_register(s, name, here_);
  rows_.push_back({static_cast<u32>(s.value), row_bytes_of(s.type)});
}

// ---- symbols ----

// %r12 belongs to %r<13>, or to %r1<3>. The register gets its own name at its first use.
const symbol* function_decoder::find_in_ranges(scope& in, std::string_view name) {
  u64 number = 0, scale = 1;
  for (std::size_t cut = name.size(); cut > 1; scale *= 10) {
    const char digit = name[--cut];
    if (digit < '0' || digit > '9' || name.size() - cut > 9) break;
    number += static_cast<u64>(digit - '0') * scale;
    if (digit == '0' && cut + 1 != name.size()) continue;  // no leading zeros
    const auto range = in.ranges.find(name.substr(0, cut));
    if (range == in.ranges.end() || number >= range->second->count) continue;
    symbol& s = in.names.emplace(name, register_symbol(*range->second)).first->second;
    if (!s.placed) place_register(s, name);
    return &s;
  }
  return nullptr;
}

const symbol* function_decoder::find(std::string_view name) {
  if (name.empty()) return nullptr;
  for (int i = current_; i >= 0; i = scopes_[static_cast<std::size_t>(i)].parent) {
    scope& in = scopes_[static_cast<std::size_t>(i)];
    if (const auto found = in.names.find(name); found != in.names.end()) {
      if (!found->second.placed) place_register(found->second, name);
      return &found->second;
    }
    if (in.ranges.empty()) continue;
    if (const symbol* s = find_in_ranges(in, name)) return s;
  }
  if (const symbol* s = kernel_.module_shared(name)) return s;
  if (const symbol* s = kernel_.module_local(name)) return s;
  // A name of the module is visible only after its declaration.
  const auto module_symbol = [&](const auto& table, symbol_kind kind) -> const symbol* {
    const auto found = table.find(name);
    if (found == table.end()) return nullptr;
    const bool is_variable = kind == symbol_kind::variable;
    if (here_.before(is_variable ? module().declared.at(name) : module().functions.find(name)->declared->at))
      return nullptr;
    symbol s{kind, ptx::type::none, true, found->second, 0};
    if (kind == symbol_kind::variable) s.element_bytes = module().element_bytes[found->second];
    return &(scopes_[0].names[name] = s);
  };
  if (const symbol* s = module_symbol(module().variables, symbol_kind::variable)) return s;
  return module_symbol(module().functions.numbers, symbol_kind::function);
}

const symbol* function_decoder::find_element(std::string_view name, std::string_view member) {
  const symbol* const whole = find(name);
  const u32 element = element_of(member);
  if (whole == nullptr || whole->kind != symbol_kind::vector_reg || element >= whole->count) return nullptr;
  // The elements belong to the scope of the vector.
  for (int i = current_; i >= 0; i = scopes_[static_cast<std::size_t>(i)].parent) {
    scope& in = scopes_[static_cast<std::size_t>(i)];
    if (!in.names.contains(name)) continue;
    const std::string key = fmt::format("{}.{}", name, "xyzw"[element]);
    const auto found = in.names.find(key);
    if (found != in.names.end()) return &found->second;
    symbol s{symbol_kind::reg, whole->type, false, 0, whole->bytes};
    place_register(s, element_names_.emplace_back(key));
    return &in.names.emplace(element_names_.back(), s).first->second;
  }
  return nullptr;
}

u32 function_decoder::add_instruction(operation op, ptx::type type, std::initializer_list<u32> from,
                                      ptx::type source_type) {
  instruction i;
  i.op = op;
  i.type = type;
  i.source_type = source_type;
  i.to_bytes = static_cast<u8>(ptx::size_of(type));
  i.from_bytes = static_cast<u8>(ptx::size_of(source_type == ptx::type::none ? type : source_type));
  i.guard = always_row();
  i.line = here_.line;
  i.to[0] = temporary_row(i.to_bytes);
  std::copy(from.begin(), from.end(), i.from.begin());
  result().code.push_back(i);
  return i.to[0];
}

u32 function_decoder::symbol_row(const symbol& s, u64 addend, unsigned bytes) {
  const u64 value =
      s.kind == symbol_kind::function ? code_window + (s.value + 1) * code_step : s.value + addend;
  const bool framed = s.kind == symbol_kind::local || s.kind == symbol_kind::call_param;
  const auto constant = [&](u64 v) { return constant_row(bytes, bytes == 4 ? v & 0xffffffff : v); };
  u32 row = no_row;
  if (s.kind == symbol_kind::variable) {
    row = address_row(static_cast<u32>(s.value), addend, false);
  } else if (!framed || s.absolute || frame_row() == no_row) {
    const bool known = s.kind == symbol_kind::shared || s.kind == symbol_kind::local;
    return known && s.bytes != 0 ? kernel_.known_address_row(s, addend, bytes, here_) : constant(value);
  } else {
    row = add_instruction(operation::add, ptx::type::u64, {frame_row(), constant_row(8, value)});
  }
  return bytes == 8 ? row : add_instruction(operation::cvt, ptx::type::u32, {row}, ptx::type::u64);
}

u32 function_decoder::label(std::string_view name, const place& at) {
  for (int i = current_; i >= 0; i = scopes_[static_cast<std::size_t>(i)].parent) {
    const scope& in = scopes_[static_cast<std::size_t>(i)];
    if (const auto found = in.labels.find(name); found != in.labels.end()) return found->second;
  }
  fail(at, fmt::format("there is no label '{}'", name));
}

const syntax::targets* function_decoder::targets(std::string_view name) {
  for (int i = current_; i >= 0; i = scopes_[static_cast<std::size_t>(i)].parent) {
    const scope& in = scopes_[static_cast<std::size_t>(i)];
    if (const auto found = in.lists.find(name); found != in.lists.end()) return found->second;
  }
  return nullptr;
}

u32 function_decoder::branch_targets(const syntax::targets& list, u32& count) {
  std::vector<u32>& to = result().branch_targets;
  const auto first = static_cast<u32>(to.size());
  for (const syntax::target_name& t : list.names) {
    if (t.count == 0) to.push_back(label(t.name, t.at));
    for (u64 k = 0; k < t.count; ++k) to.push_back(label(fmt::format("{}{}", t.name, k), t.at));
    if (to.size() > module().budget.instructions) fail(t.at, "the lists of branch targets are too long");
  }
  count = static_cast<u32>(to.size()) - first;
  return first;
}

u32 function_decoder::add_call(call_site site, bool back) {
  if (back) site.keeper = index_;
  result().calls.push_back(std::move(site));
  return static_cast<u32>(result().calls.size() - 1);
}

// ---- statements ----

void function_decoder::decode() {
  std::swap(code_, result().code);
  begin();
  statements();
  end();
  if (!is_root_) result().functions[index_].kept = std::move(rows_);
  std::swap(code_, result().code);
}

// The code before a function's first instruction: it loads parameters that are registers, and records the end
// of its frame.
void function_decoder::begin() {
  instruction i;
  i.guard = always_row();
  i.line = text_.at.line;
  if (!is_root_) {
    callable& c = result().functions[index_];
    c.frame_bytes = static_cast<u32>(frame_bytes());
    if (!c.parameters.empty()) {
      instruction enter = i;
      enter.op = operation::call;
      enter.form = static_cast<u8>(call_form::enter);
      enter.detail = index_;
      std::vector<u32> writes;
      writes.reserve(c.parameters.size());
      for (const transfer& t : c.parameters) writes.push_back(t.row);
      note_uses(enter, {}, writes);
      result().code.push_back(enter);
    }
  }
  if (!allocates_) return;
  top_row_ = kernel_.allocate_row(8, text_.at);
  rows_.push_back({top_row_, 8});
  instruction top = i;
  top.op = is_root_ ? operation::mov : operation::add;
  top.type = ptx::type::u64;
  top.to_bytes = top.from_bytes = 8;
  top.to[0] = top_row_;
  top.from[0] = is_root_ ? constant_row(8, frame_bytes()) : frame_row();
  if (!is_root_) top.from[1] = constant_row(8, frame_bytes());
  result().code.push_back(top);
}

void function_decoder::end() {
  instruction last;
  last.guard = always_row();
  last.op = is_root_ ? operation::exit : operation::ret;
  last.detail = index_;
  last.line = text_.body.empty() ? text_.at.line : text_.body.back().at.line;
  std::vector<instruction>& code = result().code;
  code.push_back(last);
  std::vector<u32>& targets = result().branch_targets;
  for (instruction& i : code) {
    if (i.op == operation::bra) i.immediate = label_index_[static_cast<std::size_t>(i.immediate)];
    if (i.op != operation::brx) continue;
    for (u32 k = 0; k < i.rows; ++k) targets[i.detail + k] = label_index_[targets[i.detail + k]];
  }
  order_blocks(code, targets);
}

void function_decoder::append() {
  std::vector<instruction>& code = result().code;
  const auto base = static_cast<u32>(code.size());
  if (is_root_)
    result().start = base;
  else
    result().functions[index_].start = base;
  for (instruction& i : code_) {
    if (i.op == operation::bra) i.immediate += base;
    if (i.op == operation::brx)
      for (u32 k = 0; k < i.rows; ++k) result().branch_targets[i.detail + k] += base;
  }
  if (base == 0)
    code = std::move(code_);
  else
    code.insert(code.end(), code_.begin(), code_.end());
  code_.clear();
}

}  // namespace kaio::emulator
