// attention_with: a score and a mask of the user's own, with memory and numbers of their own, and what it refuses. A kernel
// takes seconds to compile: the cases share them.
#include <kaio/ops/attention_with.hpp>

#include "tests/ops/attention/support.hpp"
#include "tests/ops/refusal.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

// A learned bias for each distance, of each head.
struct relative_bias {
  static constexpr fixed_string name = "relative_bias";
  constexpr val<f32> operator()(thread t, val<f32> x, ops::attention_place at, in<f32> bias,
                                val<u32> distances) const {
    const val apart = t.let(min(abs_diff(at.query, at.key), distances - 1u));
    return t.let(x + bias[at.head * distances + apart]);
  }
};
// Keys of the query's own document, in a window.
struct document_window {
  static constexpr fixed_string name = "document_window";
  constexpr val<bool> operator()(thread t, ops::attention_place at, in<u32> document, val<u32> window) const {
    return t.let(
        all_of(document[at.query] == document[at.key], at.key <= at.query, at.query - at.key < window));
  }
};

constexpr u32 distances = 16, window = 20, length = 100;

template <class T>
void check_with(const attention_case& c) {
  std::vector<f32> bias(std::size_t{c.heads} * distances);
  for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<f32>(i * 7 % 5) / 4 - 0.5f;
  std::vector<u32> document(length);
  for (u32 i = 0; i < length; ++i) document[i] = i / 33;
  auto on_bias = upload(bias);
  auto on_document = upload(document);
  const host_functions both{
      [&](double x, u32, u32 h, u32 i, u32 j) {
        const u32 apart = std::min(i > j ? i - j : j - i, distances - 1);
        return x + double(bias[h * distances + apart]);
      },
      [&](u32, u32, u32 i, u32 j) { return document[i] == document[j] && j <= i && i - j < window; }};
  const auto call = [&](auto score, auto mask, auto&&... extra) {
    return [&, score, mask](const auto& q, const auto& k, const auto& v, const auto& o,
                            const attention_options& options) {
      attention_with<64>(under_test().stream(), q, k, v, o, score, mask, options, extra...);
    };
  };
  check_attention_by<T>(
      c, call(relative_bias{}, document_window{}, on_bias, u32{distances}, on_document, u32{window}), both);
  // Each function with the library's own other half, which takes its numbers out of the options. All kernels find
  // their arguments in one way, so that each pair of halves has one type. A score next to every_key: check_depths.
  if constexpr (std::same_as<T, f32>) {
    attention_case capped = c;
    capped.softcap = 1.5f;
    host_functions mask_alone{[&](double x, u32, u32, u32, u32) { return 1.5 * std::tanh(x / 1.5); },
                              both.mask};
    check_attention_by<T>(capped, call(ops::general_score{}, document_window{}, on_document, u32{window}),
                          mask_alone);
    attention_case causal = c;
    causal.causal = causal_alignment::bottom_right;
    causal.window = {30, -1};
    host_functions score_alone{both.score, nullptr};
    check_attention_by<T>(causal, call(relative_bias{}, ops::band_mask{}, on_bias, u32{distances}),
                          score_alone);
  }
}

// The kernels of other head sizes, with a score that is linear in the distance.
struct penalty {
  static constexpr fixed_string name = "penalty";
  static constexpr bool reads_nothing = true;
  constexpr val<f32> operator()(thread t, val<f32> x, ops::attention_place at, val<f32> slope) const {
    return t.let(x - slope * cast<f32>(abs_diff(at.query, at.key)));
  }
};

template <std::uint32_t Depth, std::uint32_t DepthV>
void check_depths() {
  const host_functions functions{
      [](double x, u32, u32, u32 i, u32 j) { return x - 0.125 * (i > j ? i - j : j - i); }, nullptr};
  check_attention_by<f16>(
      {.queries = 40, .keys = 90, .heads = 2, .key_heads = 1, .qk_size = Depth - 8, .v_size = DepthV},
      [](const auto& q, const auto& k, const auto& v, const auto& o, const attention_options& options) {
        attention_with<Depth, DepthV>(under_test().stream(), q, k, v, o, penalty{}, ops::every_key{}, options,
                                      0.125f);
      },
      functions);
}

}  // namespace

TEST_CASE("attention_with: head sizes", "[ops][attention]") {
  if (under_test().properties().target.sm < 80) return;
  check_depths<192, 128>();
  check_depths<512, 512>();
}

TEST_CASE("attention_with: a bias and a document mask", "[ops][attention]") {
  const attention_case c{.batches = 2,
                         .queries = length,
                         .keys = length,
                         .heads = 4,
                         .key_heads = 2,
                         .qk_size = 48,
                         .v_size = 64};
  if (under_test().properties().target.sm >= 80) check_with<f16>(c);
  check_with<f32>(c);
}

