#pragma once
// The sanitizer's state of a grid while it runs, and the observer of one block. The checks are in files
// of their own: registers.cpp, memory.cpp, races.cpp, order.cpp (happens-before), barriers.cpp and
// asynchronous.cpp.

#include "emulator/machine/block.hpp"
#include "emulator/machine/observer.hpp"
#include "emulator/sanitizer/causality.hpp"
#include "emulator/sanitizer/report.hpp"
#include "emulator/sanitizer/shadow.hpp"
#include "emulator/sanitizer/usage.hpp"

#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kaio::emulator::sanitizing {

inline constexpr u32 asynchronous_actor = u32{1} << 31;  // not a warp
inline constexpr u32 single_operation = u32{1} << 30;    // of these: one operation with a phase of its own
inline constexpr unsigned reaches = 3;

// What a write to a word, with the fences before it, publishes to those that read it: for readers in the same
// block, in the same cluster, and anywhere. 0: nothing.
struct publication {
  std::array<event_number, reaches> events{};
  u32 block = 0, cluster = 0;
  bool anywhere = false;  // gathered from several blocks
};

struct location {
  std::vector<publication> published;
  u32 version = 0;
};

// Everything that the observers of one grid share.
struct watched {
  watched(const grid& g, reporter& r, causality& c, record_pool& pool, line_store& store);

  const piece* buffer_at(const std::byte* at) const;

  const grid& launched;
  reporter& reports;
  causality& order;
  record_pool& pool;
  line_store& store;
  const usages uses;
  u32 start = 0;               // time
  std::vector<piece> buffers;  // by their place in the host's memory
  struct started_block {
    ptx::dim3 index;
    u32 cluster = 0;
  };
  std::vector<started_block> blocks;  // by number
  u32 clusters = 0;
  std::unordered_map<const block*, class watcher*> watchers;
  watcher* watcher_of(const block& b) const {
    const auto found = watchers.find(&b);
    return found == watchers.end() ? nullptr : found->second;
  }
  std::unordered_map<const std::byte*, location> locations;
  u32 location_version = 0;
  u32 operations = 0;  // single ones
  // Reads of bytes not yet written. They are reported when the readers have met the writers, or at the end:
  // where a writer comes without order, the race is the better report.
  struct early_read {
    const std::byte* at;
    u32 block;  // in whose shared memory; no_block: in a buffer
    fault_report report;
  };
  std::vector<early_read> early_reads;
  static constexpr u32 no_block = 0xffffffffu;
  void tell_early_reads(u32 block);      // no_block: all
  std::unordered_map<u32, u32> issuers;  // the warp of a single operation
};

// What a lane has seen published and takes over with its next fence.
struct sighting {
  event_number event;
  reach far;    // how far away it was published
  bool update;  // seen by an atomic operation: a barrier serves as well
};

struct warp_view {
  u32 actor = 0;
  u32 floor = 0;  // its lanes know each other up to this time
  // Beyond that, after meetings of some lanes: [lane][other].
  std::unique_ptr<std::array<std::array<u32, warp_lanes>, warp_lanes>> met;
  knowledge known;  // of all lanes
  std::unique_ptr<std::array<knowledge, warp_lanes>> lane_known;
  u32 lanes_that_know = 0;
  std::array<std::array<u32, warp_lanes>, reaches> fenced{};      // time of each lane's last fence
  std::array<std::array<u32, warp_lanes>, reaches> fenced_own{};  // the warp's and the block's floor then
  std::array<std::array<u32, warp_lanes>, reaches> fenced_block{};
  std::array<u32, warp_lanes> proxy_fenced{}, proxy_block{}, proxy_own{};  // the same of fence.proxy.async
  std::array<std::vector<sighting>, warp_lanes> sightings;
  u32 lanes_that_saw = 0;
  std::pair<u32, u32> last_known{0, 0};  // actor and time of the last thing that all lanes were found to know
};

struct arrival {
  u32 lanes = 0;    // that arrived
  u32 waiting = 0;  // of these wait
  u32 pc = 0;       // of the first of them
  event_number done = 0;
};

