// Decodes the video instructions: arithmetic on bytes and halves of registers, one at a time or in parallel.
// Source: PTX ISA, "Video Instructions".

#include "emulator/decode/instruction_decoder.hpp"
#include "emulator/instructions/arithmetic/video.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace kaio::emulator {
namespace {

using enum ptx::type;

constexpr bool is_set(video_form v) { return v == video_form::set; }

// The types of d, a and b; vset names only those of a and b.
void video_types(instruction_decoder& f, video_form v, video_details& details) {
  f.types(is_set(v) ? 2 : 3);
  for (std::size_t i = 0; i < f.type_count(); ++i) f.allow(f.type(i), {u32, s32});
  const std::size_t first = is_set(v) ? 0 : 1;
  f.out.type = is_set(v) ? u32 : f.type(0);
  f.out.source_type = f.type(first);
  details.signed_b = f.type(first + 1) == s32;
}

void comparison_of(instruction_decoder& f) {
  f.out.compare =
      static_cast<comparison>(f.need_one({".eq", ".ne", ".lt", ".le", ".gt", ".ge"}, "a comparison"));
}

// The operand without its selector (.b3 in r0.b3), which is read elsewhere.
syntax::operand bare(const syntax::operand& o) {
  syntax::operand plain = o;
  plain.member = {};
  return plain;
}

video_part part_of(instruction_decoder& f, const syntax::operand& o) {
  constexpr std::string_view parts[] = {"", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"};
  for (std::size_t i = 0; i < std::size(parts); ++i)
    if (o.member == parts[i]) return static_cast<video_part>(i);
  f.fail(o.at, fmt::format("'{}' is no selector of '{}': one of .b0, .b1, .b2, .b3, .h0, .h1", o.member,
                           f.text.opcode));
}

void no_selector(instruction_decoder& f, const syntax::operand& o, std::string_view which) {
  if (!o.member.empty())
    f.fail(o.at, fmt::format("'{}': {} of '{}' has no selector", o.member, which, f.text.opcode));
}

void third_source(instruction_decoder& f, std::size_t index) {
  no_selector(f, f.operand(index), "the third source");
  f.source(2, index, f.out.type);
}

void finish(instruction_decoder& f, const video_details& details) {
  f.out.immediate = std::bit_cast<std::int64_t>(details);
  f.emit(operation::video);
}

// ---- one element ----

void single(instruction_decoder& f, video_form v) {
  video_details details;
  video_types(f, v, details);
  f.out.form = static_cast<std::uint8_t>(v);
  const bool shifts = v == video_form::shl || v == video_form::shr;
  if (shifts) {
    if (details.signed_b) f.fail(fmt::format("'{}': the shift amount is .u32", f.name()));
    f.out.flags.clamp = f.need_one({".clamp", ".wrap"}, "a mode") == 0;
  }
  if (is_set(v))
    comparison_of(f);
  else
    f.sat_modifier();
  details.second = static_cast<video_second>(f.accept_one({".add", ".min", ".max"}) + 1);
  f.arity(3, 4);
  const bool third = f.operands() == 4;
  const syntax::operand& to = f.operand(0);
  const video_part into = part_of(f, to);
  if (into != video_part::word && details.second != video_second::none)
    f.fail(to.at,
           fmt::format("'{}' has either a selector on its destination or a second operation", f.name()));
  if (!third && (into != video_part::word || details.second != video_second::none))
    f.fail(fmt::format("'{}' needs a third source", f.name()));
  details.into = static_cast<std::uint8_t>(into);
  details.select_a = static_cast<std::uint16_t>(part_of(f, f.operand(1)));
  details.select_b = static_cast<std::uint16_t>(part_of(f, f.operand(2)));
  f.out.to[0] = f.destination_row(bare(to), f.out.type, false, &f.out.to_bytes);
  f.out.from[0] = f.source_row(bare(f.operand(1)), f.out.source_type, false, nullptr);
  f.out.from[1] = f.source_row(bare(f.operand(2)), details.signed_b ? s32 : u32, false, nullptr);
  if (third)
    third_source(f, 3);
  else
    f.out.from[2] = f.function.constant_row(4, 0);
  finish(f, details);
}

void decode_vmad(instruction_decoder& f) {
  video_details details;
  video_types(f, video_form::mad, details);
  f.out.form = static_cast<std::uint8_t>(video_form::mad);
  f.sat_modifier();
  details.plus_one = f.accept(".po");
  const int scale = f.accept_one({".shr7", ".shr15"});
  details.shift = scale < 0 ? 0 : scale == 0 ? 7 : 15;
  f.arity(4);
  no_selector(f, f.operand(0), "the destination");
  if (f.operand(0).minus) f.fail(f.operand(0).at, "the destination of 'vmad' is a register");
  details.negate_product = f.operand(1).minus != f.operand(2).minus;
  details.negate_c = f.operand(3).minus;
  if (details.negate_product && details.negate_c)
    f.fail(fmt::format("'{}': either the product or the third source is negated", f.name()));
  if (details.plus_one && (f.operand(1).minus || f.operand(2).minus || details.negate_c))
    f.fail(fmt::format("'{}': .po goes without '-'", f.name()));
  details.select_a = static_cast<std::uint16_t>(part_of(f, f.operand(1)));
  details.select_b = static_cast<std::uint16_t>(part_of(f, f.operand(2)));
  f.destination(0, 0, f.out.type);
  f.out.from[0] = f.source_row(bare(f.operand(1)), f.out.source_type, false, nullptr);
  f.out.from[1] = f.source_row(bare(f.operand(2)), details.signed_b ? s32 : u32, false, nullptr);
  third_source(f, 3);
  finish(f, details);
}

// ---- two halves or four bytes ----

// The digits after .h or .b, the last one for element 0: four bits each.
std::uint16_t elements_of(instruction_decoder& f, const syntax::operand& o, unsigned count,
                          std::uint16_t otherwise) {
  if (o.kind != syntax::operand_kind::name)
    f.fail(o.at, fmt::format("the sources of '{}' are registers", f.text.opcode));
  if (o.member.empty()) return otherwise;
  const char kind = count == 2 ? 'h' : 'b';
  const auto wrong = [&] {
    f.fail(o.at, fmt::format("'{}' is no selector of '{}': .{} with {} digits from 0 to {}", o.member,
                             f.text.opcode, kind, count, 2 * count - 1));
  };
  if (o.member.size() != count + 2 || o.member[1] != kind) wrong();
  std::uint16_t result = 0;
  for (const char digit : o.member.substr(2)) {
    if (digit < '0' || static_cast<unsigned>(digit - '0') >= 2 * count) wrong();
    result = static_cast<std::uint16_t>(result << 4 | (digit - '0'));
  }
  return result;
}

// The elements to write: their digits in falling order.
std::uint8_t mask_of(instruction_decoder& f, const syntax::operand& o, unsigned count) {
  if (o.member.empty()) return static_cast<std::uint8_t>((1u << count) - 1);
  const char kind = count == 2 ? 'h' : 'b';
  unsigned mask = 0, before = count;
  bool good = o.member.size() > 2 && o.member[1] == kind;
  for (const char digit : o.member.substr(std::min<std::size_t>(2, o.member.size()))) {
    const auto number = static_cast<unsigned>(digit - '0');
    good = good && digit >= '0' && number < before;
    if (!good) break;
    mask |= 1u << number;
    before = number;
  }
  if (!good)
    f.fail(o.at, fmt::format("'{}' is no mask of '{}': .{} with digits from {} to 0 in falling order",
                             o.member, f.text.opcode, kind, count - 1));
  return static_cast<std::uint8_t>(mask);
}

void several(instruction_decoder& f, video_form v, unsigned count) {
  video_details details;
  video_types(f, v, details);
  f.out.form = static_cast<std::uint8_t>(v);
  f.out.count = static_cast<std::uint8_t>(count);
  if (is_set(v))
    comparison_of(f);
  else
    f.sat_modifier();
  if (f.accept(".add")) details.second = video_second::add;
  if (f.out.flags.sat && details.second == video_second::add)
    f.fail(fmt::format("'{}': .sat and .add exclude each other", f.name()));
  f.arity(4);
  details.into = mask_of(f, f.operand(0), count);
  details.select_a = elements_of(f, f.operand(1), count, count == 2 ? 0x10 : 0x3210);
  details.select_b = elements_of(f, f.operand(2), count, count == 2 ? 0x32 : 0x7654);
  f.out.to[0] = f.destination_row(bare(f.operand(0)), f.out.type, false, &f.out.to_bytes);
  f.out.from[0] = f.source_row(bare(f.operand(1)), f.out.source_type, false, nullptr);
  f.out.from[1] = f.source_row(bare(f.operand(2)), details.signed_b ? s32 : u32, false, nullptr);
  if (f.operand(3).kind != syntax::operand_kind::name)
    f.fail(f.operand(3).at, fmt::format("the sources of '{}' are registers", f.text.opcode));
  third_source(f, 3);
  finish(f, details);
}

template <video_form Form, unsigned Count>
void decode(instruction_decoder& f) {
  if constexpr (Count == 1)
    single(f, Form);
  else
    several(f, Form, Count);
}

using enum video_form;

constexpr opcode_row rows[] = {
    {"vadd", decode<add, 1>},
    {"vsub", decode<sub, 1>},
    {"vabsdiff", decode<absolute_difference, 1>},
    {"vmin", decode<min, 1>},
    {"vmax", decode<max, 1>},
    {"vshl", decode<shl, 1>},
    {"vshr", decode<shr, 1>},
    {"vmad", decode_vmad},
    {"vset", decode<set, 1>},
    {"vadd2", decode<add, 2>},
    {"vsub2", decode<sub, 2>},
    {"vavrg2", decode<average, 2>},
    {"vabsdiff2", decode<absolute_difference, 2>},
    {"vmin2", decode<min, 2>},
    {"vmax2", decode<max, 2>},
    {"vset2", decode<set, 2>},
    {"vadd4", decode<add, 4>},
    {"vsub4", decode<sub, 4>},
    {"vavrg4", decode<average, 4>},
    {"vabsdiff4", decode<absolute_difference, 4>},
    {"vmin4", decode<min, 4>},
    {"vmax4", decode<max, 4>},
    {"vset4", decode<set, 4>},
};

}  // namespace

std::span<const opcode_row> video_opcodes() { return rows; }

}  // namespace kaio::emulator
