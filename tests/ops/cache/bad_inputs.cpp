// Bad input of the operations on caches is a typed error that names the argument, before anything runs.
#include "tests/ops/cache/support.hpp"
#include "tests/ops/refusal.hpp"

#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/copy_pages.hpp>
#include <kaio/ops/rotary.hpp>

#include <functional>

using namespace kaio;
using namespace kaio::tests;

namespace {

struct fixture {
  device& gpu = under_test();
  const stream& s = gpu.stream();
  std::vector<f16> pattern = std::vector<f16>(16384, f16(77.0f));
  buffer<f16> x_memory = gpu.allocate<f16>(16384), k_memory = gpu.upload(pattern),
              v_memory = gpu.upload(pattern), y_memory = gpu.upload(pattern);
  buffer<f32> cos_memory = gpu.allocate<f32>(1024), sin_memory = gpu.allocate<f32>(1024),
              scales = gpu.allocate<f32>(256);
  buffer<i8> i8_memory = gpu.allocate<i8>(16384), i8_other = gpu.allocate<i8>(16384);
  buffer<i32> numbers = gpu.upload(std::vector<i32>(64, 0));
  // 2 sequences of 3 tokens, 2 heads of 32; 5 pages of 8 rows.
  tensor_view<const f16, 4> x{x_memory, 2, 3, 2, 32};
  tensor_view<const f16, 3> packed{x_memory, 6, 2, 32};
  tensor_view<f16, 4> y{y_memory, 2, 3, 2, 32};
  tensor_view<const f32, 2> cos{cos_memory, 16, 16}, sin{sin_memory, 16, 16};
  tensor_view<const i32, 2> table{numbers, 2, 2};
  kv_cache<f16> cache{
      .k = {k_memory, 5, 8, 2, 32}, .v = {v_memory, 5, 8, 2, 32}, .table = table, .lengths = of(2)};
  kv_cache<i8> small{
      .k = {i8_memory, 5, 8, 2, 32}, .v = {i8_other, 5, 8, 2, 32}, .table = table, .lengths = of(2)};

  tensor_view<const i32, 1> of(i64 count) { return {numbers, extents(count)}; }

  void refuses(const std::string& part, const std::function<void()>& f) {
    require_refusal(errc::invalid_argument, "kaio: ", part, f);
    s.synchronize();
    for (const buffer<f16>* b : {&k_memory, &v_memory, &y_memory}) REQUIRE(same_bits(b->download(), pattern));
  }
  void append(const std::string& part,
              const std::function<void(kv_cache<f16>&, append_kv_options&)>& change) {
    kv_cache<f16> other = cache;
    append_kv_options options;
    change(other, options);
    refuses(part, [&] { append_kv(s, x, x, other, options); });
  }
};

}  // namespace

TEST_CASE("rotary: bad inputs", "[ops][cache]") {
  fixture t;
  const tensor_view<const f16, 4> none;
  t.refuses("argument x is a null", [&] { rotary(t.s, none, t.y, t.cos, t.sin); });
  t.refuses("argument out has extent 1",
            [&] { rotary(t.s, t.x, tensor_view<f16, 4>(t.y_memory, 2, 4, 2, 32), t.cos, t.sin); });
  t.refuses("argument x has stride 2", [&] {
    rotary(t.s, tensor_view<const f16, 4>(t.x_memory, extents(2, 3, 2, 32), strides(384, 128, 64, 2)), t.y,
           t.cos, t.sin);
  });
  t.refuses("output out has stride 0", [&] {
    rotary(t.s, t.x, tensor_view<f16, 4>(t.y_memory, extents(2, 3, 2, 32), strides(192, 64, 0, 1)), t.cos,
           t.sin);
  });
  t.refuses("heads of 513 elements", [&] {
    const tensor_view<const f16, 4> wide(t.x_memory, 1, 1, 1, 513);
    rotary(t.s, wide, tensor_view<f16, 4>(t.y_memory, 1, 1, 1, 513), t.cos, t.sin);
  });
  t.refuses("17 pairs", [&] {
    const tensor_view<const f32, 2> wide(t.cos_memory, 16, 17);
    rotary(t.s, t.x, t.y, wide, wide);
  });
  t.refuses("rotary: argument sin has extent 0",
            [&] { rotary(t.s, t.x, t.y, t.cos, tensor_view<const f32, 2>(t.sin_memory, 15, 16)); });
  t.refuses("argument positions has extent 1", [&] {
    rotary(t.s, t.x, t.y, t.cos, t.sin, {.positions = tensor_view<const i32, 2>(t.numbers, 2, 4)});
  });
  t.refuses("argument offsets has extent 0",
            [&] { rotary(t.s, t.x, t.y, t.cos, t.sin, {.offsets = t.of(3)}); });
  t.refuses("offsets next to positions", [&] {
    rotary(t.s, t.x, t.y, t.cos, t.sin,
           {.positions = tensor_view<const i32, 1>(t.numbers, 3), .offsets = t.of(2)});
  });
  t.refuses("rotary_varlen takes it", [&] { rotary(t.s, t.x, t.y, t.cos, t.sin, {.cu_seqlens = t.of(3)}); });
  t.refuses("neither cu_seqlens nor positions", [&] {
    rotary_varlen(t.s, t.packed, tensor_view<f16, 3>(t.y_memory, 6, 2, 32), t.cos, t.sin, {});
  });
  t.refuses("argument cu_seqlens has extent 0 of 0", [&] {
    const tensor_view<const i32, 1> empty(t.numbers, 0);
    rotary_varlen(t.s, t.packed, tensor_view<f16, 3>(t.y_memory, 6, 2, 32), t.cos, t.sin,
                  {.cu_seqlens = empty});
  });
  t.refuses("output out shares memory with argument x", [&] {
    const tensor_view<f16, 4> all(t.y_memory, 3, 3, 2, 32);
    rotary(t.s, tensor_view<const f16, 4>(all.slice(0, 0, 2)), all.slice(0, 1, 2), t.cos, t.sin);
  });
}

