#!/usr/bin/env python3
"""The renderer of tools/record, and the picture that the README shows.

run-tests: no asan
"""
import pathlib
import sys
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tools")]
import cases
import screencast
from cases import expect, expect_equal

SVG = "{http://www.w3.org/2000/svg}"


def draw(*recording, end=10.0, poster=0.0):
    return xml.fromstring(screencast.render(list(recording), 20, end, poster))


def groups(svg, tag="text"):
    """(classes, content) of each group that has such an element."""
    return [(g.get("class").split(), e) for g in svg.iter(SVG + "g") for e in g.iter(SVG + tag)]


def test_text_keeps_its_column():
    [(_, caption), (_, a), (_, b)] = groups(draw((0, "c", ["  a b   <c>"])))
    expect_equal([caption.text, a.text, b.text], ["c", "a b", "<c>"])
    expect_equal(round(float(b.get("x")) - float(a.get("x")), 6), 6 * screencast.CELL)
    expect_equal(float(b.get("textLength")), 3 * screencast.CELL)


def test_colours():
    row = "\x1b[1mbold\x1b[0;32mgreen\x1b[39;2mdim\x1b[0mplain"
    looks = [(e.text, e.get("class")) for _, e in groups(draw((0, "c", [row])))[1:]]
    expect_equal(looks, [("bold", "b"), ("green", "c32"), ("dim", "d"), ("plain", None)])


def test_bars_are_boxes():
    boxes = [float(e.get("width")) for _, e in groups(draw((0, "c", ["█▌░░"])), "rect")]
    expect_equal(boxes, [4 * screencast.CELL, 1.5 * screencast.CELL])


def test_rows_come_and_go():
    svg = draw((0, "one", ["kept", "old"]), (4, "two", ["kept", "new"]), poster=5.0)
    still = [e.text for classes, e in groups(svg) if "p" in classes]
    expect_equal(still, ["two", "kept", "new"], "the poster")
    expect_equal([e.text for _, e in groups(svg)].count("kept"), 1, "a row that does not change")
    style = svg.find(SVG + "style").text
    names = {e.text: classes[1] for classes, e in groups(svg)}
    for name, rule in (("kept", "0.00%{visibility:visible}"),
                       ("old", "0.00%{visibility:visible}40.00%{visibility:hidden}"),
                       ("new", "0%{visibility:hidden}40.00%{visibility:visible}")):
        expect(f"@keyframes {names[name]}{{{rule}}}" in style, f"{name}: no {rule} in {style}")


def test_picture_of_the_readme():
    picture = ROOT / "docs/pictures/demo.svg"
    expect(picture.stat().st_size < 300_000, "under 300 kB")
    shown = [e.text for classes, e in groups(xml.parse(picture).getroot()) if "p" in classes]
    expect("trainyard explain 1" in shown, f"the poster shows: {shown}")
    expect("docs/pictures/demo.svg" in (ROOT / "README.md").read_text("utf-8"), "in the README")


sys.exit(not all([cases.report(name, case) for name, case in cases.chosen()]))
