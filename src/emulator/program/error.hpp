#pragma once
// The errors of the emulator, as structured exceptions. `ptx_error`: text that is not valid PTX.
// `launch_error`: a launch that breaks a limit. `memory_error`: a host access to device memory. `fault`: an
// error of a running kernel. They are internal: the runtime turns them into the public `kaio::error`
// hierarchy. Every message starts with `kaio:`, and may be shown on a terminal (host/printable.hpp).

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaio/ptx/target.hpp>

namespace kaio::emulator {

// The text of a module is not PTX that the emulated device accepts. Lines and columns count from 1.
class ptx_error : public std::exception {
 public:
  ptx_error(std::uint32_t line, std::uint32_t column, std::string reason);
  const char* what() const noexcept override { return message_.c_str(); }
  std::uint32_t line() const { return line_; }
  std::uint32_t column() const { return column_; }
  const std::string& reason() const { return reason_; }

 private:
  std::uint32_t line_, column_;
  std::string reason_, message_;
};

// The device cannot take the launch: block or grid too large, shared memory beyond the limit, wrong
// parameters.
class launch_error : public std::exception {
 public:
  explicit launch_error(std::string_view message);
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

enum class memory_error_kind : std::uint8_t {
  out_of_memory,
  zero_size,
  out_of_bounds,
  not_a_buffer,
  double_free
};

// A host access outside every live buffer of device memory, or an allocation without room.
class memory_error : public std::exception {
 public:
  memory_error(memory_error_kind kind, std::uint64_t address, std::uint64_t bytes, std::string_view message);
  const char* what() const noexcept override { return message_.c_str(); }
  memory_error_kind kind() const { return kind_; }
  std::uint64_t address() const { return address_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  memory_error_kind kind_;
  std::uint64_t address_, bytes_;
  std::string message_;
};

enum class fault_kind : std::uint8_t {
  out_of_bounds,      // an address outside of every buffer, or past the end of a window
  misaligned,         // an address that is not a multiple of the access size
  use_after_free,     // an address in a buffer that was freed
  read_only,          // a write or an atomic on .const or .param memory
  barrier,            // wrong barrier number or thread count
  mbarrier,           // an mbarrier that is uninitialised, or used against its counts
  tensor_map,         // a tensor copy without a tensor map, or with an unsuitable one
  image,              // no texture or surface object, an unsuitable one, or a place outside a surface
  bulk_copy,          // a bulk copy with invalid sizes, operands or destinations
  deadlock,           // threads that wait for each other or for threads that never come
  member_mask,        // a .sync instruction executed by a lane that its mask does not name
  trap,               // trap or brkpt
  device_assert,      // __assertfail
  instruction_limit,  // a block, a launch or several together exceeded their limit
  time_limit,         // a launch, or several together, ran longer than they may
  cancelled,          // the launch was asked to end
  uninitialised,      // a use of a register, or a read of memory, that was never written
  race,               // two accesses, at least one a write, that nothing orders
  wrapped_index,      // an address from a 32-bit index that did not fit
  asynchronous,       // an access too early or too late for an asynchronous operation
  stack_overflow,     // calls or alloca need more local memory than a thread has
  invalid_pc,         // a call or a branch to an address that has no code
};

enum class access_kind : std::uint8_t { none, read, write, atomic };

// The buffer, or the shared, local or constant variable, that contains an address or is nearest to it.
struct nearest_object {
  enum class relation : std::uint8_t { none, inside, before, after };
  relation where = relation::none;  // where the address is relative to the object
  bool freed = false;
  std::uint64_t address = 0;  // address of the object's first byte
  std::uint64_t bytes = 0;
  std::uint64_t distance = 0;  // bytes between the address and the object; inside: from its start
  std::string name;            // name of the variable; empty for a buffer
};

// The other access of a conflict: a race has two sides. Line 0: there is none.
struct other_access {
  std::uint32_t ptx_line = 0;
  std::string ptx_text;
  std::string file;
  std::uint32_t line = 0;
  ptx::dim3 block{0, 0, 0};
  ptx::dim3 thread{0, 0, 0};
  std::uint32_t warp = 0, lane = 0;
  access_kind access = access_kind::none;
  std::string how;  // "weak write", "strong read at scope .cta", "asynchronous write", ...
};

// The report of a fault. Text fields are empty and numbers 0 where they do not apply.
struct fault_report {
  fault_kind kind = fault_kind::trap;
  std::string kernel;
  std::string kernel_origin;   // its origin, if another kernel has its name
  std::uint32_t ptx_line = 0;  // from 1
  std::string ptx_text;        // that line, trimmed
  std::string file;            // the C++ statement that the line came from, if known
  std::uint32_t line = 0;
  ptx::dim3 block{0, 0, 0};
  ptx::dim3 thread{0, 0, 0};
  std::uint32_t warp = 0, lane = 0;
  std::string_view space;  // "global", "shared", ...
  access_kind access = access_kind::none;
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;  // accessed by one thread
  nearest_object object;
  std::string detail;  // one sentence: what happened
  other_access other;
  std::string advice;              // what to do about it
  std::vector<fault_report> more;  // further reports, from a sanitizer that collects them
};

// A kernel did something invalid; the grid was stopped.
class fault : public std::exception {
 public:
  explicit fault(fault_report report);
  const char* what() const noexcept override { return message_.c_str(); }
  const fault_report& report() const { return report_; }

 private:
  fault_report report_;
  std::string message_;
};

}  // namespace kaio::emulator
