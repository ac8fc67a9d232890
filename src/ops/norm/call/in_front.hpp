#pragma once
// The norm before a projection: its checks, its launch, and the call that remains without it.

#include <kaio/ops/norm/call/x_norm.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/workspace.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <string_view>

#include "ops/shared/row_checks.hpp"

namespace kaio::ops::detail {

// Throws invalid_argument. x has passed its checks before.
void check_x_norm(std::string_view operation, const void* device, const any_view& x, const x_norm& norm);

// The normed x, in the first bytes of a workspace or without memory yet: its bytes, a multiple of 256, and
// its view.
std::uint64_t bytes_of_normed(const any_view& x);
any_view normed_in(const workspace_view& workspace, const any_view& x);
// Runs the call's x_norm as rms_norm, into normed_in.
void run_norm_in_front(const stream& s, const any_view& x, const x_norm& norm,
                       const workspace_view& workspace);

// The call without its norm. It reads x, or (is_in_front) the norm of x in the first bytes of its workspace.
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
