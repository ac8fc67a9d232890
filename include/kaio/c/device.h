/* Devices, memory, streams, events and graphs of the C interface. Include <kaio/c/kaio.h>.
 *
 * A device is a DLDevice: {kDLCUDA, N} is GPU N, {kDLExtDev, N} is emulator N, which runs kernels on the CPU. It is
 * opened when it is first used, and stays open until kaio_device_close. A GPU is used through its primary context, as
 * PyTorch uses it. KAIO_EMULATOR_ARCH sets the architecture of emulators that are opened later: sm_70 to sm_90a or newer.
 *
 * A `stream` is a CUstream of the device, from any library, as a void*: 0, 1 and 2 are the driver's own streams.
 * kaio queues work there, and never synchronises it. On an emulator it is NULL or the handle of a kaio_stream, and work is
 * done when a call returns.
 *
 * Several threads may call every function at once. Destroying, freeing and closing exclude other uses of that object.
 */
#ifndef KAIO_C_DEVICE_H
#define KAIO_C_DEVICE_H

#include <kaio/c/base.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a device, and says which it is. `name`: "cuda:N", "emulator:N" with N from 0 to 15, or "emulator" for emulator 0. NULL: the device
 * that the environment variable KAIO_DEVICE names, else the first GPU, else emulator 0. */
KAIO_API kaio_status kaio_device_open(const char* name, DLDevice* device);
/* Forgets the device, for instance an emulator that a failed kernel has lost: its next use opens it anew. Its memory and
 * streams stay valid until they are freed. Without effect if the device is not open. */
KAIO_API kaio_status kaio_device_close(DLDevice device);
/* The number of GPUs: 0 if there is no driver. */
KAIO_API kaio_status kaio_device_count(int32_t* count);
/* What the device is and can do. Set properties->size first, as kaio_device_properties_default() does. */
KAIO_API kaio_status kaio_device_properties_of(DLDevice device, kaio_device_properties* properties);
/* Waits for all work on the device, also that of other users of its context. */
KAIO_API kaio_status kaio_device_synchronize(DLDevice device);
/* Bytes at this moment. */
KAIO_API kaio_status kaio_memory_info(DLDevice device, uint64_t* free_bytes, uint64_t* total_bytes);

/* Device memory, zero-filled; NULL for 0 bytes. It begins at a multiple of 256 bytes. */
KAIO_API kaio_status kaio_allocate(DLDevice device, uint64_t bytes, void** memory);
/* Device memory that holds whatever it held before. */
KAIO_API kaio_status kaio_allocate_uninitialised(DLDevice device, uint64_t bytes, void** memory);
/* Frees what the two functions above returned, after the work that uses it. NULL is freed without effect. */
KAIO_API kaio_status kaio_free(DLDevice device, void* memory);
/* Page-locked host memory, zero-filled: copies of it overlap the host's own work. Ordinary memory on an emulator. */
KAIO_API kaio_status kaio_allocate_host(DLDevice device, uint64_t bytes, void** memory);
KAIO_API kaio_status kaio_free_host(void* memory);

/* Copies in the order of the stream. Host memory stays alive and unchanged until the stream is past the copy. A GPU's
 * driver may copy memory that is not page-locked within the call. */
KAIO_API kaio_status kaio_copy_to_device(DLDevice device, void* stream, void* to, const void* host, uint64_t bytes);
KAIO_API kaio_status kaio_copy_to_host(DLDevice device, void* stream, void* host, const void* from, uint64_t bytes);
KAIO_API kaio_status kaio_copy_on_device(DLDevice device, void* stream, void* to, const void* from, uint64_t bytes);
/* Sets every byte to `value`, in the order of the stream. */
KAIO_API kaio_status kaio_fill(DLDevice device, void* stream, void* to, uint8_t value, uint64_t bytes);

/* A stream of kaio's own, which does not wait for the legacy default stream. Functions take its handle. */
typedef struct kaio_stream kaio_stream;
KAIO_API kaio_status kaio_stream_create(DLDevice device, kaio_stream** stream);
/* The CUstream; on an emulator its own handle. NULL for NULL. */
KAIO_API void* kaio_stream_handle(const kaio_stream* stream);
/* Queued work still runs. NULL is destroyed without effect. */
KAIO_API kaio_status kaio_stream_destroy(kaio_stream* stream);
/* Waits until the stream is empty. Fails if work in it has failed. */
KAIO_API kaio_status kaio_stream_synchronize(DLDevice device, void* stream);
/* done: 1 if the stream is empty, else 0. */
KAIO_API kaio_status kaio_stream_is_done(DLDevice device, void* stream, int32_t* done);

/* A mark in the work of a stream. */
typedef struct kaio_event kaio_event;
KAIO_API kaio_status kaio_event_create(DLDevice device, kaio_event** event);
KAIO_API kaio_status kaio_event_destroy(kaio_event* event);
/* Puts the mark after the work that the stream has now. */
KAIO_API kaio_status kaio_event_record(kaio_event* event, void* stream);
/* Later work of the stream waits for the mark, which is of the same device. */
KAIO_API kaio_status kaio_event_wait(const kaio_event* event, void* stream);
KAIO_API kaio_status kaio_event_synchronize(const kaio_event* event);
/* done: 1 if the work before the mark is done, or if the event was never recorded; else 0. */
KAIO_API kaio_status kaio_event_is_done(const kaio_event* event, int32_t* done);
/* The time between two recorded events; waits for both. */
KAIO_API kaio_status kaio_event_elapsed(const kaio_event* begin, const kaio_event* end, double* milliseconds);

/* Records the work that is put into a stream until kaio_capture_end, which makes a graph of it: one call replays it. The
 * calls do not run. Each needs a first run or its kaio_..._warmup before, since kernels cannot be loaded meanwhile. Memory
 * that the graph uses stays allocated as long as it is replayed. */
typedef struct kaio_capture kaio_capture;
typedef struct kaio_graph kaio_graph;
KAIO_API kaio_status kaio_capture_begin(DLDevice device, void* stream, kaio_capture** capture);
/* Ends and frees the capture, also if it fails. graph: NULL drops the work. */
KAIO_API kaio_status kaio_capture_end(kaio_capture* capture, kaio_graph** graph);
KAIO_API kaio_status kaio_graph_launch(const kaio_graph* graph, void* stream);
/* A replay in flight runs to its end. */
KAIO_API kaio_status kaio_graph_destroy(kaio_graph* graph);

#ifdef __cplusplus
}
#endif

#endif
