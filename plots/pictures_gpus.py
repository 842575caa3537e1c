"""The pictures of chapter 10, which plots/diagrams.py draws with all others."""

import json
import math
import statistics

from diagrams import LEFT, ROOT, SECTOR, Picture, require

MEASURED = ROOT / "plots" / "data" / "h200" / "several"
GPUS, ROWS, COLUMNS, BFLOAT16 = 4, 8, 8192, 2


# --- One shot and two shots ---


def links(programs, stage):
    """Bytes per element that a GPU loads over its links, and stores over them. Flags are left out: a store of
    one has less than a hundredth of a byte per element."""
    traffic = programs.counts("10_several_gpus", f"{GPUS}x{ROWS}x{COLUMNS}", stage)  # of all GPUs
    return [round(traffic[field] * SECTOR / (GPUS * ROWS * COLUMNS), 1)
            for field in ("peer_load_sectors", "peer_store_sectors")]


def draw_array(picture, x, y, name, quarters):
    """An array as a box for each quarter of its rows, of which `quarters` are used."""
    for quarter in range(GPUS):
        picture.box(x, y + 13 * quarter, 38, 11, "blue" if quarter in quarters else "pale", 1)
    picture.text(x + 19, y - 8, name, "", 10)


def draw_gpu_0(picture, y, heading, rows, loaded, stored):
    """What GPU 0 does: x of all GPUs at the left, y of all at the right."""
    picture.heading(LEFT, y, heading)
    top = y + 30
    for gpu in range(GPUS):
        draw_array(picture, 14 + 44 * gpu, top, f"x of {gpu}", rows)
        picture.line([(33 + 44 * gpu, top + 54), (33 + 44 * gpu, top + 70), (150, top + 70), (150, top + 84)],
                     "arrow" if gpu == 0 else "arrow-orange", head=gpu == GPUS - 1)
    picture.cell(110, top + 86, 180, 22, "GPU 0 adds up and normalises", "pale")
    for gpu in range(GPUS):
        written = rows if stored or gpu == 0 else ()
        draw_array(picture, 212 + 44 * gpu, top, f"y of {gpu}", written)
        if written:
            end = 231 + 44 * gpu
            picture.line([(250, top + 86), (250, top + 70), (end, top + 70), (end, top + 54)],
                         "arrow" if gpu == 0 else "arrow-orange")
    says = f"Over its NVLinks it loads {loaded:g} bytes per element, and stores {stored:g}."
    picture.left_text(LEFT, top + 120, says, "", 10)


def draw_shots(programs):
    one, two = links(programs, "02_one_shot"), links(programs, "04_two_shot")
    copy, others = BFLOAT16, GPUS - 1
    require(one == [others * copy, 0], f"stage 2 has {one} over NVLink")
    require(two == [others * copy / GPUS] * 2, f"stage 4 has {two} over NVLink")
    picture = Picture("What a GPU loads and stores in one-shot and two-shot all-reduces", 378)
    draw_gpu_0(picture, 16, "One-shot: each GPU does all rows, and needs all of x", range(GPUS), *one)
    draw_gpu_0(picture, 196, "Two-shot: GPU 0 does a quarter of the rows, for all", (0,), *two)
    says = "Orange: over NVLink. The boxes of an array are quarters of its rows."
    picture.left_text(LEFT, 364, says, "", 9)
    return picture


# --- Trips ---


TRIP, SETTLE = 30, 8  # lengths in the picture; not measured
FLAGS = (("the flag", True), ("a load of x", False), ("x", True), ("the last flag", True))
MAIL = (("x itself", True),)
DATA = ("x", "x itself")


def draw_exchange(picture, left, heading, trips):
    """What GPU 0 waits for: (what is sent, whether GPU 0 gets it), one after the other."""
    near, far, y = left + 22, left + 150, 46
    picture.heading(left, 16, heading)
    for x, gpu in ((near, 0), (far, 1)):
        picture.text(x, 34, f"GPU {gpu}", "", 10)
        picture.line([(x, 44), (x, 52 + (TRIP + SETTLE) * len(trips))], "dashed", head=False)
    for words, to_near in trips:
        start, end = (far, near) if to_near else (near, far)
        picture.line([(start, y), (end, y + TRIP)], "arrow-orange" if words in DATA else "arrow")
        picture.text((near + far) / 2, y + TRIP / 2 - 12, words, "", 9)
        y += TRIP + SETTLE
    picture.text(near, y + 12, "ends", "bold", 10)


def draw_trips(programs):
    picture = Picture("The trips of stage 3 and of stage 5 with few rows", 254)
    draw_exchange(picture, LEFT, f"Stage 3: {len(FLAGS)} trips", FLAGS)
    draw_exchange(picture, 214, f"Stage 5: {len(MAIL)} trip", MAIL)
    for line, says in enumerate(("Time runs down. Both GPUs do the same at the same time; drawn is what",
                                 "GPU 0 waits for. Orange: the data.")):
        picture.left_text(LEFT, 232 + 13 * line, says, "", 9)
    return picture


# --- Mailboxes ---


MAILBOXES, LAUNCHES = 3, 6
ROLES = {"read": "blue", "emptied": "idle", "may fill": "orange"}


def role(launch, mailbox):
    """What becomes of a mailbox during a launch of its GPU, by the kernel's rule."""
    if mailbox == launch % MAILBOXES:
        return "read"
    return "emptied" if mailbox == (launch + 2) % MAILBOXES else "may fill"


