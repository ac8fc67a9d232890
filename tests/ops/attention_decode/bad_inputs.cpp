// attention_decode: errors by the name of the argument, before anything runs; and calls of nothing, which do
// nothing.
#include <functional>

#include "tests/ops/attention_decode/support.hpp"
#include "thrown.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr u32 batches = 2, queries = 3, heads = 4, key_heads = 2, size = 16, pages = 6, rows = 8;

// A call that is right; a test changes what it refuses.
struct call {
  buffer<f16> on_q = upload(std::vector<f16>(batches * queries * heads * size)),
              on_k = upload(std::vector<f16>(pages * rows * key_heads * size)),
              on_v = upload(std::vector<f16>(pages * rows * key_heads * size)),
              on_o = upload(on_q.download()), on_sinks = upload(std::vector<f16>(heads));
  buffer<i32> numbers = upload(std::vector<i32>(64)), more = upload(std::vector<i32>(64, 2)),
              list = upload(std::vector<i32>{0, 3, 6});
  buffer<f32> on_lse = upload(std::vector<f32>(batches * heads * queries)),
              slopes = upload(std::vector<f32>(heads));
  tensor_view<const f16, 4> q{on_q, batches, queries, heads, size};
  tensor_view<f16, 4> o{on_o, batches, queries, heads, size};
  kv_cache<const f16> cache{.k = tensor_view<const f16, 4>(on_k, pages, rows, key_heads, size),
                            .v = tensor_view<const f16, 4>(on_v, pages, rows, key_heads, size),
                            .table = tensor_view<const i32, 2>(numbers, batches, 3),
                            .lengths = of(more, batches)};
  attention_decode_options options{};
  const stream* s = &under_test().stream();

  static tensor_view<const i32, 1> of(buffer<i32>& memory, u32 count) {
    return tensor_view<const i32, 1>(memory, count);
  }
  void by_list() {
    cache.table = {};
    cache.indptr = of(list, batches + 1);
    cache.indices = of(numbers, pages);
  }
  void contiguous() {
    cache.table = {};
    cache.k = cache.k.slice(0, 0, batches), cache.v = cache.v.slice(0, 0, batches);
  }
  void run() const { attention_decode(*s, q, cache, o, options); }
};

void refuses(std::string_view text, const std::function<void(call&)>& change) {
  call c;
  change(c);
  CAPTURE(text);
  const thrown error = catch_error([&] { c.run(); });
  CAPTURE(error.message);
  REQUIRE(error.code == errc::invalid_argument);
  REQUIRE(error.says("kaio: attention_decode: "));
  REQUIRE(error.says(text));
  for (const f16 x : c.on_o.download()) REQUIRE(to_double(x) == 0);
}

}  // namespace

TEST_CASE("attention_decode: tensors that do not fit", "[ops][attention_decode]") {
  call().run();
  refuses("argument q", [](call& c) { c.q = {}; });
  refuses("argument k", [](call& c) { c.cache.k = {}; });
  refuses("argument v", [](call& c) { c.cache.v = {}; });
  refuses("argument out is a null", [](call& c) { c.o = {}; });
  refuses("argument out has extent 0", [](call& c) { c.o = c.o.slice(0, 0, 1); });
  refuses("argument out has extent 1", [](call& c) { c.o = c.o.slice(1, 0, 1); });
  refuses("argument out has extent 2", [](call& c) { c.o = c.o.slice(2, 0, 2); });
  refuses("argument out has extent 3", [](call& c) { c.o = c.o.slice(3, 0, 8); });
  refuses("argument k has extent 3", [](call& c) { c.q = c.q.slice(3, 0, 8); });
  refuses("argument v has extent 0", [](call& c) { c.cache.v = c.cache.v.slice(0, 0, 2); });
  refuses("argument v has extent 1", [](call& c) { c.cache.v = c.cache.v.slice(1, 0, 2); });
  refuses("argument v has extent 2", [](call& c) { c.cache.v = c.cache.v.slice(2, 0, 1); });
  refuses("heads", [](call& c) { c.q = c.q.slice(2, 0, 3), c.o = c.o.slice(2, 0, 3); });
  refuses("pages of 0 rows",
          [](call& c) { c.cache.k = c.cache.k.slice(1, 0, 0), c.cache.v = c.cache.v.slice(1, 0, 0); });
  refuses("the batches of q", [](call& c) { c.cache.table = {}; });
  refuses("argument v has stride", [](call& c) {
    c.cache.v = tensor_view<const f16, 4>(c.on_v, extents(pages, rows, key_heads, size / 2),
                                          strides(rows * key_heads * size, key_heads * size, size, 2));
    c.o = c.o.slice(3, 0, size / 2);
  });
  refuses("output out has stride 0", [](call& c) {
    c.o = tensor_view<f16, 4>(c.on_o, extents(batches, queries, heads, size),
                              strides(0, heads * size, size, 1));
  });
  refuses("head size 0", [](call& c) {
    c.cache.v = c.cache.v.slice(3, 0, 0);
    c.o = c.o.slice(3, 0, 0);
  });
}