// Their kernels have one name, and are distinguished by their contents.
TEST_CASE("attention_with: lambdas", "[ops][attention]") {
  const attention_case c{
      .batches = 1, .queries = 40, .keys = 70, .heads = 2, .key_heads = 1, .qk_size = 16, .v_size = 24};
  const auto check = [&](auto score, double factor) {
    check_attention_by<f32>(
        c,
        [&](const auto& q, const auto& k, const auto& v, const auto& o, const attention_options& options) {
          const auto near = [](thread t, ops::attention_place at, val<u32> most) {
            return t.let(abs_diff(at.query, at.key) < most);
          };
          attention_with<64>(under_test().stream(), q, k, v, o, score, near, options, 0.25f, u32{9});
        },
        {[&](double x, u32, u32, u32, u32) { return factor * x + 0.25; },
         [](u32, u32, u32 i, u32 j) { return (i > j ? i - j : j - i) < 9; }});
  };
  check([](thread t, val<f32> x, ops::attention_place, val<f32> more) { return t.let(x + more); }, 1);
  check([](thread t, val<f32> x, ops::attention_place, val<f32> more) { return t.let(x * 2.0f + more); }, 2);
}

namespace {

// One head of 64 that attends to itself, and one of 65, which is too large.
struct small_call {
  device& gpu = under_test();
  const std::vector<f32> before = std::vector<f32>(4096, 3.0f);
  buffer<f32> numbers = upload(before), memory = upload(before);
  buffer<u32> documents = upload(std::vector<u32>(64));
  tensor_view<const f32, 4> q{numbers, 1, 4, 1, 64}, wide{numbers, 1, 4, 1, 65};
  tensor_view<f32, 4> o{memory, 1, 4, 1, 64};

  void run(const tensor_view<const f32, 4>& x, const attention_options& options) {
    attention_with<64>(gpu.stream(), x, x, q, o, relative_bias{}, document_window{}, options, numbers,
                       u32{distances}, documents, u32{window});
  }
  void refuses(errc code, const std::string& part, const std::function<void()>& f) {
    require_refusal(code, "kaio: attention_with", part, f);
    gpu.stream().synchronize();
    REQUIRE(same_bits(memory.download(), before));
  }
  void refuses(const std::string& part, const attention_options& options) {
    refuses(errc::invalid_argument, part, [&] { run(q, options); });
  }
};

}  // namespace

TEST_CASE("attention_with: options that a score or a mask of one's own takes the place of",
          "[ops][attention]") {
  small_call t;
  t.refuses("a score of your own", {.softcap = 1.0f});
  t.refuses("a mask of your own", {.causal = causal_alignment::top_left});
  t.refuses("argument bias is not read here", {.bias = tensor_view<const f32, 1>(t.numbers, 4)});
  buffer<u8> bytes = t.gpu.allocate<u8>(4);
  t.refuses("argument keep is not read here", {.keep = tensor_view<const u8, 1>(bytes, 4)});
  auto lists = t.gpu.upload(std::vector<i32>(16, 0));
  t.refuses("write ops::block_sparse<Mask>",
            {.blocks = {.kv_num_blocks = tensor_view<const i32, 3>(lists, 1, 1, 1),
                        .kv_indices = tensor_view<const i32, 4>(lists, 1, 1, 1, 1)}});
  const ptx::target target = t.gpu.properties().target;
  const std::string of_device = "(sm_" + std::to_string(target.sm) + (target.arch_specific ? "a)" : ")");
  for (const std::string& part :
       {std::string("the head size is larger"), std::string(" of f32 on "), of_device})
    t.refuses(errc::unsupported_device, part, [&] { t.run(t.wide, {}); });
}

TEST_CASE("attention_with: a warmup takes what the call takes, and does not run", "[ops][attention]") {
  small_call t;
  const auto warm_up = [&](const tensor_view<const f32, 4>& x, const attention_options& options) {
    attention_with_warmup<64>(t.gpu, x, x, t.q, t.o, relative_bias{}, document_window{}, options);
  };
  warm_up(t.q, {});
  t.gpu.stream().synchronize();
  REQUIRE(same_bits(t.memory.download(), t.before));
  const auto refuses = [&](errc code, const std::string& part, const std::function<void()>& f) {
    require_refusal(code, "kaio: attention_with_warmup: ", part, f);
  };
  refuses(errc::invalid_argument, "a mask of your own",
          [&] { warm_up(t.q, {.causal = causal_alignment::top_left}); });
  refuses(errc::unsupported_device, "the head size is larger", [&] { warm_up(t.wide, {}); });
}
