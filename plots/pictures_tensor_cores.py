"""The pictures of chapter 06, which plots/diagrams.py draws with those of the other lessons.

Which lane holds what comes from a trace of wmma on the CPU device. What only a GPU runs is computed here by
the rules of the code, with constants that are read from it. tests/docs/check_on_paper.py uses the same rules.
"""

import collections
import re

from diagrams import INNER, LEFT, ROOT, WARP, WIDTH, Picture, lanes_of, requests_of, require

CHAPTER = ROOT / "chapters" / "06_tensor_cores"
HOPPER = ROOT / "common" / "kernels" / "hopper.sm90a.cuh"
WORD, BANKS, CHUNK = 4, 32, 16  # bytes of a word of shared memory, banks, bytes that a swizzle moves together
BFLOAT16 = 2


# --- Rules and constants of the code ---


def source(name):
    return (CHAPTER / name).read_text()


def constant(text, name):
    """An integer that a source defines, "NAME = 123"."""
    found = re.search(rf"\b{name} = (\d+)\b", text)
    require(found, f"no {name} in the code")
    return int(found[1])


def wmma_tile():
    """The sizes of stage 1: {"BM": 128, ...}."""
    text = source("01_wmma.cuh")
    return {name: constant(text, name) for name in ("BM", "BN", "BK", "WM", "WN", "kFragment")}


def swizzle_row_bytes():
    return constant(HOPPER.read_text(), "kSwizzledRowBytes")


def swizzled(row, chunk):
    """Where a swizzled tile keeps a 16-byte chunk of a row."""
    require("((2 * i + half_x) ^ row_x % 8) * 16" in source("02_mma.gpu.cuh"), "02_mma swizzles otherwise")
    return chunk ^ row % 8


def unswizzled(_, chunk):
    return chunk


