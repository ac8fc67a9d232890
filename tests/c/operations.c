/* The C interface as a C99 program uses it: devices, memory, streams, products with every option, their gradients, norms.
 * Results are compared with sums in double precision. The device is the one that KAIO_DEVICE names. */
#include "support.h"

static DLDevice device;
static DLDataType f32;
static float x[MOST_ELEMENTS], y[MOST_ELEMENTS], z[MOST_ELEMENTS], w[MOST_ELEMENTS], got[MOST_ELEMENTS];

static double product(const float* a, const float* b, int64_t row, int64_t column, int64_t n, int64_t k) {
  double sum = 0;
  int64_t i;
  for (i = 0; i < k; ++i) sum += (double)a[row * k + i] * b[i * n + column];
  return sum;
}

static void check_product(const float* a, const float* b, const float* c, int64_t m, int64_t n, int64_t k) {
  int64_t row, column, wrong = 0;
  for (row = 0; row < m; ++row)
    for (column = 0; column < n; ++column) wrong += differ(c[row * n + column], product(a, b, row, column, n, k));
  CHECK(wrong == 0);
}

static void versions_and_statuses(void) {
  CHECK(strcmp(kaio_last_error(), "") == 0);
  CHECK(kaio_abi_version() == KAIO_ABI_VERSION);
  CHECK(kaio_version()[0] >= '0' && kaio_version()[0] <= '9');
  CHECK(strcmp(kaio_status_name(KAIO_OK), "ok") == 0);
  CHECK(strcmp(kaio_status_name(KAIO_UNSUPPORTED_FORMAT), "unsupported_format") == 0);
  CHECK(strcmp(kaio_status_name(-1), "unknown") == 0);
}

static void devices(void) {
  DLDevice other;
  int32_t count = -1;
  uint64_t free_bytes = 0, total_bytes = 0;
  kaio_device_properties properties = kaio_device_properties_default();
  SUCCEEDS(kaio_device_count(&count));
  CHECK(count >= 0);
  SUCCEEDS(kaio_device_properties_of(device, &properties));
  CHECK(properties.sm >= 70 && properties.multiprocessors > 0 && properties.name[0] != '\0');
  CHECK((properties.ordinal < 0) == (device.device_type == kDLExtDev));
  SUCCEEDS(kaio_memory_info(device, &free_bytes, &total_bytes));
  CHECK(total_bytes >= free_bytes && total_bytes == properties.total_memory);

  properties.size = 16; /* an older caller: the rest of its memory is not written */
  properties.multiprocessors = 12345;
  SUCCEEDS(kaio_device_properties_of(device, &properties));
  CHECK(properties.size == 16 && properties.multiprocessors == 12345);
  properties.size = 0;
  REFUSED(kaio_device_properties_of(device, &properties), "device_properties_of", "argument properties has size 0");

  SUCCEEDS(kaio_device_open("emulator:3", &other));
  CHECK(other.device_type == kDLExtDev && other.device_id == 3);
  SUCCEEDS(kaio_device_synchronize(other));
  SUCCEEDS(kaio_device_close(other));
  SUCCEEDS(kaio_device_close(other));
  REFUSED(kaio_device_open("gpu", &other), "'gpu'", "cuda:N");
  REFUSED(kaio_device_open("emulator:64", &other), "device (12, 64)", "0 to 63");
  REFUSED(kaio_device_open("emulator:16", &other), "emulator:16", "0 to 15");
  REFUSED(kaio_device_open("emulator", NULL), "argument device", "NULL");
  other.device_type = (DLDeviceType)4;
  REFUSED(kaio_device_synchronize(other), "device (4,", "kDLCUDA");
}

