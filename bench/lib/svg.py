#!/usr/bin/env python3
"""bench/lib/svg.py - pieces of the pictures in docs/.

A picture has a background of its own, so that it is readable whatever page shows it; its
colours follow prefers-color-scheme. A module of picture.py.
"""
from xml.sax.saxutils import escape

STYLE = """<style>
  .page { fill: #ffffff; stroke: #d0d7de }
  text { font: 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
  .title { font-size: 16px; font-weight: 600 }
  .faint { fill: #59636e; font-size: 12px }
  .mean { font-weight: 600 }
  .grid { stroke: #d0d7de }
  .one { stroke: #59636e; stroke-width: 1.5 }
  .tick { stroke: #1f2328; stroke-width: 2 }
  .faster, .slower { fill: none; stroke-width: 4.4; stroke-linecap: round; opacity: 0.7 }
  .faster { stroke: #0b6bcb }
  .slower { stroke: #c4501b }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; stroke: #3d444d }
    text { fill: #f0f6fc }
    .faint { fill: #9198a1 }
    .grid { stroke: #3d444d }
    .one { stroke: #9198a1 }
    .tick { stroke: #f0f6fc }
    .faster { stroke: #58a6ff }
    .slower { stroke: #f0883e }
  }
</style>
"""


def sheet(width, height, drawn):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}">\n{STYLE}<rect class="page" x="0.5" y="0.5" '
            f'width="{width - 1}" height="{height - 1}" rx="6"/>\n{drawn}</svg>\n')


def text(x, y, said, kind="", anchor="start"):
    kind = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{kind}>{escape(said)}</text>\n'


def line(x, top, bottom, kind):
    return f'<path class="{kind}" d="M{x:g} {top:g}V{bottom:g}"/>\n'
