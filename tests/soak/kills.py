"""kill -9 at random moments, over all methods, two processes at a time in one folder.

Two commands run side by side on neighbouring paths, each killed and started again until it ends; or one and the same
command is started twice, and only one of the two may go on.
"""

import collections
import concurrent.futures
import os
import random
import re
import shutil
import threading
import time

from trial import CASES, Files, Process, Trial, Violation
from trial import is_private, leftovers, make_reference, read_checkpoint, require, write_rows

SHARE_OF_SAME_PATHS = 0.25
# What a second process is told, by exit code (docs/reference/exit_codes.md).
REFUSALS = {
    6: r"another run is writing to it",
    4: r"the run of this checkpoint has finished",
}


class Counts:
    """Shared by all threads."""

    def __init__(self, wanted):
        self.lock, self.wanted = threading.Lock(), wanted
        self.facts, self.by_case, self.refused = collections.Counter(), collections.Counter(), collections.Counter()
        self.kills = 0
        self.violations = []

    def add(self, name, count=1):
        with self.lock:
            self.facts[name] += count

    def killed(self, case):
        with self.lock:
            self.kills += 1
            self.by_case[case] += 1

    def wants_more(self):
        return self.kills < self.wanted


class Moment:
    """When to kill: by the clock, by the processor's time that was used, or once the model is there."""

    def __init__(self, numbers, trial):
        began_at, reference = trial.before, trial.reference
        left = 1 - (began_at["step"] / began_at["steps"] if began_at else 0)
        share = 0.4 + 0.6 * left  # something is spent before the first step
        self.kind = numbers.choices(("clock", "work", "end"), (30, 62, 8))[0]
        self.clock = numbers.uniform(0, 1.1) * share * reference["seconds"]
        self.work = numbers.uniform(0, 1.05) * share * reference["work"]
        self.pause = numbers.choice((0, numbers.uniform(0, 0.005), numbers.uniform(0, 0.05)))

    def wait(self, process, model, model_before):
        """Until then, or until the process has ended."""
        while process.running():
            if self.kind == "clock" and time.monotonic() - process.began >= self.clock:
                return
            if self.kind == "work" and process.work() >= self.work:
                return
            if self.kind == "end" and stamp(model) != model_before:
                time.sleep(self.pause)
                return
            process.wait(0.002)


def stamp(path):
    try:
        facts = os.stat(path)
        return facts.st_ino, facts.st_mtime_ns
    except FileNotFoundError:
        return None


def kill_at(process, moment, trial, counts, model_before):
    """Exit code; -9 if the moment came first."""
    moment.wait(process, trial.files.model, model_before)
    code = process.end(kill_after=0)
    if code == -9:
        counts.killed(trial.case)
        counts.add("killed_" + moment.kind)
    return code


def phase(trial, had, model_before):
    """How far a killed life came."""
    if stamp(trial.files.model) != model_before:
        return "killed_with_its_model_written"
    return "killed_while_it_released" if trial.charged > had else "killed_before_a_charge"


# ---- Neighbouring paths -------------------------------------------------------------------------


def lane(trial, numbers, counts):
    """One command, killed some times, then left alone, until it ends."""
    most = numbers.randint(1, 6)
    while True:
        trial.begin()
        model_before, had = stamp(trial.files.model), trial.charged
        if trial.before:
            counts.add("continued")
        elif model_before:
            counts.add("trained_again_after_its_end")
        process = Process(trial.words(), trial.files.folder)
        if trial.kills < most and counts.wants_more():
            code = kill_at(process, Moment(numbers, trial), trial, counts, model_before)
        else:
            code = process.end()
        counts.add("lives")
        require(code in (0, -9), f"exit code {code}: {process.told()}")
        if code == 0:
            counts.add("found_finished", trial.after_success(process))
            return end(trial, counts)
        trial.kills += 1
        trial.deaths += 1
        trial.after(process.last_step())
        counts.add(phase(trial, had, model_before) if trial.private else "killed_not_private")


def end(trial, counts):
    facts = trial.ended()
    counts.add("ended")
    counts.add("released_at_least", trial.released if trial.private else 0)
    counts.add("charged", trial.charged)
    counts.add("runs_in_journals", len(trial.journal.prices) if trial.journal else 0)
    counts.add("same_weights", facts.get("same_weights", False))
    counts.add("lost_and_paid_again", facts["lost"])
    counts.add("stopped_by_budget", facts["stopped"] == "budget spent")
    counts.add("records_missing", not facts["record"])


# ---- The same paths -----------------------------------------------------------------------------


