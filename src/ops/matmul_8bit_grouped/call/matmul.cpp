// Checks calls of matmul_fp8_grouped and matmul_int8_grouped before anything runs, and launches them.

#include <kaio/ops/matmul_fp8_grouped.hpp>
#include <kaio/ops/matmul_int8_grouped.hpp>
#include <kaio/ops/shared/device_refusal.hpp>
#include <kaio/runtime/device.hpp>

#include <span>
#include <string>

#include "ops/families.hpp"
#include "ops/matmul_8bit_grouped/common/call.hpp"
#include "ops/matmul_grouped/common/gate.hpp"
#include "ops/shared/row_checks.hpp"

namespace kaio::ops {

namespace detail {

namespace {

constexpr std::int64_t most = 0x7fffffff;

// The checks of one call.
class checks {
 public:
  checks(const void* device, const grouped_bytes_arguments& of) : of_(of), check_(of.operation, device) {}

  grouped_bytes_call resolve() const {
    const any_view &a = of_.a, &b = of_.b, &offsets = of_.offsets, &c = of_.c;
    const matmul_fp8_grouped_options& options = *of_.options;
    check_.input("a", a);
    check_.input("b", b);
    check_.input("offsets", offsets);
    check_.output("c", c);
    check_.extent("b", b, 1, a.extents[1], "the columns of a");
    check_.extent("offsets", offsets, 0, b.extents[0] + 1, "the groups of b, and one");
    const bool is_gathered = options.rows.exists(), is_gated = options.gate != matmul_activation::none;
    if (is_gathered) {
      if (options.rows.rank != 1 || options.rows.type != element_kind::i32)
        refuse(of_.operation, "argument rows is no (rows) of i32");
      check_.input("rows", options.rows);
      check_adjacent(of_.operation, "rows", options.rows);
      check_.extent("rows", options.rows, 0, c.extents[0], "the rows of c");
      check_.apart("c", c, "rows", options.rows);
    } else {
      check_.extent("c", c, 0, a.extents[0], "the rows of a");
    }
    if (!is_gated) check_.extent("c", c, 1, b.extents[2], "the columns of b");
    check_adjacent(of_.operation, "offsets", offsets);
    check_adjacent(of_.operation, "c", c);
    for (std::uint32_t d = 0; d < 2; ++d) check_.at_most("a", a, d, most);
    check_.at_most("b", b, 0, most - 1);
    check_.at_most("c", c, 1, most);
    check_.apart("c", c, "a", a);
    check_.apart("c", c, "b", b);
    check_.apart("c", c, "offsets", offsets);
    check_.at_most("c", c, 0, most);
    grouped_bytes_call call{a, b, offsets, c, {}};
    grouped_bytes_terms& terms = call.terms;
    terms.gather = {is_gathered ? options.rows.address : 0, static_cast<u32>(a.extents[0])};
    terms.groups = static_cast<u32>(ceil_div(call.k(), std::uint64_t{promoted_k}));
    if (is_gated) gate(terms);
    terms.scale_a = of_rows("scale_a", options.scale_a);
    terms.scale_b = of_groups("scale_b", options.scale_b, true);
    terms.bias = of_groups("bias", options.bias, false);
    if (of_.zero_a.exists() != of_.column_sums.exists())
      refuse(of_.operation, "zero_a and column_sums belong together; give both, or neither");
    terms.zero_a = of_rows("zero_a", of_.zero_a, true);
    terms.column_sums = of_groups("column_sums", of_.column_sums, false, true);
    if (options.groups_a.exists() != options.blocks_b.exists())
      refuse(of_.operation, "groups_a and blocks_b belong together; give both, or neither");
    if (options.groups_a.exists()) parts(call);
    if (c.type == element_kind::i32 &&
        (terms.scale_a.type != 0 || terms.scale_b.type != 0 || terms.bias.type != 0 || is_gated))
      refuse(of_.operation,
             "output c is of i32, which holds the sums; scales, a bias and a gate need f32, f16 or bf16");
    if (a.extents[0] == 0) {  // all rows are zeros: a product with K = 0, which reads nothing of a
      call.a.extents[1] = call.b.extents[1] = 0;
      terms.scale_a.type = terms.zero_a.type = terms.groups_a.type = terms.blocks_b.type = 0;
    }
    return call;
  }

