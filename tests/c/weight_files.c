/* Weight files from C: a GGUF and a safetensors file that this program writes. It takes a folder for them. */
#include "tensors.h"

static unsigned char file[8192];
static size_t length;
static char path[2048], other_path[2048];

static void append(const void* bytes, size_t count) {
  memcpy(file + length, bytes, count);
  length += count;
}
/* Little endian, as this machine. */
static void u32(uint32_t value) { append(&value, 4); }
static void u64(uint64_t value) { append(&value, 8); }
static void text(const char* value) {
  u64(strlen(value));
  append(value, strlen(value));
}

static const char* write_to(const char* folder, const char* name, size_t count) {
  FILE* to;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  to = fopen(path, "wb");
  CHECK(to != NULL);
  if (to == NULL) return path;
  CHECK(fwrite(file, 1, count, to) == count);
  fclose(to);
  return path;
}

/* Two tensors: "norm" {3} of f32, and "w" {2, 32} of Q8_0 with scales 0.5. */
static void make_gguf(void) {
  const float norm[3] = {1, -2, 0.5f};
  unsigned char block[34] = {0, 0x38};
  int i;
  for (i = 0; i < 32; ++i) block[2 + i] = (unsigned char)i;
  length = 0;
  append("GGUF", 4);
  u32(3);
  u64(2); /* tensors */
  u64(5); /* values */
  text("general.name");
  u32(8);
  text("a model");
  text("llama.block_count");
  u32(4);
  u32(7);
  text("llama.offset");
  u32(5);
  u32((uint32_t)-3);
  text("llama.scaled");
  u32(7);
  append("\1", 1);
  text("tokens");
  u32(9);
  u32(8);
  u64(2);
  text("a");
  text("bc");
  text("norm");
  u32(1);
  u64(3);
  u32(0);
  u64(0);
  text("w");
  u32(2);
  u64(32);
  u64(2);
  u32(8);
  u64(32);
  while (length % 32 != 0) append("", 1);
  append(norm, sizeof norm);
  while (length % 32 != 0) append("", 1);
  append(block, sizeof block);
  append(block, sizeof block);
}

