#pragma once
// A piece of a staged row, as the thread that has it sees it (stage.hpp).

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

struct staged_piece {
  val<u32> slot;   // place in shared memory
  val<u32> first;  // number of its first element
};

// Words: how registers hold its elements, row_words or single_words.
template <class Words>
struct piece_of : staged_piece {
  using words = Words;
};
// The words of a piece that a generic lambda gets.
template <class Piece>
using words_of = typename std::remove_cvref_t<Piece>::words;

// The next launch may begin, and memory that the one before wrote can be read.
template <std::uint32_t Sm>
constexpr void start_row(thread t) {
  if constexpr (Sm >= 90) {
    launch_dependents(t);
    grid_dependency_wait(t);
  }
}

}  // namespace kaio::ops
