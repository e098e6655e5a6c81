"""What a judge says of plans, as a table; see plan_table.py.

The judge is a command as `layout-inspect plan --judge` takes it, in which {} stands for the name of a program. It gets a
line `{"entry":{"in":[..],"out":[..]}}` and answers `{"cost":n}` or `{"error":".."}`. It is also asked what its own choice
of the entry's layouts costs, with "AUTO" for both lists.
"""

import json
import subprocess


class Judge:
    """The judge of one program."""

    def __init__(self, command, name):
        self.command = command.replace("{}", name)

    def ask(self, entry):
        """What an entry costs, or None."""
        line = json.dumps({"entry": entry}) + "\n"
        done = subprocess.run(self.command, shell=True, input=line, capture_output=True, text=True)
        try:
            return json.loads(done.stdout.splitlines()[0]).get("cost")
        except (IndexError, ValueError, AttributeError):
            return None


def judged(planned, command, most, texts):
    """The lines of the table. `planned` plans a text with options and returns the answer, or None, and a time."""
    lines = [
        "## What a judge says",
        "",
        "`default`: with the machine's default layouts of arguments and results. `AUTO`: with those that the judge's compiler",
        "chooses. `plan`: with those of the plan of least cost, of which the judge was not asked. `best`: the least of all",
        f"that it was asked of, at most {most}. `priced`: how many it has priced; fewer where there are no more orders, and where it",
        "refused or was stopped.",
        "",
        "| program | default | AUTO | plan | plan ÷ least of both | best | best ÷ least of both | priced |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    counts = {"plans": 0, "not above": 0, "below": 0, "best not above": 0, "best below": 0}
    for name, text in texts.items():
        judge = Judge(command, name)
        default, _ = planned(text, "--entry", "default")
        default = default and judge.ask(default["entry"])
        auto = judge.ask({"in": "AUTO", "out": "AUTO"})
        answer, _ = planned(text, "--entry", "free", "--judge", judge.command, "--judgements", str(most))
        priced = [own["judged"] for own in (answer or {}).get("judged", []) if own["judged"] is not None]
        if not priced or not default:
            continue
        plan, best, least = priced[0], min(priced), min(default, auto or default)
        counts["plans"] += 1
        counts["not above"] += plan <= least
        counts["below"] += plan < least
        counts["best not above"] += best <= least
        counts["best below"] += best < least
        cells = [name, f"{default:,}", f"{auto:,}" if auto else "-", f"{plan:,}", f"{plan / least:.3f}"]
        lines.append("| " + " | ".join([*cells, f"{best:,}", f"{best / least:.3f}", str(len(priced))]) + " |")
        print(lines[-1], flush=True)
    lines += [
        "",
        f"Of {counts['plans']} programs the plan costs no more than the less of `default` and `AUTO` for {counts['not above']},",
        f"and less for {counts['below']}; the best that was judged costs no more for {counts['best not above']}, and less for",
        f"{counts['best below']}.",
    ]
    return lines


def judged_once(planned, command, title, intro, texts):
    """The lines of a table of plans alone, without a search for better ones."""
    lines = [title, "", *intro, "", "| program | default | AUTO | plan | plan ÷ least of both |", "| --- | --- | --- | --- | --- |"]
    ratios = []
    for name, text in texts.items():
        judge = Judge(command, name)
        default, answer = (planned(text, "--entry", entry)[0] for entry in ("default", "free"))
        default, plan = (own and judge.ask(own["entry"]) for own in (default, answer))
        auto = judge.ask({"in": "AUTO", "out": "AUTO"})
        if default is None or plan is None:
            continue
        least = min(default, default if auto is None else auto)
        ratios.append(plan / max(1, least))
        cells = [name, f"{default:,}", "-" if auto is None else f"{auto:,}", f"{plan:,}", f"{ratios[-1]:.3f}"]
        lines.append("| " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    most = max(ratios, default=1)
    return [
        *lines,
        "",
        f"Of {len(ratios)} programs the plan costs no more than the less of `default` and `AUTO` for"
        f" {sum(ratio <= 1 for ratio in ratios)},",
        f"and less for {sum(ratio < 1 for ratio in ratios)}; at most {most:.2f} times as much.",
    ]
