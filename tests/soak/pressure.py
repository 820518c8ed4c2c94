"""Trainings that get barely enough memory, beside a process that takes whatever it can get.

The address space of a training is limited (RLIMIT_AS), and the limit moves while it runs: what is refused there is
refused as it is where memory is scarce, at the call that asks for it, and the next call may succeed again. A neighbour
takes memory, touches it and gives it back; what it holds is taken off the pool that both draw on.
"""

import concurrent.futures
import os
import random
import re
import resource
import select
import shutil
import subprocess
import sys
import time

from trial import ADAPTIVE, DELTA, Files, Process, Trial, Violation, leftovers, make_reference, require, write_rows

MB = 1 << 20
MOST_OF_NEIGHBOUR = 64 * MB
MOST_LIVES = 8  # under pressure; the ninth gets all the memory that it wants

NEIGHBOUR = """
import random, sys, time
numbers, held, most = random.Random(int(sys.argv[1])), [], int(sys.argv[2])
while True:
    if numbers.random() < 0.6 and sum(map(len, held)) < most:
        block = bytearray(numbers.randrange(1 << 20, most // 2))
        block[::4096] = b"x" * len(block[::4096])
        held.append(block)
    elif held:
        held.pop(numbers.randrange(len(held)))
    print(min(most, sum(map(len, held))), flush=True)
    time.sleep(numbers.choice((0.002, 0.02, 0.2, 1)))
"""

BATCH = ["--expected-batch", "50"]
NETWORK = ["--model", "mlp:128", "--classes", "-1,+1"]
BUDGET = ["--epsilon", "2", "--delta", DELTA]
LINEAR = ["--row-norm", "1", *BUDGET]
# Options, threads, and how often states are written. Small runs, many of them: each has its own moments of need.
CASES = {
    "dp-sgd": (["--method", "dp-sgd", "--steps", "400", *BATCH, *LINEAR], 1, (None, 3)),
    "dp-gd best": (["--method", "dp-gd", "--steps", "100", "--output", "best", *LINEAR], 1, (None, 1)),
    "private-spiderboost": (["--method", "private-spiderboost", "--steps", "100", *LINEAR], 2, (None, 2)),
    "adp-sgd filter": (["--method", "adp-sgd", "--steps", "100", *ADAPTIVE, *BATCH, *LINEAR], 1, (None, 1)),
    "network dp-sgd": (["--method", "dp-sgd", "--steps", "50", "--update", "adam", *BATCH, *BUDGET, *NETWORK], 1, (None, 1, 5)),
    "network dp-srm": (["--method", "dp-srm", "--steps", "50", *BUDGET, *NETWORK], 2, (None, 1, 5)),
    "network adp-sgd": (["--method", "adp-sgd", "--steps", "50", "--groups", "2", *BATCH, *BUDGET, *NETWORK], 1, (None, 1, 5)),
    "network sgd": (["--method", "sgd", "--steps", "50", *BATCH, "--model", "mlp:128"], 1, (None, 1, 5)),
}
# An allocator that asks the system for every block, and gives it back: any of them may then be refused.
EAGER = {"MALLOC_MMAP_THRESHOLD_": "2048", "MALLOC_TRIM_THRESHOLD_": "0", "MALLOC_TOP_PAD_": "0", "MALLOC_ARENA_MAX": "1"}


COUNTED = (
    "runs",
    "lives",
    "models_elsewhere",
    "exit_0",
    "exit_6",
    "exit_6_after_a_charge",
    "exit_6_with_a_state",
    "exit_6_with_the_model",
    "all_memory_at_last",
    "same_weights",
    "lost_and_paid_again",
    "records_missing",
    "temporaries_left",
)


class Neighbour:
    """Takes and gives back memory at random; knows how much it holds."""

    def __init__(self, seed):
        words = [sys.executable, "-c", NEIGHBOUR, str(seed), str(MOST_OF_NEIGHBOUR)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE)
        self.held, self.changes, self.rest = 0, 0, b""

    def look(self):
        require(self.process.poll() is None, "the neighbour died: the soak itself has too little memory")
        out = self.process.stdout.fileno()
        if select.select([out], [], [], 0)[0]:
            *lines, self.rest = (self.rest + os.read(out, 1 << 16)).split(b"\n")
            self.held = int(lines[-1]) if lines else self.held
            self.changes += len(lines)
        return self.held

    def end(self):
        self.process.kill()
        self.process.wait()


def least_to_start(sotto):
    """The least address space in which the program comes to its first line: below it the loader fails."""
    low, high = MB, 512 * MB
    while high - low > MB // 16:
        middle = (low + high) // 2
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (middle, resource.RLIM_INFINITY))
        starts = subprocess.run([*sotto.prefix[3:], "--version"], preexec_fn=limit, capture_output=True).returncode == 0
        low, high = (low, middle) if starts else (middle, high)
    return high


class Limit:
    """What a life may have, from moment to moment."""

    def __init__(self, numbers, kind, floor, reference, neighbour):
        self.numbers, self.kind, self.floor, self.neighbour = numbers, kind, floor, neighbour
        peak = reference["peak"]
        if kind == "tight":  # barely enough, or not quite
            self.most = numbers.randrange(floor, peak + 2 * MB)
        elif kind == "pool":  # enough, but for what the neighbour takes
            self.most = peak + numbers.choice((0, 1, 4, 16)) * MB + numbers.randrange(0, MOST_OF_NEIGHBOUR)
        else:  # "bursts": enough, and at moments nothing at all; "none": enough
            self.most = 1 << 44
        self.mean = reference["work"] * numbers.uniform(0.2, 1.5)
        self.burst = numbers.expovariate(1 / self.mean)

    def now(self, work):
        """After so much work. By a clock, a program that waits for its turn would sleep through a burst."""
        held = self.neighbour.look()
        if self.kind == "pool":
            return max(self.floor, self.most - held)
        if self.kind == "bursts":
            if work > self.burst + 0.002:
                self.burst = work + self.numbers.expovariate(1 / self.mean)
            return self.floor if work >= self.burst else self.most
        return self.most


