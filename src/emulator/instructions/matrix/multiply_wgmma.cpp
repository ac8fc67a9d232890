// The products of wgmma: each warp's 16 rows of D from its rows of A and all of B.

#include "emulator/instructions/matrix/sparse_metadata.hpp"
#include "emulator/instructions/matrix/tensor_core.hpp"
#include "emulator/instructions/matrix/tensor_tile.hpp"
#include "emulator/instructions/matrix/wgmma.hpp"
#include "emulator/instructions/matrix/wgmma_operand.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/grid.hpp"
#include "emulator/machine/lanes.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <vector>

namespace kaio::emulator {
namespace {

// Rows of A or columns of B with all of their K.
struct operand_bytes {
  u32 row_bytes;
  std::vector<u8> bytes;

  operand_bytes(u32 rows, u32 bytes_of_row)
      : row_bytes(bytes_of_row), bytes(std::size_t{rows} * bytes_of_row) {}
  u8* row(u32 r) { return bytes.data() + std::size_t{r} * row_bytes; }
  const u8* row(u32 r) const { return bytes.data() + std::size_t{r} * row_bytes; }

  u32 element(u32 r, u32 k, u32 bits) const {
    u32 value = 0;
    std::memcpy(&value, row(r) + k * bits / 8, bits / 8);
    return value;
  }
};

void read_shared(const block& b, u64 descriptor, outer_range outer, bool mn_major, operand_bytes& to) {
  for_chunks(matrix_descriptor(descriptor), outer, to.row_bytes, mn_major, [&](u32 address, u32 row, u32 k) {
    const std::byte* const from = b.shared.data() + address;
    row -= outer.first;
    if (!mn_major) {
      std::memcpy(to.row(row) + k, from, 16);
    } else {
      for (u32 e = 0; e < 8; ++e) std::memcpy(to.row(row + e) + k, from + e * 2, 2);
    }
  });
}

// The fragment of A: register q of lane 4 g + t has 4 bytes of row g + 8 (q mod 2), from 16 (q / 2) + 4 t on.
void read_registers(const warp& w, const u32* rows, operand_bytes& to) {
  for (u32 q = 0; q < 4; ++q)
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      std::memcpy(to.row(lane / 4 + q % 2 * 8) + q / 2 * 16 + lane % 4 * 4, w.file + rows[q] + lane * 4, 4);
}

// ---- the sparse A ----

// The index in K of each stored element of a row of A.
using chosen_elements = std::array<u8, 32>;

chosen_elements choose(const warp& w, const instruction& i, wgmma_form f, u32 row) {
  const u32 bits = bits_of(f.a);
  const sparse_metadata metadata(bits, f.row_bytes_of_b() * 8 / bits, f.selector);
  chosen_elements chosen{};
  for (u32 chunk = 0; chunk < metadata.chunks; ++chunk) {
    const auto at = metadata.bits_of_chunk(row, chunk);
    const u32 code = get<u32>(w.file + i.from[3], at.lane) >> at.shift & 15;
    for (u32 k = 0; k < metadata.kept; ++k)
      chosen[chunk * metadata.kept + k] =
          static_cast<u8>(chunk * metadata.chunk + metadata.position(code, k));
  }
  return chosen;
}

// ---- D ----

// The element of D in a lane's register: `element` is 1 for the high half of two f16.
struct place_in_d {
  u32 row, column;
};
place_in_d address_operand_of(wgmma_form f, u32 index, unsigned lane, u32 element) {
  if (f.d == wgmma_element::f16) return {lane / 4 + index % 2 * 8, index / 2 * 8 + lane % 4 * 2 + element};
  return {lane / 4 + index / 2 % 2 * 8, index / 4 * 8 + lane % 4 * 2 + index % 2};
}

using lane_values = std::array<u32, warp_lanes>;

u32 row_of(const warp& w, const warpgroup::product& p, u32 k) {
  return w.owner->launched.kernel.rows[p.at->rows + k];
}

// Register k of D.
warpgroup::reservation& flying(const warp& w, const warpgroup::product& p, u32 k) {
  return w.matrices->members[rank_in_warpgroup(w)].registers.at(row_of(w, p, k));
}

// The values of register k of D before the product.
lane_values& in_flight(warp& w, const warpgroup::product& p, u32 k) {
  warpgroup::reservation& r = flying(w, p, k);
  if (!p.accumulates)
    r.value = {};
  else if (!r.computed)
    std::memcpy(r.value.data(), w.file + row_of(w, p, k), sizeof r.value);
  r.computed = true;
  return r.value;
}

// Replaces each element c of D by compute(row, column, c).
template <class Compute>
void update(warp& w, const warpgroup::product& p, Compute&& compute) {
  const wgmma_form f = form_of(*p.at);
  for (u32 k = 0; k < f.registers(); ++k) {
    lane_values& values = in_flight(w, p, k);
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      const place_in_d at = address_operand_of(f, k, lane, 0);
      u32& value = values[lane];
      if (f.d == wgmma_element::f16)
        value = compute(at.row, at.column, value & 0xffff) | compute(at.row, at.column + 1, value >> 16)
                                                                 << 16;
      else
        value = compute(at.row, at.column, value);
    }
  }
}

tensor_format format_of(wgmma_element e) { return static_cast<tensor_format>(e); }
static_assert(static_cast<unsigned>(wgmma_element::e5m2) == static_cast<unsigned>(tensor_format::e5m2));

void fill(tensor_operand& to, const tensor_model& model, wgmma_element e, const operand_bytes& from, u32 rows,
          bool negate) {
  const u32 bits = bits_of(e), depth = from.row_bytes * 8 / bits;
  const u32 sign = negate ? 1u << (bits - 1) : 0;
  to.reset(model, format_of(e), rows, depth);
  for (u32 row = 0; row < rows; ++row)
    for (u32 k = 0; k < depth; ++k) to.set(row, k, from.element(row, k, bits) ^ sign);
}

// ---- the products of the four warps: B is unpacked once ----

using chosen_rows = std::array<chosen_elements, rows_of_a_warp>;

chosen_rows choose_rows(const warp& w, const instruction& i, wgmma_form f) {
  chosen_rows chosen{};
  if (f.has(wgmma_form::sparse))
    for (u32 row = 0; row < rows_of_a_warp; ++row) chosen[row] = choose(w, i, f, row);
  return chosen;
}

// A and B may differ in type (e4m3 and e5m2) but share the model. Operands of finite numbers are multiplied as tiles,
// others element by element.
class floating_product {
 public:
  floating_product(const block& b, const warpgroup::product& p, const operand_bytes& columns)
      : product_(p),
        form_(form_of(*p.at)),
        model_(tensor_model_of(b.launched.program.device().sm, format_of(form_.a), tensor_path::warpgroup)),
        columns_(columns) {
    if (form_.d == wgmma_element::f16) return;
    wide_.reset(model_, format_of(form_.b), form_.columns, columns.row_bytes * 8 / bits_of(form_.b));
    const u32 flipped = form_.has(wgmma_form::negate_b) ? 1u << (bits_of(form_.b) - 1) : 0;
    for (u32 column = 0; column < form_.columns; ++column)
      wide_.set_row(column, columns.row(column), flipped);
    finite_columns_ = wide_.complete();
  }

