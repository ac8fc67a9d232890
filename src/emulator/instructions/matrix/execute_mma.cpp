// Executes the matrix multiplications of a warp: mma.sync, dense and sparse. Each handler collects the
// matrices from the registers of all lanes, multiplies, and writes D back to the lanes. Source for the places
// of a lane's elements: PTX ISA, "Matrix Fragments for mma.m8n8k4 ..." and the sections after it.

#include "emulator/barrier/aligned.hpp"
#include "emulator/instructions/execute.hpp"
#include "emulator/instructions/matrix/mma_form.hpp"
#include "emulator/instructions/matrix/sparse_metadata.hpp"
#include "emulator/instructions/matrix/tensor_core.hpp"
#include "emulator/instructions/matrix/tensor_tile.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/program/floating.hpp"
#include "emulator/program/half.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace kaio::emulator {
namespace {

constexpr u32 columns = 8;

struct place {
  u32 row, column;
};

// One mma instruction with its registers.
struct operation_of_warp {
  std::byte* file;
  mma_choice choice;
  const mma_form& form;
  const u32 *d, *a, *b, *c;  // rows of the register file
  const u32* metadata;

  operation_of_warp(const warp& w, const instruction& i)
      : file(w.file), choice(std::bit_cast<mma_choice>(i.immediate)), form(mma_forms[choice.form]) {
    const mma_fragments counts = fragments_of(form, choice.a, choice.b, choice.c, choice.d);
    d = w.owner->launched.kernel.rows.data() + i.rows;
    a = d + counts.d;
    b = a + counts.a;
    c = b + counts.b;
    metadata = c + counts.c;
  }

