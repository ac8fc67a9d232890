// The way from a call to a kernel: the choice of a variant, and the launch.

#include <kaio/ops/matmul.hpp>
#include <kaio/ops/shared/validation.hpp>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "ops/choice/recent_choices.hpp"
#include "ops/choice/strict.hpp"
#include "ops/matmul/call/workspace.hpp"
#include "ops/matmul/choice/signature.hpp"
#include "ops/matmul/choice/split_k.hpp"
#include "ops/matmul/choice/table.hpp"

namespace kaio::ops {

namespace {

std::string shape_text(const matmul_call& call) {
  return std::to_string(call.m) + " x " + std::to_string(call.n) + " x " + std::to_string(call.k);
}

const matmul_variant* find_named(const matmul_call& call, std::string_view name) {
  for (const matmul_variant* v : variants_for(call))
    if (v->name() == name) return v;
  return nullptr;
}

[[noreturn]] void throw_none(std::string_view operation, const matmul_call& call,
                             const device_properties& device) {
  std::string text = "kaio: " + std::string(operation) + ": no kernel for a product of " + shape_text(call) +
                     " on " + device.name + " (sm_" + std::to_string(device.target.sm) +
                     (device.target.arch_specific ? "a)" : ")");
  const auto candidates = variants_for(call);
  // A variant that splits K would blame K or the workspace before the device, so others are preferred.
  const matmul_variant* last = nullptr;
  for (const matmul_variant* v : candidates)
    if (last == nullptr || v->splits == 1 || last->splits != 1) last = v;
  if (last == nullptr)
    text += "; there is none for these types and layouts";
  else
    text += "; the last of those for these types was left out because " + refusal(*last, call, device);
  throw unsupported_device(text);
}

// The choice of the cost model; nullptr if no variant accepts the call.
const matmul_variant* best(const matmul_call& call, const device_properties& device) {
  const matmul_variant* found = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const matmul_variant* v : variants_for(call)) {
    if (!accepts(*v, call, device)) continue;
    const double seconds = cost(*v, call, device);
    if (seconds < least) {
      least = seconds;
      found = v;
    }
  }
  return found;
}

const matmul_variant* tuned_or_best(const matmul_call& call, const call_signature& signature,
                                    const device_properties& device) {
  if (const std::string name = find_tuned(device, signature.text()); !name.empty())
    if (const matmul_variant* v = find_named(call, name); v != nullptr && accepts(*v, call, device)) return v;
  return best(call, device);
}

}  // namespace

const matmul_variant& choose(std::string_view operation, const matmul_call& call,
                             const device_properties& device, std::string_view forced) {
  if (!forced.empty()) {
    const matmul_variant* v = find_named(call, forced);
    if (v == nullptr)
      throw invalid_argument("kaio: " + std::string(operation) + ": there is no variant " +
                             std::string(forced) +
                             " for these types and layouts; matmul_variants lists them");
    if (const std::string why = refusal(*v, call, device); !why.empty())
      throw invalid_argument("kaio: " + std::string(operation) + ": variant " + std::string(forced) +
                             " cannot run a product of " + shape_text(call) + ": " + why +
                             "; leave the variant out, or take another of matmul_variants");
    return *v;
  }
  thread_local recent_choices<call_signature, const matmul_variant*> recent;
  const call_signature signature = call_signature::of(call);
  return *recent.find(signature, device, [&] {
    const matmul_variant* const v = tuned_or_best(call, signature, device);
    if (v == nullptr) throw_none(operation, call, device);
    return v;
  });
}

void run_variant(const stream& s, const matmul_call& call, const matmul_variant& v) {
  if (v.splits == 1) {
    if (call.terms.plain != 0) return v.run(s, call, v);
    matmul_call own = call;
    own.terms.by_four = own.terms.reads_by_four() ? 1 : 0;
    return v.run(s, own, v);
  }
  v.run(s, call_of_splits(call, v.splits), v);
  run_reduction(s, call, v.splits);
}

void run_call(std::string_view operation, const stream& s, const matmul_call& call, std::string_view forced) {
  if (call.empty()) return;
  if (call.k == 0) return run_nothing(s, call);
  if (forced.empty())
    check_strictly(s, [&](const device_properties& other) { choose(operation, call, other, {}); });
  run_variant(s, call, choose(operation, call, s.properties(), forced));
}

