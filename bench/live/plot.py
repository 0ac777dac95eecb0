"""SVG drawings, with the standard library alone. Text and axes follow the reader's light or
dark colour scheme; the background is left to the page."""
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 760, 250  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 34, 40
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccaa22", "#66bbdd", "#aa3377", "#888888", "#dd8844",
           "#55aa99", "#7766cc")
STYLE = """<style>
text { font: 12px system-ui, sans-serif; fill: #222 }
.title { font-weight: 600 }
.axis { stroke: #888; stroke-width: 1; fill: none }
.grid { stroke: #888; stroke-opacity: .25 }
.spread { stroke: #222; stroke-width: 1 }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round }
@media (prefers-color-scheme: dark) { text { fill: #ddd } .spread { stroke: #ddd } }
</style>"""


def ticks(top, wanted=5):
    """Round steps from 0 to about `top`."""
    step = 10 ** math.floor(math.log10(top / wanted)) if top > 0 else 1
    step = next(step * m for m in (1, 2, 2.5, 5, 10) if top / (step * m) <= wanted)
    return [i * step for i in range(int(top / step + 1e-9) + 1)]


def text(x, y, words, anchor="middle", kind=""):
    style = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}>{escape(words)}</text>'


class Panel:
    """One pair of axes, at its place in the drawing."""

    def __init__(self, title, place, x_top, y_top):
        self.x, self.y, self.width, self.height = place
        self.x_top, self.y_top = x_top, y_top
        self.out = [text(self.x, self.y - 12, title, "start", "title")]
        for value in ticks(y_top):
            y = self.at_y(value)
            self.out.append(f'<path class="grid" d="M{self.x},{y:.1f}h{self.width}"/>')
            self.out.append(text(self.x - 6, y + 4, f"{value:g}", "end"))
        self.out.append(f'<path class="axis" d="M{self.x},{self.y}v{self.height}h{self.width}"/>')

    def at_x(self, value):
        return self.x + value / self.x_top * self.width

    def at_y(self, value):
        return self.y + self.height - value / self.y_top * self.height

    def label(self, value, words):
        self.out.append(text(self.at_x(value), self.y + self.height + 16, words))

    def bar(self, left, right, figure, colour):
        x, y = self.at_x(left), self.at_y(figure.median)
        self.out.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{self.at_x(right) - x - 1:.1f}" '
                        f'height="{self.at_y(0) - y:.1f}" fill="{colour}"/>')
        if figure.high > figure.low:
            self.out.append(f'<path class="spread" d="M{(x + self.at_x(right) - 1) / 2:.1f},'
                            f'{self.at_y(figure.low):.1f}V{self.at_y(figure.high):.1f}"/>')

    def line(self, points, colour):
        path = "L".join(f"{self.at_x(x):.1f},{self.at_y(y):.1f}" for x, y in points)
        if points:
            self.out.append(f'<path class="line" stroke="{colour}" d="M{path}"/>')


def legend(names, y):
    out, x = [], LEFT
    for i, name in enumerate(names):
        out.append(f'<rect x="{x}" y="{y - 9}" width="10" height="10" '
                   f'fill="{COLOURS[i % len(COLOURS)]}"/>')
        out.append(text(x + 14, y, name, "start"))
        x += 26 + 7 * len(name)
    return out


def document(title, unit, names, panels, height):
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
             f'width="{WIDTH}" height="{height}" role="img" aria-label="{escape(title)}">', STYLE,
             text(LEFT, 16, f"{title} ({unit})", "start", "title"), *legend(names, 36)]
    for panel in panels:
        parts += panel.out
    return "\n".join(parts + ["</svg>", ""])


def bars(title, unit, series, panels):
    """panels: [(title, [(group, {name of the series: Figure})])], side by side."""
    width = (WIDTH - RIGHT) / len(panels)
    drawn = []
    for i, (name, groups) in enumerate(panels):
        top = max(f.high for _, values in groups for f in values.values()) * 1.05
        panel = Panel(name, (i * width + LEFT, 52 + TOP, width - LEFT, HEIGHT - TOP - BOTTOM),
                      len(groups), top)
        for g, (group, values) in enumerate(groups):
            panel.label(g + 0.5, group)
            each = 0.8 / len(series)
            for s, key in enumerate(series):
                if key in values:
                    left = g + 0.1 + s * each
                    panel.bar(left, left + each, values[key], COLOURS[s % len(COLOURS)])
        drawn.append(panel)
    return document(title, unit, series, drawn, 52 + HEIGHT)


def lines(title, unit, names, panels):
    """panels: [(title, {name: [(seconds, value)]})], one below the other, on the same axes."""
    points = [p for _, curves in panels for curve in curves.values() for p in curve]
    x_top, y_top = max(x for x, _ in points), max(y for _, y in points) * 1.05
    drawn = []
    for i, (name, curves) in enumerate(panels):
        panel = Panel(name, (LEFT, 52 + i * HEIGHT + TOP, WIDTH - LEFT - RIGHT,
                             HEIGHT - TOP - BOTTOM), x_top, y_top)
        for value in ticks(x_top, 10):
            panel.label(value, f"{value:g} s")
        for n, key in enumerate(names):
            panel.line(curves.get(key, []), COLOURS[n % len(COLOURS)])
        drawn.append(panel)
    return document(title, unit, names, drawn, 52 + HEIGHT * len(panels))
