#pragma once
// What kaio throws. Every failure is an exception derived from kaio::error. Its code distinguishes the kinds
// for a program, its type for a catch clause. Its text is built only when something fails; it starts with
// `kaio:` and says what happened to which object and what to do.
//
//   try {
//     saxpy.launch(gpu.stream(), over(n), x, y, a, n);
//     gpu.stream().synchronize();
//   } catch (const kaio::jit_error& e) {
//     std::cerr << e.what() << '\n' << e.log() << '\n';
//   } catch (const kaio::error& e) {
//     if (e.code() == kaio::errc::out_of_memory) ...
//   }
//
// Some errors lose the device: an illegal access, a failed launch, a launch that ran too long. Every later
// call on it then fails with the first cause. To recover, restart the program on a GPU, or open the emulator
// anew. A cancelled launch does not lose the device.

#include <kaio/ptx/standard.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string_view>

namespace kaio::runtime {

enum class errc : std::uint8_t {
  invalid_argument,  // the call itself is wrong: null buffer, other device, grid too large, malformed setting
  out_of_memory,     // device or pinned host memory
  driver_missing,    // no NVIDIA driver library, or one too old or broken to be used
  no_device,         // there is a driver, but not the GPU asked for
  unsupported_device,    // the kernel needs a newer SM, a newer driver, or more than the device has
  jit_failed,            // the kernel's text was refused by the driver's compiler or the emulator's parser
  launch_failed,         // a kernel could not start, or failed while it ran
  illegal_access,        // a kernel touched memory that it does not own, or misaligned
  device_lost,           // the device or its context is gone
  stream_capturing,      // the call is not allowed while a stream is captured into a graph
  device_assert,         // an assertion in a kernel failed
  launch_timeout,        // a kernel used more instructions or time than its budget, or the system, allows
  cancelled,             // device::cancel ended the launch
  driver_error,          // any other code of the driver; the text has its name
  unreadable_file,       // a file that cannot be opened or mapped, or is not a regular file
  damaged_file,          // a file that contradicts its own format
  unsupported_format,    // an intact file, or a part of one, in a version or format that kaio does not read
  communication_failed,  // a rank of a group is missing, has gone or has failed, or the group was ended
};

// "out_of_memory" for errc::out_of_memory.
std::string_view to_string(errc code) noexcept;

namespace detail {

// Immutable text that copies without throwing, as an exception's members must.
class shared_text {
 public:
  shared_text() = default;
  explicit shared_text(std::string_view text);
  shared_text(const shared_text& other) noexcept;
  shared_text& operator=(const shared_text& other) noexcept;
  ~shared_text();
  std::string_view view() const noexcept;
  const char* c_str() const noexcept;  // never null

 private:
  struct block;
  block* block_ = nullptr;
};

}  // namespace detail

class error : public std::exception {
 public:
  error(errc code, std::string_view message) : message_(message), code_(code) {}
  ~error() override;
  const char* what() const noexcept override { return message_.c_str(); }
  std::string_view message() const noexcept { return message_.view(); }
  errc code() const noexcept { return code_; }

