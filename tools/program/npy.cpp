#include "tools/program/npy.hpp"

#include "host/write_file.hpp"

#include <array>
#include <charconv>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace kaio::tools::npy {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::array<std::string_view, 12> types = {"f2", "f4", "f8", "i1", "i2", "i4",
                                                    "i8", "u1", "u2", "u4", "u8", "b1"};
constexpr std::size_t alignment = 64;  // of the elements in the file
constexpr std::size_t longest_header = 1u << 20;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw std::runtime_error("kaio: '" + path + "' " + why);
}

bool is_known(std::string_view type) {
  for (const std::string_view t : types)
    if (t == type) return true;
  return false;
}

// The header is a Python dictionary of three members, as {'descr': '<f4', 'shape': (2, 3), ...}.
class header_parser {
 public:
  header_parser(const std::string& path, std::string_view text) : path_(path), rest_(text) {}

  array parse() {
    array a;
    bool has_type = false, has_shape = false, has_order = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view name = quoted();
      expect(':');
      if (name == "descr") {
        a.type = element_type();
        has_type = true;
      } else if (name == "fortran_order") {
        fortran_ = boolean();
        has_order = true;
      } else if (name == "shape") {
        a.shape = shape();
        has_shape = true;
      } else {
        refuse(path_, "has a member '" + std::string(name) + "' in its header, which is not known");
      }
      if (!accept(',') && !starts('}')) bad();
    }
    if (!has_type || !has_shape || !has_order) bad();
    if (fortran_ && a.shape.size() > 1)
      refuse(path_, "is in Fortran order; save numpy.ascontiguousarray of it");
    return a;
  }

 private:
  [[noreturn]] void bad() { refuse(path_, "has a header that is not that of an .npy file"); }
  void blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) rest_.remove_prefix(1);
  }
  bool starts(char c) {
    blanks();
    return !rest_.empty() && rest_.front() == c;
  }
  bool accept(char c) {
    if (!starts(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) bad();
  }
  std::string_view quoted() {
    blanks();
    if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"')) bad();
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) bad();
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }
  bool boolean() {
    blanks();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    bad();
  }
  std::string element_type() {
    if (starts('['))
      refuse(path_, "has elements with fields; pass them as bytes:0x... or as separate arrays");
    const std::string_view text = quoted();
    const char order = text.empty() ? '\0' : text.front();
    std::string type(text.substr(text.empty() ? 0 : 1));
    if (order == '>' && is_known(type))
      refuse(path_, "is big-endian; save it with x.astype(x.dtype.newbyteorder('<'))");
    if ((order != '<' && order != '|' && order != '=') || !is_known(type))
      refuse(path_, "has elements of type '" + std::string(text) +
                        "'; they may be f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1");
    return type;
  }
  std::vector<std::uint64_t> shape() {
    std::vector<std::uint64_t> extents;
    expect('(');
    while (!accept(')')) {
      blanks();
      std::uint64_t extent = 0;
      const auto parsed = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (parsed.ec != std::errc{}) bad();
      rest_.remove_prefix(static_cast<std::size_t>(parsed.ptr - rest_.data()));
      accept('L');  // written by Python 2
      extents.push_back(extent);
      if (!accept(',') && !starts(')')) bad();
    }
    return extents;
  }

  const std::string& path_;
  std::string_view rest_;
  bool fortran_ = false;
};

std::uint64_t bytes_of(const std::string& path, const array& a) {
  std::uint64_t bytes = a.element_bytes();
  for (const std::uint64_t extent : a.shape) {
    if (extent != 0 && bytes > std::numeric_limits<std::uint64_t>::max() / extent)
      refuse(path, "has a shape whose size does not fit in 64 bits");
    bytes *= extent;
  }
  return bytes;
}

}  // namespace

array parse(std::span<const std::byte> content, const std::string& path) {
  const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
  const auto byte = [&](std::size_t at) { return std::to_integer<std::size_t>(content[at]); };
  if (!text.starts_with(magic) || text.size() < 10)
    refuse(path, "is not an .npy file; write it with numpy.save");
  const std::size_t version = byte(6);
  if (version < 1 || version > 3)
    refuse(path, "is of version " + std::to_string(version) + " of the format; 1 to 3 are known");
  std::size_t start = 10, length = byte(8) | byte(9) << 8;
  if (version > 1) {
    if (text.size() < 12) refuse(path, "ends within its header");
    start = 12;
    length |= byte(10) << 16 | byte(11) << 24;
  }
  if (length > longest_header || text.size() - start < length) refuse(path, "ends within its header");
  array a = header_parser(path, text.substr(start, length)).parse();
  const std::span<const std::byte> elements = content.subspan(start + length);
  const std::uint64_t bytes = bytes_of(path, a);
  if (elements.size() != bytes)
    refuse(path, "has " + std::to_string(elements.size()) + " bytes of elements; its shape needs " +
                     std::to_string(bytes));
  a.data.assign(elements.begin(), elements.end());
  return a;
}

array read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, "cannot be opened; is the path right?");
  std::ostringstream content;
  if (file.peek() != std::ifstream::traits_type::eof()) content << file.rdbuf();
  if (file.bad()) refuse(path, "cannot be read; is it a file?");
  return parse(std::as_bytes(std::span(content.view())), path);
}

void write(const std::string& path, const array& a) {
  std::string header = "{'descr': '";
  header += (a.element_bytes() == 1 ? "|" : "<") + a.type + "', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < a.shape.size(); ++i)
    header += (i == 0 ? "" : ", ") + std::to_string(a.shape[i]);
  header += a.shape.size() == 1 ? ",), }" : "), }";
  const std::size_t prefix = magic.size() + 4;
  header.append(alignment - (prefix + header.size() + 1) % alignment, ' ');
  header += '\n';
  if (header.size() > 0xffff) refuse(path, "has too many extents to be written");
  const std::array<char, 4> version_and_length = {'\x01', '\x00', static_cast<char>(header.size() & 0xff),
                                                  static_cast<char>(header.size() >> 8)};
  host::write_file(path, {magic,
                          {version_and_length.data(), version_and_length.size()},
                          header,
                          {reinterpret_cast<const char*>(a.data.data()), a.data.size()}});
}

}  // namespace kaio::tools::npy
