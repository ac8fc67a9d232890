// Causal attention over a sequence whose rows are divided among ranks. A rank is a thread with a device: all GPUs, or four
// emulated devices. Some rows of the output are compared with double precision.

#include <kaio/ops/context_attention.hpp>
#include <kaio/showcase.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using namespace kaio;

namespace {

struct problem {
  i64 rows;
  u32 heads, size;
  bool gradients;
  std::size_t row_elements() const { return std::size_t{heads} * size; }
};

// Any element of the tensors is known without the others: element e of row i of tensor `which`.
f16 element(u32 which, i64 i, u64 e) {
  u64 x = (static_cast<u64>(i) * 4096 + e) * 3 + which;
  x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
  return f16(static_cast<f32>(x >> 40) / 8388608.0f - 1.0f);
}

struct rank_result {
  double milliseconds = 0, backward_milliseconds = 0;
  std::vector<context_rows> pieces;
  std::vector<f16> out;
};

rank_result run_rank(const communicator& c, const problem& p) {
  const device& gpu = c.on();
  rank_result result;
  result.pieces = context_rows_of(context_layout::zigzag, p.rows, c.ranks(), c.rank());
  i64 rows = 0;
  for (const context_rows& piece : result.pieces) rows += piece.count;
  const auto upload = [&](u32 which) {
    std::vector<f16> values;
    values.reserve(static_cast<std::size_t>(rows) * p.row_elements());
    for (const context_rows& piece : result.pieces)
      for (i64 i = piece.begin; i < piece.begin + piece.count; ++i)
        for (u64 e = 0; e < p.row_elements(); ++e) values.push_back(element(which, i, e));
    return gpu.upload(values);
  };
  const auto view = [&](auto& memory) { return tensor_view(memory, 1, rows, p.heads, p.size); };
  auto q = upload(0), k = upload(1), v = upload(2), out = gpu.allocate<f16>(q.size());
  auto lse_memory = gpu.allocate<f32>(static_cast<std::size_t>(rows) * p.heads);
  const tensor_view lse(lse_memory, 1, p.heads, rows);
  context_attention_options options{.causal = causal_alignment::bottom_right, .lse = lse};
  const stream& s = gpu.stream();
  auto memory = gpu.allocate<u8>(context_attention_workspace_bytes(c, s, view(q), view(k), view(v), options));
  options.workspace = memory;
  const auto forward = [&] { context_attention(c, s, view(q), view(k), view(v), view(out), options); };
  const auto timed = [&](const auto& run) {
    run();  // loads the kernels
    event begin = gpu.create_event(), end = gpu.create_event();
    c.barrier(s);
    s.record(begin);
    run();
    s.record(end);
    return elapsed_ms(begin, end);
  };
  result.milliseconds = timed(forward);
  if (p.gradients) {
    auto dout = upload(3), dq = gpu.allocate<f16>(q.size()), dk = gpu.allocate<f16>(q.size()),
         dv = gpu.allocate<f16>(q.size());
    memory.release();
    memory = gpu.allocate<u8>(
        context_attention_backward_workspace_bytes(c, s, view(q), view(k), view(v), options));
    options.workspace = memory;
    result.backward_milliseconds = timed([&] {
      context_attention_backward(c, s, view(dout), view(q), view(k), view(v), view(out), lse, view(dq),
                                 view(dk), view(dv), options);
    });
  }
  result.out = out.download();
  return result;
}

// The largest error of every `step`-th row of a rank, of an absolute 1 or more.
double error_of(const rank_result& result, const problem& p, i64 step) {
  showcase::largest_error error(1);
  i64 local = 0;
  std::vector<double> x, o(p.size);
  for (const context_rows& piece : result.pieces)
    for (i64 i = piece.begin; i < piece.begin + piece.count; ++i, ++local) {
      if (local % step != 0) continue;
      const u32 h = static_cast<u32>(local / step) % p.heads;
      x.assign(static_cast<std::size_t>(i) + 1, 0);
      double sum = 0;
      for (i64 j = 0; j <= i; ++j) {
        double dot = 0;
        for (u32 e = 0; e < p.size; ++e)
          dot += static_cast<double>(static_cast<f32>(element(0, i, u64{h} * p.size + e))) *
                 static_cast<double>(static_cast<f32>(element(1, j, u64{h} * p.size + e)));
        sum += x[static_cast<std::size_t>(j)] = std::exp(dot / std::sqrt(double{1} * p.size));
      }
      o.assign(p.size, 0);
      for (i64 j = 0; j <= i; ++j)
        for (u32 e = 0; e < p.size; ++e)
          o[e] += x[static_cast<std::size_t>(j)] / sum *
                  static_cast<double>(static_cast<f32>(element(2, j, u64{h} * p.size + e)));
      for (u32 e = 0; e < p.size; ++e)
        error.compare(
            static_cast<double>(static_cast<f32>(
                result.out[static_cast<std::size_t>(local) * p.row_elements() + u64{h} * p.size + e])),
            o[e]);
    }
  return error.value();
}

}  // namespace

int main(int count, char** arguments) {
  return showcase::run("ring_attention", [&](device& first) {
    std::vector<device> devices;
    const bool emulated = first.is_emulator() || device::count() < 2;
    for (int r = 0; r < (emulated ? 4 : device::count()); ++r)
      devices.push_back(device::open((emulated ? "emulator:" : "cuda:") + std::to_string(r)));
    const i64 asked = count > 1 ? std::atoll(arguments[1]) : 0;
    const i64 rows = emulated ? 96 : 1048576;
    const problem p{asked > 0 ? asked : rows, 2, emulated ? 64u : 128u, true};
    const std::vector<communicator> group =
        emulated ? communicator::peers(devices, {.staging_bytes = 1 << 16}) : communicator::peers(devices);
    std::vector<rank_result> results(devices.size());
    std::exception_ptr failure;
    std::mutex failing;
    std::vector<std::thread> ranks;
    for (std::size_t r = 0; r < devices.size(); ++r)
      ranks.emplace_back([&, r] {
        try {
          results[r] = run_rank(group[r], p);
        } catch (...) {
          group[r].abort();  // the other ranks do not wait
          const std::scoped_lock lock(failing);
          if (!failure) failure = std::current_exception();
        }
      });
    for (std::thread& t : ranks) t.join();
    if (failure) std::rethrow_exception(failure);

    double error = 0, milliseconds = 0, backward = 0;
    for (const rank_result& result : results) {
      error = std::max(error, error_of(result, p, std::max<i64>(1, p.rows / 64)));
      milliseconds = std::max(milliseconds, result.milliseconds);
      backward = std::max(backward, result.backward_milliseconds);
    }
    const double pairs = static_cast<double>(p.rows) * static_cast<double>(p.rows + 1) / 2;
    const double products = 4 * pairs * static_cast<double>(p.row_elements());
    if (!emulated)
      std::printf("  gradients       %.3f ms, %.1f TFLOP/s\n", backward, products * 2.5 / backward * 1e-9);
    const double bytes = 4.0 * static_cast<double>(p.rows) * static_cast<double>(p.row_elements()) * 2;
    return showcase::report(
        devices[0], {std::to_string(devices.size()) + " ranks, " + std::to_string(p.rows) + " rows, " +
                         std::to_string(p.heads) + " heads of " + std::to_string(p.size),
                     error, 2e-3, milliseconds, bytes, products});
  });
}
