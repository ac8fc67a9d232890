#pragma once
// A problem of context_attention, run on ranks and on one device, and compared with double precision: the largest error is
// at most twice that of one device.

#include "tests/ops/distributed/support.hpp"

#include <kaio/ops/attention.hpp>
#include <kaio/ops/attention_backward.hpp>
#include <kaio/ops/context_attention.hpp>

#include <cmath>
#include <mutex>
#include <random>

namespace kaio::tests {

struct context_case {
  int ranks = 2, head_ranks = 1;
  context_layout layout = context_layout::zigzag;
  u32 batches = 1, rows = 40, heads = 2, key_heads = 1, qk_size = 16, v_size = 16;
  bool causal = true;
  attention_window window{};
  f32 softcap = 0;
  bool sinks = false;
  std::vector<i64> lengths{};  // of contiguous ranks, if they are not equal
  std::vector<i64> packed{};   // lengths of packed sequences, `rows` in all
  std::uint64_t seed = 1;

  std::vector<context_rows> rows_of(int rank) const {
    if (lengths.empty() && !packed.empty()) return context_rows_of(layout, packed, ranks, rank);
    if (lengths.empty()) return context_rows_of(layout, rows, ranks, rank);
    i64 begin = 0;
    for (int r = 0; r < rank; ++r) begin += lengths[static_cast<std::size_t>(r)];
    return {{begin, lengths[static_cast<std::size_t>(rank)]}};
  }
  std::string text() const {
    const auto n = [](auto x) { return std::to_string(x) + " "; };
    std::string sequences = packed.empty() ? "" : "packed ";
    for (const i64 length : packed) sequences += n(length);
    return sequences + "ranks " + n(ranks) + "head_ranks " + n(head_ranks) + "layout " +
           n(static_cast<int>(layout)) + "B " + n(batches) + "S " + n(rows) + "Hq " + n(heads) + "Hkv " +
           n(key_heads) + "D " + n(qk_size) + "Dv " + n(v_size) + "causal " + n(causal) + "window " +
           n(window.left) + n(window.right) + "softcap " + n(softcap) + "sinks " + n(sinks) + "seed " +
           n(seed);
  }
  std::size_t sequence_of(i64 row) const {
    std::size_t s = 0;
    while (s < packed.size() && row >= packed[s]) row -= packed[s++];
    return s;
  }
  bool keeps(i64 i, i64 j) const {
    const i64 right = causal ? 0 : window.right;
    if (sequence_of(i) != sequence_of(j)) return false;
    return (window.left < 0 || j >= i - window.left) && (right < 0 || j <= i + right);
  }
};

// (batch, row, head, element) in double precision.
struct whole_tensor {
  u32 batches, rows, heads, size;
  std::vector<double> x;
  whole_tensor(u32 b, u32 r, u32 h, u32 d)
      : batches(b), rows(r), heads(h), size(d), x(std::size_t{b} * r * h * d) {}
  double& at(u32 b, i64 r, u32 h, u32 e) {
    return x[((std::size_t{b} * rows + static_cast<std::size_t>(r)) * heads + h) * size + e];
  }
  double at(u32 b, i64 r, u32 h, u32 e) const { return const_cast<whole_tensor&>(*this).at(b, r, h, e); }
  template <class T>
  void fill(std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<float> any(-1, 1);
    for (double& v : x) v = to_double(from_float<T>(any(engine)));
  }
  template <class T>
  std::vector<T> rows_in(const std::vector<context_rows>& own) const {
    std::vector<T> part;
    for (u32 b = 0; b < batches; ++b)
      for (const context_rows& r : own)
        for (i64 i = 0; i < r.count; ++i)
          for (u32 h = 0; h < heads; ++h)
            for (u32 e = 0; e < size; ++e)
              part.push_back(from_float<T>(static_cast<float>(at(b, r.begin + i, h, e))));
    return part;
  }
  template <class T>
  void set_rows(const std::vector<context_rows>& own, const std::vector<T>& part) {
    std::size_t n = 0;
    for (u32 b = 0; b < batches; ++b)
      for (const context_rows& r : own)
        for (i64 i = 0; i < r.count; ++i)
          for (u32 h = 0; h < heads; ++h)
            for (u32 e = 0; e < size; ++e) at(b, r.begin + i, h, e) = to_double(part[n++]);
  }
  double largest() const {
    double most = 0;
    for (const double v : x) most = std::max(most, std::abs(v));
    return most;
  }
};

inline double distance(const whole_tensor& a, const whole_tensor& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.x.size(); ++i) {
    const double d = std::abs(a.x[i] - b.x[i]);
    most = std::isnan(d) ? std::numeric_limits<double>::infinity() : std::max(most, d);
  }
  return most;
}

