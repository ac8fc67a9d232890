#pragma once
// A matmul_fp8 that was checked, and the tables of its kernels. A kernel's row is a matmul_variant, whose function is
// called with an fp8_call alone.

#include <kaio/ops/matmul_8bit/fp8/arguments.hpp>
#include <kaio/ops/matmul_8bit/fp8/epilogue.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "ops/matmul/choice/table.hpp"

namespace kaio::ops {

// What matmul needs to know of a call to choose among its kernels, and the arguments of the epilogue. `operand` is the
// type of A.
struct fp8_call : matmul_call {
  matmul_type operand_b = matmul_type::e4m3;
  bool has_groups = false;
  fp8_terms epilogue;
};

// Checks the arguments. Throws invalid_argument.
fp8_call resolve_matmul_fp8(const void* device, const detail::matmul_fp8_arguments& arguments);

// The kernels for its types, layouts and scales, whether they accept it or not.
std::vector<const matmul_variant*> variants_for(const fp8_call& call);
// The one that a call takes. Throws unsupported_device, or invalid_argument where `forced` cannot run it.
const matmul_variant& choose_fp8(std::string_view operation, const fp8_call& call,
                                 const device_properties& device, std::string_view forced);
// What tuning knows the call by.
std::string tuning_key(const fp8_call& call);

// Appends the rows of a kernel, one for each element type of C, whose launch gives it.
template <class Launch>
void add_fp8_rows(variant_list& list, matmul_variant row, Launch) {
  row.most_batches = 65535;
  row.run = [](const stream& s, const matmul_call& call, const matmul_variant&) {
    Launch{}(s, static_cast<const fp8_call&>(call));
  };
  for (const matmul_type output :
       {matmul_type::f32, matmul_type::f16, matmul_type::bf16, matmul_type::e4m3}) {
    row.output = output;
    list.push_back(row);
  }
}

// Kernels without scales of groups, those with them, and those that take both, operands of both types and any layout.
void add_fp8_sm90(variant_list& list);
void add_fp8_mma_sync(variant_list& list);
void add_fp8_groups_sm90(variant_list& list);
void add_fp8_groups_mma_sync(variant_list& list);
void add_fp8_any(variant_list& list);
void add_fp8_simt(variant_list& list);
void list_fp8_quantise_kernels(std::vector<const ptx::kernel_image*>& list);

}  // namespace kaio::ops
