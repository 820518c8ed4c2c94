"""Many trainings at once on few cores: all end, their records hold, and together they stay within their memory."""

import os
import random
import time

from trial import CASES, Files, Process, Trial, Violation, is_private, leftovers, make_reference, memory_of, require, write_rows

GB = 1 << 30


def one_crowd(sotto, folder, rows, numbers, references, options):
    """All of them started at the same moment, in one folder. What was measured."""
    os.makedirs(os.path.join(folder, "tmp"))
    trials, processes = [], []
    names = list(CASES)
    for k in range(options.crowd):
        name = names[k % len(names)]
        seeded = numbers.random() < 0.5 or not is_private(CASES[name])
        chosen = {"seeded": seeded, "every": numbers.choice((None, 1, 7)), "threads": 0}
        trials.append(Trial(sotto, name, Files(folder, f"model-{k:03d}"), rows, chosen, references[name]))
    for trial in trials:
        trial.begin()
        processes.append(Process(trial.words(), folder))
    most, most_at_once, began = 0, 0, time.monotonic()
    while any(process.running() for process in processes):
        sizes = [memory_of(process.pid, "VmRSS") for process in processes if process.running()]
        most, most_at_once = max(most, sum(sizes)), max(most_at_once, len(sizes))
        time.sleep(0.05)
        if time.monotonic() - began > 3600:
            break
    problems, same = [], 0
    for trial, process in zip(trials, processes):
        try:
            code = process.end()
            require(code == 0, f"exit code {code}: {process.told()}")
            trial.after_success(process)
            facts = trial.ended()
            require(facts["record"] and not facts["lost"], "no record, or something was lost, though nothing was interrupted")
            same += facts.get("same_weights", False)
        except Violation as violation:
            problems.append(f"{trial.files.model} ({trial.case}): {violation}")
    if most > options.memory * GB:
        problems.append(f"{most / GB:.2f} GB at a time, but {options.memory} GB are allowed")
    others, temporary = leftovers(folder, set().union(*(trial.files.names() for trial in trials)))
    if others or temporary:
        problems.append(f"left behind: {others}, {temporary} temporary files")
    facts = {"most_mb": round(most / (1 << 20)), "most_at_once": most_at_once, "same_weights": same}
    return {"seconds": round(time.monotonic() - began, 1), **facts}, problems


def main(sotto, work, seed, options, say):
    rows = os.path.join(work, "rows.svm")
    write_rows(rows, options.rows, 20, seed)
    references = {}
    for name in CASES:
        references[name] = make_reference(sotto, name, rows, os.path.join(work, "references"))
    say(f"crowd: {len(CASES)} cases on {options.rows} rows, alone: {sum(r['seconds'] for r in references.values()):.0f} s")
    crowds, violations = [], []
    for k in range(options.times or 3):
        folder = os.path.join(work, f"crowd-{k + 1}")
        facts, problems = one_crowd(sotto, folder, rows, random.Random(f"{seed}/{k}"), references, options)
        crowds.append(facts)
        violations += problems
        say(
            f"crowd: {k + 1}: {options.crowd} trainings, {facts['most_at_once']} at once, in {facts['seconds']} s, "
            f"{facts['most_mb']} MB at most, {len(problems)} violations"
        )
    asked = {"seed": seed, "trainings": options.crowd, "rows": options.rows, "cores": os.cpu_count()}
    return {"part": "crowd", **asked, "crowds": crowds, "violations": violations}
