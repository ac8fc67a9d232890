#include "c/call/error.hpp"

#include <kaio/runtime/error.hpp>

#include <exception>
#include <new>
#include <string>
#include <string_view>

namespace kaio::c {

namespace {

// The last failure of a thread. `literal` replaces a text for which the host has no memory.
struct failure {
  std::string text;
  const char* literal = nullptr;
  const char* c_str() const noexcept { return literal != nullptr ? literal : text.c_str(); }
};
thread_local failure last;

void remember(std::string_view message) noexcept {
  try {
    last.text.assign(message);
    last.literal = nullptr;
  } catch (...) {
    last.literal = "kaio: a call failed, and the host has no memory for its message";
  }
}

kaio_status status_of(runtime::errc code) noexcept {
  using runtime::errc;
  switch (code) {
    case errc::invalid_argument: return KAIO_INVALID_ARGUMENT;
    case errc::out_of_memory: return KAIO_OUT_OF_MEMORY;
    case errc::driver_missing: return KAIO_DRIVER_MISSING;
    case errc::no_device: return KAIO_NO_DEVICE;
    case errc::unsupported_device: return KAIO_UNSUPPORTED_DEVICE;
    case errc::jit_failed: return KAIO_JIT_FAILED;
    case errc::launch_failed: return KAIO_LAUNCH_FAILED;
    case errc::illegal_access: return KAIO_ILLEGAL_ACCESS;
    case errc::device_lost: return KAIO_DEVICE_LOST;
    case errc::stream_capturing: return KAIO_STREAM_CAPTURING;
    case errc::device_assert: return KAIO_DEVICE_ASSERT;
    case errc::launch_timeout: return KAIO_LAUNCH_TIMEOUT;
    case errc::cancelled: return KAIO_CANCELLED;
    case errc::driver_error: return KAIO_DRIVER;
    case errc::unreadable_file: return KAIO_UNREADABLE_FILE;
    case errc::damaged_file: return KAIO_DAMAGED_FILE;
    case errc::unsupported_format: return KAIO_UNSUPPORTED_FORMAT;
    case errc::communication_failed: return KAIO_COMMUNICATION_FAILED;
  }
  return KAIO_INTERNAL;
}

}  // namespace

kaio_status report_exception() noexcept {
  try {
    throw;
  } catch (const runtime::error& e) {
    remember(e.message());
    return status_of(e.code());
  } catch (const std::bad_alloc&) {
    remember("kaio: the host has no memory left; free some of it");
    return KAIO_OUT_OF_MEMORY;
  } catch (const std::exception& e) {
    remember(e.what());
    return KAIO_INTERNAL;
  } catch (...) {
    remember("kaio: a failure of unknown kind; report it as a fault of kaio");
    return KAIO_INTERNAL;
  }
}

void refuse(const char* operation, const std::string& what) {
  throw runtime::invalid_argument("kaio: " + std::string(operation) + ": " + what);
}

void require(const char* operation, const char* argument, const void* pointer) {
  if (pointer == nullptr) refuse(operation, "argument " + std::string(argument) + " is NULL; it is needed");
}

}  // namespace kaio::c

extern "C" {

const char* kaio_last_error(void) { return kaio::c::last.c_str(); }

const char* kaio_status_name(kaio_status status) {
  switch (status) {
    case KAIO_OK: return "ok";
    case KAIO_INVALID_ARGUMENT: return "invalid_argument";
    case KAIO_UNSUPPORTED_DEVICE: return "unsupported_device";
    case KAIO_DRIVER: return "driver";
    case KAIO_OUT_OF_MEMORY: return "out_of_memory";
    case KAIO_INTERNAL: return "internal";
    case KAIO_DRIVER_MISSING: return "driver_missing";
    case KAIO_NO_DEVICE: return "no_device";
    case KAIO_JIT_FAILED: return "jit_failed";
    case KAIO_LAUNCH_FAILED: return "launch_failed";
    case KAIO_ILLEGAL_ACCESS: return "illegal_access";
    case KAIO_DEVICE_LOST: return "device_lost";
    case KAIO_STREAM_CAPTURING: return "stream_capturing";
    case KAIO_DEVICE_ASSERT: return "device_assert";
    case KAIO_LAUNCH_TIMEOUT: return "launch_timeout";
    case KAIO_CANCELLED: return "cancelled";
    case KAIO_UNREADABLE_FILE: return "unreadable_file";
    case KAIO_DAMAGED_FILE: return "damaged_file";
    case KAIO_UNSUPPORTED_FORMAT: return "unsupported_format";
    case KAIO_COMMUNICATION_FAILED: return "communication_failed";
    default: return "unknown";
  }
}

uint32_t kaio_abi_version(void) { return KAIO_ABI_VERSION; }

const char* kaio_version(void) { return KAIO_VERSION; }
}
