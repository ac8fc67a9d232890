// Weights that were packed for other kernels, and codes of 2 and 3 bits: bytes by the CRCs of the reference
// packers, each weight exact, and a product. The packers here are the layouts' definitions.
#include "tests/ops/refusal.hpp"
#include "tests/ops/weight_only/codes_support.hpp"

#include <kaio/ops/matmul_w8.hpp>

using namespace kaio;
using namespace kaio::tests;

namespace {

std::size_t at(i64 i) { return static_cast<std::size_t>(i); }

// q = (7k + 3n + (k n) % 5) % 2^bits, z = 1 + (5g + 3n) % (2^bits - 1), s = (1 + ((3g + n) % 8) / 8) / 64.
u32 q_of(i64 k, i64 n, u32 bits) { return static_cast<u32>(7 * k + 3 * n + k * n % 5) & ((1u << bits) - 1); }
u32 z_of(i64 g, i64 n, u32 bits) { return 1 + static_cast<u32>(5 * g + 3 * n) % ((1u << bits) - 1); }
f16 s_of(i64 g, i64 n) { return f16((1.0f + static_cast<float>((3 * g + n) % 8) / 8.0f) / 64.0f); }

void put(std::vector<i32>& words, i64 word, i64 field, u32 bits, u32 value) {
  words[at(word)] |= static_cast<i32>(value << (field * bits));
}
// Numbers without gaps, least significant first: the words of one line.
std::vector<i32> line_of(i64 count, u32 bits, const std::function<u32(i64)>& number) {
  std::vector<i32> words(at((count * bits + 31) / 32));
  for (i64 i = 0; i < count * bits; ++i)
    words[at(i / 32)] |= static_cast<i32>((number(i / bits) >> (i % bits) & 1u) << (i % 32));
  return words;
}
std::vector<i32> lines_of(i64 lines, i64 count, u32 bits, const std::function<u32(i64, i64)>& number) {
  std::vector<i32> all;
  for (i64 l = 0; l < lines; ++l)
    for (const i32 word : line_of(count, bits, [&](i64 i) { return number(l, i); })) all.push_back(word);
  return all;
}

std::vector<i32> marlin(i64 k_count, i64 n_count, u32 bits) {
  const i64 pitch = n_count * bits / 2;
  std::vector<i32> b(at(k_count / 16 * pitch));
  for (i64 k = 0; k < k_count; ++k)
    for (i64 n = 0; n < n_count; ++n) {
      const i64 lane = 4 * (n % 8) + k % 8 / 2, warp = n % 64 / 16;
      if (bits == 4) {
        const i64 v = 4 * (n % 16 / 8) + 2 * (k % 16 / 8) + k % 2;
        put(b, k / 16 * pitch + 128 * (n / 64) + 4 * lane + warp, v % 2 == 0 ? v / 2 : 4 + v / 2, 4,
            q_of(k, n, 4));
      } else {
        constexpr i64 bytes[] = {0, 2, 1, 3};
        put(b, k / 16 * pitch + 256 * (n / 64) + 8 * lane + 2 * warp + n % 16 / 8,
            bytes[2 * (k % 16 / 8) + k % 2], 8, q_of(k, n, 8));
      }
    }
  return b;
}
// Column c of the permuted scales of a group.
i64 marlin_column(i64 c, bool grouped) {
  constexpr i64 t[] = {0, 1, 8, 9, 16, 17, 24, 25};
  return grouped ? c / 64 * 64 + 8 * (c % 8) + c % 64 / 8 : c / 32 * 32 + 2 * (c % 32 / 8) + t[c % 8];
}
std::vector<f16> marlin_scales(i64 groups, i64 n_count) {
  std::vector<f16> result;
  for (i64 g = 0; g < groups; ++g)
    for (i64 c = 0; c < n_count; ++c) result.push_back(s_of(g, marlin_column(c, groups > 1)));
  return result;
}
std::vector<i32> marlin_zeros(i64 groups, i64 n_count) {
  constexpr i64 order[] = {0, 2, 4, 6, 1, 3, 5, 7};
  return lines_of(groups, n_count, 4,
                  [&](i64 g, i64 c) { return z_of(g, marlin_column(c / 8 * 8 + order[c % 8], true), 4); });
}

std::vector<i32> tinygemm(i64 k_count, i64 n_count, i64 tiles) {
  std::vector<i32> packed(at(n_count * k_count / 8));
  for (i64 k = 0; k < k_count; ++k)
    for (i64 n = 0; n < n_count; ++n) {
      const i64 lane = 4 * (n % 8) + k % 8 / 2, blocks = k_count / (16 * tiles);
      const i64 word =
          ((n / 8 * blocks + k / (16 * tiles)) * 32 + lane) * (tiles / 2) + k % (16 * tiles) / 32;
      put(packed, word, 2 * (k / 16 % 2) + k % 16 / 8 + 4 * (k % 2), 4, q_of(k, n, 4));
    }
  return packed;
}

std::vector<i16> awq_fast(i64 k_count, i64 n_count) {
  std::vector<u32> words(at(n_count / 4 * k_count));
  for (i64 k = 0; k < k_count; ++k)
    for (i64 n = 0; n < n_count; ++n) {
      const i64 pos = 32 * (k / 32 % 2) + 8 * (k % 8 / 2) + 4 * (k % 2) + k % 32 / 8;
      words[at(n / 4 * k_count + 64 * (k / 64) + 16 * (n % 4) + pos / 4)] |= q_of(k, n, 4) << 4 * (pos % 4);
    }
  std::vector<i16> result;
  for (const u32 word : words) result.push_back(static_cast<i16>(word));
  return result;
}

template <class T, class Weights>
std::vector<T> matrix_k_n(const Weights& w) {
  const i64 n = w.shape.n, k = w.shape.k;
  auto memory = under_test().allocate<T>(at(n * k));
  dequantise(under_test().stream(), w, tensor_view<T, 2>(memory, extents(n, k), strides(i64{1}, n)));
  return memory.download();
}
template <class Weight>
void require_weights(const std::vector<f32>& got, i64 k_count, i64 n_count, const Weight& weight) {
  for (i64 k = 0; k < k_count; ++k)
    for (i64 n = 0; n < n_count; ++n) {
      if (got[at(k * n_count + n)] == weight(k, n)) continue;
      CAPTURE(k, n);
      REQUIRE(got[at(k * n_count + n)] == weight(k, n));
    }
}
template <class Shape>
buffer<u8> memory_for(const Shape& shape) {
  return under_test().upload(std::vector<u8>(packed_bytes(shape), 0xff));
}
f32 as_f32(f16 x) { return static_cast<f32>(x); }

using words_view = tensor_view<const i32, 2>;
using halves_view = tensor_view<const f16, 2>;

}  // namespace

