#include "emulator/decode/decoder.hpp"

#include "emulator/decode/call_graph.hpp"
#include "emulator/decode/decode_kernel.hpp"
#include "emulator/program/error.hpp"

#include <fmt/format.h>
#include <kaio/ptx/catalogue.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

namespace kaio::emulator {
namespace {

[[noreturn]] void fail(const place& at, std::string reason) {
  throw ptx_error(at.line, at.column, std::move(reason));
}

// The first PTX ISA version that knows an architecture. Source: PTX ISA, "Release Notes".
ptx::isa_version first_version(const syntax::module& m) {
  const unsigned sm = m.target.sm;
  if (sm >= 70) {
    const ptx::isa_version first = ptx::first_version(m.target), families{8, 8};
    return m.family_specific && first < families ? families : first;
  }
  if (sm >= 60) return {5, 0};
  if (sm >= 50) return {4, 0};
  if (sm >= 30) return {3, 0};
  if (sm >= 20) return {2, 0};
  if (sm >= 12) return {1, 2};
  return {1, 0};
}

void check_target(const syntax::module& m, const architecture& device) {
  const auto name = fmt::format("sm_{}{}", m.target.sm,
                                m.target.arch_specific ? "a"
                                : m.family_specific    ? "f"
                                                       : "");
  const ptx::isa_version first = first_version(m);
  if (m.version < first)
    fail({1, 1}, fmt::format(".target {} needs .version {}.{}; the module says {}.{}", name, first.major,
                             first.minor, m.version.major, m.version.minor));
  if (m.address_bytes != 8) fail({1, 1}, ".address_size 32 is not supported from sm_70 on");
  if (!runs_on(m, device))
    fail(
        {1, 1},
        fmt::format(
            "the module is for {}; the emulated device is sm_{}{}: choose one that runs it, as with KAIO_EMULATOR_ARCH=sm_{}{}",
            name, device.sm, device.arch_specific ? "a" : "", m.target.sm,
            m.target.arch_specific ? "a" : ""));
}

void store(std::vector<std::byte>& image, u64 offset, u64 bits, unsigned bytes) {
  std::memcpy(image.data() + offset, &bits, bytes);
}

// The bits of a number as an element of a type.
u64 element_bits(const syntax::initial_value& value, ptx::type type) {
  if (ptx::is_half(type))
    fail(value.at, fmt::format("{} variables have no initial values; declare this one as .b{}",
                               ptx::suffix(type), ptx::size_of(type) * 8));
  if (value.real_bytes == 0) {
    if (type == ptx::type::f32 || type == ptx::type::f64)
      fail(value.at, "a floating-point element needs a real constant");
    return value.bits;
  }
  const double real = value.real_bytes == 8
                          ? std::bit_cast<double>(value.bits)
                          : static_cast<double>(std::bit_cast<float>(static_cast<u32>(value.bits)));
  if (type == ptx::type::f32 || type == ptx::type::b32)
    return value.real_bytes == 4 ? value.bits : std::bit_cast<u32>(static_cast<float>(real));
  if (type == ptx::type::f64) return std::bit_cast<u64>(real);
  if (type == ptx::type::b64 && value.real_bytes == 8) return value.bits;
  fail(value.at, fmt::format("a real constant does not initialise {}", ptx::suffix(type)));
}

class variable_decoder {
 public:
  variable_decoder(module_symbols& symbols, decoded_module& to) : symbols_(symbols), to_(to) {}

  // Declares a variable of the module. An external declaration may accompany the definition.
  void declare(const syntax::declaration& d) {
    const auto other = seen_.find(d.name);
    if (other != seen_.end() && other->second->link != syntax::linkage::external &&
        d.link != syntax::linkage::external)
      fail(d.at, fmt::format("'{}' is declared twice", d.name));
    if (other != seen_.end() && (other->second->space != d.space || other->second->type != d.type))
      fail(d.at, fmt::format("'{}' was declared otherwise before", d.name));
    if (d.unsized && d.link != syntax::linkage::external)
      fail(d.at, fmt::format("'{}' has no size; only .extern arrays may be without", d.name));
    const bool defines = d.link != syntax::linkage::external || d.space == syntax::state_space::shared;
    symbols_.declared.emplace(d.name, d.at);
    if (other == seen_.end() || d.link != syntax::linkage::external) seen_[d.name] = &d;
    if (d.space == syntax::state_space::shared)
      symbols_.shared[d.name] = seen_[d.name];
    else if (d.space == syntax::state_space::local && defines)
      symbols_.local.push_back(&d);
    else if (defines)
      symbols_.variables[d.name] = add(d);
  }

