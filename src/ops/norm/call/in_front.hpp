#pragma once
// The norm of the x of a projection: its checks, and what is left of a call without it.

#include <kaio/ops/shared/workspace.hpp>
#include <kaio/ops/weight_only/gemv/config.hpp>
#include <kaio/ops/norm/call/x_norm.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <string_view>

#include "ops/cache/common/check.hpp"

namespace kaio::ops::detail {

// Throws invalid_argument. x was looked at before.
void check_x_norm(std::string_view operation, const void* device, const any_view& x, const x_norm& norm);
// Whether a kernel that takes the norm of one row on can do so: all is in pieces of 16 bytes, and no block writes what
// another one reads. Sets what the launch has of it.
bool set_norm_of_row(w4_one_row_work& work, const any_view& x, const x_norm& norm);

// The norm of x in the first bytes of a workspace, or nowhere yet: how many it takes, a multiple of 256, and the view.
std::uint64_t bytes_of_normed(const any_view& x);
any_view normed_in(const attention_workspace& workspace, const any_view& x);
// x_norm of the call as rms_norm, into normed_in.
void run_norm_in_front(const stream& s, const any_view& x, const x_norm& norm,
                       const attention_workspace& workspace);

// The call without its norm: of x itself, or of the norm of x in the first bytes of its workspace.
template <class Arguments, class Options>
struct call_without_norm {
  Options options;
  Arguments arguments;

  call_without_norm(const Arguments& of, bool is_in_front) : options(*of.options), arguments(of) {
    if (is_in_front && is_given(options.x_norm.weight)) {
      arguments.x = normed_in(options.workspace, of.x);
      options.workspace = rest_of(options.workspace, bytes_of_normed(of.x));
    }
    options.x_norm = {};
    arguments.options = &options;
  }
  call_without_norm(const call_without_norm&) = delete;
  call_without_norm& operator=(const call_without_norm&) = delete;
};

}  // namespace kaio::ops::detail
