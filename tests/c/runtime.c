/* The runtime through the C interface: priorities of streams, changed graphs, mistakes in captures, pools, several devices. */
#include "tensors.h"

static DLDataType f32;
static float x[4096], y[4096], z[4096], got[4096];

static void check_product(const float* a, const float* b) {
  int row, column, i, wrong = 0;
  for (row = 0; row < 8; ++row)
    for (column = 0; column < 8; ++column) {
      double sum = 0;
      for (i = 0; i < 8; ++i) sum += (double)a[row * 8 + i] * b[i * 8 + column];
      wrong += differ(got[row * 8 + column], sum);
    }
  CHECK(wrong == 0);
}

static void priorities(void) {
  int32_t lowest = 1, highest = 1;
  kaio_stream* stream = NULL;
  SUCCEEDS(kaio_stream_priorities(device, &lowest, &highest));
  CHECK(highest <= lowest);
  SUCCEEDS(kaio_stream_create_with_priority(device, highest, &stream));
  CHECK(kaio_stream_handle(stream) != NULL);
  SUCCEEDS(kaio_stream_destroy(stream));
  REFUSED(kaio_stream_create_with_priority(device, 0, NULL), "stream_create_with_priority: argument stream", "NULL");
  REFUSED(kaio_stream_priorities(device, &lowest, NULL), "argument highest", "NULL");
}

/* A product is recorded, replayed, and given other operands. */
static void changed_graphs(void) {
  int32_t capturing = -1;
  kaio_stream* stream = NULL;
  kaio_capture* capture = NULL;
  kaio_graph* graph = NULL;
  void* handle;
  shaped a, b, c, other;
  SHAPED(&a, f32, 8, 8);
  SHAPED(&b, f32, 8, 8);
  SHAPED(&c, f32, 8, 8);
  SHAPED(&other, f32, 8, 8);
  randomise(&a, x, 1);
  randomise(&b, y, 2);
  randomise(&other, z, 3);
  SUCCEEDS(kaio_stream_create(device, &stream));
  handle = kaio_stream_handle(stream);
  SUCCEEDS(kaio_matmul_warmup(&a.tensor, &b.tensor, &c.tensor, NULL));
  SUCCEEDS(kaio_stream_is_capturing(device, handle, &capturing));
  CHECK(capturing == 0);
  SUCCEEDS(kaio_capture_begin(device, handle, &capture));
  SUCCEEDS(kaio_stream_is_capturing(device, handle, &capturing));
  CHECK(capturing == 1);
  SUCCEEDS(kaio_matmul(handle, &a.tensor, &b.tensor, &c.tensor, NULL));
  SUCCEEDS(kaio_capture_end(capture, &graph));
  SUCCEEDS(kaio_graph_upload(graph, handle));
  SUCCEEDS(kaio_graph_launch(graph, handle));
  receive(&c, got);
  check_product(x, y);

  SUCCEEDS(kaio_capture_begin(device, handle, &capture));
  SUCCEEDS(kaio_matmul(handle, &other.tensor, &b.tensor, &c.tensor, NULL));
  SUCCEEDS(kaio_graph_update(graph, capture));
  SUCCEEDS(kaio_graph_launch(graph, handle));
  receive(&c, got);
  check_product(z, y);

  /* other calls are no update, and leave the graph as it was */
  SUCCEEDS(kaio_capture_begin(device, handle, &capture));
  SUCCEEDS(kaio_matmul(handle, &a.tensor, &b.tensor, &c.tensor, NULL));
  SUCCEEDS(kaio_matmul(handle, &a.tensor, &b.tensor, &c.tensor, NULL));
  REFUSED(kaio_graph_update(graph, capture), "cannot take the parameters", "instantiate");
  SUCCEEDS(kaio_graph_launch(graph, handle));
  receive(&c, got);
  check_product(z, y);
  REFUSED(kaio_graph_update(graph, NULL), "graph_update: argument capture", "NULL");
  REFUSED(kaio_graph_upload(NULL, handle), "graph_upload: argument graph", "NULL");

  /* a kernel that was never used cannot be loaded in a capture */
  SUCCEEDS(kaio_capture_begin(device, handle, &capture));
  CHECK(kaio_rotary_table(handle, &a.tensor, &b.tensor, NULL) == KAIO_STREAM_CAPTURING);
  CHECK(strstr(kaio_last_error(), "warmup") != NULL);
  SUCCEEDS(kaio_capture_end(capture, NULL));
  SUCCEEDS(kaio_rotary_table_warmup(&a.tensor, &b.tensor, NULL));
  /* nor can the stream be waited for; the capture has no graph then, and the stream is as before */
  SUCCEEDS(kaio_capture_begin(device, handle, &capture));
  SUCCEEDS(kaio_rotary_table(handle, &a.tensor, &b.tensor, NULL));
  CHECK(kaio_stream_synchronize(device, handle) == KAIO_STREAM_CAPTURING);
  SUCCEEDS(kaio_graph_destroy(graph));
  graph = NULL;
  CHECK(kaio_capture_end(capture, &graph) == KAIO_STREAM_CAPTURING);
  CHECK(graph == NULL && strstr(kaio_last_error(), "no graph") != NULL);
  SUCCEEDS(kaio_matmul(handle, &other.tensor, &b.tensor, &c.tensor, NULL));
  SUCCEEDS(kaio_stream_synchronize(device, handle));
  SUCCEEDS(kaio_stream_destroy(stream));
  drop(&a);
  drop(&b);
  drop(&c);
  drop(&other);
}

