// Several copies or operations on words in one call, and what is asked of managed memory.

#include <algorithm>
#include <numeric>

#include "driver_emulator/support.hpp"

using namespace driver_emulator_test;

namespace {

using words = std::vector<std::uint32_t>;

struct own_stream {
  CUstream handle = nullptr;
  own_stream() { MUST(cuStreamCreate(&handle, CU_STREAM_NON_BLOCKING)); }
  ~own_stream() { cuStreamDestroy_v2(handle); }
  own_stream(const own_stream&) = delete;
  own_stream& operator=(const own_stream&) = delete;
};

words counted(std::size_t n) {
  words w(n);
  std::iota(w.begin(), w.end(), 1u);
  return w;
}

CUdeviceptr number_of(void* host) { return reinterpret_cast<std::uintptr_t>(host); }

}  // namespace

TEST_CASE("a batch of copies does each of them") {
  const session s;
  const own_stream stream;
  const numbers a(counted(100)), b(100);
  words host = {7, 8, 9}, back(5);
  CUdeviceptr to[] = {b.address, number_of(back.data()), b.address + 200},
              from[] = {number_of(host.data()), a.address + 40, a.address};
  std::size_t bytes[] = {12, 20, 40}, first[] = {0, 1};
  CUmemcpyAttributes attributes[2]{};
  attributes[0].order = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
  attributes[1].order = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  MUST(cuMemcpyBatchAsync_v2(to, from, bytes, 3, attributes, first, 2, stream.handle));
  std::fill(host.begin(), host.end(), 0u);  // it has been read
  MUST(cuStreamSynchronize(stream.handle));
  CHECK(back == words{11, 12, 13, 14, 15});
  const words copied = b.read();
  CHECK(words(copied.begin(), copied.begin() + 3) == words{7, 8, 9});
  CHECK(words(copied.begin() + 50, copied.begin() + 60) == counted(10));
  std::size_t failed = 0;
  from[1] = a.address + 396;
  REFUSED(cuMemcpyBatchAsync(to, from, bytes, 3, attributes, first, 2, &failed, stream.handle),
          CUDA_ERROR_INVALID_VALUE);
  CHECK(failed == 1);
  first[1] = 3;
  REFUSED(cuMemcpyBatchAsync(to, from, bytes, 3, attributes, first, 2, &failed, stream.handle),
          CUDA_ERROR_INVALID_VALUE);
  CHECK(failed == SIZE_MAX);
  REFUSED(cuMemcpyBatchAsync_v2(to, from, bytes, 3, attributes, first, 1, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("a batch of boxes copies between arrays and pointers") {
  const session s;
  const own_stream stream;
  const CUDA_ARRAY3D_DESCRIPTOR shape{6, 4, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0};
  CUarray array = nullptr;
  MUST(cuArray3DCreate_v2(&array, &shape));
  words host = counted(24), back(2 * 3);
  CUDA_MEMCPY3D_BATCH_OP op{};
  op.source.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
  op.source.pointer.address = number_of(host.data());
  op.target.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
  op.target.array.array = array;
  op.width = 6;
  op.height = 4;
  op.depth = 1;
  op.order = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  MUST(cuMemcpy3DBatchAsync_v2(1, &op, 0, stream.handle));
  CUDA_MEMCPY3D_BATCH_OP down = op;
  down.source = {};
  down.source.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
  down.source.array = {array, 4, 1, 0};
  down.target = {};
  down.target.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
  down.target.pointer.address = number_of(back.data());
  down.target.pointer.row_length = 2;
  down.width = 2;
  down.height = 3;
  std::size_t failed = 0;
  MUST(cuMemcpy3DBatchAsync(1, &down, &failed, 0, stream.handle));
  MUST(cuStreamSynchronize(stream.handle));
  CHECK(back == words{11, 12, 17, 18, 23, 24});
  down.source.array.x = 5;
  REFUSED(cuMemcpy3DBatchAsync_v2(1, &down, 0, stream.handle), CUDA_ERROR_INVALID_VALUE);
  MUST(cuArrayDestroy(array));
}

TEST_CASE("a batch of operations on words writes and waits in order") {
  const session s;
  const own_stream stream;
  const numbers w(words{0, 0, 0, 0});
  CUstreamBatchMemOpParams list[3]{};
  list[0] = {CU_STREAM_MEM_OP_WRITE_VALUE_32, w.address, 5, 0, 0, 0};
  list[1] = {CU_STREAM_MEM_OP_WAIT_VALUE_32, w.address, 5, 1, 0, 0};
  list[2] = {CU_STREAM_MEM_OP_WRITE_VALUE_64, w.address + 8, 0x100000002, 0, 0, 0};
  MUST(cuStreamBatchMemOp_v2(stream.handle, 3, list, 0));
  MUST(cuStreamSynchronize(stream.handle));
  CHECK(w.read() == words{5, 0, 2, 1});
  list[0].value = 6;
  list[2].address = w.address + 4;  // not a multiple of 8
  REFUSED(cuStreamBatchMemOp(stream.handle, 3, list, 0), CUDA_ERROR_INVALID_VALUE);
  CHECK(w.read()[0] == 5);
  CUcontext owner = nullptr;
  CUgreenCtx green = reinterpret_cast<CUgreenCtx>(stream.handle);
  MUST(cuStreamGetCtx_v2(stream.handle, &owner, &green));
  CHECK(owner == s.context);
  CHECK(green == nullptr);
}

TEST_CASE("managed memory remembers what was said of it") {
  const session s;
  const own_stream stream;
  CUdeviceptr a = 0;
  MUST(cuMemAllocManaged(&a, 4096, 1));
  const auto attribute = [&](CUmem_range_attribute wanted) {
    int value = -9;
    MUST(cuMemRangeGetAttribute(&value, 4, wanted, a, 4096));
    return value;
  };
  CHECK(attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY) == 0);
  CHECK(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION) == no_device);
  CHECK(attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION) == no_device);
  MUST(cuMemAdvise(a, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, 0));
  MUST(cuMemAdvise(a, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, processor));
  MUST(cuMemAdvise_v2(a, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, {CU_MEM_LOCATION_TYPE_DEVICE, 0}));
  CUdeviceptr addresses[] = {a};
  std::size_t bytes[] = {4096}, first[] = {0};
  CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  MUST(cuMemPrefetchBatchAsync(addresses, bytes, 1, &location, first, 1, 0, stream.handle));
  CHECK(attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY) == 1);
  CHECK(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION) == processor);
  CHECK(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE) == CU_MEM_LOCATION_TYPE_HOST);
  CHECK(attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION) == 0);
  int by[3] = {};
  int mostly = 0;
  void* to[] = {by, &mostly};
  std::size_t to_bytes[] = {sizeof by, sizeof mostly};
  int wanted[] = {CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY};
  MUST(cuMemRangeGetAttributes(to, to_bytes, wanted, 2, a, 100));
  CHECK(words(by, by + 3) ==
        words{0, static_cast<std::uint32_t>(no_device), static_cast<std::uint32_t>(no_device)});
  CHECK(mostly == 1);
  MUST(cuMemPrefetchAsync(a, 4096, processor, stream.handle));
  CHECK(attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION) == processor);
  MUST(cuMemAdvise(a, 4096, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, 0));
  CHECK(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION) == no_device);
  REFUSED(cuMemAdvise(a, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, 99), CUDA_ERROR_INVALID_DEVICE);
  REFUSED(cuMemRangeGetAttribute(&mostly, 8, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, a, 4096),
          CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuMemRangeGetAttribute(&mostly, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, a, 4097),
          CUDA_ERROR_INVALID_VALUE);
  MUST(cuStreamSynchronize(stream.handle));
  MUST(cuMemFree_v2(a));
}

TEST_CASE("the pool of a place is the pool of its device") {
  const session s;
  CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool usual = nullptr, now = nullptr, own = nullptr;
  MUST(cuMemGetDefaultMemPool(&usual, &location, pinned_memory));
  MUST(cuDeviceGetDefaultMemPool(&now, 0));
  CHECK(usual == now);
  CUmemPoolProps properties{};
  properties.allocation_type = pinned_memory;
  properties.location = location;
  MUST(cuMemPoolCreate(&own, &properties));
  MUST(cuMemSetMemPool(&location, pinned_memory, own));
  MUST(cuDeviceGetMemPool(&now, 0));
  CHECK(now == own);
  MUST(cuMemSetMemPool(&location, pinned_memory, usual));
  MUST(cuMemGetMemPool(&now, &location, pinned_memory));
  CHECK(now == usual);
  constexpr int managed = 2;
  REFUSED(cuMemGetMemPool(&now, &location, managed), CUDA_ERROR_NOT_SUPPORTED);
  MUST(cuMemPoolDestroy(own));
}
