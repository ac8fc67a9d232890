#pragma once
// How a matrix is stored in shared memory, as the 64-bit descriptors of wgmma give it. The swizzle and two
// distances are constants; only the start address is unknown while the kernel is compiled. So a descriptor
// costs a shift and a mask, and each slice of it one 32-bit addition. Source: PTX ISA, "Asynchronous
// Warpgroup Level Matrix Shared Memory Layout", "Matrix Descriptor Format".
//
//   constexpr matrix_descriptor rows_of_128_bytes{.swizzle = 128, .leading = 0, .stride = 1024};
//   static_assert(rows_of_128_bytes.high_word() == (1u << 30 | 1024 / 16));

#include <kaio/dsl/trace/trace.hpp>

#include <cstdint>

namespace kaio::dsl {

// The index of a matrix whose neighbours are adjacent in memory: K (the sum runs over it), or M of A and N of
// B.
enum class major : std::uint8_t { k, mn };

struct matrix_descriptor {
  std::uint32_t swizzle = 0;  // bytes: 0, 32, 64 or 128
  // Bytes. K-major: without a swizzle, between the halves of 16 bytes that make 32 bytes of K; else unused.
  // MN-major: from one panel of the swizzle's width to the next along M or N; without a swizzle, from 8 k to
  // the next 8.
  std::uint32_t leading = 16;
  // Bytes. K-major: from 8 rows to the next 8. MN-major: from 8 k to the next 8; without a swizzle, from 8
  // elements of M or N to the next 8.
  std::uint32_t stride = 0;
  // 0 to 7: bits 7 to 9 of the address where the swizzle's pattern begins.
  std::uint32_t base_offset = 0;

  // The word that holds the address, without it.
  constexpr std::uint32_t low_word() const { return distance(leading) << 16; }
  constexpr std::uint32_t high_word() const {
    if (base_offset > 7) kernel_error("kaio: the base offset of a matrix descriptor is 0 to 7");
    return distance(stride) | base_offset << 17 | mode() << 30;
  }

  // The low word of the descriptor of a matrix at a shared address; at() gives whole descriptors further on.
  constexpr value begin(tracer& t, value address) const {
    const value start = t.binary(operation::shr, ptx::type::u32, address, t.constant(ptx::type::u32, 4));
    const value field =
        t.binary(operation::and_, ptx::type::u32, start, t.constant(ptx::type::u32, address_mask));
    return t.binary(operation::or_, ptx::type::u32, field, t.constant(ptx::type::u32, low_word()));
  }
  constexpr value at(tracer& t, value begin, std::uint32_t bytes_further) const {
    const value low =
        t.binary(operation::add, ptx::type::u32, begin, t.constant(ptx::type::u32, bytes_further >> 4));
    return t.join(ptx::type::u64, low, t.constant(ptx::type::u32, high_word()));
  }

 private:
  // An address has 18 bits; the bits above are the block of a cluster.
  static constexpr std::uint32_t address_mask = 0x3fff;

  static constexpr std::uint32_t distance(std::uint32_t bytes) {
    if (bytes % 16 != 0 || bytes >= 1u << 18)
      kernel_error("kaio: the distances of a matrix descriptor are multiples of 16 bytes below 262144");
    return bytes >> 4;
  }
  constexpr std::uint32_t mode() const {
    if (swizzle == 0) return 0;
    if (swizzle != 32 && swizzle != 64 && swizzle != 128)
      kernel_error("kaio: the swizzle of a matrix descriptor is 0, 32, 64 or 128 bytes");
    return swizzle == 128 ? 1 : swizzle == 64 ? 2 : 3;
  }
};

}  // namespace kaio::dsl

namespace kaio {
using dsl::major;
using dsl::matrix_descriptor;
}  // namespace kaio