static void pools(void) {
  int i, wrong = 0;
  void *first = NULL, *second = NULL, *none = &failures;
  kaio_pool* pool = NULL;
  kaio_pool_options options = kaio_pool_options_default();
  kaio_pool_statistics statistics = kaio_pool_statistics_default();
  options.kind = KAIO_POOL_KIND_CACHING;
  options.limit = 1 << 20;
  SUCCEEDS(kaio_pool_create(device, &options, &pool));
  SUCCEEDS(kaio_pool_allocate(pool, 4000, NULL, &first));
  SUCCEEDS(kaio_pool_allocate_uninitialised(pool, 1000, NULL, &second));
  SUCCEEDS(kaio_pool_allocate(pool, 0, NULL, &none));
  CHECK(first != NULL && second != NULL && first != second && none == NULL);
  memset(got, 1, sizeof got);
  SUCCEEDS(kaio_copy_to_host(device, NULL, got, first, 4000));
  SUCCEEDS(kaio_stream_synchronize(device, NULL));
  for (i = 0; i < 1000; ++i) wrong += got[i] != 0;
  CHECK(wrong == 0);
  SUCCEEDS(kaio_pool_statistics_of(pool, &statistics));
  CHECK(statistics.in_use >= 5000 && statistics.in_use <= statistics.reserved && statistics.allocations == 2);
  CHECK(kaio_pool_allocate(pool, 2 << 20, NULL, &none) == KAIO_OUT_OF_MEMORY);
  SUCCEEDS(kaio_pool_free(pool, first, NULL));
  REFUSED(kaio_pool_free(pool, first, NULL), "pool_free", "free already");
  SUCCEEDS(kaio_pool_free(pool, NULL, NULL));
  SUCCEEDS(kaio_pool_trim(pool, 0));
  SUCCEEDS(kaio_pool_statistics_of(pool, &statistics));
  CHECK(statistics.in_use >= 1000 && statistics.in_use < 4000 && statistics.most_in_use >= 5000);
  statistics.size = 0;
  REFUSED(kaio_pool_statistics_of(pool, &statistics), "pool_statistics_of: argument statistics has size 0", "sizeof");
  SUCCEEDS(kaio_pool_destroy(pool)); /* with the memory that is left */
  SUCCEEDS(kaio_pool_destroy(NULL));
  SUCCEEDS(kaio_pool_create(device, NULL, &pool));
  SUCCEEDS(kaio_pool_allocate(pool, 64, NULL, &first));
  SUCCEEDS(kaio_pool_free(pool, first, NULL));
  SUCCEEDS(kaio_pool_destroy(pool));
  options.kind = 2;
  REFUSED(kaio_pool_create(device, &options, &pool), "pool_create: argument kind is 2", "named constants");
  REFUSED(kaio_pool_allocate(NULL, 64, NULL, &first), "pool_allocate: argument pool", "NULL");
}

