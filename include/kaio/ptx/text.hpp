#pragma once
// The text of a PTX module, as a constant. It is kept in segments, because compilers bound the work of one
// constant expression. The segments join without separators, and each ends with a whole line.
//
//   static_assert(fused_silu_gate.ptx().contains("ex2.approx"));
//   for (std::string_view segment : fused_silu_gate.ptx()) std::cout << segment;

#include <kaio/ptx/standard.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace kaio::ptx {

class text {
 public:
  constexpr text(const std::string_view* segments, std::size_t count) : segments_(segments), count_(count) {}

  constexpr const std::string_view* begin() const { return segments_; }
  constexpr const std::string_view* end() const { return segments_ + count_; }

  // Bytes of the whole text.
  constexpr std::size_t size() const {
    std::size_t bytes = 0;
    for (std::string_view segment : *this) bytes += segment.size();
    return bytes;
  }

  // How often a part of one line occurs, overlaps not counted.
  constexpr std::size_t count(std::string_view part) const {
    std::size_t found = 0;
    for (std::string_view segment : *this)
      for (std::size_t at = find(segment, part, 0); at != segment.size();
           at = find(segment, part, at + part.size()))
        ++found;
    return found;
  }

  // Whether a part of one line occurs.
  constexpr bool contains(std::string_view part) const {
    for (std::string_view segment : *this)
      if (find(segment, part, 0) != segment.size()) return true;
    return part.empty();
  }

  // The whole text in one piece.
  std::vector<char> join() const {
    std::vector<char> whole;
    whole.reserve(size());
    for (std::string_view segment : *this) whole.insert(whole.end(), segment.begin(), segment.end());
    return whole;
  }

 private:
  // Compilers evaluate a bare loop over characters several times faster than string_view::find.
  static constexpr std::size_t find(std::string_view segment, std::string_view part, std::size_t from) {
    if (part.empty() || part.size() > segment.size()) return segment.size();
    const char* s = segment.data();
    const char first = part[0];
    for (std::size_t i = from; i + part.size() <= segment.size(); ++i) {
      if (s[i] != first) continue;
      std::size_t k = 1;
      while (k < part.size() && s[i + k] == part[k]) ++k;
      if (k == part.size()) return i;
    }
    return segment.size();
  }

  const std::string_view* segments_;
  std::size_t count_;
};

}  // namespace kaio::ptx
