"""The tables of what measure.py and models.py store. They need no PyTorch, since the pages quote them."""

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


# --- models.py ---

MODEL_WAYS = ("eager", "compiled", "ours", "both")


def model_rows(run):
    rows = []
    for at, what in enumerate(("forward", "forward and backward")):
        title = f"{what}, {run['type']}, us"
        rows += [f"{title:40}" + "".join(f"{way:>10}" for way in MODEL_WAYS)]
        for entry in run["models"]:
            tokens = "{} x {} tokens".format(*entry["tokens"])
            rows.append(f"{entry['model']:14}{tokens:26}"
                        + "".join(f"{entry['times'][way][at]:10.0f}" for way in MODEL_WAYS))
        rows.append("")
    return rows[:-1]


def loss_rows(run):
    rows = [f"{'':14}{'first loss':>14}{'after ' + str(run['steps']) + ' steps':>16}{'ours':>12}"
            f"{'largest difference':>22}"]
    for entry in run["losses"]:
        first, last = entry["eager"]
        rows.append(f"{entry['model']:14}{first:14.6f}{last:16.6f}{entry['ours'][-1]:12.6f}"
                    f"{entry['difference']:22.1e}")
    return rows


def linear_rows(run):
    ways = [way for way in run["linear"][0] if way != "rows"]
    rows = [f"{'rows':>8}" + "".join(f"{way:>18}" for way in ways)]
    rows += [f"{entry['rows']:8}" + "".join(f"{entry[way]:18.2f}" for way in ways) for entry in run["linear"]]
    return rows


MODEL_TABLES = {"losses": loss_rows, "models": model_rows, "linear": linear_rows}
