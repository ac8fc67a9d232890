#include "images/packed_text.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#if defined(KAIO_HAS_ZLIB)
#include <zlib.h>
#endif

namespace kaio::images {
namespace {

using word = std::uint32_t;
constexpr std::size_t header_bytes = 2 * sizeof(word);

void append_word(std::string& to, word value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(value));
}
// Seven bits a byte, the lowest first; the highest bit of a byte says that another one follows.
void append(std::string& to, word value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}
// Zigzag: small numbers of either sign become small unsigned ones.
constexpr word folded(std::int32_t value) {
  return static_cast<word>(value) << 1 ^ (value < 0 ? ~word{0} : 0);
}
constexpr std::int32_t unfolded(word value) {
  return static_cast<std::int32_t>(value >> 1 ^ (value & 1 ? ~word{0} : 0));
}
constexpr std::int32_t difference(word value, word before) {
  return static_cast<std::int32_t>(value - before);
}

std::string content_of(const ptx::kernel_image& image) {
  std::string content;
  append(content, static_cast<word>(image.segment_count));
  for (std::size_t i = 0; i < image.segment_count; ++i)
    append(content, static_cast<word>(image.segments[i].size()));
  for (std::size_t i = 0; i < image.segment_count; ++i) content += image.segments[i];

  std::vector<std::string_view> files;
  std::vector<word> file_of;
  for (std::size_t i = 0; i < image.statement_count; ++i) {
    const std::string_view file = image.statements[i].file;
    const auto found = std::find(files.begin(), files.end(), file);
    file_of.push_back(static_cast<word>(found - files.begin()));
    if (found == files.end()) files.push_back(file);
  }
  append(content, static_cast<word>(files.size()));
  for (const std::string_view file : files) content.append(file) += '\0';
  append(content, static_cast<word>(image.statement_count));
  word line = 0;
  for (std::size_t i = 0; i < image.statement_count; ++i) {
    append(content, file_of[i]);
    append(content, folded(difference(image.statements[i].line, line)));
    line = image.statements[i].line;
  }
  append(content, static_cast<word>(image.line_count));
  word statement = 0;
  for (std::size_t i = 0; i < image.line_count; ++i) {
    if (image.statement_of_line[i] == ptx::no_statement) {
      append(content, 0);
      continue;
    }
    append(content, 1 + folded(difference(image.statement_of_line[i], statement)));
    statement = image.statement_of_line[i];
  }
  return content;
}

// Reads what content_of() wrote.
class reader {
 public:
  explicit reader(const std::string& content) : at_(content.data()) {}

  word number() {
    word value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      value |= word{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
  }
  const char* take(std::size_t bytes) {
    const char* const begin = at_;
    at_ += bytes;
    return begin;
  }
  const char* name() { return take(std::strlen(at_) + 1); }

 private:
  const char* at_;
};

[[noreturn]] void damaged(const ptx::kernel_image& image) {
  throw std::runtime_error("kaio: the packed text of kernel " + std::string(image.name) +
                           " is damaged; build kaio's libraries anew");
}

std::string unpacked_content(const ptx::kernel_image& image) {
  word bytes = 0, stored = 0;
  std::memcpy(&bytes, image.packed, sizeof(bytes));
  std::memcpy(&stored, image.packed + sizeof(bytes), sizeof(stored));
  const unsigned char* const begin = image.packed + header_bytes;
  if (stored == bytes) return {reinterpret_cast<const char*>(begin), bytes};
#if defined(KAIO_HAS_ZLIB)
  std::string content(bytes, '\0');
  auto length = static_cast<uLongf>(content.size());
  if (uncompress(reinterpret_cast<Bytef*>(content.data()), &length, begin, stored) == Z_OK &&
      length == content.size())
    return content;
#endif
  damaged(image);
}

}  // namespace

std::string pack(const ptx::kernel_image& image) {
  const std::string content = content_of(image);
  std::string stored = content;
#if defined(KAIO_HAS_ZLIB)
  uLongf length = compressBound(static_cast<uLong>(content.size()));
  std::string compressed(length, '\0');
  if (compress2(reinterpret_cast<Bytef*>(compressed.data()), &length,
                reinterpret_cast<const Bytef*>(content.data()), static_cast<uLong>(content.size()),
                Z_BEST_COMPRESSION) == Z_OK &&
      length < content.size()) {
    compressed.resize(length);
    stored = std::move(compressed);
  }
#endif
  std::string piece;
  append_word(piece, static_cast<word>(content.size()));
  append_word(piece, static_cast<word>(stored.size()));
  return piece + stored;
}

void unpack(const ptx::kernel_image& image, void (*use)(void* context, const ptx::kernel_image& whole),
            void* context) {
  const std::string content = unpacked_content(image);
  reader from(content);

  std::vector<std::string_view> segments(from.number());
  std::vector<word> sizes(segments.size());
  for (word& size : sizes) size = from.number();
  for (std::size_t i = 0; i < segments.size(); ++i) segments[i] = {from.take(sizes[i]), sizes[i]};
  if (!(ptx::hash_of(segments.data(), segments.size()) == image.identity.hash)) damaged(image);

  std::vector<const char*> files(from.number());
  for (const char*& file : files) file = from.name();
  std::vector<ptx::source_line> statements(from.number());
  word line = 0;
  for (ptx::source_line& statement : statements) {
    const word file = from.number();
    line += static_cast<word>(unfolded(from.number()));
    statement = {files[file], line};
  }
  std::vector<std::uint16_t> statement_of_line(from.number());
  word last = 0;
  for (std::uint16_t& of_line : statement_of_line) {
    const word number = from.number();
    if (number != 0) last += static_cast<word>(unfolded(number - 1));
    of_line = number == 0 ? ptx::no_statement : static_cast<std::uint16_t>(last);
  }

  ptx::kernel_image whole = image;
  whole.segments = segments.data();
  whole.segment_count = segments.size();
  whole.statements = statements.data();
  whole.statement_count = statements.size();
  whole.statement_of_line = statement_of_line.data();
  whole.line_count = statement_of_line.size();
  whole.identity = {segments.data(), segments.size(), image.identity.hash};
  whole.packed = nullptr;
  whole.unpack = nullptr;
  use(context, whole);
}

}  // namespace kaio::images
