// A program of the shared libraries: it uses their exports, and catches their exceptions by type.

#include <kaio/ops/matmul.hpp>
#include <kaio/ops/tune.hpp>
#include <kaio/runtime/runtime.hpp>
#include <kaio/weights/weights.hpp>

#include <typeinfo>
#include <vector>

#include "catch.hpp"

using namespace kaio;

TEST_CASE("memory, streams and events") {
  device gpu = device::open();
  CHECK(device::count() >= 0);
  CHECK(!gpu.name().empty());
  const std::vector<float> numbers(100, 1.5f);
  auto x = gpu.upload(numbers);
  auto y = gpu.allocate<f32>(100);
  stream s = gpu.create_stream();
  event begin = gpu.create_event(), end = gpu.create_event();
  s.record(begin);
  y.copy_from(x, s);
  s.record(end);
  s.wait(end);
  s.synchronize();
  CHECK(elapsed_ms(begin, end) >= 0);
  CHECK(y.download() == numbers);
}

TEST_CASE("an error is caught by its type") {
  const auto caught = [](auto call) -> const std::type_info* {
    try {
      call();
    } catch (const out_of_memory& e) {
      CHECK(e.code() == errc::out_of_memory);
      return &typeid(e);
    } catch (const invalid_argument& e) {
      CHECK(e.code() == errc::invalid_argument);
      return &typeid(e);
    } catch (const error& e) {
      return &typeid(e);
    }
    return nullptr;
  };
  device gpu = device::open();
  CHECK(caught([&] { gpu.allocate<f32>(std::size_t{1} << 50); }) == &typeid(out_of_memory));
  CHECK(caught([] { device::open("no such device"); }) == &typeid(invalid_argument));
  const stream null;
  CHECK(caught([&] { null.synchronize(); }) == &typeid(invalid_argument));
  const tensor_view<f32, 2> nothing;
  CHECK(caught([&] { matmul(gpu.stream(), nothing, nothing, nothing); }) == &typeid(invalid_argument));
  CHECK(to_string(errc::jit_failed) == "jit_failed");
}

TEST_CASE("an operation") {
  device gpu = device::open();
  auto x = gpu.upload(std::vector<float>(64, 1.0f)), y = gpu.upload(std::vector<float>(64, 2.0f));
  auto z = gpu.allocate<f32>(64);
  const tensor_view a(x, 8, 8), b(y, 8, 8), c(z, 8, 8);
  matmul(gpu.stream(), a, b, c);
  CHECK(z.download() == std::vector<float>(64, 16.0f));
  CHECK(!ops::matmul_choice(gpu.stream(), a, b, c).name.empty());
  CHECK(ops::matmul_workspace_bytes(gpu.stream(), a, b, c) < 1024);
  ops::forget_tuning();
}

TEST_CASE("files of weights") {
  const char text[] = "\x35\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}\1\2";
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text)).first(8 + 0x35 + 2);
  const safetensors_file file = safetensors_file::view(bytes, "m.safetensors");
  CHECK(read_values(*file.find("w")) == std::vector<float>{1, 2});
  CHECK(quantised_layers(file.tensors()).empty());
  CHECK(operation_of(quantised_layer{}).empty());
  CHECK(obstacle_of(quantised_layer{}) == "it has no codes");
  CHECK(facts(weight_format::q4_k).block_bytes == 144);
  CHECK(weights::to_string(weight_part::zero_points) == "zero points");
  CHECK_THROWS_AS(gguf_file::view(bytes, "m.gguf"), file_error);
  CHECK_THROWS_AS(gguf_file::open("/no/such/file.gguf"), file_error);
  CHECK_THROWS_AS(read_quantisation_config("/no/such/config.json"), file_error);
}
