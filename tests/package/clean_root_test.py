"""Installs the packages of ./dev package into roots in which nothing of Sotto's has ever been, and uses them.

usage: clean_root_test.py --build FOLDER --work FOLDER
One root gets the .deb, with what it depends on and no more. The other gets the tarball, and loses all shared libraries
that a tarball must not need. Debian comes from where the machine's own apt takes it.
Exit code 77: this machine can't make such roots, nothing was tested.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.request

SOURCE = pathlib.Path(__file__).resolve().parents[2]
NOT_THERE = "is not installed"  # what Sotto says of a program that it can't start
ONLY_GLIBC = {"libc.so.6", "libm.so.6", "libresolv.so.2", "ld-linux-x86-64.so.2", "linux-vdso.so.1"}


class Skipped(Exception):
    pass


def output(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def sources():
    """Debian's own among the machine's sources: [(address, suite)], the release itself first."""
    codename = re.search(r"^VERSION_CODENAME=(\S+)", pathlib.Path("/etc/os-release").read_text(), re.M)
    lines = output("apt-get", "indextargets", "--format", "$(CREATED_BY)|$(LABEL)|$(COMPONENT)|$(REPO_URI)|$(CODENAME)")
    fields = [line.split("|") for line in lines.splitlines()]
    found = sorted({(address, suite) for kind, label, component, address, suite in fields
                    if kind == "Packages" and label.startswith("Debian") and component == "main"},
                   key=lambda each: (len(each[1]), each))
    if not codename or not found or found[0][1] != codename[1]:
        raise Skipped("apt knows no mirror of this machine's Debian")
    return found


def check_machine():
    if os.geteuid() != 0:
        raise Skipped("only root can make another root folder")
    for tool in ("apt-get", "debootstrap", "dpkg-shlibdeps", "protoc", "unshare"):
        if not shutil.which(tool):
            raise Skipped(f"no {tool}: ./dev test --all installs what is needed")
    mirror, suite = sources()[0]
    try:
        urllib.request.urlopen(f"{mirror}dists/{suite}/Release", timeout=30).close()
    except OSError:
        raise Skipped("the mirror of Debian can't be reached") from None


class Root:
    """A folder as the root of a system. What runs in it has a /proc, which ends with it."""

    def __init__(self, folder):
        self.folder = folder

    def command(self, words, user):
        inside = ["chroot", *(["--userspec=nobody:nogroup"] if user else []), str(self.folder),
                  "/usr/bin/env", "--ignore-environment", "LC_ALL=C", "HOME=/tmp/home", "DEBIAN_FRONTEND=noninteractive",
                  "PATH=/opt/sotto/bin:/usr/sbin:/usr/bin:/sbin:/bin", "bash", "-c", f"cd /tmp/home && {words}"]
        return ["unshare", "--mount", "--pid", "--fork", f"--mount-proc={self.folder}/proc", *inside]

    def asks(self, words, user=True):
        return subprocess.run(self.command(words, user), capture_output=True, text=True)

    def runs(self, words, user=True):
        return output(*self.command(words, user))

    def make_home(self):
        home = self.folder / "tmp/home"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        home.chmod(0o777)

    def remove(self):
        if self.folder.exists():
            output("rm", "-rf", "--one-file-system", self.folder)


def thirty_seconds():
    """The commands of the README, as they are typed where sotto is installed."""
    block = re.search(r"## Thirty seconds\n+```console\n(.*?)```", (SOURCE / "README.md").read_text(), re.S)[1]
    typed = re.findall(r"^\$ (.*)$", block.replace("\\\n", " "), re.M)
    commands = [each.replace("./sotto", "sotto") for each in typed if each.startswith("./sotto")]
    assert len(commands) == 2, "the README shows other commands: let this test find them"
    return commands


def use(root, version):
    """What a person does first; parts of the program that load or start something else; what is not there."""
    root.make_home()
    about = json.loads(root.runs("sotto version --json"))
    if about["version"] != version:
        sys.exit(f"installed is {about}, but built was {version}")
    for command in thirty_seconds():
        said = root.runs(command + " 2>&1")
    accuracy = re.search(r"Accuracy = ([0-9.]+)%", said)
    if not accuracy or not 75 < float(accuracy[1]) < 95:
        sys.exit(f"the model of the README predicts differently here:\n{said}")
    rows = "--epsilon 1 --delta 1e-6 --schema sotto-demo/census.toml sotto-demo/train.csv"
    root.runs("gzip -k sotto-demo/test.csv && sotto predict sotto-demo/test.csv.gz model.json - > predictions.csv")
    root.runs(f"sotto train --method dp-gd --steps 2 --report run.html --model mlp:8 {rows} net.json")
    root.runs("sotto export --raw net.json net.onnx")
    root.runs(f"sotto train --method dp-gd --steps 2 --model net.onnx {rows} again.json")
    page = (root.folder / "tmp/home/run.html").read_text()
    if "Chart" not in page or re.search(r"<(script|link)[^>]*(src|href)=", page):
        sys.exit("the report has no charts of its own")
    if len(root.runs("sotto reproduce list").splitlines()) < 10:
        sys.exit("sotto reproduce does not find its studies")
    # What is only recommended or suggested is asked for by name.
    for command, program in (("sotto data fetch wdbc", "curl"),
                             (f"sotto train --plot run.svg {rows} plotted.json", "gnuplot")):
        answer = root.asks(command)
        if answer.returncode == 0 or program not in answer.stderr or NOT_THERE not in answer.stderr:
            sys.exit(f"without {program}, {command} said {answer.stderr!r} and ended with {answer.returncode}")


def check_completion(root, folder):
    """A word that is begun is completed by bash; those of zsh and fish are where these look."""
    said = root.runs(f". {folder}/bash-completion/completions/sotto; COMP_WORDS=(sotto tra); COMP_CWORD=1; _sotto; "
                     "echo ${COMPREPLY[@]}")
    if said.strip() != "train":
        sys.exit(f"bash completes `sotto tra` to {said!r}")


def test_deb(root, deb, version):
    lines = [f"deb {address} {suite} main\n" for address, suite in sources()]
    (root.folder / "etc/apt/sources.list").write_text("".join(lines))
    root.make_home()
    shutil.copy(deb, root.folder / "tmp/home")
    root.runs("apt-get -o Acquire::Check-Valid-Until=false update -qq", user=False)
    before = set(root.runs("dpkg-query -W -f '${Package}\\n'").split())
    root.runs(f"apt-get install -y --no-install-recommends ./{deb.name}", user=False)
    brought = set(root.runs("dpkg-query -W -f '${Package}\\n'").split()) - before
    print(f"with {deb.name} came: {', '.join(sorted(brought - {'sotto'}))}")
    for library in ("libonnx1", "libprotobuf32"):
        if library in before or library not in brought:
            sys.exit(f"{library} should come with the package, and not before")
    if not before.isdisjoint({"curl", "gnuplot-nox"}):
        sys.exit("this root is not bare")
    use(root, version)
    check_completion(root, "/usr/share")
    root.runs("test -s /usr/share/zsh/vendor-completions/_sotto -a -s /usr/share/fish/vendor_completions.d/sotto.fish")
    root.runs("dpkg --verify sotto")
    root.runs("apt-get install -y --no-install-recommends man-db", user=False)
    for page in ("sotto", "sotto-train", "sotto-data-fetch"):
        if root.runs(f"man -w {page}").strip() != f"/usr/share/man/man1/{page}.1.gz":
            sys.exit(f"man does not find {page}")
        if "SYNOPSIS" not in root.runs(f"man {page} | cat"):
            sys.exit(f"man can't show {page}")
    root.runs("apt-get purge -y sotto", user=False)
    left = root.runs("find /usr /etc -path '*sotto*'")
    if left:
        sys.exit(f"removing the package leaves {left}")


def test_tarball(root, tarball, version):
    # No program that is run here needs these, and neither must Sotto.
    for pattern in ("libstdc++", "libgcc_s", "libz.", "libssl", "libcrypto", "libfmt", "libonnx", "libprotobuf", "libtoml",
                    "libgnutls", "libnettle", "libgmp", "libpq", "libsqlite3"):
        for library in root.folder.glob(f"usr/lib/**/{pattern}*"):
            library.unlink()
    root.make_home()
    (root.folder / "opt/sotto").mkdir()
    output("tar", "--extract", "--file", tarball, "--directory", root.folder / "opt/sotto", "--strip-components=1")
    use(root, version)
    check_completion(root, "/opt/sotto/share")
    loaded = set(re.findall(r"^\s*(?:\S*/)?([\w.+-]+\.so\S*)", root.runs("ldd /opt/sotto/bin/sotto"), re.M))
    print(f"the tarball's program loads: {', '.join(sorted(loaded))}")
    beside = {library.name for library in root.folder.glob("opt/sotto/lib/sotto/*")}
    if not loaded <= ONLY_GLIBC | beside:
        sys.exit(f"the program of the tarball loads {loaded - ONLY_GLIBC - beside}")
    data = (root.folder / "opt/sotto/bin/sotto").read_bytes()
    if str(SOURCE).encode() + b"/" in data:
        sys.exit(f"the program of the tarball names {SOURCE}")
    page = (root.folder / "opt/sotto/share/man/man1/sotto.1").read_text()
    owners = {(each.stat().st_uid, each.stat().st_gid) for each in root.folder.glob("opt/sotto/**/*")}
    if ".SH SYNOPSIS" not in page or owners != {(0, 0)}:
        sys.exit(f"the tarball's files are not as they should be; owners: {owners}")


def main():
    parser = argparse.ArgumentParser()
    for name in ("build", "work"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--packages", help="folder with the packages, instead of calling ./dev package")
    a = parser.parse_args()
    work = pathlib.Path(a.work).resolve()
    try:
        check_machine()
    except Skipped as reason:
        print(f"package.clean_root: Skipped\n{reason}")
        return 77
    os.umask(0o022)
    packages = pathlib.Path(a.packages or SOURCE / "dist").resolve()
    if not a.packages:
        subprocess.run([SOURCE / "dev", "package"], check=True)
    version = json.loads(output(f"{a.build}/bin/sotto", "version", "--json"))["version"]
    architecture = output("dpkg", "--print-architecture").strip()
    first, second = Root(work / "deb"), Root(work / "tarball")
    for root in (first, second):
        root.remove()
    work.mkdir(parents=True, exist_ok=True)
    mirror, suite = sources()[0]
    try:
        output("debootstrap", "--variant=minbase", suite, first.folder, mirror)
        output("cp", "-a", first.folder, second.folder)
        test_deb(first, packages / f"sotto_{version}_{architecture}.deb", version)
        test_tarball(second, packages / f"sotto-{version}-linux-x86_64.tar.gz", version)
    finally:
        for root in (first, second):
            root.remove()
    print("both work")
    return 0


if __name__ == "__main__":
    sys.exit(main())
