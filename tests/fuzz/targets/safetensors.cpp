// Hostile safetensors files: the reader answers with tensors that are inside the file and can be decoded, and
// with layers of them, or with an error that names the file.

#include <kaio/weights/weights.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto own = std::make_unique<std::byte[]>(size);
  if (size != 0) std::memcpy(own.get(), data, size);
  try {
    const kaio::safetensors_file file = kaio::safetensors_file::view({own.get(), size}, "m");
    for (const kaio::tensor_entry& t : file.tensors()) {
      if (file.find(t.name) != &t || t.bytes.size() > size) std::abort();
      if (facts(t.format).has_values && kaio::read_values(t).size() != t.elements) std::abort();
    }
    for (const kaio::quantised_layer& layer : kaio::quantised_layers(file.tensors()))
      for (const kaio::quantised_part& part : layer.parts)
        if (!part.tensor->name.starts_with(layer.name)) std::abort();
  } catch (const kaio::file_error& e) {
    if (e.file() != "m" || std::string_view(e.what()).find("kaio: 'm'") != 0) std::abort();
  }
  return 0;
}