TEST_CASE("attention_decode: a head size beyond what kernels are made for", "[ops][attention_decode]") {
  auto q = upload(std::vector<f16>(520)), k = upload(std::vector<f16>(520)),
       v = upload(std::vector<f16>(520)), o = upload(std::vector<f16>(520));
  const tensor_view<const f16, 4> keys(k, 1, 1, 1, 520), values(v, 1, 1, 1, 520);
  const thrown error = catch_error([&] {
    attention_decode(under_test().stream(), tensor_view<const f16, 4>(q, 1, 1, 1, 520),
                     kv_cache<const f16>{.k = keys, .v = values}, tensor_view<f16, 4>(o, 1, 1, 1, 520));
  });
  REQUIRE(error.code == errc::invalid_argument);
  REQUIRE(error.says("at most 512"));
}

TEST_CASE("attention_decode: numbers of a cache that do not fit", "[ops][attention_decode]") {
  refuses("give one of them",
          [](call& c) { c.cache.indptr = call::of(c.list, 3), c.cache.indices = call::of(c.numbers, 6); });
  refuses("one of indptr and indices",
          [](call& c) { c.cache.table = {}, c.cache.indptr = call::of(c.list, 3); });
  refuses("one of indptr and indices",
          [](call& c) { c.cache.table = {}, c.cache.indices = call::of(c.numbers, 6); });
  refuses("last_page_len without",
          [](call& c) { c.cache.last_page_len = c.cache.lengths, c.cache.lengths = {}; });
  refuses("lengths and last_page_len", [](call& c) { c.by_list(), c.cache.last_page_len = c.cache.lengths; });
  refuses("batch_index of a cache in pages",
          [](call& c) { c.cache.batch_index = call::of(c.numbers, batches); });
  refuses("argument table has extent 0", [](call& c) { c.cache.table = c.cache.table.slice(0, 0, 1); });
  refuses("argument table has gaps", [](call& c) {
    c.cache.table = tensor_view<const i32, 2>(c.numbers, extents(batches, 3), strides(1, 2));
  });
  refuses("argument indptr", [](call& c) { c.by_list(), c.cache.indptr = call::of(c.list, batches); });
  refuses("argument lengths", [](call& c) { c.cache.lengths = call::of(c.more, 1); });
  refuses("argument lengths has gaps",
          [](call& c) { c.cache.lengths = tensor_view<const i32, 1>(c.more, extents(batches), strides(2)); });
  refuses("argument last_page_len",
          [](call& c) { c.by_list(), c.cache.lengths = {}, c.cache.last_page_len = call::of(c.more, 3); });
  refuses("argument batch_index",
          [](call& c) { c.contiguous(), c.cache.batch_index = call::of(c.numbers, 1); });
  refuses("argument left_padding", [](call& c) { c.cache.left_padding = call::of(c.more, 5); });
}

