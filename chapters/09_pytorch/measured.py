"""The table of what measure.py has stored. It needs no PyTorch, since the pages quote it."""

WAYS = ("eager", "compiled", "ours")
HEADING = (f"{'':28}{'forward':>27}{'forward and backward':>27}",
           f"{'operator':18}{'type':10}" + 2 * "".join(f"{way:>9}" for way in WAYS))


def row_of(entry):
    """A line for one operator and type: times in us."""
    row = f"{entry['operator']:18}{entry['type']:10}"
    for times in zip(*(entry["times"][way] for way in WAYS)):
        row += "".join(f"{each:9.0f}" for each in times)
    return row


def heading_of(run):
    return (f"{run['device']}, PyTorch {run['torch']}, {run['date']}, {run['command']}", "",
            f"{run['rows']} x {run['columns']} elements, us", *HEADING)


def table(run):
    return [*heading_of(run), *map(row_of, run["times"])]
