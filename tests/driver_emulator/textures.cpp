// Texture and surface objects of the driver: kernels that read and write through them, their descriptors, and what is
// refused.

#include <algorithm>
#include <cstring>

#include "driver_emulator/support.hpp"

using namespace driver_emulator_test;

namespace {

// Compiled by nvcc 13.0 for sm_75 from
//
//   __global__ void sample(cudaTextureObject_t from, const float2* at, float* to) {
//     const float2 p = at[threadIdx.x];
//     to[threadIdx.x] = tex2D<float>(from, p.x, p.y);
//   }
//   __global__ void layer(cudaTextureObject_t from, int index, float4* to) {
//     to[threadIdx.x] = tex2DLayered<float4>(from, threadIdx.x % 4 + 0.5f, threadIdx.x / 4 + 0.5f, index);
//   }
//   __global__ void fetch(cudaTextureObject_t from, int* to) {
//     to[threadIdx.x] = tex1Dfetch<signed char>(from, threadIdx.x);
//   }
//   __global__ void move(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
//     const float value = surf2Dread<float>(from, threadIdx.x * 4, threadIdx.y);
//     surf2Dwrite(value + 1, to, threadIdx.x * 4, threadIdx.y);
//   }
const std::string text = R"(.version 9.0
.target sm_75
.address_size 64
.visible .entry sample(
    .param .u64 sample_param_0,
    .param .u64 sample_param_1,
    .param .u64 sample_param_2
)
{
  .reg .f32 %f<9>;
  .reg .b32 %r<2>;
  .reg .b64 %rd<10>;
  ld.param.u64 %rd1, [sample_param_0];
  ld.param.u64 %rd2, [sample_param_1];
  ld.param.u64 %rd3, [sample_param_2];
  cvta.to.global.u64 %rd4, %rd3;
  cvta.to.global.u64 %rd5, %rd2;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd6, %r1, 8;
  add.s64 %rd7, %rd5, %rd6;
  ld.global.v2.f32 {%f1, %f2}, [%rd7];
  tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd1, {%f1, %f2}];
  mul.wide.u32 %rd8, %r1, 4;
  add.s64 %rd9, %rd4, %rd8;
  st.global.f32 [%rd9], %f5;
  ret;
}
.visible .entry layer(
    .param .u64 layer_param_0,
    .param .u32 layer_param_1,
    .param .u64 layer_param_2
)
{
  .reg .f32 %f<9>;
  .reg .b32 %r<5>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [layer_param_0];
  ld.param.u32 %r1, [layer_param_1];
  ld.param.u64 %rd2, [layer_param_2];
  cvta.to.global.u64 %rd3, %rd2;
  mov.u32 %r2, %tid.x;
  and.b32 %r3, %r2, 3;
  cvt.rn.f32.u32 %f1, %r3;
  add.f32 %f2, %f1, 0f3F000000;
  shr.u32 %r4, %r2, 2;
  cvt.rn.f32.u32 %f3, %r4;
  add.f32 %f4, %f3, 0f3F000000;
  mul.wide.u32 %rd4, %r2, 16;
  add.s64 %rd5, %rd3, %rd4;
  tex.a2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd1, {%r1, %f2, %f4, %f4}];
  st.global.v4.f32 [%rd5], {%f5, %f6, %f7, %f8};
  ret;
}
.visible .entry fetch(
    .param .u64 fetch_param_0,
    .param .u64 fetch_param_1
)
{
  .reg .b32 %r<7>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [fetch_param_0];
  ld.param.u64 %rd2, [fetch_param_1];
  cvta.to.global.u64 %rd3, %rd2;
  mov.u32 %r1, %tid.x;
  tex.1d.v4.s32.s32 {%r2, %r3, %r4, %r5}, [%rd1, {%r1}];
  cvt.s32.s8 %r6, %r2;
  mul.wide.u32 %rd4, %r1, 4;
  add.s64 %rd5, %rd3, %rd4;
  st.global.u32 [%rd5], %r6;
  ret;
}
.visible .entry move(
    .param .u64 move_param_0,
    .param .u64 move_param_1
)
{
  .reg .f32 %f<3>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [move_param_0];
  ld.param.u64 %rd2, [move_param_1];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, %tid.y;
  suld.b.2d.b32.trap {%r4}, [%rd1, {%r2, %r3}];
  mov.b32 %f1, %r4;
  add.f32 %f2, %f1, 0f3F800000;
  mov.b32 %r5, %f2;
  sust.b.2d.b32.trap [%rd2, {%r2, %r3}], {%r5};
  ret;
}
)";

