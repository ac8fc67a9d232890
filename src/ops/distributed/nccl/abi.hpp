#pragma once
// NCCL as kaio declares it, by the names of nccl.h. The layout of the configuration is that of NCCL 2.27; its `version`
// says so, and every NCCL from 2.17 on takes it.

#include <climits>
#include <cstddef>

namespace kaio::ops::detail::nccl {

struct communicator;  // ncclComm
struct unique_id {
  char internal[128];
};  // passed by value

enum result : int { success = 0, system_error = 2, invalid_argument = 4, remote_error = 6, in_progress = 7 };
enum data_type : int { int8 = 0, uint8 = 1 };

struct configuration {
  std::size_t size = sizeof(configuration);
  unsigned magic = 0xcafebeef;
  unsigned version = 22700;
  int blocking = 0;
  int cga_cluster_size = INT_MIN, min_ctas = INT_MIN, max_ctas = INT_MIN;
  const char* net_name = nullptr;
  int split_share = INT_MIN;
  int traffic_class = INT_MIN;
  const char* comm_name = nullptr;
  int collnet_enable = INT_MIN, cta_policy = INT_MIN, shrink_share = INT_MIN, nvls_ctas = INT_MIN;
};

inline constexpr int oldest_version = 21700;

// The functions that kaio calls. `stream` is a CUstream.
struct functions {
  int (*get_version)(int* version) = nullptr;
  int (*get_unique_id)(unique_id* id) = nullptr;
  int (*init_rank)(communicator** comm, int ranks, unique_id id, int rank, configuration* config) = nullptr;
  int (*destroy)(communicator* comm) = nullptr;
  int (*abort)(communicator* comm) = nullptr;
  int (*async_error)(communicator* comm, int* result) = nullptr;
  const char* (*error_text)(int result) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*all_gather)(const void* send, void* receive, std::size_t count, int type, communicator* comm,
                    void* stream) = nullptr;
  int (*send)(const void* from, std::size_t count, int type, int peer, communicator* comm,
              void* stream) = nullptr;
  int (*receive)(void* to, std::size_t count, int type, int peer, communicator* comm, void* stream) = nullptr;
};

}  // namespace kaio::ops::detail::nccl
