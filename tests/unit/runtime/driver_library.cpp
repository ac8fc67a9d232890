// Which file is loaded as the driver, and the message for a missing or wrong one.

#include <kaio/runtime/error.hpp>

#include <filesystem>
#include <fstream>
#include <string>

#include "catch.hpp"
#include "runtime/driver/cuda_devices.hpp"
#include "runtime/driver/library.hpp"

namespace driver = kaio::runtime::driver;

TEST_CASE("the driver is loaded by its soname unless an absolute path says otherwise") {
  CHECK(driver::library_file(nullptr, false) == driver::system_library);
  CHECK(driver::library_file("", false) == driver::system_library);
  CHECK(driver::library_file("/opt/libcuda.so.1", false) == "/opt/libcuda.so.1");
  CHECK_THROWS_AS(driver::library_file("libcuda.so.1", false), kaio::invalid_argument);
  CHECK_THROWS_AS(driver::library_file("./libcuda.so.1", false), kaio::invalid_argument);
}

TEST_CASE("the override is ignored in a program with more rights than its caller") {
  CHECK(driver::library_file("/opt/libcuda.so.1", true) == driver::system_library);
  CHECK(driver::library_file("libcuda.so.1", true) == driver::system_library);
}

TEST_CASE("a missing library is driver_missing, and the text says what to do") {
  try {
    driver::load_library("/nonexistent/libcuda.so.1");
    FAIL("nothing was thrown");
  } catch (const kaio::driver_missing& e) {
    const std::string text = e.what();
    CHECK(text.find("kaio: the NVIDIA driver library /nonexistent/libcuda.so.1 cannot be loaded") == 0);
    CHECK(text.find("KAIO_DEVICE=emulator") != std::string::npos);
  }
}

#if defined(__linux__)
TEST_CASE("a library that is not a driver is driver_missing, and the text names the function") {
  try {
    driver::load_library("libc.so.6");
    FAIL("nothing was thrown");
  } catch (const kaio::driver_missing& e) {
    CHECK(std::string(e.what()).find("has no function cuInit") != std::string::npos);
  }
}
#endif

TEST_CASE("an element of the search path that means the current directory is refused if it holds the file") {
  const auto before = std::filesystem::current_path();
  const auto folder = std::filesystem::temp_directory_path() / "kaio_search_path_test";
  std::filesystem::create_directories(folder / "sub");
  std::filesystem::current_path(folder);
  CHECK(driver::unsafe_search_element("/usr/lib::/lib", "libcuda.so.1").empty());
  std::ofstream("libcuda.so.1") << "x";
  std::ofstream("sub/libcuda.so.1") << "x";
  CHECK(driver::unsafe_search_element("/usr/lib:/lib", "libcuda.so.1").empty());
  CHECK(driver::unsafe_search_element("/usr/lib::/lib", "libcuda.so.1") == ".");
  CHECK(driver::unsafe_search_element("/usr/lib:", "libcuda.so.1") == ".");
  CHECK(driver::unsafe_search_element("/usr/lib:sub", "libcuda.so.1") == "sub");
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
}

TEST_CASE("each driver has the newest PTX ISA of its CUDA version") {
  using version = kaio::ptx::isa_version;
  CHECK(driver::newest_ptx(11040) == version{7, 4});
  CHECK(driver::newest_ptx(12000) == version{8, 0});
  CHECK(driver::newest_ptx(12060) == version{8, 5});
  CHECK(driver::newest_ptx(13000) == version{9, 0});
  CHECK(driver::newest_ptx(20000) == version{255, 255});
  CHECK(driver::newest_ptx(8000) < version{6, 0});
}
