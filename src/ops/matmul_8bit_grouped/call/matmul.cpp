// Checks calls of matmul_fp8_grouped and matmul_int8_grouped before anything runs, and launches them.

#include <kaio/ops/matmul_fp8_grouped.hpp>
#include <kaio/ops/matmul_int8_grouped.hpp>
#include <kaio/ops/shared/device_refusal.hpp>
#include <kaio/runtime/device.hpp>

#include <span>
#include <string>

#include "ops/families.hpp"
#include "ops/matmul_8bit_grouped/common/call.hpp"
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
    check_.extent("c", c, 0, a.extents[0], "the rows of a");
    check_.extent("c", c, 1, b.extents[2], "the columns of b");
    check_adjacent(of_.operation, "offsets", offsets);
    check_adjacent(of_.operation, "c", c);
    for (std::uint32_t d = 0; d < 2; ++d) check_.at_most("a", a, d, most);
    check_.at_most("b", b, 0, most - 1);
    check_.at_most("c", c, 1, most);
    check_.apart("c", c, "a", a);
    check_.apart("c", c, "b", b);
    check_.apart("c", c, "offsets", offsets);
    grouped_bytes_call call{a, b, offsets, c, {}, {}, {}, {}, {}};
    call.scale_a = of_rows("scale_a", options.scale_a);
    call.scale_b = of_groups("scale_b", options.scale_b, true);
    call.general.bias = of_groups("bias", options.bias, false);
    call.general.plain = call.general.is_plain() ? 1 : 0;
    call.general.by_four = call.general.reads_by_four() ? 1 : 0;
    if (options.groups_a.exists() != options.blocks_b.exists())
      refuse(of_.operation, "groups_a and blocks_b belong together; give both, or neither");
    if (options.groups_a.exists()) parts(call);
    if (c.type == element_kind::i32 &&
        (call.scale_a.type != 0 || call.scale_b.type != 0 || call.general.bias.type != 0))
      refuse(of_.operation,
             "output c is of i32, which holds the sums; scales and a bias need f32, f16 or bf16");
    return call;
  }

 private:
  // The term of numbers with `rank` dimensions.
  u32 type_of(std::string_view name, const any_view& v, std::uint32_t rank) const {
    if (v.type != element_kind::f32 && v.type != element_kind::f16 && v.type != element_kind::bf16)
      refuse(of_.operation, "argument " + std::string(name) + " is not of f32, f16 or bf16");
    if (v.rank != rank)
      refuse(of_.operation, "argument " + std::string(name) + " has " + std::to_string(v.rank) +
                                " dimensions; it has " + std::to_string(rank));
    check_.input(name, v);
    check_.apart("c", of_.c, name, v);
    return static_cast<u32>(v.type) + 1;
  }
  matmul_term of_rows(std::string_view name, const any_view& v) const {
    if (!v.exists()) return {};
    const u32 type = type_of(name, v, 1);
    const bool repeats = v.extents[0] == 1;
    if (!repeats) check_.extent(name, v, 0, of_.c.extents[0], "one number for each row of c, or one for all");
    return {v.address, 0, repeats ? 0 : v.strides[0], 0, type, 0};
  }
  matmul_term of_groups(std::string_view name, const any_view& v, bool may_repeat) const {
    if (!v.exists()) return {};
    const u32 type = type_of(name, v, 2);
    check_.extent(name, v, 0, of_.b.extents[0], "the groups of b");
    const bool repeats = may_repeat && v.extents[1] == 1;
    if (!repeats) check_.extent(name, v, 1, of_.c.extents[1], "one number for each column of c");
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
    check_.extent("groups_a", a, 0, of_.c.extents[0], "the rows of a");
    check_.extent("groups_a", a, 1, along, "one number for each 128 of k");
    check_.extent("blocks_b", b, 0, of_.b.extents[0], "the groups of b");
    check_.extent("blocks_b", b, 1, along, "one number for each 128 of k");
    check_.extent("blocks_b", b, 2, in_parts(of_.c.extents[1]), "one number for each 128 columns of b");
    if (along == 0) return;
    const auto type = static_cast<u32>(term_type::f32);
    call.groups_a = {a.address, 0, a.strides[0], a.strides[1], type, 0};
    call.blocks_b = {b.address, b.strides[0], b.strides[1], b.strides[2], type, 0};
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
