/* More of the runtime: priorities of streams, changes of graphs, pools of memory, several devices. Include <kaio/c/kaio.h>.
 *
 * Conventions are those of <kaio/c/device.h>: a `stream` is a CUstream of the device, as a void*.
 */
#ifndef KAIO_C_RUNTIME_H
#define KAIO_C_RUNTIME_H

#include <kaio/c/base.h>
#include <kaio/c/device.h>
#include <kaio/c/pool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A stream with a priority: pending blocks of streams with lower numbers start first. 0 is that of kaio_stream_create. A
 * number beyond those of kaio_stream_priorities is clamped to them. */
KAIO_API kaio_status kaio_stream_create_with_priority(DLDevice device, int32_t priority, kaio_stream** stream);
/* The numbers of the lowest and of the highest priority; both are 0 if the device has no priorities. */
KAIO_API kaio_status kaio_stream_priorities(DLDevice device, int32_t* lowest, int32_t* highest);
/* capturing: 1 if work of the stream goes into a graph now, also one of another library, else 0. */
KAIO_API kaio_status kaio_stream_is_capturing(DLDevice device, void* stream, int32_t* capturing);

/* Ends and frees the capture, also if it fails. The graph takes the arguments of its calls, which are the calls of the
 * graph in their order, for instance on other memory. Replays in flight are not affected. If the capture has other calls,
 * KAIO_INVALID_ARGUMENT, and the graph stays as it was. */
KAIO_API kaio_status kaio_graph_update(kaio_graph* graph, kaio_capture* capture);
/* Moves what the first launch needs to the device ahead of it. */
KAIO_API kaio_status kaio_graph_upload(const kaio_graph* graph, void* stream);

/* A pool of device memory. Its memory is allocated and freed in the order of a stream, and waits for nothing. */
typedef struct kaio_pool kaio_pool;
/* options: NULL is all defaults. */
KAIO_API kaio_status kaio_pool_create(DLDevice device, const kaio_pool_options* options, kaio_pool** pool);
/* Memory that is zero-filled in the order of the stream; NULL for 0 bytes. Other streams use it after an event. */
KAIO_API kaio_status kaio_pool_allocate(kaio_pool* pool, uint64_t bytes, void* stream, void** memory);
/* Memory that holds whatever it held before. */
KAIO_API kaio_status kaio_pool_allocate_uninitialised(kaio_pool* pool, uint64_t bytes, void* stream, void** memory);
/* Frees the memory after the work that the stream has now. NULL is freed without effect. */
KAIO_API kaio_status kaio_pool_free(kaio_pool* pool, void* memory, void* stream);
/* Set statistics->size first, as kaio_pool_statistics_default() does. */
KAIO_API kaio_status kaio_pool_statistics_of(const kaio_pool* pool, kaio_pool_statistics* statistics);
/* Gives unused memory beyond `keep` bytes back to the device, after waiting for its work. */
KAIO_API kaio_status kaio_pool_trim(kaio_pool* pool, uint64_t keep);
/* Frees the memory of the pool too, each block after the work of the stream that it was allocated in. NULL is destroyed
 * without effect. */
KAIO_API kaio_status kaio_pool_destroy(kaio_pool* pool);

/* can: 1 if kernels of the device can read and write memory of the other, else 0. Emulators can, and GPUs with a link. */
KAIO_API kaio_status kaio_device_can_access(DLDevice device, DLDevice other, int32_t* can);
/* From here on, kernels of the device take memory of the other by its address. KAIO_UNSUPPORTED_DEVICE if they cannot. */
KAIO_API kaio_status kaio_device_enable_access(DLDevice device, DLDevice other);
/* The device that has the memory at an address. KAIO_INVALID_ARGUMENT if no device has it. */
KAIO_API kaio_status kaio_device_of_pointer(const void* pointer, DLDevice* device);

/* Copies from one device to another, with access or without, in the order of a stream of either. */
KAIO_API kaio_status kaio_copy_between(DLDevice device, void* stream, DLDevice to_device, void* to,
                                       DLDevice from_device, const void* from, uint64_t bytes);
/* Copies rows of `width` bytes on one device; row i begins at byte i * pitch. */
KAIO_API kaio_status kaio_copy_rows(DLDevice device, void* stream, void* to, uint64_t to_pitch, const void* from,
                                    uint64_t from_pitch, uint64_t width, uint64_t rows);
/* Sets `count` elements of 1, 2 or 4 bytes to the low bytes of `value`. */
KAIO_API kaio_status kaio_fill_elements(DLDevice device, void* stream, void* to, uint32_t value,
                                        uint32_t element_bytes, uint64_t count);

#ifdef __cplusplus
}
#endif

#endif
