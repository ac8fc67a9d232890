// Rows reach the ranks of their experts and come back, whatever the counts; products of experts that are divided among ranks are
// those of one device.

#include "tests/ops/distributed/support.hpp"

#include <kaio/ops/combine_experts.hpp>
#include <kaio/ops/exchange_experts.hpp>
#include <kaio/ops/matmul_grouped.hpp>
#include <kaio/ops/sort_by_expert.hpp>

#include <algorithm>
#include <vector>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr peer_workspace_options small{.sum_bytes = 1024, .one_shot_bytes = 512, .blocks = 2};

// The rows of rank r for expert e: none for some, and none at all from rank 1.
std::size_t count_of(std::size_t r, std::size_t e, std::size_t call) {
  return r == 1 && call % 2 == 0 ? 0 : (r * 3 + e * 5 + call) % 4;
}
// Element i of a row of rank r.
template <class T>
T element(std::size_t r, std::size_t row, std::size_t i) {
  return from_float<T>(static_cast<float>(r * 16 + row % 16) + static_cast<float>(i) / 8);
}

}  // namespace

TEMPLATE_TEST_CASE("rows reach the ranks of their experts, and come back", "", f16, f32) {
  const int ranks = GENERATE(2, 3, 4, 8);
  const std::size_t size = std::is_same_v<TestType, f16> ? 24 : 5;
  run_all(group_of(ranks), [&](int rank, const communicator& c, const stream& s) {
    const peer_workspace w = peer_workspace::make(c, small);
    const auto world = static_cast<std::size_t>(ranks), own = static_cast<std::size_t>(rank);
    const std::size_t experts = 2 * world, most = 3 * experts;  // rows of a rank
    const bool cut = ranks == 3;                                // room for fewer rows than come
    const std::size_t capacity = cut ? 5 : most * world;
    const peer_buffer received = c.allocate(capacity * size * sizeof(TestType));
    const peer_buffer returned = c.allocate(most * size * sizeof(TestType));
    auto local_offsets = c.on().allocate<i32>(3);
    for (std::size_t call = 0; call < 4; ++call) {
      // Sorted row i is row n - 1 - i of x.
      std::vector<i32> offsets{0};
      for (std::size_t e = 0; e < experts; ++e)
        offsets.push_back(offsets.back() + static_cast<i32>(count_of(own, e, call)));
      const auto n = static_cast<std::size_t>(offsets.back());
      std::vector<TestType> rows(most * size);
      std::vector<i32> indices(most, -1);
      for (std::size_t i = 0; i < n; ++i) {
        indices[i] = static_cast<i32>(n - 1 - i);
        for (std::size_t j = 0; j < size; ++j) rows[(n - 1 - i) * size + j] = element<TestType>(own, i, j);
      }
      const auto x = c.on().upload(rows);
      const auto order = c.on().upload(indices), begins = c.on().upload(offsets);
      const tensor_view<const i32, 1> of_experts(begins, experts + 1);
      send_to_experts(w, s, tensor_view(x, most, size), of_experts, received, tensor_view(local_offsets, 3),
                      {.rows = tensor_view(order, most)});
      const auto here = rows_in<TestType>(received, rank, capacity, size);
      return_from_experts(w, s, here, of_experts, returned);
      s.synchronize();
      const auto got_offsets = local_offsets.download();
      auto copied = c.on().template allocate<TestType>(capacity * size),
           back = c.on().template allocate<TestType>(most * size);
      const auto memory_of = [](const tensor_view<TestType, 2>& v) {
        return runtime::device_pointer<TestType>{
            v.address(), static_cast<std::size_t>(v.bytes() / sizeof(TestType)), v.device()};
      };
      copy(s, copied.view(), memory_of(here));
      copy(s, back.view(), memory_of(rows_in<TestType>(returned, rank, most, size)));
      s.synchronize();
      const auto arrived = copied.download(), came_back = back.download();
      std::size_t row = 0;
      for (std::size_t j = 0; j < 2; ++j) {
        must(got_offsets[j] == static_cast<i32>(std::min(row, capacity)), "offsets of experts");
        for (std::size_t p = 0; p < world; ++p) {
          std::size_t sorted = 0;
          for (std::size_t e = 0; e < own * 2 + j; ++e) sorted += count_of(p, e, call);
          for (std::size_t i = 0; i < count_of(p, own * 2 + j, call); ++i, ++row)
            for (std::size_t k = 0; row < capacity && k < size; ++k)
              must(to_double(arrived[row * size + k]) == to_double(element<TestType>(p, sorted + i, k)),
                   "rows");
        }
      }
      must(got_offsets[2] == static_cast<i32>(std::min(row, capacity)), "the last offset");
      if (!cut)
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t k = 0; k < size; ++k)
            must(to_double(came_back[i * size + k]) == to_double(element<TestType>(own, i, k)),
                 "rows that came back");
    }
  });
}

