"""Man pages and completion say what the program can do: every option of every command stands in all of them, the pages are
sound roff from which options can be copied, and the shells offer what they should.

usage: pages_test.py GSC CITATION.cff
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

gsc, citation = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
folder = pathlib.Path(tempfile.mkdtemp(prefix="gsc-pages-"))
pages = folder / "pages"
date = re.search(r"^date-released: *([0-9-]+)", citation.read_text(), re.M).group(1)
subprocess.run([gsc, "make-pages", pages, date], check=True)


def output(*words, **more):
    return subprocess.run(words, check=True, capture_output=True, text=True, **more).stdout


def options_of_commands():
    """{"fit": ["--latents", "-o", ...]} from the tables of docs/cli.md, which do not go through the pages."""
    commands = {}
    for line in output(gsc, "options-markdown").splitlines():
        if line.startswith("### `gsc "):
            commands[line.split()[2]] = flags = []
        elif line.startswith("| `-"):
            flags += re.findall(r"`(--?[a-z-]+)", line.replace("\\|", "").split(" | ")[0])
    return commands


commands = options_of_commands()

# What is there to be completed with a name of a file.
for name in ["model.h5", "data.npy", "mix.csv", "photo.png", "other.PNG", "a b.png", "voice.wav", "run.toml", "notes.txt"]:
    (folder / name).touch()
for name in ["results", "pictures"]:
    (folder / name).mkdir()

FOLDERS = {"results", "pictures", "pages"}
IMAGES = {"photo.png", "other.PNG", "a b.png"}
TABLES = {"model.h5", "data.npy", "mix.csv"}
# A command line that ends where Tab is pressed -> what is offered.
CASES = [
    (["fi"], {"fit"}),
    (["fit", "--sel"], {"--selection"}),
    (["fit", "--selection", ""], {"singleton", "conditional"}),
    (["fit", "--selection", "sin"], {"singleton"}),
    (["fit", "--method", "e"], {"exact"}),
    (["fit", "d"], {"data.npy"}),
    (["fit", ""], TABLES | {"voice.wav"} | FOLDERS),
    (["fit", "--latents", ""], set()),
    (["fit", "data.npy", "--latents", "8", "-o", "m"], {"model.h5"}),
    (["fit", "--init", ""], {"random", "data", "model.h5"} | FOLDERS),
    (["fit", "--config", "r"], {"run.toml", "results"}),
    (["infer", ""], {"model.h5"} | FOLDERS),
    (["infer", "--states", "3", "model.h5", ""], TABLES | {"voice.wav"} | FOLDERS),
    (["infer", "model.h5", "data.npy", ""], set()),
    (["denoise", ""], IMAGES | FOLDERS),
    (["denoise", "photo.png", "--depth", ""], {"8", "16", "float"}),
    (["separate", "voice.wav", "v"], {"voice.wav"}),
    (["separate", "voice.wav", "-o", "r"], {"results"}),
    (["reproduce", "tab"], {"table1", "table2"}),
    (["reproduce", "al"], {"all"}),
    (["reproduce", "table1", "--output", "p"], {"pictures", "pages"}),
    (["help", "den"], {"denoise"}),
]


def needs(program):
    """The rest of a test is about a program that may be missing; its absence is told, not hidden."""
    return unittest.skipUnless(shutil.which(program), f"{program} is not installed")


class ManPages(unittest.TestCase):
    def test_each_command_has_a_page_and_each_option_stands_in_it(self):
        self.assertGreaterEqual(len(commands), 9)
        self.assertEqual({p.name for p in (pages / "man1").iterdir()}, {"gsc.1"} | {f"gsc-{c}.1" for c in commands})
        for command, flags in commands.items():
            text = (pages / f"man1/gsc-{command}.1").read_text()
            self.assertTrue(flags, command)
            for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES", "SEE ALSO"]:
                self.assertIn(f"\n.SH {section}\n", text, command)
            for flag in flags + ["--help"]:
                self.assertRegex(text, r"(?m)^(\\fB\\-[a-z]\\fR, )?\\fB" + re.escape(flag.replace("-", "\\-")) + r"\\fR", command)
        general = (pages / "man1/gsc.1").read_text()
        for word in list(commands) + ["GSC_DATA", "OMP_NUM_THREADS", "130"]:
            self.assertIn(word, general)

    def test_the_date_is_that_of_the_release(self):
        for page in (pages / "man1").iterdir():
            self.assertIn(f" 1 {date} \"gsc ", page.read_text().splitlines()[1])

    def test_words_of_a_value_are_told_from_names_of_things(self):
        text = (pages / "man1/gsc-fit.1").read_text()
        self.assertIn(r"\fB\-\-init\fR \fBrandom\fR|\fBdata\fR|\fIMODEL.h5\fR", text)

    @needs("mandoc")
    def test_mandoc_has_nothing_to_say(self):
        for page in (pages / "man1").iterdir():
            result = subprocess.run(["mandoc", "-T", "lint", page], capture_output=True, text=True)
            self.assertEqual(result.stdout + result.stderr, "")

    @needs("groff")
    @needs("man")
    def test_man_shows_it_without_a_warning_and_options_can_be_copied(self):
        for command, flags in commands.items():
            result = subprocess.run(["man", "--warnings", "-P", "cat", "-l", pages / f"man1/gsc-{command}.1"], capture_output=True,
                                    text=True, env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin", "MANWIDTH": "60", "TERM": "dumb"})
            self.assertEqual(result.stderr, "", command)
            text = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", result.stdout)
            for flag in flags:
                self.assertRegex(text, r"(?m)^ +(-[a-z], )?" + flag + r"\b", command)
            self.assertIn(f"gsc {command} ", text)
            self.assertNotRegex(text, r"\u2010\u2010|\u2212|\s\u2010")  # hyphens and minus signs that no shell understands
            self.assertNotRegex(text, r"(--|gsc-)[a-z-]*\u2010\n")  # an option or page that is cut in two


class Scripts(unittest.TestCase):
    """Of shells that may not be installed: the options stand in the scripts at least."""

    def test_zsh(self):
        script = (pages / "zsh/_gsc").read_text()
        for command, flags in commands.items():
            part = re.search(rf"(?s)\n    {command}\)\n(.*?);;", script).group(1)
            for flag in flags:
                self.assertRegex(part, rf"['\)]{flag}[=+]?\[", command)

    def test_fish(self):
        script = (pages / "fish/gsc.fish").read_text()
        for command, flags in commands.items():
            lines = "\n".join(line for line in script.splitlines() if f"'__gsc_command {command}'" in line)
            for flag in flags:
                self.assertIn(flag.replace("--", " -l ") if flag.startswith("--") else f" -s {flag[1:]} ", lines + " ", command)


class Shell:
    """What each of the shells has to do. offered(words) is what it offers at the end of a command line."""

    def test_each_option_of_each_command(self):
        for command, flags in commands.items():
            self.assertLessEqual(set(flags) | {"--help"}, self.offered([command, "-"]) | self.offered([command, "--"]), command)

    def test_commands(self):
        self.assertLessEqual(set(commands), self.offered([""]))

    def test_cases(self):
        for words, expected in CASES:
            with self.subTest(words=words):
                self.assertEqual(self.offered(words), expected)


@needs("bash")
class Bash(Shell, unittest.TestCase):
    def offered(self, words):
        script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gsc; printf "%s\\n" "${COMPREPLY[@]}"'
        lines = output("bash", "--norc", "-c", script, "bash", pages / "bash/gsc", gsc, *words, cwd=folder)
        return set(lines.splitlines()) - {""}

    def test_bash_splits_words_at_equals_signs_and_colons(self):
        self.assertEqual(self.offered(["fit", "--selection", "="]), {"singleton", "conditional"})
        self.assertEqual(self.offered(["fit", "--selection", "=", "c"]), {"conditional"})
        self.assertEqual(self.offered(["infer", "--method", "=", "exact", "model.h5", "d"]), {"data.npy"})
        self.assertEqual(self.offered(["infer", "model.h5", "x.npz", ":", "x", ""]), set())

    def test_every_option_that_takes_a_file_offers_files(self):
        files = re.findall(r"(?m)^### `gsc ([a-z]+)|^\| `(?:-. )?.*?`?(--[a-z-]+) (?:FILE|MODEL|DATA|OUT|REF|IN|W|DIR)\b",
                           output(gsc, "options-markdown"))
        command, tried = "", 0
        for heading, flag in files:
            if heading:
                command = heading
            else:
                self.assertTrue(self.offered([command, flag, ""]), (command, flag))
                tried += 1
        self.assertGreater(tried, 20)

    def test_the_script_is_found_by_its_name(self):
        self.assertIn("complete -F _gsc gsc", output("bash", "--norc", "-c", 'source "$1"; complete -p gsc', "bash", pages / "bash/gsc"))


@needs("fish")
class Fish(Shell, unittest.TestCase):
    def offered(self, words):
        line = " ".join([str(gsc)] + words)
        # fish knows completions by the program's name alone.
        lines = output("fish", "--no-config", "-c", f"source {pages}/fish/gsc.fish; complete -C {line!r}", cwd=folder,
                       env={"HOME": str(folder), "PATH": "/usr/bin:/bin"})
        return {word.split("\t")[0].rstrip("/").replace("\\ ", " ") for word in lines.splitlines()} - {""}

    def test_an_equals_sign(self):
        self.assertEqual(self.offered(["fit", "--selection=c"]), {"--selection=conditional"})


ZSH = r"""
zmodload zsh/zpty
zpty shell "zsh -f -i"
zpty -w shell 'PS1=; unset zle_bracketed_paste; LISTMAX=100000; cd "$FOLDER"; fpath=("$PAGES/zsh" $fpath)
autoload -Uz compinit; compinit -u -d "$FOLDER/.zcompdump"; zstyle ":completion:*" menu no; setopt no_beep
compadd() {
  if [[ " ${(j: :)@[1,(i)(-|--)]} " == *" -"(O|A|D)* ]]; then builtin compadd "$@"; return; fi
  local -a hits; builtin compadd -A hits "$@"; print -rl -- $hits >>"$RECORD"; builtin compadd "$@"
}
bindkey "^I" complete-word
finished() { print -r -- finished >>"$RECORD"; zle -I }
zle -N finished; bindkey "^T" finished
print -r ready >>"$RECORD"
'
until [[ -s $RECORD ]]; do sleep 0.1; done
zpty -w -n shell "$LINE_OF_WORDS"$'\t'$'\x14'
repeat 100 { grep -qx finished "$RECORD" && break; sleep 0.1 }
zpty -d shell
"""


@needs("zsh")
class Zsh(Shell, unittest.TestCase):
    def offered(self, typed):
        record = folder / "record"
        record.unlink(missing_ok=True)
        subprocess.run(["zsh", "-f", "-c", ZSH], check=True, stdin=subprocess.DEVNULL, timeout=60, cwd=folder,
                       env={"HOME": str(folder), "PATH": "/usr/bin:/bin", "TERM": "dumb", "LC_ALL": "C.UTF-8", "FOLDER": str(folder),
                            "PAGES": str(pages), "RECORD": str(record), "LINE_OF_WORDS": " ".join([str(gsc)] + typed)})
        words = record.read_text().splitlines()
        self.assertEqual([words[0], words[-1]], ["ready", "finished"])
        hits = {re.sub(r"[=/]$", "", word).replace("\\ ", " ") for word in words[1:-1]} - {""}
        # Where nothing else can stand, zsh offers options unasked.
        return set() if typed[-1] == "" and all(hit.startswith("-") for hit in hits) else hits


if __name__ == "__main__":
    try:
        result = unittest.main(argv=["pages_test", "-v"], exit=False).result
    finally:
        shutil.rmtree(folder)
    sys.exit(0 if result.wasSuccessful() else 1)