struct barrier_view {
  std::vector<arrival> warps;  // by index
  std::vector<event_number> arrived;
  u32 op = 0;  // 0: no thread has arrived; otherwise what the first executed, plus 1
  u32 line = 0;
};

struct phase_view {
  std::vector<event_number> arrived;  // in the present phase
  event_number last = 0;              // of the phases before
};

// An access to a word, by lanes that do the same.
struct access_view {
  warp& by;
  const instruction& i;
  record what;
  access_kind kind;
  u64 offset = 0;  // in the piece
};

class watcher final : public observer {
 public:
  watcher(watched& g, block& b);
  ~watcher() override;

  void start(block&) override;
  void finish(block&) override;
  void before(warp&, const instruction&, u32 mask) override;
  void access(warp&, const instruction&, u32 mask, u32 bytes, access_kind,
              const std::byte* const (&at)[warp_lanes]) override;
  void called(warp&, const instruction&, u32 lanes, u32 bytes,
              const std::byte* const (&frame)[warp_lanes]) override;
  void met(warp&, const instruction&, u32 lanes) override;
  void arrived(warp&, const instruction&, u32 lanes, u32 barrier) override;
  void completed(block&, u32 barrier) override;
  void cluster_arrived(warp&, const instruction&, u32 lanes) override;
  void cluster_completed(block&) override;
  void async_issued(const async_operation&) override;
  void async_completed(const async_operation&) override;
  void async_waited(warp&, const instruction&, unsigned lane, async_completion, u64 groups,
                    bool read) override;
  void phase_initialized(warp&, const instruction&, unsigned lane, block& home, u32 offset) override;
  void phase_arrived(warp&, const instruction&, unsigned lane, block& home, u32 offset, u64 phase) override;
  void phase_completed(block& home, u32 offset, u64 phase) override;
  void phase_seen(warp&, const instruction&, u32 lanes, block& home, u32 offset, u64 phase) override;

 private:
  friend struct watched;

  // ---- registers.cpp ----
  void check_registers(warp& w, const instruction& i, u32 mask);
  void report_register(warp& w, const instruction& i, u32 reg, u32 lanes, std::string_view as);
  u32 shuffled(const warp& w, const instruction& i, u32 mask, u32 defined) const;
  u32* registers_of(const warp& w) { return registers_.data() + std::size_t{w.index} * register_count_; }

  // ---- memory.cpp ----
  const piece* find(const std::byte* at, u32 site);
  piece* shared_of(const block& b);
  void read_bytes(warp& w, const instruction& i, u32 mask, u32 bytes, const piece& p,
                  const std::byte* const (&at)[warp_lanes], bool consecutive);
  void write_bytes(const instruction& i, u32 mask, u32 bytes, const piece& p,
                   const std::byte* const (&at)[warp_lanes], bool consecutive);
  void report_read(warp& w, const instruction& i, unsigned lane, u32 bytes, const piece& p, u64 offset);
  void report_input(warp& w, const instruction& i, unsigned lane, u32 bytes, access_kind kind, const piece& p,
                    u64 offset);
  void describe_place(const piece& p, u64 offset, u32 bytes, access_kind kind, fault_report& r) const;

  // ---- races.cpp ----
  void check_races(warp& w, const instruction& i, u32 mask, u32 bytes, access_kind kind, const piece& p,
                   const std::byte* const (&at)[warp_lanes]);
  void check_same_place(warp& w, const instruction& i, u32 mask, u32 bytes, const piece& p,
                        const std::byte* const (&at)[warp_lanes]);
  u32 visit_lines(access_view a, u32 mask, u32 bytes, const piece& p,
                  const std::byte* const (&at)[warp_lanes]);
  bool visit_line(const access_view& a, const piece& p, u64 number);
  bool line_follows(const access_view& a, const piece& p, const record& r);
  void visit(const access_view& a, const piece& p, u64 offset, u32 bytes);
  void visit_cell(const access_view& a, const piece& p, u64 word, u8 bytes);
  line& line_at(const piece& p, u64 number);
  cell& cell_at(const piece& p, u64 word);
  record last_write(const piece& p, u64 word);
  void split(line& l);
  void note_read(record& first, u32& more, const record& mine, const piece& p, bool of_line);
  // Every actor that may access it knows of it.
  bool is_past(const record& r, const piece& p) const {
    return r.time <= p.origin || (r.time <= floor_ && p.home == this && r.actor - first_actor_ < warps_);
  }
  bool same_value(const access_view& a, const piece& p, u64 word, u8 bytes) const;
  void report_race(const access_view& a, const piece& p, u64 word, const record& r, unsigned lane);
  void describe_other(const record& r, unsigned lane, fault_report& report) const;

