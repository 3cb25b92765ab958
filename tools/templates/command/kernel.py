"""A kernel of your own as a program: it reads the path of a case file from a line, adds its outputs, and answers.

Any language with HDF5 can do this; the protocol: conformance/adapters/command.md. EDIT marks three places.
"""

import sys

import h5py
import numpy as np


def unsupported(operator, problem, inputs):
    # EDIT 1: the calls that your kernel does not support. Their verdict is "not_applicable", and they do not count.
    if operator != "nsa_compress_grad":
        return "only nsa_compress_grad"
    if problem["dtype"] != "fp16":
        return "only fp16, which h5py reads"
    return None


def kernel(problem, inputs):
    # EDIT 2: your kernel. It gets inputs of the documented shapes, and returns the gradients by name.
    lengths = problem["lengths"] or [problem["seq"]] * problem["batch"]  # empty: all lengths are equal
    block, stride = problem["compress_block_size"], problem["compress_stride"]
    x, weight, dy = (inputs[name].astype(np.float32) for name in ("input", "weight", "output_grad"))
    dx, dweight = np.zeros_like(x), np.zeros_like(weight)
    row = begin = 0
    for length in lengths:
        for first in range(0, length - block + 1, stride):
            window = slice(begin + first, begin + first + block)
            dx[window] += weight[:, :, None] * dy[row]
            dweight += np.sum(x[window] * dy[row], axis=-1)
            row += 1
        begin += length
    return {"input_grad": dx.astype(np.float16), "weight_grad": dweight.astype(np.float16)}


def answer(path):
    with h5py.File(path, "r+") as file:
        cases = list(file["cases"].values()) if "cases" in file else []
        if not cases:
            return "numerics: fp32_staging"  # EDIT 3: the types in which it computes ("assay list presets")
        case = cases[0]
        problem = dict(case["problem"].attrs)
        problem |= {name: [int(x) for x in listed] for name, listed in case["problem"].items()}
        inputs = {name: tensor[...] for name, tensor in case["inputs"].items()}
        if reason := unsupported(case.attrs["operator"], problem, inputs):
            return "unsupported: " + reason
        for name, gradient in kernel(problem, inputs).items():
            case["actual/mine/" + name] = gradient
    return "done"


for line in sys.stdin:
    try:
        print(answer(line.rstrip("\n")), flush=True)
    except Exception as failure:
        print("error:", " ".join(repr(failure).split()), flush=True)