TEST_CASE("rotary_table: bad inputs", "[ops][cache]") {
  fixture t;
  tensor_view<f32, 2> c(t.cos_memory, 16, 16), s(t.sin_memory, 16, 16);
  const auto refuses = [&](const std::string& part, const rotary_table_options& options) {
    t.refuses(part, [&] { rotary_table(t.s, c, s, options); });
  };
  const double inf = std::numeric_limits<double>::infinity();
  refuses("base is 0", {.base = 0});
  refuses("base is inf", {.base = inf});
  refuses("first_position is -1", {.first_position = -1});
  refuses("positions of 2^32", {.first_position = (i64{1} << 32) - 15});
  refuses("scaling.factor is 0", {.scaling = rotary_scaling::linear(0)});
  refuses("scaling.original_length", {.scaling = rotary_scaling::llama3(8, 1, 4, 0)});
  refuses("scaling.low_frequency is not below", {.scaling = rotary_scaling::llama3(8, 4, 4, 8192)});
  refuses("scaling.beta_slow is above", {.scaling = rotary_scaling::yarn(8, 4096, 1, 32)});
  refuses("base is 1", {.base = 1, .scaling = rotary_scaling::yarn(8, 4096)});
  refuses("scaling.attention_factor", {.scaling = rotary_scaling::yarn(8, 4096, 32, 1, inf)});
  refuses("scaling.pair_factors has 3 numbers", {.scaling = rotary_scaling::longrope({1, 2, 3}, 2, 4096)});
  refuses("scaling.pair_factors is 0",
          {.scaling = rotary_scaling::longrope(std::vector<double>(16), 2, 4096)});
  refuses("divides by its logarithm",
          {.scaling = rotary_scaling::longrope(std::vector<double>(16, 1.0), 2, 1)});
  refuses("scaling.factor is below 1", {.scaling = rotary_scaling::dynamic(0.5, 4096, 8192)});
  refuses("scaling.length is 0", {.scaling = rotary_scaling::dynamic(2, 4096, 0)});
  refuses("scaling.rotated is 1.5", {.scaling = rotary_scaling::proportional(1.5)});
  rotary_scaling two_scales = rotary_scaling::yarn(8, 4096);
  two_scales.mscale = -1;
  refuses("scaling.mscale", {.scaling = two_scales});
  refuses("pair 1 turns by", {.base = 1e-30});
  refuses("pair 0 turns by inf", {.scaling = rotary_scaling::linear(1e-310)});
  refuses("pair 0 turns by 20", {.scaling = rotary_scaling::linear(0.05)});
  refuses("the attention factor is", {.scaling = rotary_scaling::yarn(8, 4096, 32, 1, 1e39)});
  const auto numbers = t.gpu.allocate<i32>(48);
  const tensor_view<const i32, 2> of_axes(numbers, 3, 16);
  const tensor_view<const i32, 1> of_rows(numbers, 16);
  refuses("first_position next to positions", {.first_position = 1, .positions = of_rows});
  refuses("argument positions has extent 0 of 15", {.positions = of_rows.slice(0, 0, 15)});
  refuses("positions has 3 rows and no sections", {.positions = of_axes});
  refuses("positions has no rows", {.positions = of_axes.slice(0, 0, 0), .sections = {{16}}});
  refuses("sections without positions", {.sections = {{8, 8}}});
  refuses("sections.interleaved without", {.positions = of_rows, .sections = {{}, true}});
  refuses("sections.pairs has 15 pairs", {.positions = of_axes, .sections = {{5, 5, 5}}});
  refuses("positions has 3 rows for 2 sections", {.positions = of_axes, .sections = {{8, 8}}});
  refuses("positions has 3 rows for 4 sections", {.positions = of_axes, .sections = {{4, 4, 4, 4}, true}});
  t.refuses("output sin shares memory", [&] { rotary_table(t.s, c, c); });
  t.refuses("257 pairs", [&] {
    rotary_table(t.s, tensor_view<f32, 2>(t.cos_memory, 1, 257), tensor_view<f32, 2>(t.sin_memory, 1, 257));
  });
}