  // Declares a variable of a function.
  void declare_scoped(const syntax::declaration& d) { symbols_.scoped.emplace(&d, add(d)); }

  void all_defined() const {
    for (const auto& [name, d] : seen_)
      if (d->link == syntax::linkage::external && d->space != syntax::state_space::shared)
        fail(d->at, fmt::format("'{}' is external and is not defined in the module", name));
  }

  // Called when all variables are declared.
  void initialise() {
    for (std::size_t i = 0; i < declared_.size(); ++i) {
      const syntax::declaration& d = *declared_[i];
      if (d.initial.empty()) continue;
      variable& v = to_.variables[i];
      u64 last = 0;
      for (const syntax::initial_value& value : d.initial) last = std::max(last, value.index + 1);
      v.initial.assign(std::min(last * ptx::size_of(d.type), v.where.bytes), std::byte{0});
      for (const syntax::initial_value& value : d.initial) initialise(v, d, value);
    }
  }

 private:
  u32 add(const syntax::declaration& d) {
    if (d.unsized) fail(d.at, fmt::format("'{}' has no size", d.name));
    variable v;
    v.space = d.space == syntax::state_space::constant ? state_space::constant : state_space::global;
    v.managed = d.managed;
    v.where = {std::string(d.name), 0, bytes_of(d), alignment_of(d)};
    total_ += v.where.bytes;
    if (total_ > symbols_.budget.variable_bytes)
      fail(d.at, fmt::format("the variables of the module take more than {} bytes",
                             symbols_.budget.variable_bytes));
    if (v.space == state_space::constant) {
      const u64 offset = align_up(to_.constant_bytes, v.where.alignment);
      if (offset + v.where.bytes > symbols_.device.constant_bytes)
        fail(d.at,
             fmt::format("the .const variables take more than {} bytes", symbols_.device.constant_bytes));
      v.where.offset = offset;
      to_.constant_bytes = static_cast<u32>(offset + v.where.bytes);
    }
    to_.variables.push_back(std::move(v));
    symbols_.element_bytes.push_back(ptx::size_of(d.type) * d.vector);
    declared_.push_back(&d);
    return static_cast<u32>(declared_.size() - 1);
  }

  void initialise(variable& v, const syntax::declaration& d, const syntax::initial_value& value) {
    const unsigned element = ptx::size_of(d.type);
    const u64 offset = value.index * element;
    if (offset + element > v.initial.size())
      fail(value.at, fmt::format("'{}' has too many initial values", d.name));
    if (value.symbol.empty()) {
      store(v.initial, offset, element_bits(value, d.type), element);
      return;
    }
    if (ptx::is_floating(d.type) || (value.masked ? element != 1 : element < 4))
      fail(value.at, value.masked
                         ? fmt::format("a byte of an address does not initialise {}", ptx::suffix(d.type))
                         : fmt::format("an address does not initialise {}", ptx::suffix(d.type)));
    // Only a symbol declared earlier in the text may be named.
    const u32 bytes = std::min(element, 8u);
    const auto named = symbols_.variables.find(value.symbol);
    if (named != symbols_.variables.end() && symbols_.declared.at(value.symbol).before(value.at)) {
      v.addresses.push_back({offset, named->second, value.bits, value.generic, bytes, value.shift});
      return;
    }
    const auto number = symbols_.functions.numbers.find(value.symbol);
    if (number == symbols_.functions.numbers.end() ||
        value.at.before(symbols_.functions.find(value.symbol)->declared->at))
      fail(value.at, fmt::format("'{}' is not a .global or .const variable or a function declared before",
                                 value.symbol));
    if (value.bits != 0 || value.generic)
      fail(value.at, fmt::format("the address of the function '{}' takes neither an offset nor generic()",
                                 value.symbol));
    store(v.initial, offset, (code_window + (u64{number->second} + 1) * code_step) >> value.shift, bytes);
  }