 private:
  detail::shared_text message_;
  errc code_;
};

struct invalid_argument final : error {
  explicit invalid_argument(std::string_view message) : error(errc::invalid_argument, message) {}
  ~invalid_argument() override;
};

struct out_of_memory final : error {
  explicit out_of_memory(std::string_view message) : error(errc::out_of_memory, message) {}
  ~out_of_memory() override;
};

struct driver_missing final : error {
  explicit driver_missing(std::string_view message) : error(errc::driver_missing, message) {}
  ~driver_missing() override;
};

struct no_device final : error {
  explicit no_device(std::string_view message) : error(errc::no_device, message) {}
  ~no_device() override;
};

struct unsupported_device final : error {
  explicit unsupported_device(std::string_view message) : error(errc::unsupported_device, message) {}
  ~unsupported_device() override;
};

// A kernel could not start or did not finish. The emulator's text names the kernel, PTX line, C++ line and
// thread; a GPU reports only that some kernel launched before failed.
struct launch_error : error {
  explicit launch_error(std::string_view message, errc code = errc::launch_failed) : error(code, message) {}
  ~launch_error() override;
};

struct illegal_access final : launch_error {
  explicit illegal_access(std::string_view message) : launch_error(message, errc::illegal_access) {}
  ~illegal_access() override;
};

// An assertion in a kernel did not hold. The emulator's text names it, its file, line and function, and the
// thread; a GPU prints them to the standard error stream.
struct assertion_failed final : launch_error {
  explicit assertion_failed(std::string_view message) : launch_error(message, errc::device_assert) {}
  ~assertion_failed() override;
};

// A launch used more instructions or time than its budget allows (budget.hpp, KAIO_LAUNCH_SECONDS, ...), or
// than the system allows on a GPU with a display. The emulator's text names the place that it had reached.
struct launch_timeout final : launch_error {
  explicit launch_timeout(std::string_view message) : launch_error(message, errc::launch_timeout) {}
  ~launch_timeout() override;
};

// device::cancel ended the launch. What the kernel has written until then stays written.
struct launch_cancelled final : launch_error {
  explicit launch_cancelled(std::string_view message) : launch_error(message, errc::cancelled) {}
  ~launch_cancelled() override;
};

struct device_lost final : error {
  explicit device_lost(std::string_view message) : error(errc::device_lost, message) {}
  ~device_lost() override;
};

struct stream_capturing final : error {
  explicit stream_capturing(std::string_view message) : error(errc::stream_capturing, message) {}
  ~stream_capturing() override;
};

struct driver_error final : error {
  explicit driver_error(std::string_view message) : error(errc::driver_error, message) {}
  ~driver_error() override;
};

// Ranks cannot work together any more: one did not come within the time limit, has gone or has failed, or abort was
// called (ops/distributed/communicator.hpp). The devices stay usable.
struct communication_error final : error {
  explicit communication_error(std::string_view message) : error(errc::communication_failed, message) {}
  ~communication_error() override;
};

// The text of a kernel was refused. The views live as long as the exception or a copy of it.
class jit_error final : public error {
 public:
  jit_error(std::string_view message, std::string_view kernel, std::string_view log, std::string_view excerpt)
      : error(errc::jit_failed, message), kernel_(kernel), log_(log), excerpt_(excerpt) {}
  ~jit_error() override;
  std::string_view kernel() const noexcept { return kernel_.view(); }
  std::string_view log() const noexcept { return log_.view(); }  // the compiler's own words
  // The lines of PTX around each error, numbered from 1, with the C++ lines that they came from where known.
  std::string_view excerpt() const noexcept { return excerpt_.view(); }

 private:
  detail::shared_text kernel_, log_, excerpt_;
};

// A file of weights cannot be read (weights/gguf.hpp, weights/safetensors.hpp): its code is unreadable_file,
// damaged_file or unsupported_format. The views live as long as the exception or a copy of it.
class file_error final : public error {
 public:
  file_error(errc code, std::string_view message, std::string_view file, std::string_view tensor)
      : error(code, message), file_(file), tensor_(tensor) {}
  ~file_error() override;
  std::string_view file() const noexcept { return file_.view(); }      // its path
  std::string_view tensor() const noexcept { return tensor_.view(); }  // empty: no tensor is concerned

 private:
  detail::shared_text file_, tensor_;
};

}  // namespace kaio::runtime

namespace kaio {
using runtime::assertion_failed;
using runtime::communication_error;
using runtime::device_lost;
using runtime::driver_error;
using runtime::driver_missing;
using runtime::errc;
using runtime::error;
using runtime::file_error;
using runtime::illegal_access;
using runtime::invalid_argument;
using runtime::jit_error;
using runtime::launch_cancelled;
using runtime::launch_error;
using runtime::launch_timeout;
using runtime::no_device;
using runtime::out_of_memory;
using runtime::stream_capturing;
using runtime::unsupported_device;
}  // namespace kaio
