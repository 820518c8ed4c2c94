"""One run of `sotto train`, killed and continued, watched from outside: its command, its files, and what must hold."""

import hashlib
import json
import os
import pty
import random
import re
import subprocess
import threading
import time

DIMENSION = 20
DELTA = "1e-5"
SEED = "1"  # of seeded runs: all of a case end with the weights of its reference
# Longer than any of these runs takes under any load that is made here: it hangs.
LONGEST_SECONDS = 600

LINEAR = ["--row-norm", "1"]
NETWORK = ["--model", "mlp:16", "--classes", "-1,+1"]
BATCH = ["--expected-batch", "30"]
LARGE = ["--expected-batch", "100"]
ADAPTIVE = ["--noise", "adaptive", "--step-rule", "adagrad"]
GAP = ["--certificate-share", "0.1"]


def case(method, steps, *more, epsilon="2"):
    budget = ["--epsilon", epsilon, "--delta", DELTA] if epsilon else []
    return ["--method", method, *(["--steps", str(steps)] if steps else []), *budget, *more]


def search(method, *more):
    """A search with enough budget and a tolerance so fine that it makes some steps, with a Hessian now and then."""
    fine = ["--gradient-tolerance", "0.03", "--curvature-floor", "off", "--precision", "2"]
    return case(method, 30, *fine, *more, *LINEAR, epsilon="15")


# All methods, on linear models and on networks. Each releases at least one answer per step.
CASES = {
    "dp-gd": case("dp-gd", 200, *LINEAR),
    "dp-gd best": case("dp-gd", 200, "--output", "best", "--candidates", "5", *LINEAR),
    "dp-sgd": case("dp-sgd", 300, *BATCH, *LINEAR),
    "dp-sgd adam": case("dp-sgd", 300, "--update", "adam", *BATCH, *LINEAR),
    "dp-sgd clip quantile": case("dp-sgd", 300, "--clip-quantile", "0.5", *BATCH, *LINEAR),
    "rrpsgd": case("rrpsgd", None, *LINEAR),
    "dp-srm": case("dp-srm", 200, *LINEAR),
    "private-spiderboost": case("private-spiderboost", 200, *LINEAR),
    "adp-sgd": case("adp-sgd", 200, "--groups", "3", *BATCH, *LINEAR),
    "adp-sgd filter": case("adp-sgd", 300, *ADAPTIVE, *BATCH, *LINEAR, epsilon="8"),
    "auto": case("auto", None, *LINEAR),
    "dp-agd": case("dp-agd", None, *LINEAR, epsilon="8"),
    "dp-pgd": case("dp-pgd", 200, "--constraint", "l2:5", *GAP, *LINEAR),
    "dp-pmd": case("dp-pmd", 200, "--constraint", "l1:5", *LINEAR),
    "dp-pmd entropy": case("dp-pmd", 200, "--constraint", "l1:5", "--mirror", "entropy", *LINEAR),
    "dp-fw-l2": case("dp-fw-l2", 200, "--constraint", "l2:5", *LINEAR),
    "dp-fw-l1": case("dp-fw-l1", 200, "--constraint", "l1:5", "--selection", "exponential", *GAP, *LINEAR),
    "dp-newton": case("dp-newton", 40, "--growth", "1.05", *LINEAR),
    "newton": case("newton", 40, "--longest-step", "0.1", epsilon=None),
    "dp-tr": search("dp-tr"),
    "dp-tr lanczos": search("dp-tr", "--solver", "lanczos", "--products", "5"),
    "dp-tr-b": search("dp-tr-b", *LARGE),
    "dp-str": search("dp-str", *LARGE),
    "tr": case("tr", 100, "--gradient-tolerance", "1e-6", "--radius", "0.05", epsilon=None),
    "opt": search("opt"),
    "opt-b": search("opt-b", *LARGE),
    "opt-ls": search("opt-ls"),
    "opt-ls sparse vector": search("opt-ls", "--line-search", "sparse_vector"),
    "2opt": search("2opt"),
    "2opt-b": search("2opt-b", *LARGE),
    "2opt-ls": search("2opt-ls"),
    "dp-gd-sosp": search("dp-gd-sosp"),
    "gd": case("gd", 300, epsilon=None),
    "sgd": case("sgd", 300, epsilon=None),
    "storm": case("storm", 300, epsilon=None),
    "network dp-gd": case("dp-gd", 200, *NETWORK),
    "network dp-sgd": case("dp-sgd", 200, *BATCH, *NETWORK),
    "network rrpsgd": case("rrpsgd", None, *NETWORK),
    "network dp-srm": case("dp-srm", 200, *NETWORK),
    "network private-spiderboost": case("private-spiderboost", 200, *NETWORK),
    "network adp-sgd": case("adp-sgd", 150, "--groups", "3", *BATCH, *NETWORK),
    "network adp-sgd filter": case("adp-sgd", 200, *ADAPTIVE, *BATCH, *NETWORK, epsilon="8"),
    "network auto": case("auto", None, *NETWORK),
    "network dp-agd": case("dp-agd", None, *NETWORK, epsilon="8"),
    "network gd": case("gd", 200, "--model", "mlp:16", epsilon=None),
    "network sgd": case("sgd", 200, "--model", "mlp:16", epsilon=None),
    "network storm": case("storm", 200, "--model", "mlp:16", epsilon=None),
}


