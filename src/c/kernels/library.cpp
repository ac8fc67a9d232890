#include "c/kernels/library.hpp"

#include <kaio/runtime/error.hpp>

#include <cstddef>
#include <string_view>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "host/printable.hpp"
#include "host/system/library.hpp"

namespace kaio::c {

namespace {

constexpr std::uint32_t most_kernels = 1u << 20;

[[noreturn]] void refuse_library(const kaio_kernel_library& library, const std::string& why) {
  throw runtime::file_error(runtime::errc::unsupported_format,
                            "kaio: the kernel library " + host::printable(library.file) + " " + why,
                            library.file, "");
}

std::string layout_text(std::uint64_t layout) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (int shift = 28; shift >= 0; shift -= 4) text += digits[layout >> shift & 15];
  return text;
}

DLDataType element_of(const ptx::parameter_type& type) {
  using enum ptx::type_kind;
  int code = kDLUInt;
  switch (type.kind) {
    case boolean: code = kDLBool; break;
    case signed_integer: code = kDLInt; break;
    case unsigned_integer: code = kDLUInt; break;
    case floating: code = kDLFloat; break;
    case bfloat: code = kDLBfloat; break;
    case e4m3: code = kDLFloat8_e4m3fn; break;
    case e5m2: code = kDLFloat8_e5m2; break;
    case structure:
    case tensor_map: return {kDLUInt, 0, 1};
  }
  return {static_cast<std::uint8_t>(code), type.bits, type.lanes};
}

std::string type_text(const ptx::parameter_type& type, const DLDataType& element) {
  if (type.kind == ptx::type_kind::tensor_map) return "a tensor map";
  if (element.bits == 0)
    return type.bytes == 0 ? "struct" : "struct of " + std::to_string(type.bytes) + " bytes";
  std::string one = name_of({element.code, element.bits, 1});
  if (type.lanes == 1) return one;
  return type.lanes * type.bits < 64 ? one + "x" + std::to_string(type.lanes)
                                     : "vec<" + one + ", " + std::to_string(type.lanes) + ">";
}

parameter parameter_of(const ptx::library_kernel& kernel, std::size_t index) {
  parameter made;
  made.access = kernel.image->parameters[index].access;
  made.type = kernel.types[index];
  made.element = element_of(made.type);
  made.number = std::to_string(index + 1);
  constexpr const char* accesses[] = {"val", "in", "out", "inout"};
  const std::string type = type_text(made.type, made.element);
  made.text = made.type.kind == ptx::type_kind::tensor_map
                  ? "tensor_map"
                  : std::string(accesses[static_cast<unsigned>(made.access)]) + "<" + type + ">";
  return made;
}

// Splits "a, f<b, c>" at the commas that are outside of brackets.
std::vector<std::string> split_names(std::string_view text) {
  std::vector<std::string> names;
  int depth = 0;
  std::string name;
  const auto end = [&] {
    while (!name.empty() && name.back() == ' ') name.pop_back();
    names.push_back(std::move(name));
    name.clear();
  };
  for (const char letter : text) {
    depth += letter == '<' || letter == '(' || letter == '{' || letter == '[';
    depth -= letter == '>' || letter == ')' || letter == '}' || letter == ']';
    if (letter == ',' && depth == 0)
      end();
    else if (letter != ' ' || !name.empty())
      name += letter;
  }
  end();
  return names;
}

// "scale<f32>" of "filters::scale<f32>".
std::string_view without_namespaces(std::string_view name) {
  const std::size_t arguments = name.find('<');
  const std::size_t last = name.substr(0, arguments).rfind("::");
  return last == std::string_view::npos ? name : name.substr(last + 2);
}

// Whether an address is inside of the shared object at `base`.
bool is_inside(const void* address, const void* base) {
  const void* const found = host::library_of(address);
  return found == nullptr || found == base;
}

// If two objects export kernels of the same C++ names, the loader gives the second one those of the first.
void require_own(const kaio_kernel_library& library, const kaio_kernel& kernel, const void* base) {
  const ptx::kernel_image& image = *kernel.image;
  bool own = is_inside(&image, base);
  if (image.segments != nullptr) own = own && is_inside(image.segments, base);
  if (image.segments != nullptr && image.segment_count != 0)
    own = own && is_inside(image.segments[0].data(), base);
  if (image.parameter_count != 0) own = own && is_inside(image.parameters, base);
  if (!own)
    refuse_library(library, "has its kernel " + kernel.name +
                                " in common with another open library; build it with -fvisibility=hidden, as "
                                "kaio_kernel_library() of CMake does");
}

}  // namespace

void read_table(kaio_kernel_library& library, const ptx::kernel_library* table) {
  if (table == nullptr)
    refuse_library(library, "has no table; write KAIO_KERNEL_LIBRARY(...) in one of its sources");
  const std::string mine = std::string("this is kaio ") + ptx::library_version;
  if (table->format != ptx::kernel_library_format)
    refuse_library(library, "has a table of format " + std::to_string(table->format) + ", and " + mine +
                                ", which reads format " + std::to_string(ptx::kernel_library_format) +
                                "; build it again with the headers of this kaio");
  library.version = table->version != nullptr ? table->version : "";
  if (table->layout != ptx::image_layout())
    refuse_library(library, "was built with kaio " + host::printable(library.version) + " (layout " +
                                layout_text(table->layout) + "), and " + mine + " (layout " +
                                layout_text(ptx::image_layout()) +
                                "); build it again with the headers of this kaio");
  if (table->count == 0 || table->count > most_kernels || table->kernels == nullptr)
    refuse_library(library, "has a table of " + std::to_string(table->count) + " kernels; build it again");
  std::vector<std::string> names = split_names(table->names != nullptr ? table->names : "");
  names.resize(table->count);

  const void* const base = host::library_of(table);
  for (std::uint32_t i = 0; i < table->count; ++i) {
    const ptx::library_kernel& from = table->kernels[i];
    if (from.image == nullptr || from.types == nullptr)
      refuse_library(library, "has no kernel " + std::to_string(i) + "; build it again");
    kaio_kernel& to = library.kernels.emplace_back();
    to.image = from.image;
    to.name = from.image->name;
    to.object = std::move(names[i]);
    to.called = "kernel " + to.name;
    to.signature = to.name + "(";
    for (std::size_t p = 0; p < from.image->parameter_count; ++p) {
      to.parameters.push_back(parameter_of(from, p));
      to.signature += (p == 0 ? "" : ", ") + to.parameters.back().text;
    }
    to.signature += ")";
    if (base != nullptr) require_own(library, to, base);
  }
}

const kaio_kernel& find_kernel(const kaio_kernel_library& library, const std::string& name) {
  const kaio_kernel* found = nullptr;
  std::string all;
  for (const kaio_kernel& kernel : library.kernels) {
    const bool is_named = kernel.name == name || kernel.object == name ||
                          (!kernel.object.empty() && without_namespaces(kernel.object) == name);
    if (is_named && found != nullptr)
      refuse("kernel_library_find", host::printable(library.file) + " has two kernels of the name '" +
                                        host::printable(name) + "': " + found->object + " and " +
                                        kernel.object + "; use their C++ names");
    if (is_named) found = &kernel;
    if (all.size() < 500) all += (all.empty() ? "" : ", ") + kernel.name;
  }
  if (found == nullptr)
    refuse("kernel_library_find",
           host::printable(library.file) + " has no kernel '" + host::printable(name) + "'; it has " + all);
  return *found;
}

}  // namespace kaio::c

kaio_kernel_library::~kaio_kernel_library() {
  if (object != nullptr) kaio::host::close_library(object);
}
