#include "images/write_images.hpp"

#include <algorithm>
#include <cstdint>
#include <ios>
#include <sstream>
#include <stdexcept>
#include <string>

#include "host/write_file.hpp"
#include "images/packed_text.hpp"

namespace kaio::images {
namespace {

// A C++ string literal; paths of sources may have any character.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string dimensions(const ptx::dim3& d) {
  return "{" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + "}";
}

// A binding for each member: a new one is an error here.
std::string literal(const ptx::needs& needs) {
  const auto& [target, version, shared, threads, instructions, dynamic, cooperative, prints, asserts, waits,
               cluster] = needs;
  std::ostringstream out;
  out << std::boolalpha << "{{" << target.sm << ", " << target.arch_specific << "}, {"
      << unsigned{version.major} << ", " << unsigned{version.minor} << "}, " << shared << ", " << threads
      << ", " << instructions << ", " << dynamic << ", " << cooperative << ", " << prints << ", " << asserts
      << ", " << waits << ", " << dimensions(cluster) << "}";
  return out.str();
}

std::string literal(const ptx::parameter& p) {
  const auto& [type, access, bytes, alignment] = p;
  return "{ptx::type(" + std::to_string(static_cast<unsigned>(type)) + "), ptx::access(" +
         std::to_string(static_cast<unsigned>(access)) + "), " + std::to_string(bytes) + ", " +
         std::to_string(alignment) + "}";
}

// The definition of kernel `number`, whose packed text begins at `offset` of the file.
void define(std::ostream& out, std::string_view family, const ptx::kernel_image& kernel, std::size_t number,
            std::size_t offset) {
  const std::string parameters = "parameters_" + std::to_string(number),
                    first = "first_" + std::to_string(number);
  if (kernel.parameter_count != 0) {
    out << "constexpr ptx::parameter " << parameters << "[] = {";
    for (std::size_t i = 0; i < kernel.parameter_count; ++i)
      out << (i == 0 ? "" : ", ") << literal(kernel.parameters[i]);
    out << "};\n";
  }
  if (kernel.statement_count != 0)
    out << "constexpr ptx::source_line " << first << " = {" << quoted(kernel.statements[0].file) << ", "
        << kernel.statements[0].line << "};\n";
  const ptx::text_hash hash = ptx::hash_of_text(kernel);
  out << "template <>\nconst ptx::kernel_image linked_image<" << quoted(kernel.name) << ">::value = {\n"
      << "    .name = " << quoted(kernel.name) << ",\n";
  if (kernel.parameter_count != 0)
    out << "    .parameters = " << parameters << ",\n    .parameter_count = " << kernel.parameter_count
        << ",\n";
  out << "    .block = " << dimensions(kernel.block) << ",\n    .needs = " << literal(kernel.needs) << ",\n";
  if (kernel.statement_count != 0) out << "    .statements = &" << first << ",\n    .statement_count = 1,\n";
  out << "    .identity = {nullptr, 0, {" << hash.low << "u, " << hash.high
      << "u}},\n    .packed = kaio_images_" << family << " + " << offset << ",\n    .unpack = unpack};\n\n";
}

}  // namespace

void write_images(std::string_view family, const std::vector<const ptx::kernel_image*>& kernels,
                  const std::filesystem::path& prefix) {
  std::vector<const ptx::kernel_image*> sorted = kernels;
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::string packed;
  std::ostringstream definitions;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i != 0 && sorted[i]->name == sorted[i - 1]->name)
      throw std::runtime_error("kaio: two kernels of family " + std::string(family) + " are called " +
                               std::string(sorted[i]->name));
    define(definitions, family, *sorted[i], i, packed.size());
    packed += pack(*sorted[i]);
  }

  std::filesystem::path data = prefix, source = prefix;
  data += ".packed";
  source += ".cpp";
  std::ostringstream out;
  // The assembler reads the data, not the compiler: through this line a cache of objects notices that the data changed.
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : packed) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  out << "// Made by the program of the family " << family << ": the images of its kernels, " << packed.size()
      << " bytes with the hash " << std::hex << hash << std::dec << ".\n"
      << "#include \"images/linked_image.hpp\"\n\n"
      << "asm(R\"(\n"
      << "  .pushsection .rodata.kaio_images, \"a\"\n"
      << "  .balign 8\n"
      << "  .globl kaio_images_" << family << "\n"
      << "  .hidden kaio_images_" << family << "\n"
      << "kaio_images_" << family << ":\n"
      << "  .incbin " << quoted(data.string()) << "\n"
      << "  .popsection\n"
      << ")\");\n\n"
      << "extern \"C\" {\n"
      << "[[gnu::visibility(\"hidden\")]] extern const unsigned char kaio_images_" << family << "[];\n"
      << "}\n\n"
      << "namespace kaio::images {\n\n"
      << definitions.str() << "}  // namespace kaio::images\n";
  host::write_file(data.string(), {packed}, host::durability::made_again);
  host::write_file(source.string(), {out.str()}, host::durability::made_again);
}

}  // namespace kaio::images