def is_private(words):
    return "--epsilon" in words


class Violation(Exception):
    """An invariant that does not hold."""


def require(holds, message):
    if not holds:
        raise Violation(message)


def write_rows(path, rows, dimension, seed):
    """A LIBSVM file of rows of norm 1 that a plane with some noise divides."""
    numbers = random.Random(seed)
    plane = [numbers.gauss(0, 1) for _ in range(dimension)]
    with open(path, "w") as file:
        for _ in range(rows):
            x = [numbers.gauss(0, 1) for _ in range(dimension)]
            norm = sum(v * v for v in x) ** 0.5
            side = sum(a * b for a, b in zip(plane, x)) / norm + 0.2 * numbers.gauss(0, 1)
            entries = " ".join(f"{k + 1}:{v / norm:.6f}" for k, v in enumerate(x))
            file.write(f"{'+1' if side > 0 else '-1'} {entries}\n")


# ---- Processes ----------------------------------------------------------------------------------


class Process:
    """A program whose standard error is a terminal, so that it shows its steps. What it says is kept."""

    def __init__(self, words, folder, before=None, environment=None):
        self.master, slave = pty.openpty()
        environment = dict(os.environ, TERM="dumb", TMPDIR=os.path.join(folder, "tmp"), **(environment or {}))
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=slave, env=environment, preexec_fn=before
        )
        os.close(slave)
        self.text, self.used = "", 0.0
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        while True:
            try:
                got = os.read(self.master, 1 << 16)
            except OSError:  # the last writer is gone
                return
            if not got:
                return
            # Long runs draw for an hour; the end is what counts.
            self.text = (self.text + got.decode(errors="replace"))[-20000:]

    @property
    def pid(self):
        return self.process.pid

    def running(self):
        return self.process.poll() is None

    def work(self):
        """Seconds of processor time that it used; what it used at last once it is gone."""
        try:
            with open(f"/proc/{self.pid}/schedstat") as file:
                self.used = int(file.read().split()[0]) / 1e9
        except (OSError, IndexError):
            pass
        return self.used

    def wait(self, seconds):
        """Whether it ended within so long."""
        try:
            self.process.wait(timeout=max(0, seconds))
            return True
        except subprocess.TimeoutExpired:
            return False

    def end(self, kill_after=None):
        """Its exit code; -9 if it was still there after that time, and killed."""
        if kill_after is not None and not self.wait(kill_after):
            self.process.kill()
        if not self.wait(LONGEST_SECONDS):
            self.stop()
            raise Violation(f"it hangs: {LONGEST_SECONDS} seconds, {self.told()}")
        self.reader.join(timeout=10)
        os.close(self.master)
        self.seconds = time.monotonic() - self.began
        return self.process.returncode

    def stop(self):
        self.process.kill()
        self.process.wait()

    def last_step(self):
        """The last one that it showed; 0: none."""
        shown = re.findall(r"step (\d+)/\d+,", self.text)
        return int(shown[-1]) if shown else 0

    def told(self):
        """Its last line that is not progress."""
        text = self.text.replace("\r", "\n").replace("\x1b[K", "\n")
        lines = [line.strip() for line in text.split("\n")]
        said = [line for line in lines if line and not re.search(r"step \d+/\d+,|% of it released", line)]
        return said[-1] if said else ""


