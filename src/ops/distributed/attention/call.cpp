#include "ops/distributed/attention/call.hpp"

#include <kaio/ops/shared/validation.hpp>
#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <limits>
#include <string>

#include "ops/attention/common/operands.hpp"
#include "ops/distributed/common/views.hpp"
#include "runtime/stream_access.hpp"

namespace kaio::ops::detail {

namespace {

// The numbers that ranks compare.
enum number : std::size_t {
  refused,
  rows_of,
  batches_of,
  q_heads_of,
  k_heads_of,
  qk_size_of,
  v_size_of,
  type_of,
  left_of,
  right_of,
  scale_of,
  softcap_of,
  layout_of,
  head_ranks_of,
  sequences_of,
  lengths_of,
  options_given,
  numbers
};

key_band band_of(const context_attention_options& o) {
  const bool causal = o.causal != causal_alignment::none;
  return {o.window.left, causal ? 0 : o.window.right};
}

void check(const communicator& c, const stream& s, const context_arguments& a) {
  const context_attention_options& o = *a.options;
  const group_rank& rank = rank_access::of(c, a.operation);
  if (s.device_identity() != rank.on.identity())
    refuse_collective(a.operation,
                      "the stream is not one of this rank's device, " + std::string(rank.on.description()));
  if (s.is_capturing()) refuse_collective(a.operation, "the stream is captured into a graph");
  const validation valid(a.operation, rank.on.identity());
  const auto shape = [&](std::string_view name, const attention_view& x, std::int64_t heads,
                         std::int64_t size, element_kind type) {
    if (x.rank != 4)
      refuse_collective(a.operation,
                        "argument " + std::string(name) + " is not (batches, rows, heads, size)");
    valid.extent(name, x, 0, a.q.extents[0], "the batches of q");
    valid.extent(name, x, 1, a.q.extents[1], "the rows of q");
    valid.extent(name, x, 2, heads, "the heads that it has here");
    valid.extent(name, x, 3, size, "the head size that it has here");
    if (x.type != type)
      refuse_collective(a.operation,
                        "argument " + std::string(name) + " has elements of another type than q");
    if (x.extents[3] > 1 && x.strides[3] != 1)
      refuse_collective(a.operation,
                        "argument " + std::string(name) + " has rows whose elements are not neighbours");
  };
  if (a.q.rank != 4 || a.k.rank != 4 || a.v.rank != 4)
    refuse_collective(a.operation, "arguments q, k and v are not (batches, rows, heads, size)");
  const std::int64_t q_heads = a.q.extents[2], k_heads = a.k.extents[2], qk_size = a.q.extents[3],
                     v_size = a.v.extents[3];
  shape("k", a.k, k_heads, qk_size, a.q.type);
  shape("v", a.v, k_heads, v_size, a.q.type);
  if (k_heads < 1 || q_heads < 1 || q_heads % k_heads != 0)
    refuse_collective(a.operation, "q has " + std::to_string(q_heads) + " heads, and k " +
                                       std::to_string(k_heads) + "; a multiple is needed");
  if (qk_size < 1 || v_size < 1) refuse_collective(a.operation, "the head size is 0");
  if (o.head_ranks < 1 || c.ranks() % o.head_ranks != 0)
    refuse_collective(a.operation, "the option head_ranks is " + std::to_string(o.head_ranks) +
                                       "; a divisor of " + std::to_string(c.ranks()) + " ranks is needed");
  if (k_heads % o.head_ranks != 0)
    refuse_collective(a.operation, "the option head_ranks is " + std::to_string(o.head_ranks) +
                                       "; a divisor of the " + std::to_string(k_heads) +
                                       " heads of k is needed");
  if (!o.lengths.empty() && a.q.extents[0] != 1)
    refuse_collective(a.operation, "q has " + std::to_string(a.q.extents[0]) +
                                       " batches; packed sequences, as the option lengths has them, are one");
  check_lengths(a.operation, o.lengths);
  if (o.window.left < -1 || o.window.right < -1)
    refuse_collective(a.operation, "the option window has a number below -1");
  check_scale_and_softcap(a.operation, o.scale, o.softcap);
  if (o.sinks.view.exists()) check_sinks(valid, o.sinks.view, q_heads);
  if (const attention_view& dsinks = o.dsinks.view; dsinks.exists()) {
    if (!o.sinks.view.exists())
      refuse_collective(a.operation, "dsinks is given without sinks; give sinks, or leave dsinks out");
    if (dsinks.rank != 1) refuse_collective(a.operation, "argument dsinks has one dimension, the heads of q");
    valid.output("dsinks", dsinks);
    valid.extent("dsinks", dsinks, 0, q_heads, "the heads of q");
    valid.apart("dsinks", dsinks, "sinks", o.sinks.view);
  }
  if (!a.has_tensors) return;
  const bool rows = a.q.extents[0] > 0 && a.q.extents[1] > 0;
  struct named {
    std::string_view name;
    const attention_view& view;
    std::int64_t heads, size;
    bool is_output;
  };
  const auto check_lse = [&](const attention_view& lse, bool is_output) {
    if (lse.rank != 3) refuse_collective(a.operation, "argument lse is not (batches, heads, rows)");
    if (rows && is_output) valid.output("lse", lse);
    if (rows && !is_output) valid.input("lse", lse);
    valid.extent("lse", lse, 0, a.q.extents[0], "the batches of q");
    valid.extent("lse", lse, 1, q_heads, "the heads of q");
    valid.extent("lse", lse, 2, a.q.extents[1], "the rows of q");
  };
  std::vector<named> list = {{"q", a.q, q_heads, qk_size, false},
                             {"k", a.k, k_heads, qk_size, false},
                             {"v", a.v, k_heads, v_size, false},
                             {"out", a.out, q_heads, v_size, !a.backward}};
  if (a.backward) {
    list.push_back({"dout", a.dout, q_heads, v_size, false});
    if (a.dq.exists()) list.push_back({"dq", a.dq, q_heads, qk_size, true});
    if (a.dk.exists()) list.push_back({"dk", a.dk, k_heads, qk_size, true});
    if (a.dv.exists()) list.push_back({"dv", a.dv, k_heads, v_size, true});
    check_lse(a.lse, false);
  } else if (o.lse.view.exists()) {
    check_lse(o.lse.view, true);
  }
  for (const named& n : list) {
    shape(n.name, n.view, n.heads, n.size, a.q.type);
    if (!rows) continue;
    if (n.is_output)
      valid.output(n.name, n.view);
    else
      valid.input(n.name, n.view);
  }
  if (!rows) return;
  if (a.backward && o.dsinks.view.exists())
    for (const named& other : list) valid.apart("dsinks", o.dsinks.view, other.name, other.view);
  for (const attention_view* input : {&a.q, &a.k, &a.v}) valid.apart("out", a.out, "q, k or v", *input);
  for (const named& to : list)
    for (const named& other : list)
      if (to.is_output && &to != &other) valid.apart(to.name, to.view, other.name, other.view);
}

std::int64_t bits_of(f32 x) { return std::bit_cast<std::int32_t>(x); }

// What the ranks' numbers have against each other; empty: nothing.
std::string difference(std::span<const std::int64_t> all, std::size_t ranks) {
  for (std::size_t r = 0; r < ranks; ++r)
    if (all[r * numbers + refused] != 0) return "rank " + std::to_string(r) + " refuses its arguments";
  constexpr const char* names[] = {"",
                                   "",
                                   "batches",
                                   "heads of q",
                                   "heads of k",
                                   "head size of q",
                                   "head size of v",
                                   "element type",
                                   "window",
                                   "window or causal mask",
                                   "scale",
                                   "softcap",
                                   "layout",
                                   "head_ranks",
                                   "the number of sequences",
                                   "a hash of the lengths of the sequences",
                                   "sinks or gradients"};
  for (std::size_t r = 1; r < ranks; ++r)
    for (std::size_t n = batches_of; n < numbers; ++n)
      if (all[n] != all[r * numbers + n])
        return "rank " + std::to_string(r) + " and rank 0 differ in " + names[n] + ": " +
               std::to_string(all[r * numbers + n]) + " and " + std::to_string(all[n]);
  return {};
}

// The rows of each rank; empty if the layout gives them other numbers.
std::vector<std::vector<context_rows>> rows_by_rank(const context_attention_options& o,
                                                    std::span<const std::int64_t> all, int ranks) {
  std::vector<std::vector<context_rows>> of_rank;
  std::int64_t total = 0;
  for (int r = 0; r < ranks; ++r) {
    const std::int64_t count = all[static_cast<std::size_t>(r) * numbers + rows_of];
    of_rank.push_back({{total, count}});
    total += count;
  }
  if (total > std::numeric_limits<std::int32_t>::max()) return {};
  if (!o.lengths.empty() && total != count_of_lengths(o.lengths)) return {};
  if (o.layout == context_layout::contiguous) return of_rank;
  for (int r = 0; r < ranks; ++r) {
    auto& own = of_rank[static_cast<std::size_t>(r)];
    const std::int64_t count = own[0].count;
    own = o.lengths.empty() ? context_rows_of(o.layout, total, ranks, r)
                            : context_rows_of(o.layout, o.lengths, ranks, r);
    if (count_of_rows(own) != count) return {};
  }
  return of_rank;
}

}  // namespace

std::int64_t context_call::rows() const {
  return count_of_rows(of_rank[static_cast<std::size_t>(rank.rank)]);
}
std::int64_t context_call::group_rows() const {
  return count_of_rows(of_group[static_cast<std::size_t>(group)]);
}
std::int64_t context_call::most_rows() const {
  std::int64_t most = 0;
  for (const auto& g : of_group) most = std::max(most, count_of_rows(g));
  return most;
}

std::vector<context_rows> context_call::in_group(int member) const {
  std::vector<context_rows> result;
  const int own = group * head_ranks + member;
  for (const context_rows& piece : of_rank[static_cast<std::size_t>(own)]) {
    std::int64_t first = 0;
    for (const context_rows& g : of_group[static_cast<std::size_t>(group)]) {
      if (piece.begin >= g.begin && piece.begin < g.begin + g.count) {
        result.push_back({first + piece.begin - g.begin, piece.count});
        break;
      }
      first += g.count;
    }
  }
  return result;
}

context_call resolve_context(const communicator& c, const stream& s, const context_arguments& given) {
  group_rank& rank = rank_access::of(c, given.operation);
  const context_attention_options& o = *given.options;
  std::string refusal;
  try {
    check(c, s, given);
  } catch (const runtime::error& e) {
    refusal = e.message();
  }
  const key_band band = band_of(o);
  std::array<std::int64_t, numbers> mine{};
  mine[refused] = refusal.empty() ? 0 : 1;
  mine[rows_of] = given.q.extents[1];
  mine[batches_of] = given.q.extents[0];
  mine[q_heads_of] = given.q.extents[2];
  mine[k_heads_of] = given.k.extents[2];
  mine[qk_size_of] = given.q.extents[3];
  mine[v_size_of] = given.v.extents[3];
  mine[type_of] = static_cast<std::int64_t>(given.q.type);
  mine[left_of] = band.left;
  mine[right_of] = band.right;
  mine[scale_of] = o.scale ? bits_of(*o.scale) : std::numeric_limits<std::int64_t>::min();
  mine[softcap_of] = bits_of(o.softcap);
  mine[layout_of] = static_cast<std::int64_t>(o.layout);
  mine[head_ranks_of] = o.head_ranks;
  mine[sequences_of] = std::ssize(o.lengths);
  mine[lengths_of] = hash_of_lengths(o.lengths);
  mine[options_given] = (o.sinks.view.exists() ? 1 : 0) | (given.dq.exists() ? 2 : 0) |
                        (given.dk.exists() ? 4 : 0) | (given.dv.exists() ? 8 : 0) |
                        (o.dsinks.view.exists() ? 16 : 0);
  const std::vector<std::int64_t> all = c.gather_numbers(given.operation, mine);
  if (!refusal.empty()) throw runtime::invalid_argument(refusal);
  const int ranks = c.ranks();
  if (const std::string why = difference(all, static_cast<std::size_t>(ranks)); !why.empty())
    refuse_collective(given.operation, why);
  context_call call{.rank = rank,
                    .batches = mine[batches_of],
                    .q_heads = mine[q_heads_of],
                    .k_heads = mine[k_heads_of],
                    .qk_size = mine[qk_size_of],
                    .v_size = mine[v_size_of],
                    .type = given.q.type,
                    .layout = o.layout,
                    .ranks = ranks,
                    .head_ranks = o.head_ranks,
                    .ring_ranks = ranks / o.head_ranks,
                    .group = rank.rank / o.head_ranks,
                    .place = rank.rank % o.head_ranks,
                    .band = band,
                    .loads = runtime::detail::stream_access::is_loading(s),
                    .of_rank = rows_by_rank(o, all, ranks),
                    .of_group = {},
                    .lengths = {o.lengths.begin(), o.lengths.end()}};
  if (call.of_rank.empty())
    refuse_collective(
        given.operation,
        "the ranks do not have the numbers of rows that the layout and the lengths give them (context_rows_of), "
        "or more than 2^31 - 1 in all");
  for (int g = 0; g < call.ring_ranks; ++g) {
    std::vector<context_rows> rows;
    for (int m = 0; m < call.head_ranks; ++m) {
      const int member = g * call.head_ranks + m;
      const auto& own = call.of_rank[static_cast<std::size_t>(member)];
      rows.insert(rows.end(), own.begin(), own.end());
    }
    std::ranges::sort(rows, {}, &context_rows::begin);
    call.of_group.push_back(joined_rows(rows));
  }
  const auto& own = call.of_group[static_cast<std::size_t>(call.group)];
  for (int step = 0; step < call.ring_ranks; ++step) {
    const auto& owner = call.of_group[static_cast<std::size_t>(call.owner(step))];
    const auto& holder = call.of_group[static_cast<std::size_t>(call.holder(step))];
    const auto items_of = [&](const auto& queries, const auto& keys) {
      return call.lengths.empty() ? ring_items(queries, keys, band)
                                  : packed_items(queries, keys, band, call.lengths);
    };
    ring_step next{items_of(own, owner), {}, needed_keys(items_of(holder, own), own)};
    next.needed_here = needed_keys(next.items, owner);
    call.steps.push_back(std::move(next));
  }
  return call;
}

void check_workspace(const context_call& call, std::string_view operation, const workspace_view& memory,
                     std::uint64_t bytes) {
  collective_call described{operation, {}, {}};
  try {
    validation(operation, call.rank.on.identity()).workspace("workspace", memory.facts(), bytes, 256);
  } catch (const runtime::invalid_argument& e) {
    described.refusal = e.message();
  }
  call.rank.by->agree({&described, nullptr, {}, {}});
}

void exchange_in(const context_call& call, std::string_view operation, const stream& s,
                 std::span<const transfer> sends, std::span<const transfer> receives) {
  if (call.loads) return;
  const collective_call described{.operation = operation, .numbers = {}, .refusal = {}, .matches = true};
  call.rank.by->exchange({&described, &s, sends, receives});
}

void add_rows(std::vector<transfer>& list, const any_view& v, std::span<const context_rows> rows, int rank) {
  for (std::int64_t b = 0; b < v.extents[0]; ++b)
    for (const context_rows& r : rows)
      if (r.count > 0) list.push_back({rows_of_batch(v, b, r.begin, r.count), rank});
}

attention_options options_of(const context_attention_options& given, const ring_item& item, f32 scale) {
  attention_options o;
  o.scale = scale;
  o.softcap = given.softcap;
  if (item.band.right == 0 && item.band.left < 0)
    o.causal = causal_alignment::bottom_right;
  else
    o.window = {item.band.left, item.band.right};
  return o;
}

}  // namespace kaio::ops::detail
