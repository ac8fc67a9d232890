// quantise_int8: a block per row, which reads the row twice.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul_8bit/quantise_int8.hpp>
#include <kaio/ops/shared/int8_code.hpp>
#include <kaio/ops/shared/validation.hpp>
#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/error.hpp>

#include <cmath>
#include <cstdint>
#include <string>

#include "ops/matmul_8bit/int8/call.hpp"

namespace kaio::ops {

namespace {

enum class quantise_form : u32 { by_scale, symmetric, asymmetric };

struct quantise_problem {
  i64 x_pitch, codes_pitch;
  u64 scales, zeros;  // addresses; 0: none
  i64 scale_step, zero_step;
  u32 columns;
  u32 fours;  // fours per row that are read and stored at once; the rest follows one by one
  u32 form;   // a quantise_form
  f32 scale;  // for by_scale
};

constexpr u32 quantise_threads = 256;

template <class T>
struct quantise_body {
  // Calls f(first column, its four numbers), and f(column, one number) for the columns after the last four.
  template <class F>
  static constexpr void each(thread t, const in<T>& row, const val<quantise_problem>& problem, const F& f) {
    const val fours = t.let(problem[&quantise_problem::fours]);
    for (auto v : t.range(t.thread_rank(), fours, quantise_threads)) {
      const val column = t.let(v * 4u);
      const val four = load_vec<4>(row[column]);
      f(column, array_of<4>([&](u32 i) { return t.let(cast<f32>(four[i])); }));
    }
    const val first = t.let(fours * 4u + t.thread_rank());
    for (auto column : t.range(first, t.let(problem[&quantise_problem::columns]), quantise_threads))
      f(t.let(column), array_of<1>([&](u32) { return t.let(cast<f32>(row[column])); }));
  }

