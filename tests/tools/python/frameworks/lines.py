"""Makes replay lines for attention as frameworks and kernels offer it: padded and packed layouts, masks, grouped heads,
three types."""

from __future__ import annotations

from collections.abc import Iterator

OPERATOR = "flash_attention_score_grad"
LAYOUTS = ("BNSD", "BSND", "BSH", "SBH", "TND")
HEADS = ((1, 1), (2, 2), (4, 2), (4, 1), (3, 3))
LENGTHS = ((1, 16), (16, 16), (33, 65), (64, 31), (129, 129), (40, 600), (7, 7), (300, 48), (16, 1))
SIZES = ((16, 0.25), (64, 0.125), (8, 0.3535533845424652), (33, 0.17407765984535217), (128, -0.0883883461356163))
PROFILES = ("normal", "normal", "peaked", "cancelling", "outliers")
TRACKS = ("bound", "bound", "bound", "exact", "exact_staged")
EXACT_SCALE = 0.0625  # a power of four, so that even its root is exact; 1/sqrt(size) is not exact for any of SIZES
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
    """Returns `count` lines. With enough lines, every pair of values of the lists above occurs, since the list lengths
    and the strides have no common divisor."""
    chosen = []
    for k in range(count):
        layout = LAYOUTS[k % 5]
        heads_q, heads_kv = HEADS[(k // 5 + k) % 5]
        seq_q, seq_kv = LENGTHS[(2 * k + k // 9) % 9]
        dim, scale = SIZES[(k // 3 + 2 * k) % 5]
        options = list(masks(layout, seq_q, seq_kv, PATTERNS[(k // 6) % 5]))
        track = TRACKS[(k // 4) % 5]
        if track != "bound":  # partial results of a group that are rounded to 16 bits are never exact
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


CAUSAL = ("--sparse_mode=2", "--sparse_mode=3", "--sparse_mode=4 --pre_tokens={before} --next_tokens=0")
CAUSAL_LENGTHS = (16, 33, 64, 7, 96, 1, 129)


def causal_lines(dtype: str, count: int) -> list[str]:
    """Returns lines with as many keys as queries. Each query attends to the keys up to its own, or to the last few of these."""
    chosen = []
    for k in range(count):
        layout, seq = LAYOUTS[k % 5], CAUSAL_LENGTHS[(2 * k + k // 7) % 7]
        heads_q, heads_kv = HEADS[(k // 5 + k) % 5]
        dim, scale = SIZES[(k // 3 + 2 * k) % 5]
        track = "bound" if dtype == "fp32" else TRACKS[(k // 4) % 5]  # in fp32 almost no input makes a softmax exact
        words = [
            f"--layout={layout} --dtype={dtype} --heads_q={heads_q} --heads_kv={heads_kv}",
            f"--head_dim={dim} --head_dim_v={dim} --scale_value={scale if track == 'bound' else EXACT_SCALE}",
            CAUSAL[(k // 2 + k) % 3].format(before=seq // 3) + " --atten_mask=compressed",
            f"--profile={PROFILES[(k // 2) % 5]} --track={track} --seed={k + 1}",
        ]
        if layout == "TND":
            words.append("--entry_point=u1 --lengths_q={0} --lengths_kv={0}".format(f"{seq},{seq // 2 + 1}"))
        else:
            words.append(f"--batch={1 + k % 2} --seq_q={seq} --seq_kv={seq}")
        chosen.append(" ".join([OPERATOR, *words]))
    return chosen


# Numbers of queries and keys for masks that align the last query with the last key. The lists contain fewer queries
# than keys, more queries, and equal numbers.
ALIGNED_LENGTHS = ((16, 16), (33, 65), (64, 31), (1, 16), (129, 129), (40, 160), (7, 7), (96, 48))


def aligned_lines(dtype: str, count: int) -> list[str]:
    """Returns lines in which every query attends to all keys, or to the keys up to its own position. The last query is
    aligned with the last key."""
    chosen = []
    for k in range(count):
        layout = LAYOUTS[k % 5]
        seq_q, seq_kv = ALIGNED_LENGTHS[(2 * k + k // 8) % 8]
        heads_q, heads_kv = HEADS[(k // 5 + k) % 5]
        dim, scale = SIZES[(k // 3 + 2 * k) % 5]
        track = "bound" if dtype == "fp32" else TRACKS[(k // 4) % 5]
        if track != "bound":  # partial results of a group that are rounded to 16 bits are never exact
            scale, heads_q = EXACT_SCALE, heads_kv
        words = [
            f"--layout={layout} --dtype={dtype} --heads_q={heads_q} --heads_kv={heads_kv}",
            f"--head_dim={dim} --head_dim_v={dim} --scale_value={scale}",
            "--sparse_mode=3 --atten_mask=compressed" if k % 3 and (layout != "TND" or seq_q <= seq_kv) else "",
            f"--profile={PROFILES[(k // 2) % 5]} --track={track} --seed={k + 1}",
        ]
        if layout == "TND":
            words.append(f"--entry_point=u1 --lengths_q={seq_q},{seq_q // 2 + 1} --lengths_kv={seq_kv},{seq_kv}")
        else:
            words.append(f"--batch={1 + k % 2} --seq_q={seq_q} --seq_kv={seq_kv}")
        chosen.append(" ".join([OPERATOR, *filter(None, words)]))
    return chosen


# Each line gives batch, heads, queries, keys, head size, scale and mask of a call. The framework compiles a kernel once
# for each line.
COMPILED = (
    (1, 2, 64, 64, 64, 0.125, ""),
    (1, 2, 32, 32, 16, 0.25, "--sparse_mode=2 --atten_mask=compressed"),
    (2, 1, 31, 31, 33, 0.17407765984535217, "--sparse_mode=3 --atten_mask=compressed"),
    (1, 3, 96, 96, 8, 0.3535533845424652, ""),
    (1, 1, 16, 31, 16, 0.0625, "--sparse_mode=2 --atten_mask=compressed"),
    (2, 2, 32, 24, 128, -0.0883883461356163, ""),
    (1, 2, 31, 16, 16, 0.3, "--sparse_mode=2 --atten_mask=compressed"),
)


def compiled_lines(dtype: str, count: int) -> list[str]:
    """Few shapes with many seeds."""
    chosen = []
    for k in range(count):
        batch, heads, seq_q, seq_kv, dim, scale, mask = COMPILED[k % 7]
        words = [
            f"--layout={LAYOUTS[k // 7 % 4]} --dtype={dtype} --batch={batch} --heads_q={heads} --heads_kv={heads}",
            f"--seq_q={seq_q} --seq_kv={seq_kv} --head_dim={dim} --head_dim_v={dim} --scale_value={scale}",
            f"{mask} --profile={PROFILES[k // 7 % 5]} --seed={k + 1}",
        ]
        chosen.append(" ".join([OPERATOR, *words]))
    return chosen


SELECTED = "nsa_selected_attention_grad"
GROUPS = ((16, 1), (16, 1), (32, 1), (16, 1), (32, 2))
BLOCKS = ((16, 1), (16, 2), (32, 1), (16, 3))
SELECTED_LENGTHS = ("--batch=1 --seq_q={0} --seq_kv={0}", "--lengths_q={0},{1} --lengths_kv={0},{1}")
SELECTED_SCALES = (0.08838834764831845, 0.0625, 0.07216878364870322, 0.1)
LISTS = ("shuffled", "ascending", "duplicates", "causal", "anchored", "last_block", "all_equal")


def selected_lines(dtype: str, count: int) -> list[str]:
    """Lists of blocks for groups of 16 and 32 heads. Each query attends to the keys up to its own position."""
    chosen = []
    for k in range(count):
        heads_q, heads_kv = GROUPS[k % 5]
        block, blocks = BLOCKS[(k // 2) % 4]
        seq = block * (blocks + 1)
        track = TRACKS[(k // 4) % 5]
        words = [
            f"--dtype={dtype} --heads_q={heads_q} --heads_kv={heads_kv}",
            f"--head_dim={(128, 192)[(k // 3) % 2]} --head_dim_v=128",
            f"--scale_value={SELECTED_SCALES[k % 4] if track == 'bound' else EXACT_SCALE}",
            f"--selected_block_size={block} --selected_block_count={blocks} --lists={LISTS[(k // 3 + k) % 7]}",
            "--sparse_mode=2 --atten_mask=compressed",
            SELECTED_LENGTHS[k % 2].format(seq, block * blocks),
            f"--profile={PROFILES[(k // 2) % 5]} --track={track} --seed={k + 1}",
        ]
        chosen.append(" ".join([SELECTED, *words]))
    return chosen