def live(words, folder, limit, environment):
    """Runs a command under a limit that moves. Its process and exit code."""
    first = limit.now(0)
    set_limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (first, resource.RLIM_INFINITY))
    process = Process(words, folder, set_limit, environment)
    try:
        while process.running():
            try:
                resource.prlimit(process.pid, resource.RLIMIT_AS, (limit.now(process.work()), resource.RLIM_INFINITY))
            except ProcessLookupError:
                break
            process.wait(0.002)
        return process, process.end()
    except KeyboardInterrupt:
        process.stop()
        raise


def one_run(sotto, numbers, name, trial, floor, neighbour, facts, messages):
    """Life after life until it ends with 0."""
    for attempt in range(1, MOST_LIVES + 2):
        kind = numbers.choice(("tight", "pool", "bursts", "bursts")) if attempt <= MOST_LIVES else "none"
        environment = EAGER if numbers.random() < 0.6 else {}
        facts["all_memory_at_last"] += kind == "none"
        trial.begin()
        had = trial.charged
        limit = Limit(numbers, kind, floor, trial.reference, neighbour)
        process, code = live(trial.words(), trial.files.folder, limit, environment)
        facts["lives"] += 1
        # A model whose own file could not be written goes elsewhere, and the message says where.
        for path in re.findall(r"\S*/sotto-model-[0-9a-f]+\.json", process.text):
            require(os.path.exists(path), f"there is no model at {path}")
            os.remove(path)
            facts["models_elsewhere"] += 1
        require(code in (0, 6), f"exit code {code} under '{kind}' {environment}: {process.text[-500:]}")
        facts[f"exit_{code}"] += 1
        facts["by_case"][name][f"exit_{code}"] += 1
        if code == 0:
            trial.after_success(process)
            return
        said = process.told().startswith("sotto: ")
        require(said, f"exit code 6 under '{kind}' without a message: {process.text[-500:]}")
        message = process.told()[:50]
        messages[message] = messages.get(message, 0) + 1
        trial.deaths += 1
        state = trial.after(process.last_step())
        facts["exit_6_after_a_charge"] += trial.charged > had
        facts["exit_6_with_a_state"] += state is not None
        facts["exit_6_with_the_model"] += os.path.exists(trial.files.model)
    require(False, "no model with all the memory that it wants")


def main(sotto, work, seed, options, say):
    numbers = random.Random(seed)
    rows = os.path.join(work, "rows.svm")
    write_rows(rows, 500, 20, seed)
    floor = least_to_start(sotto)
    say(f"pressure: the program starts in {floor / MB:.1f} MB")

    def measure(name):
        words, threads, _ = CASES[name]
        return make_reference(sotto, name, rows, os.path.join(work, "references"), threads, words)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        references = dict(zip(CASES, pool.map(measure, CASES)))
    for name, reference in references.items():
        say(f"pressure: {name}, undisturbed: {reference['work']:.2f} s of work, at most {reference['peak'] / MB:.1f} MB")
    neighbour = Neighbour(seed)
    facts = dict.fromkeys(COUNTED, 0)
    facts["by_case"] = {name: {"runs": 0, "exit_0": 0, "exit_6": 0} for name in CASES}
    violations, messages = [], {}
    began = time.monotonic()
    while time.monotonic() < began + options.seconds:
        facts["runs"] += 1
        name = numbers.choice(list(CASES))
        facts["by_case"][name]["runs"] += 1
        words, threads, often = CASES[name]
        place = os.path.join(work, f"run-{facts['runs']:05d}")
        os.makedirs(os.path.join(place, "tmp"))
        chosen = {"words": words, "threads": threads, "seeded": True, "every": numbers.choice(often)}
        trial = Trial(sotto, name, Files(place, "model"), rows, chosen, references[name])
        try:
            one_run(sotto, numbers, name, trial, floor, neighbour, facts, messages)
            ended = trial.ended()
            facts["same_weights"] += ended.get("same_weights", False)
            facts["lost_and_paid_again"] += ended["lost"]
            facts["records_missing"] += not ended["record"]
            compared = ended["lost"] or not ended["record"] or ended.get("same_weights")
            require(compared, "nothing was lost, but its weights were not compared")
            others, temporary = leftovers(place, trial.files.names())
            facts["temporaries_left"] += temporary
            text = f"left behind though nothing was killed: {others}, {temporary} temporary files"
            require(not others and not temporary, text)
            shutil.rmtree(place)
        except KeyboardInterrupt:  # or SIGTERM: what was seen until now counts
            facts["runs"] -= 1
            facts["by_case"][name]["runs"] -= 1
            break
        except Violation as violation:
            violations.append(f"{os.path.basename(place)} ({name}): {violation}")
            say(f"pressure: VIOLATION, {violations[-1]}\n  {' '.join(trial.words())}")
        if facts["runs"] % 20 == 0:
            say(
                f"pressure: {time.monotonic() - began:.0f} s, {facts['runs']} runs, {facts['exit_6']} refusals, "
                f"{facts['same_weights']} of the same weights, {len(violations)} violations"
            )
    neighbour.end()
    return {
        "part": "pressure",
        "seed": seed,
        "seconds": round(time.monotonic() - began),
        "least_mb_to_start": round(floor / MB, 1),
        "neighbour_moved": neighbour.changes,
        **facts,
        "messages": messages,
        "violations": violations,
    }
