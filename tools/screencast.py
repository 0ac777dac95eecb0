"""Turns a recording of a terminal into an animated SVG, with the standard library alone.

A recording is a list of (seconds, caption, rows): from that time on, the screen shows these
rows, each a line of text with SGR colour sequences as printed by `tmux capture-pane -e`.

A row becomes one element for each period in which it does not change; a CSS animation shows
and hides it. Viewers that do not animate, and readers who prefer reduced motion, see the
poster: the screen at one chosen time. Every piece of text states its width, so that columns
line up in any font. Block characters, which bars are made of, are drawn as rectangles.
"""
import re
from collections import namedtuple
from xml.sax.saxutils import escape

CELL, LINE, SIZE = 7.8, 19, 13  # width of a character, height of a row, font size
MARGIN, HEAD = 18, 40  # around the rows; the strip above them that holds the caption
PAPER, EDGE = "#0d1117", "#30363d"
INK, STRONG, FAINT = "#c9d1d9", "#f0f6fc", "#8b949e"
MARK = "#2d3748"  # background of reversed text
COLOURS = {31: "#ff7b72", 32: "#56d364", 33: "#e3b341", 34: "#79c0ff", 36: "#56d4dd"}
STYLE = (f"text{{font:{SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',"
         f"'Liberation Mono',monospace;white-space:pre;fill:{INK}}}\n"
         f".b{{font-weight:600;fill:{STRONG}}}.d{{fill:{FAINT}}}"
         f".t{{font-weight:600;fill:{COLOURS[33]}}}"
         + "".join(f".c{code}{{fill:{colour}}}" for code, colour in COLOURS.items()))
BLOCKS = "█▉▊▋▌▍▎▏"  # eight eighths of a cell, seven, ... one
SGR = re.compile(r"\x1b\[([0-9;]*)m")
PIECE = re.compile(rf"[{BLOCKS}░]+|[^\s{BLOCKS}░]+(?: [^\s{BLOCKS}░]+)*")

Look = namedtuple("Look", "bold dim reverse colour")
PLAIN = Look(False, False, False, 0)


def change_look(look, codes):
    """The look after an SGR sequence with these codes."""
    for code in (int(c or 0) for c in codes.split(";")):
        if code == 0:
            look = PLAIN
        elif code == 1:
            look = look._replace(bold=True)
        elif code == 2:
            look = look._replace(dim=True)
        elif code == 7:
            look = look._replace(reverse=True)
        elif code == 39 or code in COLOURS:
            look = look._replace(colour=code if code in COLOURS else 0)
    return look


def split_row(row):
    """The row as (column, text, look)."""
    look, column = PLAIN, 0
    for i, part in enumerate(SGR.split(row)):  # text, codes, text, codes, ... text
        if i % 2:
            look = change_look(look, part)
        elif part:
            yield column, part, look
            column += len(part)


def draw_text(x, y, text, style):
    style = f' class="{style}"' if style else ""
    return (f'<text x="{x:g}" y="{y:g}" textLength="{len(text) * CELL:g}" '
            f'lengthAdjust="spacingAndGlyphs"{style}>{escape(text)}</text>')


def draw_box(x, y, width, height, fill, opacity=""):
    opacity = f' opacity="{opacity}"' if opacity else ""
    return (f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
            f'fill="{fill}"{opacity}/>')


def draw_bar(x, y, text, colour):
    """A run of block characters: a faint box, and the filled part of it."""
    filled = sum(8 - BLOCKS.index(c) for c in text if c in BLOCKS) / 8 * CELL
    top, height = y - SIZE + 2, SIZE - 1
    return (draw_box(x, top, len(text) * CELL, height, colour, ".2")
            + (draw_box(x, top, filled, height, colour) if filled else ""))


def draw_piece(x, y, text, look):
    if text[0] in BLOCKS + "░":
        return draw_bar(x, y, text, COLOURS.get(look.colour, COLOURS[36]))
    if look.colour:
        return draw_text(x, y, text, f"c{look.colour}")
    return draw_text(x, y, text, "b" if look.bold else "d" if look.dim else "")


def draw_row(row, y):
    out = []
    for column, text, look in split_row(row):
        x = MARGIN + column * CELL
        if look.reverse:
            out.append(draw_box(x, y - SIZE - 1, len(text) * CELL, LINE, MARK))
        out += [draw_piece(x + piece.start() * CELL, y, piece[0], look)
                for piece in PIECE.finditer(text)]
    return "".join(out)


def find_periods(frames, end):
    """(row number, row, from, to) for each period in which a row stays the same."""
    for i in range(max(len(rows) for _, rows in frames)):
        shown, since = "", 0.0
        for at, rows in frames + [(end, [])]:
            row = rows[i] if i < len(rows) else ""
            if row != shown:
                if shown:
                    yield i, shown, since, at
                shown, since = row, at


class Film:
    """What is shown when, with one animation for each pair of times."""

    def __init__(self, end, poster):
        self.end, self.poster = end, poster
        self.names, self.out = {}, []

    def add(self, drawing, since, until):
        name = self.names.setdefault((since, until), f"k{len(self.names)}")
        still = " p" if since <= self.poster < until else ""
        self.out.append(f'<g class="r {name}{still}">{drawing}</g>')

    def percent(self, at):
        return f"{100 * at / self.end:.2f}%"

    def style(self):
        rules = [".r{visibility:hidden}.p{visibility:visible}",
                 "@media (prefers-reduced-motion:no-preference){"]
        for (since, until), name in self.names.items():
            before = "0%{visibility:hidden}" if since else ""
            after = f"{self.percent(until)}{{visibility:hidden}}" if until < self.end else ""
            rules.append(f"@keyframes {name}{{{before}{self.percent(since)}{{visibility:visible}}"
                         f"{after}}}.{name}{{animation:{name} {self.end:.2f}s step-end infinite}}")
        return "\n".join(rules) + "}"


def render(recording, columns, end, poster):
    """The SVG as text. It starts over at `end`; the poster is the screen at time `poster`."""
    film = Film(end, poster)
    captions = [(at, [caption]) for at, caption, _ in recording]
    screens = [(at, rows) for at, _, rows in recording]
    for _, caption, since, until in find_periods(captions, end):
        film.add(draw_text(MARGIN, 26, caption, "t"), since, until)
    for i, row, since, until in find_periods(screens, end):
        film.add(draw_row(row, HEAD + MARGIN + SIZE + i * LINE), since, until)
    width = columns * CELL + 2 * MARGIN
    height = HEAD + 2 * MARGIN + max(len(rows) for _, rows in screens) * LINE
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img">',
        f"<title>{escape('. '.join(dict.fromkeys(c for _, [c] in captions)))}.</title>",
        f"<style>{STYLE}\n{film.style()}</style>",
        f'<rect x=".5" y=".5" width="{width - 1:g}" height="{height - 1:g}" rx="9" '
        f'fill="{PAPER}" stroke="{EDGE}"/>',
        f'<path d="M1 {HEAD}H{width - 1:g}" stroke="{EDGE}"/>', *film.out, "</svg>", ""])