  // ---- order.cpp ----
  warp_view& view(const warp& w) { return views_[w.index]; }
  // True if everything in the record came before what this lane does now.
  bool follows(const warp& w, unsigned lane, const record& r);
  bool knows(warp_view& v, unsigned lane, u64 key, u32 time);
  event_number release(const warp& w, u32 lanes);
  void acquire(const warp& w, u32 lanes, event_number e);
  void join_lanes(const warp& w, u32 lanes);
  void fence(const warp& w, const instruction& i, u32 lanes);
  void take_sightings(warp_view& v, u32 lanes, reach within, bool at_barrier);
  event_number fenced_event(const warp& w, unsigned lane, reach far);
  void synchronise(const warp& w, const instruction& i, unsigned lane, access_kind kind, const std::byte* at,
                   cell& c);
  void publish(location& l, publication p, bool update);
  reach distance(u32 block) const;
  u32 block_of(u32 actor) const { return actor / warps_; }

  // ---- barriers.cpp ----
  void check_barrier(u32 number, barrier_view& b);
  void report_barrier(warp& w, const instruction& i, u32 lanes, std::string detail, std::string advice);

  // ---- asynchronous.cpp ----
  u32 actor_of(const async_operation& o);
  void check_proxy(const access_view& a, const piece& p, u64 offset, u64 bytes);
  void report_unread_at_end();
  void waited_for_products(warp& w, u64 groups);
  void fence_proxy(const warp& w, u32 lanes);
  void check_matrix_registers(warp& w, const instruction& i);
  void report_matrix(warp& w, const instruction& i, u32 row, std::string detail, std::string advice);

  watched& grid_;
  block& block_;
  const u32 warps_;
  u32 number_ = 0;  // of the block, in the order of start
  u32 first_actor_ = 0;
  u32 origin_ = 0;   // time of start
  u32 floor_ = 0;    // all threads of the block know each other up to this time
  knowledge known_;  // of all threads
  std::vector<warp_view> views_;
  std::vector<const piece*> site_pieces_;
  piece shared_, local_;
  std::vector<u8> shared_defined_;
  zeroed_bytes local_defined_, shared_lines_;

  std::size_t register_count_ = 0;
  std::vector<u32> registers_;  // lanes of each, warp by warp
  // Of the store that executes: lanes of each element that are copies of nothing.
  std::array<u32, 8> undefined_elements_{};
  bool stores_undefined_ = false;

  std::array<barrier_view, barriers_of_a_block> barriers_;
  std::vector<event_number> cluster_arrivals_;
  event_number cluster_phase_ = 0;
  std::vector<u32> cluster_waiting_;  // lanes of each warp

  std::unordered_map<u32, phase_view> phases_;  // by offset in shared memory
  std::unordered_map<u64, u32> operations_;     // single ones, by their number
  struct group_time {
    u64 group;
    u32 time;
    async_completion kind;
    u32 pc;  // of its first operation
  };
  std::unordered_map<u32, std::vector<group_time>> groups_;  // of actor * 32 + lane
  std::unordered_map<u32, u32> multiplied_;  // of an actor: until when its wgmma are known to be done
  std::unordered_map<u32, u32> copied_;      // time of the last cp.async of a lane that is done
  std::unordered_map<u64, u32> copies_;      // time of issue, by their number
  // Where there is wgmma: how many fences a warp has executed, plus 1, and at which count it wrote a register.
  std::vector<u32> matrix_fences_, matrix_touched_;
};

}  // namespace kaio::emulator::sanitizing
