"""Opens pages of traces in Chromium and compares what they show with the traces inside.

Usage: trace_page.py FILE.html...   (PYTHONPATH: bench/lib)
"""

import json
import sys

from browser import Browser

MARK = '<script type="application/json" id="trace">'
PAPER = {"light": "rgb(255, 255, 255)", "dark": "rgb(19, 22, 25)"}

# The share of a lane's pixels that are not of the lane's own colour, for each lane.
SHARES = """trace.lanes.map(lane => {
  const c = lane.canvas, data = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
  let sum = 0;
  for (let i = 3; i < data.length; i += 4)
    sum += data[i];
  return sum / 255 / c.width / c.height;
})"""

# The place of bar `i` of lane `k` in the window.
PLACE = """(() => {
  const bar = trace.lanes[%d].bars[%d], box = bar.lane.canvas.getBoundingClientRect();
  return [box.left + axisOf(state.view, box.width)((bar.begin + bar.end) / 2), box.top + box.height / 2];
})()"""

SCROLL = "trace.lanes[%d].canvas.scrollIntoView({block: 'center'})"


def near(a: float, b: float, slack: float) -> bool:
    """Tell whether two numbers differ by at most `slack`."""
    return abs(a - b) <= slack


class Page:
    """A page in a browser, and the trace that it contains."""

    def __init__(self, browser: Browser, path: str, scheme: str) -> None:
        text = open(path, encoding="utf-8").read().split(MARK)[1].split("</script>")[0]
        self.trace = json.loads(text)
        self.report = self.trace["otherData"]
        self.facts = self.report["timeline"]
        self.scheme = scheme
        self.browser = browser
        browser.scheme(scheme)
        browser.open(path)
        self.lanes = [
            sorted(
                (e for e in self.trace["traceEvents"] if e["ph"] == "X" and e["tid"] == lane["tid"]),
                key=lambda e: (e["ts"], e["dur"]),
            )
            for lane in self.facts["lanes"]
        ]

    def value(self, expression: str):
        return self.browser.value(expression)

    def text(self, selector: str) -> str:
        return self.value(f"document.querySelector({selector!r}).textContent")

    def texts(self, selector: str) -> list[str]:
        return self.value(f"[...document.querySelectorAll({selector!r})].map(e => e.textContent)")

    def view(self) -> tuple[float, float]:
        return tuple(self.value("[state.view.begin, state.view.end]"))

    def tip(self) -> str:
        """Return the text of the facts that the page shows, or "" if it shows none."""
        return self.value("getComputedStyle(find('tip')).display === 'none' ? '' : find('tip').textContent")

    def longest(self) -> tuple[int, int]:
        """Return lane and index of the longest stage of a chunk."""
        bars = [
            (e["dur"], k, i)
            for k, lane in enumerate(self.lanes)
            for i, e in enumerate(lane)
            if "chunk" in e["args"]
        ]
        return max(bars)[1:]


def check_words(page: Page) -> None:
    """Lanes with percent busy, stages, times, the bound, stalls and memory stand in the page."""
    facts, report = page.facts, page.report
    run = facts["end_us"] - facts["begin_us"]
    assert page.texts(".lane .name") == [lane["name"] for lane in facts["lanes"]]
    for lane, text in zip(facts["lanes"], page.texts(".lane .busy"), strict=True):
        assert near(float(text.removesuffix("\u202f%")), 100 * lane["busy_us"] / run, 0.06), (lane, text)
    stages = {e["name"] for lane in page.lanes for e in lane if "chunk" in e["args"]}
    assert stages <= set(page.texts("#legend button"))
    assert "measured" in page.text("#times") and "predicted" in page.text("#times")
    ratio = report["total_s"] / report["predicted_s"]
    said = float(page.text("#times small").split(" ")[0])
    assert near(said, ratio, 0.006 * ratio), (said, ratio)
    assert page.text("#bound .big") == report["bound"]
    assert page.text("#bound .main").startswith(report["bound"])
    assert page.texts("#stalls li span") == [stall["text"] for stall in facts["stalls"]]
    used = {e["name"] for e in page.trace["traceEvents"] if e["ph"] == "C" and e["args"]["bytes"] > 0}
    names = [m["name"] for m in facts["memory"] if m["name"] in used]
    shown = page.texts(".memory .name")
    assert len(shown) == len(names) > 0
    for name, text in zip(names, shown, strict=True):
        assert text.startswith(name + "peak ") and "limit" in text


def check_drawing(page: Page) -> None:
    """Each lane is filled to the share of time in which it is busy."""
    paper = page.value("getComputedStyle(document.body).backgroundColor")
    assert paper == PAPER[page.scheme], paper
    if page.facts["stalls"]:  # frames of stalls are not bars
        page.value("(trace.facts.stalls.length = 0, find('lanes').querySelectorAll('.lane').length)")
    page.value("rows.filter(row => row.element.classList.contains('lane'))"
               ".forEach((row, i) => { row.draw = c => drawLane(c, trace.lanes[i], state, []); })")
    page.value("redraw()")
    page.browser.drawn()
    run = page.facts["end_us"] - page.facts["begin_us"]
    for lane, share in zip(page.facts["lanes"], page.value(SHARES), strict=True):
        busy = lane["busy_us"] / run / 1.02  # the view has a margin of 1 % on both sides
        assert near(share, busy, 0.15), (lane["name"], share, busy)