TEST_CASE("append_kv: bad inputs", "[ops][cache]") {
  fixture t;
  t.append("argument cache.k is a null", [&](auto& cache, auto&) { cache.k = {}; });
  t.append("argument cache.v is a null", [&](auto& cache, auto&) { cache.v = {}; });
  t.append("argument cache.k has extent 2", [&](auto& cache, auto&) { cache.k = {t.k_memory, 5, 8, 3, 32}; });
  t.append("argument cache.v has extent 3", [&](auto& cache, auto&) { cache.v = {t.v_memory, 5, 8, 2, 16}; });
  t.append("argument cache.v has extent 0", [&](auto& cache, auto&) { cache.v = {t.v_memory, 4, 8, 2, 32}; });
  t.append("output cache.v shares memory", [&](auto& cache, auto&) { cache.v = cache.k; });
  t.append("neither cache.lengths", [](auto& cache, auto&) { cache.lengths = {}; });
  t.append("cache.last_page_len without", [&](auto& cache, auto&) { cache.last_page_len = t.of(2); });
  t.append("argument cache.lengths has extent 0", [&](auto& cache, auto&) { cache.lengths = t.of(3); });
  t.append("argument cache.lengths has stride 2", [&](auto& cache, auto&) {
    cache.lengths = tensor_view<const i32, 1>(t.numbers, extents(2), strides(2));
  });
  t.append("cache.table next to cache.indptr",
           [&](auto& cache, auto&) { cache.indptr = t.of(3), cache.indices = t.of(4); });
  t.append("give both or none", [&](auto& cache, auto&) { cache.table = {}, cache.indptr = t.of(3); });
  t.append("argument cache.table has extent 0", [&](auto& cache, auto&) { cache.table = {t.numbers, 3, 2}; });
  t.append("it is of a contiguous one", [&](auto& cache, auto&) { cache.batch_index = t.of(2); });
  t.append("there is no batch_index", [&](auto& cache, auto&) { cache.table = {}; });
  t.append("append_kv_varlen takes it", [&](auto&, auto& options) { options.cu_seqlens = t.of(3); });
  t.append("argument slots has extent 1",
           [&](auto&, auto& options) { options.slots = tensor_view<const i32, 2>(t.numbers, 2, 4); });
  t.append("it has no scales",
           [&](auto&, auto& options) { options.k_scale = tensor_view<const f32, 1>(t.scales, 2); });
  t.append("rotary.q without the tables", [&](auto&, auto& options) { options.rotary.q = {t.x, t.y}; });
  t.append("argument rotary.sin is a null", [&](auto&, auto& options) { options.rotary.cos = t.cos; });
  t.append("argument rotary.sin has extent 0 of 15, and 16 is expected", [&](auto&, auto& options) {
    options.rotary.cos = t.cos;
    options.rotary.sin = tensor_view<const f32, 2>(t.sin_memory, 15, 16);
  });
  t.append("need rotary.positions", [&](auto&, auto& options) {
    options.slots = tensor_view<const i32, 1>(t.numbers, 3);
    options.rotary.cos = t.cos;
    options.rotary.sin = t.sin;
  });
  t.append("argument rotary.q has extent 1", [&](auto&, auto& options) {
    options.rotary = {
        .cos = t.cos, .sin = t.sin, .q = {tensor_view<const f16, 4>(t.x_memory, 2, 4, 2, 32), t.y}};
  });
  t.append("output rotary.q.out shares memory", [&](auto&, auto& options) {
    options.rotary = {.cos = t.cos, .sin = t.sin, .q = {t.x, tensor_view<f16, 4>(t.k_memory, 2, 3, 2, 32)}};
  });
  t.refuses("output cache.k shares memory with argument k",
            [&] { append_kv(t.s, tensor_view<const f16, 4>(t.k_memory, 2, 3, 2, 32), t.x, t.cache); });
  t.refuses("argument v has extent 1",
            [&] { append_kv(t.s, t.x, tensor_view<const f16, 4>(t.x_memory, 2, 4, 2, 32), t.cache); });
  t.refuses("2^32 rows", [&] {
    const i64 tokens = 0x7fffffff;
    const tensor_view<const f16, 3> many(t.x_memory, extents(tokens, 2, 1), strides(0, 1, 1));
    const kv_cache<f16> one{.k = {t.k_memory, 5, 8, 2, 1}, .v = {t.v_memory, 5, 8, 2, 1}};
    append_kv_varlen(t.s, many, many, one,
                     {.slots = tensor_view<const i32, 1>(t.numbers, extents(tokens), strides(0))});
  });
  t.refuses("neither cu_seqlens nor slots", [&] { append_kv_varlen(t.s, t.packed, t.packed, t.cache, {}); });

  const auto small = [&](const std::string& part, const append_kv_options& options) {
    t.refuses(part, [&] { append_kv(t.s, t.x, t.x, t.small, options); });
  };
  const tensor_view<const f32, 1> scale(t.scales, 2);
  const tensor_view<f32, 3> computed(t.scales, 5, 8, 2);
  small("k_scale next to k_scale_out", {.k_scale = scale, .k_scale_out = computed});
  small("argument v_scale has extent 0", {.v_scale = tensor_view<const f32, 1>(t.scales, 3)});
  small("argument k_scale has extent 0", {.k_scale = tensor_view<const f32, 2>(t.scales, 3, 2)});
  small("argument k_scale has extent 1", {.k_scale = tensor_view<const f32, 2>(t.scales, 2, 3)});
  small("where rows are of no sequence", {.slots = tensor_view<const i32, 2>(t.numbers, 2, 3),
                                          .k_scale = tensor_view<const f32, 2>(t.scales, 2, 2)});
  small("argument v_scale_out has extent 1", {.v_scale_out = tensor_view<f32, 3>(t.scales, 5, 7, 2)});
  small("output v_scale_out shares memory with argument k_scale_out",
        {.k_scale_out = computed, .v_scale_out = computed});
}

