#pragma once
// Streams: what work waits for, and when it runs. Work runs as soon as it is put in, on the calling thread. With
// KAIO_STREAMS=delayed it runs when something waits for it, preceded only by the work that it depends on.
//
// A kernel that polls memory which others write, and a wait for a word of memory, go on on a thread of their own
// (emulator/waiting/launch_threads.hpp): the call returns, and the stream's later work stays in it. When they end, that
// thread runs what waited for them.
// Source: CUDA driver API, "Stream Management" and "API synchronization behavior"; programming guide,
// "Streams".

#include "driver_emulator/state/objects.hpp"

namespace kaio::driver_emulator {

// The stream that a handle means in the current context, also for 0, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD.
// Throws failure: unknown, no context, or a kernel has failed in its context.
std::shared_ptr<stream> find_stream(CUstream handle);
std::shared_ptr<stream> legacy_stream_of(context& c);
std::shared_ptr<stream> make_stream(context& c, unsigned flags, int priority);

// Puts work into a stream, after its other work. Nothing runs, and captures are ignored: submit
// (graph/submission.hpp) handles both. Throws failure.
stream_point put_in(const std::shared_ptr<stream>& where, work what);

// Runs the wanted work and all that it depends on. With `must_end`, waits until it has ended. Without it, work that
// polls goes on, with everything after it.
void run_until(const std::vector<stream_point>& wanted, bool must_end);

// Waits for a stream or for all streams of a context. Throws failure: a kernel has failed.
void synchronize(const std::shared_ptr<stream>& s);
void synchronize(context& c);
// Waits for all streams of a context, even if a kernel has failed.
void drain(context& c);

// Executes one piece of work, with the state unlocked. `wait`: for work that polls.
void execute(const work& what, const std::shared_ptr<context>& owner, emulator::memory_wait* wait);
// Whether the work may poll: then it needs a memory_wait.
bool may_poll(const work& what);

}  // namespace kaio::driver_emulator