static void memory(void) {
  void *first = NULL, *second = NULL, *pinned = NULL, *none = &failures;
  int i;
  SUCCEEDS(kaio_allocate(device, 1000, &first));
  SUCCEEDS(kaio_allocate_uninitialised(device, 1000, &second));
  SUCCEEDS(kaio_allocate_host(device, 1000, &pinned));
  CHECK(first != NULL && (uintptr_t)first % 256 == 0 && second != NULL && pinned != NULL);
  for (i = 0; i < 250; ++i) got[i] = 1;
  SUCCEEDS(kaio_copy_to_host(device, NULL, got, first, 1000));
  SUCCEEDS(kaio_stream_synchronize(device, NULL));
  for (i = 0; i < 250; ++i) CHECK(got[i] == 0.0f);
  for (i = 0; i < 250; ++i) ((float*)pinned)[i] = (float)i;
  SUCCEEDS(kaio_copy_to_device(device, NULL, first, pinned, 1000));
  SUCCEEDS(kaio_copy_on_device(device, NULL, second, first, 1000));
  SUCCEEDS(kaio_fill(device, NULL, second, 0, 400));
  SUCCEEDS(kaio_copy_to_host(device, NULL, got, second, 1000));
  SUCCEEDS(kaio_stream_synchronize(device, NULL));
  for (i = 0; i < 250; ++i) CHECK(got[i] == (i < 100 ? 0.0f : (float)i));
  REFUSED(kaio_copy_to_host(device, NULL, NULL, second, 8), "copy_to_host", "NULL for 8 bytes");
  SUCCEEDS(kaio_copy_to_host(device, NULL, NULL, NULL, 0));

  SUCCEEDS(kaio_allocate(device, 0, &none));
  CHECK(none == NULL);
  SUCCEEDS(kaio_free(device, NULL));
  SUCCEEDS(kaio_free(device, first));
  REFUSED(kaio_free(device, first), "free", "free already");
  SUCCEEDS(kaio_free(device, second));
  SUCCEEDS(kaio_free_host(pinned));
  REFUSED(kaio_free_host(pinned), "free_host", "kaio_allocate_host");
  CHECK(kaio_allocate(device, (uint64_t)1 << 60, &first) == KAIO_OUT_OF_MEMORY);
}

static void streams_and_events(void) {
  kaio_stream* stream = NULL;
  kaio_event *begin = NULL, *end = NULL;
  int32_t done = -1;
  double milliseconds = -1;
  owned a, b, c;
  make(&a, device, f32, 8, 8, -1);
  make(&b, device, f32, 8, 8, -1);
  make(&c, device, f32, 8, 8, -1);
  fill(&a, x, 1);
  fill(&b, y, 2);
  SUCCEEDS(kaio_stream_create(device, &stream));
  SUCCEEDS(kaio_event_create(device, &begin));
  SUCCEEDS(kaio_event_create(device, &end));
  CHECK(kaio_stream_handle(stream) != NULL);
  CHECK(kaio_stream_handle(NULL) == NULL);
  REFUSED(kaio_event_elapsed(begin, end, &milliseconds), "elapsed", "record");
  SUCCEEDS(kaio_event_record(begin, kaio_stream_handle(stream)));
  SUCCEEDS(kaio_matmul(kaio_stream_handle(stream), &a.tensor, &b.tensor, &c.tensor, NULL));
  SUCCEEDS(kaio_event_record(end, kaio_stream_handle(stream)));
  SUCCEEDS(kaio_event_wait(end, NULL));
  SUCCEEDS(kaio_event_synchronize(end));
  SUCCEEDS(kaio_event_is_done(end, &done));
  CHECK(done == 1);
  SUCCEEDS(kaio_event_elapsed(begin, end, &milliseconds));
  CHECK(milliseconds >= 0);
  SUCCEEDS(kaio_stream_synchronize(device, kaio_stream_handle(stream)));
  SUCCEEDS(kaio_stream_is_done(device, kaio_stream_handle(stream), &done));
  CHECK(done == 1);
  fetch(&c, got);
  check_product(x, y, got, 8, 8, 8);
  SUCCEEDS(kaio_event_destroy(begin));
  SUCCEEDS(kaio_event_destroy(end));
  SUCCEEDS(kaio_event_destroy(NULL));
  SUCCEEDS(kaio_stream_destroy(stream));
  SUCCEEDS(kaio_stream_destroy(NULL));
  if (device.device_type == kDLExtDev)
    REFUSED(kaio_matmul(&failures, &a.tensor, &b.tensor, &c.tensor, NULL), "borrow", "stream");
  release(&a);
  release(&b);
  release(&c);
}