def check_hover(page: Page) -> None:
    """The mouse shows the facts of a bar; a double-click zooms to it."""
    k, i = page.longest()
    event = page.lanes[k][i]
    page.value(SCROLL % k)
    page.value(f"(showBar(trace.lanes[{k}].bars[{i}]), zoom(8))")  # zooms in, because the bar may be narrow
    x, y = page.value(PLACE % (k, i))
    page.browser.mouse("mouseMoved", x, y)
    page.browser.drawn()
    tip = page.tip()
    args = event["args"]
    for fact in (f"{event['name']} of chunk {args['chunk']}", page.facts["lanes"][k]["name"],
                 args["variant"], f"bound by{args['bound']}"):
        assert fact in tip, (fact, tip)
    assert f"from row {args['first_row']:,} on".replace(",", "\u202f") in tip, tip
    for n in (1, 2):
        page.browser.mouse("mousePressed", x, y, button="left", clickCount=n)
        page.browser.mouse("mouseReleased", x, y, button="left", clickCount=n)
    begin, end = page.view()
    assert begin < event["ts"] and event["ts"] + event["dur"] < end
    assert end - begin < 2.1 * event["dur"] + 0.2
    page.browser.mouse("mouseMoved", 3, 3)
    assert page.tip() == ""


def check_keyboard(page: Page) -> None:
    """The keyboard reaches lanes and bars, zooms and pans."""
    press = page.browser.key
    press("0")
    for _ in range(60):
        press("Tab")
        if page.value("document.activeElement.parentElement.classList.contains('lane')"):
            break
    else:
        raise AssertionError("no lane has the focus")
    assert page.value("document.activeElement.getAttribute('aria-label')").startswith(
        page.facts["lanes"][0]["name"])
    k, i = page.longest()
    for _ in range(k):
        press("ArrowDown")
    press("Home")
    lane = page.lanes[k]
    seen = []
    for event in lane[:3]:
        seen.append(page.tip())
        assert page.tip().startswith(event["name"]), (event, seen)
        assert f"chunk {event['args']['chunk']}" in seen[-1]
        press("ArrowRight")
    press("ArrowLeft")
    press("End")
    assert page.tip().startswith(lane[-1]["name"])
    press("0")
    full = page.view()
    press("+")
    begin, end = page.view()
    assert near(end - begin, (full[1] - full[0]) / 2, 1e-3)
    press("ArrowLeft", shift=True)
    assert page.view()[0] < begin
    press("-")
    press("Enter")
    event = lane[-1]
    begin, end = page.view()
    assert begin <= event["ts"] and end - begin < 2.1 * event["dur"] + 0.2
    press("a")
    begin, end = page.view()
    assert begin <= 0 and end >= max(e["ts"] + e["dur"] for bars in page.lanes for e in bars)
    press("Escape")
    assert page.tip() == ""


def check_mouse_view(page: Page) -> None:
    """Wheel and drag zoom and pan; the buttons and the stalls show a time span."""
    k, i = page.longest()
    page.value("showRun()")
    begin, end = page.view()
    page.value(SCROLL % k)
    x, y = page.value(PLACE % (k, i))
    under = page.value(f"timeAt(trace.lanes[{k}].canvas, {x})")
    page.browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=-250, modifiers=2)
    page.browser.drawn()
    zoomed = page.view()
    assert near(zoomed[1] - zoomed[0], (end - begin) / 2, (end - begin) * 1e-6)
    assert near(page.value(f"timeAt(trace.lanes[{k}].canvas, {x})"), under, (end - begin) * 1e-3)
    page.browser.mouse("mousePressed", x, y, button="left", clickCount=1)
    page.browser.mouse("mouseMoved", x - 50, y, button="left")
    page.browser.mouse("mouseReleased", x - 50, y, button="left", clickCount=1)
    assert page.view()[0] > zoomed[0]
    for number, stall in enumerate(page.facts["stalls"]):
        page.value(f"document.querySelectorAll('#stalls button')[{number}].click()")
        begin, end = page.view()
        assert begin < stall["begin_us"] and stall["end_us"] < end
        assert end - begin < 5 * (stall["end_us"] - stall["begin_us"])
    page.value("document.getElementById('all').click()")
    assert page.view()[0] <= 0
    page.value("document.getElementById('run').click()")
    assert near(page.view()[1], page.facts["end_us"], (end - begin) + 0.05 * page.facts["end_us"])


def main() -> None:
    with Browser() as browser:
        for path in sys.argv[1:]:
            for scheme in ("light", "dark"):
                page = Page(browser, path, scheme)
                for check in (check_words, check_hover, check_keyboard, check_mouse_view, check_drawing):
                    try:
                        check(page)
                    except AssertionError as error:
                        raise SystemExit(f"{path}, {scheme}, {check.__name__}: {error!r}") from error
                    assert not browser.told, (path, scheme, check.__name__, browser.told)


main()
