#pragma once
// A queue of work on a device. Launches and copies run in the order in which they were queued, independently
// of other streams unless an event orders them. Every stream, including that of `gpu.stream()`, is created
// non-blocking: it does not wait for CUDA's legacy default stream.
//
//   stream s = gpu.create_stream();
//   saxpy.launch(s, over(n), x, y, a, n);
//   s.synchronize();
//
// Several threads may use a stream at once, but not move or destroy it (docs/threads.md). A launch checks its
// arguments, and loads the kernel if this is its first use on the device. Apart from that it does not
// allocate, copy or wait. Work that fails on a GPU is reported by a later call on the same device. The
// emulator runs a kernel within the call and reports its failure at once.

#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/detail/context_ref.hpp>
#include <kaio/runtime/properties.hpp>

#include <cstddef>

namespace kaio::runtime {

class device;
class event;
class stream;
namespace detail {
class allocation;
struct tensor_description;
void encode_tensor_map(const stream& where, const void* owner, const tensor_description& tensor,
                       unsigned char* to);
}  // namespace detail

// Move-only. A stream that was moved from is null, and its use throws invalid_argument. Destruction does not
// wait: queued work still runs.
class stream {
 public:
  stream() = default;
  stream(stream&& other) noexcept;
  stream& operator=(stream&& other) noexcept;
  ~stream();

  // Queues a kernel. A grid with a zero extent succeeds and launches nothing. `arguments` holds one entry for
  // each parameter of the kernel, in order. Throws, before anything runs:
  //   invalid_argument    wrong number of arguments, or none; a null, released or moved-from buffer; a buffer or
  //                       tensor map of another device; an `in` buffer that overlaps an output; a buffer or
  //                       struct for a scalar; a struct for a buffer, or of another size; an image with counts
  //                       but no data, or whose text was changed; a cooperative kernel whose grid cannot be
  //                       resident at once; a grid or block beyond the device's limits; a grid that is not made
  //                       of whole clusters; clusters other than the kernel's own; a programmatic launch of a
  //                       kernel that never waits for the work before it
  //   unsupported_device  the kernel needs another SM, a newer PTX ISA, more shared memory, or clusters that the
  //                       device does not have
  //   jit_error           the kernel's text was refused, or declares other parameters than its image (on first
  //                       use)
  //   stream_capturing    the kernel would have to be loaded while this stream is captured: see device::warmup
  // Throws launch_error, illegal_access or device_lost if this work failed or, on a GPU, earlier work did.
  void launch(const ptx::kernel_image& kernel, ptx::launch_grid grid, const ptx::argument* arguments,
              std::size_t count) const;

  // Puts the mark after the work that is queued now.
  void record(event& mark) const;
  // Later work of this stream waits for the mark, which must be of the same device. An event that was never
  // recorded is not waited for.
  void wait(const event& mark) const;
  // Waits until the queue is empty. Throws if the work in it failed.
  void synchronize() const;
  // Whether the queue is empty. Throws if the work in it failed.
  bool is_done() const;

  // As device::resident_blocks and device::max_active_clusters.
  std::uint64_t resident_blocks(const ptx::kernel_image& kernel, std::uint32_t shared_bytes = 0) const;
  std::uint64_t max_active_clusters(const ptx::kernel_image& kernel, const ptx::dim3& cluster = {0, 0, 0},
                                    std::uint32_t shared_bytes = 0) const;

  // The device that the stream belongs to, for the choice of a kernel variant.
  const device_properties& properties() const;
  // The identity that `ptx::argument::device` carries; nullptr for a null stream.
  const void* device_identity() const noexcept { return context_.get(); }
  // The driver's CUstream; null on the emulator.
  void* native_handle() const noexcept;

 private:
  friend class device;
  friend class detail::allocation;
  friend void detail::encode_tensor_map(const stream& where, const void* owner,
                                        const detail::tensor_description& tensor, unsigned char* to);
  stream(detail::context_ref context, void* native, bool owned) noexcept
      : context_(std::move(context)), native_(native), owned_(owned) {}
  void destroy() noexcept;

  detail::context_ref context_;
  void* native_ = nullptr;
  bool owned_ = false;  // the device's default stream is destroyed by the device
};

}  // namespace kaio::runtime

namespace kaio {
using runtime::stream;
}  // namespace kaio
