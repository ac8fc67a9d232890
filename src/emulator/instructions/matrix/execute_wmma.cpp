// wmma.load, wmma.store and wmma.mma. The tensor core (tensor_core.hpp) computes the products, as for
// mma.sync of these types.

#include "emulator/barrier/aligned.hpp"
#include "emulator/instructions/matrix/tensor_core.hpp"
#include "emulator/instructions/matrix/wmma.hpp"
#include "emulator/instructions/memory/address.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/grid.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/raise_access.hpp"
#include "emulator/program/floating.hpp"
#include "emulator/program/half.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace kaio::emulator {
namespace {

constexpr u32 most_rows = 32;  // rows of A or columns of B
constexpr u32 most_depth = 128;

// ---- loads and stores ----

// The elements of one register in all lanes, in pieces that are contiguous in memory.
class fragment_access {
 public:
  fragment_access(warp& w, const instruction& i, access_kind access)
      : warp_(w), instruction_(i), access_(access), form_(std::bit_cast<wmma_form>(i.detail)) {
    // The elements of a register are adjacent, in K or along the rows of an accumulator.
    const bool along_columns = form_.matrix == wmma_matrix::a || (form_.matrix == wmma_matrix::accumulator &&
                                                                  form_.shape != wmma_shape::m8n32k16);
    const u32 per_register = elements_of_register(form_.element);
    pieces_ = along_columns != form_.column_major ? 1 : per_register;
    piece_bytes_ = bits_of(form_.element) * per_register / pieces_ / 8;
    for (unsigned lane = 0; lane < warp_lanes; ++lane) base_[lane] = base_of(lane);
    check_rows();
  }

  u32 pieces() const { return pieces_; }
  u32 piece_bytes() const { return piece_bytes_; }
  wmma_form form() const { return form_; }

  void locate(u32 index, u32 piece, std::byte* (&at)[warp_lanes]) {
    const u32 element = piece * (elements_of_register(form_.element) / pieces_);
    u64 addresses[warp_lanes];
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      const matrix_place p = address_operand_of(form_, lane, index, element);
      const u64 outer = form_.column_major ? p.column : p.row, inner = form_.column_major ? p.row : p.column;
      const u64 stride = get<u32>(warp_.file + instruction_.from[1], lane);
      addresses[lane] = wrapped(base_[lane] + (outer * stride + inner) * bits_of(form_.element) / 8);
    }
    locate_at(warp_, instruction_, all_lanes, piece_bytes_, access_, addresses, at);
  }

 private:
  u64 wrapped(u64 address) const {
    return instruction_.space == state_space::shared ? static_cast<u32>(address) : address;
  }

  u64 base_of(unsigned lane) const {
    const auto offset = static_cast<u64>(instruction_.immediate);
    switch (instruction_.from_bytes) {
      case 8: return wrapped(get<u64>(warp_.file + instruction_.from[0], lane) + offset);
      case 4: return wrapped(get<u32>(warp_.file + instruction_.from[0], lane) + offset);
      default: return offset;
    }
  }

  // In shared memory the rows of A and B with 16-bit elements are read 16 bytes at a time.
  void check_rows() const {
    if (form_.matrix == wmma_matrix::accumulator || bits_of(form_.element) != 16) return;
    const u32 bytes = instruction_.space == state_space::shared ? 16 : 4;
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      const u64 next = wrapped(base_[lane] + get<u32>(warp_.file + instruction_.from[1], lane) * u64{2});
      for (const u64 address : {base_[lane], next})
        if (address % bytes != 0)
          raise_access(warp_, instruction_, lane, access_, instruction_.space, address, bytes);
    }
  }

  warp& warp_;
  const instruction& instruction_;
  access_kind access_;
  wmma_form form_;
  u32 pieces_ = 1, piece_bytes_ = 4;
  u64 base_[warp_lanes];
};

const u32* rows_of(const warp& w, const instruction& i) {
  return w.owner->launched.kernel.rows.data() + i.rows;
}

void load(warp& w, const instruction& i, u32 lanes) {
  if (!assemble(w, i, lanes)) return;
  fragment_access access(w, i, access_kind::read);
  const u32* const rows = rows_of(w, i);
  const u32 distinct = distinct_registers_of(access.form());
  const u32 register_bytes = access.pieces() * access.piece_bytes();
  std::byte values[8][warp_lanes * 8];
  for (u32 r = 0; r < distinct; ++r)
    for (u32 piece = 0; piece < access.pieces(); ++piece) {
      std::byte* at[warp_lanes];
      access.locate(r, piece, at);
      for (unsigned lane = 0; lane < warp_lanes; ++lane)
        std::memcpy(values[r] + lane * register_bytes + piece * access.piece_bytes(), at[lane],
                    access.piece_bytes());
    }
  for (u32 r = 0; r < i.count; ++r)
    std::memcpy(w.file + rows[r], values[r % distinct], warp_lanes * register_bytes);
}