TEST_CASE("repack: GPTQ and compressed-tensors with codes of 2 and 3 bits", "[ops][w4]") {
  constexpr i64 n = 128, k = 128, groups = 4;
  std::vector<f16> scales, scales_n;
  std::vector<i32> order;
  for (i64 g = 0; g < groups; ++g)
    for (i64 c = 0; c < n; ++c) scales.push_back(s_of(g, c));
  for (i64 c = 0; c < n; ++c)
    for (i64 g = 0; g < groups; ++g) scales_n.push_back(s_of(g, c));
  for (i64 i = 0; i < k; ++i) order.push_back(static_cast<i32>(37 * i % k / 32));
  const auto of_scales = upload(scales), of_scales_n = upload(scales_n);
  const auto of_order = upload(order);
  const tensor_view<const i32, 1> g_idx(of_order, extents(k));
  const stream& s = under_test().stream();
  for (const u32 bits : {2u, 3u}) {
    CAPTURE(bits);
    const i64 packed_k = k * bits / 32, packed_n = n * bits / 32;
    const u32 mask = (1u << bits) - 1;
    const std::vector<i32> by_n = lines_of(n, k, bits, [&](i64 c, i64 i) { return q_of(i, c, bits); });
    const std::vector<i32> qweight = transposed(by_n, n, packed_k);
    const std::vector<i32> v2 = lines_of(groups, n, bits, [&](i64 g, i64 c) { return z_of(g, c, bits); });
    const std::vector<i32> v1 =
        lines_of(groups, n, bits, [&](i64 g, i64 c) { return (z_of(g, c, bits) - 1) & mask; });
    REQUIRE(crc32_of(qweight) == (bits == 2 ? 0x5aad35f7u : 0x5682743au));
    REQUIRE(crc32_of(v2) == (bits == 2 ? 0x710f919bu : 0x6cf3af6bu));
    REQUIRE(crc32_of(v1) == (bits == 2 ? 0xfb7f1818u : 0x1818c013u));
    const u32 crc_of_values = bits == 2 ? 0x027eaa0au : 0x95454efbu;
    const auto words = upload(qweight), words_n = upload(by_n), zeros_1 = upload(v1), zeros_2 = upload(v2),
               zeros_n = upload(transposed(v2, groups, packed_n));
    const w4_shape shape{.n = n, .k = k, .group = 32, .zero_points = true, .act_order = true};
    const auto memory = memory_for(shape);
    const w4_weights w{shape, memory};
    for (const bool is_v2 : {false, true}) {
      repack(s,
             gptq_w4{.qweight = words_view(words, packed_k, n),
                     .qzeros = words_view(is_v2 ? zeros_2 : zeros_1, groups, packed_n),
                     .scales = halves_view(of_scales, groups, n),
                     .g_idx = g_idx,
                     .v2 = is_v2,
                     .bits = bits},
             w);
      REQUIRE(crc32_of(matrix_k_n<f16>(w)) == crc_of_values);
    }
    repack(s,
           compressed_tensors_w4{.weight_packed = words_view(words_n, n, packed_k),
                                 .weight_zero_point = words_view(zeros_n, packed_n, groups),
                                 .weight_scale = halves_view(of_scales_n, n, groups),
                                 .weight_g_idx = g_idx,
                                 .bits = bits},
           w);
    REQUIRE(crc32_of(matrix_k_n<f16>(w)) == crc_of_values);
    // Symmetric.
    const w4_shape symmetric{.n = n, .k = k, .group = 32};
    repack(s,
           gptq_w4{.qweight = words_view(words, packed_k, n),
                   .scales = halves_view(of_scales, groups, n),
                   .bits = bits},
           w4_weights{symmetric, memory});
    require_weights(matrix_k_n<f32>(w4_weights{symmetric, memory}), k, n, [&](i64 i, i64 c) {
      return as_f32(s_of(i / 32, c)) *
             (static_cast<f32>(q_of(i, c, bits)) - static_cast<f32>(1u << (bits - 1)));
    });
  }
}