static void products(void) {
  const int64_t m = 9, n = 12, k = 20;
  int64_t row, column, wrong = 0;
  owned a, b, c, bias, residual, batch_a, batch_c;
  kaio_matmul_options options = kaio_matmul_options_default();
  DLTensor part;
  make(&a, device, f32, m, k, -1);
  make(&b, device, f32, k, n, -1);
  make(&c, device, f32, m, n, -1);
  make(&bias, device, f32, n, -1, -1);
  make(&residual, device, f32, m, n, -1);
  fill(&a, x, 3);
  fill(&b, y, 4);
  SUCCEEDS(kaio_matmul(NULL, &a.tensor, &b.tensor, &c.tensor, NULL));
  fetch(&c, got);
  check_product(x, y, got, m, n, k);

  fill(&bias, z, 5);
  fill(&residual, w, 6);
  options.alpha = 0.5f;
  options.beta = 2;
  options.activation = KAIO_MATMUL_ACTIVATION_RELU;
  options.precision = KAIO_MATMUL_PRECISION_IEEE;
  options.constant = KAIO_CONSTANT_INPUTS_A | KAIO_CONSTANT_INPUTS_B;
  options.bias = &bias.tensor;
  options.residual = &residual.tensor;
  SUCCEEDS(kaio_matmul(NULL, &a.tensor, &b.tensor, &c.tensor, &options));
  fetch(&c, got);
  for (row = 0; row < m; ++row)
    for (column = 0; column < n; ++column) {
      const double exact = product(x, y, row, column, n, k), sum = 0.5 * exact + 2 * exact + z[column];
      wrong += differ(got[row * n + column], (sum > 0 ? sum : 0) + w[row * n + column]);
    }
  CHECK(wrong == 0);

  /* B by columns, C a part of a larger matrix, a bias of rows */
  options = kaio_matmul_options_default();
  part = bias.tensor;
  bias.shape[0] = m;
  options.bias = &part;
  options.bias_of_rows = 1;
  b.shape[0] = 4; /* rows 1 to 4 of B are the columns of a 12 x 4 operand */
  part = bias.tensor;
  {
    DLTensor columns = b.tensor;
    int64_t shape[2], strides[2];
    owned narrow;
    shape[0] = n;
    shape[1] = 4;
    strides[0] = 1;
    strides[1] = n;
    columns.shape = shape;
    columns.strides = strides;
    columns.byte_offset = (uint64_t)n * sizeof(float);
    make(&narrow, device, f32, m, n, -1);
    fill(&narrow, x, 7);
    c.shape[1] = 4;
    c.strides[0] = n;
    c.tensor.strides = c.strides;
    SUCCEEDS(kaio_matmul(NULL, &narrow.tensor, &columns, &c.tensor, &options));
    c.shape[1] = n;
    fetch(&c, got);
    wrong = 0;
    for (row = 0; row < m; ++row)
      for (column = 0; column < 4; ++column) {
        double sum = z[row];
        int64_t i;
        for (i = 0; i < n; ++i) sum += (double)x[row * n + i] * y[(column + 1) * n + i];
        wrong += differ(got[row * n + column], sum);
      }
    CHECK(wrong == 0);
    release(&narrow);
  }

  /* a batch that shares B */
  b.shape[0] = k;
  make(&batch_a, device, f32, 2, m, k);
  make(&batch_c, device, f32, 2, m, n);
  fill(&batch_a, x, 8);
  SUCCEEDS(kaio_matmul(NULL, &batch_a.tensor, &b.tensor, &batch_c.tensor, NULL));
  fetch(&batch_c, got);
  check_product(x, y, got, 2 * m, n, k);
  release(&batch_a);
  release(&batch_c);
  release(&a);
  release(&b);
  release(&c);
  release(&bias);
  release(&residual);
}