void store(warp& w, const instruction& i, u32 lanes) {
  if (!assemble(w, i, lanes)) return;
  fragment_access access(w, i, access_kind::write);
  const u32* const rows = rows_of(w, i);
  const u32 register_bytes = access.pieces() * access.piece_bytes();
  for (u32 r = 0; r < i.count; ++r)
    for (u32 piece = 0; piece < access.pieces(); ++piece) {
      std::byte* at[warp_lanes];
      access.locate(r, piece, at);
      for (unsigned lane = 0; lane < warp_lanes; ++lane)
        std::memcpy(at[lane], w.file + rows[r] + lane * register_bytes + piece * access.piece_bytes(),
                    access.piece_bytes());
    }
  ++w.owner->changes;
}

// ---- products ----

// Calls `each(place, bits)` for all elements of a fragment with elements of up to 32 bits.
template <class Each>
void for_elements(const warp& w, const u32* rows, wmma_form f, Each&& each) {
  const u32 bits = bits_of(f.element), per_register = elements_of_register(f.element);
  const u32 mask = bits == 32 ? all_lanes : (1u << bits) - 1;
  for (u32 r = 0; r < distinct_registers_of(f); ++r)
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      const u32 value = get<u32>(w.file + rows[r], lane);
      for (u32 e = 0; e < per_register; ++e)
        each(address_operand_of(f, lane, r, e), value >> (e * bits) & mask);
    }
}

// The register rows of one instruction's fragments, D first.
struct product_rows {
  wmma_form d, a, b, c;
  const u32 *d_rows, *a_rows, *b_rows, *c_rows;

  product_rows(const warp& w, const instruction& i) {
    const auto p = std::bit_cast<wmma_product>(i.detail);
    d = {p.shape, wmma_matrix::accumulator, p.d, false};
    a = {p.shape, wmma_matrix::a, p.element, false};
    b = {p.shape, wmma_matrix::b, p.element, false};
    c = {p.shape, wmma_matrix::accumulator, p.c, false};
    d_rows = rows_of(w, i);
    a_rows = d_rows + registers_of(d);
    b_rows = a_rows + registers_of(a);
    c_rows = b_rows + registers_of(b);
  }
};

// [element][lane]: a lane's elements of D, or of C, one after another.
using accumulator = std::array<std::array<u32, warp_lanes>, 8>;

accumulator read_accumulator(const warp& w, const u32* rows, wmma_form f) {
  accumulator values{};
  const u32 per_register = elements_of_register(f.element);
  for (u32 r = 0; r < registers_of(f); ++r)
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      const u32 word = get<u32>(w.file + rows[r], lane);
      for (u32 e = 0; e < per_register; ++e)
        values[r * per_register + e][lane] = per_register == 1 ? word : word >> (e * 16) & 0xffff;
    }
  return values;
}

void write_accumulator(warp& w, const u32* rows, wmma_form f, const accumulator& values) {
  const u32 per_register = elements_of_register(f.element);
  for (u32 r = 0; r < registers_of(f); ++r)
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      put(w.file + rows[r], lane,
          per_register == 1 ? values[r][lane] : values[r * 2][lane] | values[r * 2 + 1][lane] << 16);
}

// The effect of .satfinite on floating-point results up to PTX ISA 6.4.
u32 finite(u32 bits, bool half) {
  const u32 sign = half ? 0x8000u : 0x80000000u, infinity = half ? 0x7c00u : 0x7f800000u;
  const u32 magnitude = bits & (sign - 1);
  if (magnitude < infinity) return bits;
  return magnitude > infinity ? 0 : (bits & sign) | (infinity - 1);
}

tensor_format format_of(wmma_element e) {
  switch (e) {
    case wmma_element::bf16: return tensor_format::bf16;
    case wmma_element::tf32: return tensor_format::tf32;
    default: return tensor_format::f16;
  }
}

void multiply_floating(warp& w, const instruction& i, u32 lanes) {
  if (!assemble(w, i, lanes)) return;
  const product_rows p(w, i);
  const matrix_extent e = extent_of(p.a.shape);
  const tensor_format format = format_of(p.a.element);
  const tensor_model model =
      tensor_model_of(w.owner->launched.program.device().sm, format, tensor_path::warp);
  tensor_operand a(model, format, e.m, e.k), b(model, format, e.n, e.k);
  for_elements(w, p.a_rows, p.a, [&](matrix_place at, u32 bits) { a.set(at.row, at.column, bits); });
  for_elements(w, p.b_rows, p.b, [&](matrix_place at, u32 bits) { b.set(at.column, at.row, bits); });
  accumulator values = read_accumulator(w, p.c_rows, p.c);
  const bool c_half = p.c.element == wmma_element::f16, d_half = p.d.element == wmma_element::f16;
  const wmma_form one_each{p.d.shape, wmma_matrix::accumulator, wmma_element::f32_, false};
  for (u32 k = 0; k < registers_of(one_each); ++k)
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      const matrix_place at = address_operand_of(one_each, lane, k, 0);
      u32& value = values[k][lane];
      if (c_half && d_half) {
        value = dot_f16(model, a, at.row, b, at.column, static_cast<u16>(value));
      } else {
        // An accumulator of another precision is converted before or after.
        if (c_half) value = std::bit_cast<u32>(canonical(single_of(f16{static_cast<u16>(value)})));
        value = dot_f32(model, a, at.row, b, at.column, value);
        if (d_half) value = nearest<f16>(static_cast<f64>(std::bit_cast<f32>(value))).bits;
      }
      if (i.flags.satfinite) value = finite(value, d_half);
    }
  write_accumulator(w, p.d_rows, p.d, values);
}