TEST_CASE("attention_decode: options that are none", "[ops][attention_decode]") {
  refuses("scale", [](call& c) { c.options.scale = std::numeric_limits<f32>::infinity(); });
  refuses("softcap", [](call& c) { c.options.softcap = -1; });
  refuses("scale / softcap", [](call& c) { c.options.scale = 1e9f, c.options.softcap = 1e-30f; });
  refuses("window", [](call& c) { c.options.window = {-2, 0}; });
  refuses("top_left", [](call& c) { c.options.causal = causal_alignment::top_left; });
  refuses("causal", [](call& c) { c.options.causal = static_cast<causal_alignment>(9); });
  refuses("max_length", [](call& c) { c.options.max_length = -1; });
  refuses("max_length", [](call& c) { c.options.max_length = i64{1} << 31; });
  refuses("argument alibi",
          [](call& c) { c.options.alibi = tensor_view<const f32, 1>(c.slopes, heads - 1); });
  refuses("argument sinks",
          [](call& c) { c.options.sinks = tensor_view<const f16, 1>(c.on_sinks, heads - 1); });
  refuses("argument lse", [](call& c) { c.options.lse = tensor_view<f32, 2>(c.on_lse, heads, queries); });
  refuses("argument lse", [](call& c) { c.options.lse = tensor_view<f32, 3>(c.on_lse, batches, heads, 1); });
  refuses("there is no variant", [](call& c) { c.options.variant = "attention_decode_of_mine"; });
  refuses("cannot run this call",
          [](call& c) { c.options.variant = "attention_decode_mma_bf16_d64_16x128"; });
}

TEST_CASE("attention_decode: memory that is shared, and workspaces", "[ops][attention_decode]") {
  refuses("output out shares memory with argument q",
          [](call& c) { c.o = tensor_view<f16, 4>(c.on_q, batches, queries, heads, size); });
  refuses("output out shares memory with argument k",
          [](call& c) { c.o = tensor_view<f16, 4>(c.on_k, batches, queries, heads, size); });
  refuses("output lse shares memory", [](call& c) {
    c.options.alibi = tensor_view<const f32, 1>(c.on_lse, heads);
    c.options.lse = tensor_view<f32, 3>(c.on_lse, batches, heads, queries);
  });
  const auto long_call = [](call& c) {
    c.options.batch_invariant = true;
    c.cache.table = tensor_view<const i32, 2>(c.numbers, extents(batches, 32), strides(32, 1));
    c.options.max_length = 0;
    c.on_k = upload(std::vector<f16>(2 * 32 * key_heads * size));
    c.cache.k = c.cache.v = tensor_view<const f16, 4>(c.on_k, 2, 32, key_heads, size);
  };
  call c;
  long_call(c);
  const u64 bytes = attention_decode_workspace_bytes(under_test().stream(), c.q, c.cache, c.options);
  REQUIRE(bytes == u64{batches} * queries * heads * 2 * (size + 2) * sizeof(f32));
  auto memory = under_test().allocate<u8>(bytes + 16);
  refuses("argument workspace is null", [&](call& x) { long_call(x); });
  refuses("argument workspace has",
          [&](call& x) { long_call(x), x.options.workspace = memory.slice(0, bytes - 1); });
  refuses("no multiple of 16", [&](call& x) { long_call(x), x.options.workspace = memory.slice(4, bytes); });
  refuses("output workspace shares memory", [&](call& x) { long_call(x), x.options.workspace = x.on_k; });
  c.options.workspace = memory;
  c.run();
}

