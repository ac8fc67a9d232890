#pragma once
// The question that the CUDA runtime library asks the driver when it starts: a digest of facts that both know.
// Without the right answer, every call of the runtime returns cudaErrorSoftwareValidityNotEstablished.
// The form of the answer and its key are those that the ZLUDA project publishes (github.com/vosen/ZLUDA,
// dark_api/src/lib.rs).

#include "driver_emulator/abi/types.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace kaio::driver_emulator {

// How the runtime names a device in the digest.
struct device_identity {
  CUuuid uuid;
  std::int32_t pci_domain, pci_bus, pci_device;
};

struct validity_question {
  std::uint32_t driver_version;
  std::uint32_t version;  // of the runtime; its last digit chooses the form of the answer
  std::uint32_t process, thread;
  const void* runtime_table;
  const void* validity_table;
  const void* asked_function;
  std::uint64_t seconds;  // the time that the runtime passes
};

using validity_answer = std::array<std::uint64_t, 2>;

validity_answer answer_of(const validity_question& question, const std::vector<device_identity>& devices);

}  // namespace kaio::driver_emulator
