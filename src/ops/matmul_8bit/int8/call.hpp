#pragma once
// A checked call of matmul_int8, and the table of its kernels. A table row is a matmul_variant whose `run`
// gets an int8_call and nothing else.

#include <kaio/ops/matmul_8bit/int8/arguments.hpp>
#include <kaio/ops/matmul_8bit/int8/epilogue.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "ops/matmul/choice/table.hpp"

namespace kaio::ops {

// A matmul_call, from which a kernel is chosen, and the epilogue's arguments.
struct int8_call : matmul_call {
  int8_terms epilogue;
};

// Checks the arguments. Throws invalid_argument.
int8_call resolve_matmul_int8(const void* device, const detail::matmul_int8_arguments& arguments);

// Kernels for the call's types and layouts, whether or not they accept the call.
std::vector<const matmul_variant*> variants_for(const int8_call& call);
// The kernel for a call. Throws unsupported_device, or invalid_argument if `forced` cannot run the call.
const matmul_variant& choose_int8(std::string_view operation, const int8_call& call,
                                  const device_properties& device, std::string_view forced);
// The call's key in the store of tuning.
std::string tuning_key(const int8_call& call);

// Appends a kernel's rows, one per element type of C. The launch gives that type.
template <class Launch>
void add_int8_rows(variant_list& list, matmul_variant row, Launch) {
  row.most_batches = 65535;
  row.run = [](const stream& s, const matmul_call& call, const matmul_variant& v) {
    Launch{}(s, static_cast<const int8_call&>(call), v);
  };
  for (const element_kind output :
       {element_kind::f32, element_kind::f16, element_kind::bf16, element_kind::i8, element_kind::i32}) {
    row.output = output;
    list.push_back(row);
  }
}

}  // namespace kaio::ops
