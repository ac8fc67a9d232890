#pragma once
// The kernels of a product of bytes: those that are for its types and layouts, one by name, and all of them ranked.

#include <kaio/ops/matmul.hpp>

#include <string_view>
#include <vector>

#include "ops/matmul/choice/table.hpp"

namespace kaio::ops {

// A product without K reads no operands, which may have no memory: it runs on the kernel that reads lines at any address.
void leave_operands_out(matmul_call& call, const void* device);

// The variants for the types and layouts of a call, whether or not they accept the call.
std::vector<const matmul_variant*> variants_among(const variant_list& list, const matmul_call& call);

// The variant of this name. Throws invalid_argument if there is none for `kinds`, such as "these types and layouts", or if it
// refuses the call. product: "matmul_fp8".
const matmul_variant& named_variant(std::string_view operation, std::string_view product,
                                    std::string_view kinds, const std::vector<const matmul_variant*>& among,
                                    const matmul_call& call, const device_properties& device,
                                    std::string_view name);

// The fastest by the cost model first, those that refuse the call last.
std::vector<matmul_variant_info> ranked_variants(const std::vector<const matmul_variant*>& among,
                                                 const matmul_call& call, const device_properties& device);

// Each kernel of the list once, in the order of addresses.
std::vector<const ptx::kernel_image*> distinct_kernels(std::vector<const ptx::kernel_image*> list);

}  // namespace kaio::ops