  void of(warp& w, const operand_bytes& a) {
    const chosen_rows chosen = choose_rows(w, *product_.at, form_);
    if (!finite_columns_ || !multiply_as_tile(w, a, chosen)) multiply_elements(w, a, chosen);
  }

 private:
  u32 depth() const { return row_bytes_of_a * 8 / bits_of(form_.a); }

  // False if an element is infinite or NaN, or if products may leave the range of f32.
  bool multiply_as_tile(warp& w, const operand_bytes& a, const chosen_rows& chosen) {
    narrow_.reset(model_, format_of(form_.a), rows_of_a_warp, depth());
    const u32 flipped = form_.has(wgmma_form::negate_a) ? 1u << (bits_of(form_.a) - 1) : 0;
    for (u32 row = 0; row < rows_of_a_warp; ++row) narrow_.set_row(row, a.row(row), flipped);
    if (!narrow_.complete() || !can_multiply(narrow_, wide_)) return false;
    std::vector<u8> places;
    if (form_.has(wgmma_form::sparse))
      for (const chosen_elements& row : chosen)
        places.insert(places.end(), row.begin(), row.begin() + depth());
    const u32 stride = wide_.lanes();
    d_.resize(std::size_t{rows_of_a_warp} * stride);
    for (u32 k = 0; k < form_.registers(); k += 2) {
      const lane_values &even = in_flight(w, product_, k), &odd = in_flight(w, product_, k + 1);
      u32* const to = first_of_pair(k, stride);
      for (u32 row = 0; row < 8; ++row)
        for (u32 pair = 0; pair < 4; ++pair) {
          to[row * stride + pair * 2] = even[row * 4 + pair];
          to[row * stride + pair * 2 + 1] = odd[row * 4 + pair];
        }
    }
    multiply_tiles(model_, narrow_, wide_, places, d_);
    for (u32 k = 0; k < form_.registers(); k += 2) {
      lane_values &even = flying(w, product_, k).value, &odd = flying(w, product_, k + 1).value;
      const u32* const from = first_of_pair(k, stride);
      for (u32 row = 0; row < 8; ++row)
        for (u32 pair = 0; pair < 4; ++pair) {
          even[row * 4 + pair] = from[row * stride + pair * 2];
          odd[row * 4 + pair] = from[row * stride + pair * 2 + 1];
        }
    }
    return true;
  }

  // Registers k and k + 1 of f32 hold 8 rows of 8 columns: lane 4 r + c has the columns 2 c and 2 c + 1 of row r.
  u32* first_of_pair(u32 k, u32 stride) {
    const place_in_d at = address_operand_of(form_, k, 0, 0);
    return d_.data() + at.row * stride + at.column;
  }