struct array_of {
  CUarray handle = nullptr;
  explicit array_of(const CUDA_ARRAY3D_DESCRIPTOR& d) { MUST(cuArray3DCreate_v2(&handle, &d)); }
  ~array_of() { cuArrayDestroy(handle); }
  array_of(const array_of&) = delete;
  array_of& operator=(const array_of&) = delete;
  // Copies dense rows of elements to the array.
  template <class T>
  void write(const std::vector<T>& values) const {
    copy(values.data(), nullptr, sizeof(T));
  }
  template <class T>
  std::vector<T> read(std::size_t count) const {
    std::vector<T> values(count);
    copy(nullptr, values.data(), sizeof(T));
    return values;
  }

 private:
  void copy(const void* from, void* to, std::size_t bytes) const {
    CUDA_ARRAY3D_DESCRIPTOR d;
    MUST(cuArray3DGetDescriptor_v2(&d, handle));
    CUDA_MEMCPY3D c{};
    c.source_type = from != nullptr ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    c.target_type = from != nullptr ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    c.source_host = from;
    c.target_host = to;
    (from != nullptr ? c.target_array : c.source_array) = handle;
    c.width = d.width * d.channels * bytes;
    c.height = std::max<std::size_t>(d.height, 1);
    c.depth = std::max<std::size_t>(d.depth, 1);
    c.source_pitch = c.target_pitch = c.width;
    c.source_height = c.target_height = c.height;
    MUST(cuMemcpy3D_v2(&c));
  }
};

CUDA_RESOURCE_DESC resource_of(const array_of& a) {
  CUDA_RESOURCE_DESC d{};
  d.type = CU_RESOURCE_TYPE_ARRAY;
  d.array = a.handle;
  return d;
}

CUDA_RESOURCE_DESC linear_resource(CUdeviceptr address, CUarray_format format, unsigned channels,
                                   std::size_t bytes) {
  CUDA_RESOURCE_DESC d{};
  d.type = CU_RESOURCE_TYPE_LINEAR;
  d.linear = {address, format, channels, bytes};
  return d;
}

CUDA_TEXTURE_DESC sampler_of(CUaddress_mode mode, CUfilter_mode filter, unsigned flags = 0) {
  CUDA_TEXTURE_DESC d{};
  std::fill(d.address, d.address + 3, mode);
  d.filter = filter;
  d.flags = flags;
  return d;
}

const CUDA_TEXTURE_DESC plain = sampler_of(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT);

struct texture_of {
  CUtexObject handle = 0;
  texture_of(const CUDA_RESOURCE_DESC& r, const CUDA_TEXTURE_DESC& t) {
    MUST(cuTexObjectCreate(&handle, &r, &t, nullptr));
  }
  ~texture_of() { cuTexObjectDestroy(handle); }
  texture_of(const texture_of&) = delete;
  texture_of& operator=(const texture_of&) = delete;
};

struct surface_of {
  CUsurfObject handle = 0;
  explicit surface_of(const array_of& a) {
    const CUDA_RESOURCE_DESC d = resource_of(a);
    MUST(cuSurfObjectCreate(&handle, &d));
  }
  ~surface_of() { cuSurfObjectDestroy(handle); }
  surface_of(const surface_of&) = delete;
  surface_of& operator=(const surface_of&) = delete;
};

template <class... Arguments>
CUresult run(CUfunction f, unsigned x, unsigned y, Arguments... arguments) {
  void* parameters[] = {&arguments...};
  const CUresult launched = cuLaunchKernel(f, 1, 1, 1, x, y, 1, 0, nullptr, parameters, nullptr);
  return launched != CUDA_SUCCESS ? launched : cuCtxSynchronize();
}

std::uint32_t word_of(float value) {
  std::uint32_t word;
  std::memcpy(&word, &value, sizeof word);
  return word;
}
std::vector<std::uint32_t> words_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> result(values.size());
  std::transform(values.begin(), values.end(), result.begin(), word_of);
  return result;
}

CUresult creation(const CUDA_RESOURCE_DESC& r, const CUDA_TEXTURE_DESC& t,
                  const CUDA_RESOURCE_VIEW_DESC* view = nullptr) {
  CUtexObject o = 0;
  const CUresult result = cuTexObjectCreate(&o, &r, &t, view);
  if (result == CUDA_SUCCESS) cuTexObjectDestroy(o);
  return result;
}

}  // namespace

TEST_CASE("a texture of an array: filter, normalized coordinates and border") {
  const session s;
  const loaded m(text);
  const array_of a({4, 2, 0, CU_AD_FORMAT_FLOAT, 1, 0});
  a.write<float>({0, 10, 20, 30, 40, 50, 60, 70});
  CUDA_TEXTURE_DESC t =
      sampler_of(CU_TR_ADDRESS_MODE_BORDER, CU_TR_FILTER_MODE_LINEAR, normalized_coordinates);
  t.border_color[0] = 100;
  const texture_of from(resource_of(a), t);
  // (1.5, 0.5), (2, 1), (-1, 0.5) and (0, 0.5) in texels
  const numbers at(words_of({0.375f, 0.25f, 0.5f, 0.5f, -0.25f, 0.25f, 0, 0.25f})), to(4);
  MUST(run(m["sample"], 4, 1, from.handle, at.address, to.address));
  CHECK(to.read() == words_of({10, 35, 100, 50}));
}

