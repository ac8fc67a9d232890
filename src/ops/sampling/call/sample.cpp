// Checks calls of sample before anything runs, and launches them.

#include <kaio/ops/sample.hpp>
#include <kaio/runtime/device.hpp>

#include <array>
#include <bit>
#include <string>
#include <string_view>
#include <utility>

#include "ops/families.hpp"
#include "ops/sampling/call/blocks_of_row.hpp"
#include "ops/sampling/simt/rows.hpp"
#include "ops/shared/row_checks.hpp"

namespace kaio::ops {

namespace {

using detail::is_given, detail::refuse;

constexpr std::string_view operation = "sample";
constexpr std::int64_t most_tokens = 0x7fffffff - 1024;
constexpr std::int64_t most_rows = 0x7fffffff / sample_blocks;

enum class number { f32, i32, whole_64, token };

bool is_of(const any_view& v, number type) {
  switch (type) {
    case number::f32: return v.type == element_kind::f32;
    case number::i32: return v.type == element_kind::i32;
    case number::token: return v.type == element_kind::i32 || v.type == element_kind::i64;
    default: return v.type == element_kind::i64 || (v.type == element_kind::other && v.other_bytes == 8);
  }
}
const char* name_of(number type) {
  constexpr const char* names[] = {"f32", "i32", "i64 or u64", "i32 or i64"};
  return names[static_cast<int>(type)];
}

class row_arguments {
 public:
  row_arguments(const stream& s, const any_view& logits)
      : check_(operation, s.device_identity()), logits_(logits) {}

  row_numbers input(std::string_view name, const any_view& v, number type, u32 value = 0) const {
    if (!v.exists()) return {0, 0, value};
    check_.input(name, v);
    return numbers(name, v, type, value);
  }
  // Outputs are apart from the logits and from each other.
  row_numbers output(std::string_view name, const any_view& v, number type) {
    if (!v.exists()) return {};
    check_.output(name, v);
    const row_numbers result = numbers(name, v, type, 0);
    add_output(name, v);
    return result;
  }
  void add_output(std::string_view name, const any_view& v) {
    check_.apart(name, v, "logits", logits_);
    for (std::size_t i = 0; i < count_; ++i) check_.apart(name, v, outputs_[i].first, *outputs_[i].second);
    outputs_[count_++] = {name, &v};
  }
  void apart_from_outputs(std::string_view name, const any_view& v) const {
    if (!v.exists()) return;
    for (std::size_t i = 0; i < count_; ++i)
      if (!(outputs_[i].first == "offset_out" && name == "offset" &&
            detail::same_view(*outputs_[i].second, v)))
        check_.apart(outputs_[i].first, *outputs_[i].second, name, v);
  }
  const validation& check() const { return check_; }

 private:
  row_numbers numbers(std::string_view name, const any_view& v, number type, u32 value) const {
    if (v.rank != 1)
      refuse(operation, "argument " + std::string(name) + " has " + std::to_string(v.rank) +
                            " dimensions; it is (rows)");
    if (!is_of(v, type))
      refuse(operation, "argument " + std::string(name) + " has another element type than " + name_of(type));
    check_.extent(name, v, 0, logits_.extents[0], "the rows of logits");
    return {v.address, v.strides[0], value};
  }