static void queries(void) {
  const int64_t m = 8, n = 16, k = 4096;
  owned a, b, c, memory_of_c;
  uint64_t bytes = 0;
  kaio_matmul_options options = kaio_matmul_options_default();
  kaio_kernel_choice choice = kaio_kernel_choice_default();
  kaio_tune_options how = kaio_tune_options_default();
  kaio_tune_report report = kaio_tune_report_default();
  make(&a, device, f32, m, k, -1);
  make(&b, device, f32, k, n, -1);
  make(&c, device, f32, m, n, -1);
  fill(&a, x, 9);
  fill(&b, y, 10);
  SUCCEEDS(kaio_matmul_workspace_bytes(&a.tensor, &b.tensor, &c.tensor, NULL, &bytes));
  make(&memory_of_c, device, type_of(kDLUInt, 8), (int64_t)bytes, -1, -1);
  options.workspace = &memory_of_c.tensor;
  SUCCEEDS(kaio_matmul_choice(&a.tensor, &b.tensor, &c.tensor, &options, &choice));
  CHECK(choice.splits > 1 && choice.name[0] != '\0' && choice.size == sizeof choice);
  CHECK((bytes > 0) == (choice.in_cluster == 0)); /* splits that are no cluster meet in the workspace */
  SUCCEEDS(kaio_matmul_warmup(&a.tensor, &b.tensor, &c.tensor, &options));
  SUCCEEDS(kaio_matmul(NULL, &a.tensor, &b.tensor, &c.tensor, &options));
  fetch(&c, got);
  check_product(x, y, got, m, n, k);
  options.variant = choice.name;
  SUCCEEDS(kaio_matmul(NULL, &a.tensor, &b.tensor, &c.tensor, &options));
  options.variant = "no_such_kernel";
  REFUSED(kaio_matmul(NULL, &a.tensor, &b.tensor, &c.tensor, &options), "matmul", "no_such_kernel");
  memory_of_c.shape[0] = 16;
  options.variant = choice.name;
  if (bytes > 16) REFUSED(kaio_matmul(NULL, &a.tensor, &b.tensor, &c.tensor, &options), "matmul", choice.name);

  a.shape[1] = b.shape[0] = 16; /* few, small kernels are measured */
  how.repetitions = 1;
  how.remember = how.use_files = 0;
  SUCCEEDS(kaio_tune_matmul(&a.tensor, &b.tensor, &c.tensor, NULL, &how, &report));
  CHECK(report.variant[0] != '\0' && report.variant_before[0] != '\0' && report.seconds > 0 && report.saved == 0);
  CHECK(report.seconds <= report.seconds_before);
  release(&a);
  release(&b);
  release(&c);
  release(&memory_of_c);
}

/* A call is recorded, and replayed with other numbers in its memory. */
static void graphs(void) {
  kaio_stream* stream = NULL;
  kaio_capture* capture = NULL;
  kaio_graph* graph = NULL;
  owned a, b, c;
  make(&a, device, f32, 8, 8, -1);
  make(&b, device, f32, 8, 8, -1);
  make(&c, device, f32, 8, 8, -1);
  fill(&a, x, 51);
  fill(&b, y, 52);
  SUCCEEDS(kaio_stream_create(device, &stream));
  SUCCEEDS(kaio_matmul_warmup(&a.tensor, &b.tensor, &c.tensor, NULL));
  SUCCEEDS(kaio_capture_begin(device, kaio_stream_handle(stream), &capture));
  SUCCEEDS(kaio_matmul(kaio_stream_handle(stream), &a.tensor, &b.tensor, &c.tensor, NULL));
  SUCCEEDS(kaio_capture_end(capture, &graph));
  fetch(&c, got);
  CHECK(got[0] == 0.0f && got[63] == 0.0f);
  fill(&a, x, 53);
  SUCCEEDS(kaio_graph_launch(graph, kaio_stream_handle(stream)));
  SUCCEEDS(kaio_stream_synchronize(device, kaio_stream_handle(stream)));
  fetch(&c, got);
  check_product(x, y, got, 8, 8, 8);
  SUCCEEDS(kaio_graph_destroy(graph));
  SUCCEEDS(kaio_capture_begin(device, kaio_stream_handle(stream), &capture));
  SUCCEEDS(kaio_capture_end(capture, NULL));
  REFUSED(kaio_capture_end(NULL, &graph), "argument capture", "NULL");
  SUCCEEDS(kaio_stream_destroy(stream));
  release(&a);
  release(&b);
  release(&c);
}

