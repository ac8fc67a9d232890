/* Two ranks on emulated devices, which kaio connects, and then the program: sums, operations by peer memory, an attention
 * over ranks with its gradients, calls that do not match, and a rank that ends the group. */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>

#include "support.h"

#ifdef _WIN32
#define setenv(name, value, replace) _putenv_s(name, value)
#endif

enum { rows = 8, heads = 2, size = 8, row = heads * size, count = rows / 2 * row };
enum { tokens = 4, hidden = 16, wide = 8, most = 2 * tokens * hidden };

typedef struct {
  pthread_t thread;
  int number, failures;
  DLDevice device;
  kaio_communicator* communicator;
  int by_program, gathers_fail;
} rank_of;

/* Where the threads of a group meet that the program connects. */
static struct {
  pthread_mutex_t changing;
  pthread_cond_t changed;
  int present, ended, held;
  unsigned generation;
  char bytes[2][4096];
  void* memory[2];
} place = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0, 0, {{0}}, {NULL}};

/* Both ranks have the bytes of both when it returns 0. */
static int32_t meet(rank_of* r, const void* mine, uint64_t bytes, void* all) {
  unsigned before;
  int rank, fails;
  if (bytes > sizeof place.bytes[0]) return 7;
  pthread_mutex_lock(&place.changing);
  if (r->gathers_fail) place.ended = 1;
  memcpy(place.bytes[r->number], mine, (size_t)bytes);
  before = place.generation;
  if (!place.ended && ++place.present == 2) {
    place.present = 0;
    ++place.generation;
  }
  pthread_cond_broadcast(&place.changed);
  while (!place.ended && place.generation == before) pthread_cond_wait(&place.changed, &place.changing);
  fails = place.ended;
  for (rank = 0; rank < 2; ++rank) memcpy((char*)all + (size_t)rank * bytes, place.bytes[rank], (size_t)bytes);
  /* Nobody writes its bytes again before all have read them. */
  before = place.generation;
  if (!place.ended && ++place.present == 2) {
    place.present = 0;
    ++place.generation;
    pthread_cond_broadcast(&place.changed);
  }
  while (!place.ended && place.generation == before) pthread_cond_wait(&place.changed, &place.changing);
  pthread_mutex_unlock(&place.changing);
  return fails;
}

static int32_t gather(void* data, const void* mine, uint64_t bytes, void* all, double time_limit) {
  rank_of* const r = data;
  if (time_limit != 20) return 8;
  return meet(r, mine, bytes, all);
}

static int32_t allocate(void* data, uint64_t bytes, void** memory, void** token) {
  rank_of* const r = data;
  void* own = NULL;
  if (kaio_allocate(r->device, bytes, &own) != KAIO_OK) return 9;
  if (meet(r, &own, sizeof own, memory) != 0) return 10;
  *token = own;
  pthread_mutex_lock(&place.changing);
  ++place.held;
  pthread_mutex_unlock(&place.changing);
  return 0;
}

/* The other rank may still use this memory: all of it is freed when no rank holds any. */
static int32_t give_back(void* data, void* token) {
  static void* released[64];
  static const DLDevice* devices[64];
  int i = 0;
  pthread_mutex_lock(&place.changing);
  while (i < 63 && released[i] != NULL) ++i;
  released[i] = token;
  devices[i] = &((rank_of*)data)->device;
  if (--place.held == 0)
    for (i = 0; i < 64 && released[i] != NULL; ++i) {
      CHECK(kaio_free(*devices[i], released[i]) == KAIO_OK);
      released[i] = NULL;
    }
  pthread_mutex_unlock(&place.changing);
  return 0;
}