static void gguf(const char* folder) {
  kaio_weights* weights = NULL;
  kaio_weights_info info = kaio_weights_info_default();
  kaio_weights_tensor tensor = kaio_weights_tensor_default();
  kaio_weights_value value = kaio_weights_value_default();
  kaio_w8_weights shape = kaio_w8_weights_default();
  uint64_t index = 5;
  int32_t format = -1;
  float values[32];
  size_t whole;
  make_gguf();
  whole = length;
  SUCCEEDS(kaio_weights_open(write_to(folder, "model.gguf", whole), &weights));
  SUCCEEDS(kaio_weights_describe(weights, &info));
  CHECK(info.kind == KAIO_WEIGHTS_KIND_GGUF && info.version == 3 && info.alignment == 32);
  CHECK(info.tensors == 2 && info.metadata == 5 && info.files == 1);
  SUCCEEDS(kaio_weights_tensor_at(weights, 0, &tensor));
  CHECK(strcmp(tensor.name, "norm") == 0 && tensor.name_bytes == 4 && tensor.rank == 1 && tensor.shape[0] == 3);
  CHECK(tensor.format == KAIO_WEIGHT_FORMAT_F32 && tensor.elements == 3 && tensor.bytes == 12 && tensor.has_values == 1);
  CHECK(strcmp(tensor.format_name, "F32") == 0 && strcmp(tensor.operation, "matmul") == 0 && strcmp(tensor.file, path) == 0);
  CHECK(tensor.tensor->dtype.code == kDLFloat && tensor.tensor->dtype.bits == 32 && tensor.tensor->ndim == 1);
  CHECK(tensor.tensor->device.device_type == kDLCPU && tensor.tensor->data == tensor.data && tensor.tensor->shape[0] == 3);
  memcpy(values, tensor.data, 12);
  CHECK(values[0] == 1 && values[1] == -2 && values[2] == 0.5f);

  SUCCEEDS(kaio_weights_find(weights, "w", &index));
  CHECK(index == 1);
  SUCCEEDS(kaio_weights_tensor_at(weights, index, &tensor));
  CHECK(tensor.format == KAIO_WEIGHT_FORMAT_Q8_0 && tensor.rank == 2 && tensor.shape[0] == 2 && tensor.shape[1] == 32);
  CHECK(tensor.block_elements == 32 && tensor.block_bytes == 34 && tensor.bytes == 68);
  CHECK(tensor.tensor->dtype.code == kDLUInt && tensor.tensor->ndim == 1 && tensor.tensor->shape[0] == 68);
  SUCCEEDS(kaio_block_format_named(tensor.format_name, &format));
  CHECK(format == KAIO_BLOCK_FORMAT_Q8_0);
  SUCCEEDS(kaio_w8_weights_of_blocks(format, tensor.shape[0], tensor.shape[1], &shape));
  CHECK(shape.n == 2 && shape.k == 32);
  SUCCEEDS(kaio_weights_read_values(weights, index, 32, 32, values));
  CHECK(values[0] == 0 && values[31] == 15.5f);
  SUCCEEDS(kaio_weights_read_values(weights, index, 64, 0, NULL));
  REFUSED(kaio_weights_read_values(weights, index, 33, 32, values), "'w'", "has 64 elements");
  REFUSED(kaio_weights_read_values(weights, 2, 0, 1, values), "argument index is 2", "2 tensors");
  REFUSED(kaio_weights_read_values(weights, 1, 0, 1, NULL), "argument to", "NULL");
  SUCCEEDS(kaio_weights_find(weights, "none", &index));
  CHECK(index == UINT64_MAX);
  REFUSED(kaio_weights_tensor_at(weights, index, &tensor), "argument index", "2 tensors");
  tensor.size = 4;
  REFUSED(kaio_weights_tensor_at(weights, 0, &tensor), "argument tensor has size 4", "sizeof");
  REFUSED(kaio_weights_tensor_at(NULL, 0, &tensor), "argument weights", "NULL");

  SUCCEEDS(kaio_weights_find_value(weights, "general.name", &index));
  SUCCEEDS(kaio_weights_value_at(weights, index, &value));
  CHECK(value.type == KAIO_WEIGHTS_TYPE_STRING && strcmp(value.text, "a model") == 0 && value.text_bytes == 7);
  CHECK(strcmp(value.key, "general.name") == 0 && value.has_number == 0 && value.count == 1);
  SUCCEEDS(kaio_weights_value_at(weights, 1, &value));
  CHECK(value.has_natural == 1 && value.natural == 7 && value.number == 7 && value.text == NULL);
  SUCCEEDS(kaio_weights_value_at(weights, 2, &value));
  CHECK(value.has_natural == 0 && value.has_integer == 1 && value.integer == -3 && value.number == -3);
  SUCCEEDS(kaio_weights_value_at(weights, 3, &value));
  CHECK(value.type == KAIO_WEIGHTS_TYPE_BOOLEAN && value.boolean == 1);
  SUCCEEDS(kaio_weights_value_at(weights, 4, &value));
  CHECK(value.type == KAIO_WEIGHTS_TYPE_ARRAY && value.element == KAIO_WEIGHTS_TYPE_STRING && value.count == 2);
  CHECK(value.bytes == 19 && memcmp((const char*)value.data + 8, "a", 1) == 0);
  SUCCEEDS(kaio_weights_find_value(weights, "none", &index));
  CHECK(index == UINT64_MAX);
  REFUSED(kaio_weights_value_at(weights, 5, &value), "argument index is 5", "5 values");
  SUCCEEDS(kaio_weights_close(weights));

  /* in memory, damaged, and of another version */
  SUCCEEDS(kaio_weights_view(file, whole, "memory", &weights));
  tensor = kaio_weights_tensor_default();
  SUCCEEDS(kaio_weights_tensor_at(weights, 0, &tensor));
  CHECK(tensor.offset < whole && tensor.data == file + tensor.offset);
  SUCCEEDS(kaio_weights_close(weights));
  weights = NULL;
  CHECK(kaio_weights_view(file, whole - 1, "short", &weights) == KAIO_DAMAGED_FILE);
  CHECK(strstr(kaio_last_error(), "'short'") != NULL && strstr(kaio_last_error(), "'w'") != NULL && weights == NULL);
  file[4] = 9;
  CHECK(kaio_weights_open(write_to(folder, "version.gguf", whole), &weights) == KAIO_UNSUPPORTED_FORMAT);
  CHECK(strstr(kaio_last_error(), path) != NULL);
  snprintf(path, sizeof path, "%s/none.gguf", folder);
  CHECK(kaio_weights_open(path, &weights) == KAIO_UNREADABLE_FILE);
  CHECK(strstr(kaio_last_error(), path) != NULL && weights == NULL);
  REFUSED(kaio_weights_open(NULL, &weights), "argument path", "NULL");
  REFUSED(kaio_weights_open(path, NULL), "argument weights", "NULL");
  SUCCEEDS(kaio_weights_close(NULL));
}

/* A layer of GPTQ, 32 x 64 in groups of 32, and a norm. */
static void make_safetensors(void) {
  const char* header =
      "{\"__metadata__\":{\"format\":\"pt\"},\"norm\":{\"dtype\":\"BF16\",\"shape\":[64],\"data_offsets\":[0,128]},"
      "\"l.q.qweight\":{\"dtype\":\"I32\",\"shape\":[8,32],\"data_offsets\":[128,1152]},"
      "\"l.q.qzeros\":{\"dtype\":\"I32\",\"shape\":[2,4],\"data_offsets\":[1152,1184]},"
      "\"l.q.scales\":{\"dtype\":\"F16\",\"shape\":[2,32],\"data_offsets\":[1184,1312]}}";
  int i;
  length = 0;
  text(header);
  for (i = 0; i < 1312; ++i) append(i < 128 ? "\x80" : "\x37", 1);
}