static void lists(void) {
  owned a[3], b[3], c[3];
  DLTensor all_a[3], all_b[3], all_c[3];
  float host_a[3][64], host_b[3][64];
  int i;
  for (i = 0; i < 3; ++i) {
    const int64_t m = 2 + i, n = 5 - i, k = 3 + 2 * i;
    make(&a[i], device, f32, m, k, -1);
    make(&b[i], device, f32, k, n, -1);
    make(&c[i], device, f32, m, n, -1);
    fill(&a[i], host_a[i], 11u + (unsigned)i);
    fill(&b[i], host_b[i], 21u + (unsigned)i);
    all_a[i] = a[i].tensor;
    all_b[i] = b[i].tensor;
    all_c[i] = c[i].tensor;
  }
  SUCCEEDS(kaio_matmul_batch(NULL, 3, all_a, all_b, all_c, NULL));
  SUCCEEDS(kaio_matmul_batch(NULL, 0, NULL, NULL, NULL, NULL));
  REFUSED(kaio_matmul_batch(NULL, 3, all_a, NULL, all_c, NULL), "matmul_batch", "argument b");
  for (i = 0; i < 3; ++i) {
    fetch(&c[i], got);
    check_product(host_a[i], host_b[i], got, 2 + i, 5 - i, 3 + 2 * i);
    release(&a[i]);
    release(&b[i]);
    release(&c[i]);
  }
}

static void gradients(void) {
  const int64_t m = 6, n = 7, k = 5;
  int64_t row, column, i, wrong = 0;
  uint64_t bytes = 1;
  owned dc, a, b, da, db;
  kaio_matmul_backward_options options = kaio_matmul_backward_options_default();
  make(&dc, device, f32, m, n, -1);
  make(&a, device, f32, m, k, -1);
  make(&b, device, f32, k, n, -1);
  make(&da, device, f32, m, k, -1);
  make(&db, device, f32, k, n, -1);
  fill(&dc, x, 31);
  fill(&a, y, 32);
  fill(&b, z, 33);
  SUCCEEDS(kaio_matmul_backward_workspace_bytes(&dc.tensor, &a.tensor, &bytes));
  CHECK(bytes == 0);
  SUCCEEDS(kaio_matmul_backward(NULL, &dc.tensor, &a.tensor, &b.tensor, &da.tensor, &db.tensor, NULL));
  options.alpha = 2;
  options.accumulate = 1;
  SUCCEEDS(kaio_matmul_backward(NULL, &dc.tensor, &a.tensor, &b.tensor, &da.tensor, NULL, &options));
  fetch(&da, got);
  for (row = 0; row < m; ++row)
    for (column = 0; column < k; ++column) {
      double sum = 0;
      for (i = 0; i < n; ++i) sum += (double)x[row * n + i] * z[column * n + i];
      wrong += differ(got[row * k + column], 3 * sum);
    }
  fetch(&db, got);
  for (row = 0; row < k; ++row)
    for (column = 0; column < n; ++column) {
      double sum = 0;
      for (i = 0; i < m; ++i) sum += (double)y[i * k + row] * x[i * n + column];
      wrong += differ(got[row * n + column], sum);
    }
  CHECK(wrong == 0);
  release(&dc);
  release(&a);
  release(&b);
  release(&da);
  release(&db);
}

