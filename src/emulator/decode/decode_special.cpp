#include "emulator/decode/decode_special.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace kaio::emulator {
namespace {

using enum ptx::type;

enum class kind : std::uint8_t { scalar, vector };

struct special_name {
  std::string_view name;
  special_form form;
  unsigned bytes;  // 0: a predicate
  kind is = kind::scalar;
  std::string_view feature = {};  // its row in requirements.cpp
};

constexpr special_name specials[] = {
    {"%tid", special_form::tid_x, 4, kind::vector},
    {"%ntid", special_form::ntid_x, 4, kind::vector},
    {"%ctaid", special_form::ctaid_x, 4, kind::vector},
    {"%nctaid", special_form::nctaid_x, 4, kind::vector},
    {"%laneid", special_form::laneid, 4},
    {"%warpid", special_form::warpid, 4},
    {"%nwarpid", special_form::nwarpid, 4},
    {"%smid", special_form::smid, 4},
    {"%nsmid", special_form::nsmid, 4},
    {"%gridid", special_form::gridid, 8},
    {"%lanemask_eq", special_form::lanemask_eq, 4},
    {"%lanemask_le", special_form::lanemask_le, 4},
    {"%lanemask_lt", special_form::lanemask_lt, 4},
    {"%lanemask_ge", special_form::lanemask_ge, 4},
    {"%lanemask_gt", special_form::lanemask_gt, 4},
    {"%dynamic_smem_size", special_form::dynamic_smem_size, 4},
    {"%total_smem_size", special_form::total_smem_size, 4},
    {"%aggr_smem_size", special_form::aggr_smem_size, 4, kind::scalar, "%aggr_smem_size"},
    {"%reserved_smem_offset_begin", special_form::reserved_smem_offset_begin, 4, kind::scalar,
     "%reserved_smem_offset"},
    {"%reserved_smem_offset_end", special_form::reserved_smem_offset_end, 4, kind::scalar,
     "%reserved_smem_offset"},
    {"%reserved_smem_offset_cap", special_form::reserved_smem_offset_cap, 4, kind::scalar,
     "%reserved_smem_offset"},
    {"%reserved_smem_offset_0", special_form::reserved_smem_offset_begin, 4, kind::scalar,
     "%reserved_smem_offset"},
    {"%reserved_smem_offset_1", special_form::reserved_smem_offset_begin, 4, kind::scalar,
     "%reserved_smem_offset"},
    {"%is_explicit_cluster", special_form::is_explicit_cluster, 0, kind::scalar, "%cluster"},
    {"%clusterid", special_form::clusterid_x, 4, kind::vector, "%cluster"},
    {"%nclusterid", special_form::nclusterid_x, 4, kind::vector, "%cluster"},
    {"%cluster_ctaid", special_form::cluster_ctaid_x, 4, kind::vector, "%cluster"},
    {"%cluster_nctaid", special_form::cluster_nctaid_x, 4, kind::vector, "%cluster"},
    {"%cluster_ctarank", special_form::cluster_ctarank, 4, kind::scalar, "%cluster"},
    {"%cluster_nctarank", special_form::cluster_nctarank, 4, kind::scalar, "%cluster"},
    {"%current_graph_exec", special_form::zero, 8, kind::scalar, "%current_graph_exec"},
    {"%clock", special_form::clock, 4},
    {"%clock_hi", special_form::clock_hi, 4},
    {"%clock64", special_form::clock64, 8},
    {"%globaltimer", special_form::globaltimer, 8},
    {"%globaltimer_lo", special_form::globaltimer_lo, 4},
    {"%globaltimer_hi", special_form::globaltimer_hi, 4},
};

// The n of %pm<n>, %pm<n>_64 and %envreg<n>.
std::optional<unsigned> numbered(std::string_view name, std::string_view prefix, std::string_view suffix,
                                 unsigned count) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix) || name.size() <= prefix.size() + suffix.size())
    return {};
  const std::string_view digits = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
  unsigned number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size() || number >= count) return {};
  if (digits.size() > 1 && digits.front() == '0') return {};
  return number;
}

// Performance-monitor counters read zero. The environment registers read zero too, except two: they hold the
// workspace with which the blocks of a cooperative grid synchronise.
std::optional<special_use> numbered_special(std::string_view name) {
  if (numbered(name, "%pm", "", 8)) return special_use{special_form::zero, 4};
  if (numbered(name, "%pm", "_64", 8)) return special_use{special_form::zero, 8};
  const auto environment = numbered(name, "%envreg", "", 32);
  if (!environment) return {};
  if (*environment == 1) return special_use{special_form::grid_workspace_high, 4};
  if (*environment == 2) return special_use{special_form::grid_workspace_low, 4};
  return special_use{special_form::zero, 4};
}

