#include "ops/distributed/peer/peer_memory.hpp"

#include <algorithm>
#include <functional>

#include "ops/distributed/common/transport.hpp"
#include "ops/distributed/peer/kernels.hpp"
#include "runtime/stream_access.hpp"

namespace kaio::ops {

namespace detail {

namespace {

constexpr std::uint64_t alignment = 256;
// peer_segments in memory: an address for each rank, then three lists of u32.
constexpr std::size_t most_ranks_of_segments = 64;

std::uint64_t aligned(std::uint64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

// All ranks throw if one has options out of range.
peer_workspace_options checked(const communicator& c, const peer_workspace_options& o) {
  constexpr std::string_view operation = "peer_workspace::make";
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  std::string refusal;
  if (o.blocks < 1 || o.blocks > 1024)
    refusal = "the option blocks is " + std::to_string(o.blocks) + "; 1 to 1024 are possible";
  else if (o.sum_bytes > most || o.product_bytes > most)
    refusal = "the options sum_bytes and product_bytes are 2^40 at most";
  const std::int64_t numbers[] = {
      static_cast<std::int64_t>(o.sum_bytes), static_cast<std::int64_t>(o.one_shot_bytes),
      static_cast<std::int64_t>(o.product_bytes), o.blocks, o.compares_repeated_calls ? 1 : 0};
  c.agree(operation, numbers, refusal);
  peer_workspace_options result = o;
  result.one_shot_bytes = std::min(o.one_shot_bytes, o.sum_bytes);
  return result;
}

}  // namespace

peer_memory::peer_memory(const communicator& c, const peer_workspace_options& given)
    : group(c),
      options(checked(c, given)),
      words{static_cast<std::uint32_t>(c.ranks()), options.blocks},
      // A part of two-shot sums has whole pieces: one more than its share at most.
      sum_slot(aligned(std::max(options.one_shot_bytes, options.sum_bytes / words.ranks + alignment))),
      sum_gathered(words.ranks * sum_slot),
      sum_half(sum_gathered + aligned(options.sum_bytes + alignment)),
      product_half(aligned(options.product_bytes)),
      experts_begin(2 * sum_half + 2 * product_half),
      experts_half(words.ranks * std::uint64_t{peer_count_words} * sizeof(u32)),
      memory(c.allocate(experts_begin + 2 * experts_half, words.count())),
      copies(c.on().create_stream()),
      ready(c.on().create_event()),
      sent(c.on().create_event()),
      segments_(c.on().allocate<u64>(most_ranks_of_segments + 3 * most_peer_experts / 2 + 1)) {
  std::vector<u64> addresses;
  for (int r = 0; r < c.ranks(); ++r) {
    addresses.push_back(memory.pointer(r).address);
    addresses.push_back(memory.signals(r).address);
  }
  addresses_ = c.on().upload(addresses);
}

peer_segments peer_memory::segments() const {
  const u64 lists = segments_.address() + most_ranks_of_segments * sizeof(u64);
  const u64 ranks = lists + (most_peer_experts + 2) * sizeof(u32);
  return {lists, ranks, ranks + most_peer_experts * sizeof(u32), segments_.address()};
}

void peer_memory::check_stream(std::string_view operation, const stream& s) const {
  if (s.device_identity() != group.on().identity())
    refuse_collective(
        operation, "the stream is not one of this rank's device, " + std::string(group.on().description()));
}

bool peer_memory::agree_on(std::string_view operation, const stream& s,
                           const std::vector<std::int64_t>& numbers, const std::string& refusal) {
  if (runtime::detail::stream_access::is_loading(s)) {
    if (!refusal.empty()) throw runtime::invalid_argument("kaio: " + refusal);
    return false;
  }
  std::vector<std::int64_t> call = numbers;
  call.push_back(static_cast<std::int64_t>(std::hash<std::string_view>()(operation)));
  if (refusal.empty() && !options.compares_repeated_calls && agreed_.contains(call)) return true;
  group.agree(operation, numbers, refusal);
  if (!options.compares_repeated_calls) agreed_.insert(std::move(call));
  return true;
}

peer_memory& peer_memory_access::of(const peer_workspace& w, std::string_view operation) {
  if (!w.memory_)
    refuse_collective(operation, "the peer_workspace is null; make one by peer_workspace::make");
  return *w.memory_.get();
}

std::uint64_t peer_memory_access::addresses_of(const peer_buffer& b, int rank) {
  return b.memory_->of(rank).addresses;
}

void retain(peer_memory* m) noexcept { m->references_.fetch_add(1, std::memory_order_relaxed); }
void release(peer_memory* m) noexcept {
  if (m->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete m;
}

}  // namespace detail

peer_workspace peer_workspace::make(const communicator& c, const peer_workspace_options& options) {
  return detail::peer_memory_access::make(detail::peer_memory_ref(new detail::peer_memory(c, options)));
}
const communicator& peer_workspace::group() const {
  return detail::peer_memory_access::of(*this, "peer_workspace::group").group;
}
const peer_workspace_options& peer_workspace::options() const {
  return detail::peer_memory_access::of(*this, "peer_workspace::options").options;
}
void peer_workspace::warmup(const device& gpu) {
  detail::warmup_peer_kernels(gpu);
  communicator::warmup(gpu);
}

}  // namespace kaio::ops