# ---- Files --------------------------------------------------------------------------------------


def count_releases(event):
    """How many answers an event like `compose(gaussian(3), repeat(5, poisson(0.1, gaussian(2))))` is."""
    text = event.replace(" ", "")
    if text in ("", "nothing", "compose()"):
        return 0
    name, inside = re.fullmatch(r"(\w+)\((.*)\)", text).groups() if "(" in text else (text, "")
    parts, depth, begin = [], 0, 0
    for k, letter in enumerate(inside + ","):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append(inside[begin:k])
            begin = k + 1
    if name == "compose":
        return sum(count_releases(part) for part in parts)
    if name == "repeat":
        return int(parts[0]) * count_releases(parts[1])
    if name in ("poisson", "fixed_size"):
        return count_releases(parts[-1])
    return 1


def read_checkpoint(path):
    """The head of a checkpoint file, whose checksum must fit; None if there is no file."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except FileNotFoundError:
        return None
    magic = b"sotto checkpoint 2\n"
    require(content.startswith(magic), f"{path} does not begin like a checkpoint")
    require(hashlib.sha256(content[:-32]).digest() == content[-32:], f"{path} is damaged")
    return json.loads(content[len(magic) : content.index(b"\n", len(magic))])


class Files:
    """What one run leaves in its folder."""

    def __init__(self, folder, name):
        self.folder = folder
        self.model = os.path.join(folder, name + ".json")
        self.journal = self.model + ".journal"
        self.checkpoint = os.path.join(folder, name + ".ckpt")
        self.record = os.path.join(folder, name + ".run.json")
        self.report = os.path.join(folder, name + ".html")

    def names(self):
        paths = (self.model, self.journal, self.checkpoint, self.record, self.report)
        return {os.path.basename(path) for path in paths}


class Sotto:
    def __init__(self, program, nice):
        self.prefix = ["nice", "-n", str(nice), os.path.abspath(program)]

    def train(self, words, files, rows, extra=(), threads=1):
        words = [*words, "--dim", str(DIMENSION), "--threads", str(threads)]
        # Killed before its first checkpoint, or after its end, a run is paid for again.
        outputs = ["--again", "--checkpoint", files.checkpoint, "--resume", "--record", files.record]
        return [*self.prefix, "train", *words, *outputs, *extra, rows, files.model]

    def ask(self, words):
        """Exit code, standard output and standard error of a command that looks at files."""
        done = subprocess.run([*self.prefix, *words], capture_output=True, text=True, timeout=LONGEST_SECONDS)
        return done.returncode, done.stdout, done.stderr

    def methods(self):
        code, out, error = self.ask(["methods", "--json"])
        require(code == 0, f"methods --json: {error.strip()}")
        return [method["name"] for method in json.loads(out)]


class Journal:
    """A journal as `sotto account --journal` tells it, and its lines as they stand."""

    def __init__(self, sotto, path, key=None):
        self.charged, self.prices, self.runs, self.lines, self.intrusions = 0, {}, [], [], 0
        self.bytes = b""
        if not os.path.exists(path):
            return
        with open(path, "rb") as file:
            content = file.read()
        self.bytes = content[: content.rfind(b"\n") + 1]  # without a line that was cut short
        self.lines = [json.loads(line) for line in self.bytes.splitlines()]
        code, out, error = sotto.ask(["account", "--journal", path, "--json", *(["--journal-key", key] if key else [])])
        if not self.lines and code == 3 and "holds no run" in error:
            return
        require(code == 0, f"account --journal says {code}: {error.strip()}")
        self.runs = json.loads(out)["runs"]
        names = [line["run"] for line in self.lines if "open" in line]
        require(len(names) == len(self.runs), f"{path}: {len(names)} opening lines, but {len(self.runs)} runs")
        for name, run in zip(names, self.runs):
            self.charged += count_releases(run["events"])
            self.prices[name] = run
        # Openings and continuations that follow no end: so many writers were killed, or two wrote at once.
        for before, line in zip(self.lines, self.lines[1:]):
            if ("open" in line or "resume" in line) and "close" not in before:
                self.intrusions += 1


# ---- A run, life after life ---------------------------------------------------------------------


class Trial:
    """What is known from outside of all processes that were started with one command."""

    def __init__(self, sotto, name, files, rows, options, reference=None):
        self.sotto, self.case, self.files, self.rows = sotto, name, files, rows
        self.options, self.reference = options, reference
        self.private = is_private(options.get("words") or CASES[name])
        self.released = 0  # answers that are known to have been made: a lower bound
        self.charged = 0
        self.kills = 0
        self.deaths = 0  # by a signal or an error: lives without an end in the journal
        self.journal = None
        self.before = None  # the checkpoint that a life began with

    def words(self):
        extra = [*(["--seed", SEED] if self.options.get("seeded") else [])]
        if self.options.get("every"):
            extra += ["--every", str(self.options["every"])]
        if self.options.get("key"):
            extra += ["--journal-key", self.options["key"]]
        if self.options.get("report"):
            extra += ["--report", self.files.report]
        words = self.options.get("words") or CASES[self.case]
        return self.sotto.train(words, self.files, self.rows, extra, self.options.get("threads", 1))

    def recorded_run(self):
        """The name and the steps of the run that the record tells of."""
        with open(self.files.record) as file:
            record = json.load(file)
        return record["privacy"]["journal"]["run"], record["steps"]

    def begin(self):
        self.before = read_checkpoint(self.files.checkpoint)

    def recorded_steps(self):
        """Of a life that ended with 0, by its record; 0 if there is none."""
        try:
            with open(self.files.record) as file:
                return json.load(file)["steps"]
        except FileNotFoundError:
            return 0

    def after(self, shown=0, finished_steps=None):
        """What must hold after a life, however it ended. `shown`: the last step that it was seen to make."""
        now = read_checkpoint(self.files.checkpoint)
        began = self.before["step"] if self.before else 0
        same_run = now and self.before and now["run"] == self.before["run"]
        if now and not same_run:
            began = 0  # it started afresh
        seen = max(shown, now["step"] if now else 0, finished_steps or 0)
        self.released += max(0, seen - began)
        self.check_journal(now)
        if os.path.exists(self.files.model):
            with open(self.files.model) as file:
                json.load(file)  # whole, or not there
        return now

    def after_success(self, process):
        """After a life that ended with 0. Whether it found that its run had finished, and released nothing."""
        found_finished = "has finished" in process.text
        self.after(process.last_step(), 0 if found_finished else self.recorded_steps())
        return found_finished

    def check_journal(self, checkpoint):
        if not self.private:
            require(not os.path.exists(self.files.journal), "a run that is not private has a journal")
            return
        journal = Journal(self.sotto, self.files.journal, self.options.get("key"))
        if self.journal:
            kept = journal.bytes.startswith(self.journal.bytes)
            require(kept, "the journal lost or changed lines that were whole before")
        self.journal = journal
        self.charged = journal.charged
        text = f"{self.released} answers were released, but only {journal.charged} are charged"
        require(journal.charged >= self.released, text)
        text = f"{journal.intrusions} runs follow one without an end, but {self.deaths} died"
        require(journal.intrusions <= self.deaths, text)
        if checkpoint:
            line = checkpoint["journal_line"]
            text = f"the checkpoint knows line {line} of a journal that has {len(journal.lines)}"
            require(line <= len(journal.lines), text)
            held = checkpoint["journal_chain"] in journal.bytes.decode()
            require(held, "the journal does not hold the checkpoint's line")
            require(checkpoint["run"] in journal.prices, "the journal does not hold the checkpoint's run")

    def ended(self):
        """What must hold after the life that ended with 0; what is worth counting."""
        files, facts = self.files, {}
        require(os.path.exists(files.model), "no model")
        require(not os.path.exists(files.checkpoint), "the checkpoint is still there")
        with open(files.model) as file:
            model = json.load(file)
        facts["record"] = os.path.exists(files.record)
        record = None
        if facts["record"]:
            with open(files.record) as file:
                record = json.load(file)
            if self.private and record["privacy"]["journal"] != model["privacy"]["journal"]:
                record = None  # of an earlier run under this name: that of the model was killed before it wrote its own
                facts["record"] = False
        if self.private:
            self.check_statement(model, record)
        facts["lost"] = bool(record and record.get("lost"))
        facts["stopped"] = record["stopped"] if record else "unknown"
        reference = self.reference
        if record and reference and self.options.get("seeded") and not facts["lost"]:
            require(record["steps"] == reference["steps"], f"{record['steps']} steps instead of {reference['steps']}")
            require(model["weights"] == reference["weights"], "seeded, nothing lost, and yet other weights")
            facts["same_weights"] = True
        return facts

    def check_statement(self, model, record):
        key = ["--journal-key", self.options["key"]] if self.options.get("key") else []
        statement = model["privacy"]
        run = self.journal.prices.get(statement["journal"]["run"])
        require(run, "the journal does not hold the model's run")
        line = self.journal.lines[statement["journal"]["line"] - 1]
        held = statement["journal"]["chain"] in (line.get("chain"), line.get("seal"))
        require(held, "the journal does not hold the model's line")
        claimed, price = statement["epsilon"], run["epsilon_upper"]
        require(claimed >= price * (1 - 1e-9), f"the model says {claimed}, the journal {price}")
        # What the plan, and what was charged, cost at least, by accountants that certify a lower bound.
        for event in (run.get("plan"), run["events"]):
            if not event:
                continue
            words = ["--neighbours", run["neighbours"], "--delta", repr(run["delta"]), "--json"]
            code, out, error = self.sotto.ask(["account", "--event", event, *words])
            require(code == 0, f"account --event {event}: {error.strip()}")
            least = max(each["epsilon_lower"] or 0 for each in json.loads(out)["accountants"])
            require(claimed >= least * (1 - 1e-9), f"the model says {claimed}, but {event} costs at least {least}")
        if record:
            charged = count_releases(record["privacy"]["events"])
            require(charged >= record["steps"], "the record has more steps than charges")
            words = ["verify", self.files.record, "--journal", self.files.journal, "--model", self.files.model, *key]
            code, out, error = self.sotto.ask(words)
            require(code == 0, f"verify says {code}: {out[-600:]}{error.strip()}")


def leftovers(folder, expected):
    """Files that nobody expects, and how many temporary ones there are among them."""
    found = [name for name in os.listdir(folder) if name not in expected and name != "tmp"]
    temporary = [name for name in found if re.fullmatch(r"\.sotto-[0-9a-f]{16}\.tmp", name)]
    others = sorted(set(found) - set(temporary)) + os.listdir(os.path.join(folder, "tmp"))
    return others, len(temporary)


def make_reference(sotto, name, rows, folder, threads=1, words=None):
    """The seeded run of a case that nobody disturbs: its weights, steps, seconds."""
    os.makedirs(os.path.join(folder, "tmp"), exist_ok=True)
    files = Files(folder, name.replace(" ", "-"))
    options = {"seeded": True, "threads": threads, "words": words}
    trial = Trial(sotto, name, files, rows, options)
    process = Process(trial.words(), folder)
    peak = 0
    while process.running():  # the most address space that it had
        peak = max(peak, memory_of(process.pid, "VmPeak"))
        process.work()
        process.wait(0.01)
    code = process.end()
    require(code == 0, f"{name}, undisturbed: exit code {code}, {process.told()}")
    with open(files.record) as file:
        record = json.load(file)
    with open(files.model) as file:
        model = json.load(file)
    trial.after(process.last_step(), record["steps"])
    trial.ended()
    if trial.private:
        require(trial.charged >= record["steps"], f"{name}: {trial.charged} charges, {record['steps']} steps")
    facts = {"weights": model["weights"], "steps": record["steps"]}
    return {**facts, "seconds": process.seconds, "work": process.used, "peak": peak}


def memory_of(pid, what):
    """Bytes of this line of /proc/PID/status; 0 once it is gone."""
    try:
        with open(f"/proc/{pid}/status") as file:
            found = re.search(rf"^{what}:\s+(\d+) kB", file.read(), re.M)
        return int(found.group(1)) * 1024 if found else 0
    except (FileNotFoundError, ProcessLookupError):
        return 0