TEST_CASE("attention_decode: memory that is gone, or begins where no element does",
          "[ops][attention_decode]") {
  const auto released = []<class T>(T, std::size_t count) {
    buffer<T> memory = under_test().allocate<T>(count);
    memory.release();
    return memory;
  };
  refuses("argument q is a null", [&](call& c) {
    const auto gone = released(f16{}, batches * queries * heads * size);
    c.q = tensor_view<const f16, 4>(gone, batches, queries, heads, size);
  });
  refuses("argument v is a null", [](call& c) {
    buffer<f16> moved = std::move(c.on_v);
    c.cache.v = tensor_view<const f16, 4>(c.on_v, pages, rows, key_heads, size);
    c.on_v = std::move(moved);
  });
  refuses("argument out is a null", [&](call& c) {
    auto gone = released(f16{}, batches * queries * heads * size);
    c.o = tensor_view<f16, 4>(gone, batches, queries, heads, size);
  });
  refuses("argument table is a null", [&](call& c) {
    const auto gone = released(i32{}, batches * 3);
    c.cache.table = tensor_view<const i32, 2>(gone, batches, 3);
  });
  refuses("argument lengths is a null", [&](call& c) {
    const auto gone = released(i32{}, batches);
    c.cache.lengths = tensor_view<const i32, 1>(gone, batches);
  });
  const auto off_by = []<class T>(const buffer<T>& memory, u64 bytes) {
    return device_pointer<T>{memory.address() + bytes, memory.size() - 1, memory.as_argument().device};
  };
  refuses("no multiple of", [&](call& c) {
    c.q = tensor_view<const f16, 4>(off_by(c.on_q, 1), extents(batches, queries - 1, heads, size));
    c.o = c.o.slice(1, 0, queries - 1);
  });
  for (const u64 bytes : {1u, 2u, 3u})
    refuses("no multiple of", [&](call& c) {
      c.cache.lengths = tensor_view<const i32, 1>(off_by(c.more, bytes), extents(batches));
    });
}

TEST_CASE("attention_decode: memory and streams of another device", "[ops][attention_decode]") {
  device other = device::open("emulator");
  auto far = other.allocate<f16>(4096);
  auto far_numbers = other.allocate<i32>(64);
  auto far_floats = other.allocate<f32>(64);
  const auto far_bytes = other.allocate<u8>(1 << 16);
  const auto refused = [](std::string_view argument, const std::function<void(call&)>& change) {
    refuses("argument " + std::string(argument) + " is memory of another device", change);
  };
  refused("q", [&](call& c) { c.q = tensor_view<const f16, 4>(far, batches, queries, heads, size); });
  refused("k", [&](call& c) { c.cache.k = tensor_view<const f16, 4>(far, pages, rows, key_heads, size); });
  refused("v", [&](call& c) { c.cache.v = tensor_view<const f16, 4>(far, pages, rows, key_heads, size); });
  refused("out", [&](call& c) { c.o = tensor_view<f16, 4>(far, batches, queries, heads, size); });
  refused("table", [&](call& c) { c.cache.table = tensor_view<const i32, 2>(far_numbers, batches, 3); });
  refused("indptr", [&](call& c) { c.by_list(), c.cache.indptr = call::of(far_numbers, batches + 1); });
  refused("indices", [&](call& c) { c.by_list(), c.cache.indices = call::of(far_numbers, pages); });
  refused("last_page_len", [&](call& c) {
    c.by_list(), c.cache.lengths = {}, c.cache.last_page_len = call::of(far_numbers, batches);
  });
  refused("lengths", [&](call& c) { c.cache.lengths = call::of(far_numbers, batches); });
  refused("left_padding", [&](call& c) { c.cache.left_padding = call::of(far_numbers, batches); });
  refused("batch_index",
          [&](call& c) { c.contiguous(), c.cache.batch_index = call::of(far_numbers, batches); });
  refused("alibi", [&](call& c) { c.options.alibi = tensor_view<const f32, 1>(far_floats, heads); });
  refused("sinks", [&](call& c) { c.options.sinks = tensor_view<const f16, 1>(far, heads); });
  refused("lse", [&](call& c) { c.options.lse = tensor_view<f32, 3>(far_floats, batches, heads, queries); });
  refused("workspace", [&](call& c) {
    c.options.splits = 2, c.options.combining = attention_combining::second_kernel,
    c.options.workspace = far_bytes;
  });
  refused("q", [&](call& c) { c.s = &other.stream(); });
  const stream none;
  call c;
  c.s = &none;
  const thrown error = catch_error([&] { c.run(); });
  REQUIRE(error.code == errc::invalid_argument);
  REQUIRE(error.says("null stream"));
}

TEST_CASE("attention_decode: nothing to do", "[ops][attention_decode]") {
  call c;
  c.q = c.q.slice(1, 0, 0), c.o = c.o.slice(1, 0, 0);
  c.run();
  REQUIRE(ops::attention_decode_choice(under_test().stream(), c.q, c.cache, c.o).name.empty());
  REQUIRE(attention_decode_workspace_bytes(under_test().stream(), c.q, c.cache) == 0);
}
