#pragma once
// The table of the library's variants, and the decisions made with it.

#include <kaio/ops/matmul/choice/variant.hpp>
#include <kaio/ops/matmul/common/tile_terms.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/families.hpp"

namespace kaio::ops {

// Why this variant cannot run this call on this device; empty if it can.
std::string refusal(const matmul_variant& v, const matmul_call& call, const device_properties& device);
// Whether `refusal` is empty, without making its text.
bool accepts(const matmul_variant& v, const matmul_call& call, const device_properties& device);
// The seconds that the cost model gives: cost.hpp.
double cost(const matmul_variant& v, const matmul_call& call, const device_properties& device);

// Whether the threads of a kernel for sm_90a copy lines of this alignment. Tensor copies bring lines at
// multiples of 16 bytes, and of 16-bit lines that begin anywhere each eighth one.
constexpr bool loads_words(std::uint32_t alignment) { return alignment == 4 || alignment == 8; }

// Whether tile_terms can hold what the call adds to a C of 16 bits.
inline bool has_tile_terms(const matmul_call& call) {
  const auto type = call.output == element_kind::f16 ? term_type::f16 : term_type::bf16;
  return bytes_of(call.output) == 2 && tile_terms::serve(call.terms, type, call.n);
}

// Whether the tensor that tile_terms add last is C itself.
inline bool adds_c(const matmul_call& call) {
  const matmul_term& addend = tile_terms::addend_of(call.terms);
  return addend.type != 0 && addend.address == call.c.address;
}

// All variants, and those with the types and lines of a call; made at the first call, and never changed.
std::span<const matmul_variant> all_variants();
std::span<const matmul_variant* const> variants_for(const matmul_call& call);

// The variant that a call takes: `forced`, or if that is empty the best one. Throws unsupported_device or
// invalid_argument if there is none.
const matmul_variant& choose(std::string_view operation, const matmul_call& call,
                             const device_properties& device, std::string_view forced);

// Runs a call by its best variant, or by the one that `forced` names.
void run_call(std::string_view operation, const stream& s, const matmul_call& call, std::string_view forced);
// Runs a call by a variant that accepts it; the call is not empty.
void run_variant(const stream& s, const matmul_call& call, const matmul_variant& v);

// C = epilogue(0), for a product with K = 0.
void run_nothing(const stream& s, const matmul_call& call);
// C = epilogue(sum of the splits); the workspace has their sums as [batch][split][row][column].
void run_reduction(const stream& s, const matmul_call& call, std::uint32_t splits);
// The kernels of the two functions above, for an element type of C.
const ptx::kernel_image& nothing_kernel(element_kind output);
const ptx::kernel_image& reduction_kernel(element_kind output);

// Adds a row for each element type of C. The row's kernel has any_output: its launch gives that type.
inline void add_for_each_output(variant_list& list, matmul_variant row) {
  for (const element_kind output : {element_kind::f32, element_kind::f16, element_kind::bf16}) {
    row.output = output;
    list.push_back(row);
  }
}

// Runs a call with more batches than a grid's third extent takes in several launches: f(part of the call).
template <class F>
void for_batches(const matmul_call& call, std::uint64_t most, const F& f) {
  if (call.batches <= most) return f(call);
  matmul_call part = call;
  const std::uint64_t size = bytes_of(call.operand), c_size = bytes_of(call.output);
  for (std::uint64_t first = 0; first < call.batches; first += most) {
    part.batches = call.batches - first < most ? call.batches - first : most;
    const auto move = [&](matmul_operand& to, const matmul_operand& from, std::uint64_t element) {
      const std::uint64_t bytes = first * from.batch_pitch * element;
      to.address = from.address + bytes;
      to.bytes = from.bytes - bytes;
    };
    move(part.a, call.a, size);
    move(part.b, call.b, size);
    move(part.c, call.c, c_size);
    const auto move_term = [&](matmul_term& to, const matmul_term& from) {
      const u64 element = from.type == static_cast<u32>(term_type::f32) ? 4 : 2;
      to.address = from.address + first * static_cast<u64>(from.batch) * element;
    };
    move_term(part.terms.c, call.terms.c);
    move_term(part.terms.bias, call.terms.bias);
    move_term(part.terms.residual, call.terms.residual);
    f(part);
  }
}

}  // namespace kaio::ops