TEST_CASE("experts of all ranks give the outputs of one device, also when a graph is replayed") {
  const int ranks = GENERATE(2, 4);
  run_all(group_of(ranks), [&](int rank, const communicator& c, const stream& s) {
    const peer_workspace w = peer_workspace::make(c, small);
    const auto world = static_cast<std::size_t>(ranks), own = static_cast<std::size_t>(rank);
    const std::size_t experts = 4, local = experts / world, tokens = 5, k = 2, size = 16, wide = 8,
                      choices = tokens * k;
    std::vector<f16> x(tokens * size), weights(experts * size * wide);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = f16(static_cast<float>((i * 7 + own) % 17) / 8 - 1);
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = f16(static_cast<float>(i * 11 % 19) / 16 - 0.5f);
    std::vector<i32> chosen(choices);
    std::vector<f32> shares(choices);
    auto x_memory = c.on().upload(x), w_memory = c.on().upload(weights);
    auto indices = c.on().allocate<i32>(choices), offsets = c.on().allocate<i32>(experts + 1),
         order = c.on().allocate<i32>(choices), positions = c.on().allocate<i32>(choices),
         local_offsets = c.on().allocate<i32>(local + 1);
    auto share_memory = c.on().allocate<f32>(choices);
    auto z = c.on().allocate<f16>(world * choices * wide), alone = c.on().allocate<f16>(choices * wide),
         out = c.on().allocate<f16>(tokens * wide), want = c.on().allocate<f16>(tokens * wide);
    const peer_buffer received = c.allocate(world * choices * size * sizeof(f16)),
                      returned = c.allocate(choices * wide * sizeof(f16));
    const tensor_view<const f16, 3> all(w_memory, experts, size, wide);
    const tensor_view<const f16, 2> x_rows(x_memory, tokens, size);
    const tensor_view<const i32, 2> places(positions, tokens, k);
    const tensor_view<const f32, 2> of_tokens(share_memory, tokens, k);
    const auto block = [&] {
      sort_by_expert(s, tensor_view(indices, tokens, k), tensor_view(offsets, experts + 1),
                     {.tokens = tensor_view(order, choices), .positions = tensor_view(positions, tokens, k)});
      send_to_experts(w, s, x_rows, tensor_view(offsets, experts + 1), received,
                      tensor_view(local_offsets, local + 1), {.rows = tensor_view(order, choices)});
      matmul_grouped(s, rows_in<const f16>(received, rank, world * choices, size),
                     all.slice(0, static_cast<std::int64_t>(own * local), static_cast<std::int64_t>(local)),
                     tensor_view(local_offsets, local + 1), tensor_view(z, world * choices, wide));
      return_from_experts(w, s, tensor_view(z, world * choices, wide), tensor_view(offsets, experts + 1),
                          returned);
      combine_experts(s, rows_in<const f16>(returned, rank, choices, wide), of_tokens, places,
                      tensor_view(out, tokens, wide));
    };
    const auto choose = [&](std::size_t call) {
      for (std::size_t i = 0; i < choices; ++i) {
        chosen[i] = static_cast<i32>(call == 2 ? 0 : (i * 3 + own + call) % experts);  // call 2: all to one
        shares[i] = static_cast<f32>((i + call) % 3) / 2;
      }
      indices.copy_from(chosen.data(), choices, s);
      share_memory.copy_from(shares.data(), choices, s);
      s.synchronize();
    };
    choose(0);
    block();
    s.synchronize();
    const executable_graph replay = capture_graph(s, block).instantiate();
    for (std::size_t call = 0; call < 4; ++call) {
      choose(call);
      if (call == 0)
        block();
      else
        replay.launch(s);
      matmul_grouped(s, x_rows, all, tensor_view(offsets, experts + 1), tensor_view(alone, choices, wide),
                     {.rows = tensor_view(order, choices)});
      combine_experts(s, tensor_view(alone, choices, wide), of_tokens, places,
                      tensor_view(want, tokens, wide));
      s.synchronize();
      const auto got = out.download();
      must(same_bits(got, want.download()), "call " + std::to_string(call));
      must(std::any_of(got.begin(), got.end(), [](f16 e) { return float(e) != 0; }), "numbers");
    }
  });
}

TEST_CASE("exchanges of experts that do not match are refused on all ranks") {
  const int kind = GENERATE(0, 1, 2, 3, 4);
  run_all(group_of(2), [&](int rank, const communicator& c, const stream& s) {
    const peer_workspace w = peer_workspace::make(c, small);
    auto x = c.on().allocate<f16>(64), other = c.on().allocate<f16>(64);
    auto offsets = c.on().allocate<i32>(8), local_offsets = c.on().allocate<i32>(4);
    const peer_buffer to = c.allocate(256);
    const bool odd = rank == 1;
    const auto call = [&](std::size_t experts, std::size_t size, std::size_t local) {
      send_to_experts(w, s, tensor_view<const f16, 2>(x.slice(0, 4 * size), extents(4, size)),
                      tensor_view(offsets.slice(0, experts + 1), experts + 1), to,
                      tensor_view(local_offsets.slice(0, local + 1), local + 1));
    };
    std::string text;
    try {
      if (kind == 0) call(odd ? 2 : 4, 8, odd ? 1 : 2);
      if (kind == 1) call(3, 8, 1);
      if (kind == 2) call(4, odd ? 7 : 8, 2);
      // Rows in the memory that other ranks write.
      const tensor_view of_experts(offsets.slice(0, 5), 5);
      if (kind == 3)
        send_to_experts(w, s, rows_in<const f16>(to, rank, 4, 8), of_experts, to,
                        tensor_view(local_offsets.slice(0, 3), 3));
      if (kind == 4) return_from_experts(w, s, rows_in<const f16>(to, rank, 4, 8), of_experts, to);
    } catch (const invalid_argument& e) {
      text = e.message();
    }
    must(text.find("rank") != std::string::npos, "refused: " + text);
    call(4, 8, 2);
  });
}