struct context_tensors {
  whole_tensor q, k, v, dout, out, lse, dq, dk, dv, dsinks;
  explicit context_tensors(const context_case& c)
      : q(c.batches, c.rows, c.heads, c.qk_size),
        k(c.batches, c.rows, c.key_heads, c.qk_size),
        v(c.batches, c.rows, c.key_heads, c.v_size),
        dout(c.batches, c.rows, c.heads, c.v_size),
        out(dout),
        lse(c.batches, c.rows, c.heads, 1),
        dq(q),
        dk(k),
        dv(v),
        dsinks(1, 1, c.heads, 1) {
    std::fill(dsinks.x.begin(), dsinks.x.end(), NAN);
  }
};

inline f32 sink_of(u32 h) { return 0.5f - static_cast<f32>(h); }

// out, lse and gradients in double precision.
inline void compute(const context_case& c, context_tensors& t) {
  const double scale = 1 / std::sqrt(double(c.qk_size));
  for (whole_tensor* g : {&t.dq, &t.dk, &t.dv, &t.dsinks}) std::fill(g->x.begin(), g->x.end(), 0.0);
  std::vector<double> x(c.rows), slope(c.rows);
  for (u32 b = 0; b < c.batches; ++b)
    for (u32 h = 0; h < c.heads; ++h) {
      const u32 g = h / (c.heads / c.key_heads);
      for (u32 i = 0; i < c.rows; ++i) {
        double sum = c.sinks ? std::exp(double(sink_of(h))) : 0;
        for (u32 j = 0; j < c.rows; ++j) {
          if (!c.keeps(i, j)) continue;
          double dot = 0;
          for (u32 e = 0; e < c.qk_size; ++e) dot += t.q.at(b, i, h, e) * t.k.at(b, j, g, e);
          x[j] = dot * scale;
          slope[j] = 1;
          if (c.softcap > 0) {
            const double y = std::tanh(x[j] / double(c.softcap));
            x[j] = double(c.softcap) * y;
            slope[j] = 1 - y * y;
          }
          sum += std::exp(x[j]);
        }
        const double lse = std::log(sum);
        t.lse.at(b, i, h, 0) = lse;
        double delta = 0;
        for (u32 e = 0; e < c.v_size; ++e) {
          double o = 0;
          for (u32 j = 0; j < c.rows; ++j)
            if (c.keeps(i, j)) o += std::exp(x[j] - lse) * t.v.at(b, j, g, e);
          t.out.at(b, i, h, e) = o;
          delta += o * t.dout.at(b, i, h, e);
        }
        if (c.sinks) t.dsinks.at(0, 0, h, 0) -= std::exp(double(sink_of(h)) - lse) * delta;
        for (u32 j = 0; j < c.rows; ++j) {
          if (!c.keeps(i, j)) continue;
          const double p = std::exp(x[j] - lse);
          double dp = 0;
          for (u32 e = 0; e < c.v_size; ++e) {
            dp += t.dout.at(b, i, h, e) * t.v.at(b, j, g, e);
            t.dv.at(b, j, g, e) += p * t.dout.at(b, i, h, e);
          }
          const double ds = p * (dp - delta) * slope[j] * scale;
          for (u32 e = 0; e < c.qk_size; ++e) {
            t.dq.at(b, i, h, e) += ds * t.k.at(b, j, g, e);
            t.dk.at(b, j, g, e) += ds * t.q.at(b, i, h, e);
          }
        }
      }
    }
}

// The lse of memory (batches, heads, rows) as rows of one element.
inline std::vector<f32> turned(const std::vector<f32>& lse, u32 batches, u32 heads, std::size_t rows,
                               bool to_rows) {
  std::vector<f32> result(lse.size());
  for (u32 b = 0; b < batches; ++b)
    for (u32 h = 0; h < heads; ++h)
      for (std::size_t i = 0; i < rows; ++i) {
        const std::size_t by_head = (std::size_t{b} * heads + h) * rows + i,
                          by_row = (std::size_t{b} * rows + i) * heads + h;
        if (to_rows)
          result[by_row] = lse[by_head];
        else
          result[by_head] = lse[by_row];
      }
  return result;
}

