#pragma once
// Shared by the decoders of the asynchronous families: modifiers directly after the opcode, state spaces
// whose order gives the direction of a copy, several addresses in one instruction, and features of
// architecture-specific targets.

#include "emulator/decode/instruction_decoder.hpp"

#include <initializer_list>
#include <string_view>

namespace kaio::emulator {

// If these modifiers come first, in this order, takes them.
bool starts_with(instruction_decoder& f, std::initializer_list<std::string_view> words);

// The state spaces of a copy, as "shared::cluster.global"; an error if there are not exactly two.
std::string two_spaces(instruction_decoder& f);

// The address in an operand, in a state space. `cluster`: it may be in another block.
address_operand address_operand_of(instruction_decoder& f, std::size_t operand_index, state_space space,
                                   bool cluster = false);

// Adds `transfer` to the kernel's table, and stores its index in the instruction.
void set_transfer(instruction_decoder& f, const transfer_operands& transfer);

// An error unless .target names one architecture or family: sm_90a, sm_100f.
void require_specific(instruction_decoder& f, std::string_view called);

// .L2::cache_hint: its policy is the last operand. Returns the number of operands for it.
std::size_t cache_policy(instruction_decoder& f);

// A constant within two bounds.
u64 constant_of(instruction_decoder& f, std::size_t operand_index, u64 least, u64 most);

// Requires .mbarrier::complete_tx::bytes.
void need_mbarrier_completion(instruction_decoder& f);

// The members of the families that share an opcode with other instructions.
void decode_mbarrier_arrive_of_copies(instruction_decoder& f);  // cp.async.mbarrier.arrive
void decode_bulk(instruction_decoder& f);                       // cp.async.bulk...
void decode_bulk_reduction(instruction_decoder& f);             // cp.reduce.async.bulk...
void decode_tensor_copy(instruction_decoder& f);                // ... .tensor
void decode_tensor_reduction(instruction_decoder& f);
void decode_tensor_prefetch(instruction_decoder& f);
void decode_async_store(instruction_decoder& f);      // st.async
void decode_async_reduction(instruction_decoder& f);  // red.async
// fence.proxy..., fence.mbarrier_init...; false if it is none of these.
bool decode_proxy_fence(instruction_decoder& f);

}  // namespace kaio::emulator
