// Which file is loaded as the driver, and the message for a missing or wrong one.

#include <kaio/runtime/error.hpp>

#include <string>
#include <vector>

#include "catch.hpp"
#include "runtime/driver/cuda_devices.hpp"
#include "runtime/driver/library.hpp"

namespace driver = kaio::runtime::driver;

TEST_CASE("the driver is loaded by its soname unless an absolute path says otherwise") {
  CHECK(driver::library_file("") == driver::system_library);
#if defined(_WIN32)
  const std::string absolute = "C:/opt/nvcuda.dll";
  CHECK_THROWS_AS(driver::library_file("/opt/nvcuda.dll"),
                  kaio::invalid_argument);  // its drive depends on the folder
#else
  const std::string absolute = "/opt/libcuda.so.1";
#endif
  CHECK(driver::library_file(absolute) == absolute);
  CHECK_THROWS_AS(driver::library_file("libcuda.so.1"), kaio::invalid_argument);
  CHECK_THROWS_AS(driver::library_file("./libcuda.so.1"), kaio::invalid_argument);
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

TEST_CASE("elements of the search path that are not absolute are found, and the others kept in order") {
  using folders = std::vector<std::string>;
  const auto of = [](const char* text) { return driver::search_path(text); };
  CHECK(of("").unsafe.empty());
  CHECK(of("").folders.empty());
  CHECK(of("/usr/lib:/lib").unsafe.empty());
  CHECK(of("/usr/lib:/lib").folders == folders{"/usr/lib", "/lib"});
  CHECK(of("/usr/lib::/lib").unsafe == ".");
  CHECK(of("/usr/lib::/lib").folders == folders{"/usr/lib", "/lib"});
  CHECK(of("/usr/lib:").unsafe == ".");
  CHECK(of(":/usr/lib").unsafe == ".");
  CHECK(of(";").unsafe == ".");
  CHECK(of("/usr/lib;sub:/lib").unsafe == "sub");
  CHECK(of("/usr/lib;sub:/lib").folders == folders{"/usr/lib", "/lib"});
  CHECK(of("./here").unsafe == "./here");
  CHECK(of("$ORIGIN/lib:/lib").unsafe == "$ORIGIN/lib");
  CHECK(of("${LIB}").unsafe == "${LIB}");
  CHECK(of("$PLATFORM").unsafe == "$PLATFORM");
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