def draw_mailboxes(programs):
    for launch in range(LAUNCHES):
        roles = [role(launch, mailbox) for mailbox in range(MAILBOXES)]
        require(sorted(roles) == sorted(ROLES), f"launch {launch} has {roles}")
        filled = roles.index("may fill")
        require(role(launch + 1, filled) == "read", "a letter that comes early is not read next")
        require(role(launch - 1, filled) == "emptied", "a mailbox is filled before it is emptied")
    picture, left, wide = Picture("Three mailboxes in six launches", 166), 84, 50
    picture.heading(LEFT, 16, "The mailboxes of a GPU, launch after launch")
    picture.right_text(left - 8, 38, "launch", "dim", 10)
    for launch in range(LAUNCHES):
        picture.text(left + wide * (launch + 0.5), 38, launch, "dim", 10)
        for mailbox in range(MAILBOXES):
            found = role(launch, mailbox)
            picture.cell(left + wide * launch, 48 + 26 * mailbox, wide - 3, 23, found, ROLES[found], 9)
    for mailbox in range(MAILBOXES):
        picture.right_text(left - 8, 60 + 26 * mailbox, f"mailbox {mailbox}", "", 10)
    for line, says in enumerate(("Orange: a GPU that is a launch ahead may already send into it. The next",
                                 "launch reads it, and the one after that empties it.")):
        picture.left_text(LEFT, 140 + 13 * line, says, "", 9)
    return picture


# --- Time against rows ---


def measured():
    """{rows: {name: us}} of the stages and peers on two GPUs, and the run of the stages."""
    runs = json.loads((MEASURED / "10_several_gpus.json").read_text())
    peers = json.loads((MEASURED / "peers.json").read_text())
    of_peers = {tuple(one["shape"]): one["time_us"] for one in peers["shapes"]}
    found = {}
    for run in runs:
        if tuple(run["shape"]) in of_peers:
            times = {stage["name"]: stage["time_us"]["median"] for stage in run["stages"] if stage["time_us"]}
            theirs = {name: statistics.median(us) for name, us in of_peers[tuple(run["shape"])].items()
                      if name.endswith("then norm")}
            found[run["shape"][1]] = {**times, "best peer": min(theirs.values())}
    return found, runs[0]


# Names, colours, and how much lower than its line's end a name stands.
LINES = (("best peer", "arrow", -6), ("03_release", "arrow-blue", 2), ("05_mail", "arrow-orange", 12))


class Axes:
    """Places of rows and of a value, each on a logarithmic scale."""

    def __init__(self, picture, top, bottom, rows, values):
        self.picture, self.top, self.bottom, self.rows, self.values = picture, top, bottom, rows, values
        self.left, self.right = 48, 330

    def x(self, rows):
        return self.left + (self.right - self.left) * self.share(rows, self.rows)

    def y(self, value):
        return self.bottom - (self.bottom - self.top) * self.share(value, self.values)

    @staticmethod
    def share(value, ends):
        return math.log(value / ends[0]) / math.log(ends[1] / ends[0])

    def draw(self, rows, values, unit):
        corners = [(self.left, self.top), (self.left, self.bottom), (self.right, self.bottom)]
        self.picture.line(corners, "plain", head=False)
        for row in rows:
            self.picture.text(self.x(row), self.bottom + 10, f"{row:,}", "", 9)
        for value in values:
            y = self.y(value)
            self.picture.right_text(self.left - 5, y, f"{value:g}{unit}", "", 9)
            self.picture.line([(self.left, y), (self.left + 4, y)], "plain", head=False)

    def curve(self, points, kind, says="", lower=0):
        """A line through points, {rows: value}, and at its end a text, which can be put lower."""
        places = [(self.x(rows), self.y(value)) for rows, value in points.items()]
        self.picture.line(places, kind, head=False)
        self.picture.left_text(places[-1][0] + 5, places[-1][1] + lower, says, "", 9)


def draw_rows_and_gpus(programs):
    found, run = measured()
    card, link = run["device"]["name"].removeprefix("NVIDIA "), run["device"]["link_gbytes_per_s"]
    require(link > 0, "the bandwidth of NVLink is not known")
    alone = {rows: rows * COLUMNS * BFLOAT16 / link * 1e-3 for rows in found}
    picture = Picture("Time on two GPUs against rows, and the share of NVLink's bandwidth", 342)
    picture.heading(LEFT, 16, "Microseconds of a call")
    axes = Axes(picture, 30, 176, (1, max(found)), (1, 600))
    axes.draw(found, (1, 10, 100), "")
    axes.curve({rows: us for rows, us in alone.items() if us >= 1}, "dashed", "NVLink alone", 9)
    picture.heading(LEFT, 204, "Share of NVLink's bandwidth")
    shares = Axes(picture, 220, 288, (1, max(found)), (0.2, 100))
    shares.draw(found, (1, 10, 100), " %")
    for name, kind, lower in LINES:
        times = {rows: of_rows[name] for rows, of_rows in found.items() if name in of_rows}
        of_link = {rows: 100 * alone[rows] / us for rows, us in times.items()}
        axes.curve(times, kind, name, lower)
        shares.curve(of_link, kind, f"{of_link[max(times)]:.0f} %", -lower)
    says = (f"Two {card}s, {run['date']}, rows of {COLUMNS} in bfloat16. Dashed: x of a GPU",
            f"at {link:g} GB/s. Best peer: the fastest of three all-reduces, then the norm.")
    for line, words in enumerate(says):
        picture.left_text(LEFT, 316 + 13 * line, words, "", 9)
    return picture


PICTURES = {"shots": draw_shots, "trips": draw_trips, "mailboxes": draw_mailboxes,
            "rows_and_gpus": draw_rows_and_gpus}