  static constexpr void run(thread t, const in<T>& x, const out<i8>& codes,
                            const val<quantise_problem>& problem) {
    const val index = t.let(cast<i64>(block_idx_x()));
    const in row = x.from(t.let(index * problem[&quantise_problem::x_pitch]));
    const out to = codes.from(t.let(index * problem[&quantise_problem::codes_pitch]));
    const val form = t.let(problem[&quantise_problem::form]);
    var scale(t, problem[&quantise_problem::scale]);
    var zero(t, 0);
    if (auto dynamic = t.when(form != static_cast<u32>(quantise_form::by_scale))) {
      var low(t, 0.0f), high(t, 0.0f);
      each(t, row, problem, [&](const val<u32>&, const auto& numbers) {
        for (const auto& number : numbers) {
          low = min(low, number);
          high = max(high, number);
        }
      });
      const val lowest = block_reduce(t, t.let(low), minimum{});
      const val highest = block_reduce(t, t.let(high), maximum{});
      if (auto symmetric = t.when(form == static_cast<u32>(quantise_form::symmetric)))
        scale = int8_scale(t, t.let(max(-lowest, highest)));
      if (auto asymmetric = t.otherwise()) {
        scale = int8_scale_of_range(t, lowest, highest);
        zero = int8_zero_point(t, lowest, t.let(scale));
      }
      if (auto first = t.when(t.thread_rank() == 0u)) {
        const auto scales = pointer_at<out<f32>>(t, t.let(problem[&quantise_problem::scales]));
        scales[index * problem[&quantise_problem::scale_step]] = scale;
        if (auto has_zero = t.when(form == static_cast<u32>(quantise_form::asymmetric))) {
          const auto zeros = pointer_at<out<i32>>(t, t.let(problem[&quantise_problem::zeros]));
          zeros[index * problem[&quantise_problem::zero_step]] = zero;
        }
      }
    }
    const val<f32> by = t.let(scale);
    const val<i32> plus_zero = t.let(zero);
    each(t, row, problem, [&]<class Numbers>(const val<u32>& column, const Numbers& numbers) {
      if constexpr (std::is_same_v<Numbers, dsl::register_array<val<f32>, 4>>) {
        const auto code = array_of<4>([&](u32 i) { return int8_code(t, numbers[i], by, plus_zero); });
        store_vec(to[column], make_vec(code[0], code[1], code[2], code[3]));
      } else {
        to[column] = int8_code(t, numbers[0], by, plus_zero);
      }
    });
  }
};

template <class T>
constexpr auto quantise_rows = kaio::kernel<"quantise_int8_" + type_name<T>, quantise_threads>(
    [](thread t, in<T> x, out<i8> codes, val<quantise_problem> problem) {
      quantise_body<T>::run(t, x, codes, problem);
    });

[[noreturn]] void refuse(const std::string& what) { throw invalid_argument("kaio: quantise_int8: " + what); }

void require_rows(std::string_view name, const matmul_view& v) {
  if (v.extents[1] > 1 && v.strides[1] != 1)
    refuse("argument " + std::string(name) +
           " has rows that are not contiguous: copy the matrix to memory of its own");
}

// Whether rows begin at multiples of four elements.
bool by_four(const matmul_view& v) {
  const auto row = static_cast<std::uint64_t>(v.strides[0]);
  return v.address % (4 * bytes_of(v.type)) == 0 && (v.extents[0] <= 1 || row % 4 == 0);
}

template <class T>
device_pointer<T> pointer_of(const matmul_view& v) {
  return {v.address, v.bytes / sizeof(T), v.device, true};
}

}  // namespace

namespace detail {

void run_quantise_int8(const stream& s, const matmul_view& x, const matmul_view& codes,
                       const matmul_view& scales, const matmul_view& zero_points, f32 scale) {
  s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced("quantise_int8");
  const validation check("quantise_int8", s.device_identity());
  constexpr std::int64_t most = 0x7fffffff;
  check.input("x", x);
  check.output("codes", codes);
  check.extent("codes", codes, 0, x.extents[0], "the rows of x");
  check.extent("codes", codes, 1, x.extents[1], "the columns of x");
  check.apart("codes", codes, "x", x);
  for (std::size_t d = 0; d < 2; ++d) check.at_most("x", x, d, most);
  require_rows("x", x);
  require_rows("codes", codes);
  for (const auto& [name, view] : {std::pair{"scales", &scales}, std::pair{"zero_points", &zero_points}}) {
    if (!view->exists()) continue;
    check.output(name, *view);
    check.extent(name, *view, 0, x.extents[0], "the rows of x");
    check.apart(name, *view, "x", x);
    check.apart(name, *view, "codes", codes);
  }
  if (scales.exists() && zero_points.exists()) check.apart("scales", scales, "zero_points", zero_points);
  if (!scales.exists() && !(std::isfinite(scale) && scale > 0)) refuse("scale is not finite and above 0");
  if (x.extents[0] == 0) return;
  const auto columns = static_cast<u32>(x.extents[1]);
  const quantise_form form = zero_points.exists() ? quantise_form::asymmetric
                             : scales.exists()    ? quantise_form::symmetric
                                                  : quantise_form::by_scale;
  const quantise_problem problem{x.strides[0],
                                 codes.strides[0],
                                 scales.address,
                                 zero_points.address,
                                 scales.strides[0],
                                 zero_points.strides[0],
                                 columns,
                                 by_four(x) && by_four(codes) ? columns / 4 : 0,
                                 static_cast<u32>(form),
                                 scale};
  const auto launch = [&]<class T>(T) {
    auto from = pointer_of<T>(x);
    auto to = pointer_of<i8>(codes);
    quantise_rows<T>.launch(s, grid(static_cast<std::uint64_t>(x.extents[0])), from, to, problem);
  };
  if (x.type == element_kind::f32) return launch(f32{});
  if (x.type == element_kind::f16) return launch(f16{});
  launch(bf16{});
}

}  // namespace detail

void list_int8_quantise_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&quantise_rows<f32>.image());
  list.push_back(&quantise_rows<f16>.image());
  list.push_back(&quantise_rows<bf16>.image());
}

}  // namespace kaio::ops
