// CUDA arrays: their shapes, copies to and from them in every direction, and mipmapped ones.

#include <algorithm>
#include <numeric>

#include "driver_emulator/support.hpp"

using namespace driver_emulator_test;

namespace {

struct array_of {
  CUarray handle = nullptr;
  explicit array_of(const CUDA_ARRAY3D_DESCRIPTOR& d) { MUST(cuArray3DCreate_v2(&handle, &d)); }
  ~array_of() { cuArrayDestroy(handle); }
  array_of(const array_of&) = delete;
  array_of& operator=(const array_of&) = delete;
};

CUDA_ARRAY3D_DESCRIPTOR floats(std::size_t width, std::size_t height, std::size_t depth, unsigned flags = 0) {
  return {width, height, depth, CU_AD_FORMAT_FLOAT, 1, flags};
}

std::vector<float> counted(std::size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

// A dense box of floats in the host, to or from an array.
CUDA_MEMCPY3D box_of(std::size_t width, std::size_t height, std::size_t depth) {
  CUDA_MEMCPY3D c{};
  c.source_pitch = c.target_pitch = width * sizeof(float);
  c.source_height = c.target_height = height;
  c.width = width * sizeof(float);
  c.height = height;
  c.depth = depth;
  return c;
}
void put(CUarray to, const std::vector<float>& values, std::size_t w, std::size_t h, std::size_t d) {
  CUDA_MEMCPY3D c = box_of(w, h, d);
  c.source_type = CU_MEMORYTYPE_HOST;
  c.source_host = values.data();
  c.target_type = CU_MEMORYTYPE_ARRAY;
  c.target_array = to;
  MUST(cuMemcpy3D_v2(&c));
}
std::vector<float> get(CUarray from, std::size_t w, std::size_t h, std::size_t d) {
  std::vector<float> values(w * h * d);
  CUDA_MEMCPY3D c = box_of(w, h, d);
  c.source_type = CU_MEMORYTYPE_ARRAY;
  c.source_array = from;
  c.target_type = CU_MEMORYTYPE_HOST;
  c.target_host = values.data();
  MUST(cuMemcpy3D_v2(&c));
  return values;
}

}  // namespace

TEST_CASE("an array has the shape that it was made with") {
  const session s;
  CUDA_ARRAY_DESCRIPTOR flat{7, 5, CU_AD_FORMAT_HALF, 2}, seen{};
  CUarray a = nullptr;
  MUST(cuArrayCreate_v2(&a, &flat));
  MUST(cuArrayGetDescriptor_v2(&seen, a));
  CHECK(seen.width == 7);
  CHECK(seen.height == 5);
  CHECK(seen.format == CU_AD_FORMAT_HALF);
  CHECK(seen.channels == 2);
  std::size_t left = 0, then = 0, total = 0;
  MUST(cuMemGetInfo_v2(&then, &total));
  MUST(cuArrayDestroy(a));
  MUST(cuMemGetInfo_v2(&left, &total));
  CHECK(left >= then + 7 * 5 * 4);
  REFUSED(cuArrayDestroy(a), CUDA_ERROR_INVALID_HANDLE);
  REFUSED(cuArrayGetDescriptor_v2(&seen, a), CUDA_ERROR_INVALID_HANDLE);

  const array_of layered(floats(4, 0, 3, array_layered));
  CUDA_ARRAY3D_DESCRIPTOR of_layered{};
  MUST(cuArray3DGetDescriptor_v2(&of_layered, layered.handle));
  CHECK(of_layered.height == 0);
  CHECK(of_layered.depth == 3);
  CHECK(of_layered.flags == array_layered);

  const auto refused = [&](const CUDA_ARRAY3D_DESCRIPTOR& d) { return cuArray3DCreate_v2(&a, &d); };
  CHECK(refused(floats(0, 1, 0)) == CUDA_ERROR_INVALID_VALUE);
  CHECK(refused({4, 4, 0, CU_AD_FORMAT_FLOAT, 3, 0}) == CUDA_ERROR_INVALID_VALUE);
  CHECK(refused({4, 4, 0, CU_AD_FORMAT_UNORM_INT8X4, 1, 0}) == CUDA_ERROR_INVALID_VALUE);
  CHECK(refused(floats(131073, 0, 0)) == CUDA_ERROR_INVALID_VALUE);
  CHECK(refused(floats(4, 0, 4)) == CUDA_ERROR_INVALID_VALUE);
  CHECK(refused(floats(4, 5, 6, array_cubemap)) == CUDA_ERROR_INVALID_VALUE);
  CHECK(refused(floats(4, 4, 0, 0x40)) == CUDA_ERROR_NOT_SUPPORTED);  // sparse
  CHECK(refused({4, 4, 0, static_cast<CUarray_format>(0xb0), 1, 0}) == CUDA_ERROR_NOT_SUPPORTED);
}

TEST_CASE("a box goes into an array and out of it, whatever the pitch") {
  const session s;
  const array_of a(floats(5, 4, 3)), b(floats(9, 6, 4));
  const std::vector<float> values = counted(5 * 4 * 3);
  put(a.handle, values, 5, 4, 3);
  CHECK(get(a.handle, 5, 4, 3) == values);
  // A window from one array into the middle of another, in a stream.
  put(b.handle, std::vector<float>(9 * 6 * 4, 0), 9, 6, 4);
  CUDA_MEMCPY3D c{};
  c.source_type = c.target_type = CU_MEMORYTYPE_ARRAY;
  c.source_array = a.handle;
  c.target_array = b.handle;
  c.source_x = sizeof(float);
  c.source_y = c.source_z = 1;
  c.target_x = 4 * sizeof(float);
  c.target_y = c.target_z = 2;
  c.width = 3 * sizeof(float);
  c.height = 3;
  c.depth = 2;
  CUstream stream = nullptr;
  MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  MUST(cuMemcpy3DAsync_v2(&c, stream));
  MUST(cuStreamSynchronize(stream));
  MUST(cuStreamDestroy_v2(stream));
  const std::vector<float> all = get(b.handle, 9, 6, 4);
  for (std::size_t z = 0; z < 4; ++z)
    for (std::size_t y = 0; y < 6; ++y)
      for (std::size_t x = 0; x < 9; ++x) {
        const bool inside = x >= 4 && x < 7 && y >= 2 && y < 5 && z >= 2;
        const float expected = inside ? values[((z - 1) * 4 + y - 1) * 5 + x - 3] : 0;
        CHECK(all[(z * 6 + y) * 9 + x] == expected);
      }
  // Outside of the array, and in the middle of an element.
  c.source_x = 3 * sizeof(float);
  REFUSED(cuMemcpy3D_v2(&c), CUDA_ERROR_INVALID_VALUE);
  c.source_x = 2;
  REFUSED(cuMemcpy3D_v2(&c), CUDA_ERROR_INVALID_VALUE);
  c.source_x = 0;
  c.target_y = 4;
  REFUSED(cuMemcpy3D_v2(&c), CUDA_ERROR_INVALID_VALUE);
  c.target_y = 0;
  c.target_array = nullptr;
  REFUSED(cuMemcpy3D_v2(&c), CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("rows are copied between an array and device memory") {
  const session s;
  const array_of a(floats(6, 3, 0));
  const std::vector<float> values = counted(18);
  put(a.handle, values, 6, 3, 1);
  CUdeviceptr rows = 0;
  MUST(cuMemAlloc_v2(&rows, 3 * 32));
  CUDA_MEMCPY2D c{};
  c.source_type = CU_MEMORYTYPE_ARRAY;
  c.source_array = a.handle;
  c.target_type = CU_MEMORYTYPE_DEVICE;
  c.target_device = rows;
  c.target_pitch = 32;
  c.width = 24;
  c.height = 3;
  MUST(cuMemcpy2D_v2(&c));
  std::vector<float> seen(6);
  MUST(cuMemcpyDtoH_v2(seen.data(), rows + 64, 24));
  CHECK(std::equal(seen.begin(), seen.end(), values.begin() + 12));
  MUST(cuMemFree_v2(rows));
}

TEST_CASE("bytes are copied into and out of an array of one dimension") {
  const session s;
  const array_of a(floats(100, 0, 0)), b(floats(100, 0, 0));
  const std::vector<float> values = counted(100);
  std::vector<float> seen(50);
  CUdeviceptr line = 0;
  MUST(cuMemAlloc_v2(&line, 400));
  MUST(cuMemcpyHtoA_v2(a.handle, 0, values.data(), 400));
  MUST(cuMemcpyAtoA_v2(b.handle, 40, a.handle, 80, 200));  // b[10 + i] = i + 21
  MUST(cuMemcpyAtoH_v2(seen.data(), b.handle, 40, 200));
  CHECK(std::equal(seen.begin(), seen.end(), values.begin() + 20));
  MUST(cuMemcpyAtoD_v2(line, a.handle, 200, 200));
  MUST(cuMemcpyDtoA_v2(b.handle, 0, line, 200));
  CUstream stream = nullptr;
  MUST(cuStreamCreate(&stream, 0));
  MUST(cuMemcpyAtoHAsync_v2(seen.data(), b.handle, 0, 200, stream));
  MUST(cuStreamSynchronize(stream));
  CHECK(std::equal(seen.begin(), seen.end(), values.begin() + 50));
  MUST(cuMemcpyHtoAAsync_v2(b.handle, 396, values.data(), 4, stream));
  MUST(cuMemcpyAtoHAsync_v2(seen.data(), b.handle, 396, 4, stream));
  MUST(cuStreamSynchronize(stream));
  CHECK(seen[0] == 1);
  MUST(cuStreamDestroy_v2(stream));
  REFUSED(cuMemcpyAtoD_v2(line, a.handle, 204, 200), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuMemcpyAtoD_v2(line, nullptr, 0, 4), CUDA_ERROR_INVALID_HANDLE);
  MUST(cuMemFree_v2(line));
}

TEST_CASE("the levels of a mipmapped array are arrays") {
  const session s;
  const CUDA_ARRAY3D_DESCRIPTOR shape = floats(20, 5, 0);
  CUmipmappedArray m = nullptr;
  MUST(cuMipmappedArrayCreate(&m, &shape, 99));
  CUarray level = nullptr;
  CUDA_ARRAY_DESCRIPTOR d{};
  const std::size_t widths[] = {20, 10, 5, 2, 1}, heights[] = {5, 2, 1, 1, 1};
  for (unsigned i = 0; i < 5; ++i) {
    MUST(cuMipmappedArrayGetLevel(&level, m, i));
    MUST(cuArrayGetDescriptor_v2(&d, level));
    CHECK(d.width == widths[i]);
    CHECK(d.height == heights[i]);
  }
  REFUSED(cuMipmappedArrayGetLevel(&level, m, 5), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuArrayDestroy(level), CUDA_ERROR_INVALID_HANDLE);
  MUST(cuMipmappedArrayGetLevel(&level, m, 1));
  put(level, counted(20), 10, 2, 1);
  CHECK(get(level, 10, 2, 1) == counted(20));
  MUST(cuMipmappedArrayDestroy(m));
  REFUSED(cuArrayGetDescriptor_v2(&d, level), CUDA_ERROR_INVALID_HANDLE);
  REFUSED(cuMipmappedArrayDestroy(m), CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("a context's arrays end with it") {
  const session s;
  CUcontext own = nullptr;
  CUarray a = nullptr;
  const CUDA_ARRAY3D_DESCRIPTOR shape = floats(4, 4, 0);
  MUST(cuCtxCreate_v2(&own, 0, 0));
  MUST(cuArray3DCreate_v2(&a, &shape));
  MUST(cuCtxDestroy_v2(own));
  REFUSED(cuArrayDestroy(a), CUDA_ERROR_INVALID_HANDLE);
}