special_use element(const special_use& whole, unsigned axis) {
  const bool short_form = whole.form <= special_form::nctaid_z;
  if (axis == 3) return {special_form::zero, 4, false, short_form};
  return {static_cast<special_form>(static_cast<unsigned>(whole.form) + axis), whole.bytes, false,
          short_form};
}

bool changes(special_form form) { return form >= special_form::clock; }

}  // namespace

bool is_special(std::string_view name) {
  if (!name.starts_with('%')) return false;
  return std::any_of(std::begin(specials), std::end(specials),
                     [&](const special_name& s) { return s.name == name; }) ||
         numbered_special(name).has_value();
}

std::optional<special_use> special_operand(instruction_decoder& f, const syntax::operand& o) {
  if (o.kind != syntax::operand_kind::name || !o.name.starts_with('%') || o.negated || o.has_offset)
    return {};
  if (f.function.find(o.name) != nullptr) return {};
  if (const auto special = numbered_special(o.name)) {
    if (!o.member.empty()) f.fail(o.at, fmt::format("'{}' has no '{}'", o.name, o.member));
    return special;
  }
  for (const special_name& s : specials) {
    if (s.name != o.name) continue;
    if (!s.feature.empty()) f.require(s.feature, s.name);
    if (o.member.empty()) return special_use{s.form, s.bytes, s.is == kind::vector};
    constexpr std::string_view axes[] = {".x", ".y", ".z", ".w"}, colours[] = {".r", ".g", ".b", ".a"};
    for (unsigned axis = 0; axis < 4 && s.is == kind::vector; ++axis)
      if (axes[axis] == o.member || colours[axis] == o.member) return element({s.form, s.bytes}, axis);
    f.fail(o.at, fmt::format("'{}' has no '{}'", o.name, o.member));
  }
  return {};
}

std::uint32_t special_source(instruction_decoder& f, const special_use& special) {
  if (!changes(special.form)) return f.function.special_row_of(special.form, special.bytes);
  instruction read;
  read.op = operation::read_special;
  read.form = static_cast<std::uint8_t>(special.form);
  read.to[0] = f.function.trash_row();
  read.to_bytes = static_cast<std::uint8_t>(special.bytes);
  read.type = special.bytes == 8 ? ptx::type::u64 : ptx::type::u32;
  read.line = f.out.line;
  read.guard = f.out.guard;
  read.guard_inverted = f.out.guard_inverted;
  f.function.note_uses(read, {}, {});
  f.function.result().code.push_back(read);
  return f.function.trash_row();
}

void move_special(instruction_decoder& f, const special_use& special) {
  const syntax::operand& from = f.operand(1);
  if (special.whole) f.fail(from.at, fmt::format("'{}' needs .x, .y or .z", from.name));
  if (special.bytes == 0) {  // a predicate
    if (f.type(0) != pred) f.fail(from.at, fmt::format("'{}' is a predicate; write mov.pred", from.name));
    f.out.to[0] = f.predicate_row(f.operand(0), false);
    f.out.from[0] = f.function.special_row_of(special.form, 4);
    f.out.from[1] = f.function.constant_row(4, 0);
    f.out.type = ptx::type::u32;
    f.out.compare = comparison::ne;
    f.emit(operation::setp);
    return;
  }
  const unsigned width = ptx::size_of(f.type(0));
  const bool narrow = width == 2 && (special.short_form || special.form == special_form::gridid);
  const bool gridid = special.form == special_form::gridid && width == 4;
  if (ptx::is_floating(f.type(0)) || (width != special.bytes && !narrow && !gridid))
    f.fail(from.at, fmt::format("'{}' has {} bits; '{}' moves {}", from.name, special.bytes * 8, f.name(),
                                ptx::suffix(f.type(0))));
  f.destination(0, 0, f.type(0));
  if (changes(special.form)) {
    f.out.form = static_cast<std::uint8_t>(special.form);
    f.emit(operation::read_special);
    return;
  }
  f.out.from[0] = f.function.special_row_of(special.form, width);
  f.emit(operation::mov);
}

std::array<std::uint32_t, 4> special_elements(instruction_decoder& f, const special_use& special,
                                              unsigned bytes) {
  if (!special.whole) f.fail(f.operand(1).at, fmt::format("'{}' is not a vector", f.operand(1).name));
  if (bytes > 4) f.fail(f.operand(1).at, fmt::format("'{}' has elements of 32 bits", f.operand(1).name));
  std::array<std::uint32_t, 4> rows{};
  for (unsigned axis = 0; axis < 4; ++axis)
    rows[axis] = f.function.special_row_of(element(special, axis).form, bytes);
  return rows;
}

}  // namespace kaio::emulator
