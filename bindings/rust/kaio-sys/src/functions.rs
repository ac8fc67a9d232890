// Made by bindings/rust/generate.py from include/kaio/c/*.h and src/c/operations/*.json.

use std::os::raw::{c_char, c_void};

use crate::base::*;
use crate::generated::*;

functions! {
    /// The text of the last failure on the calling thread: "kaio: matmul: argument a ...". It is never
    /// NULL, is empty before the first failure, and lives until the next failure on this thread.
    fn kaio_last_error() -> *const c_char;
    /// "invalid_argument" for KAIO_INVALID_ARGUMENT; "unknown" for a number that is no status.
    fn kaio_status_name(status: kaio_status) -> *const c_char;
    /// As its name says.
    fn kaio_abi_version() -> u32;
    /// The version of the library: "0.1.0".
    fn kaio_version() -> *const c_char;
    /// Opens a device, and says which it is. `name`: "cuda:N", "emulator:N" with N from 0 to 15, or
    /// "emulator" for emulator 0. NULL: the device that the environment variable KAIO_DEVICE names, else
    /// the first GPU, else emulator 0.
    fn kaio_device_open(name: *const c_char, device: *mut DLDevice) -> kaio_status;
    /// Forgets the device, for instance an emulator that a failed kernel has lost: its next use opens it
    /// anew. Its memory and streams stay valid until they are freed. Without effect if the device is not
    /// open.
    fn kaio_device_close(device: DLDevice) -> kaio_status;
    /// The number of GPUs: 0 if there is no driver.
    fn kaio_device_count(count: *mut i32) -> kaio_status;
    /// What the device is and can do. Set properties-\>size first, as kaio_device_properties_default()
    /// does.
    fn kaio_device_properties_of(device: DLDevice, properties: *mut kaio_device_properties) -> kaio_status;
    /// Waits for all work on the device, also that of other users of its context.
    fn kaio_device_synchronize(device: DLDevice) -> kaio_status;
    /// Bytes at this moment.
    fn kaio_memory_info(device: DLDevice, free_bytes: *mut u64, total_bytes: *mut u64) -> kaio_status;
    /// Device memory, zero-filled; NULL for 0 bytes. It begins at a multiple of 256 bytes.
    fn kaio_allocate(device: DLDevice, bytes: u64, memory: *mut *mut c_void) -> kaio_status;
    /// Device memory that holds whatever it held before.
    fn kaio_allocate_uninitialised(device: DLDevice, bytes: u64, memory: *mut *mut c_void) -> kaio_status;
    /// Frees what the two functions above returned, after the work that uses it. NULL is freed without
    /// effect.
    fn kaio_free(device: DLDevice, memory: *mut c_void) -> kaio_status;
    /// Page-locked host memory, zero-filled: copies of it overlap the host's own work. Ordinary memory on
    /// an emulator.
    fn kaio_allocate_host(device: DLDevice, bytes: u64, memory: *mut *mut c_void) -> kaio_status;
    /// As its name says.
    fn kaio_free_host(memory: *mut c_void) -> kaio_status;
    /// Copies in the order of the stream. Host memory stays alive and unchanged until the stream is past
    /// the copy. A GPU's driver may copy memory that is not page-locked within the call.
    fn kaio_copy_to_device(
        device: DLDevice,
        stream: *mut c_void,
        to: *mut c_void,
        host: *const c_void,
        bytes: u64
    ) -> kaio_status;
    /// As its name says.
    fn kaio_copy_to_host(
        device: DLDevice,
        stream: *mut c_void,
        host: *mut c_void,
        from: *const c_void,
        bytes: u64
    ) -> kaio_status;
    /// As its name says.
    fn kaio_copy_on_device(
        device: DLDevice,
        stream: *mut c_void,
        to: *mut c_void,
        from: *const c_void,
        bytes: u64
    ) -> kaio_status;
    /// Sets every byte to `value`, in the order of the stream.
    fn kaio_fill(
        device: DLDevice,
        stream: *mut c_void,
        to: *mut c_void,
        value: u8,
        bytes: u64
    ) -> kaio_status;
    /// As its name says.
    fn kaio_stream_create(device: DLDevice, stream: *mut *mut kaio_stream) -> kaio_status;
    /// The CUstream; on an emulator its own handle. NULL for NULL.
    fn kaio_stream_handle(stream: *const kaio_stream) -> *mut c_void;
    /// Queued work still runs. NULL is destroyed without effect.
    fn kaio_stream_destroy(stream: *mut kaio_stream) -> kaio_status;
    /// Waits until the stream is empty. Fails if work in it has failed.
    fn kaio_stream_synchronize(device: DLDevice, stream: *mut c_void) -> kaio_status;
    /// Done: 1 if the stream is empty, else 0.
    fn kaio_stream_is_done(device: DLDevice, stream: *mut c_void, done: *mut i32) -> kaio_status;
    /// As its name says.
    fn kaio_event_create(device: DLDevice, event: *mut *mut kaio_event) -> kaio_status;
    /// As its name says.
    fn kaio_event_destroy(event: *mut kaio_event) -> kaio_status;
    /// Puts the mark after the work that the stream has now.
    fn kaio_event_record(event: *mut kaio_event, stream: *mut c_void) -> kaio_status;
    /// Later work of the stream waits for the mark, which is of the same device.
    fn kaio_event_wait(event: *const kaio_event, stream: *mut c_void) -> kaio_status;
    /// As its name says.
    fn kaio_event_synchronize(event: *const kaio_event) -> kaio_status;
    /// Done: 1 if the work before the mark is done, or if the event was never recorded; else 0.
    fn kaio_event_is_done(event: *const kaio_event, done: *mut i32) -> kaio_status;
    /// The time between two recorded events; waits for both.
    fn kaio_event_elapsed(
        begin: *const kaio_event,
        end: *const kaio_event,
        milliseconds: *mut f64
    ) -> kaio_status;
    /// As its name says.
    fn kaio_capture_begin(
        device: DLDevice,
        stream: *mut c_void,
        capture: *mut *mut kaio_capture
    ) -> kaio_status;
    /// Ends and frees the capture, also if it fails. graph: NULL drops the work.
    fn kaio_capture_end(capture: *mut kaio_capture, graph: *mut *mut kaio_graph) -> kaio_status;
    /// As its name says.
    fn kaio_graph_launch(graph: *const kaio_graph, stream: *mut c_void) -> kaio_status;
    /// A replay in flight runs to its end.
    fn kaio_graph_destroy(graph: *mut kaio_graph) -> kaio_status;
    /// A stream with a priority: pending blocks of streams with lower numbers start first. 0 is that of
    /// kaio_stream_create. A number beyond those of kaio_stream_priorities is clamped to them.
    fn kaio_stream_create_with_priority(
        device: DLDevice,
        priority: i32,
        stream: *mut *mut kaio_stream
    ) -> kaio_status;
    /// The numbers of the lowest and of the highest priority; both are 0 if the device has no priorities.
    fn kaio_stream_priorities(device: DLDevice, lowest: *mut i32, highest: *mut i32) -> kaio_status;
    /// Capturing: 1 if work of the stream goes into a graph now, also one of another library, else 0.
    fn kaio_stream_is_capturing(device: DLDevice, stream: *mut c_void, capturing: *mut i32) -> kaio_status;
    /// Ends and frees the capture, also if it fails. The graph takes the arguments of its calls, which are
    /// the calls of the graph in their order, for instance on other memory. Replays in flight are not
    /// affected. If the capture has other calls, KAIO_INVALID_ARGUMENT, and the graph stays as it was.
    fn kaio_graph_update(graph: *mut kaio_graph, capture: *mut kaio_capture) -> kaio_status;
    /// Moves what the first launch needs to the device ahead of it.
    fn kaio_graph_upload(graph: *const kaio_graph, stream: *mut c_void) -> kaio_status;
    /// Options: NULL is all defaults.
    fn kaio_pool_create(
        device: DLDevice,
        options: *const kaio_pool_options,
        pool: *mut *mut kaio_pool
    ) -> kaio_status;
    /// Memory that is zero-filled in the order of the stream; NULL for 0 bytes. Other streams use it after
    /// an event.
    fn kaio_pool_allocate(
        pool: *mut kaio_pool,
        bytes: u64,
        stream: *mut c_void,
        memory: *mut *mut c_void
    ) -> kaio_status;
    /// Memory that holds whatever it held before.
    fn kaio_pool_allocate_uninitialised(
        pool: *mut kaio_pool,
        bytes: u64,
        stream: *mut c_void,
        memory: *mut *mut c_void
    ) -> kaio_status;
    /// Frees the memory after the work that the stream has now. NULL is freed without effect.
    fn kaio_pool_free(pool: *mut kaio_pool, memory: *mut c_void, stream: *mut c_void) -> kaio_status;
    /// Set statistics-\>size first, as kaio_pool_statistics_default() does.
    fn kaio_pool_statistics_of(pool: *const kaio_pool, statistics: *mut kaio_pool_statistics) -> kaio_status;
    /// Gives unused memory beyond `keep` bytes back to the device, after waiting for its work.
    fn kaio_pool_trim(pool: *mut kaio_pool, keep: u64) -> kaio_status;
    /// Frees the memory of the pool too, each block after the work of the stream that it was allocated in.
    /// NULL is destroyed without effect.
    fn kaio_pool_destroy(pool: *mut kaio_pool) -> kaio_status;
    /// Can: 1 if kernels of the device can read and write memory of the other, else 0. Emulators can, and
    /// GPUs with a link.
    fn kaio_device_can_access(device: DLDevice, other: DLDevice, can: *mut i32) -> kaio_status;
    /// From here on, kernels of the device take memory of the other by its address. KAIO_UNSUPPORTED_DEVICE
    /// if they cannot.
    fn kaio_device_enable_access(device: DLDevice, other: DLDevice) -> kaio_status;
    /// The device that has the memory at an address. KAIO_INVALID_ARGUMENT if no device has it.
    fn kaio_device_of_pointer(pointer: *const c_void, device: *mut DLDevice) -> kaio_status;
    /// Copies from one device to another, with access or without, in the order of a stream of either.
    fn kaio_copy_between(
        device: DLDevice,
        stream: *mut c_void,
        to_device: DLDevice,
        to: *mut c_void,
        from_device: DLDevice,
        from: *const c_void,
        bytes: u64
    ) -> kaio_status;
    /// Copies rows of `width` bytes on one device; row i begins at byte i * pitch.
    fn kaio_copy_rows(
        device: DLDevice,
        stream: *mut c_void,
        to: *mut c_void,
        to_pitch: u64,
        from: *const c_void,
        from_pitch: u64,
        width: u64,
        rows: u64
    ) -> kaio_status;
    /// Sets `count` elements of 1, 2 or 4 bytes to the low bytes of `value`.
    fn kaio_fill_elements(
        device: DLDevice,
        stream: *mut c_void,
        to: *mut c_void,
        value: u32,
        element_bytes: u32,
        count: u64
    ) -> kaio_status;
    /// Opens a shared object. KAIO_UNREADABLE_FILE: it cannot be loaded. KAIO_UNSUPPORTED_FORMAT: it is no
    /// kernel library, or one of another version of kaio's headers. A name without '/' is searched as
    /// dlopen does.
    fn kaio_kernel_library_open(file: *const c_char, library: *mut *mut kaio_kernel_library) -> kaio_status;
    /// The library whose table this is: what a function kaio_kernel_library() of this program returns.
    fn kaio_kernel_library_of_table(
        table: *const c_void,
        library: *mut *mut kaio_kernel_library
    ) -> kaio_status;
    /// Closes the library and ends its kernels. Launches in flight and graphs keep what they need. NULL is
    /// closed without effect.
    fn kaio_kernel_library_close(library: *mut kaio_kernel_library) -> kaio_status;
    /// The version of kaio that its kernels were written with: "0.1.0".
    fn kaio_kernel_library_version(library: *const kaio_kernel_library) -> *const c_char;
    /// As its name says.
    fn kaio_kernel_library_count(library: *const kaio_kernel_library, count: *mut u64) -> kaio_status;
    /// Kernel `index`, in the order of KAIO_KERNEL_LIBRARY. It lives as long as the library.
    fn kaio_kernel_library_at(
        library: *const kaio_kernel_library,
        index: u64,
        kernel: *mut *const kaio_kernel
    ) -> kaio_status;
    /// The kernel of that name: its PTX entry's ("saxpy"), its C++ object's ("filters::saxpy",
    /// "scale\<f32\>"), or the latter without its namespaces. If two kernels have the name,
    /// KAIO_INVALID_ARGUMENT.
    fn kaio_kernel_library_find(
        library: *const kaio_kernel_library,
        name: *const c_char,
        kernel: *mut *const kaio_kernel
    ) -> kaio_status;
    /// As its name says.
    fn kaio_kernel_info_of(kernel: *const kaio_kernel, info: *mut kaio_kernel_info) -> kaio_status;
    /// As its name says.
    fn kaio_kernel_parameter_of(
        kernel: *const kaio_kernel,
        index: u64,
        parameter: *mut kaio_kernel_parameter
    ) -> kaio_status;
    /// The text of the kernel's PTX module, which ends in a zero and lives as long as the library.
    fn kaio_kernel_ptx(kernel: *const kaio_kernel, text: *mut *const c_char) -> kaio_status;
    /// Launches a kernel. Arguments are checked by their number, kind, element type, alignment and device;
    /// a message names the kernel and the number of the argument, from 1. An `in` tensor may not overlap
    /// one that is written. stream a CUstream of the tensors' device arguments one for each parameter.
    fn kaio_kernel_launch(
        stream: *mut c_void,
        kernel: *const kaio_kernel,
        grid: *const kaio_kernel_grid,
        arguments: *const kaio_kernel_argument,
        count: u64
    ) -> kaio_status;
    /// Loads the kernel on a device: its first launch then takes no longer than others, and may be captured
    /// into a graph.
    fn kaio_kernel_warmup(kernel: *const kaio_kernel, device: DLDevice) -> kaio_status;
    /// Runs the emulator's sanitizer in all that this thread launches on emulators until
    /// kaio_sanitizer_end, kernels of kaio's operations among them. A launch with reports fails, and
    /// kaio_last_error() has them; it does not lose the emulator. checks NULL: all; or a list such as
    /// "memory,races" or "all,-async" (docs/emulator.md) reports the number of reports after which a launch
    /// is stopped; 0: 1.
    fn kaio_sanitizer_begin(checks: *const c_char, reports: u64) -> kaio_status;
    /// Ends it on this thread. launches gets the number of launches that were checked; may be NULL failed
    /// gets the number of those with reports; may be NULL text gets the reports, "" if there are none,
    /// until the next kaio_sanitizer_end of this thread; may be NULL.
    fn kaio_sanitizer_end(launches: *mut u64, failed: *mut u64, text: *mut *const c_char) -> kaio_status;
    /// out = softmax(mask(scale * Q K^T)) V for every head, without the matrix of scores in memory.
    fn kaio_attention(
        stream: *mut c_void,
        q: *const DLTensor,
        k: *const DLTensor,
        v: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_attention_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_attention.
    fn kaio_attention_warmup(
        q: *const DLTensor,
        k: *const DLTensor,
        v: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_attention_options
    ) -> kaio_status;
    /// The kernel that the call runs. For kaio_attention.
    fn kaio_attention_choice(
        q: *const DLTensor,
        k: *const DLTensor,
        v: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_attention_options,
        choice: *mut kaio_kernel_choice
    ) -> kaio_status;
    /// Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits
    /// for the device. For kaio_attention.
    fn kaio_tune_attention(
        q: *const DLTensor,
        k: *const DLTensor,
        v: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_attention_options,
        how: *const kaio_tune_options,
        report: *mut kaio_tune_report
    ) -> kaio_status;
    /// Attention over sequences of different lengths in one tensor.
    fn kaio_attention_varlen(
        stream: *mut c_void,
        q: *const DLTensor,
        k: *const DLTensor,
        v: *const DLTensor,
        out: *const DLTensor,
        sequences: *const kaio_attention_sequences,
        options: *const kaio_attention_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_attention_varlen.
    fn kaio_attention_varlen_warmup(
        q: *const DLTensor,
        k: *const DLTensor,
        v: *const DLTensor,
        out: *const DLTensor,
        sequences: *const kaio_attention_sequences,
        options: *const kaio_attention_options
    ) -> kaio_status;
    /// The kernel that the call runs. For kaio_attention_varlen.
    fn kaio_attention_varlen_choice(
        q: *const DLTensor,
        k: *const DLTensor,
        v: *const DLTensor,
        out: *const DLTensor,
        sequences: *const kaio_attention_sequences,
        options: *const kaio_attention_options,
        choice: *mut kaio_kernel_choice
    ) -> kaio_status;
    /// Measures every kernel that can run the call, as if all sequences had equally many rows. Waits for
    /// the device. For kaio_attention_varlen.
    fn kaio_tune_attention_varlen(
        q: *const DLTensor,
        k: *const DLTensor,
        v: *const DLTensor,
        out: *const DLTensor,
        sequences: *const kaio_attention_sequences,
        options: *const kaio_attention_options,
        how: *const kaio_tune_options,
        report: *mut kaio_tune_report
    ) -> kaio_status;
    /// Joins two attentions of the same queries over different keys into the attention over all of them.
    fn kaio_merge_states(
        stream: *mut c_void,
        out_a: *const DLTensor,
        lse_a: *const DLTensor,
        out_b: *const DLTensor,
        lse_b: *const DLTensor,
        out: *const DLTensor,
        lse: *const DLTensor
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_merge_states.
    fn kaio_merge_states_warmup(
        out_a: *const DLTensor,
        lse_a: *const DLTensor,
        out_b: *const DLTensor,
        lse_b: *const DLTensor,
        out: *const DLTensor,
        lse: *const DLTensor
    ) -> kaio_status;
    /// The gradients of an attention: dq, dk and dv, and those of a bias and of sinks.
    fn kaio_attention_backward(
        stream: *mut c_void,
        dout: *const DLTensor,
        q: *const DLTensor,
        k: *const DLTensor,
        v: *const DLTensor,
        out: *const DLTensor,
        lse: *const DLTensor,
        dq: *const DLTensor,
        dk: *const DLTensor,
        dv: *const DLTensor,
        options: *const kaio_attention_backward_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_attention_backward.
    fn kaio_attention_backward_warmup(
        dout: *const DLTensor,
        q: *const DLTensor,
        k: *const DLTensor,
        v: *const DLTensor,
        out: *const DLTensor,
        lse: *const DLTensor,
        dq: *const DLTensor,
        dk: *const DLTensor,
        dv: *const DLTensor,
        options: *const kaio_attention_backward_options
    ) -> kaio_status;
    /// The bytes of workspace that the call takes, whatever its options are. For kaio_attention_backward.
    fn kaio_attention_backward_workspace_bytes(
        q: *const DLTensor,
        k: *const DLTensor,
        v: *const DLTensor,
        bytes: *mut u64
    ) -> kaio_status;
    /// The kernel that computes dk and dv. For kaio_attention_backward.
    fn kaio_attention_backward_choice(
        dout: *const DLTensor,
        q: *const DLTensor,
        k: *const DLTensor,
        v: *const DLTensor,
        out: *const DLTensor,
        lse: *const DLTensor,
        dq: *const DLTensor,
        dk: *const DLTensor,
        dv: *const DLTensor,
        options: *const kaio_attention_backward_options,
        choice: *mut kaio_kernel_choice
    ) -> kaio_status;
    /// The gradients of kaio_attention_varlen.
    fn kaio_attention_backward_varlen(
        stream: *mut c_void,
        dout: *const DLTensor,
        q: *const DLTensor,
        k: *const DLTensor,
        v: *const DLTensor,
        out: *const DLTensor,
        lse: *const DLTensor,
        dq: *const DLTensor,
        dk: *const DLTensor,
        dv: *const DLTensor,
        sequences: *const kaio_attention_sequences,
        options: *const kaio_attention_backward_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_attention_backward_varlen.
    fn kaio_attention_backward_varlen_warmup(
        dout: *const DLTensor,
        q: *const DLTensor,
        k: *const DLTensor,
        v: *const DLTensor,
        out: *const DLTensor,
        lse: *const DLTensor,
        dq: *const DLTensor,
        dk: *const DLTensor,
        dv: *const DLTensor,
        sequences: *const kaio_attention_sequences,
        options: *const kaio_attention_backward_options
    ) -> kaio_status;
    /// The bytes of workspace that the call takes, whatever its options are. For
    /// kaio_attention_backward_varlen.
    fn kaio_attention_backward_varlen_workspace_bytes(
        q: *const DLTensor,
        k: *const DLTensor,
        v: *const DLTensor,
        sequences: *const kaio_attention_sequences,
        bytes: *mut u64
    ) -> kaio_status;
    /// The kernel that computes dk and dv. For kaio_attention_backward_varlen.
    fn kaio_attention_backward_varlen_choice(
        dout: *const DLTensor,
        q: *const DLTensor,
        k: *const DLTensor,
        v: *const DLTensor,
        out: *const DLTensor,
        lse: *const DLTensor,
        dq: *const DLTensor,
        dk: *const DLTensor,
        dv: *const DLTensor,
        sequences: *const kaio_attention_sequences,
        options: *const kaio_attention_backward_options,
        choice: *mut kaio_kernel_choice
    ) -> kaio_status;
    /// Attention of few queries over a cache of keys and values: decode steps, speculative steps, chunks of
    /// a prompt.
    fn kaio_attention_decode(
        stream: *mut c_void,
        q: *const DLTensor,
        cache: *const kaio_kv_cache,
        out: *const DLTensor,
        options: *const kaio_attention_decode_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_attention_decode.
    fn kaio_attention_decode_warmup(
        q: *const DLTensor,
        cache: *const kaio_kv_cache,
        out: *const DLTensor,
        options: *const kaio_attention_decode_options
    ) -> kaio_status;
    /// The bytes of workspace that the call takes; 0 if no second kernel runs. For kaio_attention_decode.
    fn kaio_attention_decode_workspace_bytes(
        q: *const DLTensor,
        cache: *const kaio_kv_cache,
        options: *const kaio_attention_decode_options,
        bytes: *mut u64
    ) -> kaio_status;
    /// The kernel that the call runs, and the number of splits of its keys. For kaio_attention_decode.
    fn kaio_attention_decode_choice(
        q: *const DLTensor,
        cache: *const kaio_kv_cache,
        out: *const DLTensor,
        options: *const kaio_attention_decode_options,
        choice: *mut kaio_kernel_choice
    ) -> kaio_status;
    /// Measures every kernel that can run the call, with several numbers of splits, and remembers the
    /// fastest. Waits for the device. For kaio_attention_decode.
    fn kaio_tune_attention_decode(
        q: *const DLTensor,
        cache: *const kaio_kv_cache,
        out: *const DLTensor,
        options: *const kaio_attention_decode_options,
        how: *const kaio_tune_options,
        report: *mut kaio_tune_report
    ) -> kaio_status;
    /// attention_decode for sequences with different numbers of queries, which follow each other along the
    /// rows of q.
    fn kaio_attention_decode_varlen(
        stream: *mut c_void,
        q: *const DLTensor,
        cache: *const kaio_kv_cache,
        out: *const DLTensor,
        sequences: *const kaio_attention_sequences,
        options: *const kaio_attention_decode_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_attention_decode_varlen.
    fn kaio_attention_decode_varlen_warmup(
        q: *const DLTensor,
        cache: *const kaio_kv_cache,
        out: *const DLTensor,
        sequences: *const kaio_attention_sequences,
        options: *const kaio_attention_decode_options
    ) -> kaio_status;
    /// The bytes of workspace that the call takes; 0 if no second kernel runs. For
    /// kaio_attention_decode_varlen.
    fn kaio_attention_decode_varlen_workspace_bytes(
        q: *const DLTensor,
        cache: *const kaio_kv_cache,
        sequences: *const kaio_attention_sequences,
        options: *const kaio_attention_decode_options,
        bytes: *mut u64
    ) -> kaio_status;
    /// The kernel that the call runs, and the number of splits of its keys. For
    /// kaio_attention_decode_varlen.
    fn kaio_attention_decode_varlen_choice(
        q: *const DLTensor,
        cache: *const kaio_kv_cache,
        out: *const DLTensor,
        sequences: *const kaio_attention_sequences,
        options: *const kaio_attention_decode_options,
        choice: *mut kaio_kernel_choice
    ) -> kaio_status;
    /// Measures every kernel that can run the call, as if all sequences had equally many queries. Waits for
    /// the device. For kaio_attention_decode_varlen.
    fn kaio_tune_attention_decode_varlen(
        q: *const DLTensor,
        cache: *const kaio_kv_cache,
        out: *const DLTensor,
        sequences: *const kaio_attention_sequences,
        options: *const kaio_attention_decode_options,
        how: *const kaio_tune_options,
        report: *mut kaio_tune_report
    ) -> kaio_status;
    /// Makes the block mask of a causal mask or a window on the device.
    fn kaio_make_block_mask(
        stream: *mut c_void,
        device: DLDevice,
        output: *const kaio_block_mask_output,
        options: *const kaio_block_mask_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_make_block_mask.
    fn kaio_make_block_mask_warmup(
        device: DLDevice,
        output: *const kaio_block_mask_output,
        options: *const kaio_block_mask_options
    ) -> kaio_status;
    /// Writes new keys and values into a cache, rotated by position and quantised to 8 bits on the way if
    /// wanted.
    fn kaio_append_kv(
        stream: *mut c_void,
        k: *const DLTensor,
        v: *const DLTensor,
        cache: *const kaio_kv_cache,
        options: *const kaio_append_kv_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_append_kv.
    fn kaio_append_kv_warmup(
        k: *const DLTensor,
        v: *const DLTensor,
        cache: *const kaio_kv_cache,
        options: *const kaio_append_kv_options
    ) -> kaio_status;
    /// append_kv for the new tokens of all sequences, which follow each other, by options.cu_seqlens or
    /// options.slots.
    fn kaio_append_kv_varlen(
        stream: *mut c_void,
        k: *const DLTensor,
        v: *const DLTensor,
        cache: *const kaio_kv_cache,
        options: *const kaio_append_kv_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_append_kv_varlen.
    fn kaio_append_kv_varlen_warmup(
        k: *const DLTensor,
        v: *const DLTensor,
        cache: *const kaio_kv_cache,
        options: *const kaio_append_kv_options
    ) -> kaio_status;
    /// Gathers the rows of sequences out of a cache.
    fn kaio_gather_kv(
        stream: *mut c_void,
        cache: *const kaio_kv_cache,
        k: *const DLTensor,
        v: *const DLTensor,
        options: *const kaio_gather_kv_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_gather_kv.
    fn kaio_gather_kv_warmup(
        cache: *const kaio_kv_cache,
        k: *const DLTensor,
        v: *const DLTensor,
        options: *const kaio_gather_kv_options
    ) -> kaio_status;
    /// gather_kv into rows that follow each other, by options.cu_seqlens.
    fn kaio_gather_kv_varlen(
        stream: *mut c_void,
        cache: *const kaio_kv_cache,
        k: *const DLTensor,
        v: *const DLTensor,
        options: *const kaio_gather_kv_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_gather_kv_varlen.
    fn kaio_gather_kv_varlen_warmup(
        cache: *const kaio_kv_cache,
        k: *const DLTensor,
        v: *const DLTensor,
        options: *const kaio_gather_kv_options
    ) -> kaio_status;
    /// Copies pages within a cache, for a sequence that forks.
    fn kaio_copy_pages(stream: *mut c_void, pages: *const DLTensor, pairs: *const DLTensor) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_copy_pages.
    fn kaio_copy_pages_warmup(pages: *const DLTensor, pairs: *const DLTensor) -> kaio_status;
    /// Rotary position embedding: turns each pair of elements of a head by the angle of its position.
    fn kaio_rotary(
        stream: *mut c_void,
        x: *const DLTensor,
        out: *const DLTensor,
        cos: *const DLTensor,
        sin: *const DLTensor,
        options: *const kaio_rotary_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_rotary.
    fn kaio_rotary_warmup(
        x: *const DLTensor,
        out: *const DLTensor,
        cos: *const DLTensor,
        sin: *const DLTensor,
        options: *const kaio_rotary_options
    ) -> kaio_status;
    /// Rotary for the tokens of all sequences, by options.cu_seqlens or options.positions.
    fn kaio_rotary_varlen(
        stream: *mut c_void,
        x: *const DLTensor,
        out: *const DLTensor,
        cos: *const DLTensor,
        sin: *const DLTensor,
        options: *const kaio_rotary_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_rotary_varlen.
    fn kaio_rotary_varlen_warmup(
        x: *const DLTensor,
        out: *const DLTensor,
        cos: *const DLTensor,
        sin: *const DLTensor,
        options: *const kaio_rotary_options
    ) -> kaio_status;
    /// The tables of rotary: cos and sin of position * frequency, computed in double precision and rounded
    /// once.
    fn kaio_rotary_table(
        stream: *mut c_void,
        cos: *const DLTensor,
        sin: *const DLTensor,
        options: *const kaio_rotary_table_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_rotary_table.
    fn kaio_rotary_table_warmup(
        cos: *const DLTensor,
        sin: *const DLTensor,
        options: *const kaio_rotary_table_options
    ) -> kaio_status;
    /// The cross entropy of rows of logits with classes as targets.
    fn kaio_cross_entropy(
        stream: *mut c_void,
        logits: *const DLTensor,
        targets: *const DLTensor,
        loss: *const DLTensor,
        options: *const kaio_cross_entropy_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_cross_entropy.
    fn kaio_cross_entropy_warmup(
        logits: *const DLTensor,
        targets: *const DLTensor,
        loss: *const DLTensor,
        options: *const kaio_cross_entropy_options
    ) -> kaio_status;
    /// The bytes of workspace that the reductions sum and mean take. For kaio_cross_entropy.
    fn kaio_cross_entropy_workspace_bytes(logits: *const DLTensor, bytes: *mut u64) -> kaio_status;
    /// The gradient of the logits of cross_entropy.
    fn kaio_cross_entropy_backward(
        stream: *mut c_void,
        logits: *const DLTensor,
        targets: *const DLTensor,
        lse: *const DLTensor,
        dloss: *const DLTensor,
        dlogits: *const DLTensor,
        options: *const kaio_cross_entropy_backward_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_cross_entropy_backward.
    fn kaio_cross_entropy_backward_warmup(
        logits: *const DLTensor,
        targets: *const DLTensor,
        lse: *const DLTensor,
        dloss: *const DLTensor,
        dlogits: *const DLTensor,
        options: *const kaio_cross_entropy_backward_options
    ) -> kaio_status;
    /// The cross entropy of logits x * weight^T, which are never in memory as a whole.
    fn kaio_linear_cross_entropy(
        stream: *mut c_void,
        x: *const DLTensor,
        weight: *const DLTensor,
        targets: *const DLTensor,
        loss: *const DLTensor,
        options: *const kaio_linear_cross_entropy_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_linear_cross_entropy.
    fn kaio_linear_cross_entropy_warmup(
        x: *const DLTensor,
        weight: *const DLTensor,
        targets: *const DLTensor,
        loss: *const DLTensor,
        options: *const kaio_linear_cross_entropy_options
    ) -> kaio_status;
    /// The bytes of workspace with which the call is fastest. For kaio_linear_cross_entropy.
    fn kaio_linear_cross_entropy_workspace_bytes(
        x: *const DLTensor,
        weight: *const DLTensor,
        bytes: *mut u64
    ) -> kaio_status;
    /// The gradients of x, weight and bias of linear_cross_entropy.
    fn kaio_linear_cross_entropy_backward(
        stream: *mut c_void,
        x: *const DLTensor,
        weight: *const DLTensor,
        targets: *const DLTensor,
        lse: *const DLTensor,
        dloss: *const DLTensor,
        dx: *const DLTensor,
        dweight: *const DLTensor,
        options: *const kaio_linear_cross_entropy_backward_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_linear_cross_entropy_backward.
    fn kaio_linear_cross_entropy_backward_warmup(
        x: *const DLTensor,
        weight: *const DLTensor,
        targets: *const DLTensor,
        lse: *const DLTensor,
        dloss: *const DLTensor,
        dx: *const DLTensor,
        dweight: *const DLTensor,
        options: *const kaio_linear_cross_entropy_backward_options
    ) -> kaio_status;
    /// The bytes of workspace with which the call is fastest. For kaio_linear_cross_entropy_backward.
    fn kaio_linear_cross_entropy_backward_workspace_bytes(
        x: *const DLTensor,
        weight: *const DLTensor,
        bytes: *mut u64
    ) -> kaio_status;
    /// Makes a group of ranks in this process, rank r on devices\[r\].
    fn kaio_communicators_create(
        devices: *const DLDevice,
        ranks: u64,
        direct: i32,
        options: *const kaio_communicator_options,
        communicators: *mut *mut kaio_communicator
    ) -> kaio_status;
    /// Makes the 128 bytes that name a group of NCCL. One rank makes them, and sends them to the others.
    fn kaio_nccl_create_id(id: *mut u8) -> kaio_status;
    /// Makes a rank of a group of NCCL, in one or several processes. All ranks call it.
    fn kaio_communicator_create_nccl(
        device: DLDevice,
        id: *const u8,
        ranks: i32,
        rank: i32,
        options: *const kaio_communicator_options,
        communicator: *mut *mut kaio_communicator
    ) -> kaio_status;
    /// Makes a rank of a group whose ranks the program connects, in processes of one host. All ranks call
    /// it.
    fn kaio_communicator_create_program(
        device: DLDevice,
        means: *const kaio_communicator_means,
        ranks: i32,
        rank: i32,
        options: *const kaio_communicator_options,
        communicator: *mut *mut kaio_communicator
    ) -> kaio_status;
    /// Ends a rank's part in its group: later calls of the others fail. NULL is destroyed without effect.
    fn kaio_communicator_destroy(communicator: *mut kaio_communicator) -> kaio_status;
    /// Ends the group: calls that wait, and later ones, fail with KAIO_COMMUNICATION_FAILED on all ranks.
    /// From any thread.
    fn kaio_communicator_abort(communicator: *const kaio_communicator, why: *const c_char) -> kaio_status;
    /// Gathers the tensors of all ranks, those of rank 0 first.
    fn kaio_all_gather(
        communicator: *const kaio_communicator,
        stream: *mut c_void,
        from: *const DLTensor,
        to: *const DLTensor
    ) -> kaio_status;
    /// Adds the tensors of all ranks in f32, rank 0 first; each rank gets its part.
    fn kaio_reduce_scatter(
        communicator: *const kaio_communicator,
        stream: *mut c_void,
        from: *const DLTensor,
        to: *const DLTensor
    ) -> kaio_status;
    /// Adds the tensors of all ranks in f32, rank 0 first; each rank gets the sum.
    fn kaio_communicator_all_reduce(
        communicator: *const kaio_communicator,
        stream: *mut c_void,
        from: *const DLTensor,
        to: *const DLTensor
    ) -> kaio_status;
    /// Part p of `from` becomes part r of `to` on rank p, where r is this rank.
    fn kaio_all_to_all(
        communicator: *const kaio_communicator,
        stream: *mut c_void,
        from: *const DLTensor,
        to: *const DLTensor
    ) -> kaio_status;
    /// Copies the tensor of rank `root` to all others.
    fn kaio_broadcast(
        communicator: *const kaio_communicator,
        stream: *mut c_void,
        memory: *const DLTensor,
        root: i32
    ) -> kaio_status;
    /// The bytes of workspace of kaio_context_attention. All ranks call it.
    fn kaio_context_attention_workspace_bytes(
        communicator: *const kaio_communicator,
        q: *const DLTensor,
        k: *const DLTensor,
        v: *const DLTensor,
        options: *const kaio_context_attention_options,
        bytes: *mut u64
    ) -> kaio_status;
    /// Attention over a sequence whose rows are divided among ranks. Each rank has its rows of q, k, v and
    /// out.
    fn kaio_context_attention(
        communicator: *const kaio_communicator,
        stream: *mut c_void,
        q: *const DLTensor,
        k: *const DLTensor,
        v: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_context_attention_options
    ) -> kaio_status;
    /// The bytes of workspace of kaio_context_attention_backward. All ranks call it.
    fn kaio_context_attention_backward_workspace_bytes(
        communicator: *const kaio_communicator,
        q: *const DLTensor,
        k: *const DLTensor,
        v: *const DLTensor,
        options: *const kaio_context_attention_options,
        bytes: *mut u64
    ) -> kaio_status;
    /// The gradients of kaio_context_attention. out and lse are those that it wrote with these options.
    fn kaio_context_attention_backward(
        communicator: *const kaio_communicator,
        stream: *mut c_void,
        dout: *const DLTensor,
        q: *const DLTensor,
        k: *const DLTensor,
        v: *const DLTensor,
        out: *const DLTensor,
        lse: *const DLTensor,
        dq: *const DLTensor,
        dk: *const DLTensor,
        dv: *const DLTensor,
        options: *const kaio_context_attention_options
    ) -> kaio_status;
    /// y = f(x).
    fn kaio_activate(stream: *mut c_void, kind: i32, x: *const DLTensor, y: *const DLTensor) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_activate.
    fn kaio_activate_warmup(kind: i32, x: *const DLTensor, y: *const DLTensor) -> kaio_status;
    /// dx = dy * f'(x).
    fn kaio_activate_backward(
        stream: *mut c_void,
        kind: i32,
        dy: *const DLTensor,
        x: *const DLTensor,
        dx: *const DLTensor
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_activate_backward.
    fn kaio_activate_backward_warmup(
        kind: i32,
        dy: *const DLTensor,
        x: *const DLTensor,
        dx: *const DLTensor
    ) -> kaio_status;
    /// y = f(gate) * up.
    fn kaio_gated(
        stream: *mut c_void,
        kind: i32,
        gate: *const DLTensor,
        up: *const DLTensor,
        y: *const DLTensor,
        options: *const kaio_gated_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_gated.
    fn kaio_gated_warmup(
        kind: i32,
        gate: *const DLTensor,
        up: *const DLTensor,
        y: *const DLTensor,
        options: *const kaio_gated_options
    ) -> kaio_status;
    /// dgate = dy * up * f'(gate), dup = dy * f(gate).
    fn kaio_gated_backward(
        stream: *mut c_void,
        kind: i32,
        dy: *const DLTensor,
        gate: *const DLTensor,
        up: *const DLTensor,
        dgate: *const DLTensor,
        dup: *const DLTensor,
        options: *const kaio_gated_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_gated_backward.
    fn kaio_gated_backward_warmup(
        kind: i32,
        dy: *const DLTensor,
        gate: *const DLTensor,
        up: *const DLTensor,
        dgate: *const DLTensor,
        dup: *const DLTensor,
        options: *const kaio_gated_options
    ) -> kaio_status;
    /// Copies a tensor into another one of any strides; f32, f16 and bf16 are converted.
    fn kaio_copy_tensor(stream: *mut c_void, to: *const DLTensor, from: *const DLTensor) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_copy_tensor.
    fn kaio_copy_tensor_warmup(to: *const DLTensor, from: *const DLTensor) -> kaio_status;
    /// x = codes * scale.
    fn kaio_int8_dequant(
        stream: *mut c_void,
        codes: *const DLTensor,
        scale: f32,
        x: *const DLTensor
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_int8_dequant.
    fn kaio_int8_dequant_warmup(codes: *const DLTensor, scale: f32, x: *const DLTensor) -> kaio_status;
    /// x\[r, c\] = codes\[r, c\] * scales\[r, c / group\].
    fn kaio_int8_dequant_groups(
        stream: *mut c_void,
        codes: *const DLTensor,
        scales: *const DLTensor,
        x: *const DLTensor
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_int8_dequant_groups.
    fn kaio_int8_dequant_groups_warmup(
        codes: *const DLTensor,
        scales: *const DLTensor,
        x: *const DLTensor
    ) -> kaio_status;
    /// out\[i, :\] = weight\[indices\[i\], :\].
    fn kaio_embedding(
        stream: *mut c_void,
        indices: *const DLTensor,
        weight: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_embedding_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_embedding.
    fn kaio_embedding_warmup(
        indices: *const DLTensor,
        weight: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_embedding_options
    ) -> kaio_status;
    /// dweight\[v, :\] = the sum of dout\[i, :\] over all i with indices\[i\] = v.
    fn kaio_embedding_backward(
        stream: *mut c_void,
        dout: *const DLTensor,
        indices: *const DLTensor,
        dweight: *const DLTensor,
        options: *const kaio_embedding_backward_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_embedding_backward.
    fn kaio_embedding_backward_warmup(
        dout: *const DLTensor,
        indices: *const DLTensor,
        dweight: *const DLTensor,
        options: *const kaio_embedding_backward_options
    ) -> kaio_status;
    /// The bytes of workspace that the call needs. For kaio_embedding_backward.
    fn kaio_embedding_backward_workspace_bytes(
        indices: *const DLTensor,
        dweight: *const DLTensor,
        bytes: *mut u64
    ) -> kaio_status;
    /// C = activation(alpha * A * B + beta * C + bias) + residual.
    fn kaio_matmul(
        stream: *mut c_void,
        a: *const DLTensor,
        b: *const DLTensor,
        c: *const DLTensor,
        options: *const kaio_matmul_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_matmul.
    fn kaio_matmul_warmup(
        a: *const DLTensor,
        b: *const DLTensor,
        c: *const DLTensor,
        options: *const kaio_matmul_options
    ) -> kaio_status;
    /// The bytes of workspace that make the call as fast as it can be; 0 if it needs none. For kaio_matmul.
    fn kaio_matmul_workspace_bytes(
        a: *const DLTensor,
        b: *const DLTensor,
        c: *const DLTensor,
        options: *const kaio_matmul_options,
        bytes: *mut u64
    ) -> kaio_status;
    /// The kernel that the call runs. For kaio_matmul.
    fn kaio_matmul_choice(
        a: *const DLTensor,
        b: *const DLTensor,
        c: *const DLTensor,
        options: *const kaio_matmul_options,
        choice: *mut kaio_kernel_choice
    ) -> kaio_status;
    /// Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits
    /// for the device. For kaio_matmul.
    fn kaio_tune_matmul(
        a: *const DLTensor,
        b: *const DLTensor,
        c: *const DLTensor,
        options: *const kaio_matmul_options,
        how: *const kaio_tune_options,
        report: *mut kaio_tune_report
    ) -> kaio_status;
    /// C\[i\] = activation(alpha * A\[i\] * B\[i\] + beta * C\[i\] + bias) + residual for matrices anywhere
    /// in memory.
    fn kaio_matmul_batch(
        stream: *mut c_void,
        count: usize,
        a: *const DLTensor,
        b: *const DLTensor,
        c: *const DLTensor,
        options: *const kaio_matmul_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_matmul_batch.
    fn kaio_matmul_batch_warmup(
        count: usize,
        a: *const DLTensor,
        b: *const DLTensor,
        c: *const DLTensor,
        options: *const kaio_matmul_options
    ) -> kaio_status;
    /// The gradients of C = alpha * A * B: dA = alpha * dC * B^T and dB = alpha * A^T * dC.
    fn kaio_matmul_backward(
        stream: *mut c_void,
        dc: *const DLTensor,
        a: *const DLTensor,
        b: *const DLTensor,
        da: *const DLTensor,
        db: *const DLTensor,
        options: *const kaio_matmul_backward_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_matmul_backward.
    fn kaio_matmul_backward_warmup(
        dc: *const DLTensor,
        a: *const DLTensor,
        b: *const DLTensor,
        da: *const DLTensor,
        db: *const DLTensor,
        options: *const kaio_matmul_backward_options
    ) -> kaio_status;
    /// The bytes of workspace; 0 if dc has the element type of a. For kaio_matmul_backward.
    fn kaio_matmul_backward_workspace_bytes(
        dc: *const DLTensor,
        a: *const DLTensor,
        bytes: *mut u64
    ) -> kaio_status;
    /// c\[r, :\] = a\[r, :\] * b\[g\] for the group g with offsets\[g\] \<= r \< offsets\[g + 1\]: the
    /// experts of a mixture.
    fn kaio_matmul_grouped(
        stream: *mut c_void,
        a: *const DLTensor,
        b: *const DLTensor,
        offsets: *const DLTensor,
        c: *const DLTensor,
        options: *const kaio_matmul_grouped_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_matmul_grouped.
    fn kaio_matmul_grouped_warmup(
        a: *const DLTensor,
        b: *const DLTensor,
        offsets: *const DLTensor,
        c: *const DLTensor,
        options: *const kaio_matmul_grouped_options
    ) -> kaio_status;
    /// The gradients of matmul_grouped: da\[r, :\] = dc\[r, :\] * b\[g\]^T, db\[g\] = a\[rows of g, :\]^T *
    /// dc\[rows of g, :\].
    fn kaio_matmul_grouped_backward(
        stream: *mut c_void,
        dc: *const DLTensor,
        a: *const DLTensor,
        b: *const DLTensor,
        offsets: *const DLTensor,
        da: *const DLTensor,
        db: *const DLTensor,
        options: *const kaio_matmul_grouped_backward_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_matmul_grouped_backward.
    fn kaio_matmul_grouped_backward_warmup(
        dc: *const DLTensor,
        a: *const DLTensor,
        b: *const DLTensor,
        offsets: *const DLTensor,
        da: *const DLTensor,
        db: *const DLTensor,
        options: *const kaio_matmul_grouped_backward_options
    ) -> kaio_status;
    /// y\[r, :\] = activation(min(g, limit)) * (clamp(u, -limit, limit) + up_offset) with g = x\[r, :\] *
    /// gate\[e\], u = x\[r, :\] * up\[e\] for the group e with offsets\[e\] \<= r \< offsets\[e + 1\].
    fn kaio_gate_up_grouped(
        stream: *mut c_void,
        x: *const DLTensor,
        gate: *const DLTensor,
        up: *const DLTensor,
        offsets: *const DLTensor,
        y: *const DLTensor,
        options: *const kaio_gate_up_grouped_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_gate_up_grouped.
    fn kaio_gate_up_grouped_warmup(
        x: *const DLTensor,
        gate: *const DLTensor,
        up: *const DLTensor,
        offsets: *const DLTensor,
        y: *const DLTensor,
        options: *const kaio_gate_up_grouped_options
    ) -> kaio_status;
    /// C = activation(scale_a\[m\] * scale_b\[n\] * (A * B - zero_a\[m\] * column_sums\[n\]) * alpha +
    /// bias) + residual.
    fn kaio_matmul_int8(
        stream: *mut c_void,
        a: *const DLTensor,
        b: *const DLTensor,
        c: *const DLTensor,
        options: *const kaio_matmul_int8_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_matmul_int8.
    fn kaio_matmul_int8_warmup(
        a: *const DLTensor,
        b: *const DLTensor,
        c: *const DLTensor,
        options: *const kaio_matmul_int8_options
    ) -> kaio_status;
    /// The kernel that the call runs. For kaio_matmul_int8.
    fn kaio_matmul_int8_choice(
        a: *const DLTensor,
        b: *const DLTensor,
        c: *const DLTensor,
        options: *const kaio_matmul_int8_options,
        choice: *mut kaio_kernel_choice
    ) -> kaio_status;
    /// Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits
    /// for the device. For kaio_matmul_int8.
    fn kaio_tune_matmul_int8(
        a: *const DLTensor,
        b: *const DLTensor,
        c: *const DLTensor,
        options: *const kaio_matmul_int8_options,
        how: *const kaio_tune_options,
        report: *mut kaio_tune_report
    ) -> kaio_status;
    /// c\[r, :\] = scale_a\[r\] * scale_b\[g\] * (a\[r, :\] * b\[g\]) + bias\[g\] where offsets\[g\] \<= r
    /// \< offsets\[g + 1\]. For mixtures of experts.
    fn kaio_matmul_int8_grouped(
        stream: *mut c_void,
        a: *const DLTensor,
        b: *const DLTensor,
        offsets: *const DLTensor,
        c: *const DLTensor,
        options: *const kaio_matmul_int8_grouped_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_matmul_int8_grouped.
    fn kaio_matmul_int8_grouped_warmup(
        a: *const DLTensor,
        b: *const DLTensor,
        offsets: *const DLTensor,
        c: *const DLTensor,
        options: *const kaio_matmul_int8_grouped_options
    ) -> kaio_status;
    /// c\[r, :\] = scale_a\[r\] * scale_b\[g\] * (a\[r, :\] * b\[g\]) + bias\[g\] where offsets\[g\] \<= r
    /// \< offsets\[g + 1\]. For mixtures of experts.
    fn kaio_matmul_fp8_grouped(
        stream: *mut c_void,
        a: *const DLTensor,
        b: *const DLTensor,
        offsets: *const DLTensor,
        c: *const DLTensor,
        options: *const kaio_matmul_fp8_grouped_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_matmul_fp8_grouped.
    fn kaio_matmul_fp8_grouped_warmup(
        a: *const DLTensor,
        b: *const DLTensor,
        offsets: *const DLTensor,
        c: *const DLTensor,
        options: *const kaio_matmul_fp8_grouped_options
    ) -> kaio_status;
    /// sums\[n\] = sum over k of B\[k\]\[n\], exact: column_sums of products with zero_a, once for each
    /// weight.
    fn kaio_int8_column_sums(stream: *mut c_void, b: *const DLTensor, sums: *const DLTensor) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_int8_column_sums.
    fn kaio_int8_column_sums_warmup(b: *const DLTensor, sums: *const DLTensor) -> kaio_status;
    /// Rounds x to codes of i8: x = codes * scale, or (codes - zero_points\[row\]) * scales\[row\].
    fn kaio_quantise_int8(
        stream: *mut c_void,
        x: *const DLTensor,
        codes: *const DLTensor,
        scales: *const DLTensor,
        zero_points: *const DLTensor,
        scale: f32
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_quantise_int8.
    fn kaio_quantise_int8_warmup(
        x: *const DLTensor,
        codes: *const DLTensor,
        scales: *const DLTensor,
        zero_points: *const DLTensor,
        scale: f32
    ) -> kaio_status;
    /// C = activation(scale_a\[m\] * scale_b\[n\] * (A * B) * alpha + bias) + residual for 8-bit floats.
    fn kaio_matmul_fp8(
        stream: *mut c_void,
        a: *const DLTensor,
        b: *const DLTensor,
        c: *const DLTensor,
        options: *const kaio_matmul_fp8_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_matmul_fp8.
    fn kaio_matmul_fp8_warmup(
        a: *const DLTensor,
        b: *const DLTensor,
        c: *const DLTensor,
        options: *const kaio_matmul_fp8_options
    ) -> kaio_status;
    /// The kernel that the call runs. For kaio_matmul_fp8.
    fn kaio_matmul_fp8_choice(
        a: *const DLTensor,
        b: *const DLTensor,
        c: *const DLTensor,
        options: *const kaio_matmul_fp8_options,
        choice: *mut kaio_kernel_choice
    ) -> kaio_status;
    /// Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits
    /// for the device. For kaio_matmul_fp8.
    fn kaio_tune_matmul_fp8(
        a: *const DLTensor,
        b: *const DLTensor,
        c: *const DLTensor,
        options: *const kaio_matmul_fp8_options,
        how: *const kaio_tune_options,
        report: *mut kaio_tune_report
    ) -> kaio_status;
    /// Rounds x to codes of e4m3: x = codes * scale.
    fn kaio_quantise_fp8(
        stream: *mut c_void,
        x: *const DLTensor,
        codes: *const DLTensor,
        scales: *const DLTensor,
        scale: f32
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_quantise_fp8.
    fn kaio_quantise_fp8_warmup(
        x: *const DLTensor,
        codes: *const DLTensor,
        scales: *const DLTensor,
        scale: f32
    ) -> kaio_status;
    /// Rounds w to codes of e4m3 with a scale for each block of 128 x 128, max |w| / 448.
    fn kaio_quantise_fp8_blocks(
        stream: *mut c_void,
        w: *const DLTensor,
        codes: *const DLTensor,
        blocks: *const DLTensor
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_quantise_fp8_blocks.
    fn kaio_quantise_fp8_blocks_warmup(
        w: *const DLTensor,
        codes: *const DLTensor,
        blocks: *const DLTensor
    ) -> kaio_status;
    /// out = h / rms(h) * (weight_offset + weight) along the last dimension, with h = x * gate + residual.
    fn kaio_rms_norm(
        stream: *mut c_void,
        x: *const DLTensor,
        weight: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_rms_norm_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_rms_norm.
    fn kaio_rms_norm_warmup(
        x: *const DLTensor,
        weight: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_rms_norm_options
    ) -> kaio_status;
    /// rms_norm into codes: out = codes * scale.
    fn kaio_rms_norm_codes(
        stream: *mut c_void,
        x: *const DLTensor,
        weight: *const DLTensor,
        codes: *const DLTensor,
        scales: *const DLTensor,
        scale: f32,
        options: *const kaio_rms_norm_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_rms_norm_codes.
    fn kaio_rms_norm_codes_warmup(
        x: *const DLTensor,
        weight: *const DLTensor,
        codes: *const DLTensor,
        scales: *const DLTensor,
        scale: f32,
        options: *const kaio_rms_norm_options
    ) -> kaio_status;
    /// out = (h - mean) / sqrt(variance + epsilon) * weight + bias along the last dimension, with h = x *
    /// gate + residual.
    fn kaio_layer_norm(
        stream: *mut c_void,
        x: *const DLTensor,
        weight: *const DLTensor,
        bias: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_layer_norm_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_layer_norm.
    fn kaio_layer_norm_warmup(
        x: *const DLTensor,
        weight: *const DLTensor,
        bias: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_layer_norm_options
    ) -> kaio_status;
    /// layer_norm into codes: out = codes * scale.
    fn kaio_layer_norm_codes(
        stream: *mut c_void,
        x: *const DLTensor,
        weight: *const DLTensor,
        bias: *const DLTensor,
        codes: *const DLTensor,
        scales: *const DLTensor,
        scale: f32,
        options: *const kaio_layer_norm_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_layer_norm_codes.
    fn kaio_layer_norm_codes_warmup(
        x: *const DLTensor,
        weight: *const DLTensor,
        bias: *const DLTensor,
        codes: *const DLTensor,
        scales: *const DLTensor,
        scale: f32,
        options: *const kaio_layer_norm_options
    ) -> kaio_status;
    /// The gradients of rms_norm: dx, and dweight if it is given.
    fn kaio_rms_norm_backward(
        stream: *mut c_void,
        x: *const DLTensor,
        weight: *const DLTensor,
        dy: *const DLTensor,
        dx: *const DLTensor,
        dweight: *const DLTensor,
        options: *const kaio_rms_norm_backward_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_rms_norm_backward.
    fn kaio_rms_norm_backward_warmup(
        x: *const DLTensor,
        weight: *const DLTensor,
        dy: *const DLTensor,
        dx: *const DLTensor,
        dweight: *const DLTensor,
        options: *const kaio_rms_norm_backward_options
    ) -> kaio_status;
    /// The bytes of workspace that a call takes, whatever its options are. For kaio_rms_norm_backward.
    fn kaio_rms_norm_backward_workspace_bytes(x: *const DLTensor, bytes: *mut u64) -> kaio_status;
    /// The gradients of layer_norm: dx, and dweight and dbias if they are given.
    fn kaio_layer_norm_backward(
        stream: *mut c_void,
        x: *const DLTensor,
        weight: *const DLTensor,
        dy: *const DLTensor,
        dx: *const DLTensor,
        dweight: *const DLTensor,
        dbias: *const DLTensor,
        options: *const kaio_layer_norm_backward_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_layer_norm_backward.
    fn kaio_layer_norm_backward_warmup(
        x: *const DLTensor,
        weight: *const DLTensor,
        dy: *const DLTensor,
        dx: *const DLTensor,
        dweight: *const DLTensor,
        dbias: *const DLTensor,
        options: *const kaio_layer_norm_backward_options
    ) -> kaio_status;
    /// The bytes of workspace that a call takes, whatever its options are. For kaio_layer_norm_backward.
    fn kaio_layer_norm_backward_workspace_bytes(x: *const DLTensor, bytes: *mut u64) -> kaio_status;
    /// The bytes of packed weights of this shape. The memory may be NULL.
    fn kaio_w4_packed_bytes(weights: *const kaio_w4_weights, bytes: *mut u64) -> kaio_status;
    /// The bytes of packed weights of this shape. The memory may be NULL.
    fn kaio_w8_packed_bytes(weights: *const kaio_w8_weights, bytes: *mut u64) -> kaio_status;
    /// out = x W^T + bias with weights of four bits.
    fn kaio_matmul_w4(
        stream: *mut c_void,
        x: *const DLTensor,
        weights: *const kaio_w4_weights,
        out: *const DLTensor,
        options: *const kaio_matmul_w4_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_matmul_w4.
    fn kaio_matmul_w4_warmup(
        x: *const DLTensor,
        weights: *const kaio_w4_weights,
        out: *const DLTensor,
        options: *const kaio_matmul_w4_options
    ) -> kaio_status;
    /// The bytes of workspace that the call takes; 0 if it needs none. For kaio_matmul_w4.
    fn kaio_matmul_w4_workspace_bytes(
        x: *const DLTensor,
        weights: *const kaio_w4_weights,
        out: *const DLTensor,
        options: *const kaio_matmul_w4_options,
        bytes: *mut u64
    ) -> kaio_status;
    /// The kernel that the call runs. For kaio_matmul_w4.
    fn kaio_matmul_w4_choice(
        x: *const DLTensor,
        weights: *const kaio_w4_weights,
        out: *const DLTensor,
        options: *const kaio_matmul_w4_options,
        choice: *mut kaio_kernel_choice
    ) -> kaio_status;
    /// Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits
    /// for the device. For kaio_matmul_w4.
    fn kaio_tune_matmul_w4(
        x: *const DLTensor,
        weights: *const kaio_w4_weights,
        out: *const DLTensor,
        options: *const kaio_matmul_w4_options,
        how: *const kaio_tune_options,
        report: *mut kaio_tune_report
    ) -> kaio_status;
    /// out = x W^T + bias with weights of eight bits.
    fn kaio_matmul_w8(
        stream: *mut c_void,
        x: *const DLTensor,
        weights: *const kaio_w8_weights,
        out: *const DLTensor,
        options: *const kaio_matmul_w4_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_matmul_w8.
    fn kaio_matmul_w8_warmup(
        x: *const DLTensor,
        weights: *const kaio_w8_weights,
        out: *const DLTensor,
        options: *const kaio_matmul_w4_options
    ) -> kaio_status;
    /// The bytes of workspace that the call takes; 0 if it needs none. For kaio_matmul_w8.
    fn kaio_matmul_w8_workspace_bytes(
        x: *const DLTensor,
        weights: *const kaio_w8_weights,
        out: *const DLTensor,
        options: *const kaio_matmul_w4_options,
        bytes: *mut u64
    ) -> kaio_status;
    /// The kernel that the call runs. For kaio_matmul_w8.
    fn kaio_matmul_w8_choice(
        x: *const DLTensor,
        weights: *const kaio_w8_weights,
        out: *const DLTensor,
        options: *const kaio_matmul_w4_options,
        choice: *mut kaio_kernel_choice
    ) -> kaio_status;
    /// Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits
    /// for the device. For kaio_matmul_w8.
    fn kaio_tune_matmul_w8(
        x: *const DLTensor,
        weights: *const kaio_w8_weights,
        out: *const DLTensor,
        options: *const kaio_matmul_w4_options,
        how: *const kaio_tune_options,
        report: *mut kaio_tune_report
    ) -> kaio_status;
    /// out\[r, :\] = x\[r, :\] W\[g\]^T + bias\[g, :\] where offsets\[g\] \<= r \< offsets\[g + 1\];
    /// weights of four bits. For mixtures of experts.
    fn kaio_matmul_w4_grouped(
        stream: *mut c_void,
        x: *const DLTensor,
        weights: *const kaio_w4_weights,
        offsets: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_matmul_w4_grouped_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_matmul_w4_grouped.
    fn kaio_matmul_w4_grouped_warmup(
        x: *const DLTensor,
        weights: *const kaio_w4_weights,
        offsets: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_matmul_w4_grouped_options
    ) -> kaio_status;
    /// The kernel that the call runs. For kaio_matmul_w4_grouped.
    fn kaio_matmul_w4_grouped_choice(
        x: *const DLTensor,
        weights: *const kaio_w4_weights,
        offsets: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_matmul_w4_grouped_options,
        choice: *mut kaio_kernel_choice
    ) -> kaio_status;
    /// out\[r, :\] = x\[r, :\] W\[g\]^T + bias\[g, :\] where offsets\[g\] \<= r \< offsets\[g + 1\];
    /// weights of eight bits. For mixtures of experts.
    fn kaio_matmul_w8_grouped(
        stream: *mut c_void,
        x: *const DLTensor,
        weights: *const kaio_w8_weights,
        offsets: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_matmul_w4_grouped_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_matmul_w8_grouped.
    fn kaio_matmul_w8_grouped_warmup(
        x: *const DLTensor,
        weights: *const kaio_w8_weights,
        offsets: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_matmul_w4_grouped_options
    ) -> kaio_status;
    /// The kernel that the call runs. For kaio_matmul_w8_grouped.
    fn kaio_matmul_w8_grouped_choice(
        x: *const DLTensor,
        weights: *const kaio_w8_weights,
        offsets: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_matmul_w4_grouped_options,
        choice: *mut kaio_kernel_choice
    ) -> kaio_status;
    /// out = W, as a matrix, in the order of k of the file.
    fn kaio_dequantise_w4(
        stream: *mut c_void,
        weights: *const kaio_w4_weights,
        out: *const DLTensor
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_dequantise_w4.
    fn kaio_dequantise_w4_warmup(weights: *const kaio_w4_weights, out: *const DLTensor) -> kaio_status;
    /// out = W, as a matrix, in the order of k of the file.
    fn kaio_dequantise_w8(
        stream: *mut c_void,
        weights: *const kaio_w8_weights,
        out: *const DLTensor
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_dequantise_w8.
    fn kaio_dequantise_w8_warmup(weights: *const kaio_w8_weights, out: *const DLTensor) -> kaio_status;
    /// Makes a rank's workspace. All ranks call it with the same options.
    fn kaio_peer_workspace_create(
        communicator: *const kaio_communicator,
        options: *const kaio_peer_workspace_options,
        workspace: *mut *mut kaio_peer_workspace
    ) -> kaio_status;
    /// Ends a rank's use of the workspace. NULL is destroyed without effect.
    fn kaio_peer_workspace_destroy(workspace: *mut kaio_peer_workspace) -> kaio_status;
    /// Allocates zeros on each rank. All ranks call it with the same size.
    fn kaio_peer_buffer_create(
        communicator: *const kaio_communicator,
        bytes: u64,
        buffer: *mut *mut kaio_peer_buffer
    ) -> kaio_status;
    /// The memory of a rank, on which it is like its own memory.
    fn kaio_peer_buffer_pointer(
        buffer: *const kaio_peer_buffer,
        rank: i32,
        memory: *mut *mut c_void
    ) -> kaio_status;
    /// Ends a rank's use of the buffer. The memory goes when all ranks have destroyed theirs. NULL is
    /// destroyed without effect.
    fn kaio_peer_buffer_destroy(buffer: *mut kaio_peer_buffer) -> kaio_status;
    /// Adds the tensors of all ranks in f32, rank 0 first, by peer memory.
    fn kaio_all_reduce(
        workspace: *const kaio_peer_workspace,
        stream: *mut c_void,
        from: *const DLTensor,
        to: *const DLTensor
    ) -> kaio_status;
    /// Adds x of all ranks, and a residual, and computes the RMS norm of rows, in one kernel if x is small.
    fn kaio_all_reduce_rms_norm(
        workspace: *const kaio_peer_workspace,
        stream: *mut c_void,
        x: *const DLTensor,
        weight: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_rms_norm_options
    ) -> kaio_status;
    /// kaio_all_reduce_rms_norm into codes, with a scale for each row, or for each 128 neighbours of a row.
    /// x becomes the sum of all ranks.
    fn kaio_all_reduce_rms_norm_codes(
        workspace: *const kaio_peer_workspace,
        stream: *mut c_void,
        x: *const DLTensor,
        weight: *const DLTensor,
        codes: *const DLTensor,
        scales: *const DLTensor,
        options: *const kaio_rms_norm_options
    ) -> kaio_status;
    /// c = A b, where each rank has some rows of A. Rows are sent while products run.
    fn kaio_all_gather_matmul(
        workspace: *const kaio_peer_workspace,
        stream: *mut c_void,
        a: *const DLTensor,
        b: *const DLTensor,
        c: *const DLTensor,
        schedule: i32,
        options: *const kaio_matmul_options
    ) -> kaio_status;
    /// c = this rank's rows of the sum of a b over ranks. Parts are sent while products run.
    fn kaio_matmul_reduce_scatter(
        workspace: *const kaio_peer_workspace,
        stream: *mut c_void,
        a: *const DLTensor,
        b: *const DLTensor,
        c: *const DLTensor,
        options: *const kaio_matmul_reduce_options
    ) -> kaio_status;
    /// c = the sum of a b over ranks, on all ranks.
    fn kaio_matmul_all_reduce(
        workspace: *const kaio_peer_workspace,
        stream: *mut c_void,
        a: *const DLTensor,
        b: *const DLTensor,
        c: *const DLTensor,
        options: *const kaio_matmul_reduce_options
    ) -> kaio_status;
    /// Sends sorted rows to the ranks of their experts.
    fn kaio_send_to_experts(
        workspace: *const kaio_peer_workspace,
        stream: *mut c_void,
        x: *const DLTensor,
        rows: *const DLTensor,
        offsets: *const DLTensor,
        to: *const kaio_peer_buffer,
        local_offsets: *const DLTensor
    ) -> kaio_status;
    /// Sends rows of experts back to the ranks that sent them, into their sorted order.
    fn kaio_return_from_experts(
        workspace: *const kaio_peer_workspace,
        stream: *mut c_void,
        z: *const DLTensor,
        offsets: *const DLTensor,
        to: *const kaio_peer_buffer
    ) -> kaio_status;
    /// Queries, keys and values of hidden states: norm, product, bias, norms of heads, rotation, and the
    /// append to a cache.
    fn kaio_qkv_project(
        stream: *mut c_void,
        x: *const DLTensor,
        weights: *const kaio_qkv_weights,
        outputs: *const kaio_qkv_outputs,
        options: *const kaio_qkv_project_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_qkv_project.
    fn kaio_qkv_project_warmup(
        x: *const DLTensor,
        weights: *const kaio_qkv_weights,
        outputs: *const kaio_qkv_outputs,
        options: *const kaio_qkv_project_options
    ) -> kaio_status;
    /// The bytes of workspace that the call takes; 0 if it needs none. For kaio_qkv_project.
    fn kaio_qkv_project_workspace_bytes(
        x: *const DLTensor,
        weights: *const kaio_qkv_weights,
        outputs: *const kaio_qkv_outputs,
        options: *const kaio_qkv_project_options,
        bytes: *mut u64
    ) -> kaio_status;
    /// The kernel that the call runs. For kaio_qkv_project.
    fn kaio_qkv_project_choice(
        x: *const DLTensor,
        weights: *const kaio_qkv_weights,
        outputs: *const kaio_qkv_outputs,
        options: *const kaio_qkv_project_options,
        choice: *mut kaio_kernel_choice
    ) -> kaio_status;
    /// Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits
    /// for the device. For kaio_qkv_project.
    fn kaio_tune_qkv_project(
        x: *const DLTensor,
        weights: *const kaio_qkv_weights,
        outputs: *const kaio_qkv_outputs,
        options: *const kaio_qkv_project_options,
        how: *const kaio_tune_options,
        report: *mut kaio_tune_report
    ) -> kaio_status;
    /// out = activation(x Wg^T + gate_bias) * (x Wu^T + up_bias), the first half of a gated feed-forward
    /// block.
    fn kaio_gate_up_project(
        stream: *mut c_void,
        x: *const DLTensor,
        weights: *const kaio_gate_up_weights,
        out: *const DLTensor,
        options: *const kaio_gate_up_project_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_gate_up_project.
    fn kaio_gate_up_project_warmup(
        x: *const DLTensor,
        weights: *const kaio_gate_up_weights,
        out: *const DLTensor,
        options: *const kaio_gate_up_project_options
    ) -> kaio_status;
    /// The bytes of workspace that the call takes; 0 if it needs none. For kaio_gate_up_project.
    fn kaio_gate_up_project_workspace_bytes(
        x: *const DLTensor,
        weights: *const kaio_gate_up_weights,
        out: *const DLTensor,
        options: *const kaio_gate_up_project_options,
        bytes: *mut u64
    ) -> kaio_status;
    /// The kernel that the call runs. For kaio_gate_up_project.
    fn kaio_gate_up_project_choice(
        x: *const DLTensor,
        weights: *const kaio_gate_up_weights,
        out: *const DLTensor,
        options: *const kaio_gate_up_project_options,
        choice: *mut kaio_kernel_choice
    ) -> kaio_status;
    /// Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits
    /// for the device. For kaio_gate_up_project.
    fn kaio_tune_gate_up_project(
        x: *const DLTensor,
        weights: *const kaio_gate_up_weights,
        out: *const DLTensor,
        options: *const kaio_gate_up_project_options,
        how: *const kaio_tune_options,
        report: *mut kaio_tune_report
    ) -> kaio_status;
    /// The norm of each head of Q and K, and then its rotation by the token's position.
    fn kaio_qk_norm_rotary(
        stream: *mut c_void,
        q: *const DLTensor,
        k: *const DLTensor,
        q_out: *const DLTensor,
        k_out: *const DLTensor,
        options: *const kaio_qk_norm_rotary_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_qk_norm_rotary.
    fn kaio_qk_norm_rotary_warmup(
        q: *const DLTensor,
        k: *const DLTensor,
        q_out: *const DLTensor,
        k_out: *const DLTensor,
        options: *const kaio_qk_norm_rotary_options
    ) -> kaio_status;
    /// out = the sum, mean, largest or smallest element of x along one dimension, or along all.
    fn kaio_reduce(
        stream: *mut c_void,
        how: i32,
        x: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_reduce_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_reduce.
    fn kaio_reduce_warmup(
        how: i32,
        x: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_reduce_options
    ) -> kaio_status;
    /// The bytes of workspace that the call needs; 0 if it needs none. For kaio_reduce.
    fn kaio_reduce_workspace_bytes(
        how: i32,
        x: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_reduce_options,
        bytes: *mut u64
    ) -> kaio_status;
    /// Sums along the last dimension: out\[..., i\] = x\[..., 0\] + ... + x\[..., i\].
    fn kaio_scan(
        stream: *mut c_void,
        x: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_scan_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_scan.
    fn kaio_scan_warmup(
        x: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_scan_options
    ) -> kaio_status;
    /// The bytes of workspace that the call needs; 0 if it needs none. For kaio_scan.
    fn kaio_scan_workspace_bytes(
        x: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_scan_options,
        bytes: *mut u64
    ) -> kaio_status;
    /// Counts the elements of x in bins: integers by value, f32 in bins of equal width.
    fn kaio_histogram(
        stream: *mut c_void,
        x: *const DLTensor,
        counts: *const DLTensor,
        options: *const kaio_histogram_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_histogram.
    fn kaio_histogram_warmup(
        x: *const DLTensor,
        counts: *const DLTensor,
        options: *const kaio_histogram_options
    ) -> kaio_status;
    /// Packs GPTQ's tensors for kaio_matmul_w4, once at load.
    fn kaio_repack_gptq_w4(
        stream: *mut c_void,
        source: *const kaio_gptq_w4,
        weights: *const kaio_w4_weights
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_repack_gptq_w4.
    fn kaio_repack_gptq_w4_warmup(
        source: *const kaio_gptq_w4,
        weights: *const kaio_w4_weights
    ) -> kaio_status;
    /// Packs AutoAWQ's tensors, version gemm for kaio_matmul_w4, once at load.
    fn kaio_repack_awq_w4(
        stream: *mut c_void,
        source: *const kaio_awq_w4,
        weights: *const kaio_w4_weights
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_repack_awq_w4.
    fn kaio_repack_awq_w4_warmup(source: *const kaio_awq_w4, weights: *const kaio_w4_weights) -> kaio_status;
    /// Packs tensors of compressed-tensors, format pack-quantized for kaio_matmul_w4, once at load.
    fn kaio_repack_compressed_tensors_w4(
        stream: *mut c_void,
        source: *const kaio_compressed_tensors_w4,
        weights: *const kaio_w4_weights
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_repack_compressed_tensors_w4.
    fn kaio_repack_compressed_tensors_w4_warmup(
        source: *const kaio_compressed_tensors_w4,
        weights: *const kaio_w4_weights
    ) -> kaio_status;
    /// Packs bitsandbytes' nf4 or fp4 for kaio_matmul_w4, once at load.
    fn kaio_repack_bitsandbytes_w4(
        stream: *mut c_void,
        source: *const kaio_bitsandbytes_w4,
        weights: *const kaio_w4_weights
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_repack_bitsandbytes_w4.
    fn kaio_repack_bitsandbytes_w4_warmup(
        source: *const kaio_bitsandbytes_w4,
        weights: *const kaio_w4_weights
    ) -> kaio_status;
    /// Packs MXFP4 for kaio_matmul_w4, once at load.
    fn kaio_repack_mxfp4_w4(
        stream: *mut c_void,
        source: *const kaio_mxfp4_w4,
        weights: *const kaio_w4_weights
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_repack_mxfp4_w4.
    fn kaio_repack_mxfp4_w4_warmup(
        source: *const kaio_mxfp4_w4,
        weights: *const kaio_w4_weights
    ) -> kaio_status;
    /// Packs NVFP4 for kaio_matmul_w4, once at load.
    fn kaio_repack_nvfp4_w4(
        stream: *mut c_void,
        source: *const kaio_nvfp4_w4,
        weights: *const kaio_w4_weights
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_repack_nvfp4_w4.
    fn kaio_repack_nvfp4_w4_warmup(
        source: *const kaio_nvfp4_w4,
        weights: *const kaio_w4_weights
    ) -> kaio_status;
    /// Packs weights in two's complement for kaio_matmul_w4, once at load.
    fn kaio_repack_int4_w4(
        stream: *mut c_void,
        source: *const kaio_int4_w4,
        weights: *const kaio_w4_weights
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_repack_int4_w4.
    fn kaio_repack_int4_w4_warmup(
        source: *const kaio_int4_w4,
        weights: *const kaio_w4_weights
    ) -> kaio_status;
    /// Packs AutoAWQ's tensors, version gemv for kaio_matmul_w4, once at load.
    fn kaio_repack_awq_gemv_w4(
        stream: *mut c_void,
        source: *const kaio_awq_gemv_w4,
        weights: *const kaio_w4_weights
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_repack_awq_gemv_w4.
    fn kaio_repack_awq_gemv_w4_warmup(
        source: *const kaio_awq_gemv_w4,
        weights: *const kaio_w4_weights
    ) -> kaio_status;
    /// Packs AutoAWQ's tensors, version gemv_fast for kaio_matmul_w4, once at load.
    fn kaio_repack_awq_gemv_fast_w4(
        stream: *mut c_void,
        source: *const kaio_awq_gemv_fast_w4,
        weights: *const kaio_w4_weights
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_repack_awq_gemv_fast_w4.
    fn kaio_repack_awq_gemv_fast_w4_warmup(
        source: *const kaio_awq_gemv_fast_w4,
        weights: *const kaio_w4_weights
    ) -> kaio_status;
    /// Packs vLLM's Marlin for kaio_matmul_w4, once at load.
    fn kaio_repack_marlin_w4(
        stream: *mut c_void,
        source: *const kaio_marlin_w4,
        weights: *const kaio_w4_weights
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_repack_marlin_w4.
    fn kaio_repack_marlin_w4_warmup(
        source: *const kaio_marlin_w4,
        weights: *const kaio_w4_weights
    ) -> kaio_status;
    /// Packs PyTorch's int4pack for kaio_matmul_w4, once at load.
    fn kaio_repack_tinygemm_w4(
        stream: *mut c_void,
        source: *const kaio_tinygemm_w4,
        weights: *const kaio_w4_weights
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_repack_tinygemm_w4.
    fn kaio_repack_tinygemm_w4_warmup(
        source: *const kaio_tinygemm_w4,
        weights: *const kaio_w4_weights
    ) -> kaio_status;
    /// Packs torchao's Int4Tensor for kaio_matmul_w4, once at load.
    fn kaio_repack_torchao_int4_w4(
        stream: *mut c_void,
        source: *const kaio_torchao_int4_w4,
        weights: *const kaio_w4_weights
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_repack_torchao_int4_w4.
    fn kaio_repack_torchao_int4_w4_warmup(
        source: *const kaio_torchao_int4_w4,
        weights: *const kaio_w4_weights
    ) -> kaio_status;
    /// Packs integers of eight bits with scales for kaio_matmul_w8, once at load.
    fn kaio_repack_int8_w8(
        stream: *mut c_void,
        source: *const kaio_int8_w8,
        weights: *const kaio_w8_weights
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_repack_int8_w8.
    fn kaio_repack_int8_w8_warmup(
        source: *const kaio_int8_w8,
        weights: *const kaio_w8_weights
    ) -> kaio_status;
    /// Packs bitsandbytes' LLM.int8 for kaio_matmul_w8, once at load.
    fn kaio_repack_llm_int8_w8(
        stream: *mut c_void,
        source: *const kaio_llm_int8_w8,
        weights: *const kaio_w8_weights
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_repack_llm_int8_w8.
    fn kaio_repack_llm_int8_w8_warmup(
        source: *const kaio_llm_int8_w8,
        weights: *const kaio_w8_weights
    ) -> kaio_status;
    /// Packs GPTQ's tensors of 8 bits for kaio_matmul_w8, once at load.
    fn kaio_repack_gptq_w8(
        stream: *mut c_void,
        source: *const kaio_gptq_w8,
        weights: *const kaio_w8_weights
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_repack_gptq_w8.
    fn kaio_repack_gptq_w8_warmup(
        source: *const kaio_gptq_w8,
        weights: *const kaio_w8_weights
    ) -> kaio_status;
    /// Packs tensors of compressed-tensors of 8 bits for kaio_matmul_w8, once at load.
    fn kaio_repack_compressed_tensors_w8(
        stream: *mut c_void,
        source: *const kaio_compressed_tensors_w8,
        weights: *const kaio_w8_weights
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_repack_compressed_tensors_w8.
    fn kaio_repack_compressed_tensors_w8_warmup(
        source: *const kaio_compressed_tensors_w8,
        weights: *const kaio_w8_weights
    ) -> kaio_status;
    /// Packs GGUF's Q8_0 for kaio_matmul_w8, once at load.
    fn kaio_repack_q8_0_w8(
        stream: *mut c_void,
        source: *const kaio_q8_0_w8,
        weights: *const kaio_w8_weights
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_repack_q8_0_w8.
    fn kaio_repack_q8_0_w8_warmup(
        source: *const kaio_q8_0_w8,
        weights: *const kaio_w8_weights
    ) -> kaio_status;
    /// Packs 8-bit floats with scales for kaio_matmul_w8, once at load.
    fn kaio_repack_e4m3_w8(
        stream: *mut c_void,
        source: *const kaio_e4m3_w8,
        weights: *const kaio_w8_weights
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_repack_e4m3_w8.
    fn kaio_repack_e4m3_w8_warmup(
        source: *const kaio_e4m3_w8,
        weights: *const kaio_w8_weights
    ) -> kaio_status;
    /// Packs vLLM's Marlin of 8 bits for kaio_matmul_w8, once at load.
    fn kaio_repack_marlin_w8(
        stream: *mut c_void,
        source: *const kaio_marlin_w8,
        weights: *const kaio_w8_weights
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_repack_marlin_w8.
    fn kaio_repack_marlin_w8_warmup(
        source: *const kaio_marlin_w8,
        weights: *const kaio_w8_weights
    ) -> kaio_status;
    /// Draws a token for each row of logits: temperature, top-k, top-p, min-p.
    fn kaio_sample(
        stream: *mut c_void,
        logits: *const DLTensor,
        tokens: *const DLTensor,
        options: *const kaio_sample_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_sample.
    fn kaio_sample_warmup(
        logits: *const DLTensor,
        tokens: *const DLTensor,
        options: *const kaio_sample_options
    ) -> kaio_status;
    /// The k largest elements of each row and their indices, the largest first; of equal ones the lower
    /// index first.
    fn kaio_top_k(
        stream: *mut c_void,
        x: *const DLTensor,
        values: *const DLTensor,
        indices: *const DLTensor
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_top_k.
    fn kaio_top_k_warmup(
        x: *const DLTensor,
        values: *const DLTensor,
        indices: *const DLTensor
    ) -> kaio_status;
    /// Chooses the k experts of each token with the largest score + bias, and returns their scores as
    /// weights.
    fn kaio_topk_router(
        stream: *mut c_void,
        logits: *const DLTensor,
        indices: *const DLTensor,
        weights: *const DLTensor,
        options: *const kaio_topk_router_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_topk_router.
    fn kaio_topk_router_warmup(
        logits: *const DLTensor,
        indices: *const DLTensor,
        weights: *const DLTensor,
        options: *const kaio_topk_router_options
    ) -> kaio_status;
    /// Sorts the choices of tokens by expert, and by token within an expert.
    fn kaio_sort_by_expert(
        stream: *mut c_void,
        indices: *const DLTensor,
        offsets: *const DLTensor,
        options: *const kaio_sort_by_expert_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_sort_by_expert.
    fn kaio_sort_by_expert_warmup(
        indices: *const DLTensor,
        offsets: *const DLTensor,
        options: *const kaio_sort_by_expert_options
    ) -> kaio_status;
    /// The bytes of workspace that the call needs: 0 for at most 2048 choices. For kaio_sort_by_expert.
    fn kaio_sort_by_expert_workspace_bytes(
        indices: *const DLTensor,
        offsets: *const DLTensor,
        bytes: *mut u64
    ) -> kaio_status;
    /// out\[token, :\] = the sum of weights\[token, j\] * y\[positions\[token, j\], :\] over all j.
    fn kaio_combine_experts(
        stream: *mut c_void,
        y: *const DLTensor,
        weights: *const DLTensor,
        positions: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_combine_experts_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_combine_experts.
    fn kaio_combine_experts_warmup(
        y: *const DLTensor,
        weights: *const DLTensor,
        positions: *const DLTensor,
        out: *const DLTensor,
        options: *const kaio_combine_experts_options
    ) -> kaio_status;
    /// y = e^v / sum of e^v along the last dimension, with v = scale * x.
    fn kaio_softmax(
        stream: *mut c_void,
        x: *const DLTensor,
        y: *const DLTensor,
        options: *const kaio_softmax_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_softmax.
    fn kaio_softmax_warmup(
        x: *const DLTensor,
        y: *const DLTensor,
        options: *const kaio_softmax_options
    ) -> kaio_status;
    /// y = v - log(sum of e^v) along the last dimension, with v = scale * x.
    fn kaio_log_softmax(
        stream: *mut c_void,
        x: *const DLTensor,
        y: *const DLTensor,
        options: *const kaio_softmax_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_log_softmax.
    fn kaio_log_softmax_warmup(
        x: *const DLTensor,
        y: *const DLTensor,
        options: *const kaio_softmax_options
    ) -> kaio_status;
    /// dx = scale * y * (dy - sum of y * dy), the gradient of softmax.
    fn kaio_softmax_backward(
        stream: *mut c_void,
        y: *const DLTensor,
        dy: *const DLTensor,
        dx: *const DLTensor,
        options: *const kaio_softmax_backward_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_softmax_backward.
    fn kaio_softmax_backward_warmup(
        y: *const DLTensor,
        dy: *const DLTensor,
        dx: *const DLTensor,
        options: *const kaio_softmax_backward_options
    ) -> kaio_status;
    /// dx = scale * (dy - e^y * sum of dy), the gradient of log_softmax.
    fn kaio_log_softmax_backward(
        stream: *mut c_void,
        y: *const DLTensor,
        dy: *const DLTensor,
        dx: *const DLTensor,
        options: *const kaio_softmax_backward_options
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_log_softmax_backward.
    fn kaio_log_softmax_backward_warmup(
        y: *const DLTensor,
        dy: *const DLTensor,
        dx: *const DLTensor,
        options: *const kaio_softmax_backward_options
    ) -> kaio_status;
    /// The format of ggml's name, such as Q4_K, as kaio_weights_tensor has it.
    fn kaio_block_format_named(name: *const c_char, format: *mut i32) -> kaio_status;
    /// The bytes of `elements` elements, which are whole blocks.
    fn kaio_block_bytes(format: i32, elements: i64, bytes: *mut u64) -> kaio_status;
    /// The operation that multiplies a format after repacking.
    fn kaio_block_operation_of(format: i32, operation: *mut i32) -> kaio_status;
    /// The weights into which blocks of this format are packed, for kaio_matmul_w4. Set weights-\>size
    /// first. The memory becomes NULL.
    fn kaio_w4_weights_of_blocks(format: i32, n: i64, k: i64, weights: *mut kaio_w4_weights) -> kaio_status;
    /// The weights into which blocks of this format are packed, for kaio_matmul_w8. Set weights-\>size
    /// first. The memory becomes NULL.
    fn kaio_w8_weights_of_blocks(format: i32, n: i64, k: i64, weights: *mut kaio_w8_weights) -> kaio_status;
    /// Packs blocks of GGUF for kaio_matmul_w4, once at load. The numbers stay the same.
    fn kaio_repack_blocks_w4(
        stream: *mut c_void,
        format: i32,
        bytes: *const DLTensor,
        weights: *const kaio_w4_weights
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_repack_blocks_w4.
    fn kaio_repack_blocks_w4_warmup(
        format: i32,
        bytes: *const DLTensor,
        weights: *const kaio_w4_weights
    ) -> kaio_status;
    /// Packs blocks of GGUF for kaio_matmul_w8, once at load. The numbers stay the same.
    fn kaio_repack_blocks_w8(
        stream: *mut c_void,
        format: i32,
        bytes: *const DLTensor,
        weights: *const kaio_w8_weights
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_repack_blocks_w8.
    fn kaio_repack_blocks_w8_warmup(
        format: i32,
        bytes: *const DLTensor,
        weights: *const kaio_w8_weights
    ) -> kaio_status;
    /// out = the weights of blocks of GGUF.
    fn kaio_dequantise_blocks(
        stream: *mut c_void,
        format: i32,
        bytes: *const DLTensor,
        out: *const DLTensor
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_dequantise_blocks.
    fn kaio_dequantise_blocks_warmup(
        format: i32,
        bytes: *const DLTensor,
        out: *const DLTensor
    ) -> kaio_status;
    /// out = weights of bitsandbytes' nf4 or fp4.
    fn kaio_dequantise_bnb_4bit(
        stream: *mut c_void,
        source: *const kaio_bnb_4bit,
        out: *const DLTensor
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_dequantise_bnb_4bit.
    fn kaio_dequantise_bnb_4bit_warmup(source: *const kaio_bnb_4bit, out: *const DLTensor) -> kaio_status;
    /// out = weights of bitsandbytes' LLM.int8.
    fn kaio_dequantise_bnb_int8(
        stream: *mut c_void,
        source: *const kaio_bnb_int8,
        out: *const DLTensor
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_dequantise_bnb_int8.
    fn kaio_dequantise_bnb_int8_warmup(source: *const kaio_bnb_int8, out: *const DLTensor) -> kaio_status;
    /// out = weights of codes of 8 bits with scales: FP8, INT8, MXFP8.
    fn kaio_dequantise_scaled_bytes(
        stream: *mut c_void,
        source: *const kaio_scaled_bytes,
        out: *const DLTensor
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_dequantise_scaled_bytes.
    fn kaio_dequantise_scaled_bytes_warmup(
        source: *const kaio_scaled_bytes,
        out: *const DLTensor
    ) -> kaio_status;
    /// out = weights of MXFP4.
    fn kaio_dequantise_mxfp4(
        stream: *mut c_void,
        source: *const kaio_mxfp4_tensors,
        out: *const DLTensor
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_dequantise_mxfp4.
    fn kaio_dequantise_mxfp4_warmup(source: *const kaio_mxfp4_tensors, out: *const DLTensor) -> kaio_status;
    /// out = weights of NVFP4.
    fn kaio_dequantise_nvfp4(
        stream: *mut c_void,
        source: *const kaio_nvfp4_tensors,
        out: *const DLTensor
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_dequantise_nvfp4.
    fn kaio_dequantise_nvfp4_warmup(source: *const kaio_nvfp4_tensors, out: *const DLTensor) -> kaio_status;
    /// Quantises w into blocks of GGUF: Q4_0 or Q8_0.
    fn kaio_quantise_blocks(
        stream: *mut c_void,
        w: *const DLTensor,
        format: i32,
        bytes: *const DLTensor
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_quantise_blocks.
    fn kaio_quantise_blocks_warmup(w: *const DLTensor, format: i32, bytes: *const DLTensor) -> kaio_status;
    /// Quantises w into bitsandbytes' nf4 or fp4.
    fn kaio_quantise_bnb_4bit(
        stream: *mut c_void,
        w: *const DLTensor,
        to: *const kaio_bnb_4bit_output
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_quantise_bnb_4bit.
    fn kaio_quantise_bnb_4bit_warmup(w: *const DLTensor, to: *const kaio_bnb_4bit_output) -> kaio_status;
    /// Quantises w into MXFP4, with scales of 2^(floor(log2 absmax) - 2).
    fn kaio_quantise_mxfp4(
        stream: *mut c_void,
        w: *const DLTensor,
        to: *const kaio_mxfp4_output
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_quantise_mxfp4.
    fn kaio_quantise_mxfp4_warmup(w: *const DLTensor, to: *const kaio_mxfp4_output) -> kaio_status;
    /// Quantises w into NVFP4, whose global multiplies.
    fn kaio_quantise_nvfp4(
        stream: *mut c_void,
        w: *const DLTensor,
        to: *const kaio_nvfp4_output
    ) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_quantise_nvfp4.
    fn kaio_quantise_nvfp4_warmup(w: *const DLTensor, to: *const kaio_nvfp4_output) -> kaio_status;
    /// Quantises w into codes of four bits in groups along k, for kaio_repack_compressed_tensors_w4.
    fn kaio_quantise_w4(stream: *mut c_void, w: *const DLTensor, to: *const kaio_w4_output) -> kaio_status;
    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph. For kaio_quantise_w4.
    fn kaio_quantise_w4_warmup(w: *const DLTensor, to: *const kaio_w4_output) -> kaio_status;
    /// Opens a model, and checks its structure. Bytes of tensors are not touched.
    fn kaio_weights_open(path: *const c_char, weights: *mut *mut kaio_weights) -> kaio_status;
    /// Opens a model in the caller's memory, which must not change until it is closed.
    fn kaio_weights_view(
        data: *const c_void,
        bytes: u64,
        name: *const c_char,
        weights: *mut *mut kaio_weights
    ) -> kaio_status;
    /// Closes a model. NULL is closed without effect.
    fn kaio_weights_close(weights: *mut kaio_weights) -> kaio_status;
    /// What a model is. Set info-\>size first.
    fn kaio_weights_describe(weights: *const kaio_weights, info: *mut kaio_weights_info) -> kaio_status;
    /// A tensor by its index, in the order of the file, file by file. Set tensor-\>size first.
    fn kaio_weights_tensor_at(
        weights: *const kaio_weights,
        index: u64,
        tensor: *mut kaio_weights_tensor
    ) -> kaio_status;
    /// The index of the tensor of a name; UINT64_MAX: there is none.
    fn kaio_weights_find(weights: *const kaio_weights, name: *const c_char, index: *mut u64) -> kaio_status;
    /// Decodes `count` elements of a tensor from `first` on, row by row, with the bits of the format's
    /// reference.
    fn kaio_weights_read_values(
        weights: *const kaio_weights,
        index: u64,
        first: u64,
        count: u64,
        to: *mut f32
    ) -> kaio_status;
    /// A value of the metadata by its index. Set value-\>size first.
    fn kaio_weights_value_at(
        weights: *const kaio_weights,
        index: u64,
        value: *mut kaio_weights_value
    ) -> kaio_status;
    /// The index of the value of a key; UINT64_MAX: there is none.
    fn kaio_weights_find_value(
        weights: *const kaio_weights,
        key: *const c_char,
        index: *mut u64
    ) -> kaio_status;
    /// Finds the quantised layers of a model, in the order of their names.
    fn kaio_weights_layers_open(
        weights: *const kaio_weights,
        config: *const c_char,
        layers: *mut *mut kaio_weights_layers
    ) -> kaio_status;
    /// Closes a list of layers. NULL is closed without effect.
    fn kaio_weights_layers_close(layers: *mut kaio_weights_layers) -> kaio_status;
    /// The number of layers, and the configuration. Set info-\>size first.
    fn kaio_weights_layers_describe(
        layers: *const kaio_weights_layers,
        info: *mut kaio_weights_layers_info
    ) -> kaio_status;
    /// A layer by its index. Set layer-\>size first.
    fn kaio_weights_layer_at(
        layers: *const kaio_weights_layers,
        index: u64,
        layer: *mut kaio_weights_layer
    ) -> kaio_status;
    /// A tensor of a layer by its index in the layer. Set part-\>size first.
    fn kaio_weights_part_at(
        layers: *const kaio_weights_layers,
        layer: u64,
        index: u64,
        part: *mut kaio_weights_layer_part
    ) -> kaio_status;
    /// The bytes of a part in the type and order that kaio_repack_... and kaio_dequantise_... take.
    fn kaio_weights_part_bytes(
        layers: *const kaio_weights_layers,
        layer: u64,
        part: i32,
        to: *mut c_void,
        room: u64,
        bytes: *mut u64
    ) -> kaio_status;
}
