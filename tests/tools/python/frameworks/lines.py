"""Replay lines for attention as frameworks offer it: padded and packed layouts, masks, grouped heads, three types."""

from __future__ import annotations

from collections.abc import Iterator

OPERATOR = "flash_attention_score_grad"
LAYOUTS = ("BNSD", "BSND", "BSH", "SBH", "TND")
HEADS = ((1, 1), (2, 2), (4, 2), (4, 1), (3, 3))
LENGTHS = ((1, 16), (16, 16), (33, 65), (64, 31), (129, 129), (40, 600), (7, 7), (300, 48), (16, 1))
SIZES = ((16, 0.25), (64, 0.125), (8, 0.3535533845424652), (33, 0.17407765984535217), (128, -0.0883883461356163))
PROFILES = ("normal", "normal", "peaked", "cancelling", "outliers")
TRACKS = ("bound", "bound", "bound", "exact", "exact_staged")
EXACT_SCALE = 0.0625  # a power of four, of which even the root is exact; 1/sqrt(size) of none of SIZES
PATTERNS = ("random", "padding", "dead_rows", "documents", "checker")


def masks(layout: str, seq_q: int, seq_kv: int, pattern: str) -> Iterator[str]:
    """No mask, the causal patterns and the band of the sparse modes, and user masks of every shape."""
    yield ""
    yield "--sparse_mode=2 --atten_mask=compressed"
    if layout == "TND":
        yield f"--sparse_mode=1 --atten_mask=SS --mask={pattern}"
        if seq_q <= seq_kv:
            yield "--sparse_mode=3 --atten_mask=compressed"
        return
    yield "--sparse_mode=3 --atten_mask=compressed"
    yield "--sparse_mode=4 --atten_mask=compressed --pre_tokens=20 --next_tokens=5"
    yield from (f"--sparse_mode=1 --atten_mask={shape} --mask={pattern}" for shape in ("SS", "11SS", "B1SS", "BNSS"))


def lines(dtype: str, count: int) -> list[str]:
    """`count` lines in which every pair of the lists above meets after a while: their lengths have no common divisor with
    the strides."""
    chosen = []
    for k in range(count):
        layout = LAYOUTS[k % 5]
        heads_q, heads_kv = HEADS[(k // 5 + k) % 5]
        seq_q, seq_kv = LENGTHS[(2 * k + k // 9) % 9]
        dim, scale = SIZES[(k // 3 + 2 * k) % 5]
        options = list(masks(layout, seq_q, seq_kv, PATTERNS[(k // 6) % 5]))
        track = TRACKS[(k // 4) % 5]
        if track != "bound":  # partial results of a group in 16 bits are never exact
            scale, heads_q = EXACT_SCALE, heads_kv
        words = [
            f"--layout={layout}",
            f"--dtype={dtype}",
            f"--heads_q={heads_q} --heads_kv={heads_kv}",
            f"--head_dim={dim} --head_dim_v={dim} --scale_value={scale}",
            options[(k // 7 + 3 * k) % len(options)],
            f"--profile={PROFILES[(k // 2) % 5]}",
            f"--track={track}",
            f"--seed={k + 1}",
        ]
        if layout == "TND":
            words.append(f"--entry_point=u1 --lengths_q={seq_q},{seq_q // 2 + 1} --lengths_kv={seq_kv},{seq_kv}")
        else:
            words.append(f"--batch={1 + k % 2} --seq_q={seq_q} --seq_kv={seq_kv}")
        chosen.append(" ".join([OPERATOR, *filter(None, words)]))
    return chosen