 private:
  // Fours of gates and of their values in turn.
  void gate(grouped_bytes_terms& terms) const {
    const matmul_fp8_grouped_options& o = *of_.options;
    const std::int64_t n = of_.b.extents[2] / 2;
    terms.gate = checked_gate(of_.operation, "gate", o.gate, o.alpha, o.limit, o.up_offset);
    const std::int64_t multiple = o.blocks_b.exists() ? 64 : 4;
    if (of_.b.extents[2] % (2 * multiple) != 0)
      refuse(of_.operation, "half of the columns of b, the gates, are no multiple of " +
                                std::to_string(multiple) + "; fill them up with columns of zeros");
    check_.extent("c", of_.c, 1, n, "half of the columns of b");
    terms.gates = static_cast<u32>(n);
  }
  // The term of numbers with `rank` dimensions. Integers have the type of f32.
  u32 type_of(std::string_view name, const any_view& v, std::uint32_t rank, bool is_integer = false) const {
    if (is_integer && v.type != element_kind::i32)
      refuse(of_.operation, "argument " + std::string(name) + " is not of i32");
    if (!is_integer && v.type != element_kind::f32 && v.type != element_kind::f16 &&
        v.type != element_kind::bf16)
      refuse(of_.operation, "argument " + std::string(name) + " is not of f32, f16 or bf16");
    if (v.rank != rank)
      refuse(of_.operation, "argument " + std::string(name) + " has " + std::to_string(v.rank) +
                                " dimensions; it has " + std::to_string(rank));
    check_.input(name, v);
    check_.apart("c", of_.c, name, v);
    return is_integer ? static_cast<u32>(term_type::f32) : static_cast<u32>(v.type) + 1;
  }
  matmul_term of_rows(std::string_view name, const any_view& v, bool is_integer = false) const {
    if (!v.exists()) return {};
    const u32 type = type_of(name, v, 1, is_integer);
    const bool repeats = v.extents[0] == 1;
    if (!repeats) check_.extent(name, v, 0, of_.a.extents[0], "one number for each row of a, or one for all");
    return {v.address, 0, repeats ? 0 : v.strides[0], 0, type, 0};
  }
  matmul_term of_groups(std::string_view name, const any_view& v, bool may_repeat,
                        bool is_integer = false) const {
    if (!v.exists()) return {};
    const u32 type = type_of(name, v, 2, is_integer);
    check_.extent(name, v, 0, of_.b.extents[0], "the groups of b");
    const bool repeats = may_repeat && v.extents[1] == 1;
    if (!repeats) check_.extent(name, v, 1, of_.b.extents[2], "one number for each column of b");
    return {v.address, v.strides[0], 0, repeats ? 0 : v.strides[1], type, 0};
  }
  void parts(grouped_bytes_call& call) const {
    const matmul_fp8_grouped_options& options = *of_.options;
    const auto in_parts = [](std::int64_t x) { return x / promoted_k + (x % promoted_k != 0 ? 1 : 0); };
    const std::int64_t along = in_parts(of_.a.extents[1]);
    for (const auto& [name, v, rank] :
         {named{"groups_a", options.groups_a, 2}, named{"blocks_b", options.blocks_b, 3}})
      if (type_of(name, v, rank) != static_cast<u32>(term_type::f32))
        refuse(of_.operation, "argument " + std::string(name) + " is not of f32");
    const any_view &a = options.groups_a, &b = options.blocks_b;
    check_.extent("groups_a", a, 0, of_.a.extents[0], "the rows of a");
    check_.extent("groups_a", a, 1, along, "one number for each 128 of k");
    check_.extent("blocks_b", b, 0, of_.b.extents[0], "the groups of b");
    check_.extent("blocks_b", b, 1, along, "one number for each 128 of k");
    check_.extent("blocks_b", b, 2, in_parts(of_.b.extents[2]), "one number for each 128 columns of b");
    if (along == 0) return;
    const auto type = static_cast<u32>(term_type::f32);
    call.terms.groups_a = {a.address, 0, a.strides[0], a.strides[1], type, 0};
    call.terms.blocks_b = {b.address, b.strides[0], b.strides[1], b.strides[2], type, 0};
  }
  struct named {
    std::string_view name;
    const any_view& v;
    std::uint32_t rank;
  };

  const grouped_bytes_arguments& of_;
  validation check_;
};

// The kernels, the fastest first.
template <class F>
void for_kernels(const F& f) {
  for (const auto rows : grouped_bytes_kernel_families)
    for (const grouped_bytes_kernel& kernel : rows()) f(kernel);
}

void run(const stream& s, const grouped_bytes_arguments& arguments) {
  const device_properties& device = s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced(arguments.operation);
  const grouped_bytes_call call = checks(s.device_identity(), arguments).resolve();
  if (call.c.empty() || call.groups() == 0) return;
  constexpr std::uint32_t least = 64;  // rows and columns of the smallest tiles
  if (call.blocks(least, least) > static_cast<std::uint64_t>(most))
    refuse(arguments.operation, "argument c has more tiles than a launch has blocks; split its columns");
  const grouped_bytes_kernel* chosen = nullptr;
  for_kernels([&](const grouped_bytes_kernel& kernel) {
    if (chosen == nullptr && runs_on(*kernel.image, device) && kernel.takes(call)) chosen = &kernel;
  });
  chosen->run(s, call);
}

void warm_up(const runtime::device& gpu) {
  for_kernels([&](const grouped_bytes_kernel& kernel) {
    if (runs_on(*kernel.image, gpu.properties())) gpu.warmup(*kernel.image);
  });
}

}  // namespace

void run_matmul_fp8_grouped(const stream& s, const grouped_bytes_arguments& arguments) {
  for (const any_view* const v : {&arguments.a, &arguments.b})
    if (v->type != element_kind::e4m3 && v->type != element_kind::e5m2)
      refuse(arguments.operation, "arguments a and b are not of e4m3 or e5m2");
  if (arguments.c.type > element_kind::bf16)
    refuse(arguments.operation, "output c is not of f32, f16 or bf16");
  run(s, arguments);
}

void run_matmul_int8_grouped(const stream& s, const grouped_bytes_arguments& arguments) {
  if (arguments.a.type != element_kind::i8 || arguments.b.type != element_kind::i8)
    refuse(arguments.operation, "arguments a and b are not of i8");
  if (arguments.c.type > element_kind::bf16 && arguments.c.type != element_kind::i32)
    refuse(arguments.operation, "output c is not of i32, f32, f16 or bf16");
  run(s, arguments);
}

}  // namespace detail

void matmul_fp8_grouped_warmup(const runtime::device& gpu) { detail::warm_up(gpu); }
void matmul_int8_grouped_warmup(const runtime::device& gpu) { detail::warm_up(gpu); }

std::vector<const ptx::kernel_image*> grouped_bytes_kernels() {
  std::vector<const ptx::kernel_image*> list;
  detail::for_kernels([&](const grouped_bytes_kernel& kernel) { list.push_back(kernel.image); });
  return list;
}

}  // namespace kaio::ops
