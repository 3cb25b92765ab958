"""Compares enclosures of the engine with PyTorch's float64 backward, in alternating runs, on the same number of threads.

    tools/python/environment torch bench/enclosure_beside_torch.py build/release/bin/assay_enclosure_bench

Prints, for each size, medians with their median absolute deviations, and the ratios of the medians. If a ratio is above 1,
the engine is faster, although it also proves error limits. "default" is autograd's backward of scaled_dot_product_attention;
"composed" is that of softmax(Q K^T) V; "tuned" gets the statistics and the row term as inputs, like the engine, and computes
blocks of rows in place, with the best of several block sizes.
"""

import argparse
import math
import os
import statistics
import subprocess
import time

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # spinning threads would delay the other program

import torch


def seconds_of(work):
    """Returns the wall seconds and the processor seconds; other processes disturb the latter less."""
    start, processor_start = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - processor_start


class Engine:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self, seq, dim, threads):
        self.process.stdin.write(f"{seq} {dim} {threads}\n")
        self.process.stdin.flush()
        return tuple(float(number) for number in self.process.stdout.readline().split())


def backward_of(forward, tensors, gradient):
    """Returns a function that runs only autograd's backward."""
    inputs = [tensor.clone().requires_grad_() for tensor in tensors]
    output = forward(*inputs)
    return lambda: torch.autograd.grad(output, inputs, gradient, retain_graph=True)


def tuned(query, key, value, gradient, scale, rows):
    """Computes five products per block of rows, and everything else in place."""
    scores = query @ key.T * scale
    lse = torch.logsumexp(scores, dim=1, keepdim=True)
    delta = (gradient * (torch.softmax(scores, dim=1) @ value)).sum(dim=1, keepdim=True)
    seq = query.shape[0]
    p, ds = (torch.empty(rows, seq, dtype=query.dtype) for _ in range(2))
    dq, dk, dv = (torch.empty_like(tensor) for tensor in (query, key, value))

    def work():
        dk.zero_(), dv.zero_()
        for first in range(0, seq, rows):
            block = slice(first, min(seq, first + rows))
            count = block.stop - block.start
            torch.mm(query[block], key.T, out=p[:count])
            p[:count].mul_(scale).sub_(lse[block]).exp_()
            torch.mm(gradient[block], value.T, out=ds[:count])
            ds[:count].sub_(delta[block]).mul_(p[:count])
            torch.mm(ds[:count], key, out=dq[block])
            dk.addmm_(ds[:count].T, query[block])
            dv.addmm_(p[:count].T, gradient[block])
        dq.mul_(scale), dk.mul_(scale)
        return dq, dk, dv

    return work


def compare(engine, seq, dim, threads, runs):
    torch.manual_seed(seq + dim)
    query, key, value, gradient = (torch.randn(seq, dim, dtype=torch.float64) for _ in range(4))
    scale = 1 / math.sqrt(dim)
    attention = torch.nn.functional.scaled_dot_product_attention
    works = {
        "default": backward_of(lambda *t: attention(*(x[None, None] for x in t))[0, 0], (query, key, value), gradient),
        "composed": backward_of(
            lambda q, k, v: torch.softmax(q @ k.T * scale, dim=1) @ v, (query, key, value), gradient
        ),
    }
    for rows in (64, 128, 256, 512, seq):
        if rows <= seq:
            works[f"tuned {rows}"] = tuned(query, key, value, gradient, scale, rows)
    wanted = works["composed"]()
    for name, work in works.items():
        for one, other in zip(work(), wanted):
            if not torch.allclose(one, other, rtol=1e-9, atol=1e-12):
                raise SystemExit(f"{name}: its gradient differs")
    samples = {name: [] for name in ["enclosure", *works]}
    engine.seconds(seq, dim, threads)
    for _ in range(runs):
        samples["enclosure"].append(engine.seconds(seq, dim, threads))
        for name, work in works.items():
            samples[name].append(seconds_of(work))
    median = {name: statistics.median(wall for wall, _ in values) for name, values in samples.items()}
    processor = {name: statistics.median(used for _, used in values) for name, values in samples.items()}
    best = min((name for name in works if name.startswith("tuned")), key=median.get)
    print(f"S{seq} D{dim}, {threads} threads, {runs} runs")
    for name in ("enclosure", "default", "composed", best):
        spread = statistics.median(abs(wall - median[name]) for wall, _ in samples[name])
        rate = seq * seq * 1e-6
        torch_line = (
            f"; enclosure {median[name] / median['enclosure']:.2f} times as fast, "
            f"{processor[name] / processor['enclosure']:.2f} by processor time"
            if name != "enclosure"
            else f"; {processor[name]:.4f} s of processor time"
        )
        print(f"  {name:<12} {median[name]:.4f} +- {spread:.2g} s, {rate / median[name]:.1f} million pairs/s{torch_line}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--seq", type=int, nargs="+", default=[1024, 2048, 4096])
    parser.add_argument("--dim", type=int, nargs="+", default=[64, 128])
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    engine = Engine(options.program)
    for dim in options.dim:
        for seq in options.seq:
            compare(engine, seq, dim, options.threads, options.runs)


if __name__ == "__main__":
    main()
