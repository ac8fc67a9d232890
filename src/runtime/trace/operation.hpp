#pragma once
// The operations that a thread is in: detail::operation_scope (kaio/runtime/detail/operation_scope.hpp).

#include <string_view>

namespace kaio::runtime::trace {

// The thread launches a kernel: it belongs to the operations that the thread is in.
void note_launch(std::string_view kernel);

}  // namespace kaio::runtime::trace
