#!/usr/bin/env python3
"""The file that KAIO_TRACE asks for: what it has of a program, from the emulator and from the driver's side of the runtime.

usage: trace_test.py TRACED DRIVER     the program of traced.cpp, and libkaio_cuda_emulator.so
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

traced, driver = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
del sys.argv[1:]

SIDES = {"emulator": {"KAIO_DEVICE": "emulator"}, "driver": {"KAIO_DEVICE": "cuda:0", "KAIO_CUDA_LIBRARY": driver}}
KEPT = ("KAIO_STREAMS",)


def run(scenario, folder, **variables):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("KAIO_") or k in KEPT}
    return subprocess.run([traced, scenario], cwd=folder, env=kept | variables, text=True, capture_output=True, timeout=60)


class trace:
    """The events of a file, which have to follow the rules of the format."""

    def __init__(self, text):
        self.whole = json.loads(text)
        self.events = self.whole["traceEvents"]
        self.slices = [e for e in self.events if e["ph"] == "X"]
        named = [e for e in self.events if e["ph"] == "M"]
        self.processes = {e["pid"]: e["args"]["name"] for e in named if e["name"] == "process_name"}
        self.rows = {(e["pid"], e["tid"]): e["args"]["name"] for e in named if e["name"] == "thread_name"}
        self.left_out = self.whole["otherData"]["slices left out"]

    def host(self, category=None):
        return [s for s in self.slices if s["pid"] == 1 and category in (None, s["cat"])]

    def device(self, category=None):
        return [s for s in self.slices if s["pid"] != 1 and category in (None, s["cat"])]

    def check_rules(self, test):
        rows = collections.defaultdict(list)
        for s in self.slices:
            test.assertGreaterEqual(s["ts"], 0)
            test.assertGreaterEqual(s["dur"], 0)
            test.assertTrue(s["name"])
            test.assertIn((s["pid"], s["tid"]), self.rows)
            test.assertIn(s["pid"], self.processes)
            rows[s["pid"], s["tid"]].append(s)
        # A viewer takes the rows of all processes for one list of numbers: none appears twice.
        test.assertEqual(len(self.rows), len({tid for _, tid in self.rows}))
        for (pid, _), slices in rows.items():
            test.assertEqual(slices, sorted(slices, key=lambda s: s["ts"]))  # sorted() keeps the order of equals
            enclosing = []
            for s in slices:
                end = s["ts"] + s["dur"] - 0.0005
                while enclosing and enclosing[-1] <= s["ts"] + 0.0005:
                    enclosing.pop()
                if enclosing:
                    test.assertEqual(pid, 1, f"work of a stream overlaps: {s}")
                    test.assertLessEqual(end, enclosing[-1] + 0.001, f"half in another slice: {s}")
                enclosing.append(s["ts"] + s["dur"])
        # Each arrow has a beginning in the call and an end at the work, which comes later.
        begins = {e["id"]: e for e in self.events if e["ph"] == "s"}
        ends = {e["id"]: e for e in self.events if e["ph"] == "f"}
        test.assertEqual(begins.keys(), ends.keys())
        test.assertEqual(len(begins), sum(e["ph"] == "s" for e in self.events))
        starts = collections.defaultdict(set)
        for s in self.slices:
            starts[s["pid"], s["tid"]].add(s["ts"])
        for arrow in list(begins.values()) + list(ends.values()):
            test.assertIn(arrow["ts"], starts[arrow["pid"], arrow["tid"]])
        for number, begin in begins.items():
            test.assertEqual(begin["pid"], 1)
            test.assertNotEqual(ends[number]["pid"], 1)
            # Two clocks of a GPU are matched to some microseconds.
            test.assertLess(begin["ts"], ends[number]["ts"] + 50)
        test.assertEqual(len(begins), len(self.device()))


class trace_test(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name) / "trace.json"
        self.addCleanup(self.folder.cleanup)

    def traced(self, scenario, side, **variables):
        done = run(scenario, self.folder.name, **SIDES[side], **{"KAIO_TRACE": str(self.path)} | variables)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.output = done
        result = trace(self.path.read_text())
        result.check_rules(self)
        # A file appears as a whole: nothing else is left in its folder.
        self.assertEqual([p.name for p in pathlib.Path(self.folder.name).iterdir()], ["trace.json"])
        return result

    def on_both_sides(self, scenario, **variables):
        for side in SIDES:
            with self.subTest(side=side):
                yield side, self.traced(scenario, side, **variables)

    def test_everything_that_a_program_does_is_in_its_trace(self):
        for side, t in self.on_both_sides("everything"):
            self.assertEqual(t.left_out, 0)
            self.assertEqual(t.whole["otherData"]["slices without a time"], 0)
            self.assertTrue(t.processes[1].startswith("host: process "))
            self.assertIn("cuda:0" if side == "driver" else "emulator (sm_90a)", t.processes[2])
            self.assertEqual([s["name"] for s in t.device("kernel")], ["scale"] * 3)
            kernel = t.device("kernel")[0]["args"]
            self.assertEqual((kernel["grid"], kernel["block"], kernel["shared bytes"]), ("4 x 1 x 1", "64 x 1 x 1", 0))
            self.assertNotIn("cluster", kernel)
            if side == "emulator":
                self.assertGreater(kernel["warp instructions"], 8)
            copies = collections.Counter(s["name"] for s in t.device("copy"))
            self.assertEqual(copies, {"to device": 1, "on device": 1, "to host": 2})
            for copy in t.device("copy"):
                self.assertEqual(copy["args"]["bytes"], 1024)
                if copy["dur"] > 0:
                    self.assertAlmostEqual(copy["args"]["GB/s"], 1.024 / copy["dur"], delta=0.01 + 0.01 / copy["dur"])
            # On a GPU the driver's memory is filled as well.
            self.assertEqual([s["name"] for s in t.device("fill")], ["zeros"] * (2 if side == "driver" else 1))
            calls = collections.Counter(s["name"] for s in t.host())
            for name, count in {"launch scale": 3, "upload": 1, "download": 1, "load scale": 1, "synchronize stream": 1,
                                "synchronize event": 1, "synchronize device": 1, "copy to device": 1, "copy to host": 2,
                                "copy on device": 1, "allocate": 2, "free": 2, "allocate on the host": 1}.items():
                self.assertEqual(calls[name], count, name)
            load = next(s for s in t.host() if s["name"] == "load scale")
            self.assertEqual(load["args"]["how"], "compiled" if side == "driver" else "parsed")
            if side == "driver":
                self.assertEqual({t.rows[2, s["tid"]] for s in t.device("kernel")}, {"the device's own stream", "stream 1"})

    def test_an_operation_has_its_arguments_and_the_kernels_it_launches(self):
        for _, t in self.on_both_sides("everything"):
            inner, outer = sorted(t.host("operation"), key=lambda s: s["dur"])
            self.assertEqual((outer["name"], inner["name"]), ('double "twice"', "double again"))
            self.assertEqual(outer["args"], {"x": "f32 16 x 16", "workspace bytes": 4096, "kernels": ["scale"]})
            self.assertEqual(inner["args"], {"kernels": ["scale"]})
            self.assertLessEqual(outer["ts"], inner["ts"])
            self.assertLessEqual(inner["ts"] + inner["dur"], outer["ts"] + outer["dur"] + 0.001)
            within = [s for s in t.host("kernel") if outer["ts"] <= s["ts"] < outer["ts"] + outer["dur"]]
            self.assertEqual(len(within), 2)

    def test_work_of_a_stream_is_in_the_order_in_which_it_was_queued(self):
        for _, t in self.on_both_sides("many"):
            of_device = {e["id"]: e["ts"] for e in t.events if e["ph"] == "f"}
            of_host = {e["id"]: e["ts"] for e in t.events if e["ph"] == "s"}
            self.assertEqual(len(t.device("kernel")), 2000)
            self.assertEqual(sorted(of_device, key=lambda i: (of_device[i], i)), sorted(of_host, key=lambda i: (of_host[i], i)))

    def test_each_thread_has_a_row(self):
        for side, t in self.on_both_sides("threads"):
            launches = collections.Counter(s["tid"] for s in t.host() if s["name"] == "launch scale")
            self.assertEqual(sorted(launches.values()), [20, 20, 20])
            self.assertEqual(sorted(name for (pid, _), name in t.rows.items() if pid == 1), [f"thread {i}" for i in (1, 2, 3, 4)])
            if side == "driver":
                self.assertEqual(sorted(collections.Counter(s["tid"] for s in t.device("kernel")).values()), [20, 20, 20])
            self.assertEqual(len(t.device("kernel")), 60)

    def test_slices_beyond_the_limit_are_counted(self):
        for _, t in self.on_both_sides("many", KAIO_TRACE_SLICES="100"):
            self.assertLessEqual(len(t.slices), 100)
            self.assertGreaterEqual(len(t.slices), 99)
            self.assertGreaterEqual(t.left_out, 3890)
            self.assertIn("KAIO_TRACE_SLICES", self.output.stderr)
        t = self.traced("everything", "emulator", KAIO_TRACE_SLICES="none")
        self.assertEqual(t.left_out, 0)
        self.assertIn("KAIO_TRACE_SLICES is 'none'", self.output.stderr)

    def test_a_failed_launch_is_marked(self):
        for side, t in self.on_both_sides("fault"):
            if side == "emulator":  # a GPU reports it to a later call
                launch, = (s for s in t.host() if s["name"] == "launch outside")
                self.assertTrue(launch["args"]["failed"])
                self.assertTrue(t.device("kernel")[0]["args"]["failed"])

    def test_a_capture_is_not_disturbed_and_a_replay_is_one_slice(self):
        t = self.traced("capture", "driver")
        captured = [s for s in t.host("kernel") if s["args"].get("captured")]
        self.assertEqual([s["name"] for s in captured], ["launch scale"] * 2)
        self.assertEqual(len(t.device("kernel")), 2)  # those of the other stream
        replays = t.device("graph")
        self.assertEqual([(s["name"], s["args"]["nodes"]) for s in replays], [("decode step", 2)] * 2)
        self.assertEqual([s["name"] for s in t.host("graph")], ["replay decode step"] * 2)

    def test_the_file_is_written_when_asked_and_at_the_end(self):
        for _, t in self.on_both_sides("twice"):
            self.assertEqual(self.output.stdout, "1 1\n")
            self.assertEqual(len(t.device("kernel")), 2)
        for _, t in self.on_both_sides("left_open"):
            self.assertEqual(len(t.device("kernel")), 1)

    def test_static_objects_may_launch_after_the_file_was_written(self):
        t = self.traced("late", "emulator")
        self.assertEqual(len(t.device("kernel")), 1)

    def test_without_the_variable_nothing_is_written(self):
        for side, settings in SIDES.items():
            for variables in ({}, {"KAIO_TRACE": ""}):
                done = run("twice", self.folder.name, **settings, **variables)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "0 0\n", ""))
                self.assertEqual(list(pathlib.Path(self.folder.name).iterdir()), [])

    def test_a_file_that_cannot_be_written_is_reported_once(self):
        done = run("twice", self.folder.name, **SIDES["emulator"], KAIO_TRACE="no/such/folder/trace.json")
        self.assertEqual((done.returncode, done.stdout), (0, "0 0\n"))
        self.assertEqual(done.stderr.count("the trace is not written"), 1)
        self.assertIn("no/such/folder/trace.json", done.stderr)

    def test_the_name_may_have_the_number_of_the_process(self):
        done = run("left_open", self.folder.name, **SIDES["emulator"], KAIO_TRACE="%p-trace.json")
        self.assertEqual(done.returncode, 0)
        file, = pathlib.Path(self.folder.name).iterdir()
        t = trace(file.read_text())
        self.assertEqual(file.name, t.processes[1].split()[-1] + "-trace.json")
        self.assertEqual(trace(run("left_open", self.folder.name, **SIDES["emulator"], KAIO_TRACE="-").stdout).rows, t.rows)

    def test_the_log_has_a_line_for_each_piece(self):
        for side, settings in SIDES.items():
            with self.subTest(side=side):
                done = run("everything", self.folder.name, **settings, KAIO_LOG="debug")
                self.assertEqual(list(pathlib.Path(self.folder.name).iterdir()), [])
                for line in ('double "twice": x f32 16 x 16, workspace of 4096 bytes; scale\n', "double again; scale\n",
                             "launch scale: grid 4 x 1 x 1, block 64 x 1 x 1, 0 bytes of shared memory, stream ",
                             f"load scale ({'compiled' if side == 'driver' else 'parsed'}): ", "allocate, 1024 bytes: ",
                             "free, 1024 bytes: ", "copy to device: 1024 bytes, stream "):
                    self.assertIn(line, done.stderr)
                quiet = run("everything", self.folder.name, **settings, KAIO_LOG="info")
                self.assertNotIn("launch", quiet.stderr)


if __name__ == "__main__":
    unittest.main()