  u32 depth() const { return form.sparse ? form.k / 2u : form.k; }  // columns that A stores
  sparse_metadata storage() const { return {bits_of(choice.a), form.k, choice.selector}; }
  u32 metadata_of(const sparse_metadata& how, u32 row, u32 chunk) const {
    const auto [lane, shift] = how.bits_of_chunk(row, chunk);
    return get<u32>(file + *metadata, lane) >> shift & 15;
  }
  // The columns of A that a row keeps.
  void chosen_columns(const sparse_metadata& how, u32 row, std::span<u8> to) const {
    for (u32 chunk = 0; chunk < how.chunks; ++chunk) {
      const u32 code = metadata_of(how, row, chunk);
      for (u32 i = 0; i < how.kept; ++i)
        to[chunk * how.kept + i] = static_cast<u8>(chunk * how.chunk + how.position(code, i));
    }
  }
};

// The fragments of all shapes except m8n8k4 of f16. A register holds `packed` elements. Register r of a lane
// begins with this element of A; for B, rows and columns are swapped.
place first_of_a(u32 m, u32 lane, u32 r, u32 packed) {
  const u32 group = lane >> 2, of_group = lane & 3;
  if (m == 8) return {group, of_group * packed};
  return {group + (r & 1) * 8, ((r >> 1) * 4 + of_group) * packed};
}
place first_of_b(u32 lane, u32 r, u32 packed) { return {lane >> 2, (r * 4 + (lane & 3)) * packed}; }
// Element i of a lane's part of C and D.
place of_c(u32 lane, u32 i) { return {(lane >> 2) + (i >> 1) * 8, (lane & 3) * 2 + (i & 1)}; }

// Calls use(lane, register, element in the register, row, k) for each element of A. For B the column is the
// row.
template <class Use>
void for_a(u32 m, u32 depth, u32 packed, Use&& use) {
  const u32 registers = m * depth / (warp_lanes * packed);
  for (u32 r = 0; r < registers; ++r)
    for (u32 lane = 0; lane < warp_lanes; ++lane) {
      const place first = first_of_a(m, lane, r, packed);
      for (u32 e = 0; e < packed; ++e) use(lane, r, e, first.row, first.column + e);
    }
}
template <class Use>
void for_b(u32 depth, u32 packed, Use&& use) {
  const u32 registers = columns * depth / (warp_lanes * packed);
  for (u32 r = 0; r < registers; ++r)
    for (u32 lane = 0; lane < warp_lanes; ++lane) {
      const place first = first_of_b(lane, r, packed);
      for (u32 e = 0; e < packed; ++e) use(lane, r, e, first.row, first.column + e);
    }
}

// ---- floating point on tensor cores ----

tensor_format format_of(mma_element e) {
  switch (e) {
    case mma_element::bfloat16: return tensor_format::bf16;
    case mma_element::tfloat32: return tensor_format::tf32;
    case mma_element::float8_e4m3: return tensor_format::e4m3;
    case mma_element::float8_e5m2: return tensor_format::e5m2;
    default: return tensor_format::f16;
  }
}

u32 packed_element(const std::byte* row, u32 lane, u32 e, u32 bits) {
  const u32 word = get<u32>(row, lane);
  return bits == 32 ? word : word >> (e * bits) & ((1u << bits) - 1);
}

template <class T>
using accumulators = std::array<T, 16 * columns>;

// All of C is read before any of D is written: they may share registers.
template <class T>
accumulators<T> read_c(const operation_of_warp& o) {
  accumulators<T> result{};
  const bool half = o.choice.c == mma_element::float16;
  for (u32 lane = 0; lane < warp_lanes; ++lane)
    for (u32 i = 0; i < o.form.m / 4u; ++i) {
      const place p = of_c(lane, i);
      T& to = result[p.row * columns + p.column];
      if (half)
        to = static_cast<T>(packed_element(o.file + o.c[i / 2], lane, i % 2, 16));
      else
        to = get<T>(o.file + o.c[i], lane);
    }
  return result;
}

template <class T>
void write_d(const operation_of_warp& o, const accumulators<T>& d) {
  const auto at = [&](u32 lane, u32 i) {
    const place p = of_c(lane, i);
    return d[p.row * columns + p.column];
  };
  const u32 count = o.form.m / 4u;
  for (u32 lane = 0; lane < warp_lanes; ++lane) {
    if constexpr (std::is_same_v<T, u32>) {
      if (o.choice.d == mma_element::float16) {
        for (u32 i = 0; i < count; i += 2)
          put<u32>(o.file + o.d[i / 2], lane, at(lane, i) | at(lane, i + 1) << 16);
        continue;
      }
    }
    for (u32 i = 0; i < count; ++i) put<T>(o.file + o.d[i], lane, at(lane, i));
  }
}

struct operands {
  tensor_operand a, b, gathered;
  tile_operand narrow{tile_shape::narrow}, wide{tile_shape::wide};
};

// Per thread, so an instruction allocates nothing. Destructors of static objects may run kernels after the
// thread-local objects are gone; the thread then gets other operands, which remain.
operands& scratch() {
  thread_local operands* mine = nullptr;
  thread_local const struct end_of_thread {
    ~end_of_thread() { delete std::exchange(mine, nullptr); }
  } end;
  if (mine == nullptr) {
    static_cast<void>(&end);  // `end` is constructed when first named
    mine = new operands;
  }
  return *mine;
}

u32 dot(const operation_of_warp& o, const tensor_model& model, const tensor_operand& a, u32 row,
        const tensor_operand& b, u32 column, u32 c) {
  if (o.choice.d == mma_element::float16) return dot_f16(model, a, row, b, column, static_cast<u16>(c));
  return dot_f32(model, a, row, b, column, c);
}

// Sets the elements of A, or of B, whose registers hold Packed elements.
template <u32 Packed>
void set_a(const operation_of_warp& o, tile_operand& to) {
  u32* const codes = to.codes();
  const u32 outer = to.outer_stride(), step = to.k_stride();
  for_a(o.form.m, o.depth(), Packed, [&](u32 lane, u32 r, u32 e, u32 row, u32 k) {
    const u32 bits = packed_element(o.file + o.a[r], lane, e, 32 / Packed);
    if constexpr (Packed == 4)
      to.set(row, k, bits);
    else
      codes[row * outer + k * step] = bits;
  });
}
template <u32 Packed>
void set_b(const operation_of_warp& o, tile_operand& to) {
  u32* const codes = to.codes();
  const u32 outer = to.outer_stride(), step = to.k_stride();
  for_b(o.form.k, Packed, [&](u32 lane, u32 r, u32 e, u32 column, u32 k) {
    const u32 bits = packed_element(o.file + o.b[r], lane, e, 32 / Packed);
    if constexpr (Packed == 4)
      to.set(column, k, bits);
    else
      codes[column * outer + k * step] = bits;
  });
}
void set_elements(const operation_of_warp& o, tile_operand& a, tile_operand& b) {
  switch (bits_of(o.choice.a)) {
    case 8: return set_a<4>(o, a), set_b<4>(o, b);
    case 16: return set_a<2>(o, a), set_b<2>(o, b);
    default: return set_a<1>(o, a), set_b<1>(o, b);
  }
}

// A's 16 rows fill the lanes of a tile. The rows of a sparse A choose different columns, so then B's columns
// are the lanes. False, without a result, if only single elements can be multiplied.
bool multiply_as_tile(const operation_of_warp& o, const tensor_model& model) {
  if (o.choice.d == mma_element::float16 || o.choice.c == mma_element::float16) return false;
  operands& s = scratch();
  tile_operand &a = o.form.sparse ? s.narrow : s.wide, &b = o.form.sparse ? s.wide : s.narrow;
  a.reset(model, format_of(o.choice.a), o.form.m, o.depth());
  b.reset(model, format_of(o.choice.b), columns, o.form.k);
  set_elements(o, a, b);
  if (!a.complete() || !b.complete() || !can_multiply(s.narrow, s.wide)) return false;
  std::vector<u8> chosen;
  if (o.form.sparse) {
    chosen.resize(std::size_t{o.form.m} * o.depth());
    for (u32 row = 0; row < o.form.m; ++row)
      o.chosen_columns(o.storage(), row, std::span(chosen).subspan(std::size_t{row} * o.depth(), o.depth()));
  }
  std::array<u32, 16 * tile_lanes> d;
  const auto element = [&](u32 lane, u32 i) -> u32& {
    const place p = of_c(lane, i);
    return o.form.sparse ? d[p.row * tile_lanes + p.column] : d[p.column * tile_lanes + p.row];
  };
  const u32 count = o.form.m / 4u;
  if (o.form.sparse || o.form.m < tile_lanes) d.fill(0);
  for (u32 i = 0; i < count; ++i)
    for (u32 lane = 0; lane < warp_lanes; ++lane) element(lane, i) = get<u32>(o.file + o.c[i], lane);
  multiply_tiles(model, s.narrow, s.wide, chosen, d);
  for (u32 i = 0; i < count; ++i)
    for (u32 lane = 0; lane < warp_lanes; ++lane) put<u32>(o.file + o.d[i], lane, element(lane, i));
  return true;
}

void multiply_floating(warp& w, const instruction& i, u32 mask) {
  if (!assemble(w, i, mask)) return;
  const operation_of_warp o(w, i);
  const tensor_model model = tensor_model_of(o.choice.sm, format_of(o.choice.a), tensor_path::warp);
  if (multiply_as_tile(o, model)) return;
  const u32 bits = bits_of(o.choice.a), packed = 32 / bits;
  tensor_operand &a = scratch().a, &b = scratch().b, &gathered = scratch().gathered;
  a.reset(model, format_of(o.choice.a), o.form.m, o.depth());
  b.reset(model, format_of(o.choice.b), columns, o.form.k);
  for_a(o.form.m, o.depth(), packed, [&](u32 lane, u32 r, u32 e, u32 row, u32 k) {
    a.set(row, k, packed_element(o.file + o.a[r], lane, e, bits));
  });
  for_b(o.form.k, packed, [&](u32 lane, u32 r, u32 e, u32 column, u32 k) {
    b.set(column, k, packed_element(o.file + o.b[r], lane, e, bits));
  });
  accumulators<u32> result = read_c<u32>(o);
  std::array<u8, 128> chosen;
  for (u32 row = 0; row < o.form.m; ++row) {
    if (o.form.sparse) o.chosen_columns(o.storage(), row, chosen);
    for (u32 column = 0; column < columns; ++column) {
      u32& d = result[row * columns + column];
      if (o.form.sparse) {
        gathered.gather(b, column, std::span(chosen).first(o.depth()));
        d = dot(o, model, a, row, gathered, 0, d);
      } else {
        d = dot(o, model, a, row, b, column, d);
      }
    }
  }
  write_d(o, result);
}

// ---- m8n8k4 of f16: four multiplications, each by lanes 4q to 4q+3 and 4q+16 to 4q+19 ----

struct quad_pair {
  std::array<std::array<u16, 4>, 8> a, b;  // rows of A, columns of B
  std::array<std::array<u32, 8>, 8> c;
};

// Element i of a lane's part of C or D.
place of_quad_c(u32 lane, u32 i, mma_element e) {
  const u32 high = lane < 16 ? 0 : 4;
  if (e == mma_element::float16) return {lane % 4 + high, i};
  return {(lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)};
}

template <class Use>
void for_quad_lanes(u32 q, Use&& use) {
  for (u32 of_group = 0; of_group < 8; ++of_group) use(q * 4 + of_group % 4 + of_group / 4 * 16);
}

quad_pair read_quad_pair(const operation_of_warp& o, u32 q) {
  quad_pair result;
  for_quad_lanes(q, [&](u32 lane) {
    const u32 high = lane < 16 ? 0 : 4, of_group = lane % 4;
    for (u32 i = 0; i < 4; ++i) {
      const u16 a = static_cast<u16>(packed_element(o.file + o.a[i / 2], lane, i % 2, 16));
      const u16 b = static_cast<u16>(packed_element(o.file + o.b[i / 2], lane, i % 2, 16));
      (o.choice.a_column ? result.a[i + high][of_group] : result.a[of_group + high][i]) = a;
      (o.choice.b_column ? result.b[of_group + high][i] : result.b[i + high][of_group]) = b;
    }
    for (u32 i = 0; i < 8; ++i) {
      const place p = of_quad_c(lane, i, o.choice.c);
      result.c[p.row][p.column] = o.choice.c == mma_element::float16
                                      ? packed_element(o.file + o.c[i / 2], lane, i % 2, 16)
                                      : get<u32>(o.file + o.c[i], lane);
    }
  });
  return result;
}

void write_quad_pair(const operation_of_warp& o, u32 q, const quad_pair& from) {
  const auto at = [&](u32 lane, u32 i) {
    const place p = of_quad_c(lane, i, o.choice.d);
    return from.c[p.row][p.column];
  };
  for_quad_lanes(q, [&](u32 lane) {
    for (u32 i = 0; i < 8; ++i) {
      if (o.choice.d != mma_element::float16)
        put<u32>(o.file + o.d[i], lane, at(lane, i));
      else if (i % 2 == 0)
        put<u32>(o.file + o.d[i / 2], lane, at(lane, i) | at(lane, i + 1) << 16);
    }
  });
}

// Tensor cores from sm_80 on do not have this shape: ptxas emits ordinary f32 instructions. The order is that
// of its code for sm_80, sm_89 and sm_90.
u32 emulated_dot(const std::array<u16, 4>& a, const std::array<u16, 4>& b, u32 c, mma_element c_is,
                 mma_element d_is) {
  const auto x = [&](u32 k) { return single_of(f16{a[k]}); };
  const auto y = [&](u32 k) { return single_of(f16{b[k]}); };
  const f32 before =
      c_is == mma_element::float16 ? single_of(f16{static_cast<u16>(c)}) : std::bit_cast<f32>(c);
  if (d_is == mma_element::float16) {
    const f32 low = std::fma(x(1), y(1), x(0) * y(0)), high = std::fma(x(3), y(3), x(2) * y(2));
    return nearest<f16>(static_cast<f64>(before + low + high)).bits;
  }
  f32 sum = 0;
  for (u32 k = 0; k < 4; ++k) sum = std::fma(x(k), y(k), sum);
  return std::bit_cast<u32>(canonical(before + sum));
}

void multiply_quad_pairs(warp& w, const instruction& i, u32 mask) {
  if (!assemble(w, i, mask)) return;
  const operation_of_warp o(w, i);
  const tensor_model model = tensor_model_of(o.choice.sm, tensor_format::f16, tensor_path::warp);
  std::array<quad_pair, 4> pairs;
  for (u32 q = 0; q < 4; ++q) pairs[q] = read_quad_pair(o, q);
  tensor_operand &a = scratch().a, &b = scratch().b;
  for (u32 q = 0; q < 4; ++q) {
    quad_pair& p = pairs[q];
    a.reset(model, tensor_format::f16, 8, 4);
    b.reset(model, tensor_format::f16, 8, 4);
    for (u32 row = 0; row < 8; ++row)
      for (u32 k = 0; k < 4; ++k) {
        a.set(row, k, p.a[row][k]);
        b.set(row, k, p.b[row][k]);
      }
    for (u32 row = 0; row < 8; ++row)
      for (u32 column = 0; column < columns; ++column) {
        u32& d = p.c[row][column];
        if (o.choice.sm >= 80) {
          d = emulated_dot(p.a[row], p.b[column], d, o.choice.c, o.choice.d);
        } else {
          if (o.choice.c == mma_element::float16 && o.choice.d == mma_element::float32)
            d = std::bit_cast<u32>(single_of(f16{static_cast<u16>(d)}));
          d = dot(o, model, a, row, b, column, d);
        }
      }
    write_quad_pair(o, q, p);
  }
}

// ---- integers and single bits: exact ----

s32 integer_element(const std::byte* row, u32 lane, u32 e, mma_element kind) {
  const u32 bits = bits_of(kind);
  const u32 value = packed_element(row, lane, e, bits);
  if (kind == mma_element::unsigned8 || kind == mma_element::unsigned4) return static_cast<s32>(value);
  return static_cast<s32>(value << (32 - bits)) >> (32 - bits);
}

void multiply_integers(warp& w, const instruction& i, u32 mask) {
  if (!assemble(w, i, mask)) return;
  const operation_of_warp o(w, i);
  const u32 depth = o.depth(), packed = 32 / bits_of(o.choice.a);
  std::array<std::array<s16, 64>, 16> a;
  std::array<std::array<s16, 128>, columns> b;
  for_a(o.form.m, depth, packed, [&](u32 lane, u32 r, u32 e, u32 row, u32 k) {
    a[row][k] = static_cast<s16>(integer_element(o.file + o.a[r], lane, e, o.choice.a));
  });
  for_b(o.form.k, packed, [&](u32 lane, u32 r, u32 e, u32 column, u32 k) {
    b[column][k] = static_cast<s16>(integer_element(o.file + o.b[r], lane, e, o.choice.b));
  });
  accumulators<u32> result = read_c<u32>(o);
  std::array<u8, 128> chosen;
  for (u32 row = 0; row < o.form.m; ++row) {
    if (o.form.sparse) o.chosen_columns(o.storage(), row, chosen);
    for (u32 column = 0; column < columns; ++column) {
      u32& d = result[row * columns + column];
      s32 sum = 0;
      for (u32 k = 0; k < depth; ++k) sum += a[row][k] * b[column][o.form.sparse ? chosen[k] : k];
      d = static_cast<u32>(integer_result(s64{static_cast<s32>(d)} + sum, i.flags.satfinite));
    }
  }
  write_d(o, result);
}

void multiply_bits(warp& w, const instruction& i, u32 mask) {
  if (!assemble(w, i, mask)) return;
  const operation_of_warp o(w, i);
  const u32 words = o.form.k / 32u;
  std::array<std::array<u32, 8>, 16> a;
  std::array<std::array<u32, 8>, columns> b;
  for_a(o.form.m, words, 1,
        [&](u32 lane, u32 r, u32, u32 row, u32 k) { a[row][k] = get<u32>(o.file + o.a[r], lane); });
  for_b(words, 1,
        [&](u32 lane, u32 r, u32, u32 column, u32 k) { b[column][k] = get<u32>(o.file + o.b[r], lane); });
  accumulators<u32> result = read_c<u32>(o);
  for (u32 row = 0; row < o.form.m; ++row)
    for (u32 column = 0; column < columns; ++column)
      for (u32 k = 0; k < words; ++k) {
        const u32 both = o.choice.conjunction ? a[row][k] & b[column][k] : a[row][k] ^ b[column][k];
        result[row * columns + column] += static_cast<u32>(std::popcount(both));
      }
  write_d(o, result);
}

// ---- f64: a chain of fma, in the order of k ----

void multiply_doubles(warp& w, const instruction& i, u32 mask) {
  if (!assemble(w, i, mask)) return;
  const operation_of_warp o(w, i);
  std::array<std::array<f64, 16>, 16> a;
  std::array<std::array<f64, 16>, columns> b;
  for_a(o.form.m, o.form.k, 1,
        [&](u32 lane, u32 r, u32, u32 row, u32 k) { a[row][k] = get<f64>(o.file + o.a[r], lane); });
  for_b(o.form.k, 1,
        [&](u32 lane, u32 r, u32, u32 column, u32 k) { b[column][k] = get<f64>(o.file + o.b[r], lane); });
  accumulators<f64> result = read_c<f64>(o);
  const rounding_scope mode(i.round);
  for (u32 row = 0; row < o.form.m; ++row)
    for (u32 column = 0; column < columns; ++column) {
      f64& d = result[row * columns + column];
      for (u32 k = 0; k < o.form.k; ++k) d = std::fma(a[row][k], b[column][k], d);
      d = canonical(d);
    }
  write_d(o, result);
}

}  // namespace

handler mma_handler(const instruction& i) {
  if (i.op != operation::mma && i.op != operation::mma_sparse) return nullptr;
  const mma_form& form = mma_forms[std::bit_cast<mma_choice>(i.immediate).form];
  switch (form.family) {
    case mma_family::float64: return &multiply_doubles;
    case mma_family::integer8:
    case mma_family::integer4: return &multiply_integers;
    case mma_family::bit: return &multiply_bits;
    default: return is_quad_pair(form) ? &multiply_quad_pairs : &multiply_floating;
  }
}

}  // namespace kaio::emulator