static void copies(void) {
  int i, wrong = 0;
  uint16_t halves[8];
  void *from, *to;
  SUCCEEDS(kaio_allocate(device, 400, &from));
  SUCCEEDS(kaio_allocate(device, 400, &to));
  for (i = 0; i < 100; ++i) x[i] = (float)i;
  SUCCEEDS(kaio_copy_to_device(device, NULL, from, x, 400));
  /* 5 rows of 3 numbers, out of rows of 10 into rows of 4 */
  SUCCEEDS(kaio_copy_rows(device, NULL, to, 16, from, 40, 12, 5));
  SUCCEEDS(kaio_copy_to_host(device, NULL, got, to, 400));
  SUCCEEDS(kaio_stream_synchronize(device, NULL));
  for (i = 0; i < 20; ++i) wrong += got[i] != (i % 4 < 3 ? (float)(i / 4 * 10 + i % 4) : 0);
  CHECK(wrong == 0);
  SUCCEEDS(kaio_fill_elements(device, NULL, to, 0x12345, 2, 7));
  SUCCEEDS(kaio_copy_to_host(device, NULL, halves, to, 16));
  SUCCEEDS(kaio_stream_synchronize(device, NULL));
  for (i = 0; i < 7; ++i) wrong += halves[i] != 0x2345;
  CHECK(wrong == 0);
  SUCCEEDS(kaio_copy_rows(device, NULL, NULL, 0, NULL, 0, 0, 5));
  REFUSED(kaio_copy_rows(device, NULL, to, 8, from, 40, 12, 5), "copy_rows into", "pitch");
  REFUSED(kaio_copy_rows(device, NULL, to, (uint64_t)1 << 63, from, 40, 12, 5), "copy_rows", "64 bits");
  REFUSED(kaio_copy_rows(device, NULL, NULL, 16, from, 40, 12, 5), "copy_rows", "null memory");
  REFUSED(kaio_fill_elements(device, NULL, to, 0, 3, 1), "element_bytes is 3", "1, 2 or 4");
  REFUSED(kaio_fill_elements(device, NULL, (char*)to + 2, 0, 4, 1), "fill", "multiple of 4");
  REFUSED(kaio_copy_between(device, NULL, device, to, device, NULL, 8), "copy", "null memory");
  SUCCEEDS(kaio_copy_between(device, NULL, device, to, device, from, 8));
  SUCCEEDS(kaio_free(device, from));
  SUCCEEDS(kaio_free(device, to));
}

/* Two emulators: a copy between them, and a product of the one on operands of the other. */
static void several_devices(void) {
  DLDevice one, two, found;
  int32_t can = -1;
  const DLDevice kept = device;
  shaped a, b, c, far_off_a;
  SUCCEEDS(kaio_device_open("emulator:6", &one));
  SUCCEEDS(kaio_device_open("emulator:7", &two));
  device = two;
  SHAPED(&far_off_a, f32, 8, 8);
  randomise(&far_off_a, x, 4);
  device = one;
  SHAPED(&a, f32, 8, 8);
  SHAPED(&b, f32, 8, 8);
  SHAPED(&c, f32, 8, 8);
  randomise(&b, y, 5);
  SUCCEEDS(kaio_copy_between(one, NULL, one, a.tensor.data, two, far_off_a.tensor.data, 256));
  SUCCEEDS(kaio_matmul(NULL, &a.tensor, &b.tensor, &c.tensor, NULL));
  receive(&c, got);
  check_product(x, y);

  SUCCEEDS(kaio_device_of_pointer(far_off_a.tensor.data, &found));
  CHECK(found.device_type == kDLExtDev && found.device_id == 7);
  SUCCEEDS(kaio_device_of_pointer(a.tensor.data, &found));
  CHECK(found.device_id == 6);
  REFUSED(kaio_device_of_pointer(x, &found), "kaio: ", "device");
  SUCCEEDS(kaio_device_can_access(one, two, &can));
  CHECK(can == 1);
  REFUSED(kaio_matmul(NULL, &far_off_a.tensor, &b.tensor, &c.tensor, NULL), "arguments a and b", "different devices");
  far_off_a.tensor.device = one; /* the call is on this device, which reads the other's memory */
  SUCCEEDS(kaio_device_enable_access(one, two));
  SUCCEEDS(kaio_fill(one, NULL, c.tensor.data, 0, 256));
  SUCCEEDS(kaio_matmul(NULL, &far_off_a.tensor, &b.tensor, &c.tensor, NULL));
  receive(&c, got);
  check_product(x, y);
  REFUSED(kaio_device_can_access(one, two, NULL), "device_can_access: argument can", "NULL");
  found.device_id = 99;
  REFUSED(kaio_device_enable_access(one, found), "device_enable_access: other", "0 to 63");
  drop(&a);
  drop(&b);
  drop(&c);
  far_off_a.tensor.device = two;
  SUCCEEDS(kaio_free(two, far_off_a.tensor.data));
  SUCCEEDS(kaio_device_close(one));
  SUCCEEDS(kaio_device_close(two));
  device = kept;
}

int main(void) {
  f32 = type_of(kDLFloat, 32);
  if (kaio_device_open(NULL, &device) != KAIO_OK) {
    fprintf(stderr, "%s\n", kaio_last_error());
    return 1;
  }
  priorities();
  changed_graphs();
  pools();
  copies();
  several_devices();
  return finish();
}
