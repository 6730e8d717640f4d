"""From the figures of interleaved repeats to a table: best, median, and ratios with their ranges. Runs nothing."""

import statistics

from tracers import EMPTY, NONE, TWO_CLOCK_READS


def rows(load, figures):
    """One row per variant. A ratio compares figures of one repeat, which were taken close together."""
    pick = max if load.better == "higher" else min
    bare = figures[NONE]
    built = []
    for name, own in figures.items():
        row = {"variant": name, "best": pick(own["best"]), "median": statistics.median(own["median"])}
        row["best_times_untraced"] = row["best"] / pick(bare["best"])
        row["times_untraced"] = ranged(a / b for a, b in zip(own["median"], bare["median"]))
        for key, base in (("times_empty", EMPTY), ("times_floor", TWO_CLOCK_READS)):
            if load.better == "lower" and base in figures:
                row[key] = added(own["best"], figures[base]["best"], bare["best"])
        built.append(row)
    return built


def added(own, base, bare):
    """What is added to a figure, in units of what `base` adds: of the best of all repeats, and the range over the repeats."""
    scale = min(base) - min(bare)
    if scale <= 0:
        return None
    each = [(a - c) / (b - c) for a, b, c in zip(own, base, bare) if b > c]
    value = (min(own) - min(bare)) / scale
    return {"value": value, "least": min([*each, value]), "most": max([*each, value])}


def ranged(values):
    values = list(values)
    return {"value": statistics.median(values), "least": min(values), "most": max(values)}


def show(load, built):
    """Prints the table of one load."""
    best = "most" if load.better == "higher" else "least"
    columns = [("x untraced", "times_untraced")]
    if load.better == "lower" and load.name == "null call":
        columns += [("x empty pair", "times_empty"), ("x floor", "times_floor")]
    head = "".join(f"{title:>22}" for title, _ in columns)
    print(f"\n{load.name}: {load.unit}\n  {'':<34}{best:>14}{'x ' + best:>12}{'median':>14}{head}")
    for row in built:
        ratios = "".join(f"{ratio(row.get(key), row['variant']):>22}" for _, key in columns)
        print(f"  {row['variant']:<34}{row['best']:>14,.1f}{row['best_times_untraced']:>12.2f}{row['median']:>14,.1f}{ratios}")


def ratio(found, variant):
    if found is None or variant == NONE:
        return "-"
    value, least, most = (digits(found[key]) for key in ("value", "least", "most"))
    return value if least == most else f"{value} ({least}-{most})"


def digits(value):
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.0f}"


def show_exact(counted):
    """Prints calls counted of those made."""
    print(f"\ncounted of {counted[0]['made']:,} calls made" if counted else "", end="\n" if counted else "")
    for row in counted:
        lost = "-" if row["counted"] is None else f"{row['counted']:,} ({row['made'] - row['counted']:,} lost)"
        print(f"  {row['tracer']:<34}{lost:>34}  at {row['per_second']:,.0f} calls per second")
