#pragma once
// Rows of two tensors in shared memory, for a block that has several rows in turn. Each thread has the same
// elements of every row (rows/stage.hpp has the picture), so it shares its pieces with no other:
//
//   has_copies   x | dy | factors | x | dy [| x]   the row in use and the next ones, copied asynchronously
//   otherwise    x | dy | sums                     the row in use
//
// x, dy: `staged` words of 16 bytes each. Factors and sums: 4 numbers of f32 in a word, `staged` words for each 4
// elements of a piece. Sums over rows: sums.hpp. Factors: factors.hpp.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/norm/backward/problem.hpp>
#include <kaio/ops/rows/division.hpp>
#include <kaio/ops/rows/stage.hpp>
#include <kaio/ops/rows/words.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// Where a piece is: in shared memory, in global memory alone, or one of these.
enum class piece_place { held, beyond, any };
template <piece_place Place>
using place_constant = std::integral_constant<piece_place, Place>;
inline constexpr place_constant<piece_place::held> in_shared{};
inline constexpr place_constant<piece_place::beyond> in_global{};
inline constexpr place_constant<piece_place::any> in_either{};

// A row of a group, and its place in tensors.
struct pair_row {
  val<bool> exists;
  val<u32> row, head, token, batch;
};

template <dsl::scalar T, std::uint32_t Sm, bool Vectors, class Problem>
class row_pairs {
 public:
  using words = row_words<T, Sm>;
  using stored = T;
  static constexpr u32 width = words::width, quads = width / 4;
  static constexpr bool has_vectors = Vectors, has_copies = Vectors && Sm >= 80;
  // Parts of shared memory, `staged` words each.
  static constexpr u32 factors_part = 2, stage_parts = 2 + quads;  // from a stage to the other one
  static constexpr u32 sums_part = has_copies ? 0 : 2, parts_of_sums = has_copies ? stage_parts : quads;
  static constexpr u32 rounds = pair_rounds;  // most pieces of a thread that are held, with copies
  static constexpr u32 part_words = rounds * row_threads;  // `staged`, with copies
  static constexpr bool has_far =
      Vectors || Sm < 80;  // otherwise a row that does not fit takes another kernel

  constexpr row_pairs(thread t, const Problem& problem)
      : t_(t),
        memory_(t),
        problem_(problem),
        size_(t.let(problem[&rows_problem::size])),
        lanes_log_(t.let(problem[&rows_problem::lanes_log])),
        blocks_(t.let(problem[&rows_problem::blocks])),
        staged_(has_copies ? t.let(val<u32>(part_words)) : t.let(problem[&rows_problem::staged])),
        lanes_(t.let(val<u32>(1u) << lanes_log_)),
        rank_(t.let(t.thread_rank())),
        lane_(t.let(rank_ & (lanes_ - 1u))),
        block_(t.let(block_idx_x() & (blocks_ - 1u))),
        begin_(t.let(block_ * problem[&rows_problem::share])),
        pieces_(find_pieces()),
        stage_(t, 0u),
        x_stage_(t, 0u) {}

  constexpr const val<u32>& size() const { return size_; }
  constexpr const val<u32>& lane() const { return lane_; }
  constexpr const val<u32>& lanes() const { return lanes_; }
  constexpr const val<u32>& blocks() const { return blocks_; }
  constexpr const val<u32>& block() const { return block_; }
  constexpr const val<u32>& staged() const { return staged_; }
  constexpr const val<u32>& lanes_log() const { return lanes_log_; }

  // The number of this thread's row in its group.
  constexpr val<u32> number() const { return t_.let(rank_ >> lanes_log_); }
  // The row of this thread in a group of rows.
  constexpr pair_row row_of(const val<u32>& group, const val<u32>& groups) const {
    thread t = t_;
    const val row = t.let(group * (val<u32>(row_threads) >> lanes_log_) + (rank_ >> lanes_log_));
    const val exists = t.let(all_of(group < groups, row < problem_[&rows_problem::rows]));
    var head(t, row), token(t, 0u), batch(t, 0u);
    if (auto deep = t.when(problem_[&rows_problem::is_flat] == 0u)) {
      const quotient of_heads = divide(t, row, problem_[&rows_problem::heads]);
      const quotient of_tokens = divide(t, of_heads.whole, problem_[&rows_problem::tokens]);
      head = of_heads.rest;
      token = of_tokens.rest;
      batch = of_tokens.whole;
    }
    return {exists, row, t.let(head), t.let(token), t.let(batch)};
  }
  template <class Rows>
  constexpr val<u64> address(const pair_row& row, const Rows& tensor) const {
    thread t = t_;
    var offset(t, cast<i64>(row.head) * tensor[&row_strides::head]);
    if (auto deep = t.when(problem_[&rows_problem::is_flat] == 0u))
      offset = offset + cast<i64>(row.token) * tensor[&row_strides::token] +
               cast<i64>(row.batch) * tensor[&row_strides::batch];
    return t.let(tensor[&row_strides::address] + cast<u64>(offset) * u64{sizeof(T)});
  }

