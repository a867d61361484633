#!/usr/bin/env python3
"""Draws the fourteen piece faces as SVG paths: ./glyphs.py NotoSerifCJK-Bold.ttc > page/glyphs.js

A browser without Chinese fonts would show empty boxes, so the page carries outlines of its own. They come from
Noto Serif CJK TC Bold (SIL Open Font License 1.1; Debian's fonts-noto-cjk). Needs fonttools.
"""
import sys

from fontTools.pens.boundsPen import BoundsPen
from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.pens.transformPen import TransformPen
from fontTools.ttLib import TTCollection

FACES = dict(zip("KGMRNCPkgmrncp", "帥仕相俥傌炮兵將士象車馬包卒"))
SIZE = 100  # every glyph is centred in a box of this size

font = next(f for f in TTCollection(sys.argv[1]).fonts if f["name"].getDebugName(4).startswith("Noto Serif CJK TC"))
glyphs, names = font.getGlyphSet(), font.getBestCmap()
print("// Made by glyphs.py from Noto Serif CJK TC Bold (SIL Open Font License 1.1). Do not edit.\n")
print("/** Outlines of the pieces in a box of 100 by 100, by letter. @type {Record<string, string>} */")
print("export const GLYPHS = {")
for letter, character in FACES.items():
    glyph = glyphs[names[ord(character)]]
    bounds = BoundsPen(glyphs)
    glyph.draw(bounds)
    left, bottom, right, top = bounds.bounds
    scale = 0.94 * SIZE / max(right - left, top - bottom)
    path = SVGPathPen(glyphs, ntos=lambda number: f"{number:.1f}".removesuffix(".0"))
    centre = (SIZE / 2 - scale * (left + right) / 2, SIZE / 2 + scale * (top + bottom) / 2)
    glyph.draw(TransformPen(path, (scale, 0, 0, -scale, *centre)))
    print(f"  {letter}: '{path.getCommands()}', // {character}")
print("};")
