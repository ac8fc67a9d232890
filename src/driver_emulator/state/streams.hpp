#pragma once
// Streams: what work waits for, and when it runs. Work runs as soon as it is put in, or, with
// KAIO_STREAMS=delayed, when something waits for it: then, too, only what it depends on runs before it.
// Source: CUDA driver API, "Stream Management" and "API synchronization behavior"; programming guide,
// "Streams".

#include "driver_emulator/state/objects.hpp"

namespace kaio::driver_emulator {

// The stream that a handle means in the current context: 0, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD too.
// Throws failure: unknown, no context, or a kernel has failed in its context.
std::shared_ptr<stream> find_stream(CUstream handle);
std::shared_ptr<stream> legacy_stream_of(context& c);
std::shared_ptr<stream> make_stream(context& c, unsigned flags, int priority);

// Puts work into a stream, after what it has. Nothing runs, and captures are not looked at: that is for
// submit (graph/submission.hpp). Throws failure.
stream_point put_in(const std::shared_ptr<stream>& where, work what);

// Runs what is wanted and all that it depends on. With `must_end`, work that waits for a word of memory is
// waited for; without, it stays in its stream with what comes after it.
void run_until(const std::vector<stream_point>& wanted, bool must_end);

// Waits for a stream or for all streams of a context. Throws failure: a kernel has failed.
void synchronize(const std::shared_ptr<stream>& s);
void synchronize(context& c);
// The same, whatever the work ends in.
void drain(context& c);

// Executes one piece of work, with the state unlocked. False: it waits for a word of memory.
bool execute(const work& what, const std::shared_ptr<context>& owner, bool must_end);

}  // namespace kaio::driver_emulator