void multiply_integers(warp& w, const instruction& i, u32 lanes) {
  if (!assemble(w, i, lanes)) return;
  const product_rows p(w, i);
  const u32 depth = extent_of(p.a.shape).k;
  const u32 bits = bits_of(p.a.element);
  const bool is_signed = p.a.element == wmma_element::s8_ || p.a.element == wmma_element::s4;
  const auto number = [&](u32 value) {
    return is_signed ? static_cast<s32>(value << (32 - bits)) >> (32 - bits) : static_cast<s32>(value);
  };
  s32 a[most_rows][32], b[most_rows][32];
  for_elements(w, p.a_rows, p.a, [&](matrix_place at, u32 value) { a[at.row][at.column] = number(value); });
  for_elements(w, p.b_rows, p.b, [&](matrix_place at, u32 value) { b[at.column][at.row] = number(value); });
  accumulator values = read_accumulator(w, p.c_rows, p.c);
  for (u32 k = 0; k < registers_of(p.d); ++k)
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      const matrix_place at = address_operand_of(p.d, lane, k, 0);
      s64 sum = static_cast<s32>(values[k][lane]);
      for (u32 d = 0; d < depth; ++d) sum += s64{a[at.row][d]} * b[at.column][d];
      values[k][lane] = static_cast<u32>(integer_result(sum, i.flags.satfinite));
    }
  write_accumulator(w, p.d_rows, p.d, values);
}

// Rows of A and columns of B are 128 bits, a word in each of four lanes.
void multiply_bits(warp& w, const instruction& i, u32 lanes) {
  if (!assemble(w, i, lanes)) return;
  const product_rows p(w, i);
  accumulator values = read_accumulator(w, p.c_rows, p.c);
  for (u32 k = 0; k < registers_of(p.d); ++k)
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      const matrix_place at = address_operand_of(p.d, lane, k, 0);
      u32 sum = 0;
      for (u32 word = 0; word < most_depth / 32; ++word) {
        const u32 a = get<u32>(w.file + p.a_rows[0], at.row * 4 + word);
        const u32 b = get<u32>(w.file + p.b_rows[0], at.column * 4 + word);
        sum += static_cast<u32>(std::popcount(i.form == 0 ? a ^ b : a & b));
      }
      values[k][lane] += sum;
    }
  write_accumulator(w, p.d_rows, p.d, values);
}

// Double precision: one fused multiply-add after another, in the order of K.
void multiply_double(warp& w, const instruction& i, u32 lanes) {
  if (!assemble(w, i, lanes)) return;
  const product_rows p(w, i);
  f64 result[2][warp_lanes];
  {
    const rounding_scope scope(i.round);
    for (u32 k = 0; k < 2; ++k)
      for (unsigned lane = 0; lane < warp_lanes; ++lane) {
        const matrix_place at = address_operand_of(p.d, lane, k, 0);
        volatile f64 sum = get<f64>(w.file + p.c_rows[k], lane);
        for (u32 d = 0; d < 4; ++d)
          sum = std::fma(get<f64>(w.file + p.a_rows[0], at.row * 4 + d),
                         get<f64>(w.file + p.b_rows[0], at.column * 4 + d), sum);
        result[k][lane] = sum;
      }
  }
  for (u32 k = 0; k < 2; ++k)
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      put(w.file + p.d_rows[k], lane, canonical(result[k][lane]));
}

}  // namespace

handler wmma_handler(const instruction& i) {
  switch (i.op) {
    case operation::wmma_load: return &load;
    case operation::wmma_store: return &store;
    case operation::wmma_mma:
      switch (std::bit_cast<wmma_product>(i.detail).element) {
        case wmma_element::f64_: return &multiply_double;
        case wmma_element::b1: return &multiply_bits;
        case wmma_element::s8_:
        case wmma_element::u8_:
        case wmma_element::s4:
        case wmma_element::u4: return &multiply_integers;
        default: return &multiply_floating;
      }
    default: return nullptr;
  }
}

}  // namespace kaio::emulator
