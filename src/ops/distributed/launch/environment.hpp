#pragma once
// A rank of a program that a launcher started in several processes: its numbers, by environment variables, and the exchange
// of the id of its group.

#include <kaio/ops/distributed/communicator.hpp>

#include <cstdint>
#include <string>

namespace kaio::ops::detail {

struct launched_rank {
  int ranks = 1, rank = 0, local_rank = 0;  // local: on this host
  std::string host = "127.0.0.1";           // of rank 0
  std::uint16_t port = 29411;
};

// By the variables of torchrun, Open MPI, MPICH and Slurm. Throws invalid_argument: none are set, or one is malformed.
launched_rank rank_of_environment();

// The id that rank 0 gives: it sends it to all others. Throws communication_error if a rank does not come within `seconds`.
nccl_id exchange_id(const launched_rank& rank, const nccl_id& of_rank_0, double seconds);

}  // namespace kaio::ops::detail
