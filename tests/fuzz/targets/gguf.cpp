// Hostile GGUF files: the reader answers with tensors that are inside the file and can be decoded, or with an
// error that names the file.

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
    const kaio::gguf_file file = kaio::gguf_file::view({own.get(), size}, "m");
    for (const kaio::gguf_value& v : file.metadata()) {
      if (file.metadata(v.key) != &v) std::abort();
      static_cast<void>(v.as_number());
      static_cast<void>(v.as_unsigned());
    }
    for (const kaio::tensor_entry& t : file.tensors()) {
      if (file.find(t.name) != &t || t.bytes.size() > size) std::abort();
      if (facts(t.format).has_values && kaio::read_values(t).size() != t.elements) std::abort();
    }
  } catch (const kaio::file_error& e) {
    if (e.file() != "m" || std::string_view(e.what()).find("kaio: 'm'") != 0) std::abort();
  }
  return 0;
}
