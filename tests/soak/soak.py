#!/usr/bin/env python3
"""Sotto under load: killed again and again, in a crowd, and short of memory. Not a part of the tests, which must be
quick; `./dev soak` runs it, docs/studies/soak.md says what came of it.

Progress goes to standard error, one JSON line a part to standard output. Exit code 1 if an invariant does not hold;
what shows it is kept in the work folder.
"""

import argparse
import json
import os
import shutil
import signal
import sys

sys.dont_write_bytecode = True

import crowd
import kills
import pressure
import twins
from trial import Sotto, Violation

PARTS = {"kills": kills.main, "crowd": crowd.main, "pressure": pressure.main}


def main():
    lines_stay = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="soak.py", description=__doc__, formatter_class=lines_stay)
    parser.add_argument("part", choices=[*PARTS, "all"], help="kill -9, many trainings at once, little memory, or all")
    parser.add_argument("--sotto", default="build/bin/sotto", help="the program")
    parser.add_argument("--work", default="build/soak", help="a folder for its files; those of an earlier soak go")
    parser.add_argument("--seed", type=int, default=1, help="decides cases, options and moments, not how long steps take")
    parser.add_argument("--times", type=int, help="kills: so many kills (1000); crowd: so many crowds (3)")
    parser.add_argument("--pairs", type=int, default=2, help="kills: so many pairs of processes at a time (2)")
    parser.add_argument("--seconds", type=float, default=3600, help="pressure: for so long (3600)")
    parser.add_argument("--crowd", type=int, default=50, help="crowd: so many trainings at once (50)")
    parser.add_argument("--rows", type=int, default=5000, help="crowd: rows of the data that they train on (5000)")
    parser.add_argument("--memory", type=float, default=4, help="crowd: GB that all of them may have together (4)")
    parser.add_argument("--cases", default="", help="kills: only those that this expression fits, e.g. '^network'")
    parser.add_argument("--nice", type=int, default=10, help="what the trainings run at (10)")
    options = parser.parse_args()
    sotto = Sotto(options.sotto, options.nice)

    def say(text):
        print(text, file=sys.stderr, flush=True)

    def interrupt(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    failed = False
    for part in PARTS if options.part == "all" else [options.part]:
        work = os.path.abspath(os.path.join(options.work, part))
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        try:
            twins.check(sotto, work, say)
            result = PARTS[part](sotto, work, options.seed, options, say)
        except Violation as violation:
            result = {"part": part, "violations": [str(violation)]}
        print(json.dumps(result), flush=True)
        say(f"{part}: {'VIOLATED, see ' + work if result['violations'] else 'all held'}")
        failed = failed or bool(result["violations"])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
