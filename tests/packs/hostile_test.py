"""Packs that attack the judge, killed writers, and several writers at the same time.

Usage: hostile_test.py PROGRAM; ASSAY_HOSTILE_ROUNDS: how many times a writer is killed, default 5
"""

import json
import os
import random
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM = sys.argv[1]
ROUNDS = int(os.environ.get("ASSAY_HOSTILE_ROUNDS", "5"))
MEMBERS = ["goldens.h5", "inputs.h5", "manifest.json", "recipes.jsonl"]
MEMORY = 1 << 30
SECONDS = 60  # time limit of waiting


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def assay(*words):
    return subprocess.run([PROGRAM, "pack", *map(str, words)], capture_output=True, text=True, check=False,
                          timeout=SECONDS, preexec_fn=limited)


def begin(folder):
    return subprocess.Popen([PROGRAM, "pack", "smoke", "--to", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def made_a_fifo(path):
    os.mkfifo(path)


def made_a_socket(path):
    # Changes to the folder first, because the path of a socket may have only about 100 characters.
    here = os.getcwd()
    os.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path.name)
    os.chdir(here)


def generated(path):
    with open(path, "wb") as file:
        file.truncate(1 << 40)


NO_FILES = [
    (made_a_fifo, "is a FIFO"), (made_a_socket, "is a socket"), (Path.mkdir, "is a folder"), (generated, "are stored"),
    (lambda path: path.symlink_to("/dev/zero"), "is a device"), (lambda path: path.symlink_to(path.name), "symbolic links"),
]


class HostilePacks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="assay-packs-")
        cls.path = Path(cls.folder.name)
        cls.whole = cls.path / "whole"
        done = assay("smoke", "--to", cls.whole)
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def copy(self):
        pack = self.path / "pack"
        shutil.rmtree(pack, ignore_errors=True)
        shutil.copytree(self.whole, pack)
        return pack

    def assert_refused(self, pack, reason):
        done = assay("--verify", pack)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn(reason, done.stdout + done.stderr)
        self.assertIsNone(re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", done.stdout + done.stderr), done)

    def assert_whole(self, pack):
        done = assay("--verify", pack)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(os.listdir(pack)), MEMBERS)

    def test_a_path_that_is_not_a_file_is_reported(self):
        for name in MEMBERS:
            for make, reason in NO_FILES:
                with self.subTest(f"{name} {reason}"):
                    pack = self.copy()
                    (pack / name).unlink()
                    make(pack / name)
                    self.assert_refused(pack, reason)

    def test_a_missing_member_is_named(self):
        for name in MEMBERS:
            with self.subTest(name):
                pack = self.copy()
                (pack / name).unlink()
                self.assert_refused(pack, "contains no manifest.json" if name == "manifest.json" else "No such file")

    def test_texts_that_blow_up_are_named(self):
        for name, text, reason in [
                ("manifest.json", "[" * (1 << 23), "nests deeper than"), ("manifest.json", '{"a":' * 100_000, "nests deeper than"),
                ("manifest.json", " " * ((1 << 24) + 1), "at most 16777216 are read"),
                ("recipes.jsonl", "[" * (1 << 22), "a recipe has at most 3072"), ("recipes.jsonl", "[" * 3000, "nests deeper than"),
                ("recipes.jsonl", "\n" * ((1 << 26) + 1), "at most 67108864 are read"), ("recipes.jsonl", "\n", "recipes.jsonl:1: "),
                ("manifest.json", "7", "no member 'schema'"), ("manifest.json", '{"schema":"\\u001b[2J"}', "the schema is '\\x1b[2J'"),
                ("manifest.json", '{"schema":"' + "x" * (1 << 20) + '"}', "the schema is 'xxx"), ("recipes.jsonl", "\0\x1b[2J", "recipes.jsonl:1: ")]:
            with self.subTest(name + " " + text[:20]):
                pack = self.copy()
                (pack / name).write_text(text)
                self.assert_refused(pack, reason)

    def test_a_repeated_member_is_refused(self):
        for name, first in (("manifest.json", '{"cases":0,'), ("recipes.jsonl", '{"command":"nsa_compress_grad",')):
            pack = self.copy()
            (pack / name).write_text(first + (pack / name).read_text()[1:])
            self.assert_refused(pack, "twice in an object")

    def test_a_file_that_is_a_link_is_named(self):
        pack = self.copy()
        (pack / "goldens.h5").rename(self.path / "elsewhere.h5")
        (pack / "goldens.h5").symlink_to(self.path / "elsewhere.h5")
        self.assert_refused(pack, "goldens.h5 is a symbolic link; a pack must contain the file itself")

    def test_digests_that_act_on_a_terminal_are_quoted(self):
        pack = self.copy()
        manifest = json.loads((pack / "manifest.json").read_text())
        manifest["files"]["goldens.h5"]["sha256"] = "\x1b[2J" + "x" * (1 << 20)
        (pack / "manifest.json").write_text(json.dumps(manifest))
        self.assert_refused(pack, "expected \\x1b[2Jxxx")
        self.assertLess(len(assay("--verify", pack).stdout), 1000)

    def changed_manifest(self, change):
        pack = self.copy()
        manifest = json.loads((pack / "manifest.json").read_text())
        change(manifest)
        (pack / "manifest.json").write_text(json.dumps(manifest))
        return pack

    def test_a_manifest_that_lists_other_files_or_cases_is_named(self):
        id = next(iter(json.loads((self.whole / "manifest.json").read_text())["inputs"]))
        for change, reason in [
                (lambda m: m["files"].pop("goldens.h5"), "files: no member 'goldens.h5'"),
                (lambda m: m["files"].update({"../secret": {"bytes": 1, "sha256": ""}}), "files lists '../secret'"),
                (lambda m: m.update(cases=m["cases"] + 1), f"; it must be {len(self.recipes())}, the number of recipes"),
                (lambda m: m["inputs"].update({"0" * 12: {}}), "lists the case '000000000000', but the pack has no recipe of this case"),
                (lambda m: m["inputs"].pop(id), f"inputs: no member '{id}'"),
                (lambda m: m["inputs"][id].update(ghost="0"), "digests; expected"),
                (lambda m: m.update(numerics="none"), "manifest.json: numerics is 'none': no numerics preset 'none'"),
                (lambda m: m.update(format="\x1b"), "the format is '\\x1b'")]:
            with self.subTest(reason):
                self.assert_refused(self.changed_manifest(change), reason)

    def recipes(self):
        return [json.loads(line) for line in (self.whole / "recipes.jsonl").read_text().splitlines()]

    def test_a_file_that_the_manifest_does_not_list_is_named(self):
        pack = self.copy()
        (pack / "secret\x1b").write_text("")
        self.assert_refused(pack, "'secret\\x1b' is not a file of the pack")

    def test_recipes_that_their_replay_lines_do_not_give_are_named(self):
        for change, reason in [
                (lambda r: r["inputs"]["query"].update(dtype="evil"), '/inputs/query/dtype is "evil"; the replay line gives "'),
                (lambda r: r["inputs"]["query"].update(shape=[1 << 31]), "/inputs/query/shape"),
                (lambda r: r["inputs"].pop("query"), "/inputs/query is absent"),
                (lambda r: r["inputs"].update({"../secret": {}}), "/inputs/..~1secret is {}; the replay line gives absent"),
                (lambda r: r["outputs"]["dq"].update(shape=[1]), "/outputs/dq/shape"),
                (lambda r: r["attributes"].update(scale_value=7), "/attributes/scale_value is 7"),
                (lambda r: r.update(id="0" * 12), '/id is "000000000000"'), (lambda r: r.update(seed=r["seed"] + 1), "/seed is "),
                (lambda r: r.update(layout=[]), "/layout is []")]:
            with self.subTest(reason):
                pack, recipes = self.copy(), self.recipes()
                change(recipes[0])
                (pack / "recipes.jsonl").write_text("".join(json.dumps(recipe) + "\n" for recipe in recipes))
                self.assert_refused(pack, reason)

    def test_a_recipe_that_comes_twice_is_named(self):
        pack = self.copy()
        lines = (pack / "recipes.jsonl").read_text()
        (pack / "recipes.jsonl").write_text(lines + lines.splitlines()[0] + "\n")
        self.assert_refused(pack, "a second recipe of case")

    def test_cases_that_are_too_large_are_named(self):
        for fields, reason in [("--seq_q=1500000000", "accepted: "), ("--seq_q=15000 --batch=60000", "the limit is")]:
            pack = self.copy()
            first = re.sub(r"--batch=\d+ |(--seq_q=\d+)", lambda found: fields if found[1] else "", (pack / "recipes.jsonl").read_text(), count=2)
            (pack / "recipes.jsonl").write_text(first)
            self.assert_refused(pack, reason)

    def test_a_writer_goes_through_no_link(self):
        victim = self.path / "victim"
        victim.write_text("mine")
        for name in MEMBERS:
            pack = self.copy()
            (pack / name).unlink()
            (pack / name).symlink_to(victim)
            done = assay("smoke", "--to", pack)
            self.assertEqual(done.returncode, 2, done)
            # The manifest is read first, through the link, and the linked file is not valid JSON. The other members are
            # refused because they are links.
            self.assertIn("parse error" if name == "manifest.json" else f"{name} is a link", done.stderr)
            self.assertEqual(victim.read_text(), "mine")

    def test_a_manifest_of_something_else_stays(self):
        for text in ('{"name": "mine"}', '{"schema": "mine-1"}', '{"schema": 7}', "[]"):
            other = self.path / "other"
            other.mkdir(exist_ok=True)
            (other / "manifest.json").write_text(text)
            done = assay("smoke", "--to", other)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn("not the manifest.json of a pack", done.stderr)
            self.assertEqual(((other / "manifest.json").read_text(), os.listdir(other)), (text, ["manifest.json"]))

    def test_a_pack_of_a_killed_writer_can_be_completed(self):
        pack = self.path / "killed"
        start = time.monotonic()
        begin(pack).communicate()
        longest = time.monotonic() - start
        draw, unfinished = random.Random(1), 0
        for _ in range(ROUNDS):
            writer = begin(pack)
            time.sleep(draw.uniform(0, longest))
            writer.kill()
            writer.communicate()
            if (pack / ".unfinished-pack").exists():
                unfinished += 1
                self.assert_refused(pack, "is incomplete: its writer was stopped, or still runs")
            else:
                self.assert_whole(pack)
        self.assertGreater(unfinished, 0, "no kill came while a pack was written")
        self.assertEqual(assay("smoke", "--to", pack).returncode, 0)
        self.assert_whole(pack)

    def test_three_writers_at_once_leave_one_pack(self):
        pack = self.path / "three"
        writers = [begin(pack) for _ in range(3)]
        codes = []
        for writer in writers:
            _, said = writer.communicate(timeout=SECONDS)
            codes.append(writer.returncode)
            if writer.returncode != 0:
                self.assertIn(f"{pack} is in use by another process", said)
        # More than one writer may succeed, because a writer may start after another one has ended.
        self.assertIn(0, codes)
        self.assertTrue(set(codes) <= {0, 2}, codes)
        self.assert_whole(pack)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