TEST_CASE("repack: codes of 2 to 4 bits of any n, in rows with gaps, with a last group of any size",
          "[ops][w4]") {
  const stream& s = under_test().stream();
  for (const auto& [bits, group, ordered] :
       {std::tuple{2u, 80, false}, std::tuple{3u, 80, true}, std::tuple{4u, 80, false},
        std::tuple{2u, 112, true}, std::tuple{3u, 128, false}, std::tuple{3u, 96, true},
        std::tuple{4u, 144, true}}) {
    CAPTURE(bits, group, ordered);
    constexpr i64 n = 45, k = 160, groups = 2, pad = 3;
    const i64 packed_k = k * bits / 32, packed_n = (n * bits + 31) / 32;
    std::mt19937_64 engine(bits);
    std::vector<u32> codes, zeros;
    std::vector<bf16> scales(at(n * groups));
    for (i64 i = 0; i < n * k; ++i) codes.push_back(static_cast<u32>(engine()) & ((1u << bits) - 1));
    for (i64 i = 0; i < n * groups; ++i) zeros.push_back(static_cast<u32>(engine()) & ((1u << bits) - 1));
    for (bf16& scale : scales) scale = bf16(static_cast<float>(engine() % 200) / 64.0f - 1.0f);
    const std::vector<i32> by_n = lines_of(n, k, bits, [&](i64 c, i64 i) { return codes[at(c * k + i)]; });
    std::vector<i32> padded;
    for (i64 c = 0; c < n; ++c) {
      padded.insert(padded.end(), by_n.begin() + c * packed_k, by_n.begin() + (c + 1) * packed_k);
      padded.insert(padded.end(), pad, -1);
    }
    const auto words = upload(padded),
               of_zeros =
                   upload(lines_of(groups, n, bits, [&](i64 g, i64 c) { return zeros[at(g * n + c)]; }));
    const auto of_scales = upload(scales);
    std::vector<i32> order;
    for (i64 i = 0; i < k; ++i) order.push_back(static_cast<i32>((ordered ? 37 * i % k : i) / group));
    const auto of_order = upload(order);
    const w4_shape shape{.n = n,
                         .k = k,
                         .group = group,
                         .scales = w4_scale_type::bf16,
                         .zero_points = true,
                         .act_order = ordered};
    const auto memory = memory_for(shape);
    const w4_weights w{shape, memory};
    gptq_w4 source{.qweight = words_view(words, extents(packed_k, n), strides(i64{1}, packed_k + pad)),
                   .qzeros = words_view(of_zeros, groups, packed_n),
                   .scales = tensor_view<const bf16, 2>(of_scales, groups, n),
                   .v2 = true,
                   .bits = bits};
    if (ordered) source.g_idx = tensor_view<const i32, 1>(of_order, extents(k));
    repack(s, source, w);
    require_weights(matrix_k_n<f32>(w), k, n, [&](i64 i, i64 c) {
      const i64 fact = order[at(i)] * n + c;
      return static_cast<f32>(scales[at(fact)]) *
             (static_cast<f32>(codes[at(c * k + i)]) - static_cast<f32>(zeros[at(fact)]));
    });
  }
}

