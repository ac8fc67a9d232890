// A service (service.hpp) on two emulators. In every second shift a kernel runs out of bounds: one device is lost under
// all of its threads.

#include "threads/service.hpp"

#include "catch.hpp"

using namespace service_test;

TEST_CASE("a service on two emulators, one of which is lost now and then", "[threads]") {
  for (unsigned seed = 0; seed < 24; ++seed) {
    outcome found;
    run_shift({"emulator:0", "emulator:1"}, found, 12, seed, [&](shift& at) {
      if (seed % 2 == 0) return;
      try {
        const auto x = at.gpus[1].allocate<float>(1000), y = at.gpus[1].allocate<float>(1);
        runtime_test::launch_scale(at.gpus[1].stream(), x, y, 1.0f, 1000);
        found.note_wrong("nothing was out of bounds");
      } catch (const kaio::error& e) {
        if (e.code() != kaio::errc::illegal_access) found.note_wrong(e.what());
      }
      // What the other threads do with the device has this cause; the other device works on.
      try {
        at.gpus[1].synchronize();
        found.note_wrong("the device was not lost");
      } catch (const kaio::error& e) {
        if (std::string_view(e.what()).find("first cause") == std::string_view::npos)
          found.note_wrong(e.what());
      }
      // In a stream of its own: another thread may be capturing, and the device cannot be waited for then.
      try {
        const kaio::stream own = at.gpus[0].create_stream();
        auto x = at.gpus[0].allocate<float>(n);
        const std::vector<float> ones(n, 1.0f);
        std::vector<float> got(n);
        x.copy_from(ones.data(), n, own);
        x.copy_to(got.data(), n, own);
        own.synchronize();
        if (got != ones) found.note_wrong("the other device was lost, too");
      } catch (const kaio::error& e) {
        found.note_wrong(e.what());
      }
    });
    INFO(found.wrong() << found.first_error());
    CHECK(found.wrong().empty());
    if (seed % 2 == 0) CHECK(found.errors() == 0);
  }
}
