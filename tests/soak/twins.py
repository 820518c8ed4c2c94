"""The soak's own test, at the beginning of each part: what a broken program would leave is put there by hand, and must
be noticed."""

import hashlib
import json
import os
import shutil
import time

from trial import Files, Process, Trial, Violation, leftovers, make_reference, read_checkpoint, require, write_rows

CASE = "dp-sgd"


def chained_anew(lines):
    """These lines of a journal with checksums that fit: what only a count of answers can tell from an honest one."""
    before, text = "", ""
    for number, line in enumerate(lines, 1):
        line = {**{name: value for name, value in line.items() if name not in ("line", "chain")}, "line": number}
        body = json.dumps(line, separators=(",", ":"))[:-1]
        before = hashlib.sha256(f"{before}\n{body}".encode()).hexdigest()
        text += f'{body},"chain":"{before}"}}\n'
    return text


def edited(path, change):
    with open(path) as file:
        content = json.load(file)
    change(content)
    with open(path, "w") as file:
        json.dump(content, file)


def forget_charges(trial):
    lines = trial.journal.lines
    with open(trial.files.journal, "w") as file:
        file.write(chained_anew(lines[: len(lines) // 2]))
    trial.journal = None


def lose_last_line(trial):
    with open(trial.files.journal, "wb") as file:
        file.write(b"".join(line + b"\n" for line in trial.journal.bytes.splitlines()[:-1]))


def change_a_byte(trial):
    with open(trial.files.journal, "wb") as file:
        file.write(trial.journal.bytes.replace(b'"count":1', b'"count":2', 1))
    trial.journal = None


def write_anew(trial):
    """All charges are there, but the checkpoint remembers another line."""
    lines = [{**line, "note": 1} for line in trial.journal.lines]
    with open(trial.files.journal, "w") as file:
        file.write(chained_anew(lines))
    trial.journal = None


def damage_checkpoint(trial):
    with open(trial.files.checkpoint, "r+b") as file:
        file.seek(-40, os.SEEK_END)
        file.write(b"x")


def cheaper(content):
    content["privacy"]["epsilon"] *= 0.9


def backwards(content):
    content["weights"].reverse()


AFTER_A_KILL = {
    "charges are forgotten": ("answers were released", forget_charges),
    "a line is lost": ("lost or changed lines", lose_last_line),
    "a charge is changed": ("account --journal says 3", change_a_byte),
    "another journal": ("does not hold the checkpoint's line", write_anew),
    "a damaged checkpoint": ("is damaged", damage_checkpoint),
}
AFTER_THE_END = {
    "a cheaper model": ("the model says", lambda trial: edited(trial.files.model, cheaper)),
    "a cheaper record": ("verify says 5", lambda trial: edited(trial.files.record, cheaper)),
    "other weights": ("other weights", lambda trial: edited(trial.files.model, backwards)),
    "a checkpoint that stays": ("is still there", lambda trial: open(trial.files.checkpoint, "w").close()),
    "no model": ("no model", lambda trial: os.unlink(trial.files.model)),
}


def must_notice(twins, trial, work, look):
    for name, (words, spoil) in twins.items():
        folder = os.path.join(work, "twin")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(trial.files.folder, folder)
        twin = Trial(trial.sotto, trial.case, Files(folder, "model"), trial.rows, trial.options, trial.reference)
        twin.released, twin.journal, twin.deaths = trial.released, trial.journal, trial.deaths
        spoil(twin)
        try:
            look(twin)
        except Violation as violation:
            require(words in str(violation), f"the soak noticed '{name}', but for another reason: {violation}")
            continue
        raise Violation(f"the soak itself is broken: it does not notice '{name}'")


def check(sotto, work, say):
    work = os.path.join(work, "twins")
    folder = os.path.join(work, "honest")
    os.makedirs(os.path.join(folder, "tmp"))
    rows = os.path.join(work, "rows.svm")
    write_rows(rows, 300, 20, 1)
    reference = make_reference(sotto, CASE, rows, os.path.join(work, "reference"))
    trial = Trial(sotto, CASE, Files(folder, "model"), rows, {"seeded": True, "every": 1}, reference)
    trial.begin()
    process = Process(trial.words(), folder)
    while process.running() and not (state := read_checkpoint(trial.files.checkpoint) or {}).get("step", 0) >= 20:
        time.sleep(0.001)
    require(process.end(kill_after=0) == -9, "the run was to be killed in its middle, but had ended")
    trial.deaths += 1
    trial.after()
    require(trial.released >= 20, "a state of 20 steps, but fewer answers")
    must_notice(AFTER_A_KILL, trial, work, lambda twin: twin.check_journal(read_checkpoint(twin.files.checkpoint)))
    # A run that nobody disturbs, for its weights.
    for path in (trial.files.journal, trial.files.checkpoint):
        os.unlink(path)
    trial = Trial(sotto, CASE, trial.files, rows, trial.options, reference)
    trial.begin()
    require(Process(trial.words(), folder).end() == 0, "the run that is to end does not")
    trial.after(0, trial.recorded_steps())
    trial.ended()
    must_notice(AFTER_THE_END, trial, work, lambda twin: twin.ended())
    _, temporary = leftovers(folder, trial.files.names())
    open(os.path.join(folder, "model.json.old"), "w").close()
    open(os.path.join(folder, ".sotto-0123456789abcdef.tmp"), "w").close()
    noticed = leftovers(folder, trial.files.names()) == (["model.json.old"], temporary + 1)
    require(noticed, "the soak does not notice files that are left")
    say(f"soak: of {len(AFTER_A_KILL) + len(AFTER_THE_END) + 1} twins that are broken by hand, all are noticed")
    shutil.rmtree(work)
