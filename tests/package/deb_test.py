"""What the Debian packages hold, declare and do not reveal, without installing them.

usage: deb_test.py --build FOLDER --work FOLDER --cpack CPACK --cmake CMAKE
Exit code 77: no tools of Debian here, nothing was tested.
"""

import argparse
import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]

# Where find_package(sotto) looks further (cmake/sotto-config.cmake.in), and Debian's packages with these.
CMAKE_PACKAGES = {
    "Eigen3": "libeigen3-dev",
    "tl-expected": "libexpected-dev",
    "fmt": "libfmt-dev",
    "OpenSSL": "libssl-dev",
    "Threads": None,
    "ZLIB": "zlib1g-dev",
    "tomlplusplus": "libtomlplusplus-dev",
    "Protobuf": "libprotobuf-dev",
    "ONNX": "libonnx-dev",
    "SQLite3": "libsqlite3-dev",
    "PostgreSQL": "libpq-dev",
}
# The package that has a program which Sotto starts.
PROGRAMS = {"curl": "curl", "bzip2": "bzip2", "tar": None, "gnuplot": "gnuplot"}  # tar is essential
SPAWNING = {"sotto/data/fetch/child.cpp", "apps/sotto/plot_file.cpp"}


def output(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def names(field):
    """The packages of a field such as Depends, without versions."""
    return {re.match(r"[a-z0-9.+-]+", each.strip())[0] for each in re.split(r"[,|]", field) if each.strip()}


class Deb:
    """An unpacked package, and all that is wrong with it."""

    def __init__(self, path, folder):
        self.listing = output("dpkg-deb", "--contents", str(path))
        self.root = folder / path.stem
        output("dpkg-deb", "--raw-extract", str(path), str(self.root))
        self.fields = dict(
            re.findall(r"^([A-Z][A-Za-z-]*): ?(.*)$", (self.root / "DEBIAN/control").read_text(), re.M))
        self.files = {str(each.relative_to(self.root)) for each in self.root.rglob("*")
                      if not each.is_dir() and "DEBIAN" not in each.parts}

    def problems(self, wanted, version):
        yield from self.wrong_fields(version)
        for file in sorted(self.files - wanted):
            yield f"{file} should not be there"
        for file in sorted(wanted - self.files):
            yield f"{file} is missing"
        for line in self.listing.splitlines():
            mode, owner, *_, name = line.split(maxsplit=5)
            expected = "drwxr-xr-x" if name.endswith("/") else "-rwxr-xr-x" if "/bin/" in name else "-rw-r--r--"
            if mode != expected or owner != "root/root":
                yield f"{name} is {mode} of {owner}, but should be {expected} of root/root"
        yield from self.wrong_sums()
        for file in sorted(self.files):
            data = (self.root / file).read_bytes()
            if file.endswith(".gz"):
                if data[3:8] != bytes(5):  # flags, time of change
                    yield f"{file} was packed with a name or a time"
                data = gzip.decompress(data)
            for path in {str(SOURCE), str(pathlib.Path.home())} - {"/"}:
                if path.encode() + b"/" in data:
                    yield f"{file} names {path}"

    def wrong_fields(self, version):
        f = self.fields
        if f.get("Version") != version:
            yield f"its version is {f.get('Version')}, that of the program {version}"
        if f.get("Architecture") != output("dpkg", "--print-architecture").strip():
            yield f"its architecture is {f.get('Architecture')}"
        for field in ("Section", "Priority", "Description", "Depends"):
            if not f.get(field):
                yield f"there is no {field}"
        if not re.fullmatch(r"[^<>]+ <[^<>@ ]+@[^<>@ ]+>", f.get("Maintainer", "")):
            yield f"its maintainer is {f.get('Maintainer')}"
        size = int(f.get("Installed-Size", 0)) * 1024
        real = sum((self.root / file).lstat().st_size for file in self.files)
        if not real * 0.9 < size < real * 1.1 + 65536 * 8:
            yield f"its size is said to be {size}, and is {real}"

    def wrong_sums(self):
        sums = dict(reversed(line.split(maxsplit=1))
                    for line in (self.root / "DEBIAN/md5sums").read_text().splitlines())
        if set(sums) != self.files:
            yield f"md5sums names other files: {set(sums) ^ self.files}"
        for file in sorted(self.files & set(sums)):
            if hashlib.md5((self.root / file).read_bytes()).hexdigest() != sums[file]:
                yield f"md5sums differs from {file}"


def wrong_program(deb):
    """What the program loads and starts is declared, and nothing of the build is left in it."""
    program = deb.root / "usr/bin/sotto"
    dynamic = output("readelf", "--dynamic", "--wide", str(program))
    if re.search(r"\((RPATH|RUNPATH)\)", dynamic):
        yield "the program looks for libraries in a folder of its own"
    if "BIND_NOW" not in dynamic and not re.search(r"Flags:.*\bNOW\b", dynamic):
        yield "the program's table of functions stays writable"
    if ".symtab" in output("readelf", "--sections", "--wide", str(program)):
        yield "the program is not stripped"
    depends = names(deb.fields.get("Depends", ""))
    found = dict(re.findall(r"^\s*(\S+) => (\S+)", output("ldd", str(program)), re.M))
    for library in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        path = found.get(library)
        if library.startswith("ld-linux"):
            continue
        if not path:
            yield f"the program loads {library}, which is not found"
            continue
        # dpkg knows the place as it was before /lib became a link to /usr/lib, or as it is now.
        owners = {line.split(":")[0] for each in {path, os.path.realpath(path), f"/usr{path}"}
                  for line in subprocess.run(["dpkg", "-S", each], capture_output=True, text=True).stdout.splitlines()}
        if not depends & owners:
            yield f"the program loads {library} of {owners}, which is not in Depends"

    spawning, started = set(), set()
    for file in [*SOURCE.glob("sotto/**/*.[ch]pp"), *SOURCE.glob("apps/**/*.[ch]pp")]:
        text = file.read_text()
        if re.search(r"\b(posix_spawnp?|exec[lv][a-z]*|popen|system|dlopen)\(", re.sub(r"file_system\(", "", text)):
            spawning.add(str(file.relative_to(SOURCE)))
        started |= set(re.findall(r"find_program\(\"([\w-]+)\"", text))
        if "run_program(" in text:
            started |= set(re.findall(r"\{\s*\"([a-z][\w-]*)\",\s*\"-", text))
    if spawning != SPAWNING:
        yield f"programs are started or loaded in {spawning}, but this test reads {SPAWNING}"
    if started != set(PROGRAMS):
        yield f"the sources start {started}, but this test knows {set(PROGRAMS)}"
    declared = names(deb.fields.get("Recommends", "")) | names(deb.fields.get("Suggests", ""))
    for program in sorted(started & set(PROGRAMS)):
        if PROGRAMS[program] and PROGRAMS[program] not in declared:
            yield f"the program starts {program}, which is in neither Recommends nor Suggests"


def wrong_library(deb):
    config = (SOURCE / "cmake/sotto-config.cmake.in").read_text()
    wanted = {CMAKE_PACKAGES[each] for each in re.findall(r"find_dependency\((\S+?)[ )]", config)} - {None}
    if names(deb.fields.get("Depends", "")) != wanted:
        yield f"users of the library need {wanted}, but Depends is {deb.fields.get('Depends')}"


def files_of_program(program, folder):
    output(program, "help", "--share", str(folder))
    pages = {f"usr/share/man/man1/{page.name}.gz" for page in folder.glob("man/man1/*")}
    studies = {f"usr/share/sotto/studies/{study.name}" for study in SOURCE.glob("studies/*.toml")}
    assert len(pages) > 20 and len(studies) > 10, "this test looks for pages and studies where none are"
    doc = {f"usr/share/doc/sotto/{each}" for each in ("copyright", "changelog.gz", "CHANGELOG.md.gz", "SECURITY.md.gz")}
    return pages | studies | doc | {
        "usr/bin/sotto",
        "usr/share/bash-completion/completions/sotto",
        "usr/share/fish/vendor_completions.d/sotto.fish",
        "usr/share/sotto/studies/schemas/covertype.toml",
        "usr/share/zsh/vendor-completions/_sotto",
    }


def files_of_library(build):
    modules = re.findall(r"^sotto_module\((\w+)", (SOURCE / "CMakeLists.txt").read_text(), re.M)
    headers = re.findall(r"^ +(sotto/\S+\.hpp)", (SOURCE / "cmake/Headers.cmake").read_text(), re.M)
    cache = (build / "CMakeCache.txt").read_text()
    lib = "usr/" + re.search(r"^CMAKE_INSTALL_LIBDIR:\w+=(.*)$", cache, re.M)[1]
    config = ("sotto-config.cmake", "sotto-config-version.cmake", "sotto_targets.cmake", "sotto_targets-release.cmake")
    return ({f"{lib}/libsotto_{module}.a" for module in modules} | {f"usr/include/{header}" for header in headers} |
            {f"{lib}/cmake/sotto/{file}" for file in config} |
            {f"usr/share/doc/libsotto-dev/{file}" for file in ("copyright", "changelog.gz")})


def twins(deb, work):
    """Broken copies of the package: what was done to each, and the copy."""

    def edit(what, old, new):
        def change(root):
            file = root / what
            file.write_bytes(file.read_bytes().replace(old, new))
        return change

    def widen(root):
        (root / "usr/share/man").chmod(0o777)

    def trace(root):
        with open(root / "usr/bin/sotto", "ab") as file:
            file.write(f"{SOURCE}/sotto/core/file.cpp".encode())

    control = "DEBIAN/control"
    changes = {
        "no page": lambda root: (root / "usr/share/man/man1/sotto-train.1.gz").unlink(),
        "another file": lambda root: (root / "usr/share/sotto/rows.csv").write_text("1\n"),
        "a folder that everybody may write to": widen,
        "a path of the build": trace,
        "no OpenSSL": edit(control, b"libssl3", b"libssl2"),
        "no curl": edit(control, b"curl", b"girl"),
        "another version": edit(control, b"Version: ", b"Version: 9"),
        "another maintainer": edit(control, b"Maintainer: ", b"Maintainer: <"),
    }
    for name, change in changes.items():
        root = work / "twin"
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(deb.root, root)
        change(root)
        sums = [f"{hashlib.md5(each.read_bytes()).hexdigest()}  {each.relative_to(root)}\n"
                for each in root.rglob("*") if each.is_file() and "DEBIAN" not in each.parts]
        (root / "DEBIAN/md5sums").write_text("".join(sums))
        path = work / "twin.deb"
        output("dpkg-deb", "--root-owner-group", "-Znone", "--build", str(root), str(path))
        shutil.rmtree(root)
        yield name, Deb(path, work)


def tarball_refuses(cmake, program, work):
    """The program of the .deb, with all its libraries elsewhere, is no program for a tarball."""
    config = work / "tarball.cmake"
    config.write_text(f"set(PROGRAM {program})\nset(BUILD {work}/none)\nset(NAME none)\nset(BESIDE libfmt)\n"
                      f"include({SOURCE}/cmake/tarball.cmake)\n")
    answer = subprocess.run([cmake, "-D", f"DIST={work}/none", "-P", str(config)], capture_output=True, text=True)
    return answer.returncode != 0 and re.search(r"The program needs lib(?!fmt|c\.|m\.)\S+\.so", answer.stderr)


def main():
    parser = argparse.ArgumentParser()
    for name in ("build", "work", "cpack", "cmake"):
        parser.add_argument(f"--{name}", required=True)
    a = parser.parse_args()
    for tool in ("dpkg-deb", "dpkg-shlibdeps", "readelf", "ldd", "file"):
        if not shutil.which(tool):
            print(f"package.deb: Skipped\nno {tool} to make or read Debian packages with")
            return 77
    os.umask(0o022)
    build, work = pathlib.Path(a.build).resolve(), pathlib.Path(a.work).resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    program = str(build / "bin/sotto")
    made = []
    for attempt in ("first", "second"):  # the same bytes
        folder = work / attempt
        subprocess.run([a.cpack, "--config", str(build / "CPackConfig.cmake"), "-B", str(folder),
                        "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip"], check=True, cwd=work,
                       env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}, stdout=subprocess.DEVNULL)
        made.append({deb.name: deb for deb in folder.glob("*.deb")})
        shutil.rmtree(folder / "_CPack_Packages")
    failed = []
    for name in made[0]:
        if made[0][name].read_bytes() != made[1][name].read_bytes():
            failed.append(f"{name}: two runs differ")

    version = json.loads(output(program, "version", "--json"))["version"]
    architecture = output("dpkg", "--print-architecture").strip()
    expected = {f"sotto_{version}_{architecture}.deb": (files_of_program(program, work / "share"), wrong_program),
                f"libsotto-dev_{version}_{architecture}.deb": (files_of_library(build), wrong_library)}
    if set(made[0]) != set(expected):
        sys.exit(f"made are {sorted(made[0])}, but should be {sorted(expected)}")
    for name, (files, further) in expected.items():
        deb = Deb(made[0][name], work)
        failed += [f"{name}: {each}" for each in [*deb.problems(files, version), *further(deb)]]
        if name.startswith("sotto") and not failed:
            for what, twin in twins(deb, work):
                if not [*twin.problems(files, version), *further(twin)]:
                    failed.append(f"a package with {what} passes")
                shutil.rmtree(twin.root)
    if not tarball_refuses(a.cmake, program, work):
        failed.append("a tarball is made of a program that needs libraries")
    print("\n".join(failed) or "both packages are as they should be")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