static void norms(void) {
  const int64_t rows = 3, size = 40;
  int64_t row, i, wrong = 0;
  static signed char codes_of[MOST_ELEMENTS];
  float scales_of[3], groups_of[3];
  owned input, weight, out, residual, codes, scales, groups;
  kaio_rms_norm_options options = kaio_rms_norm_options_default();
  make(&input, device, f32, rows, size, -1);
  make(&weight, device, f32, size, -1, -1);
  make(&out, device, f32, rows, size, -1);
  make(&residual, device, f32, rows, size, -1);
  make(&codes, device, type_of(kDLInt, 8), rows, size, -1);
  make(&scales, device, f32, rows, -1, -1);
  make(&groups, device, f32, rows, 1, -1);
  fill(&input, x, 41);
  fill(&weight, y, 42);
  fill(&residual, z, 43);
  options.weight_offset = 1;
  options.residual = &residual.tensor;
  options.residual_out = &residual.tensor;
  SUCCEEDS(kaio_rms_norm_warmup(&input.tensor, &weight.tensor, &out.tensor, &options));
  SUCCEEDS(kaio_rms_norm(NULL, &input.tensor, &weight.tensor, &out.tensor, &options));
  fetch(&out, got);
  for (row = 0; row < rows; ++row) {
    double squares = 0;
    for (i = 0; i < size; ++i) {
      const double h = (double)x[row * size + i] + z[row * size + i];
      squares += h * h;
    }
    for (i = 0; i < size; ++i) {
      const double h = (double)x[row * size + i] + z[row * size + i];
      w[row * size + i] = (float)(h / sqrt(squares / (double)size + 1e-6) * (1.0 + y[i]));
      wrong += differ(got[row * size + i], w[row * size + i]);
    }
  }
  CHECK(wrong == 0);

  SUCCEEDS(kaio_copy_to_device(device, NULL, residual.tensor.data, z, (uint64_t)(rows * size) * sizeof(float)));
  SUCCEEDS(kaio_rms_norm_codes(NULL, &input.tensor, &weight.tensor, &codes.tensor, &scales.tensor, 0, &options));
  fetch(&codes, codes_of);
  fetch(&scales, scales_of);
  for (i = 0; i < rows * size; ++i) wrong += fabs(codes_of[i] * scales_of[i / size] - w[i]) > 0.51 * scales_of[i / size];
  SUCCEEDS(kaio_copy_to_device(device, NULL, residual.tensor.data, z, (uint64_t)(rows * size) * sizeof(float)));
  SUCCEEDS(kaio_rms_norm_codes(NULL, &input.tensor, &weight.tensor, &codes.tensor, &groups.tensor, 0, &options));
  fetch(&groups, groups_of);  /* of one block, which is the row */
  for (i = 0; i < rows; ++i) wrong += groups_of[i] != scales_of[i];
  SUCCEEDS(kaio_copy_to_device(device, NULL, residual.tensor.data, z, (uint64_t)(rows * size) * sizeof(float)));
  SUCCEEDS(kaio_rms_norm_codes(NULL, &input.tensor, &weight.tensor, &codes.tensor, NULL, 0.0625f, &options));
  fetch(&codes, codes_of);
  for (i = 0; i < rows * size; ++i) wrong += fabs(w[i]) < 7.9 && fabs(codes_of[i] * 0.0625 - w[i]) > 0.51 * 0.0625;
  CHECK(wrong == 0);
  REFUSED(kaio_rms_norm_codes(NULL, &input.tensor, &weight.tensor, &codes.tensor, NULL, 0, NULL), "rms_norm", "scale");
  REFUSED(kaio_rms_norm_codes(NULL, &input.tensor, &weight.tensor, &codes.tensor, &out.tensor, 0, NULL), "argument scales",
          "the blocks of 128 elements");
  REFUSED(kaio_rms_norm(NULL, &input.tensor, &weight.tensor, &codes.tensor, NULL), "argument out", "f32, f16 or bf16");
  weight.tensor.dtype = type_of(kDLFloat, 16);
  REFUSED(kaio_rms_norm(NULL, &input.tensor, &weight.tensor, &out.tensor, NULL), "rms_norm", "argument weight");
  release(&input);
  release(&weight);
  release(&out);
  release(&residual);
  release(&codes);
  release(&scales);
  release(&groups);
}

