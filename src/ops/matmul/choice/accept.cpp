// Decides whether a variant can run a call, and gives the reason if it cannot.

#include <algorithm>
#include <cstdint>
#include <kaio/ops/shared/device_refusal.hpp>
#include <limits>
#include <string>

#include "ops/matmul/choice/split_k.hpp"
#include "ops/matmul/choice/table.hpp"

namespace kaio::ops {

namespace {

constexpr std::uint64_t most_tiles = std::uint64_t{1} << 31, most_pitch = std::uint64_t{1} << 40,
                        most_word_pitch = (std::uint64_t{1} << 32) - 1, most_lines = std::uint64_t{1} << 31;

// The first reason against the variant; empty: it can run the call.
std::string_view why_not(const matmul_variant& v, const matmul_call& call, const device_properties& device) {
  const ptx::needs& needs = v.image->needs;
  if (const std::string_view why = device_refusal(needs, device); !why.empty()) return why;
  if (v.operand != call.operand || v.output != call.output || v.precision != call.precision)
    return "it supports other types";
  if (v.a != call.a.lines || v.b != call.b.lines) return "it supports other layouts";
  if (!v.general && call.terms.plain == 0) {
    if (!v.adds_tile_terms) return "its epilogue applies only alpha";
    if (!has_tile_terms(call))
      return "it adds a bias of columns (f32 or of C's type), an activation, and a tensor of C's type whose rows "
             "begin at multiples of 16 bytes";
    // A tile that C ends in, or that is wider than its distance to the next one, reads elements of C that
    // others write.
    const std::uint64_t of_m = std::uint64_t{v.m} * v.cluster_m, of_n = std::uint64_t{v.n} * v.cluster_n;
    if (adds_c(call) &&
        (call.m % of_m != 0 || call.n % of_n != 0 || v.is_narrow || std::min(call.m, call.n) <= 64))
      return "it adds C itself, and its tiles overlap";
  }
  const std::uint64_t size = bytes_of(call.operand), c_size = bytes_of(call.output);
  if (!call.a.aligned(size, v.a_alignment)) return "lines of A are not aligned to its copy size";
  if (!call.b.aligned(size, v.b_alignment)) return "lines of B are not aligned to its copy size";
  const std::uint64_t a_length = v.a == line_direction::along_k ? call.k : call.m;
  const std::uint64_t b_length = v.b == line_direction::along_k ? call.k : call.n;
  if (v.whole_vectors && (a_length * size % v.a_alignment != 0 || b_length * size % v.b_alignment != 0))
    return "the line length of A or B is not a multiple of its copy size";
  // Multiply-adds with alpha alone are also fed by tensor copies.
  const bool copies_tensors = v.family == matmul_family::sm90 || v.family == matmul_family::sm90_split ||
                              (v.family == matmul_family::simt && !v.general);
  if (copies_tensors) {
    // Word loads need no tensor. If lines begin anywhere, each eighth line, or step of K, is in one tensor.
    const bool loads_a = loads_words(v.a_alignment), loads_b = loads_words(v.b_alignment);
    const bool by_eights = v.a_alignment < sizeof(u32);
    if (by_eights && (call.a.address | call.b.address) % 16 != 0)
      return "A or B does not begin at a multiple of 16 bytes";
    if (by_eights && call.k < 8) return "K has fewer than eight steps";
    if ((!loads_a && call.a.pitch < a_length) || (!loads_b && call.b.pitch < b_length))
      return "tensor copies take lines that do not overlap";
    // Matrices that are whole lines apart are in one tensor.
    const auto begins_apart = [&](const matmul_operand& x) {
      return x.batch_pitch * size % 16 != 0 &&
             (x.batch_pitch % x.pitch != 0 || call.batches * (x.batch_pitch / x.pitch) >= most_lines);
    };
    if (by_eights && call.batches != 1 && (begins_apart(call.a) || begins_apart(call.b)))
      return "matrices of the batch begin neither at multiples of 16 bytes nor whole lines from each other";
    const std::uint64_t lines = by_eights ? 8 : 1;
    const auto too_far = [&](const matmul_operand& x, bool loads) {
      return !loads && std::max(lines * x.pitch, x.batch_pitch) * size >= most_pitch;
    };
    if (too_far(call.a, loads_a) || too_far(call.b, loads_b))
      return "tensor copies take strides below 2^40 bytes";
    if (std::max(loads_a ? call.a.pitch : 0, loads_b ? call.b.pitch : 0) > most_word_pitch / size)
      return "words are loaded from lines less than 2^32 bytes apart";
    if (std::max({call.c.pitch, call.c.batch_pitch}) * c_size >= most_pitch)
      return "tensor copies take strides below 2^40 bytes";
  }
  if (!call.c.aligned(c_size, v.c_alignment)) return "rows of C do not begin at multiples of 16 bytes";
  // Tensor copies write whole pieces of 16 bytes, also beyond the columns of C.
  if (call.n * c_size % v.c_alignment != 0) return "rows of C are no multiple of 16 bytes long";
  // The last piece of 16 bytes that a tensor copy stores must be whole.
  if (v.family == matmul_family::sm90 && !v.general && call.n * c_size % 16 != 0)
    return "rows of C are no multiple of 16 bytes long";
  if (v.cluster_splits != 1 && ceil_div(call.k, v.k) < v.cluster_splits)
    return "K has fewer steps than it has splits";
  if (v.most_rows != 0 && call.m > v.most_rows) return "C has more rows than it computes";
  if (v.most_batches != 0 && call.batches > v.most_batches) return "it takes no more than 65535 batches";
  const std::uint64_t rows = ceil_div(call.m, tile_rows(v)), columns = ceil_div(call.n, tile_columns(v));
  const double tiles = static_cast<double>(rows) * static_cast<double>(columns) * v.cluster_splits *
                       (v.family == matmul_family::sm90_split ? 1.0 : static_cast<double>(call.batches));
  if (tiles >= static_cast<double>(most_tiles)) return "it would have 2^31 tiles or more";
  return {};
}

std::string_view why_not_splits(const matmul_variant& v, const matmul_call& call,
                                const device_properties& device) {
  if (v.output != call.output) return "it supports other types";
  if (call.batches != 1) return "it splits K of a single product, and this is a batch";
  if (call.k % v.splits != 0 || call.k / v.splits < 4 * std::uint64_t{v.k})
    return "K does not divide into its splits";
  // Offsets in the sums of a part have 32 bits.
  if (call.m * call.n > std::numeric_limits<std::uint32_t>::max())
    return "C is too large for sums in a workspace";
  if (call.workspace.address == 0) return "it needs a workspace";
  if (call.workspace.bytes < v.workspace_bytes(call)) return "it needs a larger workspace";
  if (call.workspace.address % 16 != 0) return "the workspace begins at no multiple of 16 bytes";
  matmul_variant one = v;
  one.output = element_kind::f32;
  one.splits = 1;
  return why_not(one, call_of_splits(call, v.splits), device);
}

std::string_view find_refusal(const matmul_variant& v, const matmul_call& call,
                              const device_properties& device) {
  return v.splits == 1 ? why_not(v, call, device) : why_not_splits(v, call, device);
}

}  // namespace

std::string refusal(const matmul_variant& v, const matmul_call& call, const device_properties& device) {
  return std::string(find_refusal(v, call, device));
}

bool accepts(const matmul_variant& v, const matmul_call& call, const device_properties& device) {
  return find_refusal(v, call, device).empty();
}

}  // namespace kaio::ops