TEST_CASE("repack: AWQ's gemv and gemv_fast", "[ops][w4]") {
  constexpr i64 n = 128, k = 128, groups = 4, zw = 4;
  std::vector<f16> scales(at(n * 8 * zw), f16(-7.0f)), fast_scales(at(n * 8 * zw), f16(-7.0f)),
      fast_zeros = fast_scales;
  std::vector<i32> zeros(at(n * zw), -1);
  for (i64 c = 0; c < n; ++c) {
    zeros[at(c * zw)] = 0;
    for (i64 g = 0; g < groups; ++g) {
      put(zeros, c * zw, g, 4, z_of(g, c, 4));
      scales[at(c * 8 * zw + g)] = fast_scales[at(g * n + c)] = s_of(g, c);
      fast_zeros[at(g * n + c)] = f16(-as_f32(s_of(g, c)) * static_cast<f32>(z_of(g, c, 4)));
    }
  }
  const std::vector<i32> qweight = lines_of(n, k, 4, [](i64 c, i64 i) { return q_of(i, c, 4); });
  const std::vector<i16> fast = awq_fast(k, n);
  REQUIRE(crc32_of(qweight) == 0xed612eefu);
  REQUIRE(crc32_of(fast) == 0xc3213194u);
  const auto words = upload(qweight), of_zeros = upload(zeros);
  const auto of_scales = upload(scales), of_fast_scales = upload(fast_scales),
             of_fast_zeros = upload(fast_zeros);
  const auto of_fast = upload(fast);
  const stream& s = under_test().stream();
  const w4_shape shape{.n = n, .k = k, .group = 32, .zero_points = true};
  const auto memory = memory_for(shape);
  repack(s,
         awq_gemv_w4{.qweight = words_view(words, n, k / 8),
                     .qzeros = words_view(of_zeros, n, zw),
                     .scales = halves_view(of_scales, n, 8 * zw)},
         w4_weights{shape, memory});
  REQUIRE(crc32_of(matrix_k_n<f16>(w4_weights{shape, memory})) == 0xe8b8ce1du);

  const w4_shape with_offsets{
      .n = n, .k = k, .group = 32, .scales = w4_scale_type::f32, .offsets = true, .zero = 0};
  const auto fast_memory = memory_for(with_offsets);
  repack(s,
         awq_gemv_fast_w4{.qweight = tensor_view<const i16, 2>(of_fast, n / 4, k),
                          .scales = halves_view(of_fast_scales, 8 * zw, n),
                          .qzeros = halves_view(of_fast_zeros, 8 * zw, n)},
         w4_weights{with_offsets, fast_memory});
  require_weights(matrix_k_n<f32>(w4_weights{with_offsets, fast_memory}), k, n, [&](i64 i, i64 c) {
    return as_f32(s_of(i / 32, c)) * static_cast<f32>(q_of(i, c, 4)) + as_f32(fast_zeros[at(i / 32 * n + c)]);
  });
}