TEST_CASE("copy_pages and gather_kv: bad inputs", "[ops][cache]") {
  fixture t;
  t.refuses("argument pairs has extent 1",
            [&] { copy_pages(t.s, t.cache.k, tensor_view<const i32, 2>(t.numbers, 2, 3)); });
  t.refuses("argument pages is a null", [&] { copy_pages(t.s, tensor_view<f16, 4>(), t.table); });
  t.refuses("argument pages has stride 2", [&] {
    copy_pages(t.s, tensor_view<f16, 4>(t.k_memory, extents(5, 8, 2, 32), strides(1024, 128, 64, 2)),
               t.table);
  });
  const tensor_view<f16, 4> k(t.y_memory, 2, 3, 2, 32);
  buffer<f16> other = t.gpu.allocate<f16>(1024);
  const tensor_view<f16, 4> v(other, 2, 3, 2, 32);
  t.refuses("output v shares memory with argument k", [&] { gather_kv(t.s, t.cache, k, k); });
  t.refuses("argument cache.k has extent 3",
            [&] { gather_kv(t.s, t.cache, tensor_view<f16, 4>(t.y_memory, 2, 3, 2, 31), v); });
  t.refuses("argument cache.table has extent 0", [&] {
    gather_kv(t.s, t.cache, tensor_view<f16, 4>(t.y_memory, 1, 3, 2, 32),
              tensor_view<f16, 4>(other, 1, 3, 2, 32));
  });
  t.refuses("gather_kv_varlen takes it", [&] { gather_kv(t.s, t.cache, k, v, {.cu_seqlens = t.of(3)}); });
  const tensor_view<const f32, 1> scale(t.scales, 3);
  t.refuses("it has no scales", [&] { gather_kv(t.s, t.cache, k, v, {.k_scale = scale}); });
  t.refuses("where rows are of no sequence",
            [&] { gather_kv(t.s, t.small, k, v, {.k_scale = tensor_view<const f32, 2>(t.scales, 2, 2)}); });
  t.refuses("argument v_scale has extent 0", [&] { gather_kv(t.s, t.small, k, v, {.v_scale = scale}); });
  t.refuses("cu_seqlens is missing", [&] {
    gather_kv_varlen(t.s, t.cache, tensor_view<f16, 3>(t.y_memory, 6, 2, 32),
                     tensor_view<f16, 3>(other, 6, 2, 32), {});
  });
  t.refuses("output k shares memory with argument cache.k",
            [&] { gather_kv(t.s, t.cache, tensor_view<f16, 4>(t.k_memory, 2, 3, 2, 32), v); });
}
