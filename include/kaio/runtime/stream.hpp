#pragma once
// A queue of work on a device. Launches and copies run in the order in which they were queued, independently
// of other streams unless an event orders them. Every stream that kaio creates, including that of
// `gpu.stream()`, is non-blocking: it does not wait for CUDA's legacy default stream.
//
//   stream s = gpu.create_stream();
//   saxpy.launch(s, over(n), x, y, a, n);
//   s.synchronize();
//
//   stream theirs = stream::borrow(gpu, at::cuda::getCurrentCUDAStream());   // another library's stream
//   saxpy.launch(theirs, over(n), x, y, a, n);                               // in the order of its work
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
class graph;
class executable_graph;
class capture;
namespace detail {
class allocation;
class stream_access;
struct tensor_description;
void encode_tensor_map(const stream& where, const void* owner, const tensor_description& tensor,
                       unsigned char* to);
}  // namespace detail

// How a stream is created. The scheduler starts pending blocks of streams with lower numbers first; numbers
// beyond device::stream_priorities() are clamped to them.
struct stream_options {
  int priority = 0;
};

// Move-only. A stream of create_stream that was moved from is null, and its use throws invalid_argument; the device's
// own and a borrowed one stay usable. Destruction does not wait: queued work still runs.
class stream {
 public:
  stream() = default;
  // A stream that another part of the program owns. `handle` is its CUstream; null and CU_STREAM_LEGACY mean the
  // legacy default stream, CU_STREAM_PER_THREAD the calling thread's. On the emulator it is null or what
  // native_handle() of one of its streams returned. Nothing is created, asked or allocated. Destruction leaves
  // the stream as it is. Its owner keeps it alive while it is used here: a driver may crash over one that was
  // destroyed. A stream of another context is refused at its first use: invalid_argument. Throws
  // invalid_argument on the emulator for a handle that is no stream of it.
  static stream borrow(const device& gpu, void* handle);
  stream(stream&& other) noexcept;
  stream& operator=(stream&& other) noexcept;
  ~stream();

  // A stream that runs nothing: a launch checks its arguments and loads its kernel, and copies and fills have no
  // effect. An operation that was called with it needs to load nothing when it is captured into a graph:
  //
  //   stream first = stream::loading(gpu);
  //   matmul(first, a, b, c);                    // loads the kernels of this call; c is not written
  static stream loading(const device& gpu);

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
  // Later work of this stream waits for the mark, also for one of another device of the same driver or of another
  // emulator. An event that was never recorded is not waited for.
  void wait(const event& mark) const;
  // Calls `function(data)` on a thread of the driver after the work that is queued now; later work waits for it.
  // The function may not call kaio or CUDA, and may not throw. On the emulator it is called at once.
  void host_function(void (*function)(void* data), void* data) const;
  // Waits until the queue is empty. Throws if the work in it failed.
  void synchronize() const;
  // Whether the queue is empty. Throws if the work in it failed.
  bool is_done() const;
  // Whether work goes into a graph now (graph.hpp), also one that another library captures.
  bool is_capturing() const;
  // True for a stream that was borrowed.
  bool is_borrowed() const noexcept { return kind_ == kind::borrowed; }

  // As device::resident_blocks and device::max_active_clusters.
  std::uint64_t resident_blocks(const ptx::kernel_image& kernel, std::uint32_t shared_bytes = 0) const;
  std::uint64_t max_active_clusters(const ptx::kernel_image& kernel, const ptx::dim3& cluster = {0, 0, 0},
                                    std::uint32_t shared_bytes = 0) const;

  // The device that the stream belongs to, for the choice of a kernel variant.
  const device_properties& properties() const;
  // The identity that `ptx::argument::device` carries; nullptr for a null stream.
  const void* device_identity() const noexcept { return context_.get(); }
  // The driver's CUstream, or the emulator's own handle. Null for a null stream, and for a GPU's legacy default
  // stream.
  void* native_handle() const noexcept { return native_; }

 private:
  friend class device;
  friend class graph;
  friend class executable_graph;
  friend class capture;
  friend class detail::allocation;
  friend class detail::stream_access;
  friend void detail::encode_tensor_map(const stream& where, const void* owner,
                                        const detail::tensor_description& tensor, unsigned char* to);
  enum class kind : unsigned char {
    of_device,  // the device's own: the device destroys it
    owned,
    borrowed,
    loading,
  };
  stream(detail::context_ref context, void* native, kind k) noexcept
      : context_(std::move(context)), native_(native), kind_(k) {}
  void destroy() noexcept;

  detail::context_ref context_;
  void* native_ = nullptr;
  kind kind_ = kind::of_device;
};

}  // namespace kaio::runtime

namespace kaio {
using runtime::stream;
using runtime::stream_options;
}  // namespace kaio
