#pragma once
// The producer of a block of attention for sm_90a: one thread that copies tiles of Q, K and V into their
// rings, with a record for each tile of queries and each step (records.hpp). V follows one step after its K,
// since consumers multiply by it later.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/forward/sm90/cluster.hpp>
#include <kaio/ops/attention/forward/sm90/config.hpp>
#include <kaio/ops/attention/forward/sm90/operands.hpp>
#include <kaio/ops/attention/forward/sm90/query_walk.hpp>
#include <kaio/ops/attention/forward/sm90/records.hpp>
#include <kaio/ops/attention/forward/sm90/shared.hpp>

#include <cstdint>

namespace kaio::ops {

// k_rest and v_rest: maps of the last elements of the rows of k and v.
template <scalar T>
struct attention_sm90_maps {
  tensor_map<T, 4> q, k, v, k_rest, v_rest;

  constexpr void prefetch() const {
    dsl::prefetch(q);
    dsl::prefetch(k);
    dsl::prefetch(v);
  }
};

template <attention_sm90_config C, scalar T, class Walks>
class attention_sm90_producer {
 public:
  constexpr attention_sm90_producer(thread t, const attention_sm90_shared<C, T>& shared,
                                    const attention_sm90_maps<T>& maps, const val<attention_problem>& problem,
                                    const Walks& walks)
      : t_(t),
        shared_(shared),
        maps_(maps),
        problem_(problem),
        walks_(walks),
        to_q_(shared.q_stages.producer(t)),
        to_k_(shared.k_stages.producer(t)),
        to_v_(shared.v_stages.producer(t)),
        copied_(t),
        last_(t),
        record_(t, 0u),
        walk_(t, problem, C.queries(), walks, first_tile(t)) {}

  // Copies all tiles of the block.
  constexpr void run() {
    for (auto tiles : t_.loop()) {
      to_q_.acquire();
      if (auto end = t_.when(!walk_.has_tile())) put_end();
      tiles.break_if(!walk_.has_tile());
      const attention_block block = walk_.block();
      put_queries(block);
      const auto range = walks_.template walk<C.keys>(t_, block, C.queries());
      const step_range own = steps_of_block(t_, {range.first, range.last});
      // At least one step; without keys it is fully masked.
      const val end = t_.let(max(own.last, own.first + 1u));
      for (auto tile : t_.range(own.first, end).no_unroll())
        put_step(block, step_of(t_, range, t_.let(tile), own.last));
      walk_.advance();
    }
    put_last_values();
  }

 private:
  static constexpr bool divides_keys = C.most_parts() > 1;
  // Where V of a step begins.
  struct rows_of_step {
    var<u32> row, head, batch;
    constexpr explicit rows_of_step(thread t) : row(t, 0u), head(t, 0u), batch(t, 0u) {}
  };

  // The block's first tile of queries, shared within its cluster, and its part of a tile's steps.
  static constexpr val<u32> first_tile(thread t) {
    if constexpr (divides_keys)
      return t.let(block_idx_x() >> bits_of_cluster(t));
    else
      return t.let(block_idx_x());
  }
  static constexpr step_range steps_of_block(thread t, const step_range& all) {
    if constexpr (divides_keys) {
      const val part = cluster_rank(t), bits = bits_of_cluster(t);
      return steps_of_part(t, all, part, bits);
    } else {
      return all;
    }
  }
  // Bytes of these columns of a tile of keys.
  constexpr val<u32> bytes(const val<u32>& columns) const {
    return t_.let(columns * u32{C.keys * sizeof(T)});
  }

  // Marks the end of the tiles for all consumers; the first stage is acquired.
  constexpr void put_end() {
    shared_.queries.put_end(t_.let(record_));
    to_q_.commit();
    for (u32 stage = 1; stage < C.tile_stages(); ++stage) {
      to_q_.advance();
      to_q_.acquire();
      to_q_.commit();
    }
  }
  // A tile's record and Q; its first stage is acquired.
  constexpr void put_queries(const attention_block& block) {
    shared_.queries.put(t_.let(record_), block);
    record_ = (record_ + 1u) % query_records::count;
    const val first_row = t_.let(block.first_q_row + block.first_query);
    if constexpr (C.tile_stages() == 1) {
      load_queries(block, first_row);
    } else {
      for (auto row : t_.range(0u, C.queries(), C.stage_queries()).no_unroll()) {
        to_q_.acquire();
        load_queries(block, t_.let(first_row + row));
      }
    }
  }
  constexpr void load_queries(const attention_block& block, const val<u32>& row) {
    to_q_.full().arrive_expect_tx(C.q_bytes());
    load_rows<T>(shared_.q[to_q_.stage()], maps_.q, row, block.head, block.tensor_batch, to_q_.full());
    to_q_.advance();
  }
  // The record and K of a step, and V of the step before.
  constexpr void put_step(const attention_block& block, const key_step& step) {
    const val row = t_.let(block.first_k_row + step.first_key);
    to_k_.acquire();
    shared_.steps.put(to_k_.stage(), step);
    load_keys(block, row);
    put_last_values();
    copied_.advance();
    last_.row = row;
    last_.head = block.group;
    last_.batch = block.tensor_batch;
  }
  constexpr void load_keys(const attention_block& block, const val<u32>& row) {
    const val columns = copied_.template of<C.depth_qk>(t_.let(problem_[&attention_problem::qk_size]));
    to_k_.full().arrive_expect_tx(bytes(columns));
    load_rows<T>(t_, shared_.k[to_k_.stage()], maps_.k, maps_.k_rest, columns, row, block.group,
                 block.tensor_batch, to_k_.full());
    to_k_.advance();
  }
  // V of the last step, if there was one.
  constexpr void put_last_values() {
    if (auto some = t_.when(copied_.has_advanced())) {
      const val columns = copied_.template of<C.depth_v>(t_.let(problem_[&attention_problem::v_size]));
      to_v_.acquire_expect(bytes(columns));
      const val row = t_.let(last_.row), head = t_.let(last_.head), batch = t_.let(last_.batch);
      load_rows<T>(t_, shared_.v[to_v_.stage()], maps_.v, maps_.v_rest, columns, row, head, batch,
                   to_v_.full());
      to_v_.advance();
    }
  }

  thread t_;
  const attention_sm90_shared<C, T>& shared_;
  const attention_sm90_maps<T>& maps_;
  const val<attention_problem>& problem_;
  const Walks& walks_;
  pipeline_producer<C.query_stages> to_q_;
  pipeline_producer<C.stages> to_k_, to_v_;
  copied_columns<C.stages> copied_;
  rows_of_step last_;
  var<u32> record_;  // record of the next tile of queries
  query_walk<Walks> walk_;
};

}  // namespace kaio::ops
