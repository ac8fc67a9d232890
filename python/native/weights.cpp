#include "weights.hpp"

#include <kaio/c/kaio.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "errors.hpp"
#include "tensors.hpp"

namespace kaio::python {

namespace {

nb::object text_of(const char* bytes, std::uint64_t count) {
  nb::object text = nb::steal(PyUnicode_DecodeUTF8(bytes, static_cast<Py_ssize_t>(count), "surrogateescape"));
  if (!text.is_valid()) throw nb::python_error();
  return text;
}
nb::object text_of(const char* bytes) { return bytes == nullptr ? nb::object(nb::str("")) : text_of(bytes, std::strlen(bytes)); }

// The mapped files of a model. Everything that points into them shares it, so that close() never leaves a view without memory.
struct mapped {
  kaio_weights* handle = nullptr;
  nb::object owner;  // of memory that the caller gave
  mapped() = default;
  mapped(const mapped&) = delete;
  mapped& operator=(const mapped&) = delete;
  ~mapped() { kaio_weights_close(handle); }
};

// The bytes of a tensor, as NumPy takes them.
struct bytes_in_file {
  std::shared_ptr<mapped> files;
  const void* data;
  std::uint64_t bytes;
};

nb::object number_of(const unsigned char* at, std::int32_t type) {
  const auto as = [at]<class T>(T value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (type) {
    case KAIO_WEIGHTS_TYPE_U8: return nb::int_(as(std::uint8_t{}));
    case KAIO_WEIGHTS_TYPE_I8: return nb::int_(as(std::int8_t{}));
    case KAIO_WEIGHTS_TYPE_U16: return nb::int_(as(std::uint16_t{}));
    case KAIO_WEIGHTS_TYPE_I16: return nb::int_(as(std::int16_t{}));
    case KAIO_WEIGHTS_TYPE_U32: return nb::int_(as(std::uint32_t{}));
    case KAIO_WEIGHTS_TYPE_I32: return nb::int_(as(std::int32_t{}));
    case KAIO_WEIGHTS_TYPE_U64: return nb::int_(as(std::uint64_t{}));
    case KAIO_WEIGHTS_TYPE_I64: return nb::int_(as(std::int64_t{}));
    case KAIO_WEIGHTS_TYPE_F32: return nb::float_(as(float{}));
    case KAIO_WEIGHTS_TYPE_F64: return nb::float_(as(double{}));
    default: return nb::bool_(*at != 0);
  }
}

std::size_t bytes_of(std::int32_t type) {
  switch (type) {
    case KAIO_WEIGHTS_TYPE_U8:
    case KAIO_WEIGHTS_TYPE_I8:
    case KAIO_WEIGHTS_TYPE_BOOLEAN: return 1;
    case KAIO_WEIGHTS_TYPE_U16:
    case KAIO_WEIGHTS_TYPE_I16: return 2;
    case KAIO_WEIGHTS_TYPE_U32:
    case KAIO_WEIGHTS_TYPE_I32:
    case KAIO_WEIGHTS_TYPE_F32: return 4;
    default: return 8;
  }
}

nb::object value_of(const kaio_weights_value& v) {
  if (v.type == KAIO_WEIGHTS_TYPE_STRING) return text_of(v.text, v.text_bytes);
  const auto* at = static_cast<const unsigned char*>(v.data);
  if (v.type != KAIO_WEIGHTS_TYPE_ARRAY) return number_of(at, v.type);
  nb::list list;
  if (v.element == KAIO_WEIGHTS_TYPE_ARRAY) {  // arrays of arrays: their bytes
    return nb::bytes(at, static_cast<std::size_t>(v.bytes));
  }
  for (std::uint64_t i = 0; i < v.count; ++i) {
    if (v.element == KAIO_WEIGHTS_TYPE_STRING) {
      std::uint64_t length = 0;
      std::memcpy(&length, at, sizeof length);
      list.append(text_of(reinterpret_cast<const char*>(at + 8), length));
      at += 8 + length;
    } else {
      list.append(number_of(at, v.element));
      at += bytes_of(v.element);
    }
  }
  return list;
}

// The quantised layers of a model.
class layers {
 public:
  layers(std::shared_ptr<mapped> files, const char* config) : files_(std::move(files)) {
    check(kaio_weights_layers_open(files_->handle, config, &handle_));
  }
  layers(const layers&) = delete;
  layers& operator=(const layers&) = delete;
  ~layers() { kaio_weights_layers_close(handle_); }

  nb::dict describe() const {
    kaio_weights_layers_info i = kaio_weights_layers_info_default();
    check(kaio_weights_layers_describe(handle_, &i));
    nb::dict d;
    d["layers"] = i.layers;
    d["has_config"] = i.has_config != 0;
    d["method"] = text_of(i.method);
    d["format"] = text_of(i.format);
    d["bits"] = i.bits;
    d["group"] = i.has_group ? nb::object(nb::int_(i.group)) : nb::none();
    d["act_order"] = i.act_order != 0;
    d["symmetric"] = i.symmetric < 0 ? nb::none() : nb::object(nb::bool_(i.symmetric != 0));
    d["block_rows"] = i.block_rows;
    d["block_columns"] = i.block_columns;
    d["per_layer"] = i.per_layer != 0;
    return d;
  }

  nb::dict layer(std::uint64_t index) const {
    kaio_weights_layer l = kaio_weights_layer_default();
    check(kaio_weights_layer_at(handle_, index, &l));
    nb::dict d;
    d["scheme_number"] = l.scheme;
    d["scheme_name"] = text_of(l.scheme_name);
    d["name"] = text_of(l.name);
    d["n"] = l.n;
    d["k"] = l.k;
    d["group"] = l.group;
    d["block_rows"] = l.block_rows;
    d["block_columns"] = l.block_columns;
    d["nested_group"] = l.nested_group;
    d["nested_offset"] = l.nested_offset;
    d["bits"] = l.bits;
    d["act_order"] = l.act_order != 0;
    d["problem"] = text_of(l.problem);
    d["operation"] = text_of(l.operation);
    d["obstacle"] = text_of(l.obstacle);
    nb::list parts;
    for (std::uint64_t p = 0; p < l.parts; ++p) {
      kaio_weights_layer_part part = kaio_weights_layer_part_default();
      check(kaio_weights_part_at(handle_, index, p, &part));
      parts.append(nb::make_tuple(part.part, text_of(part.part_name), part.tensor));
    }
    d["parts"] = parts;
    return d;
  }

  std::uint64_t part_bytes(std::uint64_t layer, std::int32_t part) const {
    std::uint64_t bytes = 0;
    check(kaio_weights_part_bytes(handle_, layer, part, nullptr, 0, &bytes));
    return bytes;
  }
  void read_part(std::uint64_t layer, std::int32_t part, std::uintptr_t to, std::uint64_t room) const {
    std::uint64_t bytes = 0;
    kaio_status status;
    {
      const nb::gil_scoped_release released;
      status = kaio_weights_part_bytes(handle_, layer, part, reinterpret_cast<void*>(to), room, &bytes);
    }
    check(status);
  }

 private:
  std::shared_ptr<mapped> files_;
  kaio_weights_layers* handle_ = nullptr;
};

// An open model.
class weight_file {
 public:
  explicit weight_file(std::shared_ptr<mapped> files) : files_(std::move(files)) {}

  static weight_file* open(const std::string& path) {
    auto files = std::make_shared<mapped>();
    kaio_status status;
    {
      const nb::gil_scoped_release released;
      status = kaio_weights_open(path.c_str(), &files->handle);
    }
    check(status);
    return new weight_file(std::move(files));
  }
  static weight_file* view(std::uintptr_t data, std::uint64_t bytes, const std::string& name, nb::object owner) {
    auto files = std::make_shared<mapped>();
    files->owner = std::move(owner);
    check(kaio_weights_view(reinterpret_cast<const void*>(data), bytes, name.c_str(), &files->handle));
    return new weight_file(std::move(files));
  }

  void close() noexcept { files_.reset(); }
  bool closed() const noexcept { return files_ == nullptr; }

  nb::dict describe() const {
    kaio_weights_info i = kaio_weights_info_default();
    check(kaio_weights_describe(handle(), &i));
    nb::dict d;
    d["kind"] = i.kind == KAIO_WEIGHTS_KIND_GGUF ? "gguf" : "safetensors";
    d["version"] = i.version;
    d["alignment"] = i.alignment;
    d["tensors"] = i.tensors;
    d["metadata"] = i.metadata;
    d["files"] = i.files;
    return d;
  }

  nb::dict tensor(std::uint64_t index) const {
    kaio_weights_tensor t = kaio_weights_tensor_default();
    check(kaio_weights_tensor_at(handle(), index, &t));
    nb::dict d;
    d["name"] = text_of(t.name, t.name_bytes);
    nb::list shape;
    for (std::int32_t i = 0; i < t.rank; ++i) shape.append(t.shape[i]);
    d["shape"] = nb::tuple(shape);
    d["format_number"] = t.format;
    d["format"] = text_of(t.format_name);
    d["elements"] = t.elements;
    d["nbytes"] = t.bytes;
    d["has_values"] = t.has_values != 0;
    d["operation"] = text_of(t.operation);
    d["block_elements"] = t.block_elements;
    d["block_bytes"] = t.block_bytes;
    d["file"] = text_of(t.file);
    d["offset"] = t.offset;
    d["type"] = t.type;
    return d;
  }

  bytes_in_file* bytes(std::uint64_t index) const {
    kaio_weights_tensor t = kaio_weights_tensor_default();
    check(kaio_weights_tensor_at(handle(), index, &t));
    return new bytes_in_file{files_, t.data, t.bytes};
  }

  void read_values(std::uint64_t index, std::uint64_t first, std::uint64_t count, std::uintptr_t to) const {
    kaio_weights* const h = handle();
    const std::shared_ptr<mapped> held = files_;  // another thread may close meanwhile
    kaio_status status;
    {
      const nb::gil_scoped_release released;
      status = kaio_weights_read_values(h, index, first, count, reinterpret_cast<float*>(to));
    }
    check(status);
  }

  nb::object key(std::uint64_t index) const {
    const kaio_weights_value v = at(index);
    return text_of(v.key, v.key_bytes);
  }
  nb::object value(std::uint64_t index) const { return value_of(at(index)); }

  layers* open_layers(nb::object config) const {
    handle();
    const std::string path = config.is_none() ? std::string() : nb::cast<std::string>(config);
    return new layers(files_, config.is_none() ? nullptr : path.c_str());
  }

 private:
  kaio_weights* handle() const {
    if (files_ == nullptr) throw nb::value_error("kaio: the file of weights is closed");
    return files_->handle;
  }
  kaio_weights_value at(std::uint64_t index) const {
    kaio_weights_value v = kaio_weights_value_default();
    check(kaio_weights_value_at(handle(), index, &v));
    return v;
  }

  std::shared_ptr<mapped> files_;
};

// Shapes of packed weights as tuples, in the order of the fields of kaio.W4Weights and kaio.W8Weights without `memory`.
kaio_w4_weights w4_of(const nb::tuple& t) {
  kaio_w4_weights w = kaio_w4_weights_default();
  w.codes = nb::cast<std::int32_t>(t[0]);
  w.n = nb::cast<std::int64_t>(t[1]);
  w.k = nb::cast<std::int64_t>(t[2]);
  w.group = nb::cast<std::int64_t>(t[3]);
  w.scales = nb::cast<std::int32_t>(t[4]);
  w.zero_points = nb::cast<std::int32_t>(t[5]);
  w.act_order = nb::cast<std::int32_t>(t[6]);
  w.factors = nb::cast<std::int32_t>(t[7]);
  w.offsets = nb::cast<std::int32_t>(t[8]);
  w.zero = nb::cast<std::uint32_t>(t[9]);
  return w;
}
kaio_w8_weights w8_of(const nb::tuple& t) {
  kaio_w8_weights w = kaio_w8_weights_default();
  w.codes = nb::cast<std::int32_t>(t[0]);
  w.n = nb::cast<std::int64_t>(t[1]);
  w.k = nb::cast<std::int64_t>(t[2]);
  w.group = nb::cast<std::int64_t>(t[3]);
  w.zero_points = nb::cast<std::int32_t>(t[4]);
  w.act_order = nb::cast<std::int32_t>(t[5]);
  w.offsets = nb::cast<std::int32_t>(t[6]);
  return w;
}

std::int32_t block_format(const std::string& name) {
  std::int32_t format = 0;
  check(kaio_block_format_named(name.c_str(), &format));
  return format;
}

}  // namespace

void bind_weights(nb::module_& m) {
  nb::class_<bytes_in_file>(m, "BytesInFile").def_prop_ro("__array_interface__", [](const bytes_in_file& b) {
    static const char nothing = 0;
    nb::dict d;
    d["version"] = 3;
    d["typestr"] = "|u1";
    d["shape"] = nb::make_tuple(b.bytes);
    d["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(b.data != nullptr ? b.data : &nothing), true);
    return d;
  });
  nb::class_<layers>(m, "WeightLayers")
      .def("describe", &layers::describe)
      .def("layer", &layers::layer)
      .def("part_bytes", &layers::part_bytes)
      .def("read_part", &layers::read_part);
  nb::class_<weight_file>(m, "WeightFile")
      .def("close", &weight_file::close)
      .def_prop_ro("closed", &weight_file::closed)
      .def("describe", &weight_file::describe)
      .def("tensor", &weight_file::tensor)
      .def("bytes", &weight_file::bytes, nb::rv_policy::take_ownership)
      .def("read_values", &weight_file::read_values)
      .def("key", &weight_file::key)
      .def("value", &weight_file::value)
      .def("layers", &weight_file::open_layers, nb::arg().none(), nb::rv_policy::take_ownership);
  m.def("open_weights", &weight_file::open, nb::rv_policy::take_ownership);
  m.def("view_weights", &weight_file::view, nb::rv_policy::take_ownership);

  m.def("w4_packed_bytes", [](nb::tuple shape) {
    const kaio_w4_weights w = w4_of(shape);
    std::uint64_t bytes = 0;
    check(kaio_w4_packed_bytes(&w, &bytes));
    return bytes;
  });
  m.def("w8_packed_bytes", [](nb::tuple shape) {
    const kaio_w8_weights w = w8_of(shape);
    std::uint64_t bytes = 0;
    check(kaio_w8_packed_bytes(&w, &bytes));
    return bytes;
  });
  // The bytes of blocks, and the operation that multiplies with them after repacking: "matmul_w4", "matmul_w8", "".
  m.def("block_bytes", [](const std::string& format, std::int64_t elements) {
    std::uint64_t bytes = 0;
    check(kaio_block_bytes(block_format(format), elements, &bytes));
    return bytes;
  });
  m.def("block_operation", [](const std::string& format) {
    std::int32_t operation = 0;
    check(kaio_block_operation_of(block_format(format), &operation));
    return operation == KAIO_BLOCK_OPERATION_MATMUL_W4 ? "matmul_w4" : operation == KAIO_BLOCK_OPERATION_MATMUL_W8 ? "matmul_w8" : "";
  });
  m.def("w4_of_blocks", [](const std::string& format, std::int64_t n, std::int64_t k) {
    kaio_w4_weights w = kaio_w4_weights_default();
    check(kaio_w4_weights_of_blocks(block_format(format), n, k, &w));
    return nb::make_tuple(w.codes, w.n, w.k, w.group, w.scales, w.zero_points, w.act_order, w.factors, w.offsets, w.zero);
  });
  m.def("w8_of_blocks", [](const std::string& format, std::int64_t n, std::int64_t k) {
    kaio_w8_weights w = kaio_w8_weights_default();
    check(kaio_w8_weights_of_blocks(block_format(format), n, k, &w));
    return nb::make_tuple(w.codes, w.n, w.k, w.group, w.zero_points, w.act_order, w.offsets);
  });
}

}  // namespace kaio::python
