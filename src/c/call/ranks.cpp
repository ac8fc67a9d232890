#include "c/call/ranks.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "c/call/devices.hpp"
#include "c/call/error.hpp"

namespace kaio::c {

void make_ranks(const DLDevice* devices, std::uint64_t ranks, bool direct,
                const ops::communicator_options& options, kaio_communicator** to) {
  std::vector<runtime::device> all;
  if (ranks > 64) refuse("communicators_create", std::to_string(ranks) + " ranks; 1 to 64 make a group");
  for (std::uint64_t r = 0; r < ranks; ++r)
    all.push_back(device_of("communicators_create", "devices", devices[r]));
  const std::vector<ops::communicator> group =
      direct ? ops::communicator::peers(all, options) : ops::communicator::in_process(all, options);
  for (std::uint64_t r = 0; r < ranks; ++r) to[r] = new kaio_communicator{group[static_cast<std::size_t>(r)]};
}

void make_nccl_id(std::uint8_t* id) {
  const ops::nccl_id made = ops::communicator::create_nccl_id();
  std::memcpy(id, made.bytes.data(), made.bytes.size());
}

kaio_communicator* make_nccl_rank(const runtime::device& gpu, const std::uint8_t* id, std::int32_t ranks,
                                  std::int32_t rank, const ops::communicator_options& options) {
  ops::nccl_id given;
  std::memcpy(given.bytes.data(), id, given.bytes.size());
  return new kaio_communicator{ops::communicator::nccl(given, ranks, rank, gpu, options)};
}

kaio_communicator* make_program_rank(const runtime::device& gpu, const ops::communicator_means& means,
                                     std::int32_t ranks, std::int32_t rank,
                                     const ops::communicator_options& options) {
  return new kaio_communicator{ops::communicator::program(means, ranks, rank, gpu, options)};
}

void destroy(kaio_communicator* communicator) noexcept { delete communicator; }

}  // namespace kaio::c