/* Every misuse is refused before anything runs, and named. */
static void misuse(void) {
  owned a, b, c;
  DLTensor bad;
  DLDevice other;
  int64_t strides[2] = {-4, 1}, shape[2] = {4, -1};
  struct {
    kaio_matmul_options options;
    uint64_t more;
  } newer;
  kaio_matmul_options options = kaio_matmul_options_default();
  make(&a, device, f32, 4, 4, -1);
  make(&b, device, f32, 4, 4, -1);
  make(&c, device, f32, 4, 4, -1);
#define WITH_A(change, text) \
  bad = a.tensor; \
  change; \
  REFUSED(kaio_matmul(NULL, &bad, &b.tensor, &c.tensor, NULL), "matmul: argument a", text)
  REFUSED(kaio_matmul(NULL, NULL, &b.tensor, &c.tensor, NULL), "matmul: argument a", "NULL");
  REFUSED(kaio_matmul(NULL, &a.tensor, &b.tensor, NULL, NULL), "matmul: argument c", "NULL");
  WITH_A(bad.ndim = 0, "0 dimensions");
  WITH_A(bad.ndim = -1, "-1 dimensions");
  WITH_A(bad.ndim = 9, "2 to 3");
  WITH_A(bad.shape = NULL, "no shape");
  WITH_A(bad.shape = shape, "extents are 0 or more");
  WITH_A(bad.strides = strides, "strides are 0 or more");
  WITH_A(bad.dtype = type_of(kDLFloat, 64), "f64; it takes f32, f16, bf16, e4m3 or e5m2");
  WITH_A(bad.dtype = type_of(17, 4), "code 17 of 4 bits");
  WITH_A(bad.dtype.lanes = 2, "2 lanes");
  WITH_A(bad.data = (char*)bad.data + 2, "align");
  WITH_A(bad.byte_offset = 1, "align");
  WITH_A(bad.data = NULL, "address 0");
  bad = a.tensor;
  bad.device.device_type = (DLDeviceType)4;
  REFUSED(kaio_matmul(NULL, &bad, &b.tensor, &c.tensor, NULL), "a is on device (4,", "kDLExtDev");
  SUCCEEDS(kaio_device_open("emulator:5", &other));
  bad = b.tensor;
  bad.device = other;
  REFUSED(kaio_matmul(NULL, &a.tensor, &bad, &c.tensor, NULL), "arguments a and b", "different devices");
  options.bias = &bad;
  REFUSED(kaio_matmul(NULL, &a.tensor, &b.tensor, &c.tensor, &options), "arguments a and bias", "different devices");
  REFUSED(kaio_matmul(NULL, &a.tensor, &b.tensor, &a.tensor, NULL), "output c", "argument a");
  bad = b.tensor;
  bad.dtype = type_of(kDLFloat, 16);
  REFUSED(kaio_matmul(NULL, &a.tensor, &bad, &c.tensor, NULL), "argument b", "f16, and a of f32");

#define WITH_OPTIONS(change, one, other_text) \
  options = kaio_matmul_options_default(); \
  change; \
  REFUSED(kaio_matmul(NULL, &a.tensor, &b.tensor, &c.tensor, &options), one, other_text)
  WITH_OPTIONS(options.size = 0, "argument options has size 0", "sizeof");
  WITH_OPTIONS(options.size = 12, "argument options has size 12", "sizeof");
  WITH_OPTIONS(options.size = 1u << 30, "argument options has size", "sizeof");
  WITH_OPTIONS(options.activation = 5, "argument activation is 5", "named constants");
  WITH_OPTIONS(options.activation = -1, "argument activation is -1", "named constants");
  WITH_OPTIONS(options.precision = 3, "argument precision is 3", "named constants");
  WITH_OPTIONS(options.constant = 8, "argument constant is 8", "named constants");
  WITH_OPTIONS(options.bias_of_rows = 2, "argument bias_of_rows is 2", "0 or 1");
  WITH_OPTIONS(options.reserved_28 = 1, "argument reserved_28 is 1", "0");
  WITH_OPTIONS(options.bias = &a.tensor, "argument bias has", "4");
  bad = a.tensor;
  bad.strides = c.strides;
  c.strides[0] = 8;
  WITH_OPTIONS(options.workspace = &bad, "argument workspace has gaps", "follow each other");
  c.strides[0] = 4;

  /* a newer caller: what the library does not know has to be 0 */
  newer.options = kaio_matmul_options_default();
  newer.options.size = sizeof newer;
  newer.more = 0;
  SUCCEEDS(kaio_matmul(NULL, &a.tensor, &b.tensor, &c.tensor, &newer.options));
  newer.more = 1;
  REFUSED(kaio_matmul(NULL, &a.tensor, &b.tensor, &c.tensor, &newer.options), "argument options", "does not know");

  /* nothing to do */
  a.shape[0] = c.shape[0] = 0;
  bad = a.tensor;
  bad.data = NULL;
  SUCCEEDS(kaio_matmul(NULL, &bad, &b.tensor, &c.tensor, NULL));
  SUCCEEDS(kaio_device_close(other));
  release(&a);
  release(&b);
  release(&c);
}

