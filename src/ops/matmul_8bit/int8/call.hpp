#pragma once
// A matmul_int8 that was checked, and the table of its kernels. A kernel's row is a matmul_variant, whose function
// is called with an int8_call alone.

#include <kaio/ops/matmul_8bit/int8/arguments.hpp>
#include <kaio/ops/matmul_8bit/int8/epilogue.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "ops/matmul/choice/table.hpp"

namespace kaio::ops {

// What matmul needs to know of a call to choose among its kernels, and the arguments of the epilogue.
struct int8_call : matmul_call {
  int8_terms epilogue;
};

// Checks the arguments. Throws invalid_argument.
int8_call resolve_matmul_int8(const void* device, const detail::matmul_int8_arguments& arguments);

// The kernels for its types and layouts, whether they accept it or not.
std::vector<const matmul_variant*> variants_for(const int8_call& call);
// The one that a call takes. Throws unsupported_device, or invalid_argument where `forced` cannot run it.
const matmul_variant& choose_int8(std::string_view operation, const int8_call& call,
                                  const device_properties& device, std::string_view forced);
// What tuning knows the call by.
std::string tuning_key(const int8_call& call);

// The rows of a kernel, one for each element type of C, whose launch gives it.
template <class Launch>
void add_int8_rows(variant_list& list, matmul_variant row, Launch) {
  row.most_batches = 65535;
  row.run = [](const stream& s, const matmul_call& call, const matmul_variant&) {
    Launch{}(s, call, static_cast<const int8_call&>(call).epilogue);
  };
  for (const matmul_type output :
       {matmul_type::f32, matmul_type::f16, matmul_type::bf16, matmul_type::i8, matmul_type::i32}) {
    row.output = output;
    list.push_back(row);
  }
}

void add_int8_sm90(variant_list& list);
void add_int8_mma_sync(variant_list& list);
void add_int8_simt(variant_list& list);
void list_int8_column_sums_kernels(std::vector<const ptx::kernel_image*>& list);
void list_int8_quantise_kernels(std::vector<const ptx::kernel_image*>& list);

}  // namespace kaio::ops