namespace detail {

std::size_t choose_among(std::string_view operation, const matmul_call& call,
                         std::span<const matmul_variant> variants, const device_properties& device) {
  std::size_t found = variants.size();
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (!accepts(variants[i], call, device)) continue;
    const double seconds = cost(variants[i], call, device);
    if (seconds < least) {
      least = seconds;
      found = i;
    }
  }
  if (found == variants.size())
    throw unsupported_device("kaio: " + std::string(operation) + ": no kernel for a product of " +
                             shape_text(call) + " on " + device.name + " (sm_" +
                             std::to_string(device.target.sm) + (device.target.arch_specific ? "a)" : ")") +
                             (variants.empty() ? std::string()
                                               : "; the last kernel was refused because " +
                                                     refusal(variants.back(), call, device)));
  return found;
}

void run_matmul(const stream& s, const matmul_arguments& arguments) {
  s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced(arguments.operation);
  const matmul_call call = resolve_matmul(s.device_identity(), arguments);
  run_call(arguments.operation, s, call, arguments.options->variant);
}

namespace {

// The longest run of views from `first` on that one strided batch can hold: they differ only in their
// addresses, which are equally far apart. Distances are in elements.
struct run_of_views {
  std::size_t count = 1;
  std::int64_t a = 0, b = 0, c = 0;  // strides
};

// The address after the last element.
std::uint64_t end_of(const matmul_view& view) {
  const detail::view_facts facts = view.facts();
  std::uint64_t last = 0;
  for (std::size_t d = 0; d < view.rank; ++d) {
    if (view.extents[d] == 0) return view.address;
    last += static_cast<std::uint64_t>(view.extents[d] - 1) * static_cast<std::uint64_t>(view.strides[d]);
  }
  return view.address + (last + 1) * facts.element_bytes;
}

bool same_form(const matmul_view& x, const matmul_view& y) {
  return x.type == y.type && x.rank == y.rank && x.device == y.device && x.extents == y.extents &&
         x.strides == y.strides;
}

// The distance from x to y in elements; false if y is before x or between elements.
bool stride_between(const matmul_view& x, const matmul_view& y, std::int64_t& stride) {
  if (y.address < x.address) return false;
  const std::uint64_t bytes = y.address - x.address, size = bytes_of(x.type);
  if (bytes % size != 0 ||
      bytes / size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return false;
  stride = static_cast<std::int64_t>(bytes / size);
  return true;
}

run_of_views find_run(std::span<const matmul_view> a, std::span<const matmul_view> b,
                      std::span<const matmul_view> c, std::size_t first) {
  run_of_views run;
  const auto follows = [&](std::size_t i, run_of_views& step) {
    return same_form(a[i - 1], a[i]) && same_form(b[i - 1], b[i]) && same_form(c[i - 1], c[i]) &&
           stride_between(a[i - 1], a[i], step.a) && stride_between(b[i - 1], b[i], step.b) &&
           stride_between(c[i - 1], c[i], step.c) && step.c > 0;
  };
  run_of_views step;
  if (first + 1 < c.size() && follows(first + 1, step)) {
    run = step;
    run.count = 2;
    while (first + run.count < c.size() && follows(first + run.count, step) && step.a == run.a &&
           step.b == run.b && step.c == run.c)
      ++run.count;
  }
  return run;
}

// The views of a run as one of three dimensions. Each was made within its own memory; the memory of the last
// one ends that of all.
matmul_view batch_of(const matmul_view& first, const matmul_view& last, std::size_t count,
                     std::int64_t stride) {
  matmul_view result = first;
  result.rank = 3;
  result.bytes = last.address - first.address + last.bytes;
  result.extents = {static_cast<std::int64_t>(count), first.extents[0], first.extents[1]};
  result.strides = {stride, first.strides[0], first.strides[1]};
  return result;
}

bool outputs_can_batch(const matmul_view& c, std::int64_t stride) {
  // Rows of one output and those of the next must not interleave, as in any batch of outputs.
  return stride > (c.extents[0] - 1) * c.strides[0] + (c.extents[1] - 1) * c.strides[1];
}

}  // namespace

void run_matmul_batch(const stream& s, std::string_view operation, std::span<const matmul_view> a,
                      std::span<const matmul_view> b, std::span<const matmul_view> c,
                      const matmul_options& options) {
  s.properties();
  const operation_scope traced(operation);
  if (a.size() != c.size() || b.size() != c.size())
    throw invalid_argument("kaio: " + std::string(operation) + ": " + std::to_string(a.size()) +
                           " views of a, " + std::to_string(b.size()) + " of b and " +
                           std::to_string(c.size()) + " of c; give the same number of each");
  // Checks everything before anything runs.
  const validation check(operation, s.device_identity());
  std::vector<matmul_call> calls;
  calls.reserve(c.size());
  for (std::size_t i = 0; i < c.size();) {
    run_of_views run = find_run(a, b, c, i);
    if (run.count > 1 && !outputs_can_batch(c[i], run.c)) run.count = 1;
    const std::size_t last = i + run.count - 1;
    if (run.count == 1)
      calls.push_back(resolve_matmul(s.device_identity(), {operation, a[i], b[i], c[i], &options}));
    else
      calls.push_back(resolve_matmul(
          s.device_identity(),
          {operation, batch_of(a[i], a[last], run.count, run.a), batch_of(b[i], b[last], run.count, run.b),
           batch_of(c[i], c[last], run.count, run.c), &options}));
    i += run.count;
  }
  // Outputs must not overlap: sorted by address, each is compared with the earlier ones that end after its
  // start.
  std::vector<const matmul_view*> outputs;
  for (const matmul_view& v : c) outputs.push_back(&v);
  std::sort(outputs.begin(), outputs.end(),
            [](const auto* x, const auto* y) { return x->address < y->address; });
  std::vector<const matmul_view*> reaching;
  for (const matmul_view* output : outputs) {
    std::erase_if(reaching, [&](const matmul_view* before) { return end_of(*before) <= output->address; });
    for (const matmul_view* before : reaching) check.apart("c", *output, "c", *before);
    reaching.push_back(output);
  }
  for (const matmul_call& call : calls) run_call(operation, s, call, options.variant);
}

}  // namespace detail