TEST_CASE("repack: Marlin's weights of four and eight bits", "[ops][w4][w8]") {
  REQUIRE(crc32_of(marlin(128, 256, 4)) == 0x3dc5bcf1u);
  REQUIRE(crc32_of(marlin(128, 256, 8)) == 0xd5c91510u);
  REQUIRE(crc32_of(marlin_zeros(4, 128)) == 0x25d45e28u);
  REQUIRE(crc32_of(marlin_scales(4, 128)) == 0x28962867u);
  REQUIRE(crc32_of(marlin_scales(1, 128)) == 0x64cda8c9u);
  constexpr i64 n = 128, k = 128;
  const auto four = upload(marlin(k, n, 4)), eight = upload(marlin(k, n, 8)),
             zeros = upload(marlin_zeros(4, n));
  const stream& s = under_test().stream();
  for (const i64 group : {i64{32}, i64{-1}}) {
    const i64 groups = group == -1 ? 1 : k / group, size = k / groups;
    const auto scales = upload(marlin_scales(groups, n));
    const halves_view of_scales(scales, groups, n);
    for (const bool zero_points : {false, true}) {
      if (zero_points && group == -1) continue;
      const w4_shape shape{.n = n, .k = k, .group = group, .zero_points = zero_points};
      const auto memory = memory_for(shape);
      repack(s,
             marlin_w4{.b = words_view(four, k / 16, 2 * n),
                       .scales = of_scales,
                       .zeros = zero_points ? words_view(zeros, groups, n / 8) : words_view()},
             w4_weights{shape, memory});
      require_weights(matrix_k_n<f32>(w4_weights{shape, memory}), k, n, [&](i64 i, i64 c) {
        const u32 zero = zero_points ? z_of(i / size, c, 4) : 8;
        return as_f32(s_of(i / size, c)) * (static_cast<f32>(q_of(i, c, 4)) - static_cast<f32>(zero));
      });
    }
    const w8_shape shape{.n = n, .k = k, .group = group};
    const auto memory = memory_for(shape);
    repack(s, marlin_w8{.b = words_view(eight, k / 16, 4 * n), .scales = of_scales},
           w8_weights{shape, memory});
    require_weights(matrix_k_n<f32>(w8_weights{shape, memory}), k, n, [&](i64 i, i64 c) {
      return as_f32(s_of(i / size, c)) * (static_cast<f32>(q_of(i, c, 8)) - 128);
    });
  }
}

