#pragma once
// matmul with an epilogue of your own, in the library's kernels of matmul, compiled where they are used.
//
//   struct silu_times {                                        // y = silu(x) * up
//     static constexpr fixed_string name = "silu_times";
//     constexpr val<f32> operator()(thread t, val<f32> x, place at, in<f16> up, val<u64> pitch) const {
//       val other = t.let(cast<f32>(up[cast<u64>(at.row) * pitch + cast<u64>(at.column)]));
//       return t.let(x * sigmoid(x) * other);
//     }
//   };
//   matmul_with<matmul_layouts::nn>(s, x, gate_weights, y, silu_times{}, up, u64{n});
//
// The arguments after the epilogue are those of its own parameters, as a launch takes them: buffers or
// device_pointers for in<T> and inout<T>, exact types for val<T>. The memory that they point to is not
// checked against C.
//
// Each layout that is compiled costs a few kernels, so say which layouts you need:
//
//   sm_90a             tiles of 128 x 256 in clusters of two, and of 128 x 128; for f16 and bf16 with A and B
//                      along K also one for few rows (8-bit: only with A and B along K)
//   sm_80 and later    by mma.sync: one for lines at multiples of 16 bytes, one for any
//                      (8-bit: only the latter, from sm_89 on)
//   f32                one of multiply-adds
//
// C is row-major. In a batch, at least one of A and B has the number of dimensions of C.

#include <kaio/ops/matmul.hpp>
#include <kaio/ops/matmul/mma_sync/cuts.hpp>
#include <kaio/ops/matmul/mma_sync/table_row.hpp>
#include <kaio/ops/matmul/simt/table_row.hpp>
#include <kaio/ops/matmul/sm90/table_row.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace kaio::ops {

// As in BLAS: n is a row-major operand, t a column-major one; A comes first.
enum class matmul_layouts : std::uint8_t { nn = 1, nt = 2, tn = 4, tt = 8, all = 15 };
constexpr matmul_layouts operator|(matmul_layouts a, matmul_layouts b) {
  return static_cast<matmul_layouts>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

namespace detail {

inline constexpr sm90_config with_large{.m = 128, .n = 256, .stages = 4, .cluster_m = 2};
inline constexpr sm90_config with_medium{.m = 128, .n = 128, .stages = 6};
inline constexpr sm90_split_config with_few_rows{
    .m = 64, .n = 16, .stages = 5, .depth = 4, .splits = 2, .transposed = true};

template <class T>
struct product_of;
template <>
struct product_of<f16> {
  using type = instruction_product<mma_m16n8k16<f32, f16>>;
};
template <>
struct product_of<bf16> {
  using type = instruction_product<mma_m16n8k16<f32, bf16>>;
};
template <>
struct product_of<e4m3> {
  using type = instruction_product<mma_m16n8k32<f32, e4m3>>;
};
template <>
struct product_of<e5m2> {
  using type = instruction_product<mma_m16n8k32<f32, e5m2>>;
};

// The kernels of one epilogue, with their launchers.
template <class T, class Out, class Epilogue, class... Extra>
struct with_table {
  using launcher = void (*)(const stream&, const matmul_call&, const Extra&...);
  std::vector<matmul_variant> variants;
  std::vector<launcher> launchers;

  void add(matmul_variant v, launcher f) {
    take_fitted_costs(v);
    variants.push_back(v);
    launchers.push_back(f);
  }
  template <major A, major B>
  void add_layout() {
    if constexpr (std::is_same_v<T, f32>) {
      constexpr simt_config cut = with_lines<simt_anywhere>(A, B);
      add(describe_simt<cut, Out, Epilogue>(), launch_call_simt<cut, Out, Epilogue, Extra...>);
    } else {
      constexpr bool along_k = A == major::k && B == major::k;
      if constexpr (sizeof(T) == 2 || along_k) {
        constexpr sm90_config large = with_lines<with_large>(A, B), medium = with_lines<with_medium>(A, B);
        add(describe_sm90<large, T, Out, Epilogue>(), launch_call_sm90<large, T, Out, Epilogue, Extra...>);
        add(describe_sm90<medium, T, Out, Epilogue>(), launch_call_sm90<medium, T, Out, Epilogue, Extra...>);
      }
      if constexpr (sizeof(T) == 2 && along_k) {
        matmul_variant rows = describe_split<with_few_rows, T, Out, Epilogue>();
        rows.most_batches = most_grid_z;
        add(rows, launch_call_split<with_few_rows, T, Out, Epilogue, Extra...>);
      }
      using product = typename product_of<T>::type;
      if constexpr (sizeof(T) == 2) {
        constexpr mma_sync_config cut = mma_cuts::small_16(A, B);
        add(describe_mma_sync<cut, product, Out, Epilogue>(),
            launch_call_mma_sync<cut, product, Out, Epilogue, Extra...>);
      }
      constexpr mma_sync_config any = mma_cuts::unaligned(A, B, sizeof(T) == 1 ? 64 : 32);
      add(describe_mma_sync<any, product, Out, Epilogue>(),
          launch_call_mma_sync<any, product, Out, Epilogue, Extra...>);
    }
  }
  template <matmul_layouts Layouts>
  static const with_table& of() {
    static const with_table table = [] {
      constexpr auto has = [](matmul_layouts one) {
        return (static_cast<unsigned>(Layouts) & static_cast<unsigned>(one)) != 0;
      };
      with_table result;
      if constexpr (has(matmul_layouts::nn)) result.template add_layout<major::k, major::mn>();
      if constexpr (has(matmul_layouts::nt)) result.template add_layout<major::k, major::k>();
      if constexpr (has(matmul_layouts::tn)) result.template add_layout<major::mn, major::mn>();
      if constexpr (has(matmul_layouts::tt)) result.template add_layout<major::mn, major::k>();
      return result;
    }();
    return table;
  }
};

}  // namespace detail

// C = epilogue(A * B), rounded to the type of C. A: M x K, B: K x N, C: M x N, as ops::matmul takes them.
// Throws what ops::matmul does, and unsupported_device if the layout was not compiled or the device has none
// of the kernels.
template <matmul_layouts Layouts = matmul_layouts::all, class A, class B, class C, std::size_t RankA,
          std::size_t RankB, std::size_t RankC, epilogue Epilogue, class... Extra>
void matmul_with(const stream& s, const tensor_view<A, RankA>& a, const tensor_view<B, RankB>& b,
                 const tensor_view<C, RankC>& c, Epilogue, const Extra&... extra) {
  const detail::operation_scope traced("matmul_with");
  detail::require_matmul_types<A, B, C, RankA, RankB, RankC>();
  using table = detail::with_table<std::remove_const_t<A>, C, Epilogue, Extra...>;
  const matmul_options options;
  const device_properties& device = s.properties();
  matmul_call call = detail::resolve_matmul(s.device_identity(), {"matmul_with", a, b, c, &options}, false);
  if (call.empty()) return;
  const table& kernels = table::template of<Layouts>();
  if (call.k == 0) {
    // The operands are not read, and may have no memory at all.
    call.a = call.b = call.c;
    call.a.lines = kernels.variants.front().a;
    call.b.lines = kernels.variants.front().b;
  }
  const std::size_t chosen = detail::choose_among("matmul_with", call, kernels.variants, device);
  kernels.launchers[chosen](s, call, extra...);
}

}  // namespace kaio::ops

namespace kaio {
using ops::matmul_layouts;
using ops::matmul_with;
}  // namespace kaio
