#include <kaio/ops/distributed/layout.hpp>
#include <kaio/runtime/copy.hpp>
#include <kaio/runtime/error.hpp>

#include <limits>
#include <string>

#include "ops/distributed/common/transport.hpp"
#include "ops/distributed/common/views.hpp"

namespace kaio::ops {

namespace {

using namespace detail;

void check(std::string_view operation, std::int64_t rows, int ranks, int rank) {
  if (rows < 0 || rows > std::numeric_limits<std::int32_t>::max())
    refuse_collective(operation, "rows is " + std::to_string(rows) + "; 0 to 2^31 - 1 are divided");
  if (ranks < 1 || rank < 0 || rank >= ranks)
    refuse_collective(operation,
                      "rank is " + std::to_string(rank) + " of " + std::to_string(ranks) + " ranks");
}

// The rows of a rank in `whole` and `local` as transfers without gaps, batch by batch.
struct piece_of_rows {
  any_view whole, local;
};
std::vector<piece_of_rows> pieces(const any_view& whole, const any_view& local,
                                  std::span<const context_rows> rows) {
  std::vector<piece_of_rows> list;
  for (std::int64_t b = 0; b < whole.extents[0]; ++b) {
    std::int64_t first = 0;
    for (const context_rows& r : rows) {
      if (r.count > 0)
        list.push_back({rows_of_batch(whole, b, r.begin, r.count), rows_of_batch(local, b, first, r.count)});
      first += r.count;
    }
  }
  return list;
}

// Why the two do not belong together; empty: they do.
std::string refusal_of(const any_view& whole, const any_view& local, std::int64_t rows) {
  if (whole.rank < 2 || whole.rank != local.rank) return "whole and local have not both (B, rows, ...)";
  if (whole.type != local.type || whole.element_bytes() != local.element_bytes())
    return "whole and local have elements of two types";
  if (!is_dense(whole) || !is_dense(local)) return "whole or local has gaps; copy it to memory without";
  for (std::uint32_t d = 0; d < whole.rank; ++d)
    if (d != 1 && whole.extents[d] != local.extents[d])
      return "dimension " + std::to_string(d) + " of local is " + std::to_string(local.extents[d]) +
             ", that of whole " + std::to_string(whole.extents[d]);
  if (local.extents[1] != rows)
    return "local has " + std::to_string(local.extents[1]) + " rows; the layout gives this rank " +
           std::to_string(rows);
  return {};
}

}  // namespace

std::vector<context_rows> context_rows_of(context_layout layout, std::int64_t rows, int ranks, int rank) {
  check("context_rows_of", rows, ranks, rank);
  const std::int64_t count = std::int64_t{ranks} * (layout == context_layout::zigzag ? 2 : 1);
  const auto piece = [&](std::int64_t i) {
    const std::int64_t begin = i * rows / count;
    return context_rows{begin, (i + 1) * rows / count - begin};
  };
  if (layout == context_layout::contiguous) return {piece(rank)};
  return {piece(rank), piece(count - 1 - rank)};
}

std::vector<std::int32_t> context_positions(context_layout layout, std::int64_t rows, int ranks, int rank) {
  std::vector<std::int32_t> positions;
  for (const context_rows& r : context_rows_of(layout, rows, ranks, rank))
    for (std::int64_t i = 0; i < r.count; ++i) positions.push_back(static_cast<std::int32_t>(r.begin + i));
  return positions;
}

void context_shard(const communicator& c, const stream& s, const any_view& whole, const any_view& local,
                   context_layout layout) {
  constexpr std::string_view operation = "context_shard";
  const validation valid(operation, c.on().identity());
  if (!whole.empty()) valid.input("whole", whole);
  if (!local.empty()) valid.output("local", local);
  if (whole.rank < 2) refuse_collective(operation, "argument whole is not (B, rows, ...)");
  const auto rows = context_rows_of(layout, whole.extents[1], c.ranks(), c.rank());
  if (const std::string why = refusal_of(whole, local, count_of_rows(rows)); !why.empty())
    refuse_collective(operation, why);
  for (const piece_of_rows& p : pieces(whole, local, rows)) copy(s, memory_of(p.local), memory_of(p.whole));
}

void context_unshard(const communicator& c, const stream& s, const any_view& local, const any_view& whole,
                     context_layout layout) {
  constexpr std::string_view operation = "context_unshard";
  group_rank& rank = rank_access::of(c, operation);
  collective_call call{operation, {}, {}};
  std::vector<transfer> sends, receives;
  try {
    const validation valid(operation, rank.on.identity());
    if (!local.empty()) valid.input("local", local);
    if (!whole.empty()) valid.output("whole", whole);
    if (whole.rank < 2) refuse_collective(operation, "argument whole is not (B, rows, ...)");
    if (s.device_identity() != rank.on.identity())
      refuse_collective(operation, "the stream is not one of this rank's device");
    const auto rows = context_rows_of(layout, whole.extents[1], c.ranks(), c.rank());
    if (const std::string why = refusal_of(whole, local, count_of_rows(rows)); !why.empty())
      refuse_collective(operation, why);
    call.numbers = {static_cast<std::int64_t>(layout), static_cast<std::int64_t>(whole.type),
                    whole.element_bytes()};
    call.numbers.insert(call.numbers.end(), whole.extents.begin(), whole.extents.begin() + whole.rank);
    for (int r = 0; r < c.ranks(); ++r) {
      for (const piece_of_rows& p : pieces(whole, local, rows)) sends.push_back({p.local, r});
      const auto theirs = context_rows_of(layout, whole.extents[1], c.ranks(), r);
      any_view place = local;  // only its shape is used
      for (const piece_of_rows& p : pieces(whole, place, theirs)) receives.push_back({p.whole, r});
    }
  } catch (const runtime::invalid_argument& e) {
    call.refusal = e.message();
    sends.clear(), receives.clear();
  }
  rank.by->exchange({&call, &s, sends, receives});
}

}  // namespace kaio::ops
