#pragma once
// Ranks of the C interface.

#include <kaio/c/base.h>
#include <kaio/c/distributed.h>
#include <kaio/ops/distributed/communicator.hpp>

#include <cstdint>

struct kaio_communicator {
  kaio::ops::communicator rank;
};

namespace kaio::c {

void make_ranks(const DLDevice* devices, std::uint64_t ranks, bool direct,
                const ops::communicator_options& options, kaio_communicator** to);
void make_nccl_id(std::uint8_t* id);
kaio_communicator* make_nccl_rank(const runtime::device& gpu, const std::uint8_t* id, std::int32_t ranks,
                                  std::int32_t rank, const ops::communicator_options& options);
kaio_communicator* make_program_rank(const runtime::device& gpu, const ops::communicator_means& means,
                                     std::int32_t ranks, std::int32_t rank,
                                     const ops::communicator_options& options);
void destroy(kaio_communicator* communicator) noexcept;

}  // namespace kaio::c