// Runs a rank's part: forward, and gradients if they are wanted.
template <class T>
void run_rank(const context_case& p, const context_tensors& t, context_tensors& got, std::mutex& writes,
              int r, const communicator& c, const stream& s, bool gradients) {
  const auto own = p.rows_of(r);
  std::size_t n = 0;
  for (const context_rows& piece : own) n += static_cast<std::size_t>(piece.count);
  const device& gpu = c.on();
  const auto view = [&](auto& memory, u32 heads, u32 size) {
    return tensor_view(memory, p.batches, n, heads, size);
  };
  auto q = gpu.upload(t.q.rows_in<T>(own)), k = gpu.upload(t.k.rows_in<T>(own)),
       v = gpu.upload(t.v.rows_in<T>(own));
  auto dout = gpu.upload(t.dout.rows_in<T>(own));
  const std::size_t numbers = std::size_t{p.batches} * n * p.heads;
  auto out = gpu.upload(std::vector<T>(numbers * p.v_size, from_float<T>(NAN)));
  auto lse = gpu.upload(std::vector<f32>(numbers, NAN));
  std::vector<f32> sink_values;
  for (u32 h = 0; h < p.heads; ++h) sink_values.push_back(sink_of(h));
  auto sinks = gpu.upload(sink_values);
  context_attention_options options{
      .causal = p.causal ? causal_alignment::bottom_right : causal_alignment::none,
      .window = p.window,
      .softcap = p.softcap,
      .layout = p.layout,
      .lengths = p.packed,
      .head_ranks = p.head_ranks};
  if (p.sinks) options.sinks = tensor_view(sinks, p.heads);
  const auto qv = view(q, p.heads, p.qk_size), kv = view(k, p.key_heads, p.qk_size),
             vv = view(v, p.key_heads, p.v_size);
  const auto ov = view(out, p.heads, p.v_size);
  const tensor_view lv(lse, p.batches, p.heads, n);
  options.lse = lv;
  auto memory = gpu.allocate<u8>(context_attention_workspace_bytes(c, s, qv, kv, vv, options));
  options.workspace = memory;
  context_attention(c, s, qv, kv, vv, ov, options);
  auto dq = gpu.upload(std::vector<T>(q.size(), from_float<T>(NAN))),
       dk = gpu.upload(std::vector<T>(k.size(), from_float<T>(NAN))),
       dv = gpu.upload(std::vector<T>(v.size(), from_float<T>(NAN)));
  auto dsinks = gpu.upload(std::vector<f32>(p.heads, NAN));
  if (gradients) {
    if (p.sinks) options.dsinks = tensor_view(dsinks, p.heads);
    auto more = gpu.allocate<u8>(context_attention_backward_workspace_bytes(c, s, qv, kv, vv, options));
    options.workspace = more;
    context_attention_backward(c, s, view(dout, p.heads, p.v_size), qv, kv, vv, ov, lv,
                               view(dq, p.heads, p.qk_size), view(dk, p.key_heads, p.qk_size),
                               view(dv, p.key_heads, p.v_size), options);
    s.synchronize();
  }
  s.synchronize();
  const std::scoped_lock lock(writes);
  got.out.set_rows(own, out.download());
  got.lse.set_rows(own, turned(lse.download(), p.batches, p.heads, n, true));
  if (!gradients) return;
  got.dq.set_rows(own, dq.download());
  got.dk.set_rows(own, dk.download());
  got.dv.set_rows(own, dv.download());
  if (!p.sinks) return;
  const std::vector<f32> sums = dsinks.download();
  const bool is_first = std::isnan(got.dsinks.x[0]);
  must(is_first || got.dsinks.rows_in<f32>({{0, 1}}) == sums, "all ranks have the sinks' gradient");
  got.dsinks.set_rows({{0, 1}}, sums);
}

template <class T>
context_tensors inputs_of(const context_case& p) {
  context_tensors t(p);
  t.q.fill<T>(p.seed * 4 + 1), t.k.fill<T>(p.seed * 4 + 2), t.v.fill<T>(p.seed * 4 + 3),
      t.dout.fill<T>(p.seed * 4 + 4);
  return t;
}

template <class T>
context_tensors run_on_ranks(const context_case& p, const context_tensors& t, bool gradients,
                             bool direct = true) {
  context_tensors got(p);
  std::mutex writes;
  run_all(group_of(p.ranks, direct), [&](int r, const communicator& c, const stream& s) {
    run_rank<T>(p, t, got, writes, r, c, s, gradients);
  });
  return got;
}

// Fails the test if the errors are above twice those of one device.
template <class T>
void check_context(const context_case& p, bool gradients) {
  INFO(p.text());
  context_tensors t = inputs_of<T>(p);
  const context_tensors got = run_on_ranks<T>(p, t, gradients);
  context_case single = p;
  single.ranks = single.head_ranks = 1;
  single.lengths.clear();
  const context_tensors alone = run_on_ranks<T>(single, t, gradients);
  compute(p, t);
  struct named {
    const char* name;
    const whole_tensor *got, *alone, *exact;
  };
  std::vector<named> list = {{"out", &got.out, &alone.out, &t.out}};
  if (gradients)
    list.insert(list.end(), {{"dq", &got.dq, &alone.dq, &t.dq},
                             {"dk", &got.dk, &alone.dk, &t.dk},
                             {"dv", &got.dv, &alone.dv, &t.dv}});
  if (gradients && p.sinks) list.push_back({"dsinks", &got.dsinks, &alone.dsinks, &t.dsinks});
  for (const named& n : list) {
    INFO(n.name);
    const double error = distance(*n.got, *n.exact), of_one = distance(*n.alone, *n.exact);
    // The terms of the sinks' gradient are below 1 and cancel, and ranks add them in another order than one device.
    const bool cancels = n.got == &got.dsinks;
    const double unit = unit_in_last_place<T>(std::max(n.exact->largest(), cancels ? 1.0 : 0.0));
    CHECK(error <= std::max(2 * of_one, unit));
  }
  CHECK(distance(got.lse, t.lse) <= 2 * std::max(distance(alone.lse, t.lse), 1e-6));
}

}  // namespace kaio::tests
