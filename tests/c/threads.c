/* Threads that make mixed calls at once, on two devices that they share and in streams of their own: products, norms,
 * copies, fills, events, pools, graphs, queries and mistakes. Each result is checked, and each message belongs to the
 * thread that made the mistake. Then threads whose tensors are memory of the CPU, in one stream: results are there when
 * a call returns, whichever thread ran its kernel.
 *
 * KAIO_THREADS=16x200: threads and calls of each; without it, 4x40. */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>

#include "support.h"

#define ROWS 2
#define COLUMNS 32

typedef struct {
  pthread_t thread;
  int number, calls, failures;
  DLDevice device, other;
  kaio_pool* pool; /* shared by the threads of a device */
} worker;

#define MUST(condition) \
  do { \
    if (!(condition)) { \
      ++w->failures; \
      fprintf(stderr, "thread %d: failed: %s\n  last error: %s\n", w->number, #condition, kaio_last_error()); \
    } \
  } while (0)

typedef struct {
  owned x, weight, y;
  float host[ROWS * COLUMNS];
} tensors;

static void fetch_in(worker* w, void* stream, const owned* it, float* host) {
  MUST(kaio_copy_to_host(w->device, stream, host, it->tensor.data, sizeof(float) * ROWS * COLUMNS) == KAIO_OK);
  MUST(kaio_stream_synchronize(w->device, stream) == KAIO_OK);
}

/* y = x * w, where w is twice the unit matrix. */
static void product(worker* w, void* stream, tensors* t) {
  float got[ROWS * COLUMNS];
  int i;
  MUST(kaio_matmul(stream, &t->x.tensor, &t->weight.tensor, &t->y.tensor, NULL) == KAIO_OK);
  fetch_in(w, stream, &t->y, got);
  for (i = 0; i < ROWS * COLUMNS; ++i) MUST(got[i] == 2 * t->host[i]);
}

static void replay(worker* w, void* stream, tensors* t) {
  kaio_capture* capture = NULL;
  kaio_graph* graph = NULL;
  float got[ROWS * COLUMNS];
  int i;
  MUST(kaio_capture_begin(w->device, stream, &capture) == KAIO_OK);
  MUST(kaio_fill(w->device, stream, t->y.tensor.data, 255, sizeof got) == KAIO_OK);
  MUST(kaio_matmul(stream, &t->x.tensor, &t->weight.tensor, &t->y.tensor, NULL) == KAIO_OK);
  MUST(kaio_capture_end(capture, &graph) == KAIO_OK);
  for (i = 0; i < 2; ++i) MUST(kaio_graph_launch(graph, stream) == KAIO_OK);
  fetch_in(w, stream, &t->y, got);
  for (i = 0; i < ROWS * COLUMNS; ++i) MUST(got[i] == 2 * t->host[i]);
  MUST(kaio_graph_destroy(graph) == KAIO_OK);
}

static void mistake(worker* w, void* stream, const tensors* t) {
  char expected[64];
  DLTensor wrong = t->weight.tensor;
  int64_t shape[2];
  shape[0] = w->number + 100;
  shape[1] = COLUMNS;
  wrong.shape = shape;
  MUST(kaio_matmul(stream, &t->x.tensor, &wrong, &t->y.tensor, NULL) == KAIO_INVALID_ARGUMENT);
  sprintf(expected, "%d", w->number + 100);
  MUST(strstr(kaio_last_error(), expected) != NULL);
}

static void pool_and_copies(worker* w, void* stream, const tensors* t) {
  void* memory = NULL;
  float got[ROWS * COLUMNS];
  int i;
  MUST(kaio_pool_allocate_uninitialised(w->pool, sizeof got, stream, &memory) == KAIO_OK);
  MUST(kaio_copy_on_device(w->device, stream, memory, t->x.tensor.data, sizeof got) == KAIO_OK);
  MUST(kaio_copy_to_host(w->device, stream, got, memory, sizeof got) == KAIO_OK);
  MUST(kaio_stream_synchronize(w->device, stream) == KAIO_OK);
  for (i = 0; i < ROWS * COLUMNS; ++i) MUST(got[i] == t->host[i]);
  MUST(kaio_pool_free(w->pool, memory, stream) == KAIO_OK);
}

static void across(worker* w, void* stream, const tensors* t) {
  void* there = NULL;
  float got[ROWS * COLUMNS];
  int i;
  MUST(kaio_allocate(w->other, sizeof got, &there) == KAIO_OK);
  MUST(kaio_copy_between(w->device, stream, w->other, there, w->device, t->x.tensor.data, sizeof got) == KAIO_OK);
  MUST(kaio_stream_synchronize(w->device, stream) == KAIO_OK);
  MUST(kaio_copy_to_host(w->other, NULL, got, there, sizeof got) == KAIO_OK);
  MUST(kaio_stream_synchronize(w->other, NULL) == KAIO_OK);
  for (i = 0; i < ROWS * COLUMNS; ++i) MUST(got[i] == t->host[i]);
  MUST(kaio_free(w->other, there) == KAIO_OK);
}

static void queries(worker* w, void* stream, const tensors* t) {
  kaio_kernel_choice choice = kaio_kernel_choice_default();
  uint64_t bytes = 1;
  int32_t done = 0;
  kaio_event* event = NULL;
  MUST(kaio_matmul_choice(&t->x.tensor, &t->weight.tensor, &t->y.tensor, NULL, &choice) == KAIO_OK);
  MUST(strncmp(choice.name, "matmul", 6) == 0);
  MUST(kaio_matmul_workspace_bytes(&t->x.tensor, &t->weight.tensor, &t->y.tensor, NULL, &bytes) == KAIO_OK);
  MUST(kaio_event_create(w->device, &event) == KAIO_OK);
  MUST(kaio_event_record(event, stream) == KAIO_OK);
  MUST(kaio_event_synchronize(event) == KAIO_OK);
  MUST(kaio_event_is_done(event, &done) == KAIO_OK);
  MUST(done == 1);
  MUST(kaio_event_destroy(event) == KAIO_OK);
}

static void* work(void* argument) {
  worker* const w = argument;
  kaio_stream* own = NULL;
  void* stream;
  tensors t;
  float unit[COLUMNS * COLUMNS];
  int i;
  MUST(kaio_stream_create(w->device, &own) == KAIO_OK);
  stream = kaio_stream_handle(own);
  make(&t.x, w->device, type_of(kDLFloat, 32), ROWS, COLUMNS, -1);
  make(&t.weight, w->device, type_of(kDLFloat, 32), COLUMNS, COLUMNS, -1);
  make(&t.y, w->device, type_of(kDLFloat, 32), ROWS, COLUMNS, -1);
  for (i = 0; i < ROWS * COLUMNS; ++i) t.host[i] = (float)(w->number + i % 7);
  for (i = 0; i < COLUMNS * COLUMNS; ++i) unit[i] = i % (COLUMNS + 1) == 0 ? 2.0f : 0.0f;
  MUST(kaio_copy_to_device(w->device, stream, t.x.tensor.data, t.host, sizeof t.host) == KAIO_OK);
  MUST(kaio_copy_to_device(w->device, stream, t.weight.tensor.data, unit, sizeof unit) == KAIO_OK);
  product(w, stream, &t); /* loads the kernel, which a capture cannot */
  for (i = 0; i < w->calls; ++i) {
    switch ((i + w->number) % 16) {
      case 0: product(w, stream, &t); break;
      case 1: replay(w, stream, &t); break;
      case 2:
      case 3: across(w, stream, &t); break;
      case 4:
      case 5:
      case 6: mistake(w, stream, &t); break;
      case 7:
      case 8:
      case 9:
      case 10: pool_and_copies(w, stream, &t); break;
      default: queries(w, stream, &t); break;
    }
  }
  MUST(kaio_free(w->device, t.x.tensor.data) == KAIO_OK);
  MUST(kaio_free(w->device, t.weight.tensor.data) == KAIO_OK);
  MUST(kaio_free(w->device, t.y.tensor.data) == KAIO_OK);
  MUST(kaio_stream_destroy(own) == KAIO_OK);
  return NULL;
}

/* A kernel that may wait for others, so that the emulator can leave a call's work to another thread. */
static void* draw(void* argument) {
  worker* const w = argument;
  int i;
  for (i = 0; i < w->calls; ++i) {
    float x[4 * 50];
    int64_t seed[4] = {7, 7, 7, 7}, offset[4] = {0, 1, 2, 3}, token[4] = {-1, -1, -1, -1};
    int64_t shape[2] = {4, 50};
    DLTensor logits = {x, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0};
    DLTensor seeds = {seed, {kDLCPU, 0}, 1, {kDLInt, 64, 1}, shape, NULL, 0}, offsets = seeds, tokens = seeds;
    kaio_sample_options options = kaio_sample_options_default();
    int k;
    for (k = 0; k < 4 * 50; ++k) x[k] = 0.5f;
    offsets.data = offset;
    tokens.data = token;
    options.seed = &seeds;
    options.offset = &offsets;
    MUST(kaio_sample(NULL, &logits, &tokens, &options) == KAIO_OK);
    for (k = 0; k < 4; ++k) MUST(token[k] >= 0 && token[k] < 50);
  }
  return NULL;
}
static void* rectify(void* argument) {
  worker* const w = argument;
  int i, k;
  for (i = 0; i < 16 * w->calls; ++i) {
    int64_t shape[1] = {64};
    float* const x = malloc(2 * 64 * sizeof(float)); /* given back as soon as the call has returned */
    DLTensor a = {x, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, NULL, 0}, b = a;
    for (k = 0; k < 128; ++k) x[k] = k < 64 ? (float)(i % 7 - k) : -1.0f;
    b.data = x + 64;
    MUST(kaio_activate(NULL, KAIO_ACTIVATION_RELU, &a, &b) == KAIO_OK);
    for (k = 0; k < 64; ++k) MUST(x[64 + k] == (x[k] > 0 ? x[k] : 0));
    free(x);
  }
  return NULL;
}

#define MOST_THREADS 64

int main(void) {
  static worker workers[MOST_THREADS];
  const char* const wanted = getenv("KAIO_THREADS");
  DLDevice first, devices[2];
  kaio_pool* pools[2] = {NULL, NULL};
  int threads = 4, calls = 40, i;
  if (wanted != NULL) CHECK(sscanf(wanted, "%dx%d", &threads, &calls) == 2 && threads <= MOST_THREADS);
  SUCCEEDS(kaio_device_open(NULL, &first));
  devices[0] = devices[1] = first;
  if (first.device_type == kDLExtDev) devices[1].device_id = first.device_id + 1; /* else one GPU is enough */
  for (i = 0; i < 2; ++i) SUCCEEDS(kaio_pool_create(devices[i], NULL, &pools[i]));
  if (failures != 0) return 1;
  for (i = 0; i < threads; ++i) {
    workers[i].number = i;
    workers[i].calls = calls;
    workers[i].device = devices[i % 2];
    workers[i].other = devices[1 - i % 2];
    workers[i].pool = pools[i % 2];
    CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
  }
  for (i = 0; i < threads; ++i) {
    CHECK(pthread_join(workers[i].thread, NULL) == 0);
    failures += workers[i].failures;
  }
  for (i = 0; i < 2; ++i) {
    kaio_pool_statistics used = kaio_pool_statistics_default();
    SUCCEEDS(kaio_pool_statistics_of(pools[i], &used));
    CHECK(used.in_use == 0);
    SUCCEEDS(kaio_pool_destroy(pools[i]));
  }
  for (i = 0; i < 2; ++i) {
    workers[i].failures = 0;
    CHECK(pthread_create(&workers[i].thread, NULL, i == 0 ? draw : rectify, &workers[i]) == 0);
  }
  for (i = 0; i < 2; ++i) {
    CHECK(pthread_join(workers[i].thread, NULL) == 0);
    failures += workers[i].failures;
  }
  return finish();
}
