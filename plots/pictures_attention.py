"""The picture of the page on attention for Hopper, which plots/diagrams.py draws with all others."""

from diagrams import LEFT, ROOT, Picture, require

STAGE_15 = ROOT / "chapters" / "08_attention" / "15_overlap.sm90a.cuh"
SCORES, SOFTMAX, VALUES = 2, 5, 2  # examples, not measured
KINDS = {"scores": "blue", "values": "pale", "softmax": "orange"}


def consumers(count, steps, overlapped):
    """(consumer, part, step, start, end) of each part of the work of `count` consumers. The tensor cores do
    one product at a time. A consumer that overlaps starts the scores of the next step together with the
    product of this one's weights and v; else it does one thing after the other."""
    free, tensor_cores, found = [0] * count, 0, []

    def multiply(consumer, part, step, length):
        nonlocal tensor_cores
        start = max(free[consumer], tensor_cores)
        tensor_cores = start + length
        found.append((consumer, part, step, start, tensor_cores))
        return tensor_cores

    for step in range(steps + 1):
        for consumer in sorted(range(count), key=lambda one: free[one]):
            ends = [free[consumer]]
            if not overlapped and step > 0:
                free[consumer] = multiply(consumer, "values", step - 1, VALUES)
            if step < steps:
                scored = multiply(consumer, "scores", step, SCORES)
                found.append((consumer, "softmax", step, scored, scored + SOFTMAX))
                ends.append(scored + SOFTMAX)
            if overlapped and step > 0:
                ends.append(multiply(consumer, "values", step - 1, VALUES))
            free[consumer] = max(ends)
    return found


def idle_share(parts, end):
    """The share of the time up to `end` in which the tensor cores have nothing to do."""
    return 1 - sum(max(min(stop, end) - start, 0)
                   for _, part, _, start, stop in parts if part != "softmax") / end


def draw_overlapped_softmax(programs):
    softmax = "softmax.to_weights(scores);\n      wgmma_wait<0>"
    overlap = STAGE_15.read_text()
    require(overlap.index("start_values(o, weights") < overlap.index(softmax),
            "stage 15 does not start the product before the softmax")
    unit, left, end, y, idle = 9.4, 84, 33, 14, []
    picture = Picture("Who multiplies while a softmax is computed", 318)
    for name, count, overlapped in (("Stage 14, one consumer: one thing after the other", 1, False),
                                    ("Stage 15, one consumer: the next scores come early", 1, True),
                                    ("Stage 16: three consumers that do so", 3, True)):
        parts = consumers(count, 4, overlapped)
        idle.append(idle_share(parts, end))
        picture.heading(LEFT, y, name)
        rows = [("tensor cores", [part for part in parts if part[1] != "softmax"])]
        for one in range(count):
            rows.append(("softmax" if count == 1 else f"consumer {one}",
                         [part for part in parts if part[:2] == (one, "softmax")]))
        for number, (who, of_row) in enumerate(rows):
            top = y + 14 + 21 * number
            picture.right_text(left - 8, top + 8, who, "", 10)
            for consumer, part, step, start, stop in of_row:
                if start < end:
                    letter = {"scores": "S ", "values": "V ", "softmax": ""}[part]
                    says = step if part == "softmax" or count == 1 else consumer
                    picture.cell(left + start * unit, top, (min(stop, end) - start) * unit - 1, 17,
                                 f"{letter}{says}", KINDS[part], 9)
        y += 30 + 21 * len(rows)
    require(idle[0] > idle[1] > idle[2], "the tensor cores do not get busier")
    for line, says in enumerate(("Time runs to the right. S: scores. V: the product with v. Orange: softmax.",
                                 "With one consumer, numbers are steps. With three, those of S and V are",
                                 "consumers. The lengths are examples, not measurements.")):
        picture.left_text(LEFT, y + 15 * line, says, "", 9)
    return picture


PICTURES = {"overlapped_softmax": draw_overlapped_softmax}