  module_symbols& symbols_;
  decoded_module& to_;
  std::unordered_map<std::string_view, const syntax::declaration*> seen_;
  std::vector<const syntax::declaration*> declared_;
  u64 total_ = 0;
};

void check_parameters(const std::vector<syntax::declaration>& a, const std::vector<syntax::declaration>& b,
                      const syntax::function& f, std::string_view what) {
  bool equal = a.size() == b.size();
  for (std::size_t i = 0; equal && i < a.size(); ++i)
    equal = a[i].space == b[i].space && ptx::bits_of(a[i].type) == ptx::bits_of(b[i].type) &&
            bytes_of(a[i]) == bytes_of(b[i]) && alignment_of(a[i]) == alignment_of(b[i]);
  if (!equal) fail(f.at, fmt::format("'{}' was declared with other {} before", f.name, what));
}

void check_same_form(const syntax::function& before, const syntax::function& f) {
  if (before.is_entry != f.is_entry)
    fail(f.at, fmt::format("'{}' is declared as a kernel and as a function", f.name));
  check_parameters(before.parameters, f.parameters, f, "parameters");
  check_parameters(before.results, f.results, f, "results");
}

void declare_function(module_symbols& symbols, const syntax::function& f) {
  if (symbols.variables.contains(f.name) || symbols.shared.contains(f.name))
    fail(f.at, fmt::format("'{}' is declared as a variable and as a function", f.name));
  function_table& table = symbols.functions;
  const auto [at, fresh] = table.numbers.emplace(f.name, static_cast<u32>(table.functions.size()));
  if (fresh) table.functions.push_back({&f, nullptr});
  function_symbol& s = table.functions[at->second];
  check_same_form(*s.declared, f);
  if (!f.has_body) return;
  if (s.defined != nullptr) fail(f.at, fmt::format("'{}' is defined twice", f.name));
  if (s.declared->link == syntax::linkage::external && !f.is_entry)
    fail(f.at, fmt::format("'{}' was declared as external and is defined here", f.name));
  s.defined = &f;
}

// An alias of a function takes that function's number.
void make_alias(module_symbols& symbols, const syntax::function& f) {
  const function_symbol* const of = symbols.functions.find(f.alias_of);
  if (of == nullptr) fail(f.alias_at, fmt::format("'{}' is not declared", f.alias_of));
  if (of->declared->is_entry)
    fail(f.alias_at, fmt::format("'{}' is a kernel; .alias names functions", f.alias_of));
  if (of->defined == nullptr) fail(f.alias_at, fmt::format("'{}' is not defined", f.alias_of));
  if (of->defined->link == syntax::linkage::weak)
    fail(f.alias_at, fmt::format("'{}' is weak and cannot have an alias", f.alias_of));
  check_same_form(*of->declared, f);
  const auto self = symbols.functions.numbers.find(f.name);
  if (symbols.functions.functions[self->second].defined != nullptr)
    fail(f.at, fmt::format("'{}' has a body and cannot be an alias", f.name));
  self->second = symbols.functions.numbers.at(f.alias_of);
}

void declare_functions(module_symbols& symbols) {
  for (const syntax::function& f : symbols.text.functions) declare_function(symbols, f);
  for (const syntax::function& f : symbols.text.functions)
    if (!f.alias_of.empty()) make_alias(symbols, f);
  for (const function_symbol& s : symbols.functions.functions)
    if (s.declared->is_entry && s.defined == nullptr && s.declared->link != syntax::linkage::external)
      fail(s.declared->at, fmt::format("'{}' has no body", s.declared->name));
}

// Decodes kernels with all functions that they reach. Functions that none reaches are only checked.
void decode_functions(module_symbols& symbols, decoded_module& to) {
  const call_graph graph(symbols.functions, symbols.text.variables);
  symbols.graph = &graph;
  const std::vector<function_symbol>& functions = symbols.functions.functions;
  std::vector<bool> checked(functions.size(), false);
  const auto root = [&](u32 number) {
    entry decoded = decode_kernel(symbols, number);
    checked[number] = true;
    for (const callable& c : decoded.functions) checked[c.number] = true;
    return decoded;
  };
  for (u32 k = 0; k < functions.size(); ++k)
    if (functions[k].defined != nullptr && functions[k].declared->is_entry) to.entries.push_back(root(k));
  for (u32 k = 0; k < functions.size(); ++k)
    if (functions[k].defined != nullptr && !checked[k]) root(k);
}

}  // namespace

bool runs_on(const syntax::module& m, const architecture& device) {
  if (m.target.arch_specific) return device.arch_specific && m.target.sm == device.sm;
  return m.target.sm <= device.sm && (!m.family_specific || m.target.sm / 10 == device.sm / 10);
}

decoded_module decode(const syntax::module& module, const architecture& device, const decode_budget& budget) {
  check_target(module, device);
  decoded_module result;
  result.version = module.version;
  result.target = module.target;
  module_symbols symbols{module, device, budget, {}, {}, {}, {}, {}, {}, nullptr, &result, 0};
  variable_decoder variables(symbols, result);
  for (const syntax::declaration& d : module.variables) variables.declare(d);
  variables.all_defined();
  declare_functions(symbols);
  for (const syntax::function& f : module.functions)
    for (const syntax::declaration& d : f.declarations)
      if (d.space == syntax::state_space::global || d.space == syntax::state_space::constant)
        variables.declare_scoped(d);
  variables.initialise();
  decode_functions(symbols, result);
  return result;
}

}  // namespace kaio::emulator
