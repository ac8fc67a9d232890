#pragma once
// Ranks that compute together: each has a device, a number, and a communicator. Collectives are queued in a stream, like
// copies, and are called by every rank in the same order. Ranks of one process are threads.
//
//   std::vector<communicator> ranks = communicator::peers(gpus);            // one for each device
//   // in thread r:
//   ranks[r].all_gather(s, mine, all);                                      // (n) of each rank -> (ranks, n)
//   ranks[r].reduce_scatter(s, all, mine);                                  // sums in f32, rank 0 first
//
// A call is compared by all ranks before anything is sent. If a rank calls another operation, with another shape or
// element type, or refuses its arguments, all ranks throw invalid_argument, and the communicators remain usable. If a
// rank does not come within the time limit, goes (its communicator is destroyed), or fails, all others throw
// communication_error, and later calls throw it too. No call waits longer than the time limit.
//
//   transport   ranks                                     memory moves by
//   in_process  devices of one process, any               copies of the driver
//   peers       devices of one process, direct access     copies of the driver; kernels may use peer_buffer
//   nccl        of one or several processes               NCCL, which is loaded at run time
//   program     processes of one host, direct access      memory that the program gives; kernels may use peer_buffer
//
// A communicator belongs to one thread at a time; abort() may be called by any thread. Calls are refused while the stream
// is captured. With stream::loading a call loads its kernels and sends nothing; the other ranks need not call.

#include <kaio/ops/distributed/peer_buffer.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/runtime/detail/context_ref.hpp>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/stream.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kaio::ops {

struct communicator_options {
  double time_limit = 60;  // seconds that a call waits for the other ranks; above 0
  // Device memory of each rank that sums pass through, allocated at once: larger tensors take several rounds.
  std::uint64_t staging_bytes = std::uint64_t{8} << 20;
  // nccl: the host compares each call with those of the other ranks, and waits for that. Without it calls return at once,
  // and calls that do not match end by the time limit.
  bool compare = true;
};

// What a program does for its rank of communicator::program. Functions return 0; any other number is a failure, and so is
// an exception. They are called by the thread that calls the communicator; release by the one that drops the memory.
struct communicator_means {
  void* data =
      nullptr;  // the first argument of each function; lives as long as the communicator and its memory
  // Gathers bytes of the host: all[r * bytes] gets those of rank r. Every rank calls it, with the same `bytes`. It
  // waits for the others for `time_limit` seconds at most.
  int (*gather)(void* data, const void* mine, std::uint64_t bytes, void* all, double time_limit) = nullptr;
  // Allocates `bytes` of device memory on each rank, at a multiple of 256, that the kernels of all can read and write.
  // memory[r] gets the address of rank r's memory in this process, `token` a name of it for release. Every rank calls
  // it. With an emulator it may be memory of the host, which processes share. Null: the group has no memory of all ranks,
  // and calls that move tensors throw unsupported_device.
  int (*allocate)(void* data, std::uint64_t bytes, void** memory, void** token) = nullptr;
  // This rank uses the memory no more; others may. The work of this rank that uses it is done.
  int (*release)(void* data, void* token) = nullptr;
};

// Names a group of NCCL. One rank makes it, and sends its bytes to the others.
struct nccl_id {
  std::array<std::byte, 128> bytes{};
};

// Memory that a rank sends to another one, or receives from it: a view without gaps.
struct transfer {
  any_view memory;
  int rank = 0;
};

class communicator {
 public:
  communicator() = default;  // null: its use throws invalid_argument

  // One communicator for each device, rank r on devices[r]. Several ranks may share a device. GPUs and emulators are
  // not mixed. Throws invalid_argument: no device, more than 64, or a time limit that is not positive; out_of_memory.
  static std::vector<communicator> in_process(std::span<const device> devices,
                                              const communicator_options& options = {});
  // As in_process, and every device may use the memory of every other one. Throws unsupported_device if one cannot.
  static std::vector<communicator> peers(std::span<const device> devices,
                                         const communicator_options& options = {});