def twins(trial, numbers, counts):
    """The same command twice at the same time, until one ends with 0."""
    steps, most = {}, numbers.randint(1, 4)
    while True:
        trial.begin()
        model_before, had = stamp(trial.files.model), trial.charged
        killing = trial.kills < most and counts.wants_more()
        first = Process(trial.words(), trial.files.folder)
        gap = Moment(numbers, trial)
        if numbers.random() < 0.6:
            gap.wait(first, trial.files.model, model_before)
        processes = [first, Process(trial.words(), trial.files.folder)]
        victims = numbers.choice(([0], [1], [0, 1])) if killing else []

        def run(k):
            if k in victims:
                return kill_at(processes[k], Moment(numbers, trial), trial, counts, model_before)
            return processes[k].end()

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            codes = list(pool.map(run, (0, 1)))
        counts.add("lives", 2)
        counts.add("twins_started")
        for code, process in zip(codes, processes):
            require(code in (0, -9, *REFUSALS), f"the same command twice: exit code {code}: {process.told()}")
            if code in REFUSALS:
                told = re.search(REFUSALS[code], process.text)
                require(told, f"the same command twice: {code}, but not for the other one: {process.told()}")
                with counts.lock:
                    counts.refused[code] += 1
        if -9 not in codes:
            require(0 in codes, f"the same command twice: neither went on, {[process.told() for process in processes]}")
        counts.add("twins_one_refused", any(code in REFUSALS for code in codes))
        counts.add("twins_one_after_the_other", codes == [0, 0])
        trial.kills += codes.count(-9)
        trial.deaths += codes.count(-9)
        # Either of them may have made a step: a run released at least as many answers as its furthest state has steps.
        now = read_checkpoint(trial.files.checkpoint)
        for state in (trial.before, now):
            if state:
                steps[state["run"]] = max(steps.get(state["run"], 0), state["step"])
        if 0 in codes and trial.private and os.path.exists(trial.files.record):
            run, made = trial.recorded_run()
            steps[run] = max(steps.get(run, 0), made)
        trial.released = sum(steps.values())
        trial.before = now
        trial.after()
        if 0 in codes and not os.path.exists(trial.files.checkpoint):
            return end(trial, counts)
        counts.add(phase(trial, had, model_before) if trial.private else "killed_not_private", codes.count(-9))


# ---- All of it ----------------------------------------------------------------------------------


def options_of(numbers, name, key):
    private = is_private(CASES[name])
    return {
        "seeded": not private or numbers.random() < 0.4,
        "every": numbers.choice((None, None, 1, 7)),
        "key": key if private and numbers.random() < 0.2 else None,
        "report": numbers.random() < 0.1,
    }


def series(number, sotto, work, seed, rows, references, counts, names, say):
    """Two processes in one folder."""
    numbers = random.Random(f"{seed}/{number}")
    folder = os.path.join(work, f"series-{number:04d}")
    os.makedirs(os.path.join(folder, "tmp"))
    key = os.path.join(work, "key")
    same = numbers.random() < SHARE_OF_SAME_PATHS
    chosen = [names[number % len(names)]] + ([] if same else [numbers.choice(names)])
    trials = []
    for name, file in zip(chosen, ("model", "model-2")):
        trials.append(Trial(sotto, name, Files(folder, file), rows, options_of(numbers, name, key), references[name]))
    seeds = [numbers.random() for _ in trials]

    def run(k):
        try:
            (twins if same else lane)(trials[k], random.Random(seeds[k]), counts)
            return True
        except Violation as violation:
            text = f"series {number}, {trials[k].case}{', the same paths' if same else ''}: {violation}"
            with counts.lock:
                counts.violations.append(text)
            say(f"kills: VIOLATION, {text}\n  {' '.join(trials[k].words())}")
            return False

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        fine = all(list(pool.map(run, range(len(trials)))))
    counts.add("series")
    counts.add("series_same_paths", same)
    others, temporary = leftovers(folder, set().union(*(trial.files.names() for trial in trials)))
    kills = sum(trial.kills for trial in trials)
    counts.add("temporaries_left", temporary)
    if fine and (others or temporary > kills):
        text = f"series {number}: left behind {others} and {temporary} temporary files after {kills} kills"
        counts.violations.append(text)
        fine = False
    if fine:
        shutil.rmtree(folder)


def main(sotto, work, seed, options, say):
    rows = os.path.join(work, "rows.svm")
    write_rows(rows, 300, 20, seed)
    with open(os.path.join(work, "key"), "wb") as file:
        file.write(random.Random(seed).randbytes(32))
    known = set(sotto.methods())
    tried = {CASES[name][1] for name in CASES}
    require(known == tried, f"the program knows {sorted(known)}, the soak tries {sorted(tried)}")
    names = [name for name in CASES if re.search(options.cases, name)]
    with concurrent.futures.ThreadPoolExecutor(2 * options.pairs) as pool:
        measured = pool.map(lambda name: make_reference(sotto, name, rows, os.path.join(work, "references")), names)
        references = dict(zip(names, measured))
    work_of = [reference["work"] for reference in references.values()]
    say(f"kills: {len(names)} cases measured: {min(work_of):.2f} to {max(work_of):.2f} s of work each")
    counts = Counts(options.times or 1000)
    random.Random(seed).shuffle(names)
    began, told, number = time.monotonic(), 0, 0
    with concurrent.futures.ThreadPoolExecutor(options.pairs) as pool:
        running = set()
        while counts.wants_more() or running:
            while counts.wants_more() and len(running) < options.pairs:
                running.add(pool.submit(series, number, sotto, work, seed, rows, references, counts, names, say))
                number += 1
            done, running = concurrent.futures.wait(running, timeout=1, return_when=concurrent.futures.FIRST_COMPLETED)
            for each in done:
                each.result()  # what is wrong with the soak itself is thrown here
            if counts.kills >= told + 50:
                told = counts.kills
                seconds, ended = time.monotonic() - began, counts.facts["ended"]
                say(f"kills: {told} after {seconds:.0f} s, {ended} runs ended, {len(counts.violations)} violations")
    return {
        "part": "kills",
        "seed": seed,
        "kills": counts.kills,
        "seconds": round(time.monotonic() - began),
        **dict(sorted(counts.facts.items())),
        "refusals": {str(code): count for code, count in counts.refused.items()},
        "by_case": dict(sorted(counts.by_case.items())),
        "violations": counts.violations,
    }