  void multiply_elements(warp& w, const operand_bytes& a, const chosen_rows& chosen) {
    tensor_operand rows, columns, gathered;
    fill(rows, model_, form_.a, a, rows_of_a_warp, form_.has(wgmma_form::negate_a));
    fill(columns, model_, form_.b, columns_, form_.columns, form_.has(wgmma_form::negate_b));
    update(w, product_, [&](u32 row, u32 column, u32 c) -> u32 {
      if (!form_.has(wgmma_form::sparse)) return dot(rows, row, columns, column, c);
      gathered.gather(columns, column, std::span(chosen[row]).first(depth()));
      return dot(rows, row, gathered, 0, c);
    });
  }

  u32 dot(const tensor_operand& rows, u32 row, const tensor_operand& columns, u32 column, u32 c) const {
    if (form_.d == wgmma_element::f16)
      return dot_f16(model_, rows, row, columns, column, static_cast<u16>(c));
    return dot_f32(model_, rows, row, columns, column, c);
  }

  const warpgroup::product& product_;
  wgmma_form form_;
  tensor_model model_;
  const operand_bytes& columns_;
  bool finite_columns_ = false;
  tile_operand narrow_{tile_shape::narrow}, wide_{tile_shape::wide};
  std::vector<u32> d_;
};

std::vector<s16> numbers(wgmma_element e, const operand_bytes& from) {
  std::vector<s16> to(from.bytes.size());
  for (std::size_t k = 0; k < to.size(); ++k)
    to[k] = e == wgmma_element::s8_ ? static_cast<s16>(static_cast<s8>(from.bytes[k])) : s16{from.bytes[k]};
  return to;
}

class integer_product {
 public:
  integer_product(const block&, const warpgroup::product& p, const operand_bytes& columns)
      : product_(p),
        form_(form_of(*p.at)),
        columns_(numbers(form_.b, columns)),
        column_bytes_(columns.row_bytes) {}

  void of(warp& w, const operand_bytes& a) {
    const std::vector<s16> rows = numbers(form_.a, a);
    const chosen_rows chosen = choose_rows(w, *product_.at, form_);
    update(w, product_, [&](u32 row, u32 column, u32 c) {
      const s16* const x = rows.data() + row * row_bytes_of_a;
      const s16* const y = columns_.data() + column * column_bytes_;
      s32 sum = 0;
      if (form_.has(wgmma_form::sparse))
        for (u32 k = 0; k < row_bytes_of_a; ++k) sum += x[k] * y[chosen[row][k]];
      else
        for (u32 k = 0; k < row_bytes_of_a; ++k) sum += x[k] * y[k];
      return static_cast<u32>(integer_result(s64{static_cast<s32>(c)} + sum, product_.at->flags.satfinite));
    });
  }

 private:
  const warpgroup::product& product_;
  wgmma_form form_;
  std::vector<s16> columns_;
  u32 column_bytes_;
};

class bit_product {
 public:
  bit_product(const block&, const warpgroup::product& p, const operand_bytes& columns)
      : product_(p), columns_(columns) {}

  void of(warp& w, const operand_bytes& a) {
    update(w, product_, [&](u32 row, u32 column, u32 c) {
      for (u32 k = 0; k < row_bytes_of_a; k += 4) {
        u32 x, y;
        std::memcpy(&x, a.row(row) + k, 4);
        std::memcpy(&y, columns_.row(column) + k, 4);
        c += static_cast<u32>(std::popcount(x & y));
      }
      return c;
    });
  }

 private:
  const warpgroup::product& product_;
  const operand_bytes& columns_;
};

template <class Product>
void multiply_rows(block& b, u32 first_warp, const warpgroup::product& p) {
  const wgmma_form f = form_of(*p.at);
  operand_bytes a(rows_of_a_warp, row_bytes_of_a), columns(f.columns, f.row_bytes_of_b());
  read_shared(b, p.b, {0, f.columns}, f.has(wgmma_form::trans_b), columns);
  Product product(b, p, columns);
  for (u32 rank = 0; rank < warps_of_a_warpgroup; ++rank) {
    warp& w = b.warps[first_warp + rank];
    if (f.has(wgmma_form::a_registers))
      read_registers(w, b.launched.kernel.rows.data() + p.at->rows + f.registers(), a);
    else
      read_shared(b, p.a, {rank * rows_of_a_warp, (rank + 1) * rows_of_a_warp}, f.has(wgmma_form::trans_a),
                  a);
    product.of(w, a);
  }
}

}  // namespace

void multiply(block& b, u32 first_warp, const warpgroup::product& p) {
  switch (form_of(*p.at).a) {
    case wgmma_element::s8_:
    case wgmma_element::u8_: multiply_rows<integer_product>(b, first_warp, p); break;
    case wgmma_element::b1: multiply_rows<bit_product>(b, first_warp, p); break;
    default: multiply_rows<floating_product>(b, first_warp, p); break;
  }
}

}  // namespace kaio::emulator