TEST_CASE("repack: tinygemm's weights of each number of inner k tiles", "[ops][w4]") {
  REQUIRE(crc32_of(tinygemm(256, 16, 8)) == 0x7f78a406u);
  REQUIRE(crc32_of(tinygemm(256, 16, 4)) == 0xf8d20c61u);
  REQUIRE(crc32_of(tinygemm(256, 16, 2)) == 0xc5120a53u);
  constexpr i64 n = 24, k = 256;
  const stream& s = under_test().stream();
  for (const i64 tiles : {2, 4, 8}) {
    const i64 group = tiles == 8 ? 128 : 32, groups = k / group;
    std::vector<bf16> numbers;  // of scale and zero, with which the product is not exact in bf16
    std::mt19937_64 engine(static_cast<std::uint64_t>(tiles));
    std::uniform_real_distribution<float> any(-1, 1);
    for (i64 i = 0; i < groups * n * 2; ++i) numbers.push_back(bf16(any(engine) / 8));
    const auto packed = upload(tinygemm(k, n, tiles));
    const auto scales_and_zeros = upload(numbers);
    const w4_shape shape{.n = n, .k = k, .group = group, .scales = w4_scale_type::f32, .offsets = true};
    const auto memory = memory_for(shape);
    const w4_weights w{shape, memory};
    repack(s,
           tinygemm_w4{.packed = tensor_view<const i32, 4>(packed, n / 8, k / (16 * tiles), 32, tiles / 2),
                       .scales_and_zeros = tensor_view<const bf16, 3>(scales_and_zeros, groups, n, 2)},
           w);
    const auto weight = [&](i64 i, i64 c) {
      const i64 fact = (i / group * n + c) * 2;
      return static_cast<f32>(numbers[at(fact)]) * (static_cast<f32>(q_of(i, c, 4)) - 8) +
             static_cast<f32>(numbers[at(fact + 1)]);
    };
    require_weights(matrix_k_n<f32>(w), k, n, weight);
    if (under_test().properties().target.sm < 80) continue;
    check_w_product<bf16, bf16>(
        {.m = tiles, .rounded = 0x1p-19}, n, k, [&](i64 row, i64 column) { return weight(column, row); },
        [&](const auto& x, const auto& y, const ops::any_view&) {
          auto workspace = under_test().allocate<u8>(matmul_w4_workspace_bytes(s, x, w));
          matmul_w4(s, x, w, y, {.workspace = workspace});
          s.synchronize();
        });
  }
}

TEST_CASE("repack: torchao's plain int4", "[ops][w4]") {
  constexpr i64 n = 40, k = 192;
  const stream& s = under_test().stream();
  const auto check = [&]<class T>(i64 group) {
    const i64 groups = k / group;
    std::vector<T> scale, zero_point;
    std::mt19937_64 engine(static_cast<std::uint64_t>(group));
    std::uniform_real_distribution<float> any(-1, 1);
    for (i64 i = 0; i < groups * n; ++i) {
      scale.push_back(T(any(engine) / 8));
      zero_point.push_back(T(any(engine)));
    }
    // Bytes as the file has them: code - 8 of the even k in the lower half, and of the odd one in the upper.
    std::vector<i8> bytes;
    for (i64 c = 0; c < n; ++c)
      for (i64 i = 0; i < k; i += 2)
        bytes.push_back(static_cast<i8>(((q_of(i, c, 4) - 8) & 15) | ((q_of(i + 1, c, 4) - 8) & 15) << 4));
    std::vector<i32> words(at(n * k / 8));
    std::memcpy(words.data(), bytes.data(), bytes.size());
    const auto qdata = upload(words);
    const auto of_scale = upload(scale), of_zero = upload(zero_point);
    const w4_shape shape{.n = n, .k = k, .group = group, .scales = w4_scale_type::f32, .offsets = true};
    const auto memory = memory_for(shape);
    const w4_weights w{shape, memory};
    repack(s,
           torchao_int4_w4{.qdata = tensor_view<const i32, 2>(qdata, n, k / 8),
                           .scale = tensor_view<const T, 2>(of_scale, groups, n),
                           .zero_point = tensor_view<const T, 2>(of_zero, groups, n)},
           w);
    require_weights(matrix_k_n<f32>(w), k, n, [&](i64 i, i64 c) {
      const auto fact = at(i / group * n + c);
      return static_cast<f32>(scale[fact]) * (static_cast<f32>(q_of(i, c, 4)) - 8) +
             static_cast<f32>(zero_point[fact]);
    });
  };
  check.template operator()<bf16>(32);
  check.template operator()<bf16>(192);
  check.template operator()<f16>(64);
  auto words = under_test().allocate<i32>(1024);
  auto halves = under_test().allocate<f16>(256);
  auto brains = under_test().allocate<bf16>(256);
  const w4_shape shape{.n = 64, .k = 64, .group = 32, .scales = w4_scale_type::f32, .offsets = true};
  const auto memory = memory_for(shape);
  torchao_int4_w4 source{.qdata = tensor_view<const i32, 2>(words, 64, 8),
                         .scale = tensor_view<const f16, 2>(halves, 2, 64),
                         .zero_point = tensor_view<const bf16, 2>(brains, 2, 64)};
  const auto refuses = [&](const std::string& part) {
    require_refusal(errc::invalid_argument, "kaio: repack: ", part, [&] {
      repack(s, source, w4_weights{shape, memory});
    });
  };
  refuses("argument zero_point is not of the type of the scales");
  source.zero_point = {};
  refuses("argument zero_point is not given");
}

