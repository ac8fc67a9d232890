#pragma once
// The devices that are open in this process, and how one that was named is found among them. A GPU is opened once
// for each context of it, and an emulator once for each number, while a handle to it exists. Emulators without
// numbers are opened anew each time.

#include <kaio/ptx/target.hpp>
#include <kaio/runtime/detail/context_ref.hpp>

#include <cstdint>

namespace kaio::runtime {
class device;
}

namespace kaio::runtime::detail {

context_ref open_gpu(int ordinal);
// `number` is N of emulator:N, or -1.
context_ref open_emulator(ptx::target architecture, int number);
// The GPU of the CUDA context that is current on this thread, in that context. Throws no_device: there is none.
context_ref open_current();
// GPU `ordinal` in the current context if that is one of this GPU, else in its primary context.
context_ref open_current_or_primary(int ordinal);
// The device whose memory an address is in. Throws invalid_argument: none.
context_ref open_owner_of(std::uint64_t address);
// The open device of an identity; null: there is none.
context_ref find_open(const void* identity) noexcept;
// The driver's context that a device is used in; null: an emulator.
void* native_context_of(const device& d) noexcept;
// Takes a device, whose last handle has gone, out of the list.
void forget_open(const context* c) noexcept;

}  // namespace kaio::runtime::detail
