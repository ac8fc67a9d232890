#include "ops/distributed/launch/environment.hpp"

#include <kaio/runtime/error.hpp>

#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>

#include "ops/distributed/common/call.hpp"

namespace kaio::ops::detail {

namespace {

constexpr std::string_view operation = "communicator::from_environment";

std::optional<int> number_of(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return {};
  int value = 0;
  const std::string_view given(text);
  const auto [end, failure] = std::from_chars(given.data(), given.data() + given.size(), value);
  if (failure != std::errc() || end != given.data() + given.size() || value < 0)
    refuse_collective(operation, std::string(variable) + " is '" + text + "'; a number from 0 on is needed");
  return value;
}

std::uint16_t port_of(int number) {
  if (number < 1 || number > std::numeric_limits<std::uint16_t>::max())
    refuse_collective(operation, "the port is " + std::to_string(number));
  return static_cast<std::uint16_t>(number);
}

struct launcher {
  const char *ranks, *rank, *local_rank;
};
constexpr launcher launchers[] = {
    {"WORLD_SIZE", "RANK", "LOCAL_RANK"},  // torchrun
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"PMI_SIZE", "PMI_RANK", "MPI_LOCALRANKID"},  // MPICH
    {"SLURM_NTASKS", "SLURM_PROCID", "SLURM_LOCALID"},
};

}  // namespace

launched_rank rank_of_environment() {
  launched_rank result;
  bool found = false;
  for (const launcher& l : launchers) {
    const std::optional<int> ranks = number_of(l.ranks), rank = number_of(l.rank);
    if (!ranks || !rank) continue;
    found = true;
    result.ranks = *ranks;
    result.rank = *rank;
    result.local_rank = number_of(l.local_rank).value_or(*rank);
    break;
  }
  if (!found)
    refuse_collective(
        operation, "no launcher has set RANK and WORLD_SIZE, or the variables of Open MPI, MPICH or Slurm");
  if (result.ranks < 1 || result.rank >= result.ranks)
    refuse_collective(operation,
                      "rank is " + std::to_string(result.rank) + " of " + std::to_string(result.ranks));
  // torchrun listens at MASTER_PORT itself.
  if (const char* const host = std::getenv("MASTER_ADDR"); host != nullptr && *host != '\0')
    result.host = host;
  if (const std::optional<int> port = number_of("MASTER_PORT")) result.port = port_of(*port + 1);
  if (const char* const chosen = std::getenv("KAIO_RENDEZVOUS"); chosen != nullptr && *chosen != '\0') {
    const std::string_view text(chosen);
    const std::size_t colon = text.rfind(':');
    int port = 0;
    if (colon != std::string_view::npos)
      std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
    if (colon == std::string_view::npos || colon == 0)
      refuse_collective(operation,
                        "KAIO_RENDEZVOUS is '" + std::string(text) + "'; HOST:PORT of rank 0 is needed");
    result.host = text.substr(0, colon);
    result.port = port_of(port);
  }
  return result;
}

}  // namespace kaio::ops::detail
