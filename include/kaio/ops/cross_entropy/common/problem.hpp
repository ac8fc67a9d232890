#pragma once
// Parameters of the kernels of cross_entropy and of its gradient.

#include <kaio/dsl/number/scalar.hpp>

namespace kaio::ops {

// What belongs to rows: the first one's address, and their distance in elements.
struct row_numbers {
  u64 address;
  i64 stride;
};

struct cross_entropy_terms {
  i64 ignored;  // rows with this target count for nothing
  u64 weights;  // f32, one for each class; 0: there are none
  f32 smoothing, z_loss;
  f32 softcap;    // 0: none
  f32 cap_scale;  // 2 log2(e) / softcap
};

// The logits of a launch are those of all classes or, for linear_cross_entropy, of a part of them.
struct cross_entropy_problem {
  u32 rows, size;        // size: classes of these logits
  u32 first, classes;    // the number of the first one, and all classes
  u32 lanes_log;         // log2 of a block's threads for a row
  u32 has_wide_targets;  // i64, else i32
  row_numbers logits, targets;
  row_numbers lse;  // f32; address 0: not stored
  cross_entropy_terms terms;
};

struct cross_entropy_forward_problem {
  cross_entropy_problem of;
  row_numbers losses;
  u64 target_weights;  // f32, one for each row: the weight of its target, 0 if it is ignored; 0: not stored
  u64 states;          // f32, cross_entropy_states of `rows` numbers; 0: these logits are of all classes
  u32 has_before;      // states has what launches for the classes before have found
  u32 is_last;         // no classes follow: losses are stored, else states
};

// What is known of a row after a part of its classes: the largest z, the sum of e^(z - largest), the sums of
// w z and of w, and the z of its target, or 0.
inline constexpr u32 cross_entropy_states = 5;

struct cross_entropy_backward_problem {
  cross_entropy_problem of;
  row_numbers dlosses;
  u64 total_weight;  // f32, which divides the gradients; 0: there is none
  row_numbers dlogits;
  u32 parts_log;  // log2 of the blocks that share a row
};

// Sums of numbers in blocks of totals_of_block.
inline constexpr u32 totals_threads = 1024, totals_of_thread = 8;
inline constexpr u32 totals_of_block = totals_threads * totals_of_thread;

struct cross_entropy_totals_problem {
  u64 losses, weights;  // f32, neighbours
  u32 count;
  u64 loss, weight;  // for each block the sum of its losses, of its weights; weight may be 0: not stored
  u32 divides;       // the loss by the weight
};

}  // namespace kaio::ops