  // A rank of a group whose ranks are threads or processes, with a GPU each. All ranks call it with the same id, which is
  // used once. NCCL, 2.17 or later, is loaded: the file that KAIO_NCCL_LIBRARY names; else the one that the process has
  // loaded, as PyTorch does; else nvidia/nccl/lib/libnccl.so.2 in a folder above kaio's library; else the system's.
  // Throws unsupported_device: there is none; invalid_argument; communication_error.
  static nccl_id create_nccl_id();
  static communicator nccl(const nccl_id& id, int ranks, int rank, const device& on,
                           const communicator_options& options = {});
  // A rank of a group whose ranks the program connects: `means` gathers bytes on the host, and gives memory of all ranks.
  // All ranks call it. A failure of `means` is a communication_error, and ends the group for this rank; the others find
  // it missing. Throws invalid_argument: no gather, or one of allocate and release alone; communication_error.
  static communicator program(const communicator_means& means, int ranks, int rank, const device& on,
                              const communicator_options& options = {});
  // The rank of this process, which torchrun, mpirun or srun started: the numbers of ranks are in the variables that they
  // set, and the GPU is that of the rank's number on its host. Rank 0 sends the id of the group from port MASTER_PORT + 1
  // at MASTER_ADDR, or from the HOST:PORT that KAIO_RENDEZVOUS names. Throws as nccl().
  static communicator from_environment(const communicator_options& options = {});

  int ranks() const;
  int rank() const;
  const device& on() const;                 // the device of this rank
  std::string_view transport_name() const;  // "in_process", "peers", "nccl", "program"
  double time_limit() const;
  bool has_direct_access() const;  // allocate() works: kernels of a rank can use the memory of all others

  // Tensors are views without gaps on the device of the rank. Work that was queued in `s` before is done before memory
  // is read or written, on all ranks; what is queued later may use the received memory, and overwrite the sent.
  //
  // to: `ranks` times the elements of `from`, those of rank 0 first. `from` may be this rank's part of `to`.
  void all_gather(const stream& s, const any_view& from, const any_view& to) const;
  // from: `ranks` times the elements of `to`. to: the sum of part rank() of all ranks. f32, f16, bf16: sums are f32,
  // added in the order of ranks from 0 on, and rounded once. `to` may be this rank's part of `from`.
  void reduce_scatter(const stream& s, const any_view& from, const any_view& to) const;
  // to: the sum of `from` of all ranks, as reduce_scatter; equal bits on all ranks. `to` may be `from`.
  void all_reduce(const stream& s, const any_view& from, const any_view& to) const;
  // Part p of `from` becomes part rank() of `to` on rank p. Both have the same elements, a multiple of `ranks`; they
  // share no memory.
  void all_to_all(const stream& s, const any_view& from, const any_view& to) const;
  // `memory` of rank `root` is copied to `memory` of all others.
  void broadcast(const stream& s, const any_view& memory, int root) const;
  // Sends and receives in one step: transfers between two ranks match in their order, and have equal bytes and types.
  // Every rank calls it, also one without transfers. A rank may send to itself. Received memory overlaps nothing else.
  void exchange(const stream& s, std::span<const transfer> sends, std::span<const transfer> receives) const;
  // Later work in `s` runs after the work that was queued before, on all ranks.
  void barrier(const stream& s) const;
  // Compares numbers on the host, without a stream: throws invalid_argument on all ranks if they differ, in the name of
  // `operation`. For operations that have their own kernels on peer_buffer. `refusal`: this rank refuses its arguments.
  void agree(std::string_view operation, std::span<const std::int64_t> numbers,
             std::string_view refusal = {}) const;
  // The numbers of all ranks, rank 0 first; all ranks give the same count. On the host, without a stream.
  std::vector<std::int64_t> gather_numbers(std::string_view operation,
                                           std::span<const std::int64_t> numbers) const;

  // Memory of `bytes` zeros on each rank, that the kernels of all ranks can read and write, with `signal_words` zeroed
  // u32 for signals. All ranks call it with the same sizes. Throws unsupported_device without direct access.
  peer_buffer allocate(std::uint64_t bytes, std::uint32_t signal_words = 0) const;

  // Ends the group: calls that wait, and all later ones, throw communication_error on all ranks. From any thread.
  void abort(std::string_view why = {}) const;

  // Loads the kernels of reduce_scatter and all_reduce.
  static void warmup(const device& gpu);

 private:
  friend class detail::rank_access;
  explicit communicator(detail::rank_ref rank) noexcept : rank_(std::move(rank)) {}
  detail::rank_ref rank_;
};

}  // namespace kaio::ops

namespace kaio {
using ops::communicator;
using ops::communicator_means;
using ops::communicator_options;
using ops::nccl_id;
using ops::peer_buffer;
using ops::transfer;
}  // namespace kaio
