"""A user without Assay reads packs with h5py, numpy and the code of docs/packs.md. The code runs unchanged.

Usage: pack_test.py PROGRAM READER EXAMPLE docs/packs.md docs/packs_judging.md
"""

import hashlib
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np

PROGRAM, READER, EXAMPLE, *PAGES = sys.argv[1:6]
page = {"np": np}
for block in re.findall(r"```python\n(.*?)```", "".join(Path(name).read_text(encoding="utf-8") for name in PAGES), re.S):
    if "\ndef " in block or block.startswith("def "):
        exec(block, page)  # noqa: S102


def operator_of(recipe):
    return recipe["command"].split()[0]


def assay(*words):
    return subprocess.run([PROGRAM, "pack", *map(str, words)], capture_output=True, text=True, check=False)


class Packs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.smoke, cls.again, cls.whole, cls.profiles = (Path(cls.folder.name) / n for n in ("s", "a", "w", "p"))
        for words in (("smoke", "--to", cls.smoke), ("smoke", "--to", cls.again),
                      ("smoke", "--to", cls.whole, "--whole"), ("profiles", "--to", cls.profiles)):
            done = assay(*words)
            assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def whole_outputs(self, case):
        """Returns every output, rounded as the numerics say. All of its elements are judged in this pack, or the first
        of the eight copies of each statistic. Exact cases of forwards leave rows out."""
        recipe = page["recipes"](self.whole)[case]
        with h5py.File(self.whole / "goldens.h5") as goldens:
            outputs = {}
            for name, output in recipe["outputs"].items():
                golden = goldens[case][name][()]
                copies = 8 if name.startswith("softmax_") else 1
                output = np.zeros(int(np.prod(output["shape"])))
                judged = set(golden["place"].tolist())
                left_out = set(range(0, output.size, copies)) - judged
                self.assertFalse(judged - set(range(0, output.size, copies)), (case, name))
                self.assertTrue(not left_out or (copies == 8 or "softmax_max" in recipe["outputs"]) and recipe["track"] != "bound")
                for copy in range(copies):
                    output[golden["place"] + copy] = golden["rounded"]
                outputs[name] = output.reshape(recipe["outputs"][name]["shape"])
            return outputs

    def test_a_manifest_has_the_digests_of_its_files(self):
        manifest = json.loads((self.smoke / "manifest.json").read_text())
        self.assertEqual(manifest["cases"], len(page["recipes"](self.smoke)))
        self.assertEqual(sorted(manifest["files"]), ["goldens.h5", "inputs.h5", "recipes.jsonl"])
        for name, file in manifest["files"].items():
            data = (self.smoke / name).read_bytes()
            self.assertEqual((file["bytes"], file["sha256"]), (len(data), hashlib.sha256(data).hexdigest()), name)

    def test_the_same_pack_has_the_same_bytes(self):
        for name in ("manifest.json", "recipes.jsonl", "goldens.h5", "inputs.h5"):
            self.assertEqual((self.smoke / name).read_bytes(), (self.again / name).read_bytes(), name)

    def test_a_recipe_has_at_most_3_kb_and_its_goldens_100_kb(self):
        lines = (self.profiles / "recipes.jsonl").read_bytes().splitlines()
        self.assertGreater(len(lines), 50)
        self.assertLessEqual(max(map(len, lines)), 3072)
        with h5py.File(self.profiles / "goldens.h5") as goldens:
            for case in goldens.values():
                self.assertLessEqual(sum(output.id.get_storage_size() for output in case.values()), 100_000)

    def test_a_recipe_has_every_attribute_defaults_too(self):
        for recipe in page["recipes"](self.smoke).values():
            flags = dict(word[2:].split("=", 1) for word in recipe["command"].split()[1:])
            attributes = recipe["attributes"]
            self.assertGreaterEqual(len(attributes), 8)
            self.assertTrue(set(flags) - set(attributes) <= {"entry_point", "product", "inputs", "outputs", "track", "profile",
                                                            "mask", "drop", "list", "lists", "variant", "upstream", "rows", "seed"}, flags)
            for name, value in attributes.items():
                self.assertEqual(str(flags.get(name, value)), re.sub(r"\.0$", "", str(value)) if name in flags else str(value), name)
            if recipe["command"].startswith("flash"):
                self.assertLessEqual({"keep_prob", "scale_value", "pse_type", "pre_tokens"}, set(attributes))

    def test_the_judge_of_the_page_casts_wider_outputs(self):
        tried = 0
        for case, recipe in page["recipes"](self.smoke).items():
            outputs = {name: output.astype(np.float64) for name, output in self.whole_outputs(case).items()}
            wider = {name: np.where(output == 0, 1e-52, output * (1 + 2.0**-40)) for name, output in outputs.items()}
            self.assertEqual(page["judge"](self.smoke, case, wider), dict.fromkeys(wider, 0), recipe["command"])
            tried += any((output == 0).any() for output in outputs.values())
        self.assertGreater(tried, 2)
        for dtype, value, expected_value in (("bf16", 1.00390625, 1.0), ("bf16", 1.01171875, 1.015625), ("bf16", np.inf, np.inf), ("fp16", 1e9, np.inf),
                                  ("fp32", 1e-52, 0.0)):
            self.assertEqual(page["cast"](np.array([value, -value]), dtype).tolist(), [expected_value, -expected_value], dtype)
        self.assertTrue(np.isnan(page["cast"](np.array([np.nan]), "bf16")).all())

    def test_safetensors_are_read_by_numpy_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(assay("smoke", "--to", folder, "--whole", "--format", "safetensors").returncode, 0)
            inputs = page["read_safetensors"](f"{folder}/inputs.safetensors")
        dtypes = set()
        for recipe in page["recipes"](self.whole).values():
            for tensor in recipe["inputs"].values():
                np.testing.assert_array_equal(inputs[tensor["sha256"]], page["stored"](self.whole, tensor))
                dtypes.add(tensor["dtype"])
        self.assertLessEqual({"bf16", "fp16", "fp32", "bool"}, dtypes)

    def test_every_input_is_drawn_or_stored_with_its_digest(self):
        drawn, dtypes = set(), set()
        for recipe in page["recipes"](self.profiles).values():
            inputs = page["inputs"](self.profiles, recipe)
            for name, tensor in recipe["inputs"].items():
                self.assertEqual(page["digest"](tensor, inputs[name]), tensor["sha256"], (recipe["command"], name))
                if "drawn" in tensor:
                    drawn.add((recipe["command"].split()[0], tensor["dtype"], recipe["profile"]))
                    dtypes.add(tensor["dtype"])
        self.assertEqual({profile for _, _, profile in drawn}, set(page["PROFILES"]))
        self.assertEqual(dtypes, {"fp16", "bf16", "fp32"})
        self.assertGreater(len(drawn), 60)

    def test_a_pack_that_is_written_anew_holds_nothing_of_the_older_one(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, ending in ("hdf5", "h5"), ("npz", "npz"), ("hdf5", "h5"):
                done = assay("smoke", "--to", folder, "--format", name)
                self.assertEqual(done.returncode, 0, done.stderr)
                held = {"manifest.json", "recipes.jsonl", f"goldens.{ending}", f"inputs.{ending}"}
                self.assertEqual({file.name for file in Path(folder).iterdir()}, held)

    def test_the_whole_pack_stores_the_inputs_that_others_draw(self):
        for recipe in page["recipes"](self.whole).values():
            for name, tensor in recipe["inputs"].items():
                self.assertEqual(page["digest"](tensor, page["stored"](self.whole, tensor)), tensor["sha256"], name)

    def test_the_judge_of_the_page_passes_what_is_rounded_rightly_and_sees_one_wrong_element(self):
        exact = 0
        for case, recipe in page["recipes"](self.smoke).items():
            outputs = self.whole_outputs(case)
            judged = page["judge"](self.smoke, case, outputs)
            self.assertEqual(judged, dict.fromkeys(outputs, 0), recipe["command"])
            with h5py.File(self.smoke / "goldens.h5") as goldens:
                for name, output in outputs.items():
                    golden = goldens[case][name][()]
                    finite = golden[np.isfinite(golden["tau"])]
                    if not finite.size:
                        continue
                    exact += int(not finite["tau"].any() and not finite["radius"].any())
                    for wrong in (np.nan, 2 * (np.abs(finite["value"][0]) + finite["tau"][0]) + 1):
                        changed = output.copy().astype(np.float64)
                        changed.reshape(-1)[finite["place"][0]] = wrong
                        self.assertEqual(page["judge"](self.smoke, case, outputs | {name: changed})[name], 1)
        self.assertGreater(exact, 4)  # tau and radius are zero there

    def test_a_kernel_of_every_layout_is_judged_at_the_right_places(self):
        self.judge_our_kernel(self.profiles, page["recipes"](self.profiles), {"BNSD", "BSND", "BSH", "SBH", "TND"})

    def test_the_set_of_a_forward_has_its_cases_and_our_kernel_is_right(self):
        pack = Path(self.folder.name) / "nsa_compress"
        done = assay("nsa_compress", "--to", pack)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(assay("--verify", pack).returncode, 0)
        recipes = page["recipes"](pack)
        self.assertGreater(len(recipes), 40)
        self.assertEqual({operator_of(recipe) for recipe in recipes.values()}, {"nsa_compress"})
        self.judge_our_kernel(pack, recipes, {"TND"})

    def test_the_small_sets_have_cases_of_every_operator(self):
        operators = {line.split()[0] for line in assay("--list").stdout.splitlines() if "of this operator" in line}
        self.assertLessEqual({"nsa_compress", "nsa_selected_attention", "flash_attention_score"}, operators)
        for pack in self.smoke, self.profiles:
            self.assertEqual({operator_of(recipe) for recipe in page["recipes"](pack).values()}, operators)

    def judge_our_kernel(self, pack, recipes, all_layouts):
        lines, file = Path(self.folder.name) / "lines.txt", Path(self.folder.name) / "cases.h5"
        file.unlink(missing_ok=True)
        lines.write_text("".join(recipe["command"] + "\n" for recipe in recipes.values()))
        done = subprocess.run([PROGRAM, "export", str(file), "--lines", str(lines), "--implementation=optimized-a2"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        layouts = set()
        with h5py.File(file) as cases:
            for case, group in cases["cases"].items():
                if "actual/optimized-a2" not in group:
                    continue  # a case that the example does not support
                actual = group["actual/optimized-a2"]
                outputs = {name: actual[name][()] for name in recipes[case]["outputs"]}
                for name, output in recipes[case]["outputs"].items():
                    self.assertEqual(list(outputs[name].shape), output["shape"])
                judged = page["judge"](pack, case, outputs)
                with self.subTest(recipes[case]["command"]):
                    self.assertEqual(judged, dict.fromkeys(outputs, 0))
                layouts.add(recipes[case]["layout"])
        self.assertEqual(layouts, all_layouts)

    def test_c_reads_what_h5py_reads(self):
        def read(file, path):
            return subprocess.run([READER, file, path], capture_output=True, text=True, check=True).stdout.split()

        with h5py.File(self.smoke / "goldens.h5") as goldens:
            for case, output in ((c, o) for c in goldens for o in goldens[c]):
                golden = goldens[case][output][()]
                total = 0.0
                for value in golden["value"]:
                    total += float(value)
                count, values, places = read(self.smoke / "goldens.h5", f"/{case}/{output}")
                self.assertEqual((int(count), float.fromhex(values), int(places)),
                                 (golden.size, total, int(golden["place"].sum())))
        tensors = {t["sha256"]: t for r in page["recipes"](self.whole).values() for t in r["inputs"].values()}
        for tensor in tensors.values():
            values = page["stored"](self.whole, tensor)
            if tensor["dtype"] == "bf16":
                values = (values.view(np.uint32) >> 16).astype(np.uint16)
            data = np.frombuffer(values.tobytes(), np.uint8)
            self.assertEqual(list(map(int, read(self.whole / "inputs.h5", "/" + tensor["sha256"]))),
                             [data.size, int(data.sum())])

    def test_the_example_in_cpp_judges_as_the_page_does(self):
        def judge(*words):
            return subprocess.run([EXAMPLE, *map(str, words)], capture_output=True, text=True, check=False)

        recipes, file = page["recipes"](self.smoke), Path(self.folder.name) / "output"
        self.assertEqual(judge(self.smoke).stdout.split(), sorted(recipes))
        with h5py.File(self.smoke / "goldens.h5") as goldens:
            for case in recipes:
                for name, output in self.whole_outputs(case).items():
                    count = goldens[case][name].size
                    for values in (output, output * 1.5 + 1, np.full_like(output, np.nan)):
                        values.astype(np.float64).tofile(file)
                        off = page["judge"](self.smoke, case, {name: values} | {
                            other: np.zeros(recipes[case]["outputs"][other]["shape"]) for other in goldens[case] if other != name})[name]
                        done = judge(self.smoke, case, name, file)
                        self.assertEqual((done.stdout, done.returncode), (f"{off} of {count} are wrong\n", int(off != 0)), (case, name))
        file.write_bytes(b"")
        for words, part in (((self.smoke, case, "dz", file), "has no output dz"), ((self.smoke, "0", name, file), "0 is missing"),
                            ((self.smoke, case, name, file), "has no element"), ((file,), "cannot be opened as HDF5"), ((), "usage")):
            done = judge(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(part, done.stderr)

    def test_a_changed_digest_or_file_is_named(self):
        self.assertEqual(assay("--verify", self.again).returncode, 0)
        recipes = self.again / "manifest.json"
        text = recipes.read_text()
        first = re.search(r'"query": "(.)', text)
        digit = "0" if first[1] != "0" else "1"
        recipes.write_text(text[: first.start(1)] + digit + text[first.end(1):])
        try:
            done = assay("--verify", self.again)
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stdout, r"recipes.jsonl:\d+: query, generated again, has another digest")
            self.assertRegex(done.stdout, r"was changed: \d+ cases, \d+ inputs made again, 1 difference\n")
        finally:
            recipes.write_text(text)
        goldens = self.again / "goldens.h5"
        data = goldens.read_bytes()
        goldens.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        try:
            done = assay("--verify", self.again)
            self.assertEqual(done.returncode, 2)
            self.assertIn("goldens.h5: the digest is ", done.stdout)
        finally:
            goldens.write_bytes(data)

    def test_wrong_use_is_named(self):
        other = Path(self.folder.name) / "other"
        other.mkdir()
        (other / "mine.txt").write_text("mine")
        for words, part in ((("smok", "--to", self.smoke), "no set 'smok'"), (("smoke",), "needs --to"), ((), "one of"),
                            (("smoke", "--to", other), "choose an empty folder or an older pack"),
                            (("smoke", "--to", other / "mine.txt"), "mine.txt is not a folder"),
                            (("--list", "--verify", self.smoke), "one of"),
                            (("--verify", other), "which contains no manifest.json"),
                            (("--verify", self.smoke, "--whole"), "--verify excludes --whole"),
                            (("--verify", self.smoke, "--format", "npz"), "--verify excludes --format"),
                            (("--list", "--numerics", "jax_cpu"), "--list excludes --numerics"),
                            (("smoke", "--to", self.smoke, "--numerics", "odd"), "--numerics is 'odd'")):
            done = assay(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn(part, done.stderr)
        self.assertEqual((other / "mine.txt").read_text(), "mine")

    def test_the_sets_are_listed(self):
        names = [line.split()[0] for line in assay("--list").stdout.splitlines()]
        self.assertEqual(names[:3], ["smoke", "profiles", "tier-1"])
        for name in ("flash_attention_score_grad", "nsa_compress_grad", "flash_attention_score", "nsa_selected_attention",
                     "nsa_compress", "model-bert-base"):
            self.assertIn(name, names)
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
