#pragma once
// A checked call of matmul_fp8, and the tables of its kernels. A table row is a matmul_variant whose `run`
// gets an fp8_call and nothing else.

#include <kaio/ops/matmul_8bit/fp8/arguments.hpp>
#include <kaio/ops/matmul_8bit/fp8/epilogue.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "ops/matmul/choice/table.hpp"

namespace kaio::ops {

// A matmul_call, from which a kernel is chosen, and the epilogue's arguments. `operand` is the type of A.
struct fp8_call : matmul_call {
  element_kind operand_b = element_kind::e4m3;
  bool has_groups = false;
  fp8_terms epilogue;
};

// Checks the arguments. Throws invalid_argument.
fp8_call resolve_matmul_fp8(const void* device, const detail::matmul_fp8_arguments& arguments);

// Kernels for the call's types, layouts and scales, whether or not they accept the call.
std::vector<const matmul_variant*> variants_for(const fp8_call& call);
// The kernel for a call. Throws unsupported_device, or invalid_argument if `forced` cannot run the call.
const matmul_variant& choose_fp8(std::string_view operation, const fp8_call& call,
                                 const device_properties& device, std::string_view forced);
// The call's key in the store of tuning.
std::string tuning_key(const fp8_call& call);

// Appends a kernel's rows, one per element type of C. The launch gives that type.
template <class Launch>
void add_fp8_rows(variant_list& list, matmul_variant row, Launch) {
  row.most_batches = 65535;
  row.run = [](const stream& s, const matmul_call& call, const matmul_variant& v) {
    Launch{}(s, static_cast<const fp8_call&>(call), v);
  };
  for (const element_kind output :
       {element_kind::f32, element_kind::f16, element_kind::bf16, element_kind::e4m3}) {
    row.output = output;
    list.push_back(row);
  }
}

}  // namespace kaio::ops
