#include "runtime/emulator/decoder.hpp"

#include "runtime/emulator/error.hpp"
#include "runtime/emulator/function_decoder.hpp"

#include <fmt/format.h>
#include <kaio/ptx/catalogue.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

namespace kaio::runtime::emulator {
namespace {

[[noreturn]] void fail(const place& at, std::string reason) {
  throw ptx_error(at.line, at.column, std::move(reason));
}

// The first PTX ISA version that knows an architecture. Source: PTX ISA, "Release Notes".
ptx::isa_version first_version(const syntax::module& m) {
  const unsigned sm = m.target.sm;
  if (m.family_specific) return {8, 8};
  if (sm == 103 || sm == 110 || sm == 121) return {9, 0};
  if (sm == 120) return {8, 7};
  if (sm >= 70) return ptx::first_version(m.target);
  if (sm >= 60) return {5, 0};
  if (sm >= 50) return {4, 0};
  if (sm >= 30) return {3, 0};
  return {2, 0};
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
  const bool runs = m.target.arch_specific ? device.arch_specific && m.target.sm == device.sm
                    : m.family_specific    ? m.target.sm / 10 == device.sm / 10 && m.target.sm <= device.sm
                                           : m.target.sm <= device.sm;
  if (!runs)
    fail({1, 1}, fmt::format("the module is for {}; the emulated device is sm_{}{}", name, device.sm,
                             device.arch_specific ? "a" : ""));
}

u64 bytes_of(const syntax::declaration& d) { return d.elements * d.vector * ptx::size_of(d.type); }

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
  if (type == ptx::type::f32)
    return value.real_bytes == 4 ? value.bits : std::bit_cast<u32>(static_cast<float>(real));
  if (type == ptx::type::f64) return std::bit_cast<u64>(real);
  if (ptx::size_of(type) == value.real_bytes) return value.bits;
  fail(value.at, fmt::format("a real constant does not initialise {}", ptx::suffix(type)));
}

class variable_decoder {
 public:
  variable_decoder(module_symbols& symbols, decoded_module& to) : symbols_(symbols), to_(to) {}

  void declare(const syntax::declaration& d) {
    if (d.space == syntax::state_space::shared) {
      const auto [at, fresh] = symbols_.shared.emplace(d.name, &d);
      if (!fresh && at->second->link != syntax::linkage::external && d.link != syntax::linkage::external)
        fail(d.at, fmt::format("'{}' is declared twice", d.name));
      return;
    }
    const auto [at, fresh] = symbols_.variables.emplace(d.name, static_cast<u32>(to_.variables.size()));
    if (!fresh) fail(d.at, fmt::format("'{}' is declared twice", d.name));
    if (d.link == syntax::linkage::external)
      fail(d.at, fmt::format("'{}' is external: modules are not linked by the emulator", d.name));
    if (d.unsized) fail(d.at, fmt::format("'{}' has no size", d.name));
    variable v;
    v.space = d.space == syntax::state_space::constant ? state_space::constant : state_space::global;
    v.where = {std::string(d.name), 0, bytes_of(d), std::max(d.alignment, ptx::size_of(d.type) * d.vector)};
    total_ += v.where.bytes;
    if (total_ > symbols_.budget.variable_bytes)
      fail(d.at, fmt::format("the variables of the module take more than {} bytes",
                             symbols_.budget.variable_bytes));
    if (v.space == state_space::constant) {
      const u64 alignment = v.where.alignment;
      const u64 offset = (to_.constant_bytes + alignment - 1) / alignment * alignment;
      if (offset + v.where.bytes > symbols_.device.constant_bytes)
        fail(d.at,
             fmt::format("the .const variables take more than {} bytes", symbols_.device.constant_bytes));
      v.where.offset = offset;
      to_.constant_bytes = static_cast<u32>(offset + v.where.bytes);
    }
    to_.variables.push_back(std::move(v));
    declared_.push_back(&d);
  }

  // After all are declared: an initialiser may name any of them.
  void initialise() {
    for (std::size_t i = 0; i < declared_.size(); ++i) {
      const syntax::declaration& d = *declared_[i];
      if (d.initial.empty()) continue;
      variable& v = to_.variables[i];
      v.initial.assign(v.where.bytes, std::byte{0});
      const unsigned element = ptx::size_of(d.type);
      for (const syntax::initial_value& value : d.initial) {
        const u64 offset = value.index * element;
        if (offset + element > v.where.bytes)
          fail(value.at, fmt::format("'{}' has too many initial values", d.name));
        if (value.symbol.empty()) {
          store(v.initial, offset, element_bits(value, d.type), element);
          continue;
        }
        const auto found = symbols_.variables.find(value.symbol);
        if (found == symbols_.variables.end())
          fail(value.at, fmt::format("'{}' is not a .global or .const variable", value.symbol));
        if (element != 8) fail(value.at, "an address takes a 64-bit element");
        v.addresses.push_back({offset, found->second, value.bits, value.generic});
      }
    }
  }

 private:
  module_symbols& symbols_;
  decoded_module& to_;
  std::vector<const syntax::declaration*> declared_;
  u64 total_ = 0;
};

}  // namespace

decoded_module decode(const syntax::module& module, const architecture& device, const decode_budget& budget) {
  check_target(module, device);
  decoded_module result;
  result.version = module.version;
  result.target = module.target;
  module_symbols symbols{module, device, budget, {}, {}, {}, &result};
  variable_decoder variables(symbols, result);
  for (const syntax::declaration& d : module.variables) variables.declare(d);
  variables.initialise();
  for (const syntax::function& f : module.functions) {
    // A .func does nothing by itself, and `call` is rejected where it stands.
    if (!f.is_entry || !f.has_body) continue;
    if (!symbols.functions.emplace(f.name, &f).second)
      fail(f.at, fmt::format("'{}' is defined twice", f.name));
    result.entries.push_back(function_decoder(symbols, f).decode());
  }
  return result;
}

}  // namespace kaio::runtime::emulator