  // Calls f(piece, its place) for the pieces of this thread, if its row exists.
  template <class F>
  constexpr void each(const val<bool>& exists, const F& f) {
    if constexpr (has_copies) {
      each_near(exists, [&](const staged_piece& p) { f(p, in_shared); });
      each_far(exists, [&](const staged_piece& p) { f(p, in_global); });
    } else {
      each_near(exists, [&](const staged_piece& p) { f(p, in_either); });
    }
  }
  // Calls f(piece) for those that are held; without copies, for all.
  template <class F>
  constexpr void each_near(const val<bool>& exists, const F& f) {
    thread t = t_;
    var slot(t, rank_);
    const val start = Vectors ? t.let(lane_ + 0u) : t.let(val<u32>(0u));
    const val step = Vectors ? t.let(lanes_ + 0u) : t.let(val<u32>(1u));
    const val all = has_copies ? t.let(min(pieces_, lanes_ * rounds)) : t.let(pieces_ + 0u);
    const val end = t.let(select(exists, all, 0u));
    for (auto i : t.range(start, end, step).no_unroll()) {
      const val first =
          Vectors ? t.let(begin_ + i * width) : t.let(begin_ + lane_ + (i * width << lanes_log_));
      f(staged_piece{t.let(slot + 0u), first});
      slot += row_threads;
    }
  }
  // Calls f(piece, its round) for those that are held; rounds are constants.
  template <class F>
  constexpr void each_round(const val<bool>& exists, const F& f) {
    thread t = t_;
    const val end = t.let(select(exists, pieces_, 0u));
    for (u32 round = 0; round < rounds; ++round) {
      const val i = t.let(lane_ + lanes_ * round);
      if (auto inside = t.when(i < end))
        f(staged_piece{t.let(rank_ + row_threads * round), t.let(begin_ + i * width)}, round);
    }
  }
  // Calls f(piece) for those that are in global memory alone.
  template <class F>
  constexpr void each_far(const val<bool>& exists, const F& f) {
    thread t = t_;
    const val end = t.let(select(exists, pieces_, 0u));
    for (auto i : t.range(t.let(lane_ + lanes_ * rounds), end, lanes_).no_unroll())
      f(staged_piece{staged_, t.let(begin_ + i * width)});
  }

  constexpr val<bool> is_held(const staged_piece& p) const { return t_.let(p.slot < staged_); }
  constexpr val<u32> place(const staged_piece& p, u32 part) const {
    return has_copies ? t_.let(p.slot + part_words * part) : t_.let(p.slot + staged_ * part);
  }

  // Begins to copy a piece of the row at x into stage x_stage, and one of the row at dy into the stage in use.
  constexpr void copy_x(const val<u64>& x, const staged_piece& p, const val<u32>& x_stage) {
    cp_async<16>(memory_[p.slot + x_stage], pointer_at<inout<u32x4>>(t_, at(x, p.first))[0]);
  }
  constexpr void copy_dy(const val<u64>& dy, const staged_piece& p) {
    const val slot = t_.let(p.slot + stage_);
    cp_async<16>(memory_[slot + part_words], pointer_at<inout<u32x4>>(t_, at(dy, p.first))[0]);
  }
  // Fills the slot of a piece from the rows at x and dy, asynchronously if it can.
  constexpr void copy(const val<u64>& x, const val<u64>& dy, const staged_piece& p) {
    thread t = t_;
    if constexpr (has_copies) {
      copy_x(x, p, t.let(x_stage_ + 0u));
      copy_dy(dy, p);
    } else {
      const auto of_x = loaded(x, p), of_dy = loaded(dy, p);
      give(p.slot, of_x);
      give(place(p, 1), of_dy);
    }
  }
  // A piece of the next row of x, in stage x_stage.
  constexpr auto x_ahead(const staged_piece& p, const val<u32>& x_stage) {
    return taken(t_.let(p.slot + x_stage));
  }
  // The stages of x: of the row in use, of the next row, and of the row after it.
  constexpr auto x_stages(const val<bool>& has_third) const {
    constexpr u32 second = part_words * stage_parts, third = second + 2 * part_words;
    const val last = t_.let(select(has_third, third, 0u));
    const auto after = [&](const val<u32>& stage) {
      return t_.let(select(stage == 0u, second, select(stage == second, last, 0u)));
    };
    const val now = t_.let(x_stage_ + 0u), next = after(now), then = after(next);
    return array_of<3>([&](u32 i) { return i == 0 ? now : i == 1 ? next : then; });
  }
  // The first row is in use.
  constexpr void begin() { x_stage_ = 0u; }
  // The next row is in use; its x is in stage x_stage.
  constexpr void advance(const val<u32>& x_stage) {
    stage_ = part_words * stage_parts - stage_;
    x_stage_ = x_stage;
  }