#define MUST(condition) \
  do { \
    if (!(condition)) { \
      ++r->failures; \
      fprintf(stderr, "rank %d: failed: %s\n  last error: %s\n", r->number, #condition, kaio_last_error()); \
    } \
  } while (0)

static DLTensor tensor_of(DLDevice device, void* data, int64_t* shape, int dimensions) {
  DLTensor t;
  memset(&t, 0, sizeof t);
  t.data = data;
  t.device = device;
  t.dtype = type_of(kDLFloat, 32);
  t.ndim = dimensions;
  t.shape = shape;
  return t;
}

static void sums(rank_of* r) {
  int64_t shape[1] = {100}, other[1] = {50};
  float host[100];
  void* data = NULL;
  int i;
  for (i = 0; i < 100; ++i) host[i] = (float)(r->number + 1) * (float)i;
  MUST(kaio_allocate(r->device, sizeof host, &data) == KAIO_OK);
  MUST(kaio_copy_to_device(r->device, NULL, data, host, sizeof host) == KAIO_OK);
  {
    const DLTensor x = tensor_of(r->device, data, shape, 1), half = tensor_of(r->device, data, other, 1);
    MUST(kaio_communicator_all_reduce(r->communicator, NULL, &x, &x) == KAIO_OK);
    MUST(kaio_copy_to_host(r->device, NULL, host, data, sizeof host) == KAIO_OK);
    MUST(kaio_stream_synchronize(r->device, NULL) == KAIO_OK);
    for (i = 0; i < 100; ++i) MUST(host[i] == 3.0f * (float)i);
    /* The shapes differ: both are told. */
    MUST(kaio_communicator_all_reduce(r->communicator, NULL, r->number == 0 ? &x : &half, r->number == 0 ? &x : &half) ==
         KAIO_INVALID_ARGUMENT);
    MUST(strstr(kaio_last_error(), "rank 1") != NULL);
    MUST(kaio_broadcast(r->communicator, NULL, &x, 1) == KAIO_OK);
  }
  MUST(kaio_free(r->device, data) == KAIO_OK);
}

/* All scores are equal: a row is the mean of the rows up to its own, and the values are the places of rows. packed: in two
 * sequences of equal length. */
static void attention(rank_of* r, int packed) {
  int64_t shape[4] = {1, rows / 2, heads, size}, lse_shape[3] = {1, heads, rows / 2}, bytes_shape[1];
  const int whole[rows / 2] = {r->number * 2, r->number * 2 + 1, 6 - r->number * 2, 7 - r->number * 2};
  const int in_halves[rows / 2] = {r->number, 3 - r->number, r->number, 3 - r->number};
  const int* places = packed ? in_halves : whole;
  const int64_t lengths[2] = {rows / 2, rows / 2}, others[2] = {rows / 2 - 1, rows / 2 + 1};
  float host[count], zeros[count];
  void* memory[5] = {NULL};
  void* work = NULL;
  uint64_t bytes = 0, more = 0;
  int i;
  kaio_context_attention_options options = kaio_context_attention_options_default();
  for (i = 0; i < count; ++i) {
    host[i] = (float)places[i / row];
    zeros[i] = 0;
  }
  for (i = 0; i < 5; ++i) {
    MUST(kaio_allocate(r->device, sizeof host, &memory[i]) == KAIO_OK);
    MUST(kaio_copy_to_device(r->device, NULL, memory[i], i == 1 ? host : zeros, sizeof host) == KAIO_OK);
  }
  {
    const DLTensor q = tensor_of(r->device, memory[0], shape, 4), v = tensor_of(r->device, memory[1], shape, 4),
                   out = tensor_of(r->device, memory[2], shape, 4), dv = tensor_of(r->device, memory[3], shape, 4),
                   lse = tensor_of(r->device, memory[4], lse_shape, 3);
    DLTensor workspace;
    options.causal = KAIO_CAUSAL_ALIGNMENT_TOP_LEFT;
    options.lse = &lse;
    if (packed) {
      options.length_count = 2;
      MUST(kaio_context_attention_workspace_bytes(r->communicator, &q, &q, &v, &options, &bytes) == KAIO_INVALID_ARGUMENT);
      options.lengths = r->number == 0 ? lengths : others;
      MUST(kaio_context_attention_workspace_bytes(r->communicator, &q, &q, &v, &options, &bytes) == KAIO_INVALID_ARGUMENT);
      MUST(strstr(kaio_last_error(), "lengths") != NULL);
      options.lengths = lengths;
    }
    MUST(kaio_context_attention_workspace_bytes(r->communicator, &q, &q, &v, &options, &bytes) == KAIO_OK);
    MUST(kaio_context_attention_backward_workspace_bytes(r->communicator, &q, &q, &v, &options, &more) == KAIO_OK);
    if (more > bytes) bytes = more;
    MUST(kaio_allocate(r->device, bytes, &work) == KAIO_OK);
    bytes_shape[0] = (int64_t)bytes;
    workspace = tensor_of(r->device, work, bytes_shape, 1);
    workspace.dtype = type_of(kDLUInt, 8);
    options.workspace = &workspace;
    MUST(kaio_context_attention(r->communicator, NULL, &q, &q, &v, &out, &options) == KAIO_OK);
    MUST(kaio_copy_to_host(r->device, NULL, host, memory[2], sizeof host) == KAIO_OK);
    MUST(kaio_stream_synchronize(r->device, NULL) == KAIO_OK);
    for (i = 0; i < count; ++i) MUST(!differ((double)host[i], places[i / row] / 2.0));
    /* The gradient of a value: the sum over later rows of their gradients, each divided by its number of keys. */
    MUST(kaio_context_attention_backward(r->communicator, NULL, &v, &q, &q, &v, &out, &lse, NULL, NULL, &dv, &options) ==
         KAIO_OK);
    MUST(kaio_copy_to_host(r->device, NULL, host, memory[3], sizeof host) == KAIO_OK);
    MUST(kaio_stream_synchronize(r->device, NULL) == KAIO_OK);
    for (i = 0; i < count; ++i) {
      double want = 0;
      int later;
      for (later = places[i / row]; later < (packed ? rows / 2 : rows); ++later) want += later / (later + 1.0);
      MUST(!differ((double)host[i], want));
    }
  }
  for (i = 0; i < 5; ++i) MUST(kaio_free(r->device, memory[i]) == KAIO_OK);
  MUST(kaio_free(r->device, work) == KAIO_OK);
}

/* Device memory of `most` floats, all of them `value`. */
static void* filled(rank_of* r, float value) {
  float host[most];
  void* data = NULL;
  int i;
  for (i = 0; i < most; ++i) host[i] = value;
  MUST(kaio_allocate(r->device, sizeof host, &data) == KAIO_OK);
  MUST(kaio_copy_to_device(r->device, NULL, data, host, sizeof host) == KAIO_OK);
  MUST(kaio_stream_synchronize(r->device, NULL) == KAIO_OK);
  return data;
}

/* Whether the first floats of device memory are all `value`. */
static int holds(rank_of* r, const void* data, int floats, float value) {
  float host[most];
  int i, right = 1;
  MUST(kaio_copy_to_host(r->device, NULL, host, data, sizeof host) == KAIO_OK);
  MUST(kaio_stream_synchronize(r->device, NULL) == KAIO_OK);
  for (i = 0; i < floats; ++i) right = right && host[i] == value;
  return right;
}

static void sums_by_peers(rank_of* r, kaio_peer_workspace* workspace) {
  int64_t shape[2] = {tokens, hidden}, row_shape[1] = {hidden}, other[2] = {tokens, hidden / 2};
  void *x_data = filled(r, (float)(2 * r->number + 1)), *weight_data = filled(r, 3), *y_data = filled(r, 0);
  const DLTensor x = tensor_of(r->device, x_data, shape, 2), weight = tensor_of(r->device, weight_data, row_shape, 1),
                 y = tensor_of(r->device, y_data, shape, 2), half = tensor_of(r->device, y_data, other, 2);
  kaio_rms_norm_options options = kaio_rms_norm_options_default();
  options.epsilon = 0;
  MUST(kaio_all_reduce(workspace, NULL, &x, &y) == KAIO_OK);
  MUST(holds(r, y_data, tokens * hidden, 4));
  MUST(kaio_all_reduce_rms_norm(workspace, NULL, &x, &weight, &y, &options) == KAIO_OK);
  MUST(holds(r, y_data, tokens * hidden, 3));
  MUST(kaio_all_reduce(workspace, NULL, &x, r->number == 0 ? &y : &half) == KAIO_INVALID_ARGUMENT);
  MUST(strstr(kaio_last_error(), "rank 1") != NULL);
  MUST(kaio_all_reduce(workspace, NULL, &x, &x) == KAIO_OK);
  MUST(holds(r, x_data, tokens * hidden, 4));
  MUST(kaio_free(r->device, x_data) == KAIO_OK);
  MUST(kaio_free(r->device, weight_data) == KAIO_OK);
  MUST(kaio_free(r->device, y_data) == KAIO_OK);
}

static void products(rank_of* r, kaio_peer_workspace* workspace) {
  int64_t own_rows[2] = {tokens, hidden}, weights[2] = {hidden, wide}, all[2] = {2 * tokens, wide}, back[2] = {wide, hidden}, own[2] = {tokens, hidden}, whole[2] = {2 * tokens, hidden};
  void *x_data = filled(r, (float)(r->number + 1)), *w_data = filled(r, 0.5f), *h_data = filled(r, 0), *y_data = filled(r, 0);
  const DLTensor x = tensor_of(r->device, x_data, own_rows, 2), w = tensor_of(r->device, w_data, weights, 2), h = tensor_of(r->device, h_data, all, 2),
                 down = tensor_of(r->device, w_data, back, 2), y = tensor_of(r->device, y_data, own, 2), z = tensor_of(r->device, y_data, whole, 2);
  MUST(kaio_all_gather_matmul(workspace, NULL, &x, &w, &h, KAIO_GATHER_SCHEDULE_LAUNCHES, NULL) == KAIO_OK);
  MUST(holds(r, h_data, tokens * wide, hidden * 0.5f));
  MUST(kaio_all_gather_matmul(workspace, NULL, &x, &w, &h, KAIO_GATHER_SCHEDULE_ONE_LAUNCH, NULL) == KAIO_INVALID_ARGUMENT);
  MUST(strstr(kaio_last_error(), "f16") != NULL);
  MUST(kaio_matmul_reduce_scatter(workspace, NULL, &h, &down, &y, NULL) == KAIO_OK);
  MUST(holds(r, y_data, tokens * hidden, 2 * wide * 0.5f * hidden * 0.5f * (float)(r->number + 1)));
  MUST(kaio_matmul_all_reduce(workspace, NULL, &h, &down, &z, NULL) == KAIO_OK);
  MUST(holds(r, y_data, tokens * hidden, 2 * wide * 0.5f * hidden * 0.5f));
  MUST(kaio_free(r->device, x_data) == KAIO_OK);
  MUST(kaio_free(r->device, w_data) == KAIO_OK);
  MUST(kaio_free(r->device, h_data) == KAIO_OK);
  MUST(kaio_free(r->device, y_data) == KAIO_OK);
}

/* Two experts: row 0 of each rank is for expert 0, rows 1 to 3 for expert 1. */
static void experts(rank_of* r, kaio_peer_workspace* workspace) {
  const int32_t begins[3] = {0, 1, tokens};
  int32_t local[2] = {-1, -1};
  int64_t own_rows[2] = {tokens, hidden}, three[1] = {3}, two[1] = {2}, capacity[2] = {2 * tokens, hidden};
  void *x_data = filled(r, (float)(r->number + 1)), *offsets = filled(r, 0), *local_offsets = filled(r, 0), *received = NULL, *returned = NULL;
  kaio_peer_buffer *to = NULL, *back = NULL;
  DLTensor x = tensor_of(r->device, x_data, own_rows, 2), of_experts = tensor_of(r->device, offsets, three, 1), of_local = tensor_of(r->device, local_offsets, two, 1), z;
  of_experts.dtype = of_local.dtype = type_of(kDLInt, 32);
  MUST(kaio_copy_to_device(r->device, NULL, offsets, begins, sizeof begins) == KAIO_OK);
  MUST(kaio_peer_buffer_create(r->communicator, most * sizeof(float), &to) == KAIO_OK);
  MUST(kaio_peer_buffer_create(r->communicator, most * sizeof(float), &back) == KAIO_OK);
  MUST(kaio_peer_buffer_pointer(to, r->number, &received) == KAIO_OK);
  MUST(kaio_peer_buffer_pointer(back, r->number, &returned) == KAIO_OK);
  MUST(kaio_peer_buffer_pointer(back, 2, &returned) == KAIO_INVALID_ARGUMENT);
  MUST(kaio_send_to_experts(workspace, NULL, &x, NULL, &of_experts, to, &of_local) == KAIO_OK);
  MUST(kaio_copy_to_host(r->device, NULL, local, local_offsets, sizeof local) == KAIO_OK);
  MUST(kaio_stream_synchronize(r->device, NULL) == KAIO_OK);
  MUST(local[0] == 0 && local[1] == (r->number == 0 ? 2 : 6));
  MUST(holds(r, received, r->number == 0 ? hidden : 3 * hidden, 1)); /* of rank 0 first */
  z = tensor_of(r->device, received, capacity, 2);
  MUST(kaio_return_from_experts(workspace, NULL, &z, &of_experts, back) == KAIO_OK);
  MUST(holds(r, returned, tokens * hidden, (float)(r->number + 1)));
  MUST(kaio_peer_buffer_destroy(to) == KAIO_OK);
  MUST(kaio_peer_buffer_destroy(back) == KAIO_OK);
  MUST(kaio_free(r->device, x_data) == KAIO_OK);
  MUST(kaio_free(r->device, offsets) == KAIO_OK);
  MUST(kaio_free(r->device, local_offsets) == KAIO_OK);
}

static void peer_memory(rank_of* r) {
  kaio_peer_workspace* workspace = NULL;
  kaio_peer_workspace_options options = kaio_peer_workspace_options_default();
  options.sum_bytes = 4096;
  options.one_shot_bytes = 1024;
  options.product_bytes = 65536;
  options.blocks = 2;
  MUST(kaio_peer_workspace_create(r->communicator, &options, &workspace) == KAIO_OK);
  if (workspace == NULL) return;
  sums_by_peers(r, workspace);
  products(r, workspace);
  experts(r, workspace);
  MUST(kaio_peer_workspace_destroy(workspace) == KAIO_OK);
}

static void* run(void* given) {
  rank_of* const r = given;
  int64_t shape[1] = {4};
  void* data = NULL;
  sums(r);
  peer_memory(r);
  attention(r, 0);
  attention(r, 1);
  MUST(kaio_allocate(r->device, 16, &data) == KAIO_OK);
  if (r->by_program) {
    const DLTensor x = tensor_of(r->device, data, shape, 1);
    r->gathers_fail = r->number == 0;
    MUST(kaio_communicator_all_reduce(r->communicator, NULL, &x, &x) == KAIO_COMMUNICATION_FAILED);
    MUST(strstr(kaio_last_error(), "gather failed with 1") != NULL);
    r->gathers_fail = 0;
    MUST(kaio_communicator_all_reduce(r->communicator, NULL, &x, &x) == KAIO_COMMUNICATION_FAILED);
  } else if (r->number == 0) {
    MUST(kaio_communicator_abort(r->communicator, "enough") == KAIO_OK);
  } else {
    const DLTensor x = tensor_of(r->device, data, shape, 1);
    MUST(kaio_communicator_all_reduce(r->communicator, NULL, &x, &x) == KAIO_COMMUNICATION_FAILED);
    MUST(strstr(kaio_last_error(), "enough") != NULL);
  }
  MUST(kaio_free(r->device, data) == KAIO_OK);
  return NULL;
}

static void run_both(rank_of* ranks) {
  int i;
  for (i = 0; i < 2; ++i) CHECK(pthread_create(&ranks[i].thread, NULL, run, &ranks[i]) == 0);
  for (i = 0; i < 2; ++i) {
    CHECK(pthread_join(ranks[i].thread, NULL) == 0);
    failures += ranks[i].failures;
    SUCCEEDS(kaio_communicator_destroy(ranks[i].communicator));
  }
}

/* A rank of a group that the program connects; it has memory of all ranks only if `direct`. */
static kaio_communicator* rank_by_program(rank_of* r, int direct) {
  kaio_communicator_means means = kaio_communicator_means_default();
  kaio_communicator_options options = kaio_communicator_options_default();
  kaio_communicator* made = NULL;
  means.data = r;
  means.gather = gather;
  means.allocate = direct ? allocate : NULL;
  means.release = direct ? give_back : NULL;
  options.time_limit = 20;
  SUCCEEDS(kaio_communicator_create_program(r->device, &means, 2, r->number, &options, &made));
  return made;
}

/* Without memory of all ranks there is no workspace, and no tensor moves. */
static void* run_without_memory(void* given) {
  rank_of* const r = given;
  kaio_peer_workspace* workspace = NULL;
  int64_t shape[1] = {4};
  void* data = NULL;
  MUST(kaio_allocate(r->device, 16, &data) == KAIO_OK);
  {
    const DLTensor x = tensor_of(r->device, data, shape, 1);
    MUST(kaio_communicator_all_reduce(r->communicator, NULL, &x, &x) == KAIO_UNSUPPORTED_DEVICE);
  }
  MUST(strstr(kaio_last_error(), "allocate") != NULL);
  MUST(kaio_peer_workspace_create(r->communicator, NULL, &workspace) == KAIO_UNSUPPORTED_DEVICE);
  MUST(kaio_free(r->device, data) == KAIO_OK);
  return NULL;
}

static void by_program(rank_of* ranks) {
  kaio_communicator_means means = kaio_communicator_means_default();
  kaio_communicator* refused = NULL;
  int i;
  for (i = 0; i < 2; ++i) {
    ranks[i].by_program = 1;
    ranks[i].failures = 0;
    ranks[i].communicator = rank_by_program(&ranks[i], 0);
    CHECK(pthread_create(&ranks[i].thread, NULL, run_without_memory, &ranks[i]) == 0);
  }
  for (i = 0; i < 2; ++i) {
    CHECK(pthread_join(ranks[i].thread, NULL) == 0);
    SUCCEEDS(kaio_communicator_destroy(ranks[i].communicator));
    ranks[i].communicator = rank_by_program(&ranks[i], 1);
  }
  run_both(ranks);
  CHECK(place.held == 0);
  REFUSED(kaio_communicator_create_program(ranks[0].device, &means, 2, 0, NULL, &refused), "communicator", "gather");
  means.gather = gather;
  means.allocate = allocate;
  REFUSED(kaio_communicator_create_program(ranks[0].device, &means, 2, 0, NULL, &refused), "communicator", "release");
  means.release = give_back;
  REFUSED(kaio_communicator_create_program(ranks[0].device, &means, 2, 2, NULL, &refused), "communicator", "rank");
  REFUSED(kaio_communicator_create_program(ranks[0].device, NULL, 2, 0, NULL, &refused), "communicator", "means");
}

int main(void) {
  const DLDevice devices[2] = {{kDLExtDev, 0}, {kDLExtDev, 1}};
  kaio_communicator* communicators[2] = {NULL, NULL};
  kaio_communicator_options options = kaio_communicator_options_default();
  rank_of ranks[2];
  uint8_t id[128];
  int i;
  memset(ranks, 0, sizeof ranks);
  options.time_limit = 20;
  SUCCEEDS(kaio_communicators_create(devices, 2, 1, &options, communicators));
  for (i = 0; i < 2; ++i) {
    ranks[i].number = i;
    ranks[i].device = devices[i];
    ranks[i].communicator = communicators[i];
  }
  run_both(ranks);
  by_program(ranks);
  SUCCEEDS(kaio_communicator_destroy(NULL));
  SUCCEEDS(kaio_peer_workspace_destroy(NULL));
  SUCCEEDS(kaio_peer_buffer_destroy(NULL));
  REFUSED(kaio_communicators_create(devices, 0, 1, NULL, communicators), "communicator", "devices");
  options.time_limit = -1;
  REFUSED(kaio_communicators_create(devices, 2, 1, &options, communicators), "communicator", "time_limit");
  (void)setenv("KAIO_NCCL_LIBRARY", "/nowhere/libnccl.so.2", 1);
  CHECK(kaio_nccl_create_id(id) == KAIO_UNSUPPORTED_DEVICE);
  return finish();
}