TEST_CASE("a texture of pitched memory reads bytes as fractions") {
  const session s;
  const loaded m(text);
  const numbers bytes(
      std::vector<std::uint32_t>{0x00ff3300, 0, 0, 0, 0, 0, 0, 0, 0x00006600, 0, 0, 0, 0, 0, 0, 0});
  CUDA_RESOURCE_DESC r{};
  r.type = CU_RESOURCE_TYPE_PITCH2D;
  r.pitched = {bytes.address, CU_AD_FORMAT_UNSIGNED_INT8, 1, 3, 2, 32};
  const texture_of from(r, plain);
  const numbers at(words_of({0.5f, 0.5f, 1.5f, 0.5f, 2.5f, 0.5f, 1.5f, 1.5f})), to(4);
  MUST(run(m["sample"], 4, 1, from.handle, at.address, to.address));
  CHECK(to.read() == words_of({0, 0.2f, 1, 0.4f}));
}

TEST_CASE("a texture of linear memory reads integers") {
  const session s;
  const loaded m(text);
  const numbers bytes(std::vector<std::uint32_t>{0x80fe0201, 0x7f}), to(8);
  const texture_of from(linear_resource(bytes.address, CU_AD_FORMAT_SIGNED_INT8, 1, 5),
                        sampler_of(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, read_as_integer));
  MUST(run(m["fetch"], 6, 1, from.handle, to.address));
  CHECK(to.read() == std::vector<std::uint32_t>{1, 2, 0xfffffffe, 0xffffff80, 127, 0, 0, 0});
}

TEST_CASE("a texture of layers of normalised elements") {
  const session s;
  const loaded m(text);
  const array_of a({4, 2, 3, CU_AD_FORMAT_UNORM_INT8X4, 4, array_layered});
  std::vector<std::uint8_t> values(4 * 2 * 3 * 4);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<std::uint8_t>(k * 2);
  a.write(values);
  const texture_of from(resource_of(a), plain);
  const numbers to(32);
  MUST(run(m["layer"], 8, 1, from.handle, 2, to.address));
  std::vector<float> want;
  for (std::size_t k = 64; k < 96; ++k) want.push_back(static_cast<float>(values[k] / 255.0));
  CHECK(to.read() == words_of(want));
}

TEST_CASE("surfaces of arrays") {
  const session s;
  const loaded m(text);
  const CUDA_ARRAY3D_DESCRIPTOR shape{5, 3, 0, CU_AD_FORMAT_FLOAT, 1, array_surface};
  const array_of a(shape), b(shape);
  std::vector<float> values(15);
  for (std::size_t k = 0; k < 15; ++k) values[k] = static_cast<float>(k * k);
  a.write(values);
  const surface_of from(a), to(b);
  MUST(run(m["move"], 5, 3, from.handle, to.handle));
  for (float& v : values) v += 1;
  CHECK(b.read<float>(15) == values);
}