  // The piece of x, or of dy with Second, whose row is at line().
  template <bool Second, piece_place Place, class Line>
  constexpr auto piece(const Line& line, const staged_piece& p, place_constant<Place>) {
    thread t = t_;
    if constexpr (has_copies && Place == piece_place::held) {
      return taken(Second ? t.let(p.slot + stage_ + part_words) : t.let(p.slot + x_stage_));
    } else if constexpr (has_copies) {
      return loaded(line(), p);
    } else if constexpr (!has_far) {
      return taken(place(p, Second ? 1 : 0));
    } else {
      auto own = words::zeros(t);
      if (auto held = t.when(is_held(p))) take(place(p, Second ? 1 : 0), own);
      if (auto beyond = t.when(!is_held(p))) load(line(), p, own);
      return own;
    }
  }

  template <class Words>
  constexpr void load(const val<u64>& row, const staged_piece& p, Words& to) {
    thread t = t_;
    if constexpr (Vectors)
      words::load(t, at(row, p.first), to);
    else
      words::gather(t, row, p.first, lanes_, size_, to);
  }
  constexpr auto loaded(const val<u64>& row, const staged_piece& p) {
    thread t = t_;
    if constexpr (Vectors) {
      const val four = pointer_at<inout<u32x4>>(t, at(row, p.first))[0];
      return array_of<4>([&](u32 i) { return t.let(four[i]); });
    } else {
      auto own = words::zeros(t);
      load(row, p, own);
      return own;
    }
  }
  template <class Words>
  constexpr void store(const val<u64>& row, const staged_piece& p, const Words& from) {
    thread t = t_;
    if constexpr (Vectors)
      words::store(t, at(row, p.first), from);
    else
      words::scatter(t, row, p.first, lanes_, size_, from);
  }
  // Elements of f32 of a piece, if the row at `row` has this type.
  template <class Numbers>
  constexpr void load_f32(const val<u64>& row, const staged_piece& p, Numbers& to) const {
    thread t = t_;
    const auto memory = pointer_at<inout<f32>>(t, row);
    if constexpr (Vectors) {
      for (u32 i = 0; i < width; i += 4) {
        const val four = load_vec<4>(memory[p.first + i]);
        for (u32 j = 0; j < 4; ++j) to[i + j] = four[j];
      }
    } else {
      for (u32 i = 0; i < width; ++i) {
        const val at = element(p, i);
        if (auto inside = t.when(at < size_)) to[i] = memory[at];
      }
    }
  }
  constexpr void prefetch_piece(const val<u64>& row, const staged_piece& p) const {
    if constexpr (Vectors) prefetch(pointer_at<inout<u32x4>>(t_, at(row, p.first))[0], cache_level::l2);
  }
  // Begins to bring the row at `row`, of at most pair_rounds pieces for each lane, into the second-level cache.
  constexpr void prefetch_row(const val<bool>& exists, const val<u64>& row) const {
    thread t = t_;
    constexpr u32 line = 128 / sizeof(T);
    static_assert(pair_rounds * width <= line);
    const val first = t.let(lane_ * line);
    const val end = t.let(min(problem_[&rows_problem::share], max(size_, begin_) - begin_));
    if (auto inside = t.when(all_of(exists, first < end)))
      prefetch(pointer_at<inout<typename words::bits>>(t, row)[begin_ + first], cache_level::l2);
  }
  constexpr val<u32> element(const staged_piece& p, u32 i) const {
    return Vectors ? t_.let(p.first + i) : t_.let(p.first + lanes_ * i);
  }
  constexpr val<f32> or_zero(const staged_piece& p, u32 i, const val<f32>& x) const {
    if constexpr (Vectors)
      return x;
    else
      return t_.let(select(element(p, i) < size_, x, 0.0f));
  }

  constexpr auto taken(const val<u32>& slot) {
    thread t = t_;
    const val four = memory_[slot];
    return array_of<4>([&](u32 i) { return t.let(four[i]); });
  }
  template <class Words>
  constexpr void take(const val<u32>& slot, Words& to) {
    const val four = memory_[slot];
    for (u32 i = 0; i < 4; ++i) to[i] = four[i];
  }
  template <class Words>
  constexpr void give(const val<u32>& slot, const Words& from) {
    memory_[slot] = make_vec(from[0], from[1], from[2], from[3]);
  }

 private:
  constexpr val<u32> find_pieces() const {
    thread t = t_;
    const val left = t.let(max(size_, begin_) - begin_);
    const val own = t.let(min(left, problem_[&rows_problem::share]));
    if constexpr (Vectors)
      return t.let(own / width);
    else
      return t.let((own + (lanes_ * width - 1u)) / width >> lanes_log_);
  }
  constexpr val<u64> at(const val<u64>& row, const val<u32>& element) const {
    return t_.let(row + cast<u64>(element) * u64{sizeof(T)});
  }

  thread t_;
  dynamic_shared<u32x4> memory_;
  Problem problem_;
  val<u32> size_, lanes_log_, blocks_, staged_, lanes_, rank_, lane_, block_, begin_, pieces_;
  var<u32> stage_, x_stage_;  // the first words of the stages in use
};

}  // namespace kaio::ops
