// Decodes the matrix multiplications of a warp: mma.sync, dense and sparse.

#include "emulator/decode/instruction_decoder.hpp"
#include "emulator/instructions/matrix/mma_form.hpp"
#include "emulator/instructions/matrix/sparse_metadata.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>

namespace kaio::emulator {
namespace mma_decoding {
namespace {

std::optional<mma_element> multiplicand(std::string_view suffix) {
  for (std::size_t i = 0; i < mma_multiplicands.size(); ++i)
    if (mma_multiplicands[i].suffix == suffix) return static_cast<mma_element>(i);
  return std::nullopt;
}

mma_family family_of(mma_element e) { return mma_multiplicands[static_cast<std::size_t>(e)].family; }

// Rejects modifiers that only later targets have.
void refuse_newer(const instruction_decoder& f) {
  for (const syntax::modifier& m : f.text.modifiers) {
    const bool narrow = m.text == ".e3m2" || m.text == ".e2m3" || m.text == ".e2m1";
    if (narrow || m.text.starts_with(".kind::") || m.text.starts_with(".scale_vec::") ||
        m.text == ".block_scale" || m.text == ".ue8m0" || m.text == ".ue4m3")
      f.fail_newer(m.at, fmt::format("mma with {}", m.text), {120, true});
  }
}

struct mma_types {
  mma_element d, a, b, c;
};

// .dtype.atype.btype.ctype
mma_types types_of(instruction_decoder& f) {
  const std::vector<std::string_view> names =
      f.accept_all({".f16", ".bf16", ".tf32", ".e4m3", ".e5m2", ".f64", ".s8", ".u8", ".s4", ".u4", ".b1",
                    ".f32", ".s32"});
  if (names.size() != 4)
    f.fail(fmt::format("'{}' needs four types, those of D, A, B and C, and has {}", f.name(), names.size()));
  const auto accumulator = [&](std::string_view name, char matrix) {
    if (name == ".f16") return mma_element::float16;
    if (name == ".f32") return mma_element::float32;
    if (name == ".s32") return mma_element::signed32;
    if (name == ".f64") return mma_element::float64;
    f.fail(fmt::format("'{}': {} is of .f16, .f32, .f64 or .s32, not of {}", f.name(), matrix, name));
  };
  const auto factor = [&](std::string_view name, char matrix) {
    if (const auto e = multiplicand(name)) return *e;
    f.fail(fmt::format("'{}': there is no multiplication of {}, which {} has here", f.name(), name, matrix));
  };
  const mma_types t{accumulator(names[0], 'D'), factor(names[1], 'A'), factor(names[2], 'B'),
                    accumulator(names[3], 'C')};
  if (family_of(t.a) != family_of(t.b))
    f.fail(fmt::format("'{}': A of {} and B of {} do not go together", f.name(), names[1], names[2]));
  return t;
}

std::size_t form_of(const instruction_decoder& f, mma_family family, std::string_view element, bool sparse,
                    std::string_view shape) {
  std::string shapes;
  for (std::size_t i = 0; i < std::size(mma_forms); ++i) {
    const mma_form& known = mma_forms[i];
    if (known.family != family || known.sparse != sparse) continue;
    if (known.shape == shape) return i;
    shapes += fmt::format("{}{}", shapes.empty() ? "" : ", ", known.shape);
  }
  if (shapes.empty()) f.fail(fmt::format("'{}': there is no sparse A of {}", f.name(), element));
  f.fail(fmt::format("'{}': the shapes of {} are {}", f.name(), element, shapes));
}

void check_accumulators(instruction_decoder& f, const mma_form& chosen, const mma_types& t) {
  const mma_element exact = chosen.family == mma_family::float64    ? mma_element::float64
                            : chosen.family >= mma_family::integer8 ? mma_element::signed32
                                                                    : mma_element::float32;
  const auto fits = [&](mma_element e) {
    return e == exact || (e == mma_element::float16 && !chosen.half_feature.empty());
  };
  if (!fits(t.d) || !fits(t.c))
    f.fail(fmt::format("'{}': C and D of this shape and these elements are of {}", f.name(),
                       exact == mma_element::float64    ? ".f64"
                       : exact == mma_element::signed32 ? ".s32"
                       : chosen.half_feature.empty()    ? ".f32"
                                                        : ".f16 or .f32"));
  if (is_quad_pair(chosen)) {
    if (t.c == mma_element::float32 && t.d == mma_element::float16)
      f.fail(fmt::format("'{}': D must be of .f32 where C is", f.name()));
  } else if (t.c != t.d) {
    f.fail(fmt::format("'{}': C and D must be of the same type", f.name()));
  }
}

// The vector of registers that holds a lane's part of a matrix.
const std::vector<syntax::operand>& fragment(const instruction_decoder& f, std::size_t index, u32 count,
                                             char matrix) {
  const syntax::operand& o = f.operand(index);
  if (o.kind != syntax::operand_kind::vector)
    f.fail(o.at, fmt::format("'{}' takes {} as a vector in braces", f.name(), matrix));
  if (o.elements.size() != count)
    f.fail(o.at, fmt::format("'{}' has {} in {} register{}, not in {}", f.name(), matrix, count,
                             count == 1 ? "" : "s", o.elements.size()));
  return o.elements;
}

// f16x2 registers hold integers elsewhere, but not here.
void check_integer(const instruction_decoder& f, const syntax::operand& o) {
  if (o.kind != syntax::operand_kind::name) return;
  const symbol* const s = f.function.find(o.name);
  if (s != nullptr && s->kind == symbol_kind::reg && s->type == ptx::type::f16x2)
    f.fail(o.at, fmt::format("'{}' is .f16x2; '{}' takes .s32 here", o.name, f.name()));
}

void list_result(instruction_decoder& f, const syntax::operand& o, mma_element e) {
  if (o.kind == syntax::operand_kind::sink) {
    f.list_row(f.function.trash_row());
    return;
  }
  switch (e) {
    case mma_element::float16:
      f.bits_register(o, ptx::type::b32, ptx::type::f16x2);
      f.list_row(f.destination_row(o, ptx::type::b32, false, nullptr));
      return;
    case mma_element::float64: f.list_row(f.destination_row(o, ptx::type::f64, false, nullptr)); return;
    case mma_element::signed32:
      check_integer(f, o);
      f.list_row(f.destination_row(o, ptx::type::s32, false, nullptr));
      return;
    default: f.list_row(f.destination_row(o, ptx::type::f32, false, nullptr));
  }
}

void list_accumulator(instruction_decoder& f, const syntax::operand& o, mma_element e) {
  switch (e) {
    case mma_element::float16:
      f.bits_register(o, ptx::type::b32, ptx::type::f16x2);
      f.list_row(f.source_row(o, ptx::type::b32, false, nullptr));
      return;
    case mma_element::float64: f.list_row(f.source_row(o, ptx::type::f64, false, nullptr)); return;
    case mma_element::signed32:
      check_integer(f, o);
      f.list_row(f.source_row(o, ptx::type::s32, false, nullptr));
      return;
    default:
      if (o.kind == syntax::operand_kind::real && o.real_bytes != 4)
        f.fail(o.at, fmt::format("'{}' takes a constant of .f32 here, such as 0f3F800000", f.name()));
      f.list_row(f.source_row(o, ptx::type::f32, false, nullptr));
  }
}

void list_multiplicand(instruction_decoder& f, const syntax::operand& o, mma_element e) {
  switch (family_of(e)) {
    case mma_family::float64: f.list_row(f.source_row(o, ptx::type::f64, false, nullptr)); return;
    case mma_family::float16: f.bits_register(o, ptx::type::b32, ptx::type::f16x2); break;
    case mma_family::bfloat16:
    case mma_family::tfloat32: f.bits_register(o, ptx::type::b32, ptx::type::none); break;
    default:
      if (o.kind != syntax::operand_kind::name)
        f.fail(o.at, fmt::format("'{}' takes A and B in registers", f.name()));
  }
  f.list_row(f.source_row(o, ptx::type::b32, false, nullptr));
}

u8 selector_of(const instruction_decoder& f, const mma_form& chosen, mma_element a) {
  const u32 count = sparse_metadata(bits_of(a), chosen.k, 0).selectors();
  const syntax::operand& o = f.operand(5);
  if (o.kind != syntax::operand_kind::integer)
    f.fail(o.at, fmt::format("the sparsity selector of '{}' is a constant", f.name()));
  if (o.bits >= count)
    f.fail(o.at, fmt::format("the sparsity selector of '{}' is {}", f.name(),
                             count == 1 ? "0" : fmt::format("between 0 and {}", count - 1)));
  return static_cast<u8>(o.bits);
}

void layouts(instruction_decoder& f, const mma_form& chosen, mma_choice& choice) {
  const std::vector<std::string_view> names = f.accept_all({".row", ".col"});
  if (names.size() != 2)
    f.fail(fmt::format("'{}' needs the layouts of A and of B, .row or .col each", f.name()));
  choice.a_column = names[0] == ".col";
  choice.b_column = names[1] == ".col";
  if (!is_quad_pair(chosen) && (choice.a_column || !choice.b_column))
    f.fail(fmt::format("'{}' has the layouts .row.col only", f.name()));
}

// .xor.popc or .and.popc: how single bits are multiplied.
void bit_operation(instruction_decoder& f, const mma_form& chosen, mma_choice& choice) {
  const std::vector<std::string_view> names = f.accept_all({".xor", ".and", ".popc"});
  if (chosen.family != mma_family::bit) {
    if (!names.empty()) f.fail(fmt::format("'{}': '{}' is for elements of .b1 only", f.name(), names[0]));
    return;
  }
  if (names.size() != 2 || names[0] == ".popc" || names[1] != ".popc")
    f.fail(fmt::format("'{}' needs an operation on bits: .xor.popc or .and.popc", f.name()));
  choice.conjunction = names[0] == ".and";
  if (choice.conjunction) f.require("mma.and", "mma.and.popc");
}

void decode_mma(instruction_decoder& f) {
  const int variant = f.accept_one({".sp", ".sp::ordered_metadata"});
  const bool sparse = variant >= 0;
  refuse_newer(f);
  for (std::string_view mandatory : {".sync", ".aligned"})
    if (!f.accept(mandatory)) f.fail(fmt::format("'{}' without {} does not exist", f.name(), mandatory));
  f.out.flags.aligned = true;
  const std::vector<std::string_view> shapes =
      f.accept_all({".m8n8k4", ".m8n8k16", ".m8n8k32", ".m8n8k128", ".m16n8k4", ".m16n8k8", ".m16n8k16",
                    ".m16n8k32", ".m16n8k64", ".m16n8k128", ".m16n8k256"});
  if (shapes.size() != 1) f.fail(fmt::format("'{}' needs one shape, such as .m16n8k16", f.name()));
  const mma_types t = types_of(f);
  const mma_family family = family_of(t.a);
  const std::size_t number =
      form_of(f, family, mma_multiplicands[static_cast<std::size_t>(t.a)].suffix, sparse, shapes[0]);
  const mma_form& chosen = mma_forms[number];
  mma_choice choice{};
  choice.form = static_cast<u8>(number);
  choice.a = t.a;
  choice.b = t.b;
  choice.c = t.c;
  choice.d = t.d;
  choice.sm = static_cast<u8>(f.function.module().device.sm);
  layouts(f, chosen, choice);
  check_accumulators(f, chosen, t);
  f.require(t.c == mma_element::float16 ? chosen.half_feature : chosen.feature, f.name());
  if (variant == 1) f.require("mma.sp::ordered_metadata");
  if (family == mma_family::integer8 || family == mma_family::integer4)
    f.out.flags.satfinite = f.accept(".satfinite");
  if (family == mma_family::float64) f.rounding_modifier(false);
  bit_operation(f, chosen, choice);
  f.finish_modifiers();

  f.arity(sparse ? 6 : 4);
  const mma_fragments counts = fragments_of(chosen, t.a, t.b, t.c, t.d);
  for (const syntax::operand& o : fragment(f, 0, counts.d, 'D')) list_result(f, o, t.d);
  for (const syntax::operand& o : fragment(f, 1, counts.a, 'A')) list_multiplicand(f, o, t.a);
  for (const syntax::operand& o : fragment(f, 2, counts.b, 'B')) list_multiplicand(f, o, t.b);
  for (const syntax::operand& o : fragment(f, 3, counts.c, 'C')) list_accumulator(f, o, t.c);
  if (sparse) {
    if (f.operand(4).kind != syntax::operand_kind::name)
      f.fail(f.operand(4).at, fmt::format("'{}' takes the metadata in a register", f.name()));
    f.list_row(f.source_row(f.operand(4), ptx::type::b32, false, nullptr));
    choice.selector = selector_of(f, chosen, t.a);
  }
  f.out.immediate = std::bit_cast<s64>(choice);
  f.emit(sparse ? operation::mma_sparse : operation::mma);
}

constexpr opcode_row rows[] = {{"mma", decode_mma}};

}  // namespace
}  // namespace mma_decoding

std::span<const opcode_row> mma_opcodes() { return mma_decoding::rows; }

}  // namespace kaio::emulator
