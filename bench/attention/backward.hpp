#pragma once
// The gradients of one problem: random operands, the attention, the call, the check of its results, and its
// times.

#include "bench/attention/measurement.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/attention_backward.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace kaio::bench {

// Whether the benchmark has a call for it.
inline bool can_measure_backward(const problem& p) {
  return p.what != work::documents && p.what != work::bias && p.what != work::padding;
}

template <class T>
class attention_backward_bench : attention_measurement<T> {
  using base = attention_measurement<T>;
  using base::blocks, base::gpu_, base::make_operands, base::normal, base::options_of, base::stream_;
  using typename base::operands;

 public:
  using base::base;

  measured measure(const problem& p) {
    operands x = make_operands(p);
    gradients g = make_gradients(p, x);
    measured result;
    result.kernel = p.is_packed() ? packed(p, x, g) : batched(p, x, g);
    contestant kaio{"kaio", put_};
    for (buffer<T>* const each : {&g.dq[0], &g.dk[0], &g.dv[0]})
      poison<T>.launch(stream_, grid(blocks()), *each, u64{each->size()});
    kaio.run(0);
    result.error = distance(p, x, g);
    this->time(kaio, x.o.size(), result);
    return result;
  }

 private:
  struct gradients {
    std::vector<buffer<T>> dout, dq, dk, dv;
    std::vector<buffer<f32>> lse;
    buffer<u8> workspace;
  };

  gradients make_gradients(const problem& p, const operands& x) {
    gradients g;
    for (std::size_t i = 0; i < x.o.size(); ++i) {
      g.dout.push_back(normal(x.o[i].size()));
      g.dq.push_back(gpu_.template allocate<T>(x.q[i].size()));
      g.dk.push_back(gpu_.template allocate<T>(x.k[i].size()));
      g.dv.push_back(gpu_.template allocate<T>(x.v[i].size()));
      g.lse.push_back(gpu_.template allocate<f32>(u64{p.batches} * p.length * p.heads));
    }
    return g;
  }

  // The views of set i, (batch, sequence, head, element), or packed (row, head, element).
  template <std::size_t Rank>
  struct of_set {
    of_set(operands& x, gradients& g, std::size_t i, const extents<Rank>& of_q, const extents<Rank>& of_k,
           const extents<Rank - 1>& of_rows)
        : q(x.q[i], of_q),
          k(x.k[i], of_k),
          v(x.v[i], of_k),
          dout(g.dout[i], of_q),
          o(x.o[i], of_q),
          dq(g.dq[i], of_q),
          dk(g.dk[i], of_k),
          dv(g.dv[i], of_k),
          lse(g.lse[i], of_rows) {}
    tensor_view<const T, Rank> q, k, v, dout;
    tensor_view<T, Rank> o, dq, dk, dv;
    tensor_view<f32, Rank - 1> lse;
  };

  std::string batched(const problem& p, operands& x, gradients& g) {
    const extents of_q(p.batches, p.length, p.heads, p.size), of_k(p.batches, p.length, p.key_heads, p.size);
    const extents of_rows(p.batches, p.heads, p.length);
    const attention_options forward = options_of(p, x, {});
    for (std::size_t i = 0; i < x.o.size(); ++i) {
      const of_set<4> set(x, g, i, of_q, of_k, of_rows);
      attention_options with_lse = forward;
      with_lse.lse = set.lse;
      attention(stream_, set.q, set.k, set.v, set.o, with_lse);
    }
    const of_set<4> first(x, g, 0, of_q, of_k, of_rows);
    g.workspace =
        gpu_.template allocate<u8>(attention_backward_workspace_bytes(stream_, first.q, first.k, first.v));
    const attention_backward_options options{.forward = forward, .workspace = g.workspace};
    put_ = [this, &x, &g, of_q, of_k, of_rows, options](std::size_t i) {
      const of_set<4> set(x, g, i, of_q, of_k, of_rows);
      attention_backward(stream_, set.dout, set.q, set.k, set.v, set.o, set.lse, set.dq, set.dk, set.dv,
                         options);
    };
    return std::string(ops::attention_backward_choice(stream_, first.dout, first.q, first.k, first.v, first.o,
                                                      first.lse, first.dq, first.dk, first.dv, options)
                           .name);
  }

  std::string packed(const problem& p, operands& x, gradients& g) {
    const u64 rows = u64{p.batches} * p.length;
    const extents of_q(rows, p.heads, p.size), of_k(rows, p.key_heads, p.size);
    const extents<2> of_rows(p.heads, rows);
    const tensor_view<const i32, 1> begins(x.sequences, x.sequences.size());
    const attention_sequences sequences{
        .cu_q = begins, .cu_k = begins, .max_q = x.longest, .max_k = x.longest};
    const attention_options forward = options_of(p, x, {});
    for (std::size_t i = 0; i < x.o.size(); ++i) {
      const of_set<3> set(x, g, i, of_q, of_k, of_rows);
      attention_options with_lse = forward;
      with_lse.lse = set.lse;
      attention_varlen(stream_, set.q, set.k, set.v, set.o, sequences, with_lse);
    }
    const of_set<3> first(x, g, 0, of_q, of_k, of_rows);
    g.workspace = gpu_.template allocate<u8>(
        attention_backward_varlen_workspace_bytes(stream_, first.q, first.k, first.v, sequences));
    const attention_backward_options options{.forward = forward, .workspace = g.workspace};
    put_ = [this, &x, &g, of_q, of_k, of_rows, sequences, options](std::size_t i) {
      const of_set<3> set(x, g, i, of_q, of_k, of_rows);
      attention_backward_varlen(stream_, set.dout, set.q, set.k, set.v, set.o, set.lse, set.dq, set.dk,
                                set.dv, sequences, options);
    };
    return "varlen";
  }

  // The largest of the three gradients' errors.
  double distance(const problem& p, const operands& x, const gradients& g) {
    constexpr u32 samples = 256;
    auto want = gpu_.template allocate<f64>(samples), got = gpu_.template allocate<f64>(samples);
    double largest = 0;
    const auto check = [&](const auto& kernel, const buffer<T>& gradient) {
      kernel.launch(stream_, grid(samples), x.q[0], x.k[0], x.v[0], x.o[0], g.dout[0], g.lse[0], x.document,
                    x.slopes, gradient, want, got, base::sampled(p));
      stream_.synchronize();
      largest = std::max(largest, base::relative_error(want, got));
    };
    check(sample_gradient<T, gradient_of::q>, g.dq[0]);
    check(sample_gradient<T, gradient_of::k>, g.dk[0]);
    check(sample_gradient<T, gradient_of::v>, g.dv[0]);
    return largest;
  }

  std::function<void(std::size_t)> put_;  // the call, with the operands of set i
};

}  // namespace kaio::bench
