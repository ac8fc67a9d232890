#pragma once
// The place of a score: its batch, head, query and key, all from 0. Scores and masks get it.
//
// A thread of an attention kernel holds scores of a few rows of a tile. Their layout depends on the
// instruction, so kernels show them as a class with
//
//   size()       number of scores of the thread
//   s[i]         score i, a variable
//   row(i)       row of score i among the thread's rows, from 0; a number of the host
//   column(i)    keys from the thread's first one to that of score i; a number of the host
//   element      the type of the operands
//   rows         number of rows that the thread has scores of
//   exact        if present: the operands are f32, so that functions of a score are not approximated

#include <kaio/dsl/dsl.hpp>

#include <cstdint>

namespace kaio::ops {

using dsl::fixed_string;
using dsl::scalar;

template <std::uint32_t Rows>
struct score_origin;

struct attention_place {
  val<u32> batch, head, query, key;
  val<i32>
      offset;  // keys - queries of the sequence: query + offset is the query's own key, aligned bottom right

  // The origin of this score alone.
  constexpr score_origin<1> alone() const;
};

// The places of a thread's scores in a tile.
template <std::uint32_t Rows>
struct score_origin {
  val<u32> batch, head;
  dsl::register_array<val<u32>, Rows> query;  // per row
  val<u32> key;                               // key of column 0
  val<u32> last_query, last_key;              // last query and key of the sequence
  val<i32> offset;                            // keys - queries

  template <class Scores>
  constexpr attention_place at(thread t, const Scores& s, std::uint32_t i) const {
    return {batch, head, query[s.row(i)], t.let(key + s.column(i)), offset};
  }
  // The place of score i if the queries are those of existing(). A key that does not exist becomes the last
  // one, since a function may read memory by it.
  template <class Scores>
  constexpr attention_place inside(thread t, const Scores& s, std::uint32_t i) const {
    return {batch, head, query[s.row(i)], t.let(min(key + s.column(i), last_key)), offset};
  }
  // Queries that do not exist become the last one.
  constexpr score_origin existing(thread t) const {
    const auto within = array_of<Rows>([&](u32 r) { return t.let(min(query[r], last_query)); });
    return {batch, head, within, key, last_query, last_key, offset};
  }
};

constexpr score_origin<1> attention_place::alone() const {
  return {batch, head, {{query}}, key, query, key, offset};
}

// A thread's scores in the fragments of mma.sync, 16 queries x 8 keys each: rows r and r + 8.
template <class T, class Fragment, std::uint32_t Count>
class mma_scores {
 public:
  using element = T;
  static constexpr std::uint32_t rows = 2;
  constexpr explicit mma_scores(dsl::register_array<Fragment, Count>& fragments) : fragments_(&fragments) {}
  static constexpr std::uint32_t size() { return Count * 4; }
  static constexpr std::uint32_t row(std::uint32_t i) { return i % 4 / 2; }
  static constexpr std::uint32_t column(std::uint32_t i) { return i / 4 * 8 + i % 2; }
  constexpr var<f32>& operator[](std::uint32_t i) const { return (*fragments_)[i / 4].registers[i % 4]; }

 private:
  dsl::register_array<Fragment, Count>* fragments_;
};

// A thread's scores in an accumulator of wgmma, 64 queries x N keys: rows r and r + 8.
template <scalar T, class Accumulator>
class wgmma_scores {
 public:
  static constexpr bool in_pairs = true;  // a row's columns are 0, 1, 8, 9, 16, 17 ..
  using element = T;
  static constexpr std::uint32_t rows = 2;
  constexpr explicit wgmma_scores(Accumulator& accumulator) : accumulator_(&accumulator) {}
  static constexpr std::uint32_t size() { return Accumulator::size(); }
  static constexpr std::uint32_t row(std::uint32_t i) { return Accumulator::row(i) / 8; }
  static constexpr std::uint32_t column(std::uint32_t i) { return Accumulator::column(i); }
  constexpr auto& operator[](std::uint32_t i) const { return (*accumulator_)[i]; }

 private:
  Accumulator* accumulator_;
};

// A thread's scores in an accumulator of K Q^T, 64 keys x N queries: columns are keys r and r + 8; rows are
// queries, N / 4 per thread.
template <scalar T, class Accumulator>
class transposed_wgmma_scores {
 public:
  using element = T;
  static constexpr std::uint32_t rows = Accumulator::columns / 4, keys = 2;
  constexpr explicit transposed_wgmma_scores(Accumulator& accumulator) : accumulator_(&accumulator) {}
  static constexpr std::uint32_t size() { return Accumulator::size(); }
  static constexpr std::uint32_t row(std::uint32_t i) { return i / 4 * 2 + i % 2; }
  static constexpr std::uint32_t column(std::uint32_t i) { return Accumulator::row(i); }
  // Distance of row r from the thread's first query.
  static constexpr std::uint32_t query(std::uint32_t r) { return r / 2 * 8 + r % 2; }
  // key_number: the thread's key that score i is for. key: the distance of key k from the first one.
  static constexpr std::uint32_t key_number(std::uint32_t i) { return Accumulator::row(i) / 8; }
  static constexpr std::uint32_t key(std::uint32_t k) { return 8 * k; }
  constexpr auto& operator[](std::uint32_t i) const { return (*accumulator_)[i]; }

 private:
  Accumulator* accumulator_;
};

// A single score.
template <class T>
struct single_score {
  using element = T;
  static constexpr std::uint32_t rows = 1;
  var<f32>* x;
  static constexpr std::uint32_t size() { return 1; }
  static constexpr std::uint32_t row(std::uint32_t) { return 0; }
  static constexpr std::uint32_t column(std::uint32_t) { return 0; }
  constexpr var<f32>& operator[](std::uint32_t) const { return *x; }
};

}  // namespace kaio::ops
