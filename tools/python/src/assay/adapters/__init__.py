"""Attention gradients of others as implementations: assay.adapters.torch, .jax, .fla (Triton), .npu (Ascend)."""