def wavefronts(place, chunk, row_bytes):
    """The most words in one bank when 8 lanes read one chunk of 8 successive rows."""
    words = [(row * row_bytes + place(row, chunk) * CHUNK) // WORD + i
             for row in range(8) for i in range(CHUNK // WORD)]
    return max(collections.Counter(word % BANKS for word in words).values())


def pipeline_size(name):
    """(rows, columns, stages) of "using NAME = Pipeline<...>"."""
    text = "".join(path.read_text() for path in sorted(CHAPTER.glob("*.sm90a.cuh")))
    found = re.search(rf"using {name} = Pipeline<(\d+), (\d+), (\d+)>", text)
    require(found, f"no {name} in the code")
    return tuple(map(int, found.groups()))


def ring_states(stages, steps):
    """(stage, parity) of each step, as PipelineState counts them."""
    state, states = (0, 0), []
    for _ in range(steps):
        states.append(state)
        stage, parity = state
        state = (stage + 1, parity) if stage + 1 < stages else (0, parity ^ 1)
    return states


class Barrier:
    """An mbarrier: a phase is complete after `expected` arrivals."""

    def __init__(self, expected):
        self.expected, self.arrived, self.phase = expected, 0, 0

    def arrive(self):
        self.arrived += 1
        if self.arrived == self.expected:
            self.arrived, self.phase = 0, self.phase + 1

    def lets_pass(self, parity):
        """wait(): the phase with this parity is complete. On a fresh barrier, that is parity 1."""
        return self.phase % 2 != parity


def deadlocks(stages, steps, *, first_parity=1, arrivals=4, releases=4, late=0):
    """Whether a producer and a consumer with this ring stop before their last step. The producer waits for
    `empty` with `first_parity` in its first round; `empty` expects `arrivals`, and `releases` warps arrive;
    the consumer releases a stage when it has waited for `late` more."""
    full, empty = ([Barrier(count) for _ in range(stages)] for count in (1, arrivals))
    states = ring_states(stages, steps)
    copied = multiplied = released = 0
    moved = True
    while moved:
        moved = False
        if copied < steps and empty[states[copied][0]].lets_pass(states[copied][1] ^ first_parity):
            full[states[copied][0]].arrive()  # the copy is complete
            copied, moved = copied + 1, True
        if multiplied < steps and full[states[multiplied][0]].lets_pass(states[multiplied][1]):
            multiplied, moved = multiplied + 1, True
        while released < multiplied - late or multiplied == steps > released:
            for _ in range(releases):
                empty[states[released][0]].arrive()
            released, moved = released + 1, True
    return multiplied < steps


class Scheduler:
    """StreamKScheduler of stage 10."""

    def __init__(self, clusters, steps, pairs):
        text = source("10_stream_k.sm90a.cuh")
        for rule in ("(clusters - in_last_wave) * steps > clusters * kHandOverSteps",
                     "whole = (2 * in_last_wave < clusters ? waves - 1 : waves) * clusters",
                     "static_cast<long long>(shared_steps) * cluster / clusters"):
            require(rule in text, f"stage 10 has another rule than {rule}")
        self.clusters, self.steps, self.whole, self.shared_steps = clusters, steps, pairs, 0
        waves, in_last_wave = divmod(pairs, clusters)
        saves = (clusters - in_last_wave) * steps > clusters * constant(text, "kHandOverSteps")
        if waves and in_last_wave and saves:
            self.whole = (waves - 1 if 2 * in_last_wave < clusters else waves) * clusters
            self.shared_steps = (pairs - self.whole) * steps

    def start_of(self, cluster):
        return self.shared_steps * cluster // self.clusters

    def parts(self, cluster):
        """(pair, first step, last step) of what a cluster computes of the shared pairs."""
        at, end, found = self.start_of(cluster), self.start_of(cluster + 1), []
        while at < end:
            pair, first = divmod(at, self.steps)
            following = min(end, (pair + 1) * self.steps)
            found.append((pair, first, first + following - at))
            at = following
        return found


def descriptor_constants():
    """{name: value} of the parts of a matrix descriptor."""
    body = re.search(r"matrix_descriptor\(.*?^}", HOPPER.read_text(), re.S | re.M)[0]
    found = re.findall(r"(k\w+) = ([^;]+);", body)
    return {name: eval(value.replace("ull", "")) for name, value in found}  # digits and operators alone


# --- Pictures ---


def draw_fragment_hierarchy(programs):
    t = wmma_tile()
    launch, = programs.trace("06_tensor_cores", "128x32x128", "01_wmma")
    warps = t["BM"] // t["WM"] * (t["BN"] // t["WN"])
    require(launch["block"][0] == warps * WARP, "a block of 01_wmma has another number of warps")
    picture, top = Picture("Block tile, warp tile and fragment", 232), 60
    unit = 112 / t["BM"]  # pixels of an element in the first two
    columns = (LEFT, 168, 284)
    names = (("block tile", f"{t['BM']} × {t['BN']}"), ("warp tile", f"{t['WM']} × {t['WN']}"),
             ("fragment", f"{t['kFragment']} × {t['kFragment']}"))
    for x, (name, size) in zip(columns, names):
        picture.left_text(x, 16, name, "bold", 12)
        picture.left_text(x, 34, size, "", 11)
    wide, high = t["WN"] * unit, t["WM"] * unit
    for warp in range(warps):
        row, column = divmod(warp, t["BN"] // t["WN"])
        x, y = LEFT + wide * column, top + high * row
        picture.cell(x, y, wide, high, warp, "blue" if warp == 3 else "pale")
        if warp == 3:
            corner = (x + wide, y, y + high)
    side, down, along = 28, t["WM"] // t["kFragment"], t["WN"] // t["kFragment"]
    picture.line([corner[:2], (columns[1], top), (columns[1], top + side * down), (corner[0], corner[2])],
                 "fan", head=False)
    for fragment in range(down * along):
        row, column = divmod(fragment, along)
        picture.box(columns[1] + side * column, top + side * row, side, side,
                    "orange" if fragment == 1 else "blue")
    x, small = columns[1] + side * along, 6.5
    picture.line([(x, top), (columns[2], top), (columns[2], top + small * 16), (x, top + side)], "fan",
                 head=False)
    stores = requests_of(launch, operation="store", array="staging")[:4]
    pitch = sorted(offset for offset in lanes_of(stores[0]).values())[4]  # lane 4 has the next row
    held = {divmod(lanes_of(request)[0] + 4 * i, pitch) for request in stores for i in range(2)}
    held = {(row, at // 4) for row, at in held}
    require(len(held) * WARP == t["kFragment"] ** 2, "a lane holds another share of a fragment")
    for row in range(16):
        for column in range(16):
            picture.box(columns[2] + small * column, top + small * row, small, small,
                        "orange" if (row, column) in held else "pale", 0)
    for x, line, words in ((LEFT, 0, f"{warps} warps;"), (LEFT, 1, "warp 3 in blue"),
                           (columns[1], 0, f"{down * along} fragments"),
                           (columns[2], 0, f"{WARP} lanes hold"), (columns[2], 1, f"{len(held)} sums each;"),
                           (columns[2], 2, "lane 0 in orange")):
        picture.left_text(x, 188 + 14 * line, words, size=10)
    return picture


def held_by(requests, row_bytes, element):
    """{(row, column): (lane, number of the request)} of the elements that lanes access, two each."""
    found = {}
    for register, request in enumerate(requests):
        for lane, offset in lanes_of(request).items():
            row, at = divmod(offset, row_bytes)
            found[row, at // element] = lane, register
    return found


def draw_mma_fragment(programs):
    launch, = programs.trace("06_tensor_cores", "128x32x128", "01_wmma")
    bk = wmma_tile()["BK"]
    x = held_by(requests_of(launch, operation="load", array="tile_x")[:4], (bk + 8) * BFLOAT16, BFLOAT16)
    w = held_by(requests_of(launch, operation="load", array="tile_w")[:2], (bk + 8) * BFLOAT16, BFLOAT16)
    acc = held_by(requests_of(launch, operation="store", array="staging")[:2], 20 * FLOAT_BYTES, FLOAT_BYTES)
    code = (ROOT / "common" / "kernels" / "mma.gpu.cuh").read_text()
    require("row += lane / 4;\n  column += lane % 4 * 2;" in code, "mma.gpu.cuh holds accumulators elsewhere")
    for (row, column), (lane, register) in acc.items():
        require((row, column) == (lane // 4 + 8 * register, lane % 4 * 2), "wmma and mma.sync differ")
    picture, top, wide, high, chosen = Picture("Which lane holds what", 300), 46, 17, 12, 5
    left = LEFT
    for name, shape, held, columns, unit in (("x", "16 × 16", x, 16, "registers"),
                                             ("acc", "16 × 8", acc, 8, "sums"),
                                             ("w", "8 × 16", w, 16, "registers")):
        rows = len(held) * 2 // columns
        picture.left_text(left, 14, name, "bold", 12)
        picture.left_text(left, 32, shape, "dim", 10)
        for (row, column), (lane, _) in held.items():
            picture.cell(left + wide * column / 2, top + high * row, wide, high, lane,
                         "blue" if lane == chosen else "plain", 9)
        number = sum(lane == chosen for lane, _ in held.values())
        says = f"{2 * number} {unit}" if unit == "sums" else f"{number} {unit}"
        picture.left_text(left, top + high * rows + 14, says, "", 10)
        left += wide * columns / 2 + 18
    y = top + 16 * high + 30
    says = f"In the boxes: the lane that holds these two elements; lane {chosen} in blue."
    for line, words in enumerate((says, "A row of w is a column of the result.")):
        picture.left_text(LEFT, y + 16 * line, words, "", 10)
    return picture


FLOAT_BYTES = 4


def draw_swizzle(programs):
    row_bytes, chosen, wide, high, top = swizzle_row_bytes(), 2, 21, 18, 66
    chunks = row_bytes // CHUNK
    picture = Picture("Eight rows of 128 bytes, with and without a swizzle", 254)
    for left, place, name in ((LEFT, unswizzled, "Without a swizzle"), (220, swizzled, "With: c ^ row % 8")):
        picture.heading(left, 14, name)
        picture.left_text(left, 34, "first bank of each position", "dim", 9)
        for position in range(chunks):
            picture.text(left + wide * (position + 0.5), 54, position * CHUNK // WORD % BANKS, "dim", 9)
        for row in range(8):
            for chunk in range(chunks):
                picture.cell(left + wide * place(row, chunk), top + high * row, wide, high, chunk,
                             "blue" if chunk == chosen else "plain")
        waves = wavefronts(place, chosen, row_bytes)
        picture.left_text(left, top + 8 * high + 16, f"chunk {chosen} of 8 rows:", "", 10)
        says = f"{waves} wavefront" + ("" if waves == 1 else "s")
        picture.left_text(left, top + 8 * high + 32, says, "bold", 11)
    for row in range(8):
        picture.text(200, top + high * (row + 0.5), f"row {row}", "dim", 9)
    return picture


def draw_matrix_descriptor(programs):
    values = descriptor_constants()
    bits = {"address / 16": (0, 14), "leading": (16, 30), "stride / 16": (32, 46), "base": (49, 52),
            "swizzle": (62, 64)}
    example = 33 * 1024  # bytes: a multiple of kTileAlignment
    whole = example >> 4 | sum(values.values())
    fields = {name: whole >> first & (1 << end - first) - 1 for name, (first, end) in bits.items()}
    require(fields["stride / 16"] * 16 == 1024 and fields["swizzle"] == 1
            and fields["address / 16"] * 16 == example, "the descriptor has other fields")
    again = sum(fields[name] << first for name, (first, _) in bits.items())
    require(whole == again, "the descriptor has bits beside the fields")
    picture, one = Picture("The fields of a shared-memory matrix descriptor", 268), INNER / 32
    for word in (1, 0):
        y = 30 if word else 92
        picture.text(LEFT + 10, y - 8, 32 * word + 31, "dim", 9)
        picture.text(WIDTH - LEFT - 6, y - 8, 32 * word, "dim", 9)
        picture.box(LEFT, y, INNER, 26, "idle")
        for name, (first, end) in bits.items():
            if first // 32 == word:
                x = LEFT + (32 * word + 32 - end) * one
                picture.cell(x, y, (end - first) * one, 26, name if end - first > 3 else "", "blue"
                             if fields[name] else "pale")
    picture.left_text(LEFT, 66, "swizzle", "", 9)
    picture.text(LEFT + (64 - 50.5) * one, 66, "base", "", 9)
    rows = (("address / 16", f"the tile starts at byte {example} of shared memory"),
            ("leading", "not used with this swizzle"),
            ("stride / 16", f"{fields['stride / 16'] * 16} bytes from 8 rows to the next 8"),
            ("base", "0: the tile starts at a multiple of 1024 bytes"),
            ("swizzle", "1: swizzled in rows of 128 bytes"))
    for line, (name, says) in enumerate(rows):
        y = 142 + 18 * line
        picture.left_text(LEFT, y, name, "bold", 10)
        picture.right_text(118, y, fields[name], "", 10)
        picture.left_text(130, y, says, "", 10)
    picture.left_text(LEFT, 240, f"All 64 bits: {whole:#018x}", "", 10)
    picture.left_text(LEFT, 256, "16 columns further along k are 32 bytes: add 2", "dim", 10)
    return picture


def draw_ring(programs):
    _, _, stages = pipeline_size("Pipeline128x128")
    steps, left, wide, high, top = 10, 108, 28, 24, 44
    require("state.parity ^ 1" in source("04_producer.sm90a.cuh"), "the producer waits for another parity")
    states = ring_states(stages, steps)
    require(not deadlocks(stages, 5 * stages), "the ring deadlocks")
    picture = Picture("A ring of four buffers and its parities", 296)
    picture.heading(LEFT, 14, f"A ring of {stages} buffers")
    picture.right_text(left - 8, 34, "step", "dim", 10)
    for stage in range(stages):
        picture.right_text(left - 8, top + high * (stage + 0.5), f"buffer {stage}", "", 10)
    for step, (stage, parity) in enumerate(states):
        x = left + wide * step
        picture.text(x + wide / 2, 34, step, "dim", 10)
        for other in range(stages):
            if other == stage:
                picture.cell(x, top + high * stage, wide - 2, high - 2, step, "orange" if parity else "blue")
            else:
                picture.box(x, top + high * other, wide - 2, high - 2, "idle")
        for y, waits in ((166, parity ^ 1), (190, parity)):
            picture.text(x + wide / 2, y, waits, "bold" if waits else "", 11)
    picture.right_text(left - 8, 150, "waits for parity", "dim", 9)
    picture.right_text(left - 8, 166, "producer, empty", "", 10)
    picture.right_text(left - 8, 190, "consumer, full", "", 10)
    # One moment: the consumer reads the first step of round 1, and the ring is full.
    reads = stages
    fills = reads + stages
    require(states[fills][0] == states[reads][0], "the producer waits for another buffer")
    picture.right_text(left - 8, 228, "at one moment", "dim", 9)
    for step, says, end in ((reads, ("the consumer", f"reads {reads}"), left + wide * (reads + 1)),
                            (fills, ("the producer", f"waits to fill {fills}"), WIDTH - LEFT)):
        x = left + wide * (step + 0.5)
        picture.line([(x, 222), (x, 206)], "arrow")
        for line, words in enumerate(says):
            picture.right_text(end, 229 + 13 * line, words, "bold", 9)
    first, last = left + wide * (reads + 1) + 3, left + wide * fills - 5
    picture.line([(first, 206), (first, 212), (last, 212), (last, 206)], "dashed", head=False)
    picture.text((first + last) / 2, 221, "in flight", "", 9)
    for line, says in enumerate(("Blue: phase parity 0. Orange: 1. The parity flips when the ring wraps.",
                                 "Steps 0 to 3: the producer does not wait, since the buffers are empty.")):
        picture.left_text(LEFT, 268 + 16 * line, says, "", 10)
    return picture


def draw_stream_k(programs):
    clusters, steps, last = 6, 96, 4
    scheduler = Scheduler(clusters, steps, clusters + last)
    require(scheduler.whole == clusters and scheduler.shared_steps == last * steps, "other shares")
    title = "The last wave, in whole pairs and in equal shares"
    picture, left, unit = Picture(title, 338), 74, 3.1
    kinds = ("blue", "orange", "pale", "plain")

    def bar(cluster, y, start, length, pair):
        picture.cell(left + start * unit, y, length * unit - 1, 15, f"pair {pair}" if length > 14 else "",
                     kinds[pair % 4], 9)

    totals = []
    for top, name in ((36, "Whole pairs"), (204, "Equal shares of the steps")):
        picture.heading(LEFT, top - 20, name)
        for cluster in range(clusters):
            y = top + 18 * cluster
            picture.right_text(left - 6, y + 8, f"cluster {cluster}", "", 9)
            if top == 36:
                if cluster < last:
                    bar(cluster, y, 0, steps, cluster)
                else:
                    picture.cell(left, y, steps * unit - 1, 15, "idle", "idle", 9)
                continue
            at = 0
            for pair, first, end in scheduler.parts(cluster):
                bar(cluster, y, at, end - first, pair)
                at += end - first
            totals.append(at)
    require(sum(totals) == last * steps and max(totals) - min(totals) <= 1, "shares are not equal")
    picture.left_text(LEFT, 36 + 18 * clusters + 8, f"{last} pairs of {steps} steps for {clusters} clusters: "
                      f"{steps} steps long", "", 10)
    picture.left_text(LEFT, 204 + 18 * clusters + 8, f"{totals[0]} steps each, and partial sums to hand over",
                      "", 10)
    return picture


def draw_multicast(programs):
    rows, columns, _ = pipeline_size("Pipeline128x256")
    depth = swizzle_row_bytes() // BFLOAT16
    require("constexpr int kHalf = P::BN / 2" in source("07_multicast.sm90a.cuh"), "other halves are shared")
    x_kib, w_kib = (count * depth * BFLOAT16 // 1024 for count in (rows, columns))
    picture = Picture("Two blocks of a cluster share the tile of w", 216)
    picture.cell(LEFT, 16, INNER, 26, "L2 cache", "pale", 11)
    for block, left in ((0, LEFT), (1, 206)):
        picture.box(left, 100, 182, 82, "plain", 4)
        picture.text(left + 91, 172, f"block {block}: shared memory", "bold", 10)
        picture.cell(left + 8, 110, 50, 50, f"x: {x_kib} KiB", "pale", 9)
        for half in (0, 1):
            picture.cell(left + 64 + 56 * half, 110, 54, 50, f"w, half {half}",
                         "blue" if half == 0 else "orange", 9)
        picture.line([(left + 33, 43), (left + 33, 108)])
    for half, start, kind in ((0, LEFT + 91, "arrow-blue"), (1, 206 + 147, "arrow-orange")):
        split = 60 if half == 0 else 76
        picture.line([(start, 43), (start, 108)], kind)
        other = 206 + 91 if half == 0 else LEFT + 147
        picture.line([(start, split), (other, split), (other, 108)], kind)
    before, after = x_kib + w_kib, x_kib + w_kib // 2
    picture.left_text(LEFT, 200, f"Read from L2 per block and step: {after} KiB, not {before}.", "", 10)
    return picture


def draw_whole_lines(programs):
    """The parts that a warp stores at a time: eight rows of its accumulators, or rows of a staging buffer."""
    code = (ROOT / "common" / "kernels" / "mma.gpu.cuh").read_text()
    require("column += lane % 4 * 2;" in code, "lanes hold other columns")
    columns = constant(HOPPER.read_text(), "kSwizzledRowBytes") // BFLOAT16
    line, sector = columns * BFLOAT16, 32
    picture, top, wide, high = Picture("Stores, direct and staged", 232), 58, 44, 16
    used = 4 * 2 * BFLOAT16  # four lanes, two columns each
    sides = ((LEFT, "Accumulators as they are", used / sector), (212, "Staged, by the TMA", 1))
    for left, name, share in sides:
        picture.heading(left, 14, name)
        picture.left_text(left, 34, f"a row of y: {line} bytes, {line // sector} sectors", "dim", 10)
        for row in range(8):
            for number in range(line // sector):
                picture.box(left + wide * number, top + high * row, wide - 2, high - 3, "idle")
                if share == 1 or number == 0:
                    picture.box(left + wide * number, top + high * row, (wide - 2) * share, high - 3, "blue")
        says = f"one request: {used} bytes in each of 8 sectors" if share < 1 else "one copy: whole lines"
        picture.left_text(left, top + 8 * high + 12, says, "", 9)
    picture.left_text(LEFT, 220, "Only one request and one copy are shown.", "dim", 9)
    return picture


def ping_pong(tiles, multiply, epilogue):
    """(group, tile, start, end of its products) of each tile when one group multiplies at a time: group 0
    has the even tiles, group 1 the odd ones."""
    free, tensor_cores, found = [0, 0], 0, []
    for tile in range(tiles):
        group = tile % 2
        start = max(free[group], tensor_cores)
        tensor_cores = start + multiply
        free[group] = tensor_cores + epilogue
        found.append((group, tile, start, tensor_cores))
    return found


def draw_ping_pong(programs):
    multiply, epilogue, unit, left = 6, 4, 9.2, 92  # not measured: an epilogue is shorter than its products
    picture = Picture("Two consumers that multiply together, and in turn", 274)

    def row(y, name, spans):
        picture.right_text(left - 8, y + 8, name, "", 10)
        for start, end, words, kind in spans:
            picture.cell(left + start * unit, y, (end - start) * unit - 1, 17, words, kind, 9)

    together = [(start, start + 2 * multiply) for start in (0, 2 * multiply + epilogue)]
    picture.heading(LEFT, 14, "Stage 8: both multiply, then both compute GELU")
    for group in (0, 1):
        spans = [(start, end, "products", "blue") for start, end in together]
        spans += [(end, end + epilogue, "GELU", "orange") for _, end in together]
        row(30 + 22 * group, f"group {group}", spans)
    row(80, "products", [(*span, "of both", "pale") for span in together]
        + [(end, end + epilogue, "none", "idle") for _, end in together])
    picture.heading(LEFT, 128, "Stage 9: one multiplies while the other computes GELU")
    tiles = ping_pong(4, multiply, epilogue)
    for group in (0, 1):
        own = [(tile, start, end) for of, tile, start, end in tiles if of == group]
        spans = [(start, end, f"tile {tile}", "blue") for tile, start, end in own]
        spans += [(end, end + epilogue, "GELU", "orange") for _, _, end in own]
        row(144 + 22 * group, f"group {group}", spans)
    row(194, "products", [(tiles[0][2], tiles[-1][3], "of one group at any time", "pale")])
    require(all(a[3] == b[2] for a, b in zip(tiles, tiles[1:])), "there is a gap between the products")
    for line, says in enumerate(("Time runs to the right. The rule is that of the code;",
                                 "the lengths are examples, not measurements: in stage 9 products also",
                                 "take longer than at full rate, so the tensor cores are not full.")):
        picture.left_text(LEFT, 230 + 16 * line, says, "dim", 10)
    return picture


def tile_times(tiles, fill, multiply, store, persistent):
    """(copies, products, stores) of successive tiles of a multiprocessor, each as (start, end). A new block
    begins to fill its pipeline when the one before has ended. A persistent block's producer does so as soon
    as the last products have freed the pipeline, while the consumers store."""
    free, found = 0, []
    for tile in range(tiles):
        filled = free + fill
        start = max(filled, found[-1][2][1] if found else 0)
        end = start + multiply
        found.append(((free, end), (start, end), (end, end + store)))
        free = end if persistent else end + store
    return found


def draw_persistent(programs):
    fill, multiply, store, unit, left = 2, 7, 3, 10.2, 92  # examples, not measured
    require("i += gridDim.x" in source("06_persistent.sm90a.cuh"), "the blocks of stage 6 have one tile")
    picture = Picture("A block per tile, and a block that stays", 244)
    ends = []
    for top, name, persistent in ((14, "Stage 5: a block per tile", False),
                                  (114, "Stage 6: a persistent block", True)):
        picture.heading(LEFT, top, name)
        times = tile_times(2, fill, multiply, store, persistent)
        rows = (("producer", 0, "copies {}", "pale"), ("consumers", 1, "products {}", "blue"),
                ("", 2, "store", "orange"))
        for number, (who, which, words, kind) in enumerate(rows):
            y = top + 16 + 22 * number
            picture.right_text(left - 8, y + 8 + (11 if number == 1 else 0), who, "", 10)
            for tile, spans in enumerate(times):
                start, end = spans[which]
                width = (end - start) * unit - 1
                picture.cell(left + start * unit, y, width, 17, words.format(tile), kind, 9)
        ends.append(times[-1][2][1])
    require(ends[1] == ends[0] - fill, "a persistent block does not save the time to fill")
    for line, says in enumerate(("Time runs to the right. A persistent block fills the pipeline for tile 1",
                                 "while it stores tile 0. The lengths are examples, not measurements.")):
        picture.left_text(LEFT, 212 + 16 * line, says, "", 10)
    return picture


PICTURES = {
    "fragment_hierarchy": draw_fragment_hierarchy,
    "mma_fragment": draw_mma_fragment,
    "swizzle": draw_swizzle,
    "matrix_descriptor": draw_matrix_descriptor,
    "ring": draw_ring,
    "persistent": draw_persistent,
    "multicast": draw_multicast,
    "whole_lines": draw_whole_lines,
    "ping_pong": draw_ping_pong,
    "stream_k": draw_stream_k,
}
