#pragma once
// Splits a text into the words within which byte-level tokenizers merge. The first rule that matches at a place takes
// its characters, as in a regular expression with these alternatives:
//
//                llama3, qwen2                          gpt2, smollm
//   contraction  '(s|t|re|ve|m|ll|d), any case          as left, lower case
//   letters      [^\r\n\p{L}\p{N}]?\p{L}+               ` ?\p{L}+`
//   numbers      \p{N}{1,3} (llama3), \p{N} (qwen2)     ` ?\p{N}+`; smollm: first \p{N}, each a word
//   others       ` ?[^\s\p{L}\p{N}]+[\r\n]*`            ` ?[^\s\p{L}\p{N}]+`
//   lines        \s*[\r\n]+
//   spaces       \s+(?!\S)|\s+                          as left
//
// Source: llama.cpp, src/llama-vocab.cpp.

#include <cstddef>
#include <string_view>
#include <vector>

#include "unicode.hpp"
#include "vocabulary.hpp"

namespace kaio::showcase::llama {

class word_splitter {
 public:
  word_splitter(std::string_view text, word_rule rule) : text_(text), rule_(rule) {
    for (std::size_t at = 0; at < text.size(); at += points_.back().size)
      points_.push_back(code_point_at(text, at));
  }
  std::vector<std::string_view> words() {
    if (rule_ != word_rule::smollm) {
      split(0, points_.size());
      return words_;
    }
    std::size_t first = 0;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (!is_number(points_[i].value)) continue;
      split(first, i);
      put(i, i + 1);
      first = i + 1;
    }
    split(first, points_.size());
    return words_;
  }

 private:
  bool is_gpt2() const { return rule_ == word_rule::gpt2 || rule_ == word_rule::smollm; }
  char32_t at(std::size_t i) const { return i < end_ ? points_[i].value : 0; }
  bool letter(std::size_t i) const { return i < end_ && is_letter(at(i)); }
  bool number(std::size_t i) const { return i < end_ && is_number(at(i)); }
  bool space(std::size_t i) const { return i < end_ && is_space(at(i)); }
  bool line_end(std::size_t i) const { return i < end_ && is_line_end(at(i)); }
  bool other(std::size_t i) const { return i < end_ && !letter(i) && !number(i) && !space(i); }
  template <class Is>
  std::size_t skip(std::size_t i, const Is& is) const {
    while (is(i)) ++i;
    return i;
  }

  void split(std::size_t first, std::size_t end) {
    end_ = end;
    while (first < end) {
      const std::size_t after = word_at(first);
      put(first, after);
      first = after;
    }
  }
  void put(std::size_t first, std::size_t after) {
    const std::size_t begin = points_[first].begin;
    words_.push_back(text_.substr(begin, points_[after - 1].begin + points_[after - 1].size - begin));
  }

  // The end of a contraction, or i.
  std::size_t contraction(std::size_t i) const {
    if (at(i) != '\'') return i;
    const auto is = [&](std::size_t place, char wanted) {
      const char32_t c = at(place), lower = static_cast<char32_t>(wanted);
      return c == lower || (!is_gpt2() && c == lower - 32);
    };
    for (const char one : {'s', 't', 'm', 'd'})
      if (is(i + 1, one)) return i + 2;
    for (const char* two : {"re", "ve", "ll"})
      if (is(i + 1, two[0]) && is(i + 2, two[1])) return i + 3;
    return i;
  }

  // The end of the word that begins at i.
  std::size_t word_at(std::size_t i) const {
    const auto letters = [this](std::size_t j) { return letter(j); };
    const auto numbers = [this](std::size_t j) { return number(j); };
    const auto others = [this](std::size_t j) { return other(j); };
    const auto spaces = [this](std::size_t j) { return space(j); };
    const auto line_ends = [this](std::size_t j) { return line_end(j); };
    if (const std::size_t after = contraction(i); after != i) return after;
    const std::size_t next = at(i) == ' ' ? i + 1 : i;  // after one blank
    if (letter(i)) return skip(i, letters);
    const bool joins = is_gpt2() ? at(i) == ' ' : !line_end(i) && !number(i);
    if (joins && letter(i + 1)) return skip(i + 1, letters);
    if (is_gpt2()) {
      if (number(next)) return skip(next, numbers);
    } else if (number(i)) {
      const std::size_t most = rule_ == word_rule::llama3 ? 3 : 1, after = skip(i, numbers);
      return after - i < most ? after : i + most;
    }
    if (other(next)) {
      const std::size_t after = skip(next, others);
      return is_gpt2() ? after : skip(after, line_ends);
    }
    const std::size_t after = skip(i, spaces);  // at least one
    if (!is_gpt2())
      for (std::size_t last = after; last > i; --last)
        if (line_end(last - 1)) return last;
    return after == end_ || after - i == 1 ? after : after - 1;
  }

  std::string_view text_;
  word_rule rule_;
  std::size_t end_ = 0;
  std::vector<code_point> points_;
  std::vector<std::string_view> words_;
};

}  // namespace kaio::showcase::llama