/* Memory of the CPU, which the emulator uses in place: operands that are columns of one array, and an output between them. */
static void memory_of_the_cpu(void) {
  enum { rows = 6, k = 4, n = 5, width = k + n };
  float both[rows * width], b_values[k * n];
  int64_t a_shape[2] = {rows, k}, b_shape[2] = {k, n}, c_shape[2] = {rows, n}, strides[2] = {width, 1};
  DLTensor a, b, c;
  kaio_stream* stream = NULL;
  kaio_capture* capture = NULL;
  DLDevice emulator;
  int i, j, l;
  memset(&a, 0, sizeof a);
  a.device.device_type = kDLCPU;
  a.dtype = f32;
  a.ndim = 2;
  b = c = a;
  for (i = 0; i < rows; ++i)
    for (j = 0; j < width; ++j) both[i * width + j] = j < k ? (float)(i - j) : -1000.0f;
  for (i = 0; i < k * n; ++i) b_values[i] = (float)(i % 7);
  a.data = both;
  a.shape = a_shape;
  a.strides = strides;
  b.data = b_values;
  b.shape = b_shape;
  c.data = both;
  c.byte_offset = k * sizeof(float);
  c.shape = c_shape;
  c.strides = strides;
  SUCCEEDS(kaio_matmul(NULL, &a, &b, &c, NULL));
  for (i = 0; i < rows; ++i)
    for (j = 0; j < n; ++j) {
      float sum = 0;
      for (l = 0; l < k; ++l) sum += (float)(i - l) * b_values[l * n + j];
      CHECK(both[i * width + k + j] == sum);
    }
  CHECK(both[0] == 0 && both[k - 1] == (float)(1 - k));

  /* a graph outlives the call, and the memory need not */
  SUCCEEDS(kaio_device_open("emulator", &emulator));
  SUCCEEDS(kaio_stream_create(emulator, &stream));
  SUCCEEDS(kaio_capture_begin(emulator, kaio_stream_handle(stream), &capture));
  REFUSED(kaio_matmul(kaio_stream_handle(stream), &a, &b, &c, NULL), "argument a is memory of the CPU", "graph");
  SUCCEEDS(kaio_capture_end(capture, NULL));
  SUCCEEDS(kaio_stream_destroy(stream));
}

int main(void) {
  versions_and_statuses();
  f32 = type_of(kDLFloat, 32);
  if (kaio_device_open(NULL, &device) != KAIO_OK) {
    fprintf(stderr, "%s\n", kaio_last_error());
    return 1;
  }
  devices();
  memory();
  streams_and_events();
  products();
  queries();
  graphs();
  lists();
  gradients();
  norms();
  misuse();
  memory_of_the_cpu();
  return finish();
}
