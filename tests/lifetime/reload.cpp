// A device that stays open while libraries with kernels come and go runs the kernel of the library that is
// loaded.
//
//   reload FIRST SECOND     two builds of plugin.cpp, with factors 2 and 3
#include <kaio/runtime/runtime.hpp>

#include <dlfcn.h>

#include <cstdio>
#include <filesystem>

namespace {

float run(const std::filesystem::path& file, const kaio::device& gpu) {
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::printf("%s\n", dlerror());
    return 0;
  }
  const auto call = reinterpret_cast<float (*)(const kaio::device&)>(dlsym(library, "scaled_one"));
  const float result = call(gpu);
  dlclose(library);
  if (dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD) != nullptr) {
    std::printf("%s was not unloaded\n", file.c_str());
    return 0;
  }
  return result;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const std::filesystem::path builds[] = {std::filesystem::absolute(arguments[1]),
                                          std::filesystem::absolute(arguments[2])};
  const std::filesystem::path file = builds[0].parent_path() / "kaio_reloaded.so";
  const kaio::device gpu = kaio::device::open();
  int failed = 0;
  for (const int which : {0, 1, 0, 0, 1}) {
    // Another file under the same name, as a build writes it.
    std::filesystem::remove(file);
    std::filesystem::copy_file(builds[which], file);
    const float result = run(file, gpu), wanted = which == 0 ? 2.0f : 3.0f;
    if (result == wanted) continue;
    std::printf("build %d: %g instead of %g\n", which, static_cast<double>(result),
                static_cast<double>(wanted));
    ++failed;
  }
  std::filesystem::remove(file);
  return failed;
}
