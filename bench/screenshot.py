#!/usr/bin/env python3
"""bench/screenshot.py PROGRAM TRACE.json OUT.png - writes a picture of the page of a trace.

PROGRAM is hybrid_spmm, which makes the page. Chromium shows it without a window. In the picture
the mouse points to the longest stage of a chunk that the middle of the run contains. docs/timeline.png
is made from the trace in bench/results.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from browser import Browser

WIDTH = 1120

# The place of the bar in the window: its right part, so that the facts do not hide it.
PLACE = """(() => {
  const middle = (trace.run.begin + trace.run.end) / 2;
  const bar = trace.lanes.flatMap(lane => lane.bars).filter(bar => bar.chunk && bar.begin < middle)
    .filter(bar => bar.begin > trace.run.begin + (trace.run.end - trace.run.begin) / 3)
    .reduce((most, bar) => bar.end - bar.begin > most.end - most.begin ? bar : most);
  const box = bar.lane.canvas.getBoundingClientRect();
  return [box.left + axisOf(state.view, box.width)(bar.end) - 3, box.top + box.height - 4];
})()"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("trace")
    parser.add_argument("out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Browser(WIDTH, 400) as browser:
        page = os.path.join(folder, "page.html")
        subprocess.run([options.program, "trace", options.trace, "-o", page], check=True)
        browser.scheme("light")
        browser.open(page)
        height = browser.value("document.documentElement.scrollHeight")
        browser.size(WIDTH, height)
        browser.drawn()
        browser.mouse("mouseMoved", *browser.value(PLACE))
        browser.drawn()
        with open(options.out, "wb") as file:
            file.write(browser.picture())
    if browser.told:
        sys.exit(json.dumps(browser.told))


main()