namespace {

matmul_call resolve_for_query(const stream& s, const matmul_view& a, const matmul_view& b,
                              const matmul_view& c, const matmul_options& options) {
  s.properties();
  return detail::resolve_matmul(s.device_identity(), {"matmul", a, b, c, &options});
}

// The call with a workspace of any size.
matmul_call with_workspace(const matmul_call& call) {
  matmul_call result = call;
  result.workspace.address = 4096;
  result.workspace.bytes = std::numeric_limits<std::uint64_t>::max();
  return result;
}

}  // namespace

std::uint64_t detail::workspace_of_matmul(std::string_view operation, const stream& s, const matmul_view& a,
                                          const matmul_view& b, const matmul_view& c,
                                          const matmul_options& options) {
  const matmul_call call = with_workspace(resolve_for_query(s, a, b, c, options));
  if (call.empty() || call.k == 0) return 0;
  return bytes_for_all(s, [&](const device_properties& device) {
    return choose(operation, call, device, options.variant).workspace_bytes(call);
  });
}

std::uint64_t matmul_workspace_bytes(const stream& s, const matmul_view& a, const matmul_view& b,
                                     const matmul_view& c, const matmul_options& options) {
  return detail::workspace_of_matmul("matmul_workspace_bytes", s, a, b, c, options);
}

void matmul_warmup(const runtime::device& gpu, const matmul_view& a, const matmul_view& b,
                   const matmul_view& c, const matmul_options& options) {
  const device_properties& properties = gpu.properties();
  const matmul_call call = detail::resolve_matmul(gpu.identity(), {"matmul_warmup", a, b, c, &options});
  if (call.empty()) return;
  if (call.k == 0) return gpu.warmup(nothing_kernel(call.output));
  const matmul_variant& v = choose("matmul_warmup", call, properties, options.variant);
  gpu.warmup(*v.image);
  if (v.splits != 1) gpu.warmup(reduction_kernel(call.output));
}

std::vector<matmul_variant_info> matmul_variants(const stream& s, const matmul_view& a, const matmul_view& b,
                                                 const matmul_view& c, const matmul_options& options) {
  const matmul_call call = resolve_for_query(s, a, b, c, options);
  std::vector<matmul_variant_info> result;
  if (call.empty() || call.k == 0) return result;
  for (const matmul_variant* v : variants_for(call)) {
    matmul_variant_info one{v->name(), refusal(*v, call, s.properties()), 0, v->workspace_bytes(call)};
    if (one.refusal.empty()) one.seconds = cost(*v, call, s.properties());
    result.push_back(std::move(one));
  }
  std::stable_sort(result.begin(), result.end(), [](const auto& x, const auto& y) {
    if (x.refusal.empty() != y.refusal.empty()) return x.refusal.empty();
    return x.seconds < y.seconds;
  });
  return result;
}

kernel_choice matmul_choice(const stream& s, const matmul_view& a, const matmul_view& b, const matmul_view& c,
                            const matmul_options& options) {
  const matmul_call call = resolve_for_query(s, a, b, c, options);
  if (call.empty() || call.k == 0) return {};
  return choose("matmul_choice", call, s.properties(), options.variant).choice();
}

}  // namespace kaio::ops