TEST_CASE("repack: packed for other kernels, bad input", "[ops][w4]") {
  auto words = under_test().allocate<i32>(8192);
  auto scales = under_test().allocate<f16>(4096);
  auto memory = under_test().allocate<u8>(65536);
  const stream& s = under_test().stream();
  const w4_shape shape{.n = 64, .k = 64, .group = 32};
  const auto refuses = [&](const std::string& part, const auto& source, const w4_shape& to) {
    require_refusal(errc::invalid_argument, "kaio: repack: ", part, [&] {
      repack(s, source, w4_weights{to, memory});
    });
  };
  const halves_view of_scales(scales, 2, 64);
  w4_shape other = shape;
  other.n = 32;
  refuses("multiples of 64", marlin_w4{.b = words_view(words, 4, 64), .scales = of_scales}, other);
  refuses("argument b", marlin_w4{.b = words_view(words, 4, 64), .scales = of_scales}, shape);
  refuses("5 bits", gptq_w4{.qweight = words_view(words, 10, 64), .scales = of_scales, .bits = 5}, shape);
  refuses("argument qweight", gptq_w4{.qweight = words_view(words, 8, 64), .scales = of_scales, .bits = 3},
          shape);
  auto numbers = under_test().allocate<bf16>(512);
  const tinygemm_w4 tiny{.packed = tensor_view<const i32, 4>(words, 8, 2, 32, 1),
                         .scales_and_zeros = tensor_view<const bf16, 3>(numbers, 2, 64, 2)};
  refuses(
      "the shape of argument weights has no offsets, and argument packed is of a format with offsets and the "
      "zero 8; set shape.offsets to true, and its zero to 8",
      tiny, shape);
  other = {.n = 64, .k = 64, .group = 32, .scales = w4_scale_type::f32, .offsets = true};
  refuses("has offsets, and argument qweight is of a format without; set shape.offsets to false",
          gptq_w4{.qweight = words_view(words, 8, 64), .scales = of_scales}, other);
  w4_shape with_zero = other;
  with_zero.zero = 3;
  refuses("the zero 3, and argument packed is of a format with offsets and the zero 8; set shape.zero to 8",
          tiny, with_zero);
  const gptq_w4 plain{.qweight = words_view(words, 8, 64), .scales = of_scales};
  refuses("codes of nf4, and argument qweight has integers; set shape.codes to int4", plain,
          {.n = 64, .k = 64, .group = 64, .scales = w4_scale_type::f32, .codes = w4_codes::nf4});
  w4_shape with_factors = shape;
  with_factors.factors = true;
  refuses("factors, and argument qweight is of a format without; set shape.factors to false", plain,
          with_factors);
  auto bytes = under_test().allocate<u8>(4096);
  auto numbers_of_8 = under_test().allocate<f32>(128);
  require_refusal(errc::invalid_argument, "kaio: repack: ",
                  "has offsets, and argument weight is of a format without; set shape.offsets to false", [&] {
                    repack(s,
                           int8_w8{tensor_view<const u8, 2>(bytes, 64, 64),
                                   tensor_view<const f32, 2>(numbers_of_8, 64, 2),
                                   {}},
                           w8_weights{{.n = 64, .k = 64, .group = 32, .offsets = true}, memory});
                  });
  tinygemm_w4 wrong = tiny;
  wrong.packed = tensor_view<const i32, 4>(words, 8, 2, 32, 3);
  refuses("inner_k_tiles", wrong, other);
  other.scales = w4_scale_type::f16;
  refuses("with offsets of f32", tiny, other);
}
