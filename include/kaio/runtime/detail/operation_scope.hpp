#pragma once
// A call of an operation, for the trace and for the log. The scope lasts as long as the call. Arguments that are checked
// within it, and kernels that the thread launches within it, belong to it. If nothing is recorded, a scope costs two
// calls and a load.
//
//   const runtime::detail::operation_scope scope("matmul");
//   runtime::detail::note_argument("a", "f16", extents, 2);

#include <kaio/ptx/standard.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::runtime::detail {

// Null if nothing is recorded.
void* begin_operation(std::string_view name) noexcept;
void end_operation(void* operation) noexcept;
// Belongs to the innermost operation of the thread. Of two arguments of one name the first counts.
void note_argument(std::string_view name, std::string_view type, const std::int64_t* extents,
                   std::uint32_t rank) noexcept;
void note_workspace(std::uint64_t bytes) noexcept;

class operation_scope {
 public:
  explicit operation_scope(std::string_view name) noexcept : operation_(begin_operation(name)) {}
  operation_scope(const operation_scope&) = delete;
  operation_scope& operator=(const operation_scope&) = delete;
  ~operation_scope() {
    if (operation_ != nullptr) [[unlikely]]
      end_operation(operation_);
  }

 private:
  void* operation_;
};

}  // namespace kaio::runtime::detail