TEST_CASE("descriptors of texture and surface objects are returned") {
  const session s;
  const array_of a({4, 2, 0, CU_AD_FORMAT_FLOAT, 1, array_surface});
  const CUDA_RESOURCE_DESC r = resource_of(a);
  CUDA_TEXTURE_DESC t = plain;
  t.border_color[2] = 3;
  CUDA_RESOURCE_VIEW_DESC view{};
  view.width = 4, view.height = 2;
  CUtexObject o = 0;
  MUST(cuTexObjectCreate(&o, &r, &t, &view));
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC texture{};
  CUDA_RESOURCE_VIEW_DESC seen{};
  MUST(cuTexObjectGetResourceDesc(&resource, o));
  MUST(cuTexObjectGetTextureDesc(&texture, o));
  MUST(cuTexObjectGetResourceViewDesc(&seen, o));
  CHECK(resource.array == a.handle);
  CHECK(texture.border_color[2] == 3);
  CHECK(seen.height == 2);
  MUST(cuTexObjectDestroy(o));
  REFUSED(cuTexObjectDestroy(o), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuTexObjectGetTextureDesc(&texture, o), CUDA_ERROR_INVALID_VALUE);
  const texture_of without(r, plain);
  REFUSED(cuTexObjectGetResourceViewDesc(&seen, without.handle), CUDA_ERROR_INVALID_VALUE);
  const surface_of surface(a);
  MUST(cuSurfObjectGetResourceDesc(&resource, surface.handle));
  CHECK(resource.array == a.handle);
  REFUSED(cuTexObjectDestroy(surface.handle), CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("textures and surfaces that are refused") {
  const session s;
  const array_of a({4, 2, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0});
  const numbers data(1024);
  const CUDA_RESOURCE_DESC integers = resource_of(a);
  const auto linear = [&](CUdeviceptr address, unsigned channels, std::size_t bytes) {
    return creation(linear_resource(address, CU_AD_FORMAT_FLOAT, channels, bytes), plain);
  };
  const auto pitched = [&](std::size_t width, std::size_t pitch) {
    CUDA_RESOURCE_DESC r{};
    r.type = CU_RESOURCE_TYPE_PITCH2D;
    r.pitched = {data.address, CU_AD_FORMAT_FLOAT, 1, width, 2, pitch};
    return creation(r, plain);
  };
  MUST(linear(data.address, 1, 4096));
  REFUSED(linear(data.address + 4, 1, 4096), CUDA_ERROR_INVALID_VALUE);
  REFUSED(linear(data.address, 3, 4096), CUDA_ERROR_INVALID_VALUE);
  REFUSED(linear(data.address, 1, 3), CUDA_ERROR_INVALID_VALUE);
  MUST(pitched(8, 32));
  REFUSED(pitched(9, 32), CUDA_ERROR_INVALID_VALUE);
  REFUSED(pitched(8, 40), CUDA_ERROR_INVALID_VALUE);
  MUST(creation(integers, plain));
  REFUSED(creation(integers, sampler_of(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR)),
          CUDA_ERROR_INVALID_VALUE);
  REFUSED(creation(integers, sampler_of(static_cast<CUaddress_mode>(4), CU_TR_FILTER_MODE_POINT)),
          CUDA_ERROR_INVALID_VALUE);
  REFUSED(creation(integers, sampler_of(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, srgb)),
          CUDA_ERROR_NOT_SUPPORTED);
  CUDA_TEXTURE_DESC colored = sampler_of(CU_TR_ADDRESS_MODE_BORDER, CU_TR_FILTER_MODE_POINT);
  MUST(creation(integers, colored));
  colored.border_color[0] = 1;
  REFUSED(creation(integers, colored), CUDA_ERROR_NOT_SUPPORTED);
  CUDA_RESOURCE_VIEW_DESC part{};
  part.width = 2, part.height = 2;
  REFUSED(creation(integers, plain, &part), CUDA_ERROR_NOT_SUPPORTED);
  CUDA_RESOURCE_DESC other = integers;
  other.flags = 1;
  REFUSED(creation(other, plain), CUDA_ERROR_INVALID_VALUE);
  other = integers;
  other.array = nullptr;
  REFUSED(creation(other, plain), CUDA_ERROR_INVALID_HANDLE);
  other.type = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  REFUSED(creation(other, plain), CUDA_ERROR_NOT_SUPPORTED);
  CUsurfObject o = 0;
  REFUSED(cuSurfObjectCreate(&o, &integers), CUDA_ERROR_INVALID_VALUE);
  const CUDA_RESOURCE_DESC memory = linear_resource(data.address, CU_AD_FORMAT_FLOAT, 1, 4096);
  REFUSED(cuSurfObjectCreate(&o, &memory), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuSurfObjectDestroy(12345), CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("a destroyed texture fails the kernel that reads it") {
  kaio_emulator_reset();
  CUcontext context = nullptr;
  MUST(cuInit(0));
  MUST(cuCtxCreate_v2(&context, 0, 0));
  CUmodule module = nullptr;
  CUfunction fetch = nullptr;
  MUST(cuModuleLoadData(&module, text.c_str()));
  MUST(cuModuleGetFunction(&fetch, module, "fetch"));
  CUdeviceptr data = 0;
  MUST(cuMemAlloc_v2(&data, 1024));
  const CUDA_RESOURCE_DESC r = linear_resource(data, CU_AD_FORMAT_SIGNED_INT8, 1, 512);
  CUtexObject o = 0;
  MUST(cuTexObjectCreate(&o, &r, &plain, nullptr));
  MUST(cuTexObjectDestroy(o));
  REFUSED(run(fetch, 4, 1, o, data), CUDA_ERROR_LAUNCH_FAILED);
  MUST(cuCtxDestroy_v2(context));
}

TEST_CASE("the limits of textures are attributes of the device") {
  const session s;
  const auto value = [](CUdevice_attribute a) {
    int v = -1;
    MUST(cuDeviceGetAttribute(&v, a, 0));
    return v;
  };
  CHECK(value(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT) == 256);
  CHECK(value(CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT) == 32);
  CHECK(value(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH) == 1 << 28);
  CHECK(value(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH) == 16384);
}