static void safetensors(const char* folder) {
  kaio_weights* weights = NULL;
  kaio_weights_layers* layers = NULL;
  kaio_weights_info info = kaio_weights_info_default();
  kaio_weights_tensor tensor = kaio_weights_tensor_default();
  kaio_weights_value value = kaio_weights_value_default();
  kaio_weights_layers_info found = kaio_weights_layers_info_default();
  kaio_weights_layer layer = kaio_weights_layer_default();
  kaio_weights_layer_part part = kaio_weights_layer_part_default();
  const char* config = "{\"quantization_config\":{\"quant_method\":\"gptq\",\"bits\":4,\"group_size\":32,\"sym\":false}}";
  static unsigned char bytes[1024];
  uint64_t count = 0, index;
  make_safetensors();
  strcpy(other_path, write_to(folder, "model.safetensors", length));
  SUCCEEDS(kaio_weights_open(other_path, &weights));
  SUCCEEDS(kaio_weights_describe(weights, &info));
  CHECK(info.kind == KAIO_WEIGHTS_KIND_SAFETENSORS && info.tensors == 4 && info.metadata == 1 && info.version == 0);
  SUCCEEDS(kaio_weights_value_at(weights, 0, &value));
  CHECK(strcmp(value.key, "format") == 0 && strcmp(value.text, "pt") == 0 && value.type == KAIO_WEIGHTS_TYPE_STRING);
  SUCCEEDS(kaio_weights_find(weights, "norm", &index));
  SUCCEEDS(kaio_weights_tensor_at(weights, index, &tensor));
  CHECK(tensor.tensor->dtype.code == kDLBfloat && tensor.tensor->dtype.bits == 16 && tensor.format == KAIO_WEIGHT_FORMAT_BF16);

  length = 0;
  append(config, strlen(config));
  SUCCEEDS(kaio_weights_layers_open(weights, write_to(folder, "config.json", length), &layers));
  SUCCEEDS(kaio_weights_close(weights)); /* the layers keep the file */
  SUCCEEDS(kaio_weights_layers_describe(layers, &found));
  CHECK(found.layers == 1 && found.has_config == 1 && strcmp(found.method, "gptq") == 0 && found.bits == 4);
  CHECK(found.has_group == 1 && found.group == 32 && found.symmetric == 0);
  SUCCEEDS(kaio_weights_layer_at(layers, 0, &layer));
  CHECK(layer.scheme == KAIO_WEIGHT_SCHEME_GPTQ && strcmp(layer.scheme_name, "GPTQ") == 0 && strcmp(layer.name, "l.q") == 0);
  CHECK(layer.n == 32 && layer.k == 64 && layer.bits == 4 && layer.group == 32 && layer.act_order == 0 && layer.parts == 3);
  CHECK(strcmp(layer.problem, "") == 0 && strstr(layer.operation, "matmul_w4") != NULL && strcmp(layer.obstacle, "") == 0);
  for (index = 0; index < layer.parts; ++index) {
    SUCCEEDS(kaio_weights_part_at(layers, 0, index, &part));
    CHECK(part.part_name[0] != '\0' && part.tensor >= 1 && part.tensor <= 3);
  }
  SUCCEEDS(kaio_weights_part_bytes(layers, 0, KAIO_WEIGHT_PART_CODES, NULL, 0, &count));
  CHECK(count == 1024);
  SUCCEEDS(kaio_weights_part_bytes(layers, 0, KAIO_WEIGHT_PART_CODES, bytes, sizeof bytes, &count));
  CHECK(bytes[0] == 0x37 && bytes[1023] == 0x37);
  SUCCEEDS(kaio_weights_part_bytes(layers, 0, KAIO_WEIGHT_PART_GROUP_INDEX, NULL, 0, &count));
  CHECK(count == 0);
  REFUSED(kaio_weights_part_bytes(layers, 0, KAIO_WEIGHT_PART_CODES, bytes, 1000, &count), "1000 bytes", "1024");
  REFUSED(kaio_weights_part_bytes(layers, 0, 13, bytes, 1000, &count), "argument part is 13", "named constants");
  REFUSED(kaio_weights_part_at(layers, 0, 3, &part), "argument index is 3", "3 parts");
  REFUSED(kaio_weights_layer_at(layers, 1, &layer), "argument index is 1", "1 layers");
  SUCCEEDS(kaio_weights_layers_close(layers));
  SUCCEEDS(kaio_weights_layers_close(NULL));

  SUCCEEDS(kaio_weights_open(other_path, &weights));
  SUCCEEDS(kaio_weights_layers_open(weights, NULL, &layers));
  SUCCEEDS(kaio_weights_layers_describe(layers, &found));
  CHECK(found.has_config == 0 && found.layers == 1);
  SUCCEEDS(kaio_weights_layers_close(layers));
  file[0] = 'x';
  CHECK(kaio_weights_layers_open(weights, write_to(folder, "damaged.json", length), &layers) == KAIO_DAMAGED_FILE);
  CHECK(strstr(kaio_last_error(), "damaged.json") != NULL);
  SUCCEEDS(kaio_weights_close(weights));
}

int main(int count, char** words) {
  const char* folder = count > 1 ? words[1] : ".";
  gguf(folder);
  safetensors(folder);
  return finish();
}