  validation check_;
  const any_view& logits_;
  std::array<std::pair<std::string_view, const any_view*>, 5> outputs_{};
  std::size_t count_ = 0;
};

void check_fraction(std::string_view name, f32 x) {
  if (!(x >= 0 && x <= 1)) refuse(operation, std::string(name) + " is not from 0 to 1");
}

sample_problem resolve(const stream& s, const any_view& logits, const any_view& tokens,
                       const sample_options& options) {
  row_arguments arguments(s, logits);
  const validation& check = arguments.check();
  check.input("logits", logits);
  if (logits.strides[1] != 1 && logits.extents[1] > 1)
    refuse(operation, "argument logits has stride " + std::to_string(logits.strides[1]) +
                          " along its last dimension; neighbours of a row are adjacent: stride 1");
  if (logits.extents[1] == 0) refuse(operation, "argument logits has a vocabulary of 0; there is no token");
  check.at_most("logits", logits, 0, most_rows);
  check.at_most("logits", logits, 1, most_tokens);
  if (!(options.temperature >= 0)) refuse(operation, "temperature is not 0 or above");
  check_fraction("top_p", options.top_p);
  check_fraction("min_p", options.min_p);

  sample_problem problem{};
  problem.logits = logits.address;
  problem.stride = logits.strides[0];
  problem.type = detail::element_type_of(logits.type);
  problem.vocabulary = static_cast<u32>(logits.extents[1]);
  problem.tokens = arguments.output("tokens", tokens, number::token);
  problem.wide = tokens.type == element_kind::i64 ? 1 : 0;
  problem.seed = arguments.input("seed", options.seed, number::whole_64);
  problem.offset = arguments.input("offset", options.offset, number::whole_64);
  problem.offset_out = arguments.output("offset_out", options.offset_out, number::whole_64);
  problem.temperature = arguments.input("temperatures", options.temperatures, number::f32,
                                        std::bit_cast<u32>(options.temperature));
  problem.top_k = arguments.input("top_ks", options.top_ks, number::i32, static_cast<u32>(options.top_k));
  problem.top_p = arguments.input("top_ps", options.top_ps, number::f32, std::bit_cast<u32>(options.top_p));
  problem.min_p = arguments.input("min_ps", options.min_ps, number::f32, std::bit_cast<u32>(options.min_p));
  problem.logprobs = arguments.output("logprobs", options.logprobs, number::f32);
  problem.lse = arguments.output("lse", options.lse, number::f32);
  if (const any_view& invalid = options.invalid_rows; invalid.exists()) {
    check.output("invalid_rows", invalid);
    if (invalid.rank != 1 || invalid.extents[0] != 1 || invalid.type != element_kind::i32)
      refuse(operation, "argument invalid_rows is not one number of i32");
    arguments.add_output("invalid_rows", invalid);
    problem.invalid = invalid.address;
  }
  if (options.seed.exists() != options.offset.exists())
    refuse(operation, "seed or offset is given without the other; give both");
  if (options.offset_out.exists() && !options.offset.exists())
    refuse(operation, "offset_out is given without offset; give both");
  if (!options.seed.exists() && (options.temperatures.exists() || options.temperature > 0))
    refuse(operation, "seed and offset are needed, unless temperature is 0 for all rows");
  for (const auto& [name, v] : {std::pair{std::string_view("seed"), &options.seed},
                                std::pair{std::string_view("offset"), &options.offset},
                                std::pair{std::string_view("temperatures"), &options.temperatures},
                                std::pair{std::string_view("top_ks"), &options.top_ks},
                                std::pair{std::string_view("top_ps"), &options.top_ps},
                                std::pair{std::string_view("min_ps"), &options.min_ps}})
    arguments.apart_from_outputs(name, *v);
  return problem;
}

}  // namespace

namespace detail {

void run_sample(const stream& s, const any_view& logits, const any_view& tokens,
                const sample_options& options) {
  const device_properties& device = s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced(operation);
  sample_problem problem = resolve(s, logits, tokens, options);
  const auto rows = static_cast<u32>(logits.extents[0]);
  if (rows == 0) return;
  const sample_variant<sample_problem>& variant = sample_variant_for(device);
  const u32 blocks = variant.has_clusters ? blocks_of_row(device, rows, problem.vocabulary) : 1;
  problem.of_warp = sample_elements_of_warp(problem.vocabulary, blocks);
  variant.run(s, problem, rows, blocks);
}

}  // namespace detail

void sample_warmup(const runtime::device& gpu) { gpu.warmup(*sample_variant_for(gpu.properties()).image); }

std::vector<const ptx::kernel_image*> sample_kernels() {
  std::vector<const ptx::kernel_image*> list;
  list_sample_kernels(list);
  return list;
}

}  // namespace kaio::ops
